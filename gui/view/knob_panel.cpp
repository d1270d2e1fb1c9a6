#include "gui/view/knob_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QCoreApplication>
#include <QEvent>
#include <QLabel>
#include <QLineEdit>
#include <QScrollBar>
#include <QSpinBox>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <limits>

#include "gui/view/messages.h"
#include "gui/view/words.h"

namespace shardscope::gui {

using core::Document;
using core::Key;

namespace {

QString textOf(const Document& value) {
    return value.kind == Document::Kind::Text ? toQString(value.text) : toQString(core::writeTomlValue(value));
}

/// With places to break long names at, behind their parts; what has no parts (it may be anything) somewhere.
QString breakable(QString text) {
    static const QRegularExpression joint(QStringLiteral("(?<=\\w)([_./=-])(?=\\w)"));
    static const QRegularExpression endless(QStringLiteral("([^\\s\\x{200b}]{20})(?=[^\\s\\x{200b}])"));
    return text.replace(joint, QStringLiteral("\\1\u200b")).replace(endless, QStringLiteral("\\1\u200b"));
}

/// A number that is being typed counts on Enter, when its field is left, or after a pause: 7 on the way to 7,777 is no
/// number that anyone asked for. Arrows and the wheel count at once.
void countWhenTyped(QSpinBox& box) {
    constexpr int kPause = 400;  // ms without a key
    box.setKeyboardTracking(false);
    auto* line = box.findChild<QLineEdit*>();
    auto* pause = new QTimer(&box);
    pause->setSingleShot(true);
    pause->setInterval(kPause);
    QObject::connect(line, &QLineEdit::textEdited, pause, qOverload<>(&QTimer::start));
    QObject::connect(&box, &QSpinBox::valueChanged, pause, &QTimer::stop);
    QObject::connect(pause, &QTimer::timeout, &box, [&box, line] {
        if (!box.hasAcceptableInput()) return;
        // Separators of thousands come and go; the hand goes on where it is, counted from the end.
        const auto behind = line->text().size() - line->cursorPosition();
        box.interpretText();
        line->setCursorPosition(static_cast<int>(line->text().size() - behind));
    });
}

}  // namespace

KnobPanel::KnobPanel(QWidget* parent) : QScrollArea(parent) {
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::NoFocus);  // its fields take the focus, and scroll it
    build();
    measure();
    retranslate();
    refresh();
}

void KnobPanel::build() {
    auto* content = new QWidget;
    auto* layout = new QVBoxLayout(content);
    m_filter = new QLineEdit;
    m_filter->setClearButtonEnabled(true);
    connect(m_filter, &QLineEdit::textChanged, this, &KnobPanel::setFilter);
    m_reason = new QLabel;
    m_reason->setWordWrap(true);
    m_reason->hide();
    layout->addWidget(m_reason);
    layout->addWidget(m_filter);
    m_knobs.reserve(core::scenarioKeys().size());
    // The plan first: it is what one turns.
    for (const char* section : {"parallelism", "precision", "training", "cluster", "model", ""}) {
        auto* heading = new QLabel;
        QFont bold = heading->font();
        bold.setBold(true);
        heading->setFont(bold);
        heading->setWordWrap(true);
        layout->addWidget(heading);
        m_sections.emplace_back(heading, section);
        for (const Key& key : core::scenarioKeys())
            if (key.section() == section) addKnob(key, *layout);
    }
    layout->addStretch();
    setWidget(content);
}

