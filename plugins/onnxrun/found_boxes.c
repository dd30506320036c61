/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A detector has maps of offsets and confidences, which plugins/common/boxes turns into boxes with
 * the priors that belong to the maps' shapes; or it has boxes and scores already: a row for each
 * box, with its corners relative to the image, and a row with its probabilities. */
#include "plugins/onnxrun/found_boxes.h"

#include "lib/base/error.h"
#include "plugins/common/boxes/box_score.h"
#include "plugins/common/boxes/output_maps.h"
#include "plugins/onnxrun/roles.h"

#include <math.h>
#include <string.h>

/* Boxes are measured with all that are found, and drawn from a higher score on. */
static const struct orch_detection_options MEASURED = {
    .score = 0.01F, .iou = 0.45F, .candidates = 200, .per_class = 100};

/* Arrays of one group over its boxes. */
struct found {
    int64_t images, count; /* boxes of an image */
    int classes;
    struct orch_box *boxes; /* images x count */
    float *scores;          /* images x count x classes */
};

static void found_clear(struct found *found)
{
    g_free(found->boxes);
    g_free(found->scores);
}

static bool no_memory(int64_t images, GError **error)
{
    orch_error_set(error, ORCH_ERROR_TRIAL, "lower 'count'",
                   "there is no memory for the boxes of %" G_GINT64_FORMAT " images", images);
    return false;
}

/* Makes the arrays for images x count boxes. */
static bool found_allocate(struct found *found, int64_t count, int classes, GError **error)
{
    const int64_t rows = MAX(found->images * count, 1);
    found->count = count;
    found->classes = classes;
    found->boxes = g_try_new(struct orch_box, rows);
    found->scores = g_try_new(float, rows *classes);
    return (found->boxes && found->scores) || no_memory(found->images, error);
}

static bool no_detector(const struct onnxrun_trial *t, const char *why, GError **error)
{
    orch_error_set(error, ORCH_ERROR_RECIPE,
                   "expected alternating maps of offsets and confidences, or boxes (images x boxes "
                   "x 4) and scores (images x boxes x classes)",
                   "the outputs of '%s' are not those of a detector: %s", t->file->path, why);
    return false;
}

/* ---- maps --------------------------------------------------------------------------------- */

/* Shapes of the outputs, which must be maps of offsets and of confidences in turn. */
static bool maps_describe(const struct onnxrun_trial *t, const struct onnxrun_group *group,
                          struct orch_output_shape *out, GError **error)
{
    for (int i = 0; i < t->file->output_count; i++) {
        const struct onnxrun_array *output = &group->outputs[i];
        const bool is_cell = output->rank == 2; /* a map of one cell loses its axes */
        if (output->rank != 4 && !is_cell)
            return no_detector(t, "an output is no map", error);
        if ((orch_onnxrun_role_of(t->file, i) == ONNXRUN_LOCATIONS) != (i % 2 == 0))
            return no_detector(t, "offsets and confidences do not alternate", error);
        out[i] = is_cell ? (struct orch_output_shape){output->shape[1], 1, 1}
                         : (struct orch_output_shape){output->shape[1], output->shape[2],
                                                      output->shape[3]};
    }
    return true;
}

static void maps_gather(const struct onnxrun_group *group, const struct orch_prior_spec *spec,
                        int part, int values, float *out)
{
    const float *maps[ORCH_PRIOR_MAPS_MAX];
    for (int m = 0; m < spec->map_count; m++)
        maps[m] = group->outputs[2 * m + part].data;
    orch_maps_gather(spec, maps, group->inputs.shape[0], values, out);
}

static bool decode_with(const struct orch_priors *priors, const struct onnxrun_group *group,
                        const struct orch_prior_spec *spec, struct found *out, GError **error)
{
    const int64_t rows = out->images * out->count;
    g_autofree float *locations = g_try_new(float, MAX(rows, 1) * 4);
    if (!locations)
        return no_memory(out->images, error);
    maps_gather(group, spec, 0, 4, locations);
    maps_gather(group, spec, 1, out->classes, out->scores);
    orch_detection_scores(out->scores, rows, out->classes, out->scores);
    for (int64_t i = 0; i < out->images; i++)
        orch_detection_boxes(priors, locations + i * out->count * 4, out->boxes + i * out->count);
    return true;
}

