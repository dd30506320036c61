/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mean average precision of detections, by the rule of the PASCAL VOC challenge (Everingham et al.
 * 2010, section 4.2). Detections of a class are taken by falling score. One is a hit if the object
 * of its class that it overlaps most is overlapped by more than the threshold and was not found
 * before; else it is a false positive. Objects marked difficult do not count: they are not among
 * those to be found, and a detection of one is neither a hit nor a false positive. */
#ifndef ORCH_PLUGINS_COMMON_BOX_SCORE_H
#define ORCH_PLUGINS_COMMON_BOX_SCORE_H

#include "plugins/common/boxes/detections.h"

/** The threshold of VOC. */
#define ORCH_BOX_SCORE_IOU 0.5F

/** Average precision of detections in the order of falling score: `is_hit` says of each whether it
 * is a hit, `objects` how many were to be found. By the 11 points of VOC 2007: the mean, over the
 * recalls 0, 0.1, ... 1, of the largest precision at that recall or above. NaN for 0 objects. */
double orch_average_precision_2007(const bool *is_hit, int64_t count, int64_t objects);
/** The same by the area below the curve of precision over recall, after each precision was raised
 * to the largest at a higher recall (VOC 2010 and later). */
double orch_average_precision_area(const bool *is_hit, int64_t count, int64_t objects);

struct orch_class_score {
    double ap_2007, ap_area;  /* NaN if the class has no object */
    int64_t objects;          /* without difficult ones */
    int64_t detections, hits; /* detections without those of difficult objects */
};

/** Scores of a set of images, which are added one at a time, in any order. */
struct orch_box_score;
/** `classes` with the background, >= 2; `iou` usually ORCH_BOX_SCORE_IOU. */
struct orch_box_score *orch_box_score_new(int classes, float iou);
/** Adds an image: its objects, and the detections in any order. `is_difficult` may be NULL: none
 * is. Labels out of 1 to classes - 1 and scores that are NaN are ignored. */
void orch_box_score_add(struct orch_box_score *score, const struct orch_box *boxes,
                        const int32_t *labels, const bool *is_difficult, int64_t objects,
                        const struct orch_detection *detections, int64_t count);
/** Score of a class, 1 to classes - 1, from the images added so far. */
struct orch_class_score orch_box_score_class(struct orch_box_score *score, int label);
/** Means over the classes that have objects; NaN if none has. */
void orch_box_score_mean(struct orch_box_score *score, double *out_map_2007, double *out_map_area);
void orch_box_score_free(struct orch_box_score *score);

#endif
