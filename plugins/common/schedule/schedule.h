/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Learning-rate schedules: plain arithmetic on a point in time counted in epochs, so that a
 * schedule means the same for every batch size, and asking again after a resume gives the same
 * answer. Nothing is kept between calls. */
#ifndef ORCH_PLUGINS_COMMON_SCHEDULE_H
#define ORCH_PLUGINS_COMMON_SCHEDULE_H

#include <glib.h>
#include <stdbool.h>

#define ORCH_MILESTONES_MAX 64

enum orch_schedule_kind {
    ORCH_SCHEDULE_CONSTANT = 0,
    ORCH_SCHEDULE_STEPS,  /* times gamma at each milestone */
    ORCH_SCHEDULE_COSINE, /* half a cosine from lr down to lr_min (Loshchilov and Hutter 2017, no
                             restarts) */
};

struct orch_schedule {
    enum orch_schedule_kind kind;
    double lr;            /* > 0 */
    double epochs;        /* length of the training, > 0 */
    double warmup_epochs; /* rises linearly from 0 to what the rest says; 0: none */
    double gamma;         /* STEPS: factor at each milestone */
    double lr_min;        /* COSINE */
    double milestones[ORCH_MILESTONES_MAX]; /* STEPS: epochs, ascending */
    size_t milestone_count;
};

/** The kind named "constant", "steps" or "cosine"; false for any other word. */
bool orch_schedule_kind_parse(const char *name, enum orch_schedule_kind *out);

/** Reads milestones into `schedule`: epochs ("60") or shares of its `epochs` ("30%"), ascending.
 * The number of them that lie at or beyond the end, and so do nothing, goes to `out_late` (may be
 * NULL). ORCH_ERROR_RECIPE names the one that cannot be read or does not rise. */
bool orch_schedule_milestones_parse(struct orch_schedule *schedule, const char *const *texts,
                                    size_t count, size_t *out_late, GError **error);

/** The learning rate at `epoch` (0 at the start; 1.5 is in the middle of the second epoch). A
 * milestone m acts from epoch m on. */
double orch_schedule_rate(const struct orch_schedule *schedule, double epoch);

#endif
