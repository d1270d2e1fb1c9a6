#pragma once

// What the window opens with: samples, and what was open lately.

#include <QScrollArea>
#include <array>
#include <string>
#include <vector>

class QLabel;
class QListWidget;
class QPushButton;

namespace shardscope::gui {

struct Sample {
    const char* title;  ///< marked for translation
    const char* what;
    std::string source;  ///< as cli::load takes it; "lecture" stands for the built-in lecture scenario
    std::vector<std::string> overrides;
};
[[nodiscard]] const std::vector<Sample>& samples();

class StartPage : public QScrollArea {
    Q_OBJECT
public:
    explicit StartPage(QWidget* parent = nullptr);
    void setRecent(const QStringList& files);
    /// Whether there is a session to go on with.
    void setContinuable(bool continuable);

signals:
    void sampleChosen(int index);
    void fileChosen(const QString& path);
    void openWanted();
    void continueWanted();

protected:
    void changeEvent(QEvent* event) override;

private:
    void retranslate();
    void measure();  ///< what is as large as some text
    QLabel *m_title = nullptr, *m_subtitle = nullptr, *m_samplesTitle = nullptr, *m_recentTitle = nullptr,
           *m_drop = nullptr;
    std::vector<QPushButton*> m_samples;
    std::vector<std::array<QLabel*, 2>> m_sampleLines;  ///< by sample: its title, and what it is
    QPushButton *m_open = nullptr, *m_continue = nullptr;
    QListWidget* m_recent = nullptr;
};

}  // namespace shardscope::gui
