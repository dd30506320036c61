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
    struct orch_torch_batch learned = *batch;
    learned.label_smoothing = s->training->label_smoothing;
    return s->torch->train(s->model, &learned, error);
}

static bool model_totals(void *ctx, const struct orch_session *s, struct orch_torch_totals *out,
                         GError **error)
{
    (void)ctx;
    return s->torch->totals_take(s->model, out, error);
}

static bool mark_model_totals(void *ctx, const struct orch_session *s, GError **error)
{
    (void)ctx;
    return s->torch->totals_mark(s->model, error);
}

struct orch_step *orch_step_classify(void)
{
    struct orch_step *step = g_new0(struct orch_step, 1);
    *step = (struct orch_step){.learn = classify, .take = model_totals, .mark = mark_model_totals};
    return step;
}

/* ---- gradients of several workers -------------------------------------------------------------
 */

struct reduced {
    struct orch_step *inner;
    const struct orch_session *session;
};

static bool reduced_learn(void *ctx, const struct orch_session *s,
                          const struct orch_torch_batch *batch, GError **error)
{
    struct reduced *reduced = ctx;
    return reduced->inner->learn(reduced->inner->ctx, s, batch, error);
}

static bool reduced_take(void *ctx, const struct orch_session *s, struct orch_torch_totals *out,
                         GError **error)
{
    struct reduced *reduced = ctx;
    return reduced->inner->take(reduced->inner->ctx, s, out, error);
}

static bool reduced_mark(void *ctx, const struct orch_session *s, GError **error)
{
    struct reduced *reduced = ctx;
    return reduced->inner->mark(reduced->inner->ctx, s, error);
}

static void reduced_free(void *ctx)
{
    struct reduced *reduced = ctx;
    const struct orch_session *s = reduced->session;
    s->torch->gradients_watch(s->model, 1, NULL, NULL); /* ends it */
    orch_step_free(reduced->inner);
    g_free(reduced);
}

struct orch_step *orch_step_reduced(struct orch_step *inner, const struct orch_session *s,
                                    size_t first_bytes, size_t bucket_bytes,
                                    const struct orch_torch_bucket_calls *calls, GError **error)
{
    if (!s->torch->gradients_watch_from(s->model, first_bytes, bucket_bytes, calls, error)) {
        orch_step_free(inner);
        return NULL;
    }
    struct orch_step *step = g_new0(struct orch_step, 1);
    struct reduced *reduced = g_new0(struct reduced, 1);
    *reduced = (struct reduced){inner, s};
    *step = (struct orch_step){
        .ctx = reduced,
        .learn = reduced_learn,
        .take = reduced_take,
        .free = reduced_free,
        .mark = inner->mark ? reduced_mark : NULL,
    };
    return step;
}
