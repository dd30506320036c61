/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/search/space_surface.h"

#include "predictors/numbers/space_process.h"

#include <math.h>

#define LOG_VALUES 50.0  /* values above 0 that span more are fitted by logarithms */
#define LEAST_RANGE 1e-9 /* relative: less is rounding */
#define FAR 0.2          /* no data: no point within this share of both ranges */
#define VAGUE 0.5        /* no data: deviation above this share of that of the values */

/* Values with mean 0 and variance 1, as the process takes them. */
struct scaled {
    double *values;
    double mean, deviation;
    bool is_log;
};

static struct scaled scale_values(const double *raw, size_t n)
{
    struct scaled s = {.values = g_new(double, n + 1)};
    double low = INFINITY, high = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; i++) {
        low = fmin(low, raw[i]);
        high = fmax(high, raw[i]);
    }
    s.is_log = low > 0 && high / low >= LOG_VALUES;
    for (size_t i = 0; i < n; i++)
        s.mean += (s.values[i] = s.is_log ? log(raw[i]) : raw[i]) / (double)n;
    for (size_t i = 0; i < n; i++)
        sum += (s.values[i] - s.mean) * (s.values[i] - s.mean);
    s.deviation =
        high - low > LEAST_RANGE * fmax(fabs(low), fabs(high)) ? sqrt(sum / (double)n) : 0;
    for (size_t i = 0; i < n && s.deviation > 0; i++)
        s.values[i] = (s.values[i] - s.mean) / s.deviation;
    return s;
}

static double unscaled(const struct scaled *s, double value)
{
    const double v = s->mean + s->deviation * value;
    return s->is_log ? exp(v) : v;
}

static bool is_far(const double *units, size_t n, const double point[2])
{
    for (size_t i = 0; i < n; i++)
        if (fabs(units[2 * i] - point[0]) <= FAR && fabs(units[2 * i + 1] - point[1]) <= FAR)
            return false;
    return true;
}

static void fill(struct orch_surface *s, const struct orch_space_process *process,
                 const struct scaled *scaled, const double *units, size_t n)
{
    const int side = ORCH_SURFACE_SIDE;
    for (int k = 0; k < side * side; k++) {
        const double point[2] = {(double)(k % side) / (side - 1), (double)(k / side) / (side - 1)};
        double mean = NAN, deviation = NAN;
        orch_space_process_at(process, point, &mean, &deviation, NULL, NULL);
        const bool is_known = !is_far(units, n, point) && deviation <= VAGUE;
        s->mean[k] = is_known ? unscaled(scaled, mean) : (double)NAN;
        s->low[k] = is_known ? unscaled(scaled, mean - deviation) : (double)NAN;
        s->high[k] = is_known ? unscaled(scaled, mean + deviation) : (double)NAN;
    }
}

struct orch_surface *orch_surface_fit(const struct orch_space *space, const double *units,
                                      const double *values, size_t n)
{
    struct scaled scaled = scale_values(values, n);
    struct orch_space_process *process =
        scaled.deviation > 0 ? orch_space_process_fit(space, units, scaled.values, n) : NULL;
    struct orch_surface *surface = process ? g_new(struct orch_surface, 1) : NULL;
    if (surface) {
        fill(surface, process, &scaled, units, n);
        surface->is_log = scaled.is_log;
        surface->noise = orch_space_process_noise(process);
    }
    orch_space_process_free(process);
    g_free(scaled.values);
    return surface;
}
