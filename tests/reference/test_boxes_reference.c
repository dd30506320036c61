/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plugins/common/boxes against numbers that the code of qfgaohao/pytorch-ssd computed:
 * ssd_cases.json in $ORCH_REFERENCE_DATA (or ../shared/data); without it the test is skipped.
 * unit.boxes has cases of orch's own.
 *
 * test_boxes_reference [FOLDER]: prints the number of cases and the largest differences.
 */
#include "plugins/common/boxes/box_score.h"
#include "plugins/common/boxes/multibox_loss.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SKIPPED 77
#define TOLERANCE 1e-5

struct worst {
    double priors, targets, losses, gradients, detections, precision;
    size_t cases, positives, found, moved;
};

static void stop(const char *what, size_t at)
{
    fprintf(stderr, "case %zu: %s\n", at, what);
    exit(1);
}

static double number(const json_t *of, size_t i)
{
    return json_number_value(json_array_get(of, i));
}

static double named(const json_t *of, const char *name)
{
    return json_number_value(json_object_get(of, name));
}

static void widen(double *worst, double found, double expected)
{
    const double difference = fabs(found - expected) / fmax(1, fabs(expected));
    *worst = isnan(difference) ? (double)INFINITY : fmax(*worst, difference);
}

/* The largest difference of some values from a row of the file that begins at `from`. */
static double difference(const float *values, const json_t *row, size_t from, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        widen(&most, (double)values[i], number(row, from + i));
    return most;
}

/* The file has the sum of all priors, and some of them without their numbers. */
static void compare_priors(const json_t *root, const struct orch_priors *priors, struct worst *w)
{
    const json_t *some = json_object_get(root, "priors_first"), *row;
    double sum[4] = {0};
    size_t i;
    if (priors->count != (int64_t)named(root, "priors_count"))
        stop("another number of priors", 0);
    for (int64_t p = 0; p < priors->count; p++) {
        const struct orch_prior_box at = priors->centred[p];
        const float values[4] = {at.cx, at.cy, at.width, at.height};
        for (i = 0; i < 4; i++)
            sum[i] += (double)values[i];
    }
    for (i = 0; i < 4; i++)
        widen(&w->priors, sum[i], number(json_object_get(root, "priors_sum"), i));
    json_array_foreach(some, i, row)
    {
        double least = INFINITY;
        for (int64_t p = 0; p < priors->count; p++) {
            const struct orch_prior_box at = priors->centred[p];
            const float values[4] = {at.cx, at.cy, at.width, at.height};
            least = fmin(least, difference(values, row, 0, 4));
        }
        w->priors = fmax(w->priors, least);
    }
}

/* The objects of a case, in arrays that the caller frees. */
static int64_t read_objects(const json_t *of, struct orch_box **out_boxes, int32_t **out_labels)
{
    const json_t *boxes = json_object_get(of, "boxes"), *labels = json_object_get(of, "labels");
    const size_t count = json_array_size(boxes);
    *out_boxes = g_new(struct orch_box, count + 1);
    *out_labels = g_new(int32_t, count + 1);
    for (size_t i = 0; i < count; i++) {
        const json_t *box = json_array_get(boxes, i);
        (*out_boxes)[i] = (struct orch_box){(float)number(box, 0), (float)number(box, 1),
                                            (float)number(box, 2), (float)number(box, 3)};
        (*out_labels)[i] = (int32_t)number(labels, i);
    }
    return (int64_t)count;
}

/* Whether matching gives the positives of the file. */
static bool matches(const json_t *positives, const struct orch_priors *priors,
                    const struct orch_box_batch *objects, int32_t *object)
{
    size_t found = 0;
    orch_priors_match(priors, objects->boxes, objects->first[1], ORCH_MATCH_IOU, object);
    for (int64_t p = 0; p < priors->count; p++) {
        if (object[p] < 0)
            continue;
        const json_t *row = json_array_get(positives, found++);
        if (!row || p != (int64_t)number(row, 0) ||
            objects->labels[object[p]] != (int32_t)number(row, 1))
            return false;
    }
    return found == json_array_size(positives);
}

/* The file rounds boxes to seven digits, a float has up to nine. Where an object overlaps several
 * priors alike but for rounding, the lost digits decide which is its best one. So a box is moved by
 * at most one float each way, to where the positives are those of the file. */
