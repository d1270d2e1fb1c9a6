#include "gui/view/messages.h"

#include <QCoreApplication>
#include <QFile>
#include <QHash>
#include <QRegularExpression>
#include <QStringList>
#include <QXmlStreamReader>
#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/printable.h"
#include "gui/view/words.h"

namespace shardscope::gui {

namespace {

/// "found %1, expected %2": the pieces between the places, and the translation.
struct Pattern {
    QStringList pieces;       ///< one more than there are places
    std::vector<int> places;  ///< their numbers, in the order of the source
    QString translation;
    qsizetype letters = 0;
};

Pattern patternOf(const QString& source, const QString& translation) {
    Pattern pattern;
    pattern.translation = translation;
    QString piece;
    for (qsizetype i = 0; i < source.size(); ++i) {
        if (source[i] == u'%' && i + 1 < source.size() && source[i + 1] >= u'1' && source[i + 1] <= u'9') {
            pattern.places.push_back(source[++i].digitValue());
            pattern.pieces << piece;
            piece.clear();
        } else {
            piece += source[i];
            pattern.letters += source[i].isSpace() ? 0 : 1;
        }
    }
    pattern.pieces << piece;
    return pattern;
}

/// What stands at the places of a text; empty where it has another pattern.
std::vector<QString> valuesIn(const QString& text, const Pattern& pattern) {
    const QString &head = pattern.pieces.first(), &tail = pattern.pieces.last();
    if (text.size() < head.size() + tail.size() || !text.startsWith(head) || !text.endsWith(tail)) return {};
    const qsizetype end = text.size() - tail.size();
    std::vector<QString> values;
    qsizetype from = head.size();
    for (qsizetype p = 1; p + 1 < pattern.pieces.size(); ++p) {
        const QString& piece = pattern.pieces[p];
        // The last one as far back as it goes: what is said at the end of a sentence follows what may hold anything.
        const bool last = p + 2 == pattern.pieces.size();
        const qsizetype at = last ? text.lastIndexOf(piece, end - piece.size() - 1) : text.indexOf(piece, from + 1);
        if (at <= from || at + piece.size() > end) return {};
        values.push_back(text.mid(from, at - from));
        from = at + piece.size();
    }
    if (from >= end) return {};
    values.push_back(text.mid(from, end - from));
    // A word or two that join figures would join anything.
    constexpr qsizetype kFewLetters = 4;
    const auto isFigure = [](const QString& value) { return value.front().isDigit() || value.front() == u'-'; };
    if (pattern.letters < kFewLetters && !std::ranges::all_of(values, isFigure)) return {};
    return values;
}

class Messages {
public:
    Messages() {
        QFile file(QStringLiteral(":/i18n/messages_ko.ts"));
        if (!file.open(QIODevice::ReadOnly)) return;
        QXmlStreamReader xml(&file);
        QString source;
        while (!xml.atEnd()) {
            if (xml.readNext() != QXmlStreamReader::StartElement) continue;
            if (xml.name() == QLatin1String("source")) source = xml.readElementText();
            if (xml.name() != QLatin1String("translation")) continue;
            Pattern pattern = patternOf(source, xml.readElementText());
            if (pattern.places.empty())
                m_whole.insert(source, pattern.translation);
            else
                m_patterns.push_back(std::move(pattern));
        }
        // The one with the most words of its own says most about a text.
        std::ranges::stable_sort(m_patterns, std::ranges::greater(), &Pattern::letters);
    }

