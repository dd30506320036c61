/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules that stop the trials of a search early, as they are written. What is not given has its
 * default:
 *
 *   median(warmup=5, startup=5)        as Optuna's MedianPruner: stops a trial whose best value so
 *                                      far is worse than the median of the values that the trials
 *                                      that ended had there
 *   vizier(warmup=5, startup=5)        Golovin et al. 2017 (Vizier), section 3.2: the same with the
 *                                      median of their running averages up to there, which lag
 *                                      behind a curve that rises
 *   asha(factor=3)                     Li et al. 2020, asynchronous successive halving, in the form
 *                                      that stops trials instead of pausing them: at value min,
 *                                      min*factor, min*factor^2, ... a trial goes on when it is
 *                                      among the best 1/factor of those that came so far, or
 *                                      later, once it is among them
 *   hyperband(min=1, max=27, factor=3) Li et al. 2018: asha in several brackets that begin at max,
 *                                      max/factor, ... down to min
 *   forecast(p=0.05, top=1, startup=5) stops a trial that will probably not be among the best `top`
 *                                      (stop_forecast.c)
 *
 * features/search/stop/stop_trial.h asks them. */
#ifndef ORCH_SPACE_STOP_RULE_H
#define ORCH_SPACE_STOP_RULE_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

enum orch_stop_kind {
    ORCH_STOP_MEDIAN,
    ORCH_STOP_VIZIER,
    ORCH_STOP_ASHA,
    ORCH_STOP_HYPERBAND,
    ORCH_STOP_FORECAST
};

struct orch_stop_rule {
    enum orch_stop_kind kind;
    double warmup;  /* median, vizier: so many values of a trial stop nothing */
    double startup; /* median, vizier, forecast: so many trials end before anything is stopped */
    double min, max, factor; /* asha (min 0: by the trials' lengths), hyperband: in values */
    double p;                /* forecast: chance to stop a trial that would have been the best */
    double top;              /* forecast: how many trials are good enough */
};

/** Reads a rule. Fails with ORCH_ERROR_RECIPE, and `*out_at` (may be NULL) set to the offset in
 * `text` of what is wrong. */
bool orch_stop_rule_parse(const char *text, struct orch_stop_rule *out, size_t *out_at,
                          GError **error);

#endif
