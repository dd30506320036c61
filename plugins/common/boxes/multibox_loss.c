/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two passes: the first matches every image and selects the priors that count, because both losses
 * are divided by the positives of the whole batch; the second computes losses and gradients of
 * those alone. The hardest negatives are found by a selection (Hoare's), not by a sort. */
#include "plugins/common/boxes/multibox_loss.h"

#include <math.h>
#include <string.h>

/* What the first pass finds of an image. */
struct image_match {
    int32_t *object;  /* of each prior: its object, -1: none */
    int32_t *counted; /* the priors that count: the positives, then the negatives */
    int64_t positives, negatives;
};

/* log(sum of exp) of the confidences of a prior; NaN if one of them is. */
static float log_sum(const float *confidence, int classes)
{
    float most = confidence[0];
    for (int c = 1; c < classes; c++)
        most = confidence[c] > most ? confidence[c] : most;
    float sum = 0;
    for (int c = 0; c < classes; c++)
        sum += expf(confidence[c] - most);
    return most + logf(sum);
}

/* Moves the `count` priors with the largest loss to the front of `priors`, in any order. At equal
 * losses the prior with the lower number counts as harder, so that the result is unique. */
static bool is_harder(const float *loss, int32_t a, int32_t b)
{
    return loss[a] > loss[b] || (loss[a] == loss[b] && a < b);
}

static void select_hardest(const float *loss, int32_t *priors, int64_t total, int64_t count)
{
    int64_t low = 0, high = total - 1;
    while (low < high && count > low && count <= high) {
        const int32_t pivot = priors[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (is_harder(loss, priors[i], pivot))
                i++;
            while (is_harder(loss, pivot, priors[j]))
                j--;
            if (i <= j) {
                const int32_t swap = priors[i];
                priors[i++] = priors[j];
                priors[j--] = swap;
            }
        }
        if (count - 1 <= j)
            high = j;
        else if (count - 1 >= i)
            low = i;
        else
            return;
    }
}

/* Matches one image and selects its negatives. Returns false if a confidence is not finite. */
static bool match_image(const struct orch_priors *priors, const struct orch_box_batch *objects,
                        int64_t image, const struct orch_multibox_options *options,
                        const float *confidences, float *loss, struct image_match *out)
{
    const int64_t from = objects->first[image], count = objects->first[image + 1] - from;
    orch_priors_match(priors, objects->boxes + from, count, options->iou, out->object);
    bool is_finite = true;
    for (int64_t p = 0; p < priors->count; p++) {
        const float *confidence = confidences + p * options->classes;
        loss[p] = log_sum(confidence, options->classes) - confidence[0];
        is_finite = is_finite && isfinite(loss[p]);
        if (out->object[p] >= 0)
            out->counted[out->positives++] = (int32_t)p;
    }
    if (!is_finite)
        return false;
    int32_t *negatives = out->counted + out->positives;
    const int64_t all = priors->count - out->positives;
    for (int64_t p = 0, n = 0; p < priors->count; p++)
        if (out->object[p] < 0)
            negatives[n++] = (int32_t)p;
    out->negatives = MIN(all, (int64_t)((double)options->negatives * (double)out->positives));
    select_hardest(loss, negatives, all, out->negatives);
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

static double add_confidence(const float *confidence, int classes, int32_t label, float scale,
                             float *gradient)
{
    const float sum = log_sum(confidence, classes);
    for (int c = 0; gradient && c < classes; c++)
        gradient[c] = (expf(confidence[c] - sum) - (c == label ? 1.0F : 0.0F)) * scale;
    return (double)sum - (double)confidence[label];
}

struct work {
    const struct orch_priors *priors;
    const struct orch_box_batch *objects;
    const struct orch_multibox_outputs *outputs;
    const struct orch_multibox_gradients *gradients; /* NULL: not wanted */
    int classes;
    float scale; /* one divided by the positives of the batch */
};

static void add_image(const struct work *w, int64_t image, const struct image_match *match,
                      struct orch_multibox_loss *out)
{
    const int64_t first = w->objects->first[image];
    for (int64_t i = 0; i < match->positives + match->negatives; i++) {
        const int32_t p = match->counted[i], object = match->object[p];
        const int64_t at = image * w->priors->count + p;
        float *gradient = w->gradients ? w->gradients->confidences + at * w->classes : NULL;
        const int32_t label = object >= 0 ? w->objects->labels[first + object] : 0;
        out->confidence += add_confidence(w->outputs->confidences + at * w->classes, w->classes,
                                          label, w->scale, gradient);
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
    g_autofree float *background = g_new(float, priors->count);
    g_autofree int32_t *numbers = g_new(int32_t, 2 * rows + 1);
    g_autofree struct image_match *matches = g_new0(struct image_match, images + 1);
    bool is_finite = true;
    for (int64_t i = 0; i < images; i++) {
        matches[i].object = numbers + 2 * i * priors->count;
        matches[i].counted = matches[i].object + priors->count;
        is_finite &= match_image(priors, objects, i, options,
                                 outputs->confidences + i * priors->count * options->classes,
                                 background, &matches[i]);
        loss.positives += matches[i].positives;
        loss.negatives += matches[i].negatives;
    }
    if (gradients)
        clear_gradients(gradients, rows, options->classes);
    struct work work = {priors,    objects,          outputs,
                        gradients, options->classes, 1.0F / (float)MAX(loss.positives, 1)};
    for (int64_t i = 0; i < images; i++)
        add_image(&work, i, &matches[i], &loss);
    loss.location /= (double)MAX(loss.positives, 1);
    loss.confidence = is_finite ? loss.confidence / (double)MAX(loss.positives, 1) : (double)NAN;
    *out = loss;
    return true;
}
