/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the outputs of a detector to boxes with classes and scores. */
#ifndef ORCH_PLUGINS_COMMON_DETECTIONS_H
#define ORCH_PLUGINS_COMMON_DETECTIONS_H

#include "plugins/common/boxes/matching.h"

struct orch_detection {
    struct orch_box box; /* may leave the image: orch_box_clip */
    int32_t label;       /* from 1 */
    float score;         /* probability of the class */
};

struct orch_detection_options {
    float score; /* a box needs a larger one, 0 to 1; 0.01 to measure, about 0.4 to look at */
    float iou;   /* a box that overlaps a better one of its class more is left out; usually 0.45 */
    int candidates; /* of each class, the best ones, go into the suppression; 0: all. Usually 200 */
    int per_class;  /* at most as many of each class are kept; 0: all */
};

/** Softmax of `rows` x `classes` confidences; `out` may be the same array. A row with a NaN becomes
 * NaN. */
void orch_detection_scores(const float *confidences, int64_t rows, int classes, float *out);

/** The boxes at the offsets that the network predicts for one image, priors->count x 4. */
void orch_detection_boxes(const struct orch_priors *priors, const float *locations,
                          struct orch_box *out);

/** Hard non-maximum suppression by class over the `count` boxes of one image with `count` x
 * `classes` scores, of which column 0 is the background. Boxes that are not proper and scores that
 * are NaN are left out. Appends struct orch_detection to `out`, by class, and within a class by
 * falling score (at equal scores the box with the lower number comes first). */
void orch_detections_pick(const struct orch_box *boxes, const float *scores, int64_t count,
                          int classes, const struct orch_detection_options *options, GArray *out);

/** The three steps above for one image: `locations` has priors->count x 4 values, `confidences`
 * priors->count x classes. */
void orch_detections_find(const struct orch_priors *priors, const float *locations,
                          const float *confidences, int classes,
                          const struct orch_detection_options *options, GArray *out);

#endif
