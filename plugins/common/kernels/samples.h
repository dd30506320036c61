/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples of a time: when there are enough of them, which to leave out, and their median and
 * spread. */
#ifndef ORCH_PLUGINS_COMMON_KERNELS_SAMPLES_H
#define ORCH_PLUGINS_COMMON_KERNELS_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

/** Samples that ran below this share of the highest clock of all samples are left out. */
#define ORCH_SAMPLES_CLOCK_SHARE 0.75

/** When to stop. Sampling goes on until `min_count` samples and `min_s` are reached and the spread
 * has settled: the 95 % interval of the median (by order statistics) is at most `settled` of the
 * median wide. It ends in any case at `max_count` samples, and after `limit_s` as soon as there
 * are 3. */
struct orch_samples_rule {
    size_t min_count, max_count; /* 1 <= min_count <= max_count */
    double min_s, limit_s;       /* seconds since the first question */
    double settled;              /* share of the median, > 0 */
};

struct orch_samples {
    struct orch_samples_rule rule;
    double *times_s, *clocks_mhz; /* owned; clocks are 0 where unknown */
    size_t count, room;
    double begin_s; /* monotonic; 0: not begun */
    size_t next_test;
    bool has_settled;
};

struct orch_samples_summary {
    double median_s, least_s, most_s; /* of the samples that count; NaN without any */
    double spread;                    /* interquartile range / median */
    size_t count, dropped;
    double clock_mhz; /* median clock of the samples that count; 0: unknown */
};

void orch_samples_init(struct orch_samples *samples, const struct orch_samples_rule *rule);
void orch_samples_release(struct orch_samples *samples);
/** True while another sample should be taken. Starts the clock at the first call. */
bool orch_samples_need_more(struct orch_samples *samples);
/** Adds a time in seconds, and the clock at which it ran (MHz, 0: unknown). */
void orch_samples_add(struct orch_samples *samples, double time_s, double clock_mhz);
struct orch_samples_summary orch_samples_summarize(const struct orch_samples *samples);
/** Monotonic time in seconds. */
double orch_samples_now_s(void);

#endif