void KnobPanel::addKnob(const Key& key, QVBoxLayout& layout) {
    Knob knob;
    knob.key = &key;
    knob.row = new QWidget;
    auto* rows = new QVBoxLayout(knob.row);
    rows->setContentsMargins(0, 2, 0, 6);
    rows->setSpacing(1);
    knob.name = new QLabel(breakable(toQString(key.name())));
    knob.name->setWordWrap(true);
    rows->addWidget(knob.name);
    const std::size_t index = m_knobs.size();
    const auto chosen = [this, index](const Document& value) { choose(m_knobs[index], value); };
    const bool isWords = !key.words.empty() && std::holds_alternative<std::string& (*)(core::Scenario&)>(key.binding);
    if (std::holds_alternative<bool& (*)(core::Scenario&)>(key.binding)) {
        auto* box = new QCheckBox;
        connect(box, &QCheckBox::toggled, this, [chosen](bool on) { chosen(Document::of(on)); });
        knob.put = [box](const Document& value) { box->setChecked(value.boolean); };
        knob.editor = box;
    } else if (isWords) {
        auto* box = new QComboBox;
        box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        for (const std::string_view word : key.words) box->addItem(toQString(word));
        connect(box, &QComboBox::textActivated, this,
                [chosen](const QString& word) { chosen(Document::of(word.toStdString())); });
        knob.put = [box](const Document& value) { box->setCurrentText(toQString(value.text)); };
        knob.editor = box;
    } else if (std::holds_alternative<std::int64_t& (*)(core::Scenario&)>(key.binding)) {
        auto* box = new QSpinBox;
        constexpr std::int64_t kMost = std::numeric_limits<int>::max();
        box->setRange(static_cast<int>(std::max(key.least, -kMost)), static_cast<int>(std::min(key.most, kMost)));
        box->setGroupSeparatorShown(true);
        box->setAccelerated(true);
        countWhenTyped(*box);
        connect(box, &QSpinBox::valueChanged, this,
                [chosen](int value) { chosen(Document::of(static_cast<std::int64_t>(value))); });
        knob.put = [box](const Document& value) {
            if (const int wanted = static_cast<int>(value.integer); box->value() != wanted) box->setValue(wanted);
        };
        knob.editor = box;
    } else {
        auto* line = new QLineEdit;
        connect(line, &QLineEdit::editingFinished, this, [this, index, line] {
            if (line->isModified()) setKey(toQString(m_knobs[index].key->path), line->text());
            line->setModified(false);
        });
        knob.put = [line](const Document& value) {
            if (const QString text = textOf(value); line->text() != text) line->setText(text);
        };
        knob.editor = line;
    }
    knob.editor->setFocusPolicy(Qt::StrongFocus);
    knob.name->setBuddy(knob.editor);
    rows->addWidget(knob.editor);
    knob.what = new QLabel;
    knob.what->setWordWrap(true);
    knob.what->setForegroundRole(QPalette::PlaceholderText);
    rows->addWidget(knob.what);
    knob.problem = new QLabel;
    knob.problem->setWordWrap(true);
    knob.problem->setObjectName(QStringLiteral("problem"));
    knob.problem->setTextInteractionFlags(Qt::TextSelectableByMouse);
    knob.problem->hide();
    rows->addWidget(knob.problem);
    layout.addWidget(knob.row);
    m_knobs.push_back(std::move(knob));
}

void KnobPanel::retranslate() {
    setAccessibleName(tr("Knobs"));
    if (m_frozen) m_reason->setText(m_frozen());
    m_filter->setPlaceholderText(tr("Find a knob"));
    m_filter->setAccessibleName(tr("Find a knob"));
    for (const auto& [label, section] : m_sections)
        label->setText(section.empty() ? tr("Title")
                                       : QStringLiteral("[%1] %2").arg(
                                             toQString(section), inWindowsLanguage(core::describeSection(section))));
    const core::Scenario defaults;
    for (const Knob& knob : m_knobs) {
        const QString standard = textOf(core::valueOf(defaults, *knob.key));
        QString what = inWindowsLanguage(knob.key->what);
        if (!knob.key->special.empty())
            what += QStringLiteral(" ") + inWindowsLanguage(knob.key->special) + QStringLiteral(".");
        if (!standard.isEmpty()) what += QStringLiteral(" ") + tr("Default: %1.").arg(standard);
        knob.what->setText(breakable(what));
        knob.editor->setAccessibleName(toQString(knob.key->path));
        knob.editor->setAccessibleDescription(what);
        const QString type = inWindowsLanguage(core::describeType(*knob.key));
        const QString tip = QStringLiteral("%1\n%2\n%3").arg(toQString(knob.key->path), type, what);
        for (QWidget* widget : {static_cast<QWidget*>(knob.name), knob.editor}) widget->setToolTip(tip);
        showProblem(knob);
    }
}

void KnobPanel::measure() {
    // Narrower than their longest words.
    for (const Knob& knob : m_knobs) knob.editor->setMinimumWidth(fontMetrics().averageCharWidth() * 10);
}

QSize KnobPanel::minimumSizeHint() const {
    const QSize usual = QScrollArea::minimumSizeHint();
    const int content = widget()->minimumSizeHint().width() + verticalScrollBar()->sizeHint().width();
    return {content + 2 * frameWidth(), usual.height()};
}

