/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/search/stop/stop_trial.h"

#include "lib/base/reals.h"

#include <math.h>

double orch_stop_cost(const struct orch_stop_question *question, double value)
{
    if (isnan(value))
        return HUGE_VAL;
    return question->is_max ? -value : value;
}

double orch_stop_summary_add(enum orch_stop_summary summary, struct orch_stop_sum *inout,
                             double value)
{
    bool is_number = !isnan(value), is_first = inout->count++ == 0;
    inout->sum += is_number ? value : 0;
    inout->numbers += is_number;
    if (summary == ORCH_STOP_MEAN)
        inout->so_far = inout->numbers > 0 ? inout->sum / inout->numbers : (double)NAN;
    else if (summary == ORCH_STOP_LAST || is_first)
        inout->so_far = value;
    else if (summary == ORCH_STOP_MIN) /* fmin and fmax leave NaN out */
        inout->so_far = fmin(inout->so_far, value);
    else if (summary == ORCH_STOP_MAX)
        inout->so_far = fmax(inout->so_far, value);
    return inout->so_far;
}

bool orch_stop_is_at_end(const struct orch_stop_question *question)
{
    size_t own = question->curves[question->asked].count, ended = 0;
    for (size_t i = 0; i < question->count; i++) {
        const struct orch_stop_curve *curve = &question->curves[i];
        bool has_ended = curve->end == ORCH_CURVE_ENDED && !curve->has_diverged;
        if (has_ended && curve->count != own)
            return false;
        ended += has_ended;
    }
    return ended;
}

double orch_stop_change_left(const struct orch_stop_curve *curves, size_t count, size_t index)
{
    const size_t had = curves[index].count;
    g_autofree double *changes = g_new(double, count + 1);
    size_t n = 0;
    for (size_t i = 0; had && i < count; i++) {
        const struct orch_stop_curve *curve = &curves[i];
        if (curve->end != ORCH_CURVE_ENDED || curve->has_diverged || curve->count < had)
            continue;
        const double change = curve->values[curve->count - 1] - curve->values[had - 1];
        if (isfinite(change))
            changes[n++] = change;
    }
    return n ? orch_reals_median(changes, n) : 0;
}
