/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The spread of a setting's runs, in a form that suits the metric: single runs when there are few,
 * else a 95 % interval of the mean on the metric's scale, else median and range. */
#ifndef ORCH_CORE_STATS_SPREAD_H
#define ORCH_CORE_STATS_SPREAD_H

#include "core/stats/stats.h"

/** With fewer runs there is no interval, and the single runs are shown. */
#define ORCH_INTERVAL_RUNS 5

/** The scale on which a metric's interval is computed, so that the interval contains only possible
 * values. */
enum orch_metric_scale {
    ORCH_SCALE_PLAIN, /* mean +- t s / sqrt(n) */
    ORCH_SCALE_LOG,   /* for values above 0: losses, times, rates */
    ORCH_SCALE_LOGIT, /* for values in 0..top: accuracies and other shares */
};
struct orch_metric_kind {
    enum orch_metric_scale scale;
    double top; /* ORCH_SCALE_LOGIT: the largest value, 1 or 100; else NaN */
    bool is_time;
    double bottom; /* the smallest value of ORCH_SCALE_LOG and ORCH_SCALE_LOGIT */
};
/** Finds the kind of a metric by the unit that its plugin declares, else by the words in its name
 * ("val_accuracy"); spread.c has the table. Both may be NULL; an empty unit is treated as none. */
struct orch_metric_kind orch_metric_kind_of(const char *name, const char *unit);
/** Finds the kind as above and fits it to the values: a share with values above 1 is in per cent,
 * and the scale is plain when a value lies outside of the kind's range. NaN values are skipped. */
struct orch_metric_kind orch_metric_kind_for(const char *name, const char *unit,
                                             const double *values, size_t count);

enum orch_spread_form {
    ORCH_SPREAD_NONE,     /* one run, or a value that is not finite */
    ORCH_SPREAD_RUNS,     /* low and high are the lowest and the highest run */
    ORCH_SPREAD_INTERVAL, /* low and high are the ends of the 95 % interval of the mean */
    ORCH_SPREAD_MEDIAN,   /* skewed times: centre is the median, low and high as with RUNS */
    ORCH_SPREAD_FORMS,
};
struct orch_spread {
    struct orch_stat stat;
    enum orch_spread_form form;
    double centre;    /* mean, or median with ORCH_SPREAD_MEDIAN; NaN: no value */
    double low, high; /* NaN with ORCH_SPREAD_NONE */
};
/** Computes the spread; NaN values are skipped. `name` and `unit` are as in orch_metric_kind_of. A
 * metric with values outside its scale (a share above 1) uses the plain scale. */
struct orch_spread orch_spread_of(const double *values, size_t count, const char *name,
                                  const char *unit);

/** Values that no run of a metric can exceed, as its plugin declares them; NaN: no bound. */
struct orch_bounds {
    double min, max;
};
/** The same within declared bounds (NULL: none). Between two bounds the interval is computed on the
 * logit scale. It is cut at a bound that its own scale does not keep, which excludes only means
 * that no runs can have. Bounds that some value exceeds do not count. */
struct orch_spread orch_spread_within(const double *values, size_t count, const char *name,
                                      const char *unit, const struct orch_bounds *bounds);

/** Computes the 95 % prediction interval for one more run, on the metric's scale (a time stays
 * above 0, a share within 0..1). The result has ORCH_SPREAD_INTERVAL with 2 values or more. */
struct orch_spread orch_spread_of_next(const double *values, size_t count, const char *name,
                                       const char *unit);

/** Formats a spread: "0.912 [0.905, 0.918]" (interval), "0.912 (0.905..0.918)" (lowest and highest
 * run), "median 31.2 (29..93)"; the centre alone without a spread; "-" without a value. The caller
 * frees. */
char *orch_spread_format(const struct orch_spread *spread);
/** Returns "interval", "runs", "median and range", or NULL for ORCH_SPREAD_NONE. Static. */
const char *orch_spread_form_name(enum orch_spread_form form);
/** Explains the forms that are true in `forms`: "a value like 0.5 [0.4, 0.6] is a mean and its 95 %
 * interval". NULL when only ORCH_SPREAD_NONE occurs. The caller frees. */
char *orch_spread_legend(const bool forms[ORCH_SPREAD_FORMS]);

#endif
