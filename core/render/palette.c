/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/render/palette.h"

#include <math.h>

uint32_t orch_palette_series(unsigned index)
{
    static const uint32_t colors[] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7,
                                      0xe69f00, 0x56b4e9, 0x000000, 0xb8a800};
    return colors[index % (sizeof colors / sizeof *colors)];
}

uint32_t orch_heat_color(double share)
{
    enum { STOPS = 10 };
    static const uint32_t stops[STOPS] = {0x00224e, 0x123570, 0x3b496c, 0x575d6d, 0x707173,
                                          0x8a8678, 0xa59c74, 0xc3b369, 0xe1cc55, 0xfee838};
    double at = fmin(fmax(share, 0), 1) * (STOPS - 1);
    unsigned i = (unsigned)fmin(floor(at), STOPS - 2);
    uint32_t color = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {
        double a = (stops[i] >> shift) & 255, b = (stops[i + 1] >> shift) & 255;
        color |= (uint32_t)lround(a + (b - a) * (at - i)) << shift;
    }
    return color;
}

bool orch_color_is_light(uint32_t color)
{
    return 0.299 * (color >> 16 & 255) + 0.587 * (color >> 8 & 255) + 0.114 * (color & 255) > 130;
}
