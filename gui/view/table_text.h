#pragma once

// Any table as text for elsewhere.

#include <QAbstractItemModel>
#include <QString>

namespace shardscope::gui {

/// Comma-separated values (RFC 4180), a header first. Cells and headers that hold a value under `valueRole` give that.
[[nodiscard]] QString csvOf(const QAbstractItemModel& table, int valueRole = Qt::UserRole);
/// A Markdown table of what is shown, figures to the right.
[[nodiscard]] QString markdownOf(const QAbstractItemModel& table);

}  // namespace shardscope::gui
