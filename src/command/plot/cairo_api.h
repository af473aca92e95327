/* cairo_api.h - functions of libcairo, which is loaded when a picture is drawn. */
#ifndef CMD_CAIRO_API_H
#define CMD_CAIRO_API_H
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>

/* clang-format off */
#define CMD_CAIRO_CALLS(X) \
    X(create) X(destroy) X(status) X(status_to_string) X(set_source_rgb) \
    X(set_source_surface) X(get_source) X(pattern_set_filter) X(paint) X(rectangle) X(fill) \
    X(stroke) X(move_to) X(line_to) X(new_path) X(set_line_width) X(set_line_join) \
    X(set_line_cap) X(select_font_face) X(set_font_size) X(text_extents) X(show_text) \
    X(save) X(restore) X(clip) X(translate) X(rotate) X(scale) X(surface_destroy) \
    X(surface_flush) X(surface_finish) X(surface_status) X(surface_mark_dirty) \
    X(surface_write_to_png) X(image_surface_create) X(image_surface_get_data) \
    X(image_surface_get_stride) X(svg_surface_create) X(pdf_surface_create)
/* clang-format on */

/* The functions that are looked up. */
typedef struct cmd_cairo_api {
#define CMD_MEMBER(name) __typeof__(&cairo_##name) name;
    CMD_CAIRO_CALLS(CMD_MEMBER)
#undef CMD_MEMBER
} cmd_cairo_api;

/* Loads libcairo, or ends the program if it is not installed. */
const cmd_cairo_api *cmd_cairo_load(void);
#endif
