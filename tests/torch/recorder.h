/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A host for tests of training in one process: it keeps what a training reports. */
#ifndef ORCH_TESTS_TORCH_RECORDER_H
#define ORCH_TESTS_TORCH_RECORDER_H

#include <glib.h>
#include <orch/plugin.h>

struct orch_training;
struct orch_training_parts;

struct recorder {
    struct orch_host host;
    GHashTable *results; /* name -> double * */
    GHashTable *series;  /* name -> GArray of double */
    GString *notes, *failure, *artifacts, *inputs;
    int progress_calls;
    double done; /* the last progress, in epochs */
    /* What follows may be set after recorder_init. */
    const char *checkpoints; /* folder; NULL: no checkpoints */
    bool is_smoke;
    uint64_t seed; /* trials with other seeds draw other random numbers */
    /* The training is cancelled after so many calls of progress, or when more than `cancel_at`
     * epochs are done. 0: never. */
    int cancel_after;
    double cancel_at;
    /* Called for each metric, and for each result with step -1; may be NULL. */
    void (*on_number)(const struct recorder *recorder, const char *name, int64_t step,
                      double value);
    const char *name; /* the caller's */
};

/** The recorder must stay where it is until recorder_clear. */
void recorder_init(struct recorder *recorder);
void recorder_clear(struct recorder *recorder);

/** Opens, runs and closes a training; returns the status of the first hook that fails, or
 * ORCH_OK. `parts` may be NULL. */
int recorder_train(struct recorder *recorder, const struct orch_training *training,
                   const struct orch_training_parts *parts);

/** A result. Ends the program if there is none of that name. */
double recorder_result(const struct recorder *recorder, const char *name);
/** Number of points of a metric. */
guint recorder_points(const struct recorder *recorder, const char *name);
/** Point `at` of a metric, from 0. Ends the program if there is none. */
double recorder_point(const struct recorder *recorder, const char *name, guint at);

#endif
