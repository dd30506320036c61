/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two passes: the first matches every image and selects the priors that count, because both losses
 * are divided by the positives of the whole batch; the second computes losses and gradients of
 * those alone. */
#include "plugins/common/boxes/multibox_loss.h"

#include "plugins/common/boxes/largest.h"
#include "plugins/common/boxes/softmax.h"

#include <math.h>
#include <string.h>

/* What the first pass finds of an image. */
struct image_match {
    int32_t *object;  /* of each prior: its object, -1: none */
    int32_t *counted; /* the priors that count: the positives, then the negatives */
    int64_t positives, negatives;
};

struct work {
    const struct orch_priors *priors;
    const struct orch_box_batch *objects;
    const struct orch_multibox_options *options;
    const struct orch_multibox_outputs *outputs;
    const struct orch_multibox_gradients *gradients; /* NULL: not wanted */
    float scale;                                     /* 1 / positives of the batch */
    float *exponentials;                             /* of the classes of one prior */
    struct orch_largest_item *losses;                /* of the negatives of one image */
};

/* The cross entropy of a prior whose true class is `label`, and in w->exponentials those of its
 * classes; NaN or infinite where a confidence is. */
static float cross_entropy(const struct work *w, const float *confidence, int32_t label,
                           float *out_sum)
{
    const struct orch_softmax s =
        orch_softmax_row(confidence, w->options->classes, w->exponentials);
    *out_sum = s.sum;
    return s.most + logf(s.sum) - confidence[label];
}

/* Matches one image and selects its negatives. Returns false if a confidence is not finite. */
static bool match_image(const struct work *w, int64_t image, struct image_match *out)
{
    const int64_t from = w->objects->first[image], priors = w->priors->count;
    const float *confidence = w->outputs->confidences + image * priors * w->options->classes;
    bool is_finite = true;
    int64_t others = 0;
    float sum;
    orch_priors_match(w->priors, w->objects->boxes + from, w->objects->first[image + 1] - from,
                      w->options->iou, out->object);
    for (int64_t p = 0; p < priors; p++, confidence += w->options->classes) {
        const float loss = cross_entropy(w, confidence, 0, &sum);
        is_finite = is_finite && isfinite(loss);
        if (out->object[p] >= 0)
            out->counted[out->positives++] = (int32_t)p;
        else
            w->losses[others++] = (struct orch_largest_item){loss, (int32_t)p};
    }
    if (!is_finite)
        return false;
    out->negatives = MIN(others, (int64_t)((double)w->options->negatives * (double)out->positives));
    orch_largest_select(w->losses, others, out->negatives);
    for (int64_t i = 0; i < out->negatives; i++)
        out->counted[out->positives + i] = w->losses[i].number;
    return true;
}

/* Smooth L1 of one offset and its gradient (Girshick 2015, equation 3). */
static double smooth_l1(float found, float expected, float *out_gradient)
{
    const float difference = found - expected, size = fabsf(difference);
    *out_gradient = size < 1 ? difference : difference > 0 ? 1.0F : -1.0F;
    return size < 1 ? 0.5 * (double)difference * (double)difference : (double)size - 0.5;
}

static double add_location(const float *found, struct orch_box_offset expected, float scale,
                           float *gradient)
{
    const float offset[4] = {expected.cx, expected.cy, expected.width, expected.height};
    double loss = 0;
    for (int i = 0; i < 4; i++) {
        float slope;
        loss += smooth_l1(found[i], offset[i], &slope);
        if (gradient)
            gradient[i] = slope * scale;
    }
    return loss;
}

static double add_confidence(const struct work *w, const float *confidence, int32_t label,
                             float *gradient)
{
    float sum;
    const float loss = cross_entropy(w, confidence, label, &sum);
    for (int c = 0; gradient && c < w->options->classes; c++)
        gradient[c] = (w->exponentials[c] / sum - (c == label ? 1.0F : 0.0F)) * w->scale;
    return (double)loss;
}

static void add_image(const struct work *w, int64_t image, const struct image_match *match,
                      struct orch_multibox_loss *out)
{
    const int64_t first = w->objects->first[image];
    const int classes = w->options->classes;
    for (int64_t i = 0; i < match->positives + match->negatives; i++) {
        const int32_t p = match->counted[i], object = match->object[p];
        const int64_t at = image * w->priors->count + p;
        const int32_t label = object >= 0 ? w->objects->labels[first + object] : 0;
        out->confidence +=
            add_confidence(w, w->outputs->confidences + at * classes, label,
                           w->gradients ? w->gradients->confidences + at * classes : NULL);
        if (object < 0)
            continue;
        const struct orch_box_offset expected =
            orch_box_encode(w->objects->boxes[first + object], w->priors->centred[p]);
        out->location += add_location(w->outputs->locations + at * 4, expected, w->scale,
                                      w->gradients ? w->gradients->locations + at * 4 : NULL);
    }
}

static void clear_gradients(const struct orch_multibox_gradients *gradients, int64_t rows,
                            int classes)
{
    memset(gradients->locations, 0, sizeof(float) * (size_t)rows * 4);
    memset(gradients->confidences, 0, sizeof(float) * (size_t)rows * (size_t)classes);
}

bool orch_multibox_loss(const struct orch_priors *priors, const struct orch_box_batch *objects,
                        const struct orch_multibox_options *options,
                        const struct orch_multibox_outputs *outputs,
                        const struct orch_multibox_gradients *gradients,
                        struct orch_multibox_loss *out, GError **error)
{
    if (!orch_box_batch_check(objects, options->classes, error))
        return false;
    const int64_t images = objects->images, rows = images * priors->count;
    struct orch_multibox_loss loss = {0};
    g_autofree float *exponentials = g_new(float, options->classes);
    g_autofree struct orch_largest_item *losses = g_new(struct orch_largest_item, priors->count);
    g_autofree int32_t *numbers = g_new(int32_t, 2 * rows + 1);
    g_autofree struct image_match *matches = g_new0(struct image_match, images + 1);
    struct work work = {priors, objects, options, outputs, gradients, 0, exponentials, losses};
    bool is_finite = true;
    for (int64_t i = 0; i < images; i++) {
        matches[i].object = numbers + 2 * i * priors->count;
        matches[i].counted = matches[i].object + priors->count;
        is_finite &= match_image(&work, i, &matches[i]);
        loss.positives += matches[i].positives;
        loss.negatives += matches[i].negatives;
    }
    if (gradients)
        clear_gradients(gradients, rows, options->classes);
    work.scale = 1.0F / (float)MAX(loss.positives, 1);
    for (int64_t i = 0; i < images; i++)
        add_image(&work, i, &matches[i], &loss);
    loss.location /= (double)MAX(loss.positives, 1);
    loss.confidence = is_finite ? loss.confidence / (double)MAX(loss.positives, 1) : (double)NAN;
    *out = loss;
    return true;
}
