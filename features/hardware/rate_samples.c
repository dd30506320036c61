/* SPDX-License-Identifier: MIT */
/* Repeats a measurement until its values settle. */
#include "features/hardware/measure.h"

#include "lib/base/ident.h"
#include "lib/base/reals.h"

#include <glib.h>

enum { SAMPLES_MIN = 5, SAMPLES_MAX = 4096 };
#define SPREAD_MAX 0.05
#define PATIENCE 4.0 /* times the seconds asked for */

static struct orch_measured summary(const double *values, unsigned count)
{
    double sorted[SAMPLES_MAX];
    for (unsigned i = 0; i < count; i++)
        sorted[i] = values[i];
    double median = orch_reals_median(sorted, count);
    return (struct orch_measured){.best = sorted[count - 1],
                                  .median = median,
                                  .spread = (sorted[count * 3 / 4] - sorted[count / 4]) / median,
                                  .samples = count};
}

struct orch_measured orch_rate_samples_take(double (*once)(void *ctx), void *ctx, double seconds)
{
    double values[SAMPLES_MAX];
    struct orch_measured measured = {0};
    const int64_t begin = orch_mono_ns();
    for (unsigned count = 0; count < SAMPLES_MAX;) {
        values[count] = once(ctx);
        if (!(values[count++] > 0))
            return (struct orch_measured){0};
        double passed = (double)(orch_mono_ns() - begin) / 1e9;
        if (passed < seconds || count < SAMPLES_MIN)
            continue;
        measured = summary(values, count);
        if (measured.spread <= SPREAD_MAX || passed >= PATIENCE * seconds)
            return measured;
    }
    return measured;
}
