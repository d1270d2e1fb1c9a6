#include "traces/formats/render.h"

#include <cairo-pdf.h>
#include <cairo.h>
#include <fmt/format.h>
#include <librsvg/rsvg.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace shardscope::formats {

namespace {

struct Release {
    void operator()(RsvgHandle* handle) const { g_object_unref(handle); }
    void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
    void operator()(cairo_t* context) const { cairo_destroy(context); }
};
using Handle = std::unique_ptr<RsvgHandle, Release>;
using Surface = std::unique_ptr<cairo_surface_t, Release>;
using Context = std::unique_ptr<cairo_t, Release>;

tl::unexpected<core::Error> failed(std::string_view what, std::string_view why) {
    return core::fail(core::ErrorCode::Io, fmt::format("the picture cannot be {}: {}", what, why), {},
                      "write the .svg and convert it with another program");
}

tl::unexpected<core::Error> failed(std::string_view what, GError* error) {
    const std::string why = error != nullptr ? error->message : "unknown error";
    if (error != nullptr) g_error_free(error);
    return failed(what, why);
}

struct Drawing {
    Handle handle;
    double width = 0, height = 0;  ///< CSS px
};

core::Result<Drawing> load(const std::string& svg) {
    GError* error = nullptr;
    Drawing drawing;
    drawing.handle.reset(rsvg_handle_new_from_data(reinterpret_cast<const guint8*>(svg.data()), svg.size(), &error));
    if (!drawing.handle) return failed("read", error);
    rsvg_handle_set_dpi(drawing.handle.get(), 96);
    if (!rsvg_handle_get_intrinsic_size_in_pixels(drawing.handle.get(), &drawing.width, &drawing.height) ||
        !(drawing.width >= 1) || !(drawing.height >= 1)) {
        return failed("read", "it has no size");
    }
    return drawing;
}

core::Result<void> draw(const Drawing& drawing, cairo_surface_t* surface, double scale) {
    const Context context(cairo_create(surface));
    cairo_scale(context.get(), scale, scale);
    const RsvgRectangle page = {0, 0, drawing.width, drawing.height};
    GError* error = nullptr;
    if (!rsvg_handle_render_document(drawing.handle.get(), context.get(), &page, &error)) return failed("drawn", error);
    cairo_surface_flush(surface);
    const cairo_status_t status = cairo_status(context.get());
    if (status != CAIRO_STATUS_SUCCESS) return failed("drawn", cairo_status_to_string(status));
    return {};
}

cairo_status_t writeTo(void* sink, const unsigned char* bytes, unsigned length) {
    static_cast<Sink*>(sink)->write({reinterpret_cast<const char*>(bytes), length});
    return CAIRO_STATUS_SUCCESS;  // the sink keeps its errors until `finish`
}

}  // namespace

core::Result<void> renderPng(const std::string& svg, double scale, Sink& sink) {
    SHARDSCOPE_ASSIGN(const Drawing drawing, load(svg));
    scale = std::clamp(scale, 0.1, 8.0);
    const double width = std::ceil(drawing.width * scale), height = std::ceil(drawing.height * scale);
    constexpr double kLargest = 32'767;  // cairo's images end there
    if (width > kLargest || height > kLargest) {
        return failed("drawn", fmt::format("{:.0f} x {:.0f} pixels, at most {:.0f} a side", width, height, kLargest));
    }
    const Surface surface(
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(width), static_cast<int>(height)));
    SHARDSCOPE_TRY(draw(drawing, surface.get(), scale));
    const cairo_status_t status = cairo_surface_write_to_png_stream(surface.get(), writeTo, &sink);
    if (status != CAIRO_STATUS_SUCCESS) return failed("written", cairo_status_to_string(status));
    return {};
}

core::Result<void> renderPdf(const std::string& svg, Sink& sink) {
    SHARDSCOPE_ASSIGN(const Drawing drawing, load(svg));
    constexpr double kPointsPerPixel = 0.75;
    const Surface surface(cairo_pdf_surface_create_for_stream(writeTo, &sink, drawing.width * kPointsPerPixel,
                                                              drawing.height * kPointsPerPixel));
    // No date: the same picture gives the same bytes.
    cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATE_DATE, "");
    SHARDSCOPE_TRY(draw(drawing, surface.get(), kPointsPerPixel));
    cairo_surface_finish(surface.get());
    const cairo_status_t status = cairo_surface_status(surface.get());
    if (status != CAIRO_STATUS_SUCCESS) return failed("written", cairo_status_to_string(status));
    return {};
}

}  // namespace shardscope::formats
