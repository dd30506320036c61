/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/detect/detector.h"

#include "lib/net/net.h"

enum { VALUES = 4 }; /* of a box */

/* ---- making -------------------------------------------------------------------------------------
 */

bool orch_detector_spec(const struct orch_net *net, int image_size, int classes,
                        struct orch_prior_spec *out, GError **error)
{
    const int count = orch_net_output_count(net);
    g_autofree struct orch_output_shape *shapes = g_new0(struct orch_output_shape, count);
    for (int i = 0; i < count; i++) {
        const struct orch_net_shape shape = orch_net_output(net, i)->out;
        shapes[i] = (struct orch_output_shape){shape.c, shape.h, shape.w};
    }
    if (orch_prior_spec_of_outputs(image_size, shapes, count, classes, out, error))
        return true;
    g_prefix_error(error, "network '%s': ", net->name);
    return false;
}

struct orch_detector *orch_detector_new(const struct orch_session *s, GError **error)
{
    struct orch_detector *d = g_new0(struct orch_detector, 1);
    d->session = s;
    d->classes = (int)s->data.classes;
    d->outputs = g_new0(struct orch_torch_array, s->torch->output_count(s->model));
    if (orch_detector_spec(s->net, s->data.width, d->classes, &d->spec, error))
        d->priors = orch_priors_new(&d->spec, error);
    if (d->priors)
        return d;
    orch_detector_free(d);
    return NULL;
}

void orch_detector_free(struct orch_detector *d)
{
    if (!d)
        return;
    orch_priors_free(d->priors);
    g_free(d->rows);
    g_free(d->maps);
    g_free(d->outputs);
    g_free(d);
}

/* ---- forward and backward -----------------------------------------------------------------------
 */

/* Makes room for a batch, and lays out its rows. */
static void reserve(struct orch_detector *d, int64_t images)
{
    const int64_t rows = images * d->priors->count;
    if (images > d->capacity) {
        g_free(d->rows);
        g_free(d->maps);
        d->rows = g_new(float, rows *(VALUES + d->classes));
        d->maps = g_new(float, rows *(VALUES + d->classes));
        d->capacity = images;
    }
    d->images = images;
    d->locations = d->rows;
    d->confidences = d->rows + rows * VALUES;
}

bool orch_detector_forward(struct orch_detector *d, const struct orch_torch_batch *batch,
                           enum orch_torch_mode mode, GError **error)
{
    const struct orch_session *s = d->session;
    const float *maps[2][ORCH_PRIOR_MAPS_MAX];
    if (!s->torch->forward(s->model, batch, mode, false, d->outputs, error))
        return false;
    reserve(d, batch->count);
    for (int m = 0; m < d->spec.map_count; m++)
        for (int kind = 0; kind < 2; kind++)
            maps[kind][m] = d->outputs[2 * m + kind].data;
    orch_maps_gather(&d->spec, maps[0], d->images, VALUES, d->locations);
    orch_maps_gather(&d->spec, maps[1], d->images, d->classes, d->confidences);
    return true;
}

bool orch_detector_backward(struct orch_detector *d, const float *locations,
                            const float *confidences, GError **error)
{
    const struct orch_session *s = d->session;
    float *maps[2][ORCH_PRIOR_MAPS_MAX], *at = d->maps;
    for (int m = 0; m < d->spec.map_count; m++)
        for (int kind = 0; kind < 2; kind++) {
            struct orch_torch_array *output = &d->outputs[2 * m + kind];
            maps[kind][m] = at;
            output->data = at;
            output->is_on_device = false;
            at += output->shape[0] * output->shape[1] *
                  (output->rank == 4 ? output->shape[2] * output->shape[3] : 1);
        }
    orch_maps_scatter(&d->spec, locations, d->images, VALUES, maps[0]);
    orch_maps_scatter(&d->spec, confidences, d->images, d->classes, maps[1]);
    return s->torch->backward(s->model, d->outputs, s->torch->output_count(s->model), error);
}
