/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/onnxrun/label_places.h"

#include <math.h>

enum { STRIDE = 4 }; /* pixels between the places that are tried */

static bool is_taken(const GArray *places, int height, struct onnxrun_place wanted)
{
    for (guint i = 0; i < places->len; i++) {
        const struct onnxrun_place *p = &g_array_index(places, struct onnxrun_place, i);
        if (wanted.x < p->x + p->width && p->x < wanted.x + wanted.width &&
            fabs(wanted.y - p->y) < height)
            return true;
    }
    return false;
}

bool orch_onnxrun_place_find(const GArray *places, int side, int height,
                             struct onnxrun_place *place)
{
    struct onnxrun_place best = *place;
    double least = HUGE_VAL;
    if (!is_taken(places, height, *place))
        return true;
    for (double x = 0; x <= fmax(0, side - place->width); x += STRIDE)
        for (double y = 0; y <= side - height; y += STRIDE) {
            const struct onnxrun_place at = {x, y, place->width};
            const double far = hypot(x - place->x, y - place->y);
            if (far < least && !is_taken(places, height, at)) {
                least = far;
                best = at;
            }
        }
    *place = best;
    return isfinite(least);
}
