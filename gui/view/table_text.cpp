#include "gui/view/table_text.h"

#include <QStringList>

namespace shardscope::gui {

namespace {

QString csvField(QString text) {
    if (!text.contains(u',') && !text.contains(u'"') && !text.contains(u'\n')) return text;
    return u'"' + text.replace(QStringLiteral("\""), QStringLiteral("\"\"")) + u'"';
}

QString markdownCell(QString text) {
    return text.replace(u'|', QStringLiteral("\\|")).replace(u'\n', u' ');
}

bool hasRowHeaders(const QAbstractItemModel& table) {
    for (int row = 0; row < table.rowCount(); ++row)
        if (const QString name = table.headerData(row, Qt::Vertical).toString(); !name.isEmpty()) {
            bool number = false;
            name.toInt(&number);
            if (!number) return true;  // Qt numbers rows that have no name
        }
    return false;
}

}  // namespace

QString csvOf(const QAbstractItemModel& table, int valueRole) {
    const auto first = [](const QVariant& value, const QVariant& shown) {
        return csvField((value.isValid() ? value : shown).toString());
    };
    const bool named = hasRowHeaders(table);
    QStringList lines, fields;
    if (named) fields << QString();
    for (int column = 0; column < table.columnCount(); ++column)
        fields << first(table.headerData(column, Qt::Horizontal, valueRole), table.headerData(column, Qt::Horizontal));
    lines << fields.join(u',');
    for (int row = 0; row < table.rowCount(); ++row) {
        fields.clear();
        if (named) fields << csvField(table.headerData(row, Qt::Vertical).toString());
        for (int column = 0; column < table.columnCount(); ++column) {
            const QModelIndex index = table.index(row, column);
            fields << first(index.data(valueRole), index.data());
        }
        lines << fields.join(u',');
    }
    return lines.join(u'\n') + u'\n';
}

QString markdownOf(const QAbstractItemModel& table) {
    const bool named = hasRowHeaders(table);
    QStringList titles, rules, lines;
    if (named) {
        titles << QString();
        rules << QStringLiteral("---");
    }
    for (int column = 0; column < table.columnCount(); ++column) {
        titles << markdownCell(table.headerData(column, Qt::Horizontal).toString());
        const auto alignment = table.index(0, column).data(Qt::TextAlignmentRole).toInt();
        rules << ((alignment & Qt::AlignRight) != 0 ? QStringLiteral("---:") : QStringLiteral("---"));
    }
    const auto line = [](const QStringList& cells) { return u'|' + cells.join(u'|') + u'|'; };
    lines << line(titles) << line(rules);
    for (int row = 0; row < table.rowCount(); ++row) {
        QStringList cells;
        if (named) cells << markdownCell(table.headerData(row, Qt::Vertical).toString());
        for (int column = 0; column < table.columnCount(); ++column)
            cells << markdownCell(table.index(row, column).data().toString());
        lines << line(cells);
    }
    return lines.join(u'\n') + u'\n';
}

}  // namespace shardscope::gui