static bool decode_maps(const struct onnxrun_trial *t, const struct onnxrun_group *group,
                        struct found *out, GError **error)
{
    struct orch_output_shape shapes[ONNXRUN_OUTPUTS_MAX];
    struct orch_prior_spec spec;
    if (!maps_describe(t, group, shapes, error))
        return false;
    const int64_t priors_of_cell = MAX(shapes[0].channels / 4, 1);
    const int classes = (int)(shapes[1].channels / priors_of_cell);
    if (!orch_prior_spec_of_outputs((int)t->batch.shape[2], shapes, t->file->output_count, classes,
                                    &spec, error))
        return false;
    struct orch_priors *priors = orch_priors_new(&spec, error);
    const bool ok = priors && found_allocate(out, priors->count, classes, error) &&
                    decode_with(priors, group, &spec, out, error);
    orch_priors_free(priors);
    return ok;
}

/* ---- boxes and scores --------------------------------------------------------------------- */

static bool copy_boxes(const struct onnxrun_trial *t, const struct onnxrun_group *group,
                       struct found *out, GError **error)
{
    const int at = orch_onnxrun_role_of(t->file, 0) == ONNXRUN_LOCATIONS ? 0 : 1;
    const struct onnxrun_array *boxes = &group->outputs[at], *scores = &group->outputs[1 - at];
    if (boxes->rank != 3 || scores->rank != 3 || boxes->shape[2] != 4 || scores->shape[2] < 2 ||
        boxes->shape[1] != scores->shape[1])
        return no_detector(t, "boxes and scores do not belong together", error);
    if (!found_allocate(out, boxes->shape[1], (int)scores->shape[2], error))
        return false;
    for (int64_t i = 0; i < boxes->count / 4; i++) {
        const float *row = boxes->data + i * 4;
        out->boxes[i] = (struct orch_box){row[0], row[1], row[2], row[3]};
    }
    memcpy(out->scores, scores->data, sizeof(float) * (size_t)scores->count);
    return true;
}

/* ---- detections --------------------------------------------------------------------------- */

static bool find_in_group(const struct onnxrun_trial *t, struct onnxrun_group *group,
                          GError **error)
{
    struct found found = {.images = group->inputs.shape[0]};
    const bool has_rows = t->file->output_count == 2 && group->outputs[0].rank == 3;
    const bool ok =
        has_rows ? copy_boxes(t, group, &found, error) : decode_maps(t, group, &found, error);
    group->detections = g_array_new(FALSE, FALSE, sizeof(struct orch_detection));
    group->first = g_new0(int64_t, found.images + 1);
    for (int64_t i = 0; ok && i < found.images; i++) {
        orch_detections_pick(found.boxes + i * found.count,
                             found.scores + i * found.count * found.classes, found.count,
                             found.classes, &MEASURED, group->detections);
        group->first[i + 1] = group->detections->len;
    }
    group->classes = found.classes;
    found_clear(&found);
    return ok;
}

bool orch_onnxrun_detections_find(struct onnxrun_trial *t, GError **error)
{
    for (guint i = 0; orch_onnxrun_file_detects(t->file) && i < t->groups->len; i++)
        if (!find_in_group(t, &g_array_index(t->groups, struct onnxrun_group, i), error))
            return false;
    return true;
}

static void report_group(const struct onnxrun_trial *t, const struct onnxrun_group *group)
{
    const struct orch_sample_objects *objects = group->objects;
    struct orch_box_score *score = orch_box_score_new(group->classes, ORCH_BOX_SCORE_IOU);
    double map_2007, map_area;
    for (int64_t i = 0; i < group->inputs.shape[0]; i++) {
        const int64_t first = objects->first[i], found = group->first[i];
        const struct orch_detection *detections =
            &g_array_index(group->detections, struct orch_detection, found);
        orch_box_score_add(score, objects->boxes + first, objects->labels + first,
                           objects->is_difficult + first, objects->first[i + 1] - first, detections,
                           group->first[i + 1] - found);
    }
    orch_box_score_mean(score, &map_2007, &map_area);
    orch_box_score_free(score);
    if (!isnan(map_2007))
        t->host->result(t->host, "map", map_2007);
}

void orch_onnxrun_detections_report(const struct onnxrun_trial *t)
{
    for (guint i = 0; i < t->groups->len; i++) {
        const struct onnxrun_group *group = &g_array_index(t->groups, struct onnxrun_group, i);
        if (group->detections && group->objects)
            report_group(t, group);
    }
}
