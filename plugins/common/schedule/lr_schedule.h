/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Learning-rate schedules: pure functions of the time in epochs, so that a schedule is independent
 * of the batch size and gives the same rate after a resume. */
#ifndef ORCH_PLUGINS_LR_SCHEDULE_H
#define ORCH_PLUGINS_LR_SCHEDULE_H

#include <glib.h>
#include <stdbool.h>

#define ORCH_MILESTONES_MAX 64

enum orch_schedule_kind {
    ORCH_SCHEDULE_CONSTANT = 0,
    ORCH_SCHEDULE_STEPS,  /* multiplied by gamma at each milestone */
    ORCH_SCHEDULE_COSINE, /* half a cosine from lr down to lr_min (Loshchilov and Hutter 2017, no
                             restarts) */
    ORCH_SCHEDULE_LINEAR, /* straight down from lr to lr_min; with a warm-up a triangle (Smith and
                             Topin 2018, one cycle) */
};

struct orch_schedule {
    enum orch_schedule_kind kind;
    double lr;                              /* > 0 */
    double epochs;                          /* length of the training, > 0 */
    double warmup_epochs;                   /* linear rise to the scheduled rate; 0: none */
    double warmup_start;                    /* share of the rate at which it begins, in [0, 1] */
    double gamma;                           /* STEPS: factor at each milestone */
    double lr_min;                          /* COSINE, LINEAR: at the end */
    double milestones[ORCH_MILESTONES_MAX]; /* STEPS: epochs, ascending */
    size_t milestone_count;
};

/** Parses "constant", "steps", "cosine" or "linear"; false for anything else. */
bool orch_schedule_kind_parse(const char *name, enum orch_schedule_kind *out);

/** Parses milestones into `schedule`: epochs ("60") or shares of its `epochs` ("30%"), ascending.
 * `out_late` (may be NULL) receives the number of milestones at or after the end, which have no
 * effect. Fails with ORCH_ERROR_RECIPE, naming the milestone that is invalid or not ascending. */
bool orch_schedule_milestones_parse(struct orch_schedule *schedule, const char *const *texts,
                                    size_t count, size_t *out_late, GError **error);

/** Learning rate at `epoch` (0 is the start, 1.5 the middle of the second epoch). A milestone m
 * takes effect at epoch m. */
double orch_schedule_rate(const struct orch_schedule *schedule, double epoch);

#endif
