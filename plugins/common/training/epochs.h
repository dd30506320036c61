/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loop over epochs: learning rate, steps, what is reported of them, validation, checkpoints.
 *
 * A training plugin that differs from the usual one fills struct orch_training_parts; every member
 * may be NULL. */
#ifndef ORCH_PLUGINS_COMMON_TRAINING_EPOCHS_H
#define ORCH_PLUGINS_COMMON_TRAINING_EPOCHS_H

#include "plugins/common/training/cached_features.h"
#include "plugins/common/training/feed.h"
#include "plugins/common/training/session.h"
#include "plugins/common/training/step.h"

struct orch_weights;

/** What an observer sees. */
struct orch_moment {
    const struct orch_session *session;
    int64_t epoch; /* from 0 */
    int64_t step;  /* steps taken in the whole training */
    /* after an epoch only: its sums, and those of its validation images */
    const struct orch_torch_totals *train, *val;
    double training_s; /* after an epoch only: its training, without the validation */
};

/** A validation of a plugin's own, for a network that is no classifier. It is called after each
 * epoch, and its score takes the place of the accuracy in choosing the best epoch. */
struct orch_judge {
    const char *val, *final, *best; /* names of the score's metric by epoch and of its results */
    /** Fills the sums of the loss over the validation images (`correct` is not read), and the
     * score, of which more is better; NaN: none. */
    bool (*validate)(void *ctx, const struct orch_session *session, struct orch_torch_totals *out,
                     double *out_score, GError **error);
};

/** What a plugin puts in place of the usual parts, or adds to them. `ctx` is passed to each. */
struct orch_training_parts {
    void *ctx;
    /** Batches to learn from. NULL: the training images in random order, with crop and flip; or
     * their features. */
    struct orch_feed *(*feed)(void *ctx, const struct orch_session *session, GError **error);
    /** What is learned from a batch. NULL: classification. */
    struct orch_step *(*step)(void *ctx, const struct orch_session *session, GError **error);
    /** The feed and the step accept batches whose images and labels lie in the memory of the GPU
     * (is_on_device of torch.h). false, with a feed or a step of the plugin's own: batches are made
     * by the processor, in ordinary memory. */
    bool takes_gpu_batches;
    /** Validation. NULL: accuracy on the session's validation images. */
    const struct orch_judge *judge;
    /** Called after each step; must not wait for the device in each. */
    bool (*after_step)(void *ctx, const struct orch_moment *moment, GError **error);
    /** Called after each epoch's validation. */
    bool (*after_epoch)(void *ctx, const struct orch_moment *moment, GError **error);
    /** Called once at the end, with the sums of the last validation: of all validation images if
     * full_validation is set, else of those of each epoch. A judge's are always those of an epoch.
     * Returns ORCH_OK, ORCH_CANCELLED, or -1 with an error. */
    int (*after_training)(void *ctx, const struct orch_session *session,
                          const struct orch_torch_totals *val, GError **error);
    /** Adds metadata to the artifact `weights` before it is written: names of classes, the size of
     * images. */
    bool (*label)(void *ctx, struct orch_weights *weights, GError **error);
    /** Adds what the plugin must find again to a checkpoint: tensors or metadata, whose names begin
     * with the plugin's name and a dot. */
    bool (*save)(void *ctx, struct orch_weights *checkpoint, GError **error);
    /** Reads it back before the first epoch of a resumed training. */
    bool (*restore)(void *ctx, const struct orch_weights *checkpoint, GError **error);
};

/** Trains the session's model over all epochs, from a checkpoint if an earlier attempt left one,
 * and reports metrics, results and the artifact `weights`. `features` NULL: the whole network is
 * trained on images. Returns an enum orch_status; -1 with `error` set. */
int orch_epochs_run(const struct orch_session *session, const struct orch_features *features,
                    const struct orch_training_parts *parts, GError **error);

#endif