bool KnobPanel::event(QEvent* event) {
    // What is in it has other words, or another font.
    if (event->type() == QEvent::LayoutRequest) updateGeometry();
    return QScrollArea::event(event);
}

void KnobPanel::changeEvent(QEvent* event) {
    if (event->type() == QEvent::LanguageChange) retranslate();
    if (event->type() == QEvent::FontChange) measure();
    QScrollArea::changeEvent(event);
}

void KnobPanel::refresh() {
    m_showing = true;
    for (const Knob& knob : m_knobs) knob.put(core::valueOf(m_scenario, *knob.key));
    m_showing = false;
}

void KnobPanel::setScenario(const core::Scenario& scenario) {
    m_scenario = scenario;
    for (Knob& knob : m_knobs) {
        knob.problemWords = nullptr;
        showProblem(knob);
    }
    refresh();
}

KnobPanel::Knob* KnobPanel::find(const QString& path) {
    const std::string wanted = path.toStdString();
    const auto found = std::ranges::find_if(m_knobs, [&](const Knob& knob) { return knob.key->path == wanted; });
    return found == m_knobs.end() ? nullptr : &*found;
}

void KnobPanel::choose(Knob& knob, const Document& value) {
    if (m_showing) return;
    // As if it had been given: some keys count by that alone.
    const std::string path(knob.key->path);
    core::Scenario changed = m_scenario;
    if (const auto set = core::applyOverride(changed, path + "=" + core::writeTomlValue(value)); !set) {
        showProblem(toQString(path), [error = set.error()] { return reasonText(error); });
        return;
    }
    showProblem(toQString(path), {});
    m_scenario = std::move(changed);
    emit edited(m_scenario, toQString(path));
}

bool KnobPanel::setKey(const QString& path, const QString& value) {
    core::Scenario changed = m_scenario;
    if (const auto set = core::applyOverride(changed, (path + u'=' + value).toStdString()); !set) {
        showProblem(path, [error = set.error()] { return reasonText(error); });
        return false;
    }
    showProblem(path, {});
    m_scenario = std::move(changed);
    if (const Knob* knob = find(path)) {
        m_showing = true;
        knob->put(core::valueOf(m_scenario, *knob->key));
        m_showing = false;
    } else {
        refresh();  // part of what a knob holds
    }
    emit edited(m_scenario, path);
    return true;
}

void KnobPanel::showProblem(const QString& path, std::function<QString()> words) {
    Knob* knob = find(path);
    if (knob == nullptr) return;
    knob->problemWords = std::move(words);
    showProblem(*knob);
    if (knob->problemWords) ensureWidgetVisible(knob->row);
}

void KnobPanel::showProblem(const Knob& knob) {
    knob.problem->setText(knob.problemWords ? QStringLiteral("\u26a0 ") + breakable(knob.problemWords()) : QString());
    knob.problem->setVisible(knob.problemWords != nullptr);
}

QWidget* KnobPanel::editorOf(const QString& path) const {
    Knob* knob = const_cast<KnobPanel*>(this)->find(path);
    return knob != nullptr ? knob->editor : nullptr;
}

QString KnobPanel::problemOf(const QString& path) const {
    Knob* knob = const_cast<KnobPanel*>(this)->find(path);
    if (knob == nullptr || knob->problem->isHidden()) return {};
    return knob->problem->text().remove(QChar(0x200b));
}

bool KnobPanel::shows(const QString& path) const {
    Knob* knob = const_cast<KnobPanel*>(this)->find(path);
    return knob != nullptr && knob->row->isVisible();
}

void KnobPanel::freeze(std::function<QString()> words) {
    m_frozen = std::move(words);
    m_reason->setVisible(m_frozen != nullptr);
    if (m_frozen) m_reason->setText(m_frozen());
    for (const Knob& knob : m_knobs)
        if (knob.editor->isEnabled() == frozen()) knob.editor->setEnabled(!frozen());
}

void KnobPanel::setFilter(const QString& text) {
    for (const Knob& knob : m_knobs)
        knob.row->setVisible(toQString(knob.key->path).contains(text, Qt::CaseInsensitive) ||
                             knob.editor->accessibleDescription().contains(text, Qt::CaseInsensitive));
}

}  // namespace shardscope::gui
