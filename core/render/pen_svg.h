/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Renders a pen's record as SVG in which texts stay texts, so that they can be searched, copied
 * and scaled. (cairo's own SVG draws each letter as a shape.) */
#ifndef ORCH_CORE_RENDER_PEN_SVG_H
#define ORCH_CORE_RENDER_PEN_SVG_H

#include "core/render/pen.h"

struct orch_svg_options {
    const char *id;            /* the element's id and the prefix of its other ids; NULL: a file */
    const char *title, *about; /* for screen readers */
    bool is_for_page; /* fills the available width, axes and texts in the page's colour, transparent
                         background */
};

/** Returns one <svg> element, ended by a line feed. The same drawing gives the same bytes. The
 * caller frees. */
char *orch_pen_svg(const struct orch_pen *pen, const struct orch_svg_options *options);

#endif
