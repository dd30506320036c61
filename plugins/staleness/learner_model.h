/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A discrete-event model of learners and one parameter server.
 *
 * A learner pulls the weights (it reads the version that the server has when the pull begins),
 * computes a gradient, and pushes it. The server takes the gradients in the order of their arrival,
 * one at a time; each makes one update and raises the version by one. The learner pulls again once
 * its own gradient has been applied.
 *
 * Ties: of gradients that arrive at the same time that of the learner with the lower number is
 * applied first, and its learner pulls before the next one is applied. Times are whole nanoseconds,
 * so that sums of them are equal or not, whatever their order. */
#ifndef ORCH_PLUGINS_STALENESS_LEARNER_MODEL_H
#define ORCH_PLUGINS_STALENESS_LEARNER_MODEL_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum orch_staleness_mode {
    ORCH_STALENESS_ASYNCHRONOUS = 0,
    /* The server waits for one gradient of each learner, applies their mean as one update, and all
     * learners pull together. Ends with the first learner that has no further gradient. */
    ORCH_STALENESS_SYNCHRONOUS,
    /* Stale synchronous parallel (Ho et al. 2013): a learner that has had c gradients applied waits
     * before its next pull while another learner, which still has gradients to compute, has had
     * fewer than c - bound applied. */
    ORCH_STALENESS_BOUNDED,
};

struct orch_staleness_model {
    enum orch_staleness_mode mode;
    int learners;      /* > 0 */
    int64_t bound;     /* ORCH_STALENESS_BOUNDED: >= 0 */
    int64_t gradients; /* the simulation ends when so many have been applied, > 0 */
    int64_t pull_ns, push_ns, update_ns; /* >= 0 */
    /* Nanoseconds, > 0, that `learner` (from 0) computes on its gradient number `gradient` (from
     * 0); negative: it has no such gradient. Called once for each, in ascending order by learner.
     */
    int64_t (*gradient_ns)(void *ctx, int learner, int64_t gradient);
    void *ctx;
};

/** A gradient that was applied. */
struct orch_staleness_update {
    int learner;            /* from 0 */
    int64_t gradient;       /* of this learner, from 0 */
    int64_t read_ns;        /* when its weights were read */
    int64_t applied_ns;     /* when its update was complete */
    int64_t version_read;   /* updates that had been applied to the weights that were read */
    int64_t version_before; /* updates that had been applied before this one */
    int64_t lead;           /* gradients applied of this learner minus those of the slowest learner
                               with gradients left, when the weights were read; >= 0 */
};

struct orch_staleness_run {
    GArray *updates;   /* struct orch_staleness_update, in the order of their application */
    int64_t versions;  /* updates of the weights: of a synchronous round there is one */
    int64_t end_ns;    /* of the last update */
    double waiting_s;  /* learners' time between the arrival of a gradient and the next pull: in the
                          server's queue, during the update, at the barrier or the bound. A learner
                          that does not pull again waits until its update, or, held back by the
                          bound, until end_ns */
    double learning_s; /* learners' time for pulls, computing and pushes of the applied gradients */
};

/** Simulates the model from time 0, when every learner pulls. Release with orch_staleness_clear. */
void orch_staleness_simulate(const struct orch_staleness_model *model,
                             struct orch_staleness_run *out);
/** Updates by others between the read of an update's weights and the update. */
static inline int64_t orch_staleness_of(const struct orch_staleness_update *update)
{
    return update->version_before - update->version_read;
}
void orch_staleness_clear(struct orch_staleness_run *run);

#endif
