#include "gui/view/details_panel.h"

#include <QEvent>
#include <QScrollBar>
#include <QTextBlock>
#include <QTextCursor>

#include "cli/face/text_picture.h"
#include "gui/view/figure_words.h"
#include "gui/view/messages.h"
#include "gui/view/run_figures.h"
#include "gui/view/words.h"
#include "sim/price/price_graph.h"

namespace shardscope::gui {

namespace {

QString escaped(std::string_view text) {
    return toQString(text).toHtmlEscaped();
}

QString row(const QString& name, const QString& value) {
    return QStringLiteral("<tr><td style=\"padding-right:10px\">%1</td><td>%2</td></tr>").arg(name, value);
}

}  // namespace

DetailsPanel::DetailsPanel(PageState& state, QWidget* parent) : QTextBrowser(parent), m_state(state) {
    setOpenLinks(true);
    setAccessibleName(tr("Details"));
    connect(&state, &PageState::selectionChanged, this, &DetailsPanel::fill);
    fill();
}

void DetailsPanel::changeEvent(QEvent* event) {
    if (event->type() == QEvent::LanguageChange) {
        setAccessibleName(tr("Details"));
        fill();
    }
    QTextBrowser::changeEvent(event);
}

void DetailsPanel::doSetSource(const QUrl& link, QTextDocument::ResourceType) {
    // "span:PLAN/SPAN": nothing is loaded, the piece is selected.
    const QStringList parts = link.path().split(u'/');
    if (link.scheme() != QLatin1String("span") || parts.size() != 2) return;
    if (const auto piece = m_state.findSpan(parts[0].toULongLong(), parts[1].toUInt())) m_state.select(piece, true);
}

void DetailsPanel::fill() {
    if (m_state.answer() && !m_state.selection()) {
        showParagraphs(peaks());
        return;
    }
    const QString html = m_state.answer() ? selectionHtml(*m_state.selection()) : QString();
    // An answer comes with more than one signal, and laying out text is dear.
    if (m_paragraphs.empty() && m_html == html) return;
    // Where the same is told with other numbers, whoever reads it reads on.
    const bool sameSubject = m_paragraphs.empty() && m_subject == m_state.selection();
    m_html = html;
    m_subject = m_state.selection();
    m_paragraphs.clear();
    const int at = verticalScrollBar()->value();
    setHtml(html);
    if (sameSubject) verticalScrollBar()->setValue(at);
}

// What stays as it was is left alone: with every step of a knob the peaks are told anew.
void DetailsPanel::showParagraphs(const std::vector<Paragraph>& paragraphs) {
    if (paragraphs == m_paragraphs) return;
    const bool otherSubject = m_paragraphs.empty();
    const int at = otherSubject ? 0 : verticalScrollBar()->value();
    if (otherSubject) clear();
    m_html.clear();
    QTextCharFormat plain, bold;
    bold.setFontWeight(QFont::Bold);
    QTextCursor cursor(document());
    cursor.beginEditBlock();
    for (std::size_t i = 0; i < paragraphs.size(); ++i) {
        const Paragraph& one = paragraphs[i];
        if (i < m_paragraphs.size()) {
            if (m_paragraphs[i] == one) continue;
            cursor.setPosition(document()->findBlockByNumber(static_cast<int>(i)).position());
            cursor.movePosition(QTextCursor::EndOfBlock, QTextCursor::KeepAnchor);
            cursor.removeSelectedText();
        } else {
            cursor.movePosition(QTextCursor::End);
            if (i > 0) cursor.insertBlock();
        }
        QTextBlockFormat format;
        format.setTopMargin(one.margin);
        format.setBottomMargin(one.margin);
        cursor.setBlockFormat(format);
        cursor.insertText(one.bold, bold);
        cursor.insertText(one.plain, plain);
        // Its letters are kept from laying out to painting.
        cursor.block().layout()->setCacheEnabled(true);
    }
    if (paragraphs.size() < m_paragraphs.size()) {
        cursor.setPosition(document()->findBlockByNumber(static_cast<int>(paragraphs.size())).position() - 1);
        cursor.movePosition(QTextCursor::End, QTextCursor::KeepAnchor);
        cursor.removeSelectedText();
    }
    cursor.endEditBlock();
    m_paragraphs = paragraphs;
    // The panel's own cursor moves with what is inserted before it, and into sight.
    if (otherSubject) moveCursor(QTextCursor::Start);
    verticalScrollBar()->setValue(at);
}

QString DetailsPanel::selectionHtml(const PieceId& id) const {
    const cli::PlanReport& plan = m_state.plan(id.plan);
    const LaneSet& set = m_state.lanes(id.plan);
    const Lane& lane = set.lanes[id.lane];
    const formats::RowPiece piece = *m_state.pieceOf(id);
    const timeline::Timeline& t = *set.timeline;
    QString html = QStringLiteral("<h3>%1</h3><p>%2, %3%4</p>")
                       .arg(describePiece(set, lane, piece).toHtmlEscaped(), m_state.titleOf(id.plan).toHtmlEscaped(),
                            rankName(set, lane.rankIndex, id.rank, m_state.ranksAt(id)).toHtmlEscaped(),
                            lane.stream.empty() ? QString() : QStringLiteral(", ") + escaped(lane.stream));
    html += QStringLiteral("<table>");
    html += row(tr("from"), instantText(piece.begin));
    html += row(tr("to"), instantText(piece.end));
    html += row(tr("takes"), toQString(cli::durationText(piece.end - piece.begin)));
    if (piece.span == timeline::kNoIndex) return html + QStringLiteral("</table>");
    const std::uint32_t span = piece.span;
    if (!t.strings[t.spans.unit[span]].empty())
        html += row(tr("unit"), inWindowsLanguage(t.strings[t.spans.unit[span]]).toHtmlEscaped());
    if (t.spans.bytes[span] > 0) html += row(tr("payload"), toQString(cli::bytesText(t.spans.bytes[span])));
    if (t.spans.microBatch[span] > 0 || plan.setup.plan.microBatches > 1)
        html += row(tr("micro-batch"), QString::number(t.spans.microBatch[span]));
    html += QStringLiteral("</table>") + twinsHtml(id);

    const auto links = [&](bool waitsFor) {
        QString list;
        int shown = 0;
        for (const timeline::Flow& flow : t.flows) {
            if ((waitsFor ? flow.to : flow.from) != span) continue;
            const std::uint32_t other = waitsFor ? flow.from : flow.to;
            if (++shown > 12) continue;
            list += QStringLiteral("<li><a href=\"span:%1/%2\">%3</a> (%4)</li>")
                        .arg(id.plan)
                        .arg(other)
                        .arg(inWindowsLanguage(t.strings[t.spans.name[other]]).toHtmlEscaped(),
                             reasonName(flow.reason).toHtmlEscaped());
        }
        if (shown > 12) list += QStringLiteral("<li>%1</li>").arg(tr("and %n more", nullptr, shown - 12));
        return list;
    };
    if (const QString list = links(true); !list.isEmpty())
        html += QStringLiteral("<p><b>%1</b></p><ul>%2</ul>").arg(tr("It waited for"), list);
    if (const QString list = links(false); !list.isEmpty())
        html += QStringLiteral("<p><b>%1</b></p><ul>%2</ul>").arg(tr("What waits for it"), list);
    if (m_state.plans()[id.plan].ofRun()) return html;  // its formula would be that of a GPU
    if (t.spans.op[span] != timeline::kNoIndex) {
        const std::string formula =
            sim::explainPrice(*plan.graph, *plan.model, m_state.plans()[id.plan].report().cluster, {},
                              core::OpId(static_cast<std::size_t>(t.spans.op[span])));
        html += QStringLiteral("<p><b>%1</b></p><pre style=\"white-space:pre-wrap\">%2</pre>")
                    .arg(tr("How its time comes about"), inWindowsLanguage(formula).toHtmlEscaped());
    }
    return html;
}

QString DetailsPanel::twinsHtml(const PieceId& id) const {
    struct Column {
        std::size_t plan;
        std::uint32_t span;
    };
    std::vector<Column> columns;
    for (std::size_t p = 0; p < m_state.plans().size(); ++p) {
        if (p == id.plan) {
            columns.push_back({p, m_state.pieceOf(id)->span});
        } else if (const auto span = m_state.sameOp(id, p)) {
            columns.push_back({p, *span});
        }
    }
    if (columns.size() < 2) return {};
    const auto line = [&](const QString& name, const auto& text) {
        QString cells = QStringLiteral("<td style=\"padding-right:10px\">%1</td>").arg(name);
        for (const Column& one : columns)
            cells += QStringLiteral("<td align=\"right\" style=\"padding-right:10px\">%1</td>")
                         .arg(text(one.plan, m_state.lanes(one.plan).timeline->spans, one.span));
        return QStringLiteral("<tr>%1</tr>").arg(cells);
    };
    using Spans = timeline::Spans;
    const auto duration = [](std::int64_t ns) { return toQString(cli::durationText(ns)); };
    QString rows = line({}, [&](std::size_t plan, const Spans&, std::uint32_t) {
        return QStringLiteral("<b>%1</b>").arg(m_state.titleOf(plan).toHtmlEscaped());
    });
    rows += line(tr("from"), [](std::size_t, const Spans& s, std::uint32_t i) { return instantText(s.start[i]); });
    rows += line(tr("to"), [](std::size_t, const Spans& s, std::uint32_t i) { return instantText(s.end[i]); });
    rows += line(tr("waits"), [&](std::size_t, const Spans& s, std::uint32_t i) {
        return duration(s.transferStart[i] - s.start[i]);
    });
    rows += line(tr("works"),
                 [&](std::size_t, const Spans& s, std::uint32_t i) { return duration(s.end[i] - s.transferStart[i]); });
    return QStringLiteral("<p><b>%1</b></p><table>%2</table>").arg(tr("The same op in every timeline"), rows);
}

std::vector<DetailsPanel::Paragraph> DetailsPanel::peaks() const {
    std::vector<Paragraph> all;
    all.push_back({{}, tr("Click a bar, or use the arrow keys, to see what it is and what it waits for.")});
    for (std::size_t p = 0; p < m_state.plans().size(); ++p) {
        const bool ofRun = m_state.plans()[p].ofRun();
        const sim::MemoryPeak& peak = m_state.plan(p).tightest().memory.step.deviceTime;
        if (ofRun && peak.total.value == 0) continue;
        all.push_back(
            {tr("Memory peak of %1: %2").arg(m_state.titleOf(p), toQString(cli::bytesText(peak.total.value))), {}});
        int shown = 0;
        for (const sim::MemoryPart& part : peak.parts) {
            if (++shown > 8) break;
            const QString words =
                QStringLiteral(" %1: %2").arg(
                    toQString(pictureText().memoryCategories[static_cast<std::size_t>(part.category)]),
                    inWindowsLanguage(part.tensors)) +
                QChar(QChar::LineSeparator) + inWindowsLanguage(part.owner);
            all.push_back({toQString(cli::bytesText(part.bytes.value)), words, 4});
        }
        const QString formula =
            ofRun ? runPeakFormula(m_state.plan(p).name, m_state.plans()[p].answer->figures[m_state.plans()[p].index])
                  : figureFormula(Figure::PeakMemory, m_state.plans()[p].report(), m_state.plan(p));
        all.push_back({{}, formula});
    }
    return all;
}

}  // namespace shardscope::gui
