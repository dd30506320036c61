/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of LibTorch has no pass that computes the loss without an update, so the loss and its
 * gradient with respect to the scores are computed here: d / d z_c = (softmax(z)_c - [c = label]) /
 * images, with the images of all passes. */
#include "plugins/batchaug/accumulate.h"

#include "plugins/common/training/session.h"

#include <math.h>

struct accumulated {
    int64_t copies;
    struct orch_torch_totals totals;
};

/* One image: `scores` of `classes`. Writes the gradient of its loss / `images`, and adds to the
 * totals. */
static void learn_image(const float *scores, int64_t classes, int64_t label, double images,
                        float *gradient, struct orch_torch_totals *totals)
{
    int64_t best = 0;
    for (int64_t c = 1; c < classes; c++)
        if (scores[c] > scores[best])
            best = c;
    double sum = 0;
    for (int64_t c = 0; c < classes; c++)
        sum += exp((double)scores[c] - (double)scores[best]);
    for (int64_t c = 0; c < classes; c++) {
        const double p = exp((double)scores[c] - (double)scores[best]) / sum;
        gradient[c] = (float)((p - (c == label)) / images);
    }
    totals->images++;
    totals->correct += best == label;
    totals->loss += log(sum) + (double)scores[best] - (double)scores[label];
}

/* One pass: `part` is one copy of the samples, of `images` in all passes. */
static bool learn_part(struct accumulated *a, const struct orch_session *s,
                       const struct orch_torch_batch *part, double images, GError **error)
{
    struct orch_torch_array output;
    if (!s->torch->forward(s->model, part, ORCH_TORCH_TRAIN, false, &output, error))
        return false;
    const int64_t classes = output.shape[1];
    g_autofree float *gradient = g_new(float, (gsize)(part->count * classes));
    for (int64_t i = 0; i < part->count; i++)
        learn_image(output.data + i * classes, classes, part->labels[i], images,
                    gradient + i * classes, &a->totals);
    output.data = gradient;
    output.is_on_device = false;
    return s->torch->backward(s->model, &output, 1, error);
}

static bool learn(void *ctx, const struct orch_session *s, const struct orch_torch_batch *batch,
                  GError **error)
{
    struct accumulated *a = ctx;
    const struct orch_image_set *d = s->train_set;
    const int64_t values = (int64_t)d->channels * d->height * d->width;
    const int64_t samples = batch->count / a->copies;
    for (int64_t copy = 0; copy < a->copies; copy++) {
        struct orch_torch_batch part = *batch;
        part.images = (const float *)batch->images + copy * samples * values;
        part.labels = batch->labels + copy * samples;
        part.count = samples;
        if (!learn_part(a, s, &part, (double)batch->count, error))
            return false;
    }
    return s->torch->update(s->model, error);
}

static bool take(void *ctx, const struct orch_session *s, struct orch_torch_totals *out,
                 GError **error)
{
    (void)s;
    (void)error;
    struct accumulated *a = ctx;
    *out = a->totals;
    a->totals = (struct orch_torch_totals){0};
    return true;
}

struct orch_step *orch_batchaug_step(int64_t copies)
{
    struct orch_step *step = g_new0(struct orch_step, 1);
    struct accumulated *a = g_new0(struct accumulated, 1);
    a->copies = copies;
    *step = (struct orch_step){.ctx = a, .learn = learn, .take = take, .free = g_free};
    return step;
}
