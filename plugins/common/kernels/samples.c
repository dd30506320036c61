/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The interval of a median needs no assumption about the distribution: with n samples in order, the
 * true median lies between the ranks n/2 - 0.98 sqrt(n) and n/2 + 0.98 sqrt(n) with a probability
 * of 95 % (Conover, Practical Nonparametric Statistics, section 3.2). Times have a long upper tail,
 * so an interval of the mean would not settle. */
#include "plugins/common/kernels/samples.h"

#include "lib/base/ident.h"
#include "lib/base/reals.h"

#include <glib.h>
#include <math.h>
#include <string.h>

enum { SAMPLES_LEAST = 3 };

double orch_samples_now_s(void)
{
    return (double)orch_mono_ns() / 1e9;
}

void orch_samples_init(struct orch_samples *samples, const struct orch_samples_rule *rule)
{
    *samples = (struct orch_samples){.rule = *rule, .next_test = rule->min_count};
}

void orch_samples_release(struct orch_samples *samples)
{
    g_free(samples->times_s);
    g_free(samples->clocks_mhz);
    samples->times_s = samples->clocks_mhz = NULL;
    samples->count = samples->room = 0;
}

/* The samples that count, in order; their number. */
static size_t kept_times(const struct orch_samples *samples, double *out_times, double *out_clocks)
{
    double highest = 0;
    size_t count = 0;
    for (size_t i = 0; i < samples->count; i++)
        highest = fmax(highest, samples->clocks_mhz[i]);
    for (size_t i = 0; i < samples->count; i++) {
        const double clock = samples->clocks_mhz[i];
        if (clock > 0 && clock < ORCH_SAMPLES_CLOCK_SHARE * highest)
            continue;
        out_times[count] = samples->times_s[i];
        out_clocks[count++] = clock;
    }
    orch_reals_sort(out_times, count);
    return count;
}

static bool test_settled(const struct orch_samples *samples)
{
    g_autofree double *times = g_new(double, samples->count),
                      *clocks = g_new(double, samples->count);
    const size_t count = kept_times(samples, times, clocks);
    if (count < samples->rule.min_count)
        return false;
    const double half = 0.98 * sqrt((double)count), middle = (double)count / 2;
    const size_t low = (size_t)fmax(0, floor(middle - half)),
                 high = (size_t)fmin((double)count - 1, ceil(middle + half));
    return times[high] - times[low] <= samples->rule.settled * orch_reals_median(times, count);
}

bool orch_samples_need_more(struct orch_samples *samples)
{
    const struct orch_samples_rule *rule = &samples->rule;
    const double now = orch_samples_now_s();
    if (samples->begin_s == 0)
        samples->begin_s = now;
    const double elapsed = now - samples->begin_s;
    if (samples->count >= rule->max_count)
        return false;
    if (samples->count >= SAMPLES_LEAST && elapsed >= rule->limit_s)
        return false;
    if (samples->count < rule->min_count || elapsed < rule->min_s)
        return true;
    if (!samples->has_settled && samples->count >= samples->next_test) {
        samples->has_settled = test_settled(samples);
        samples->next_test = samples->count + MAX(samples->count / 8, (size_t)1);
    }
    return !samples->has_settled;
}

void orch_samples_add(struct orch_samples *samples, double time_s, double clock_mhz)
{
    if (samples->count == samples->room) {
        samples->room = samples->room ? 2 * samples->room : 64;
        samples->times_s = g_renew(double, samples->times_s, samples->room);
        samples->clocks_mhz = g_renew(double, samples->clocks_mhz, samples->room);
    }
    samples->times_s[samples->count] = time_s;
    samples->clocks_mhz[samples->count++] = clock_mhz;
}

struct orch_samples_summary orch_samples_summarize(const struct orch_samples *samples)
{
    struct orch_samples_summary out = {
        .median_s = NAN, .least_s = NAN, .most_s = NAN, .spread = NAN};
    if (!samples->count)
        return out;
    g_autofree double *times = g_new(double, samples->count),
                      *clocks = g_new(double, samples->count);
    out.count = kept_times(samples, times, clocks);
    out.dropped = samples->count - out.count;
    out.least_s = times[0];
    out.most_s = times[out.count - 1];
    out.spread = times[(3 * (out.count - 1) + 2) / 4] - times[(out.count - 1) / 4];
    out.median_s = orch_reals_median(times, out.count);
    out.spread = out.median_s > 0 ? out.spread / out.median_s : 0;
    out.clock_mhz = orch_reals_median(clocks, out.count);
    return out;
}
