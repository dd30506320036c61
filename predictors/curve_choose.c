/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/curve_choose.h"

#include <math.h>

/* Relative errors of the loss below this are rounding errors, so the fit is exact. */
#define EXACT 1e-9
#define STRONG_EVIDENCE 6
#define POINTS_A_PARAMETER 2 /* with fewer points the form with more parameters always wins */

struct orch_goodness orch_stages_goodness(const struct orch_stages *stages, const double *k,
                                          const double *loss, size_t count, double from_k)
{
    struct orch_goodness out = {.r2 = NAN, .relative_error = NAN};
    double sum = 0, squares = 0, relative = 0;
    size_t above = 0;
    for (size_t i = 0; i < count; i++) {
        if (k[i] < from_k)
            continue;
        double miss = orch_stages_loss(stages, k[i]) - loss[i];
        out.points++;
        out.sse += miss * miss;
        sum += loss[i];
        if (loss[i] > 0) {
            relative += fabs(miss) / loss[i];
            above++;
        }
    }
    for (size_t i = 0; i < count; i++) {
        double off = loss[i] - sum / (double)MAX(1, out.points);
        squares += k[i] < from_k ? 0 : off * off;
    }
    if (squares > 0)
        out.r2 = 1 - out.sse / squares;
    if (above)
        out.relative_error = relative / (double)above;
    return out;
}

/* Bayesian information criterion for independent normal errors; -HUGE_VAL for an exact fit. */
static double information(const struct orch_stages *stages, const double *k, const double *loss,
                          size_t count)
{
    struct orch_goodness good = orch_stages_goodness(stages, k, loss, count, 0);
    double n = (double)count, params = 0;
    for (size_t s = 0; s < stages->count; s++)
        params += stages->curves[s].is_flat ? 1 : orch_curve_params(stages->curves[s].form);
    if (good.relative_error <= EXACT)
        return -HUGE_VAL;
    return n * log(good.sse / n) + params * log(n);
}

struct orch_stages *orch_stages_choose(const double *k, const double *loss, size_t count,
                                       const double *drops, size_t drop_count,
                                       const struct orch_curve_options *options, GError **error)
{
    struct orch_curve_options o = options ? *options : (struct orch_curve_options){0};
    o.form = ORCH_CURVE_OPTIMUS;
    struct orch_stages *optimus = orch_stages_fit(k, loss, count, drops, drop_count, &o, error);
    if (!optimus || o.method != ORCH_CURVE_DIRECT)
        return optimus;
    o.form = ORCH_CURVE_POWER;
    struct orch_stages *power = orch_stages_fit(k, loss, count, drops, drop_count, &o, NULL);
    size_t params = 0;
    for (size_t s = 0; power && s < power->count; s++)
        params += (size_t)orch_curve_params(ORCH_CURVE_POWER);
    if (power && count >= POINTS_A_PARAMETER * params &&
        information(power, k, loss, count) + STRONG_EVIDENCE <
            information(optimus, k, loss, count)) {
        orch_stages_free(optimus);
        return power;
    }
    orch_stages_free(power);
    return optimus;
}
