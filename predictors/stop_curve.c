/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/stop_rule.h"

#include <math.h>

double orch_stop_cost(const struct orch_stop_question *question, double value)
{
    if (isnan(value))
        return HUGE_VAL;
    return question->is_max ? -value : value;
}

void orch_stop_summarize(enum orch_stop_summary summary, const double *values, size_t count,
                         double *out)
{
    double sum = 0, known = 0, so_far = NAN;
    for (size_t i = 0; i < count; i++) {
        sum += isnan(values[i]) ? 0 : values[i];
        known += !isnan(values[i]);
        if (summary == ORCH_STOP_LAST)
            so_far = values[i];
        else if (summary == ORCH_STOP_FIRST)
            so_far = values[0];
        else if (summary == ORCH_STOP_MEAN)
            so_far = known > 0 ? sum / known : (double)NAN;
        else /* fmin and fmax leave NaN out */
            so_far = summary == ORCH_STOP_MIN ? fmin(so_far, values[i]) : fmax(so_far, values[i]);
        out[i] = so_far;
    }
}
