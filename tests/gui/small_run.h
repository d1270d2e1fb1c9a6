#pragma once

// A run in a file, made without running: the graph of a small model, its ops at the instants that made-up times of a
// machine predict, stretched by a tenth on the first rank and by a fifth on the second, as if it had been measured.

#include <QString>
#include <optional>

#include "core/machine/machine_times.h"
#include "traces/formats/run_file.h"

namespace shardscope::gui {

struct SmallRun {
    formats::RunFile file;
    core::MachineTimes times;
};
/// FSDP over two ranks; with its times in it, or without.
[[nodiscard]] SmallRun smallRun(bool predicted = true);
/// Written packed where the path ends in .gz.
void write(const formats::RunFile& run, const QString& path);
void write(const core::MachineTimes& times, const QString& path);

}  // namespace shardscope::gui
