/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Losses and average precision on validation images. */
#include "plugins/detect/detect.h"

#include "lib/base/text.h"

#include <math.h>

static void add_detections(const struct orch_detect *detect, const struct orch_scene_batch *batch,
                           GArray *found, struct orch_box_score *score)
{
    const struct orch_detector *d = detect->detector;
    const struct detect_params *p = detect->params;
    const struct orch_detection_options options = {
        .score = (float)p->score,
        .iou = (float)p->nms_iou,
        .candidates = (int)p->candidates,
        .per_class = (int)p->per_class,
    };
    const struct orch_box_batch *objects = &batch->objects;
    for (int64_t i = 0; i < objects->images; i++) {
        const int64_t first = objects->first[i];
        g_array_set_size(found, 0);
        orch_detections_find(d->priors, d->locations + i * d->priors->count * 4,
                             d->confidences + i * d->priors->count * d->classes, d->classes,
                             &options, found);
        orch_box_score_add(score, objects->boxes + first, objects->labels + first,
                           batch->is_difficult + first, objects->first[i + 1] - first,
                           (const struct orch_detection *)(void *)found->data, found->len);
    }
}

static bool measure_batch(struct orch_detect *detect, const struct orch_scene_batch *batch,
                          GArray *found, struct orch_detect_measured *out, GError **error)
{
    struct orch_detector *d = detect->detector;
    const struct orch_multibox_options options = {d->classes, (float)detect->params->match_iou,
                                                  (float)detect->params->negatives};
    struct orch_multibox_loss loss;
    const struct orch_torch_batch images = {.images = batch->images, .count = batch->count};
    if (!orch_detector_forward(d, &images, ORCH_TORCH_INFER, error))
        return false;
    const struct orch_multibox_outputs outputs = {d->locations, d->confidences};
    if (!orch_multibox_loss(d->priors, &batch->objects, &options, &outputs, NULL, &loss, error))
        return false;
    out->loss.location += loss.location * (double)batch->count;
    out->loss.confidence += loss.confidence * (double)batch->count;
    out->loss.images += batch->count;
    add_detections(detect, batch, found, out->score);
    return true;
}

static bool measure_batches(struct orch_detect *detect, struct orch_scene_loader *loader,
                            bool on_all, struct orch_detect_measured *out, GError **error)
{
    const struct orch_host *host = detect->session->host;
    const bool is_test = orch_detect_is_mode(detect->params, "test");
    const double images = (double)orch_object_data_images(detect->data, ORCH_OBJECTS_VAL);
    struct orch_scene_batch batch;
    GError *problem = NULL;
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(struct orch_detection));
    orch_scene_loader_start(loader, 0);
    while (!out->is_cancelled && orch_scene_loader_next(loader, &batch, &problem) &&
           measure_batch(detect, &batch, found, out, &problem)) {
        if (is_test)
            host->progress(host, (double)out->loss.images, images);
        out->is_cancelled = on_all && (double)out->loss.images < images && host->cancelled(host);
    }
    if (problem)
        g_propagate_error(error, problem);
    return !problem;
}

bool orch_detect_measure(struct orch_detect *detect, bool on_all, struct orch_detect_measured *out,
                         GError **error)
{
    struct orch_scene_loader *loader =
        orch_object_data_loader(detect->data, on_all ? ORCH_OBJECTS_VAL : ORCH_OBJECTS_VAL_PART,
                                ORCH_DETECT_MEASURED_BATCH, error);
    if (!loader)
        return false;
    *out = (struct orch_detect_measured){
        .score = orch_box_score_new(detect->detector->classes, ORCH_BOX_SCORE_IOU)};
    const bool ok = measure_batches(detect, loader, on_all, out, error);
    orch_scene_loader_free(loader);
    if (!ok) {
        g_clear_pointer(&out->score, orch_box_score_free);
        return false;
    }
    orch_box_score_mean(out->score, &out->map_2007, &out->map_area);
    return true;
}

/* ---- report -------------------------------------------------------------------------------------
 */

/* Appends the line of a class to the artifact. A class without test objects has no average
 * precision, and its cells are empty. */
static void add_line(GString *csv, const struct orch_detect *detect, int label,
                     const struct orch_class_score *score)
{
    char ap[32] = "", area[32] = "", before[32] = "";
    if (detect->class_before && !isnan(detect->class_before[label]))
        g_ascii_formatd(before, sizeof before, "%.4f", detect->class_before[label]);
    if (!isnan(score->ap_2007)) {
        g_ascii_formatd(ap, sizeof ap, "%.4f", score->ap_2007);
        g_ascii_formatd(area, sizeof area, "%.4f", score->ap_area);
    }
    orch_csv_append(csv, orch_object_data_names(detect->data)[label]);
    g_string_append_printf(csv,
                           ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",%s,%s,%s,%" G_GINT64_FORMAT
                           ",%" G_GINT64_FORMAT "\n",
                           orch_object_data_objects(detect->data, ORCH_OBJECTS_TRAIN, label),
                           score->objects, before, ap, area, score->detections, score->hits);
}

static void report_class(const struct orch_host *host, int label,
                         const struct orch_class_score *score)
{
    if (isnan(score->ap_2007))
        return;
    host->metric(host, "class_ap", label, score->ap_2007);
    host->metric(host, "class_ap_area", label, score->ap_area);
}

bool orch_detect_report(struct orch_detect *detect, const struct orch_detect_measured *m,
                        GError **error)
{
    const struct orch_host *host = detect->session->host;
    g_autoptr(GString) csv = g_string_new("class,training objects,test objects,AP before (VOC "
                                          "2007),AP (VOC 2007),AP (area),detections,hits\n");
    for (int label = 1; label < detect->detector->classes; label++) {
        const struct orch_class_score score = orch_box_score_class(m->score, label);
        report_class(host, label, &score);
        add_line(csv, detect, label, &score);
    }
    if (!isnan(m->map_2007)) {
        host->result(host, "full_map", m->map_2007);
        host->result(host, "full_map_area", m->map_area);
    }
    if (m->loss.images)
        host->result(host, "full_loss",
                     (m->loss.location + m->loss.confidence) / (double)m->loss.images);
    if (!g_file_set_contents("classes.csv", csv->str, (gssize)csv->len, error))
        return false;
    host->artifact(host, "classes", "classes.csv");
    return true;
}
