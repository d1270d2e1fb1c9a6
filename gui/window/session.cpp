#include "gui/window/session.h"

#include <QFileInfo>
#include <QSettings>
#include <algorithm>

#include "core/scenario/builtin_models.h"
#include "gui/view/words.h"

namespace shardscope::gui {

namespace {

QStringList inWords(const std::vector<std::string>& words) {
    QStringList list;
    for (const std::string& word : words) list << toQString(word);
    return list;
}

bool isBuiltin(const QString& what) {
    const std::vector<std::string> names = core::builtinModelNames();
    return std::ranges::find(names, what.toStdString()) != names.end();
}

}  // namespace

QString lastingPath(const QString& what) {
    const QFileInfo file(what);
    return file.exists() ? file.absoluteFilePath() : what;
}

QStringList lastingPaths(const QStringList& kept) {
    QStringList lasting;
    for (const QString& one : kept) {
        const QString path = lastingPath(one);
        if ((QFileInfo(path).isAbsolute() || isBuiltin(path)) && !lasting.contains(path)) lasting << path;
    }
    return lasting;
}

Session sessionOf(const Study& study, const Answer& present, const TimeRange& view, double end) {
    Session session;
    const auto add = [&](const Answer& answer, const std::string& plan) {
        session.parts.push_back({answer.loaded.source, core::writeScenario(answer.loaded.scenario), answer.strategies,
                                 answer.run ? answer.run->timesFrom : std::string(), plan});
    };
    for (const ShownPlan& kept : study.kept) add(*kept.answer, kept.plan().name);
    add(present, "");
    session.begin = view.begin / end;
    session.end = view.end / end;
    return session;
}

Session readSession() {
    QSettings settings;
    Session session;
    const int count = settings.beginReadArray(QStringLiteral("session"));
    for (int i = 0; i < std::min(count, static_cast<int>(kMostKept) + 1); ++i) {
        settings.setArrayIndex(i);
        Session::Part part;
        const auto text = [&](const char* key) { return settings.value(QLatin1String(key)).toString().toStdString(); };
        part.source = text("source");
        part.scenario = text("scenario");
        part.times = text("times");
        part.plan = text("plan");
        for (const QString& word : settings.value(QStringLiteral("strategies")).toStringList())
            part.strategies.push_back(word.toStdString());
        if (!part.source.empty() && !part.strategies.empty()) session.parts.push_back(std::move(part));
    }
    settings.endArray();
    // Without a present scenario there is no page.
    if (session.empty() || !session.parts.back().plan.empty()) return {};
    session.begin = settings.value(QStringLiteral("sessionBegin"), 0.0).toDouble();
    session.end = settings.value(QStringLiteral("sessionEnd"), 1.0).toDouble();
    return session;
}

void writeSession(const Session& session) {
    QSettings settings;
    settings.remove(QStringLiteral("session"));
    settings.beginWriteArray(QStringLiteral("session"), static_cast<int>(session.parts.size()));
    for (std::size_t i = 0; i < session.parts.size(); ++i) {
        const Session::Part& part = session.parts[i];
        settings.setArrayIndex(static_cast<int>(i));
        settings.setValue(QStringLiteral("source"), toQString(part.source));
        settings.setValue(QStringLiteral("scenario"), toQString(part.scenario));
        settings.setValue(QStringLiteral("times"), toQString(part.times));
        settings.setValue(QStringLiteral("plan"), toQString(part.plan));
        settings.setValue(QStringLiteral("strategies"), inWords(part.strategies));
    }
    settings.endArray();
    settings.setValue(QStringLiteral("sessionBegin"), session.begin);
    settings.setValue(QStringLiteral("sessionEnd"), session.end);
}

}  // namespace shardscope::gui
