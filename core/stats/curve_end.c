/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/stats/curve_end.h"

#include "lib/base/unit.h"

#include <glib.h>
#include <math.h>

struct orch_curve_end orch_curve_end_of(const double *last, size_t count)
{
    struct orch_curve_end end = {NAN, NAN, 0, 0};
    for (size_t i = 0; i < count; i++) {
        end.runs += !isnan(last[i]);
        end.end = fmin(end.end, last[i]); /* of a NaN and a number these give the number */
        end.longest = fmax(end.longest, last[i]);
    }
    for (size_t i = 0; i < count; i++)
        end.ended_earlier += last[i] < end.longest;
    return end;
}

char *orch_curve_end_text(const struct orch_curve_end *end, const char *unit)
{
    if (!end->ended_earlier)
        return NULL;
    bool is_rate;
    if (orch_unit_is_timing(unit, &is_rate) && !is_rate)
        return g_strdup_printf("%u runs, to %.15g %s: %u ended before %.15g %s", end->runs,
                               end->end, unit, end->ended_earlier, end->longest, unit);
    return g_strdup_printf("%u runs, to %s %.15g: %u ended before %s %.15g", end->runs, unit,
                           end->end, end->ended_earlier, unit, end->longest);
}
