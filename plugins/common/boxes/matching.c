/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/boxes/matching.h"

#include <math.h>
#include <string.h>

/* Raises the best overlap of each prior to that with object `object`. Returns the prior that
 * overlaps the object most. The object that is found first keeps a prior at equal overlaps. */
static int64_t match_object(const struct orch_priors *priors, struct orch_box box, int32_t object,
                            float *restrict best, int32_t *restrict out_object)
{
    int64_t top = 0;
    float top_iou = -1;
    for (int64_t p = 0; p < priors->count; p++) {
        const float iou = orch_box_iou(box, priors->corners[p], ORCH_BOX_UNION_ADDED);
        if (iou > best[p]) {
            best[p] = iou;
            out_object[p] = object;
        }
        if (iou > top_iou) {
            top_iou = iou;
            top = p;
        }
    }
    return top;
}

void orch_priors_match(const struct orch_priors *priors, const struct orch_box *boxes,
                       int64_t count, float iou, int32_t *out_object)
{
    g_autofree float *best = g_new(float, priors->count);
    g_autofree int64_t *own = g_new(int64_t, count + 1);
    for (int64_t p = 0; p < priors->count; p++) {
        best[p] = -1;
        out_object[p] = -1;
    }
    for (int64_t i = 0; i < count; i++)
        own[i] = match_object(priors, boxes[i], (int32_t)i, best, out_object);
    for (int64_t p = 0; p < priors->count; p++)
        if (best[p] < iou)
            out_object[p] = -1;
    for (int64_t i = 0; i < count; i++)
        out_object[own[i]] = (int32_t)i;
}

struct orch_box_offset orch_box_encode(struct orch_box box, struct orch_prior_box prior)
{
    const float width = box.x2 - box.x1, height = box.y2 - box.y1;
    const float cx = (box.x1 + box.x2) / 2, cy = (box.y1 + box.y2) / 2;
    return (struct orch_box_offset){(cx - prior.cx) / prior.width / ORCH_CENTRE_VARIANCE,
                                    (cy - prior.cy) / prior.height / ORCH_CENTRE_VARIANCE,
                                    logf(width / prior.width) / ORCH_SIZE_VARIANCE,
                                    logf(height / prior.height) / ORCH_SIZE_VARIANCE};
}

struct orch_box orch_box_decode(struct orch_box_offset offset, struct orch_prior_box prior)
{
    const float cx = offset.cx * ORCH_CENTRE_VARIANCE * prior.width + prior.cx;
    const float cy = offset.cy * ORCH_CENTRE_VARIANCE * prior.height + prior.cy;
    const float width = expf(offset.width * ORCH_SIZE_VARIANCE) * prior.width;
    const float height = expf(offset.height * ORCH_SIZE_VARIANCE) * prior.height;
    return (struct orch_box){cx - width / 2, cy - height / 2, cx + width / 2, cy + height / 2};
}
