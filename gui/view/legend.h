#pragma once

// What the colours and patterns of the timeline stand for: of the kinds of pieces and of memory that are on the page,
// each as lanes paint it.

#include <QImage>
#include <QWidget>
#include <vector>

#include "gui/theme/theme.h"
#include "gui/view/page_state.h"

namespace shardscope::gui {

class Legend : public QWidget {
    Q_OBJECT
public:
    explicit Legend(PageState& state, QWidget* parent = nullptr);

    struct Entry {
        bool isMemory = false;
        std::size_t kind = 0;  ///< a formats::Look, or a core::MemoryCategory
        QString words, what;   ///< in short, and what it means
        QRect swatch, place;   ///< the colour alone, and with its words
    };
    [[nodiscard]] const std::vector<Entry>& entries() const { return m_entries; }
    void setTheme(const Theme& theme);
    /// As high as its entries in lines of its width need; it takes any width.
    [[nodiscard]] QSize sizeHint() const override { return {1, m_height}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {1, m_height}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;

private:
    void collect();
    void layOut();
    [[nodiscard]] QImage swatchOf(const Entry& entry) const;

    PageState& m_state;
    Theme m_theme;
    std::uint32_t m_looks = 0, m_categories = 0;  ///< that are on the page, as bits
    bool m_runs = false;                          ///< all plans are of runs
    std::vector<Entry> m_entries;
    int m_height = 1;
};

}  // namespace shardscope::gui
