/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/boxes/detections.h"

#include "plugins/common/boxes/largest.h"
#include "plugins/common/boxes/softmax.h"

void orch_detection_scores(const float *confidences, int64_t rows, int classes, float *out)
{
    for (int64_t r = 0; r < rows; r++) {
        float *to = out + r * classes;
        const float sum = orch_softmax_row(confidences + r * classes, classes, to).sum;
        for (int c = 0; c < classes; c++)
            to[c] /= sum;
    }
}

void orch_detection_boxes(const struct orch_priors *priors, const float *locations,
                          struct orch_box *out)
{
    for (int64_t p = 0; p < priors->count; p++) {
        const float *at = locations + 4 * p;
        out[p] = orch_box_decode((struct orch_box_offset){at[0], at[1], at[2], at[3]},
                                 priors->centred[p]);
    }
}

/* The boxes of one class above the threshold, the best first, at most `most` (0: all). Returns
 * their number. */
static int64_t sort_candidates(const struct orch_box *boxes, const float *scores, int64_t count,
                               int classes, float least, int64_t most,
                               struct orch_largest_item *out)
{
    int64_t found = 0;
    for (int64_t i = 0; i < count; i++)
        if (scores[i * classes] > least && orch_box_is_proper(boxes[i]))
            out[found++] = (struct orch_largest_item){scores[i * classes], (int32_t)i};
    if (most > 0 && most < found) {
        orch_largest_select(out, found, most);
        found = most;
    }
    orch_largest_sort(out, found);
    return found;
}

static bool overlaps_one(const GArray *kept, guint from, struct orch_box box, float iou)
{
    for (guint i = from; i < kept->len; i++) {
        const struct orch_box better = g_array_index(kept, struct orch_detection, i).box;
        if (orch_box_iou(box, better, ORCH_BOX_UNION_ADDED) > iou)
            return true;
    }
    return false;
}

void orch_detections_pick(const struct orch_box *boxes, const float *scores, int64_t count,
                          int classes, const struct orch_detection_options *options, GArray *out)
{
    g_autofree struct orch_largest_item *candidates = g_new(struct orch_largest_item, count + 1);
    for (int label = 1; label < classes; label++) {
        const int64_t found = sort_candidates(boxes, scores + label, count, classes, options->score,
                                              options->candidates, candidates);
        const guint first = out->len;
        for (int64_t i = 0; i < found; i++) {
            const struct orch_detection detection = {boxes[candidates[i].number], label,
                                                     candidates[i].value};
            if (options->per_class > 0 && out->len - first >= (guint)options->per_class)
                break;
            if (!overlaps_one(out, first, detection.box, options->iou))
                g_array_append_val(out, detection);
        }
    }
}

void orch_detections_find(const struct orch_priors *priors, const float *locations,
                          const float *confidences, int classes,
                          const struct orch_detection_options *options, GArray *out)
{
    g_autofree struct orch_box *boxes = g_new(struct orch_box, priors->count);
    g_autofree float *scores = g_new(float, priors->count *classes);
    orch_detection_boxes(priors, locations, boxes);
    orch_detection_scores(confidences, priors->count, classes, scores);
    orch_detections_pick(boxes, scores, priors->count, classes, options, out);
}
