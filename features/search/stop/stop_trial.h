/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asks a rule (lib/space/stop_rule.h) whether a running trial of a search goes on. It gets the
 * curves of the search so far and answers, or says why the trial is stopped; it keeps nothing
 * between two calls.
 *
 * A curve that a rule stopped counts at the values that it has; what it would have become is not
 * known. NaN is worse than any number. */
#ifndef ORCH_FEATURES_SEARCH_STOP_TRIAL_H
#define ORCH_FEATURES_SEARCH_STOP_TRIAL_H

#include "lib/space/stop_rule.h"

#include <glib.h>

enum orch_curve_state {
    ORCH_CURVE_ENDED,   /* it ended well: its last value is its result */
    ORCH_CURVE_RUNNING, /* or it ended in another way: failed, cancelled */
    ORCH_CURVE_STOPPED, /* a rule stopped it: its result is not known */
};

/** The curve of a trial: what its objective would be if the trial ended after each report
 * (orch_stop_summary_add). */
struct orch_stop_curve {
    const double *values;
    const double *sums; /* of the costs up to each value; NULL: the rule adds them up */
    size_t count;
    enum orch_curve_state end;
    bool has_diverged; /* it ended so: possibly before its time */
    unsigned number;   /* of the trial in its search, from 1: decides its bracket */
    /* STOPPED: so many of its values have let it go on once; SIZE_MAX: it cannot go on */
    size_t promoted_at;
};

/** Which number of a metric's curve is the objective. */
enum orch_stop_summary {
    ORCH_STOP_LAST,
    ORCH_STOP_FIRST,
    ORCH_STOP_MEAN,
    ORCH_STOP_MIN,
    ORCH_STOP_MAX,
};
/** The summary of the values of a curve so far; begins with zeros. */
struct orch_stop_sum {
    size_t count;
    double sum, numbers, so_far;
};
/** Adds the next value and returns the summary up to it. As in the store, NaN is left out of a
 * mean, a smallest and a largest value. */
double orch_stop_summary_add(enum orch_stop_summary summary, struct orch_stop_sum *inout,
                             double value);

/** A cost of the metric that puts a trial on the front of several metrics if it has at most this,
 * HUGE_VAL: any cost does; and the chance that this one is it, which depends on the others. */
struct orch_stop_wanted {
    double cost, share;
};
/** Finds out which; asked only at values at which a rule decides. */
struct orch_stop_front {
    GArray *(*find)(void *ctx); /* struct orch_stop_wanted; NULL: not known. The caller unrefs. */
    void *ctx;
};

struct orch_stop_question {
    const struct orch_stop_rule *rule;
    bool is_max;                         /* the largest value is the best */
    bool has_front;                      /* the objective has more metrics, which `forecast` knows
                                            of; the curves are of the first one */
    const struct orch_stop_front *front; /* NULL, and for other rules: nothing is stopped then */
    const struct orch_stop_curve *curves;
    size_t count;
    size_t asked; /* index of the trial that runs; its newest value has just come */
};

/** `forecast` stops nothing while the longest curve that ended has more than so many times the
 * values of the shortest one. */
#define ORCH_STOP_LENGTHS_MAX 1.25

/** Asks about the newest value of a trial. Call it once for each value, in their order, because
 * asha and hyperband decide only at some of them. Returns NULL when the trial goes on, else the
 * reason for which it is stopped: one sentence with its numbers, which the caller frees. A trial
 * that has as many values as each one that ended goes on: it is at its end. */
char *orch_stop_trial_ask(const struct orch_stop_question *question);

/** Finds a trial that was stopped and is good after all, since more trials have come since: under
 * asha and hyperband one that is among the best 1/factor at the last value at which it was judged,
 * as in Li et al. 2020. Of several the one with most values, then the best. None goes on twice from
 * the same value, nor at its end. Returns why it goes on, with its index in `*out_index`; the
 * caller frees. NULL: there is none. */
char *orch_stop_trial_promote(const struct orch_stop_question *question, size_t *out_index);

/** Returns why the rule could stop none of the trials of a search that has ended, as a clause
 * ("the trials have one value each, ..."), or, with `*out_in_part`, none in some brackets of
 * hyperband. NULL: it could. The caller frees. `asked` is not used. */
char *orch_stop_trial_nothing(const struct orch_stop_question *question, bool *out_in_part);

/** How much a stopped curve would have changed until its end, by the median of those that ended,
 * since they had as many values; 0: none has ended. */
double orch_stop_change_left(const struct orch_stop_curve *curves, size_t count, size_t index);

/* ---- for the files of the rules -------------------------------------------------------------- */

/** A value that is smaller when it is better; infinite for NaN. */
double orch_stop_cost(const struct orch_stop_question *question, double value);
/** The rules, each of which answers as orch_stop_trial_ask does (stop_peers.c, stop_forecast.c). */
char *orch_stop_median(const struct orch_stop_question *question);
char *orch_stop_vizier(const struct orch_stop_question *question);
char *orch_stop_asha(const struct orch_stop_question *question);
char *orch_stop_hyperband(const struct orch_stop_question *question);
char *orch_stop_forecast(const struct orch_stop_question *question);
/** Whether the trial that is asked about has as many values as each one that ended: it is at its
 * end. */
bool orch_stop_is_at_end(const struct orch_stop_question *question);
/** orch_stop_trial_promote for asha and hyperband (stop_promote.c). */
char *orch_stop_promote_asha(const struct orch_stop_question *question, size_t *out_index);
char *orch_stop_promote_hyperband(const struct orch_stop_question *question, size_t *out_index);

/** The value at which asha judges a trial first: the rule's `min`, or without it a twelfth of the
 * median length of the trials that ended, at least 1; HUGE_VAL: none has ended. */
double orch_stop_asha_min(const struct orch_stop_question *question);
/** The bracket of a trial under hyperband, from 0 to orch_stop_last_bracket. */
unsigned orch_stop_bracket_of(const struct orch_stop_rule *rule, unsigned number);
unsigned orch_stop_last_bracket(const struct orch_stop_rule *rule);
/** The values at which a bracket's trials are judged begin here. */
double orch_stop_bracket_start(const struct orch_stop_rule *rule, unsigned bracket);

#endif
