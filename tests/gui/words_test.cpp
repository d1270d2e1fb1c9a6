// Nothing is left untranslated, and everything has a name.

#include <QAccessible>
#include <QDockWidget>
#include <QFile>
#include <QLineEdit>
#include <QTimer>
#include <QXmlStreamReader>
#include <set>

#include "core/scenario/keys.h"
#include "gui/view/difference_panel.h"

#include "gui/view/words.h"
#include "tests/gui/open_window.h"

namespace shardscope::gui {
namespace {

bool hasHangul(const QString& text) {
    return std::ranges::any_of(text, [](QChar c) { return c.unicode() >= 0xac00 && c.unicode() <= 0xd7a3; });
}

bool hasLetters(const QString& text) {
    return std::ranges::any_of(text, [](QChar c) { return c.isLetter(); });
}

struct Message {
    QString context, source;
    QStringList translations;
    bool finished = true;
};

std::vector<Message> messagesOf(const QString& path) {
    QFile file(path);
    EXPECT_TRUE(file.open(QIODevice::ReadOnly)) << path.toStdString();
    QXmlStreamReader xml(&file);
    std::vector<Message> messages;
    QString context;
    while (!xml.atEnd()) {
        if (xml.readNext() != QXmlStreamReader::StartElement) continue;
        if (xml.name() == QLatin1String("name")) context = xml.readElementText();
        if (xml.name() == QLatin1String("message")) messages.push_back({context, {}, {}, true});
        if (messages.empty()) continue;
        Message& last = messages.back();
        if (xml.name() == QLatin1String("source")) last.source = xml.readElementText();
        if (xml.name() == QLatin1String("numerusform")) last.translations << xml.readElementText();
        if (xml.name() != QLatin1String("translation")) continue;
        last.finished = !xml.attributes().hasAttribute(QLatin1String("type"));
        if (xml.readNext() == QXmlStreamReader::Characters && !xml.isWhitespace())
            last.translations << xml.text().toString();
        if (xml.isStartElement() && xml.name() == QLatin1String("numerusform"))
            last.translations << xml.readElementText();
    }
    EXPECT_FALSE(xml.hasError()) << xml.errorString().toStdString();
    return messages;
}

const QString kWindowWords = QStringLiteral(SHARDSCOPE_SOURCE_DIR "/gui/translation/shardscope_ko.ts");
const QString kKeyWords = QStringLiteral(SHARDSCOPE_SOURCE_DIR "/gui/translation/keys_ko.ts");

TEST(Words, EveryMessageIsFinishedAndKorean) {
    for (const QString& path : {kWindowWords, kKeyWords}) {
        const std::vector<Message> messages = messagesOf(path);
        EXPECT_GT(messages.size(), 50u);
        for (const Message& message : messages) {
            const std::string which = (message.context + QStringLiteral(": ") + message.source).toStdString();
            EXPECT_TRUE(message.finished) << which;
            ASSERT_FALSE(message.translations.isEmpty()) << which;
            for (const QString& text : message.translations) {
                EXPECT_FALSE(text.isEmpty()) << which;
                // "%1, %2" has no words; whatever has some has Korean ones.
                QString words = message.source;
                words.remove(QRegularExpression(QStringLiteral("%[0-9n]")));
                EXPECT_TRUE(!hasLetters(words) || hasHangul(text)) << which;
                for (const char* place : {"%1", "%2", "%3", "%n"})
                    EXPECT_EQ(text.contains(QLatin1String(place)), message.source.contains(QLatin1String(place)))
                        << which;
            }
        }
    }
}

TEST(Words, EveryKeyIsExplainedInKorean) {
    OpenWindow window(QStringLiteral("ko"));
    std::set<std::string> texts, sections;
    for (const core::Key& key : core::scenarioKeys()) {
        texts.emplace(key.what);
        if (!key.special.empty()) texts.emplace(key.special);
        if (!key.section().empty()) sections.emplace(key.section());
    }
    for (const std::string& section : sections) texts.emplace(core::describeSection(section));
    for (const std::string& text : texts) {
        const QString korean = QCoreApplication::translate("Key", text.c_str());
        EXPECT_TRUE(hasHangul(korean)) << "not in keys_ko.ts: " << text;
    }
    for (const Message& message : messagesOf(kKeyWords))
        EXPECT_TRUE(texts.contains(message.source.toStdString()))
            << "no key says this: " << message.source.toStdString();
}

/// What may stand in a Korean window without a Korean word: names that are the same everywhere, and numbers.
bool mayStayAsItIs(const QString& text) {
    if (!hasLetters(text)) return true;
    QString whole = text;
    whole.remove(QChar(0x200b));  // where a name may be broken
    for (const core::Key& key : core::scenarioKeys())
        if (whole == toQString(key.name())) return true;
    static const QStringList kNames = {QStringLiteral("English"), QStringLiteral("Shardscope"), QStringLiteral("naive"),
                                       QStringLiteral("fsdp"),    QStringLiteral("single"),     QStringLiteral("ddp"),
                                       QStringLiteral("CSV"),     QStringLiteral("MD")};
    return kNames.contains(text);
}

void expectKorean(const QString& text, const QObject& where) {
    if (text.isEmpty() || hasHangul(text) || mayStayAsItIs(text)) return;
    ADD_FAILURE() << "\"" << text.toStdString() << "\" in " << where.metaObject()->className() << " \""
                  << where.objectName().toStdString() << "\"";
}

void expectAllKorean(const QWidget& window) {
    for (const auto* label : window.findChildren<QLabel*>())
        if (label->isVisible()) expectKorean(label->text(), *label);
    for (const auto* button : window.findChildren<QAbstractButton*>())
        if (button->isVisible()) expectKorean(button->text(), *button);
    for (const auto* action : window.findChildren<QAction*>()) expectKorean(action->text(), *action);
    for (const auto* dock : window.findChildren<QDockWidget*>()) expectKorean(dock->windowTitle(), *dock);
    for (const auto* menu : window.findChildren<QMenu*>()) expectKorean(menu->title(), *menu);
    for (const auto* line : window.findChildren<QLineEdit*>()) expectKorean(line->placeholderText(), *line);
    for (const auto* table : window.findChildren<QTableWidget*>()) {
        for (int row = 0; row < table->rowCount(); ++row)
            if (table->verticalHeaderItem(row) != nullptr) expectKorean(table->verticalHeaderItem(row)->text(), *table);
        for (int column = 0; column < table->columnCount(); ++column)
            if (table->horizontalHeaderItem(column) != nullptr)
                expectKorean(table->horizontalHeaderItem(column)->text(), *table);
    }
}

TEST(Words, AKoreanWindowSaysNothingInEnglish) {
    OpenWindow window(QStringLiteral("ko"));
    expectAllKorean(window);
    window.openLecture();
    expectAllKorean(window);
    ASSERT_TRUE(window.search(QStringLiteral("all-gather")));
    expectAllKorean(window);
    EXPECT_FALSE(window.search(QStringLiteral("?")));
    expectAllKorean(window);
    EXPECT_TRUE(hasHangul(window.keysHtml()));
}

TEST(Words, TheLanguageChangesWhileTheWindowIsOpen) {
    OpenWindow window;
    window.resize(1400, 900);  // the legend has as many lines in both
    window.openLecture();
    const auto textOf = [&](const char* id) { return window.actions().find(QLatin1String(id))->text(); };
    const auto before = window.state().answer();
    const QImage english = window.timeline().viewport()->grab().toImage();
    EXPECT_EQ(textOf("undo"), QStringLiteral("Undo"));
    window.setLanguage(QStringLiteral("ko"));
    QApplication::processEvents();
    expectAllKorean(window);
    EXPECT_TRUE(hasHangul(textOf("undo")));
    EXPECT_TRUE(hasHangul(window.differences().item(0, 2)->text()))
        << window.differences().item(0, 2)->text().toStdString();
    EXPECT_EQ(window.state().answer(), before) << "nothing is simulated anew";
    EXPECT_NE(window.timeline().viewport()->grab().toImage(), english) << "painted words change too";
    window.setLanguage(QStringLiteral("en"));
    QApplication::processEvents();
    EXPECT_EQ(textOf("undo"), QStringLiteral("Undo"));
    EXPECT_EQ(window.timeline().viewport()->grab().toImage(), english);
    for (const auto* label : window.findChildren<QLabel*>())
        EXPECT_FALSE(label->isVisible() && hasHangul(label->text())) << label->text().toStdString();
}

/// How many there are.
int expectNames(const QWidget& window) {
    int count = 0;
    for (QWidget* widget : window.findChildren<QWidget*>()) {
        if (widget->focusPolicy() == Qt::NoFocus || !widget->isVisible() || widget->focusProxy() != nullptr) continue;
        // A row of tabs is called by its current one; without tabs it is not there.
        const auto* tabs = qobject_cast<QTabBar*>(widget);
        if (tabs != nullptr && tabs->count() == 0) continue;
        // Parts of Qt's own widgets, which stand behind their owner's name.
        if (widget->objectName().startsWith(QLatin1String("qt_"))) continue;
        QAccessibleInterface* face = QAccessible::queryAccessibleInterface(widget);
        ++count;
        EXPECT_FALSE(face == nullptr || face->text(QAccessible::Name).isEmpty())
            << widget->metaObject()->className() << " \"" << widget->objectName().toStdString() << "\" in "
            << widget->parentWidget()->metaObject()->className();
    }
    return count;
}

TEST(Words, EveryWidgetThatTakesTheFocusHasAName) {
    for (const char* language : {"en", "ko"}) {
        OpenWindow window{QLatin1String(language)};
        EXPECT_GE(expectNames(window), 4) << "the samples, and opening a file";
        window.openLecture();
        EXPECT_GE(expectNames(window), static_cast<int>(core::scenarioKeys().size())) << "every knob, and more";
        window.await([&] { window.openPath(QStringLiteral("/nowhere/absent.toml")); });
        expectNames(window);
    }
}

TEST(Words, ThePaletteFindsAndRunsACommand) {
    OpenWindow window(QStringLiteral("ko"));
    window.openLecture();
    window.state().zoom(4, 0);
    bool seen = false;
    QTimer::singleShot(200, &window, [&] {
        auto* dialog = window.findChild<QDialog*>(QStringLiteral("palette"));
        ASSERT_NE(dialog, nullptr);
        seen = true;
        expectAllKorean(*dialog);
        expectNames(*dialog);
        auto* filter = dialog->findChild<QLineEdit*>();
        filter->setText(window.actions().find(QStringLiteral("fit"))->text());
        QTest::keyClick(filter, Qt::Key_Return);
    });
    window.actions().find(QStringLiteral("palette"))->trigger();
    EXPECT_TRUE(seen);
    EXPECT_EQ(window.state().view().range(), (TimeRange{0, window.state().view().end()}));
}

TEST(Words, TheSheetOfKeysHasEveryShortcut) {
    OpenWindow window;
    const QString html = window.keysHtml();
    for (const QAction* action : window.actions().all())
        for (const QKeySequence& key : action->shortcuts())
            EXPECT_TRUE(html.contains(key.toString(QKeySequence::NativeText).toHtmlEscaped()))
                << key.toString().toStdString();
    std::set<QString> taken;
    for (const QAction* action : window.actions().all())
        for (const QKeySequence& key : action->shortcuts())
            EXPECT_TRUE(taken.insert(key.toString()).second) << "twice: " << key.toString().toStdString();
}

}  // namespace
}  // namespace shardscope::gui
