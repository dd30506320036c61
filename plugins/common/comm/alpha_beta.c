/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two parameters, so the normal equations are solved as they are. Their columns are scaled to
 * length 1, because a message takes microseconds and a byte nanoseconds. */
#include "plugins/common/comm/alpha_beta.h"

#include <math.h>

/** Columns whose cosine is closer to 1 are one column: the points have one size. */
static const double PARALLEL = 1e-9;

bool orch_alpha_beta_has_latency(const struct orch_alpha_beta *fit)
{
    return fit->error <= ORCH_ALPHA_BETA_ERROR_MOST;
}

double orch_alpha_beta_seconds(const struct orch_alpha_beta *fit,
                               const struct orch_alpha_beta_point *p)
{
    return p->cost.messages * fit->alpha_s + p->cost.volume * p->bytes * fit->beta_s;
}

static void measure_errors(const struct orch_alpha_beta_point *points, size_t count,
                           struct orch_alpha_beta *fit)
{
    double errors = 0, logs = 0;
    for (size_t i = 0; i < count; i++) {
        const double ratio = orch_alpha_beta_seconds(fit, &points[i]) / points[i].seconds;
        errors += fabs(ratio - 1);
        logs += fabs(log(ratio));
    }
    fit->error = errors / (double)count;
    fit->log_error = exp(logs / (double)count) - 1;
}

bool orch_alpha_beta_fit(const struct orch_alpha_beta_point *points, size_t count,
                         struct orch_alpha_beta *out)
{
    double aa = 0, ab = 0, bb = 0, a1 = 0, b1 = 0;
    for (size_t i = 0; i < count; i++) {
        const struct orch_alpha_beta_point *p = &points[i];
        const double a = p->cost.messages / p->seconds;
        const double b = p->cost.volume * p->bytes / p->seconds;
        aa += a * a;
        ab += a * b;
        bb += b * b;
        a1 += a;
        b1 += b;
    }
    const double cosine = ab / sqrt(aa * bb);
    if (!(cosine < 1 - PARALLEL))
        return false;
    const double rest = aa * bb * (1 - cosine * cosine);
    struct orch_alpha_beta fit = {.alpha_s = (a1 * bb - b1 * ab) / rest,
                                  .beta_s = (b1 * aa - a1 * ab) / rest};
    if (fit.alpha_s < 0)
        fit = (struct orch_alpha_beta){.beta_s = b1 / bb};
    else if (fit.beta_s < 0)
        fit = (struct orch_alpha_beta){.alpha_s = a1 / aa};
    measure_errors(points, count, &fit);
    *out = fit;
    return true;
}
