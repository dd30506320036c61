/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One number of each run of A against the same of B: by how much they differ, how sure that is, and
 * what it would take to know. */
#ifndef ORCH_CORE_REPORT_CONTRAST_H
#define ORCH_CORE_REPORT_CONTRAST_H

#include "core/report/stats.h"

enum orch_contrast_test {
    ORCH_TEST_NONE,         /* too few runs for any */
    ORCH_TEST_PAIRED_T,     /* Student's t of the pairs' differences */
    ORCH_TEST_WELCH,        /* Welch's t of two samples */
    ORCH_TEST_MANN_WHITNEY, /* ranks of two samples */
};

/** B against A. Where all values are above 0, `change`, `low`, `high` and `shows` are fractions of
 * A (0.05: B is 5 % more) and come from logarithms; else they are differences in the metric's unit.
 */
struct orch_contrast {
    struct orch_stat a, b;
    size_t pairs; /* 0: the samples are not paired */
    bool is_ratio;
    double change, low, high; /* with the 95 % interval; NaN where n < 2 */
    enum orch_contrast_test test;
    double p;        /* that A and B are the same; NaN: no test */
    double adjusted; /* p after orch_contrasts_adjust */
    double shows;    /* the smallest change that these runs would show 4 times of 5; NaN: n < 2 */
    double sd;       /* spread of one run (or pair) about its mean, in the terms above (logs) */
};

/** Pairs: `a[i]` and `b[i]` belong together. */
struct orch_contrast orch_contrast_paired(const double *a, const double *b, size_t count);
/** Two samples. The interval is Welch's; p is Mann-Whitney's where so many runs can come below 0.05
 * at all with `comparisons` metrics compared at once (4 and 4 for one metric), else Welch's. */
struct orch_contrast orch_contrast_samples(const double *a, size_t count_a, const double *b,
                                           size_t count_b, size_t comparisons);
/** Holm's correction over the metrics that were compared at once: sets `adjusted`; NaN stay out. */
void orch_contrasts_adjust(struct orch_contrast *const *contrasts, size_t count);

enum orch_contrast_says {
    ORCH_SAYS_DIFFERENT, /* adjusted p below 0.05, and the interval holds no 0 */
    ORCH_SAYS_EQUAL,     /* every value, or every pair, is just equal */
    ORCH_SAYS_SAME,      /* no difference beyond noise, and one of `least` would have shown */
    ORCH_SAYS_UNKNOWN,
};
/** `least`: the smallest change that matters, a fraction of A (0.05). */
enum orch_contrast_says orch_contrast_says(const struct orch_contrast *contrast, double least);
/** How many runs (or pairs) more of each side would tell with a chance of 4 in 5: the change that
 * was seen, or `least` where that is more. 0: not known. */
size_t orch_contrast_more(const struct orch_contrast *contrast, double least);

/** Runs of each side (pairs) that show a shift of `shift` against a spread of `sd` with power 0.8
 * at the 5 % level, two-sided; 0: more than a million. */
size_t orch_runs_needed(double shift, double sd, bool is_paired);

/** Two-sided p of Mann and Whitney's test; exact without ties and below 50 on each side, else the
 * normal approximation with corrections for ties and continuity. NaN: an empty side, or all values
 * equal. */
double orch_mann_whitney(const double *a, size_t count_a, const double *b, size_t count_b);

/** Is a metric of this unit a time or a rate (s, ms, images/s)? `out_is_rate` may be NULL. */
bool orch_unit_is_timing(const char *unit, bool *out_is_rate);
/** "paired t", "Welch", "Mann-Whitney", "-". */
const char *orch_contrast_test_name(enum orch_contrast_test test);
/** "B is 3.2 % slower (1.8 to 4.6 %), more than noise". `better`: min, max or none. The caller
 * frees. */
char *orch_contrast_words(const struct orch_contrast *contrast, const char *better,
                          const char *unit, double least);

#endif
