#pragma once

// PNG and PDF from the picture's SVG, through librsvg and cairo.

#include <string>

#include "core/base/result.h"
#include "traces/formats/sink.h"

namespace shardscope::formats {

/// `scale` device pixels a CSS pixel, 0.1 to 8. Errors: an SVG that cannot be read, or a picture too large to hold.
[[nodiscard]] core::Result<void> renderPng(const std::string& svg, double scale, Sink& sink);
/// One page of the picture's size (1 CSS pixel = 0.75 pt), vectors and text kept.
[[nodiscard]] core::Result<void> renderPdf(const std::string& svg, Sink& sink);

}  // namespace shardscope::formats
