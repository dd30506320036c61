/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the numbers of a setting's runs scatter, in the form that suits the metric: the runs
 * themselves when they are few, else a 95 % interval of the mean on the metric's scale, else median
 * and range. */
#ifndef ORCH_CORE_REPORT_SPREAD_H
#define ORCH_CORE_REPORT_SPREAD_H

#include "core/report/stats.h"

/** With fewer runs than this there is no interval: the runs are shown. */
#define ORCH_INTERVAL_RUNS 5

/** The scale on which a metric's interval is computed, so that it stays where values can be. */
enum orch_metric_scale {
    ORCH_SCALE_PLAIN, /* mean +- t s / sqrt(n) */
    ORCH_SCALE_LOG,   /* above 0: losses, times, rates */
    ORCH_SCALE_LOGIT, /* within 0..top: accuracies and other shares */
};
struct orch_metric_kind {
    enum orch_metric_scale scale;
    double top; /* ORCH_SCALE_LOGIT: the largest value, 1 or 100; else NaN */
    bool is_time;
};
/** By the unit that the plugin declares, else by the words of the metric's name ("val_accuracy");
 * the table in spread.c lists them. Both may be NULL. */
struct orch_metric_kind orch_metric_kind_of(const char *name, const char *unit);

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
/** `values`: NaN are left out. `name` and `unit` as in orch_metric_kind_of; a metric whose values
 * lie beyond its scale (a share above 1) has the plain scale. */
struct orch_spread orch_spread_of(const double *values, size_t count, const char *name,
                                  const char *unit);

/** "0.912 [0.905, 0.918]" (interval), "0.912 (0.905..0.918)" (lowest and highest run),
 * "median 31.2 (29..93)"; the centre alone without a spread; "-" without a value. The caller frees.
 */
char *orch_spread_format(const struct orch_spread *spread);
/** "interval", "runs", "median and range", or NULL for ORCH_SPREAD_NONE. Static. */
const char *orch_spread_form_name(enum orch_spread_form form);
/** What is printed where the forms with true occur: "mean [95 % interval]; with fewer than 5 seeds
 * mean (lowest..highest run)". NULL: only ORCH_SPREAD_NONE. The caller frees. */
char *orch_spread_legend(const bool forms[ORCH_SPREAD_FORMS]);

#endif
