/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gnuplot's SVG made into an element that stands in a page. */
#ifndef ORCH_CORE_REPORT_DRAW_SVG_H
#define ORCH_CORE_REPORT_DRAW_SVG_H

#include <glib.h>

/** One <svg> element from a whole file of gnuplot's: only shapes and texts are taken over, ids
 * begin with `id`, black becomes the page's colour, it scales with its width, and it has a title
 * and a description. NULL with ORCH_ERROR_IO when it is no such file. The caller frees. */
char *orch_svg_for_page(const char *svg, const char *id, const char *title, const char *about,
                        GError **error);

#endif
