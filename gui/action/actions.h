#pragma once

// The one list of what a user can do: menus, the sheet of keys and the palette are made from it.

#include <QAction>
#include <QKeySequence>
#include <QObject>
#include <functional>
#include <span>
#include <vector>

namespace shardscope::gui {

enum class Menu : std::uint8_t { File, Edit, Plans, View, Go, Help };
inline constexpr std::size_t kMenus = 6;

class Actions : public QObject {
    Q_OBJECT
public:
    explicit Actions(QObject* parent = nullptr);

    /// `text` is marked with QT_TRANSLATE_NOOP("Actions", ...); `keys` as QKeySequence reads them, several separated by
    /// "; ".
    QAction* add(Menu menu, const char* id, const char* text, const char* keys, std::function<void()> run);
    /// One of several that exclude each other.
    QAction* addChoice(Menu menu, const char* id, const char* text, QActionGroup* group, std::function<void()> run);
    [[nodiscard]] QAction* find(const QString& id) const;
    [[nodiscard]] const std::vector<QAction*>& all() const { return m_all; }
    [[nodiscard]] std::vector<QAction*> of(Menu menu) const;
    [[nodiscard]] static QString nameOf(Menu menu);
    /// Every action with its keys, and what the timeline takes by itself, as a table.
    [[nodiscard]] QString keysHtml() const;
    void retranslate();

private:
    std::vector<QAction*> m_all;
    std::vector<Menu> m_menus;
    std::vector<const char*> m_texts;
};

}  // namespace shardscope::gui
