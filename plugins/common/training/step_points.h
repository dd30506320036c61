/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loss by step and the sums of an epoch. A point of the metric step_loss is the mean over the
 * samples of the steps since the previous point.
 *
 * Reading the sums of a step that learns on a GPU waits for all queued work. There a point is
 * marked on the device (step.h), and the points of an epoch are read and reported together after
 * its last step. Elsewhere each point is reported at once. */
#ifndef ORCH_PLUGINS_COMMON_TRAINING_STEP_POINTS_H
#define ORCH_PLUGINS_COMMON_TRAINING_STEP_POINTS_H

#include "plugins/common/training/session.h"
#include "plugins/common/training/step.h"

struct orch_points {
    const struct orch_session *session;
    const struct orch_step *step;
    int64_t last_step; /* of the training */
    int64_t steps_per_point;
    bool is_marked;                 /* points are marked, and read after the epoch */
    GArray *marks;                  /* int64_t: steps of the points that were not read yet */
    struct orch_torch_totals point; /* since the last point that was reported */
    struct orch_torch_totals epoch; /* of what was read in this epoch */
    int64_t reported;               /* step of the last point */
    int64_t bad_first, bad_last;    /* the first point whose loss is not finite is the mean of these
                                       steps; 0: none */
};

/** Plans the points of a training whose epochs have `batches` steps. The session and the step are
 * borrowed. */
void orch_points_init(struct orch_points *points, const struct orch_session *session,
                      const struct orch_step *step, int64_t batches);
void orch_points_clear(struct orch_points *points);

/** Sets the sums of the epoch to zero. `steps` were done before it, perhaps by an earlier attempt.
 */
void orch_points_start_epoch(struct orch_points *points, int64_t steps);
/** Ends a point if one is due after `step` steps (from 1) of the training. */
bool orch_points_after_step(struct orch_points *points, int64_t step, GError **error);
/** Reads the sums of the epoch and reports the points that wait for it. Waits for the device. */
bool orch_points_end_epoch(struct orch_points *points, GError **error);

/** sum += part. */
void orch_totals_add(struct orch_torch_totals *sum, const struct orch_torch_totals *part);
/** Mean loss of an image; 0 for no images. */
double orch_totals_loss(const struct orch_torch_totals *totals);

#endif
