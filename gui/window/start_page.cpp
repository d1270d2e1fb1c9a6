#include "gui/window/start_page.h"

#include <QEvent>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

namespace shardscope::gui {

const std::vector<Sample>& samples() {
    static const std::vector<Sample> kSamples = {
        {QT_TRANSLATE_NOOP("shardscope::gui::StartPage", "The lecture: a vision transformer on four GPUs"),
         QT_TRANSLATE_NOOP("shardscope::gui::StartPage", "12 blocks; layers placed one after another against FSDP"),
         "vit_b_16_1ch10",
         {"title=\"A vision transformer on four GPUs\"", "cluster.gpu=a100-sxm-80gb", "training.local_batch_size=32",
          "parallelism.data_parallel_shard_degree=4"}},
        {QT_TRANSLATE_NOOP("shardscope::gui::StartPage", "Llama-3.1-8B on 8 x H100"),
         QT_TRANSLATE_NOOP("shardscope::gui::StartPage", "One node; sequences of 4,096 tokens"),
         "llama-3.1-8b",
         {"cluster.gpu=h100-sxm", "training.seq_len=4096", "parallelism.data_parallel_shard_degree=8"}},
        {QT_TRANSLATE_NOOP("shardscope::gui::StartPage", "Llama-3.1-70B on 4 nodes of 8 x H100"),
         QT_TRANSLATE_NOOP("shardscope::gui::StartPage", "32 GPUs; sequences of 4,096 tokens"),
         "llama-3.1-70b",
         {"cluster.gpu=h100-sxm", "training.seq_len=4096", "parallelism.data_parallel_shard_degree=32"}},
    };
    return kSamples;
}

StartPage::StartPage(QWidget* parent) : QScrollArea(parent) {
    // Where it does not fit it scrolls, so that the plans behind it are no taller for it.
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::NoFocus);
    auto* content = new QWidget;
    setWidget(content);
    auto* outer = new QHBoxLayout(content);
    auto* column = new QVBoxLayout;
    outer->addStretch(1);
    outer->addLayout(column, 4);
    outer->addStretch(1);
    column->addStretch(1);
    m_title = new QLabel;
    m_title->setText(QStringLiteral("Shardscope"));
    column->addWidget(m_title);
    m_subtitle = new QLabel;
    m_subtitle->setWordWrap(true);
    column->addWidget(m_subtitle);
    column->addSpacing(18);
    const auto heading = [&] {
        auto* label = new QLabel;
        QFont bold;  // its size follows the window's
        bold.setBold(true);
        label->setFont(bold);
        column->addWidget(label);
        return label;
    };
    m_samplesTitle = heading();
    for (int i = 0; i < static_cast<int>(samples().size()); ++i) {
        // Two lines from the left, which a button's own text is not.
        auto* button = new QPushButton;
        auto* rows = new QVBoxLayout(button);
        rows->setContentsMargins(12, 4, 12, 4);
        rows->setSpacing(0);
        for (QLabel*& line : m_sampleLines.emplace_back()) {
            line = new QLabel;
            line->setAttribute(Qt::WA_TransparentForMouseEvents);
            rows->addWidget(line);
        }
        connect(button, &QPushButton::clicked, this, [this, i] { emit sampleChosen(i); });
        column->addWidget(button);
        m_samples.push_back(button);
    }
    column->addSpacing(18);
    m_continue = new QPushButton;
    m_continue->hide();
    connect(m_continue, &QPushButton::clicked, this, &StartPage::continueWanted);
    column->addWidget(m_continue, 0, Qt::AlignLeft);
    m_recentTitle = heading();
    m_recent = new QListWidget;
    connect(m_recent, &QListWidget::itemActivated, this,
            [this](const QListWidgetItem* item) { emit fileChosen(item->text()); });
    column->addWidget(m_recent);
    m_open = new QPushButton;
    connect(m_open, &QPushButton::clicked, this, &StartPage::openWanted);
    column->addWidget(m_open, 0, Qt::AlignLeft);
    m_drop = new QLabel;
    m_drop->setWordWrap(true);
    m_drop->setForegroundRole(QPalette::PlaceholderText);
    column->addWidget(m_drop);
    column->addStretch(2);
    setRecent({});
    measure();
    retranslate();
}

void StartPage::setRecent(const QStringList& files) {
    m_recent->clear();
    m_recent->addItems(files);
    m_recent->setVisible(!files.isEmpty());
    m_recentTitle->setVisible(!files.isEmpty());
}

void StartPage::setContinuable(bool continuable) {
    m_continue->setVisible(continuable);
}

void StartPage::measure() {
    QFont large = font();
    large.setPointSizeF(font().pointSizeF() * 2.2);
    large.setBold(true);
    m_title->setFont(large);
    for (QPushButton* button : m_samples) button->setMinimumHeight(fontMetrics().height() * 3);
    m_recent->setMaximumHeight(fontMetrics().height() * 7);
}

void StartPage::retranslate() {
    m_continue->setText(tr("Continue where you were"));
    m_subtitle->setText(tr("Where do my GPUs wait, and what would happen if I sharded differently?"));
    m_samplesTitle->setText(tr("Start with a sample"));
    for (std::size_t i = 0; i < m_samples.size(); ++i) {
        m_sampleLines[i][0]->setText(tr(samples()[i].title));
        m_sampleLines[i][1]->setText(tr(samples()[i].what));
        m_samples[i]->setAccessibleName(tr(samples()[i].title));
    }
    m_recentTitle->setText(tr("Opened lately"));
    m_recent->setAccessibleName(tr("Opened lately"));
    m_open->setText(tr("Open a file\u2026"));
    m_drop->setText(tr("Or drop a scenario, a config.json, a model's folder or a run on this window."));
}

void StartPage::changeEvent(QEvent* event) {
    if (event->type() == QEvent::LanguageChange) retranslate();
    if (event->type() == QEvent::FontChange && m_drop != nullptr) measure();
    QScrollArea::changeEvent(event);
}

}  // namespace shardscope::gui
