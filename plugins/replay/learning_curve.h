/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an agent reaches, by episode, step and time. */
#ifndef ORCH_PLUGINS_REPLAY_LEARNING_CURVE_H
#define ORCH_PLUGINS_REPLAY_LEARNING_CURVE_H

#include "plugins/replay/saved_training.h"

#include <orch/plugin.h>

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/** Episodes of the moving mean, and points of a series at most. */
enum { ORCH_CURVE_WINDOW = 100, ORCH_CURVE_POINTS = 400, ORCH_CURVE_EPISODES = 10000 };

struct orch_learning_curve {
    const struct orch_host *host;
    int64_t envs;
    double *returns;                /* of each environment's current episode */
    double last[ORCH_CURVE_WINDOW]; /* of the last episodes, a ring */
    int64_t episodes;
    double solved_return, best;     /* best mean over the window; -inf before there is one */
    int64_t solved_step, solved_ms; /* -1: not solved */
    int64_t start_us, steps, step_every, next_point; /* steps: of the whole training */
    int64_t next_ms;                                 /* of timed_return */
    int64_t elapsed_us;                              /* of all attempts, while the clock stands */
    GArray *points; /* all that was reported, for a later attempt to report again */
    /* since the last point */
    double loss, value;
    int64_t updates;
};

void orch_learning_curve_init(struct orch_learning_curve *c, const struct orch_host *host,
                              int64_t envs, int64_t steps, double solved_return);
void orch_learning_curve_clear(struct orch_learning_curve *c);
/** Counts one step of each environment; `step` is the number of steps of all after it. */
void orch_learning_curve_step(struct orch_learning_curve *c, int64_t step, const float *rewards,
                              const uint8_t *ends);
/** Counts one step of environment `env`. */
void orch_learning_curve_lane(struct orch_learning_curve *c, int64_t step, int64_t env,
                              float reward, uint8_t end);
void orch_learning_curve_update(struct orch_learning_curve *c, double loss, double mean_value);
/** Reports the series when it is time, or `now`: at multiples of one step, so that runs can be
 * averaged whose steps come in other portions. */
void orch_learning_curve_point(struct orch_learning_curve *c, int64_t step, double epsilon,
                               bool now);
/** Mean return of the last 100 episodes; NaN before the first ends. */
bool orch_learning_curve_is_solved(const struct orch_learning_curve *c);
/** Reports the results. */
void orch_learning_curve_finish(const struct orch_learning_curve *c, int64_t step);

/** What a learner did until the end of a training. */
struct orch_learner_counts {
    int64_t updates, batch; /* samples of an update */
    int64_t learning_us,
        waiting_us; /* time of the updates; of it waiting for the buffer's batches */
    int64_t buffer_bytes;
};

/** Reports the results of a training with a buffer, after those of orch_learning_curve_finish.
 * Returns the seconds since orch_learning_curve_init. */
double orch_learning_curve_finish_learner(const struct orch_learning_curve *c, int64_t step,
                                          const struct orch_learner_counts *counts);

/** Lists the fields of a checkpoint. */
void orch_learning_curve_list(struct orch_learning_curve *c, struct orch_saved *saved);
/** Stops the clock while a checkpoint is written, and lets it go on. */
void orch_learning_curve_stop(struct orch_learning_curve *c);
void orch_learning_curve_go_on(struct orch_learning_curve *c);
/** After the fields were read: reports the points of the earlier attempts, and sets the clock. */
void orch_learning_curve_resume(struct orch_learning_curve *c);
/** The running episodes are given up. */
void orch_learning_curve_cut(struct orch_learning_curve *c);

#endif
