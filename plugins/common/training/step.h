/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is learned from a batch: forward, loss, backward and update, and the sums that are reported
 * of it. */
#ifndef ORCH_PLUGINS_COMMON_TRAINING_STEP_H
#define ORCH_PLUGINS_COMMON_TRAINING_STEP_H

#include "plugins/common/torch/torch.h"

struct orch_session;

struct orch_step {
    void *ctx;
    /** Learns from one batch. The learning rate has been set. */
    bool (*learn)(void *ctx, const struct orch_session *session,
                  const struct orch_torch_batch *batch, GError **error);
    /** Returns the sums over the batches since the last call and resets them. Waits for the
     * device. After calls of `mark` the sums of each mark come first, one a call, in their order.
     */
    bool (*take)(void *ctx, const struct orch_session *session, struct orch_torch_totals *out,
                 GError **error);
    /** Frees ctx; NULL: the caller owns it. */
    void (*free)(void *ctx);
    /** Ends a point of the loss by step on a GPU: sets aside the sums over the batches since the
     * last mark or take, without waiting for the device. NULL: `take` is called at each point
     * instead, which is right for sums that lie in ordinary memory. */
    bool (*mark)(void *ctx, const struct orch_session *session, GError **error);
};

/** Classification: mean cross-entropy against the batch's labels, smoothed as the session's
 * parameters say. */
struct orch_step *orch_step_classify(void);

/** Reduces gradients across workers while backward makes them: `inner` learns, and each bucket is
 * given to `calls` when it is ready (torch.h): the first one of about `first_bytes`, the others of
 * about `bucket_bytes`. Takes `inner`. Fails with NULL for a size of 0; then `inner` is freed. */
struct orch_step *orch_step_reduced(struct orch_step *inner, const struct orch_session *session,
                                    size_t first_bytes, size_t bucket_bytes,
                                    const struct orch_torch_bucket_calls *calls, GError **error);

/** Frees the step and its ctx; NULL is allowed. A caller that fills a struct orch_step of its own
 * allocates it with g_new0. */
void orch_step_free(struct orch_step *step);

#endif
