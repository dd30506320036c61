/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/training/image_growth.h"

#include "lib/base/error.h"
#include "plugins/common/training/image_side.h"
#include "plugins/common/training/work.h"

/* Few different sizes: each is a shape of its own for the device's libraries and for graphs. */
enum { STEP_PIXELS = 4 };

bool orch_growth_check(const struct orch_training *t, const struct orch_net *net, GError **error)
{
    if (!t->first_size)
        return true;
    if (net->input.h != net->input.w || t->first_size >= net->input.h) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "0 means whole images from the start",
                       "first_size: %d, but the images have only %dx%d pixels", (int)t->first_size,
                       (int)net->input.w, (int)net->input.h);
        return false;
    }
    for (int64_t side = t->first_size; side < net->input.h; side += STEP_PIXELS)
        if (!orch_net_takes_side(net, side, error)) {
            g_prefix_error(error, "first_size: %d: ", (int)t->first_size);
            return false;
        }
    return true;
}

int64_t orch_growth_side(const struct orch_session *s, double epoch)
{
    const int64_t first = s->training->first_size, whole = s->net->input.h;
    const double grown = s->training->growth * (double)s->epochs;
    if (!first || epoch >= grown)
        return 0;
    const int64_t steps = (int64_t)((double)(whole - first) / STEP_PIXELS * epoch / grown);
    return first + STEP_PIXELS * steps;
}
