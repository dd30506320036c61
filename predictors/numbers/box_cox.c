/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/numbers/box_cox.h"

#include "lib/base/reals.h"

#include <math.h>

#define LEAST_VALUE 0.05 /* of values before their transformation, whose median is about 1 */
#define MARGIN 5.0       /* so much better, as a logarithm, a transformation has to be */

static double box_cox(double value, double power)
{
    return fabs(power) < 1e-6 ? log(value) : (pow(value, power) - 1) / power;
}

/* Fits a process to values that are transformed by one power. `*out_loss`: how badly it explains
 * the values as they were, comparable between powers. */
static struct orch_space_process *fit_power(const struct orch_space *space, const double *points,
                                            const double *values, size_t n, double power,
                                            double *out_loss)
{
    g_autofree double *changed = g_new(double, n);
    double logs = 0;
    for (size_t i = 0; i < n; i++) {
        changed[i] = box_cox(values[i], power);
        logs += log(values[i]);
    }
    double deviation = orch_reals_standardise(changed, n);
    struct orch_space_process *process = orch_space_process_fit(space, points, changed, n);
    *out_loss =
        process ? orch_space_process_loss(process) + (double)n * log(deviation) - (power - 1) * logs
                : HUGE_VAL;
    return process;
}

struct orch_space_process *orch_box_cox_fit(const struct orch_space *space, const double *points,
                                            double *values, size_t n)
{
    static const double POWERS[] = {1, 0.5, 0};
    g_autofree double *sorted = g_memdup2(values, n * sizeof *sorted);
    orch_reals_sort(sorted, n);
    double scale = sorted[n / 2] - sorted[0], least = HUGE_VAL;
    struct orch_space_process *best = NULL;
    for (size_t i = 0; i < n; i++)
        values[i] = (values[i] - sorted[0]) / (scale > 0 ? scale : 1) + LEAST_VALUE;
    for (size_t k = 0; k < G_N_ELEMENTS(POWERS); k++) {
        double loss;
        struct orch_space_process *process = fit_power(space, points, values, n, POWERS[k], &loss);
        loss += MARGIN * (double)k;
        bool is_better = process && loss < least;
        orch_space_process_free(is_better ? best : process);
        best = is_better ? process : best;
        least = is_better ? loss : least;
    }
    return best;
}
