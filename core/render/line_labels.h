/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of lines at their right ends, in place of a legend, where the lines are few and end apart.
 */
#ifndef ORCH_CORE_RENDER_LINE_LABELS_H
#define ORCH_CORE_RENDER_LINE_LABELS_H

#include "core/render/frame.h"

/** Places a name for each of frame->keys beside its last point, in a panel of that height; false
 * when a legend is better: one line or many, panels, long names, lines that end early or too close
 * to each other. `out_y` (double, the caller unrefs) are the middles of the names above the panel's
 * foot, `out_width` is the room that they need. */
bool orch_line_labels_place(const struct orch_frame *frame, double height, GArray **out_y,
                            double *out_width);

#endif
