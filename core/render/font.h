/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The font of drawings. It is built in (share/fonts), so that texts, and layouts measured with it,
 * are the same on every machine. Characters that it lacks come from system fonts that have them. */
#ifndef ORCH_CORE_RENDER_FONT_H
#define ORCH_CORE_RENDER_FONT_H

#include "core/render/wrap.h"

/** Returns a ruler for texts of that size. Widths have the unit of `size` (pixels). */
struct orch_ruler orch_font_ruler(double size);

#endif
