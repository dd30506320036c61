/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch curve --form schedule`: one law of the loss for runs under several schedules of the
 * learning rate, and the loss of a run under another schedule. */
#ifndef ORCH_FEATURES_CURVE_SCHEDULE_FIT_H
#define ORCH_FEATURES_CURVE_SCHEDULE_FIT_H

#include "features/curve/curves.h"
#include "features/curve/laws/schedule_law.h"

/** The fit of one run. */
struct orch_schedule_fit_run {
    double error;    /* mean of |fitted - measured| / measured */
    double left_out; /* the same when the law is fitted to the other runs; NaN: that cannot be */
};

struct orch_schedule_fit {
    GPtrArray *curves; /* const struct orch_run_curve *, borrowed */
    struct orch_schedule_law law;
    struct orch_schedule_fit_run *runs; /* one for each curve */
    /* the schedule that was asked for; 0 points: none */
    size_t asked;
    double *k, *rate, *loss;
};

/** Fits the law to the curves (struct orch_run_curve *), which must outlive it. `rates_file`: a CSV
 * table with the columns step (or epoch) and lr, of which the loss is predicted; NULL: none. The
 * caller frees. */
struct orch_schedule_fit *orch_schedule_fit_new(const GPtrArray *curves, const char *rates_file,
                                                GError **error);
void orch_schedule_fit_free(struct orch_schedule_fit *fit);

struct orch_cli;
/** Prints it; `format` as in orch_cli_curve_print. */
void orch_cli_schedule_fit_print(struct orch_cli *cli, const struct orch_schedule_fit *fit,
                                 const char *format);

#endif
