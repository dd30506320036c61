/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checkpoints to a file and back, in the steps in which a training takes them. */
#include "lib/weights/weights.h"
#include "plugins/common/torch/torch.h"

static inline bool checkpoint_save(const struct orch_torch *torch,
                                   const struct orch_torch_model *model,
                                   const struct orch_torch_progress *progress, const char *path,
                                   GError **error)
{
    struct orch_weights *weights = orch_torch_checkpoint_copy(torch, model, progress, error);
    bool ok = weights && orch_weights_save(weights, path, true, error);
    orch_weights_free(weights);
    return ok;
}

static inline bool checkpoint_load(const struct orch_torch *torch, struct orch_torch_model *model,
                                   const char *path, struct orch_torch_progress *out_progress,
                                   GError **error)
{
    struct orch_weights *weights = orch_torch_checkpoint_open(path, error);
    bool ok = weights && orch_torch_checkpoint_restore(torch, model, weights, out_progress, error);
    orch_weights_free(weights);
    return ok;
}