static bool find_digits(const json_t *positives, const struct orch_priors *priors,
                        const struct orch_box_batch *objects, struct orch_box *boxes,
                        int32_t *object)
{
    for (int64_t i = 0; i < objects->first[1]; i++) {
        const struct orch_box kept = boxes[i];
        for (int move = 0; move < 81; move++) {
            float *at[4] = {&boxes[i].x1, &boxes[i].y1, &boxes[i].x2, &boxes[i].y2};
            boxes[i] = kept;
            for (int c = 0, rest = move; c < 4; c++, rest /= 3)
                if (rest % 3)
                    *at[c] = nextafterf(*at[c], rest % 3 == 1 ? 2.0F : -1.0F);
            if (matches(positives, priors, objects, object))
                return true;
        }
        boxes[i] = kept;
    }
    return false;
}

static void compare_targets(const json_t *of, size_t at, const struct orch_priors *priors,
                            const struct orch_box_batch *objects, struct orch_box *boxes,
                            struct worst *w)
{
    const json_t *positives = json_object_get(of, "positives");
    g_autofree int32_t *object = g_new(int32_t, priors->count);
    if (!matches(positives, priors, objects, object)) {
        w->moved++;
        if (!find_digits(positives, priors, objects, boxes, object))
            stop("other positives", at);
    }
    for (size_t i = 0; i < json_array_size(positives); i++) {
        const json_t *row = json_array_get(positives, i);
        const int64_t p = (int64_t)number(row, 0);
        const struct orch_box_offset offset = orch_box_encode(boxes[object[p]], priors->centred[p]);
        widen(&w->targets, (double)offset.cx, number(row, 2));
        widen(&w->targets, (double)offset.cy, number(row, 3));
        widen(&w->targets, (double)offset.width, number(row, 4));
        widen(&w->targets, (double)offset.height, number(row, 5));
    }
    w->positives += json_array_size(positives);
}

static double sum_of_sizes(const float *values, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += fabs((double)values[i]);
    return sum;
}

static void compare_losses(const json_t *of, size_t at, const struct orch_priors *priors,
                           const struct orch_box_batch *objects, int classes,
                           const struct orch_multibox_outputs *outputs, struct worst *w)
{
    const struct orch_multibox_options options = {classes, ORCH_MATCH_IOU, 3};
    g_autofree float *locations = g_new(float, priors->count * 4);
    g_autofree float *confidences = g_new(float, priors->count *classes);
    const struct orch_multibox_gradients gradients = {locations, confidences};
    struct orch_multibox_loss loss;
    GError *error = NULL;
    if (!orch_multibox_loss(priors, objects, &options, outputs, &gradients, &loss, &error))
        stop(error->message, at);
    widen(&w->losses, loss.location, named(of, "regression_loss"));
    widen(&w->losses, loss.confidence, named(of, "classification_loss"));
    if (loss.positives + loss.negatives != (int64_t)named(of, "mined"))
        stop("another number of priors counts", at);
    widen(&w->gradients, sum_of_sizes(locations, priors->count * 4), named(of, "grad_loc_abs_sum"));
    widen(&w->gradients, sum_of_sizes(confidences, priors->count * classes),
          named(of, "grad_conf_abs_sum"));
}

/* The difference of the detection that is nearest to a row of the file. Rounding decides about the
 * order of scores that are equal to seven digits, so the row may be at another place. */
static double nearest(const GArray *found, const json_t *row)
{
    double least = INFINITY;
    for (guint i = 0; i < found->len; i++) {
        const struct orch_detection d = g_array_index(found, struct orch_detection, i);
        const float values[5] = {d.box.x1, d.box.y1, d.box.x2, d.box.y2, d.score};
        if (d.label == (int32_t)number(row, 0))
            least = fmin(least, difference(values, row, 1, 5));
    }
    return least;
}

static void compare_detections(const json_t *of, size_t at, const struct orch_priors *priors,
                               int classes, const struct orch_multibox_outputs *outputs,
                               struct worst *w)
{
    struct orch_detection_options options = {0.3F, 0.45F, 200, 10};
    const json_t *expected = json_object_get(of, "detections");
    g_autofree float *sharper = g_new(float, priors->count *classes);
    for (int64_t i = 0; i < priors->count * classes; i++)
        sharper[i] = 3 * outputs->confidences[i];
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(struct orch_detection));
    orch_detections_find(priors, outputs->locations, sharper, classes, &options, found);
    if (MIN(found->len, 60) != json_array_size(expected))
        stop("another number of detections", at);
    g_array_set_size(found, 0);
    options.per_class = 12; /* the tenth and the eleventh may have changed places */
    orch_detections_find(priors, outputs->locations, sharper, classes, &options, found);
    for (size_t i = 0; i < json_array_size(expected); i++)
        w->detections = fmax(w->detections, nearest(found, json_array_get(expected, i)));
    w->found += json_array_size(expected);
}

