/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The step that learns from a batch: forward, the multibox loss of the batch's objects, backward
 * and update. The loss is computed on the processor, whatever the device of the network. */
#include "plugins/detect/detect.h"

struct multibox_step {
    struct orch_detect *detect;
    struct orch_torch_totals totals; /* since the last take */
    int64_t capacity;                /* images that `gradients` has room for */
    float *gradients;
};

static struct orch_multibox_gradients reserve(struct multibox_step *step, int64_t images)
{
    const struct orch_detector *d = step->detect->detector;
    const int64_t rows = images * d->priors->count;
    if (images > step->capacity) {
        g_free(step->gradients);
        step->gradients = g_new(float, rows *(4 + d->classes));
        step->capacity = images;
    }
    return (struct orch_multibox_gradients){step->gradients, step->gradients + rows * 4};
}

static void add(struct multibox_step *step, const struct orch_multibox_loss *loss, int64_t images)
{
    struct orch_loss_sums *sums = &step->detect->train;
    sums->location += loss->location * (double)images;
    sums->confidence += loss->confidence * (double)images;
    sums->images += images;
    step->totals.loss += (loss->location + loss->confidence) * (double)images;
    step->totals.images += images;
}

static bool learn(void *ctx, const struct orch_session *s, const struct orch_torch_batch *batch,
                  GError **error)
{
    struct multibox_step *step = ctx;
    struct orch_detector *d = step->detect->detector;
    const struct detect_params *p = step->detect->params;
    const struct orch_multibox_options options = {d->classes, (float)p->match_iou,
                                                  (float)p->negatives};
    struct orch_multibox_loss loss;
    if (!orch_detector_forward(d, batch, ORCH_TORCH_TRAIN, error))
        return false;
    const struct orch_multibox_outputs outputs = {d->locations, d->confidences};
    const struct orch_multibox_gradients gradients = reserve(step, batch->count);
    if (!orch_multibox_loss(d->priors, &step->detect->objects, &options, &outputs, &gradients,
                            &loss, error) ||
        !orch_detector_backward(d, gradients.locations, gradients.confidences, error))
        return false;
    add(step, &loss, batch->count);
    return s->torch->update(s->model, error);
}

static bool take(void *ctx, const struct orch_session *s, struct orch_torch_totals *out,
                 GError **error)
{
    struct multibox_step *step = ctx;
    (void)s;
    (void)error;
    *out = step->totals;
    step->totals = (struct orch_torch_totals){0};
    return true;
}

static void step_free(void *ctx)
{
    struct multibox_step *step = ctx;
    g_free(step->gradients);
    g_free(step);
}

struct orch_step *orch_detect_step(struct orch_detect *detect)
{
    struct orch_step *step = g_new0(struct orch_step, 1);
    struct multibox_step *own = g_new0(struct multibox_step, 1);
    own->detect = detect;
    *step = (struct orch_step){.ctx = own, .learn = learn, .take = take, .free = step_free};
    return step;
}
