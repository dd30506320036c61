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
     * device. */
    bool (*take)(void *ctx, const struct orch_session *session, struct orch_torch_totals *out,
                 GError **error);
    /** Frees ctx; NULL: the caller owns it. */
    void (*free)(void *ctx);
};

/** Classification: mean cross-entropy against the batch's labels. */
struct orch_step *orch_step_classify(void);

/** Frees the step and its ctx; NULL is allowed. A caller that fills a struct orch_step of its own
 * allocates it with g_new0. */
void orch_step_free(struct orch_step *step);

#endif
