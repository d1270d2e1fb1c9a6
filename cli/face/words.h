#pragma once

// What a picture or an answer says about a report in its own language; names of models, units and hardware stay as they
// are.

#include <string>

#include "cli/face/report.h"

namespace shardscope::cli {

/// "4 stages of contiguous layers, 4 micro-batches of 32 one after another"; `language` "en" or "ko".
[[nodiscard]] std::string planInWords(const core::Case& one, const std::string& language = "en");
/// Model, hardware and batch.
[[nodiscard]] std::string setupInWords(const Report& report, const std::string& language = "en");
/// "  not used: training.frozen changes nothing here", with its newline.
[[nodiscard]] std::string unusedInWords(const std::string& key);
/// "rests on: ...": the caveat itself is not translated.
[[nodiscard]] std::string caveatInWords(const std::string& caveat, const std::string& language = "en");

/// "is rank 1 (stage 1)", "are ranks 0 to 7 (all ranks)".
[[nodiscard]] std::string ranksInWords(const ClassReport& ranks);

}  // namespace shardscope::cli
