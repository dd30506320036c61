/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drawings as PNG and PDF, and the font metrics for layouts: everything that needs cairo.
 *
 * cairo depends on eighteen libraries, which would be loaded at each start of the program. It is
 * therefore in a module, orch-cairo.so, which is loaded for the first drawing. */
#ifndef ORCH_CORE_RENDER_DRAWING_H
#define ORCH_CORE_RENDER_DRAWING_H

#include "core/render/pen.h"

/** The functions of the module. Its only symbol, ORCH_DRAWING_SYMBOL, is a function that returns
 * this struct. */
struct orch_drawing {
    unsigned struct_bytes;
    /** Returns the advance width of a character at size 1, in the built-in font (share/fonts), or
     * in a system font when the built-in font lacks it. */
    double (*width)(gunichar c);
    char *(*png)(const struct orch_pen *pen, gsize *out_length, GError **error);
    char *(*pdf)(const struct orch_pen *pen, const char *title, gsize *out_length, GError **error);
};
#define ORCH_DRAWING_SYMBOL "orch_drawing"
__attribute__((visibility("default"))) const struct orch_drawing *orch_drawing(void);

/** Renders a PNG on white with twice the sheet's size in pixels. NULL with ORCH_ERROR_IO when
 * memory or the module is missing. The same drawing gives the same bytes. The caller frees. */
char *orch_pen_png(const struct orch_pen *pen, gsize *out_length, GError **error);
/** Renders a PDF of one page, with texts that can be searched and copied. `title` is the document's
 * title. Errors and ownership are as above. */
char *orch_pen_pdf(const struct orch_pen *pen, const char *title, gsize *out_length,
                   GError **error);

#endif
