/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The artifact `samples`: test images as the network reads them, their objects, and what the
 * trained network computes of them, for plugin onnxrun. */
#include "plugins/detect/detect.h"

#include "lib/net/net.h"
#include "plugins/common/samples/sample_file.h"

enum { SAMPLES = 16 };

/* Adds the outputs of the last forward. A map of one cell keeps its two axes of length 1. */
static bool add_outputs(const struct orch_detector *d, struct orch_weights *file, GError **error)
{
    for (int i = 0; i < 2 * d->spec.map_count; i++) {
        const struct orch_torch_array *output = &d->outputs[i];
        const int64_t cells = d->spec.maps[i / 2].cells;
        const int64_t shape[] = {output->shape[0], output->shape[1], cells, cells};
        if (!orch_sample_file_add_output(file, ORCH_SAMPLE_REAL, output->name, 4, shape,
                                         output->data, error))
            return false;
    }
    return true;
}

static bool add_batch(struct orch_detect *detect, const struct orch_scene_batch *batch,
                      struct orch_weights *file, GError **error)
{
    static const float mean[] = {ORCH_SCENE_MEAN / 255, ORCH_SCENE_MEAN / 255,
                                 ORCH_SCENE_MEAN / 255};
    static const float std[] = {ORCH_SCENE_DEVIATION / 255, ORCH_SCENE_DEVIATION / 255,
                                ORCH_SCENE_DEVIATION / 255};
    const struct orch_session_data *data = &detect->session->data;
    const struct orch_torch_batch images = {.images = batch->images, .count = batch->count};
    const struct orch_sample_inputs inputs = {.kind = ORCH_SAMPLE_REAL,
                                              .count = batch->count,
                                              .channels = data->channels,
                                              .height = data->height,
                                              .width = data->width,
                                              .inputs = batch->images,
                                              .objects = &batch->objects,
                                              .is_difficult = batch->is_difficult};
    orch_sample_file_set_classes(file, orch_object_data_names(detect->data));
    orch_sample_file_set_normalisation(file, data->channels, mean, std);
    return orch_sample_file_add(file, &inputs, error) &&
           orch_detector_forward(detect->detector, &images, ORCH_TORCH_INFER, error) &&
           add_outputs(detect->detector, file, error);
}

bool orch_detect_samples(struct orch_detect *detect, GError **error)
{
    const struct orch_host *host = detect->session->host;
    if (orch_object_data_images(detect->data, ORCH_OBJECTS_VAL) == 0)
        return true;
    struct orch_scene_loader *loader =
        orch_object_data_loader(detect->data, ORCH_OBJECTS_VAL, SAMPLES, error);
    struct orch_weights *file = orch_weights_new();
    struct orch_scene_batch batch;
    bool ok = loader != NULL;
    if (ok) {
        orch_scene_loader_start(loader, 0);
        ok = orch_scene_loader_next(loader, &batch, error) &&
             add_batch(detect, &batch, file, error) &&
             orch_weights_save(file, "samples.safetensors", false, error);
        orch_scene_loader_free(loader);
    }
    orch_weights_free(file);
    if (ok)
        host->artifact(host, "samples", "samples.safetensors");
    return ok;
}
