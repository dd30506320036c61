/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The colours of charts, as 0xRRGGBB. */
#ifndef ORCH_CORE_RENDER_PALETTE_H
#define ORCH_CORE_RENDER_PALETTE_H

#include <stdbool.h>
#include <stdint.h>

/** Returns the colour of series `index`: eight colours that are distinguishable with colour
 * blindness (Okabe and Ito 2008), then the same again. */
uint32_t orch_palette_series(unsigned index);
/** The grey of reference and ideal lines. */
#define ORCH_PALETTE_REFERENCE 0x7a7a7au
/** Returns a colour from dark blue to yellow with uniform steps in lightness (cividis). `share` is
 * 0 to 1. */
uint32_t orch_heat_color(double share);
/** Returns whether black text is easier to read on the colour than white. */
bool orch_color_is_light(uint32_t color);

#endif
