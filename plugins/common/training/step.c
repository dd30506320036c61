/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/training/step.h"

#include "plugins/common/training/session.h"

void orch_step_free(struct orch_step *step)
{
    if (!step)
        return;
    if (step->free)
        step->free(step->ctx);
    g_free(step);
}

/* ---- classification ---------------------------------------------------------------------------
 */

static bool classify(void *ctx, const struct orch_session *s, const struct orch_torch_batch *batch,
                     GError **error)
{
    (void)ctx;
    return s->torch->train(s->model, batch, error);
}

static bool model_totals(void *ctx, const struct orch_session *s, struct orch_torch_totals *out,
                         GError **error)
{
    (void)ctx;
    return s->torch->totals_take(s->model, out, error);
}

struct orch_step *orch_step_classify(void)
{
    struct orch_step *step = g_new0(struct orch_step, 1);
    *step = (struct orch_step){.learn = classify, .take = model_totals};
    return step;
}
