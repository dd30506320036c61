/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares one number of each run of A with that of B: the size of the difference, its
 * uncertainty, and how many runs would decide. */
#ifndef ORCH_FEATURES_COMPARE_CONTRAST_H
#define ORCH_FEATURES_COMPARE_CONTRAST_H

#include "core/stats/stats.h"
#include "lib/base/interval.h"

enum orch_contrast_test {
    ORCH_TEST_NONE,         /* too few runs for a test */
    ORCH_TEST_PAIRED_T,     /* Student's t test of the paired differences */
    ORCH_TEST_WELCH,        /* Welch's t test of two samples */
    ORCH_TEST_MANN_WHITNEY, /* rank test of two samples */
};

/** The result of comparing B with A. When all values are above 0, `change`, `low`, `high` and
 * `shows` are fractions of A (0.05: B is 5 % more), computed from logarithms; otherwise they are
 * differences in the metric's unit. */
struct orch_contrast {
    struct orch_stat a, b;
    size_t pairs; /* 0: the samples are not paired */
    bool is_ratio;
    struct orch_interval
        change; /* B against A, with its simultaneous 95 % interval; NaN where n < 2
                 */
    enum orch_contrast_test test;
    double p;        /* p-value of "A and B are the same"; NaN: no test */
    double adjusted; /* p corrected for the metrics compared together; the interval is, too */
    double shows; /* the smallest change that these runs would detect with power 0.8; NaN: n < 2 */
    double sd;    /* standard deviation of a run (or pair), in the units above (of logarithms) */
};

/** Compares pairs: `a[i]` and `b[i]` belong together. `comparisons` metrics are compared at once:
 * p and the interval are corrected for them (Bonferroni), so that they agree. */
struct orch_contrast orch_contrast_paired(const double *a, const double *b, size_t count,
                                          size_t comparisons);
/** Compares two samples. Interval and p are those of the Mann-Whitney test when samples of these
 * sizes can get below 0.05 at all after correction for `comparisons` metrics (4 and 4 for one
 * metric), else Welch's. */
struct orch_contrast orch_contrast_samples(const double *a, size_t count_a, const double *b,
                                           size_t count_b, size_t comparisons);
/** Leaves the change alone: no test, no interval and no power. */
void orch_contrast_forget_test(struct orch_contrast *contrast);
enum orch_contrast_result {
    ORCH_CONTRAST_DIFFERENT,  /* adjusted p is below 0.05, and the interval does not contain 0 */
    ORCH_CONTRAST_EQUIVALENT, /* all values, or all pairs, are exactly equal */
    ORCH_CONTRAST_IDENTICAL,  /* no difference beyond noise, and a change of `least` would have been
                               * detected
                               */
    ORCH_CONTRAST_UNDECIDED,
};
/** Classifies a contrast. `least` is the smallest change that matters, as a fraction of A (0.05).
 */
enum orch_contrast_result orch_contrast_result(const struct orch_contrast *contrast, double least);
/** Returns how many more runs (or pairs) each side needs to detect, with power 0.8, the observed
 * change or `least`, whichever is larger. 0: unknown. */
size_t orch_contrast_more(const struct orch_contrast *contrast, double least);

/** Returns how many runs each side (or pairs) need to detect `shift` at standard deviation `sd`
 * with power 0.8 at the two-sided 5 % level. 0: more than a million. */
size_t orch_runs_needed(double shift, double sd, bool is_paired);

/** Two-sided p of the Mann-Whitney test. Exact without ties and below 50 values on each side, else
 * the normal approximation with corrections for ties and continuity. NaN: an empty side, or all
 * values are equal. */
double orch_mann_whitney(const double *a, size_t count_a, const double *b, size_t count_b);

/** Returns "paired t", "Welch", "Mann-Whitney" or "-". Static. */
const char *orch_contrast_test_name(enum orch_contrast_test test);
/** Describes the change: "B is 3.2 % slower (1.8 to 4.6 %)". The caller frees. */
char *orch_contrast_change_text(const struct orch_contrast *contrast, const char *better,
                                const char *unit);
/** Describes a contrast: "B is 3.2 % slower (1.8 to 4.6 %), more than noise". `better` is min, max
 * or none. The caller frees. */
char *orch_contrast_text(const struct orch_contrast *contrast, const char *better, const char *unit,
                         double least);

#endif
