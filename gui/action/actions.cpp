#include "gui/action/actions.h"

#include <QActionGroup>
#include <QCoreApplication>

namespace shardscope::gui {

Actions::Actions(QObject* parent) : QObject(parent) {}

QAction* Actions::add(Menu menu, const char* id, const char* text, const char* keys, std::function<void()> run) {
    auto* action = new QAction(this);
    action->setObjectName(QLatin1String(id));
    QList<QKeySequence> sequences;
    for (const QString& key : QString::fromLatin1(keys).split(QStringLiteral("; "), Qt::SkipEmptyParts))
        sequences << QKeySequence(key);
    action->setShortcuts(sequences);
    connect(action, &QAction::triggered, this, [run = std::move(run)] { run(); });
    m_all.push_back(action);
    m_menus.push_back(menu);
    m_texts.push_back(text);
    action->setText(QCoreApplication::translate("Actions", text));
    return action;
}

QAction* Actions::addChoice(Menu menu, const char* id, const char* text, QActionGroup* group,
                            std::function<void()> run) {
    QAction* action = add(menu, id, text, "", std::move(run));
    action->setCheckable(true);
    group->addAction(action);
    return action;
}

QAction* Actions::find(const QString& id) const {
    for (QAction* action : m_all)
        if (action->objectName() == id) return action;
    return nullptr;
}

std::vector<QAction*> Actions::of(Menu menu) const {
    std::vector<QAction*> found;
    for (std::size_t i = 0; i < m_all.size(); ++i)
        if (m_menus[i] == menu) found.push_back(m_all[i]);
    return found;
}

QString Actions::nameOf(Menu menu) {
    switch (menu) {
        case Menu::File: return QCoreApplication::translate("Actions", "&File");
        case Menu::Edit: return QCoreApplication::translate("Actions", "&Edit");
        case Menu::Plans: return QCoreApplication::translate("Actions", "&Plans");
        case Menu::View: return QCoreApplication::translate("Actions", "&View");
        case Menu::Go: return QCoreApplication::translate("Actions", "&Go");
        case Menu::Help: return QCoreApplication::translate("Actions", "&Help");
    }
    return {};
}

QString Actions::keysHtml() const {
    QString html = QStringLiteral("<table cellspacing=\"6\">");
    const auto row = [&](const QString& keys, const QString& what) {
        html +=
            QStringLiteral("<tr><td><b>%1</b></td><td>%2</td></tr>").arg(keys.toHtmlEscaped(), what.toHtmlEscaped());
    };
    for (const QAction* action : m_all) {
        if (action->shortcuts().isEmpty()) continue;
        QStringList keys;
        for (const QKeySequence& key : action->shortcuts()) keys << key.toString(QKeySequence::NativeText);
        row(keys.join(QStringLiteral(", ")), action->text().remove(u'&'));
    }
    row(QStringLiteral("W, S"), QCoreApplication::translate("Actions", "Zoom in and out at the pointer"));
    row(QStringLiteral("A, D"), QCoreApplication::translate("Actions", "Move left and right"));
    row(QStringLiteral("\u2190, \u2192"),
        QCoreApplication::translate("Actions", "Previous and next piece of the lane"));
    row(QStringLiteral("\u2191, \u2193"), QCoreApplication::translate("Actions", "The lane above and below"));
    row(QStringLiteral("Esc"), QCoreApplication::translate("Actions", "Select nothing"));
    row(QCoreApplication::translate("Actions", "Ctrl + wheel"),
        QCoreApplication::translate("Actions", "Zoom at the pointer"));
    row(QCoreApplication::translate("Actions", "Shift + wheel, drag"), QCoreApplication::translate("Actions", "Move"));
    row(QCoreApplication::translate("Actions", "Shift + drag"),
        QCoreApplication::translate("Actions", "Choose a stretch of time and sum it up"));
    return html + QStringLiteral("</table>");
}

void Actions::retranslate() {
    for (std::size_t i = 0; i < m_all.size(); ++i)
        m_all[i]->setText(QCoreApplication::translate("Actions", m_texts[i]));
}

}  // namespace shardscope::gui