    QString translate(const QString& text) {
        if (const auto known = m_known.constFind(text); known != m_known.constEnd()) return *known;
        // Words that nobody knows yet may be known once all of a language's translators are installed.
        const bool before = std::exchange(m_unknown, false);
        const QString made = make(text);
        constexpr qsizetype kMostKnown = 4096;
        if (m_known.size() >= kMostKnown) m_known.clear();
        if (!m_unknown) m_known.insert(text, made);
        m_unknown |= before;
        return made;
    }

private:
    QString make(const QString& text) {
        if (const auto whole = m_whole.constFind(text); whole != m_whole.constEnd()) return *whole;
        const QByteArray english = text.toUtf8();
        if (const QString key = QCoreApplication::translate("Key", english.constData()); key != text) return key;
        for (const Pattern& pattern : m_patterns) {
            const std::vector<QString> values = valuesIn(text, pattern);
            if (values.empty()) continue;
            QString made;
            const QString& to = pattern.translation;
            for (qsizetype i = 0; i < to.size(); ++i) {
                const auto place = to[i] == u'%' && i + 1 < to.size()
                                       ? std::ranges::find(pattern.places, to[i + 1].digitValue())
                                       : pattern.places.end();
                if (place == pattern.places.end()) {
                    made += to[i];
                    continue;
                }
                made += translate(values[static_cast<std::size_t>(place - pattern.places.begin())]);
                ++i;
            }
            return made;
        }
        // A list of names and words, or a name with what is said of it.
        for (const QString& between : {QStringLiteral(", "), QStringLiteral(": ")}) {
            if (!text.contains(between)) continue;
            QStringList parts = text.split(between);
            for (QString& part : parts) part = translate(part);
            return parts.join(between);
        }
        m_unknown |= text.contains(u' ');
        return text;
    }

    std::vector<Pattern> m_patterns;
    QHash<QString, QString> m_whole, m_known;
    bool m_unknown = false;  ///< of what is being translated, something of several words stayed as it was
};

class Hints {
    Q_DECLARE_TR_FUNCTIONS(Hints)
};

/// Of what to do, what can be done in a window.
QString hintText(std::string_view english) {
    QString text = toQString(core::printable(english));
    // Sentences about other commands, in brackets or between semicolons.
    static const QRegularExpression bracket(QStringLiteral(" \\(`?shardscope [^)]*\\)"));
    text.remove(bracket);
    QStringList parts = text.split(QStringLiteral("; "));
    parts.removeIf([](const QString& part) { return part.contains(QStringLiteral("`shardscope ")); });
    text = inWindowsLanguage(parts.join(QStringLiteral("; ")).toStdString());
    // "--set a=1 --set b=2": knobs.
    static const QRegularExpression set(QStringLiteral("--set [^\\s,;)]+(?: --set [^\\s,;)]+)*"));
    for (auto found = set.match(text); found.hasMatch(); found = set.match(text)) {
        QString knobs = found.captured().mid(6);
        knobs.replace(QStringLiteral(" --set "), QStringLiteral(", ")).replace(u'=', QStringLiteral(" = "));
        text.replace(found.capturedStart(), found.capturedLength(), Hints::tr("%1 (in the knobs panel)").arg(knobs));
    }
    static const QRegularExpression strategy(QStringLiteral("--strategy (\\w+)"));
    for (auto found = strategy.match(text); found.hasMatch(); found = strategy.match(text))
        text.replace(found.capturedStart(), found.capturedLength(),
                     Hints::tr("%1 (a box above the timeline)").arg(found.captured(1)));
    return text;
}

/// Where something was given: its key, for what was given to the window.
QString placeText(std::string_view english) {
    QString text = toQString(core::printable(english));
    static const QRegularExpression option(QStringLiteral("^--(?:set|over) "));
    return inWindowsLanguage(text.remove(option).toStdString());
}

}  // namespace

QString inWindowsLanguage(std::string_view english) {
    const QString text = toQString(english);
    if (pictureText().language != "ko") return text;
    static Messages messages;  // of the window's thread alone
    QStringList lines = text.split(u'\n');
    for (QString& line : lines) {
        qsizetype indent = 0;
        while (indent < line.size() && line[indent] == u' ') ++indent;
        line = line.left(indent) + messages.translate(line.mid(indent));
    }
    return lines.join(u'\n');
}

QString reasonText(const core::Error& error) {
    const QString text = inWindowsLanguage(core::printable(error.message)), hint = hintText(error.hint);
    return hint.isEmpty() ? text : text + QStringLiteral("\n  ") + hint;
}

QString errorText(const core::Error& error) {
    const QString where = placeText(error.where);
    return where.isEmpty() ? reasonText(error) : where + QStringLiteral(": ") + reasonText(error);
}

}  // namespace shardscope::gui
