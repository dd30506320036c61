/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An object belongs to one image, so whether a detection is a hit depends on the detections of its
 * image alone. It is decided when the image is added, and only score and verdict are kept. */
#include "plugins/common/boxes/box_score.h"

#include <math.h>
#include <stdlib.h>

#define POINTS 11

double orch_average_precision_2007(const bool *is_hit, int64_t count, int64_t objects)
{
    double best[POINTS] = {0}, sum = 0;
    int64_t hits = 0;
    if (objects <= 0)
        return (double)NAN;
    for (int64_t i = 0; i < count; i++) {
        hits += is_hit[i];
        const double precision = (double)hits / (double)(i + 1);
        const double recall = (double)hits / (double)objects;
        /* multiples of 0.1 as doubles, as in the devkit of VOC 2007 and in NumPy's arange: recall
         * 3 / 10 is below the point 3 * 0.1 */
        for (int p = 0; p < POINTS; p++)
            if (recall >= p * 0.1 && precision > best[p])
                best[p] = precision;
    }
    for (int p = 0; p < POINTS; p++)
        sum += best[p];
    return sum / POINTS;
}

double orch_average_precision_area(const bool *is_hit, int64_t count, int64_t objects)
{
    int64_t hits = 0;
    if (objects <= 0)
        return (double)NAN;
    for (int64_t i = 0; i < count; i++)
        hits += is_hit[i];
    /* from the last detection to the first: each hit is a step of 1 / objects in recall, at the
     * largest precision from there on */
    double best = 0, sum = 0;
    for (int64_t i = count - 1; i >= 0; i--) {
        best = fmax(best, (double)hits / (double)(i + 1));
        if (is_hit[i]) {
            sum += best;
            hits--;
        }
    }
    return sum / (double)objects;
}

enum verdict { MISS, HIT, IGNORED };

struct judged {
    float score;
    uint32_t number; /* in the order of adding: decides at equal scores */
    bool is_hit;
};

struct class_detections {
    GArray *judged; /* struct judged */
    int64_t objects;
    bool is_sorted;
};

struct orch_box_score {
    int classes;
    float iou;
    struct class_detections *of; /* by class */
};

struct orch_box_score *orch_box_score_new(int classes, float iou)
{
    struct orch_box_score *score = g_new0(struct orch_box_score, 1);
    score->classes = MAX(classes, 1);
    score->iou = iou;
    score->of = g_new0(struct class_detections, score->classes);
    for (int c = 0; c < score->classes; c++)
        score->of[c].judged = g_array_new(FALSE, FALSE, sizeof(struct judged));
    return score;
}

void orch_box_score_free(struct orch_box_score *score)
{
    if (!score)
        return;
    for (int c = 0; c < score->classes; c++)
        g_array_free(score->of[c].judged, TRUE);
    g_free(score->of);
    g_free(score);
}

struct truth {
    const struct orch_box *boxes;
    const int32_t *labels;
    const bool *is_difficult; /* may be NULL */
    int64_t count;
};

static bool is_difficult(const struct truth *truth, int64_t object)
{
    return truth->is_difficult && truth->is_difficult[object];
}

/* Judges one detection and marks the object that it finds. */
static enum verdict judge(const struct truth *truth, const struct orch_detection *detection,
                          float iou, bool *found)
{
    float best = 0;
    int64_t object = -1;
    for (int64_t i = 0; i < truth->count; i++) {
        const float overlap = truth->labels[i] == detection->label
                                  ? orch_box_iou(detection->box, truth->boxes[i], 0)
                                  : 0;
        if (overlap > best) {
            best = overlap;
            object = i;
        }
    }
    if (object < 0 || !(best > iou))
        return MISS;
    if (is_difficult(truth, object))
        return IGNORED;
    const enum verdict verdict = found[object] ? MISS : HIT;
    found[object] = true;
    return verdict;
}

static int compare_detections(const void *a, const void *b)
{
    const struct orch_detection *x = *(const struct orch_detection *const *)a;
    const struct orch_detection *y = *(const struct orch_detection *const *)b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x > y) - (x < y); /* in the order given */
}

void orch_box_score_add(struct orch_box_score *score, const struct orch_box *boxes,
                        const int32_t *labels, const bool *difficult, int64_t objects,
                        const struct orch_detection *detections, int64_t count)
{
    const struct truth truth = {boxes, labels, difficult, objects};
    g_autofree bool *found = g_new0(bool, objects + 1);
    g_autofree const struct orch_detection **order =
        g_new(const struct orch_detection *, count + 1);
    int64_t ordered = 0;
    for (int64_t i = 0; i < objects; i++)
        if (labels[i] > 0 && labels[i] < score->classes && !is_difficult(&truth, i))
            score->of[labels[i]].objects++;
    for (int64_t i = 0; i < count; i++)
        if (detections[i].label > 0 && detections[i].label < score->classes &&
            !isnan(detections[i].score))
            order[ordered++] = &detections[i];
    qsort(order, (size_t)ordered, sizeof *order, compare_detections);
    for (int64_t i = 0; i < ordered; i++) {
        struct class_detections *of = &score->of[order[i]->label];
        const enum verdict verdict = judge(&truth, order[i], score->iou, found);
        const struct judged judged = {order[i]->score, of->judged->len, verdict == HIT};
        of->is_sorted = false;
        if (verdict != IGNORED)
            g_array_append_val(of->judged, judged);
    }
}

static int compare_judged(const void *a, const void *b)
{
    const struct judged *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

struct orch_class_score orch_box_score_class(struct orch_box_score *score, int label)
{
    struct class_detections *of = &score->of[label];
    if (!of->is_sorted)
        g_array_sort(of->judged, compare_judged);
    of->is_sorted = true;
    struct orch_class_score out = {.objects = of->objects, .detections = of->judged->len};
    g_autofree bool *is_hit = g_new(bool, of->judged->len + 1);
    for (guint i = 0; i < of->judged->len; i++) {
        is_hit[i] = g_array_index(of->judged, struct judged, i).is_hit;
        out.hits += is_hit[i];
    }
    out.ap_2007 = orch_average_precision_2007(is_hit, out.detections, out.objects);
    out.ap_area = orch_average_precision_area(is_hit, out.detections, out.objects);
    return out;
}

void orch_box_score_mean(struct orch_box_score *score, double *out_map_2007, double *out_map_area)
{
    double points = 0, area = 0;
    int with_objects = 0;
    for (int label = 1; label < score->classes; label++) {
        const struct orch_class_score of = orch_box_score_class(score, label);
        if (of.objects == 0)
            continue;
        points += of.ap_2007;
        area += of.ap_area;
        with_objects++;
    }
    *out_map_2007 = with_objects ? points / with_objects : (double)NAN;
    *out_map_area = with_objects ? area / with_objects : (double)NAN;
}
