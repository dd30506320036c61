/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules that stop the trials of a search early. A rule gets the curves of the search so far and one
 * running trial, and says that it goes on, or why it is stopped. It keeps nothing between two
 * calls. A rule is written as one text; what is not given has its default:
 *
 *   median(warmup=5, startup=5)        Golovin et al. 2017 (Vizier), section 3.2.3: stops a trial
 *                                      whose best value so far is worse than the median of the
 *                                      others' running averages up to the same value
 *   asha(min=1, factor=3)              Li et al. 2020, asynchronous successive halving, in the form
 *                                      that stops trials instead of pausing them: at value min,
 *                                      min*factor, min*factor^2, ... a trial goes on when it is
 *                                      among the best 1/factor of those that came so far
 *   hyperband(min=1, max=27, factor=3) Li et al. 2018: asha in several brackets that begin at max,
 *                                      max/factor, ... down to min
 *   forecast(p=0.05, top=1, startup=5) stops a trial that will probably not be among the best `top`
 *                                      (stop_forecast.c)
 *
 * A curve that a rule stopped counts at the values that it has; what it would have become is not
 * known. NaN is worse than any number. */
#ifndef ORCH_PREDICTORS_STOP_RULE_H
#define ORCH_PREDICTORS_STOP_RULE_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

enum orch_stop_kind { ORCH_STOP_MEDIAN, ORCH_STOP_ASHA, ORCH_STOP_HYPERBAND, ORCH_STOP_FORECAST };

struct orch_stop_rule {
    enum orch_stop_kind kind;
    double warmup;           /* median: so many values of a trial stop nothing */
    double startup;          /* median, forecast: so many trials end before anything is stopped */
    double min, max, factor; /* asha, hyperband: in values of a trial */
    double p;                /* forecast: chance to stop a trial that would have been the best */
    double top;              /* forecast: how many trials are good enough */
};

/** Reads a rule. Fails with ORCH_ERROR_RECIPE, and `*out_at` (may be NULL) set to the offset in
 * `text` of what is wrong. */
bool orch_stop_rule_parse(const char *text, struct orch_stop_rule *out, size_t *out_at,
                          GError **error);

enum orch_curve_end {
    ORCH_CURVE_ENDED,   /* it ended well: its last value is its result */
    ORCH_CURVE_RUNNING, /* or it ended in another way: failed, cancelled */
    ORCH_CURVE_STOPPED, /* a rule stopped it: its result is not known */
};

/** The curve of a trial: what its objective would be if the trial ended after each report
 * (orch_stop_summarize). */
struct orch_stop_curve {
    const double *values;
    size_t count;
    enum orch_curve_end end;
    unsigned number; /* of the trial in its search, from 1: decides its bracket */
};

/** Which number of a metric's curve is the objective. */
enum orch_stop_summary {
    ORCH_STOP_LAST,
    ORCH_STOP_FIRST,
    ORCH_STOP_MEAN,
    ORCH_STOP_MIN,
    ORCH_STOP_MAX,
};
/** Writes the summary of the first 1, 2, ... values of a metric's curve. As in the store, NaN is
 * left out of a mean, a smallest and a largest value. */
void orch_stop_summarize(enum orch_stop_summary summary, const double *values, size_t count,
                         double *out);

struct orch_stop_question {
    const struct orch_stop_rule *rule;
    bool is_max; /* the largest value is the best */
    const struct orch_stop_curve *curves;
    size_t count;
    size_t asked; /* index of the trial that runs; its newest value has just come */
};

/** Asks about the newest value of a trial. Call it once for each value, in their order, because
 * asha and hyperband decide only at some of them. Returns NULL when the trial goes on, else the
 * reason for which it is stopped: one sentence with its numbers, which the caller frees. */
char *orch_stop_rule_ask(const struct orch_stop_question *question);

/* ---- for the files of the rules -----------------------------------------------------------------
 */

/** A value that is smaller when it is better; infinite for NaN. */
double orch_stop_cost(const struct orch_stop_question *question, double value);
/** The rules, each of which answers as orch_stop_rule_ask does (stop_peers.c, stop_forecast.c). */
char *orch_stop_median(const struct orch_stop_question *question);
char *orch_stop_asha(const struct orch_stop_question *question);
char *orch_stop_hyperband(const struct orch_stop_question *question);
char *orch_stop_forecast(const struct orch_stop_question *question);

#endif