static void compare_case(const json_t *of, size_t at, const struct orch_priors *priors,
                         struct worst *w)
{
    const int classes = (int)named(of, "classes");
    const double s = named(of, "s");
    struct orch_box *boxes;
    int32_t *labels;
    const int64_t first[2] = {0, read_objects(of, &boxes, &labels)};
    const struct orch_box_batch objects = {1, first, boxes, labels};
    g_autofree float *locations = g_new(float, priors->count * 4);
    g_autofree float *confidences = g_new(float, priors->count *classes);
    for (int64_t p = 0; p < priors->count; p++) {
        for (int d = 0; d < 4; d++)
            locations[4 * p + d] = (float)cos(0.11 * (double)p + 0.7 * d + s);
        for (int k = 0; k < classes; k++)
            confidences[p * classes + k] = (float)(2 * sin(0.37 * (double)p + 1.3 * k + s));
    }
    const struct orch_multibox_outputs outputs = {locations, confidences};
    compare_targets(of, at, priors, &objects, boxes, w);
    compare_losses(of, at, priors, &objects, classes, &outputs, w);
    compare_detections(of, at, priors, classes, &outputs, w);
    g_free(boxes);
    g_free(labels);
}

static void compare_precision(const json_t *of, struct worst *w)
{
    const json_t *hits = json_object_get(of, "true_positive");
    const size_t count = json_array_size(hits);
    const int64_t objects = (int64_t)named(of, "objects");
    g_autofree bool *is_hit = g_new(bool, count + 1);
    for (size_t i = 0; i < count; i++)
        is_hit[i] = number(hits, i) > 0;
    widen(&w->precision, orch_average_precision_2007(is_hit, (int64_t)count, objects),
          named(of, "ap_2007"));
    widen(&w->precision, orch_average_precision_area(is_hit, (int64_t)count, objects),
          named(of, "ap_area"));
}

static json_t *read_cases(int argc, char **argv)
{
    const char *given = argc > 1 ? argv[1] : g_getenv("ORCH_REFERENCE_DATA");
    g_autofree char *path =
        g_build_filename(given && *given ? given : ORCH_REFERENCE_DEFAULT, "ssd_cases.json", NULL);
    json_error_t error;
    if (!g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
        printf("skipped: no reference cases in '%s'; set ORCH_REFERENCE_DATA to their folder\n",
               path);
        exit(SKIPPED);
    }
    json_t *root = json_load_file(path, 0, &error);
    if (!root)
        stop(error.text, 0);
    return root;
}

int main(int argc, char **argv)
{
    json_t *root = read_cases(argc, argv);
    const json_t *cases = json_object_get(root, "cases"), *of;
    const json_t *precisions = json_object_get(root, "average_precision");
    const struct orch_prior_spec spec = orch_prior_spec_mobilenet_v1_ssd();
    struct orch_priors *priors = orch_priors_new(&spec, NULL);
    struct worst w = {0};
    size_t i;
    compare_priors(root, priors, &w);
    json_array_foreach(cases, i, of) compare_case(of, i, priors, &w);
    w.cases = json_array_size(cases);
    json_array_foreach(precisions, i, of) compare_precision(of, &w);
    printf("%zu cases (%zu with a box moved by the digits that the file lacks) with %zu positives "
           "and %zu detections, %zu average precisions; largest "
           "differences: priors %.2g, targets %.2g, losses %.2g, gradients %.2g, detections %.2g, "
           "average precision %.2g\n",
           w.cases, w.moved, w.positives, w.found, json_array_size(precisions), w.priors, w.targets,
           w.losses, w.gradients, w.detections, w.precision);
    const double worst = fmax(fmax(fmax(w.priors, w.targets), fmax(w.losses, w.gradients)),
                              fmax(w.detections, w.precision));
    const bool is_good = w.cases > 0 && json_array_size(precisions) > 0 && worst <= TOLERANCE;
    orch_priors_free(priors);
    json_decref(root);
    return is_good ? 0 : 1;
}
