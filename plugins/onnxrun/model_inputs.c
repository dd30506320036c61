/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/onnxrun/model_inputs.h"

#include "lib/base/error.h"
#include "plugins/common/data/image_set.h"
#include "plugins/common/data/loader.h"
#include "plugins/common/data/random.h"
#include "plugins/common/training/notes.h"

#include <math.h>
#include <string.h>

enum { SMOKE_COUNT = 2 };

void orch_onnxrun_group_clear(void *pointer)
{
    struct onnxrun_group *group = pointer;
    g_free(group->name);
    g_free(group->inputs.data);
    g_free(group->labels);
    g_free(group->first);
    orch_sample_objects_free(group->objects);
    if (group->detections)
        g_array_unref(group->detections);
    for (int i = 0; i < ONNXRUN_OUTPUTS_MAX; i++) {
        g_free(group->outputs[i].data);
        g_free(group->expected[i].data);
    }
}

static int64_t count_of(const struct onnxrun_trial *t)
{
    return t->host->smoke(t->host) ? SMOKE_COUNT : t->p->count;
}

/* Makes a group with room for `count` inputs of the shape of a batch. */
static bool group_init(const struct onnxrun_trial *t, const char *name, int64_t count,
                       struct onnxrun_group *out, GError **error)
{
    struct onnxrun_group group = {.inputs = t->batch};
    group.inputs.shape[0] = count;
    group.inputs.count = t->batch.count / t->batch.shape[0] * count;
    group.inputs.data = g_try_new(float, group.inputs.count);
    if (!group.inputs.data) {
        orch_error_set(error, ORCH_ERROR_TRIAL, "lower 'count'",
                       "%" G_GINT64_FORMAT " inputs of '%s' do not fit in memory", count,
                       t->file->path);
        return false;
    }
    group.name = g_strdup(name);
    *out = group;
    return true;
}

/* ---- random inputs ------------------------------------------------------------------------ */

/* Normal numbers: the size of pixels that are normalised. */
static bool add_random(struct onnxrun_trial *t, GError **error)
{
    struct onnxrun_group group;
    if (!group_init(t, ORCH_SAMPLE_RANDOM, count_of(t), &group, error))
        return false;
    uint64_t random = t->host->derive_seed(t->host, "inputs");
    for (int64_t i = 0; i < group.inputs.count; i++)
        group.inputs.data[i] = (float)orch_random_normal(&random);
    g_array_append_val(t->groups, group);
    return true;
}

/* ---- images ------------------------------------------------------------------------------- */

/* The test images of a set; of a folder in the size of the network's input. */
static struct orch_image_set_options options_of(const struct onnxrun_params *p,
                                                const struct onnxrun_array *batch)
{
    const struct orch_image_set_facts *facts = orch_image_set_find(p->images);
    const bool has_sides = batch && batch->rank == 4;
    return (struct orch_image_set_options){.name = facts ? facts->name : p->images,
                                           .root = p->data_root,
                                           .split = ORCH_SPLIT_TEST,
                                           .channels = has_sides ? (int)batch->shape[1] : 0,
                                           .height = has_sides ? (int)batch->shape[2] : 0,
                                           .width = has_sides ? (int)batch->shape[3] : 0};
}

static bool set_fits(const struct onnxrun_trial *t, const struct orch_image_set *set,
                     GError **error)
{
    const int64_t *wanted = t->batch.shape;
    if (t->batch.rank == 4 && set->channels == wanted[1] && set->height == wanted[2] &&
        set->width == wanted[3])
        return true;
    orch_error_set(
        error, ORCH_ERROR_RECIPE, "choose the data set that the network was trained on",
        "the images of '%s' have %d x %d x %d values, which do not fit input '%s' of '%s'",
        set->name, set->channels, set->height, set->width, t->file->input, t->file->path);
    return false;
}

/* Copies the first images of a random order, normalised as for training. */
static bool copy_images(struct onnxrun_trial *t, struct orch_subset *subset, GError **error)
{
    const struct orch_loader_options options = {.batch = 1};
    struct onnxrun_group group;
    if (!group_init(t, ORCH_SAMPLE_REAL, subset->count, &group, error))
        return false;
    struct orch_loader *loader = orch_loader_new(subset, &options, error);
    if (!loader) {
        orch_onnxrun_group_clear(&group);
        return false;
    }
    const int64_t each = onnxrun_each(&group.inputs);
    struct orch_loader_batch batch;
    group.labels = g_new(int32_t, subset->count);
    orch_loader_start(loader, 0);
    for (int64_t i = 0; orch_loader_next(loader, &batch); i++) {
        memcpy(group.inputs.data + i * each, batch.images, sizeof(float) * (size_t)each);
        group.labels[i] = (int32_t)batch.labels[0];
    }
    orch_loader_free(loader);
    g_array_append_val(t->groups, group);
    return true;
}

static bool add_images(struct onnxrun_trial *t, GError **error)
{
    const struct orch_image_set_options options = options_of(t->p, &t->batch);
    struct orch_image_set *set = orch_image_set_open(&options, error);
    struct orch_subset *subset = NULL;
    bool ok = set && set_fits(t, set, error) &&
              (subset = orch_subset_new(set, NULL, 0, 0, 0, error)) != NULL;
    if (ok) {
        orch_subset_limit(subset, count_of(t), t->host->derive_seed(t->host, "subset"));
        ok = copy_images(t, subset, error);
        if (!t->classes)
            t->classes = g_strdupv(set->class_names);
    }
    orch_subset_free(subset);
    orch_image_set_free(set);
    return ok;
}

bool orch_onnxrun_inputs_digest(const struct onnxrun_params *p, const struct orch_host *host,
                                GError **error)
{
    char digest[65];
    if (!p->images || host->smoke(host))
        return true;
    const struct orch_image_set_options options = options_of(p, NULL);
    if (!orch_image_set_digest(&options, orch_training_file_digest, (void *)(uintptr_t)host, digest,
                               error))
        return false;
    host->input(host, "images", digest);
    return true;
}

/* ---- a file of samples -------------------------------------------------------------------- */

static bool misfit(const struct onnxrun_trial *t, const char *name, const char *what,
                   GError **error)
{
    orch_error_set(error, ORCH_ERROR_RECIPE, "see 'orch plugin show onnxrun', parameter samples",
                   "'%s': array '%s' %s", t->p->samples, name, what);
    return false;
}

/* Copies an array of the file as floats. */
static bool copy_array(const struct onnxrun_trial *t, const struct orch_weight *weight,
                       struct onnxrun_array *out, GError **error)
{
    if (weight->rank < 1 || weight->rank > ONNXRUN_RANK_MAX || weight->count < 1 ||
        weight->count > ONNXRUN_COUNT_MAX)
        return misfit(t, weight->name, "has no values, no axis or too many", error);
    out->rank = weight->rank;
    out->count = weight->count;
    memcpy(out->shape, weight->shape, sizeof(int64_t) * (size_t)weight->rank);
    out->data = g_new(float, out->count);
    orch_weight_to_float(weight, out->data);
    return true;
}

static bool copy_expected(const struct onnxrun_trial *t, const struct orch_weights *weights,
                          struct onnxrun_group *group, GError **error)
{
    for (int i = 0; i < t->file->output_count; i++) {
        g_autofree char *name = g_strdup_printf("%s/output/%s", group->name, t->file->outputs[i]);
        const struct orch_weight *weight = orch_weights_find(weights, name);
        if (weight && !copy_array(t, weight, &group->expected[i], error))
            return false;
        if (weight && weight->shape[0] != group->inputs.shape[0])
            return misfit(t, name, "has another number of rows than the input", error);
    }
    return true;
}

static bool copy_objects(const struct orch_weights *file, struct onnxrun_group *group,
                         GError **error)
{
    GError *problem = NULL;
    group->objects = orch_sample_file_objects(file, group->name, group->inputs.shape[0], &problem);
    if (problem)
        g_propagate_error(error, problem);
    return !problem;
}

static bool add_sample_group(struct onnxrun_trial *t, const struct orch_weights *file,
                             const struct orch_weight *input, GError **error)
{
    struct onnxrun_group group = {
        .name = g_strndup(input->name, strlen(input->name) - strlen("/input"))};
    bool ok = copy_array(t, input, &group.inputs, error);
    if (ok && (group.inputs.rank != t->batch.rank ||
               memcmp(group.inputs.shape + 1, t->batch.shape + 1,
                      sizeof(int64_t) * (size_t)(t->batch.rank - 1)) != 0)) {
        g_autofree char *shape = orch_weight_shape_format(input->rank, input->shape);
        g_autofree char *what =
            g_strdup_printf("has shape %s, which does not fit input '%s' of '%s'", shape,
                            t->file->input, t->file->path);
        ok = misfit(t, input->name, what, error);
    }
    ok = ok && copy_expected(t, file, &group, error) && copy_objects(file, &group, error);
    if (ok)
        g_array_append_val(t->groups, group);
    else
        orch_onnxrun_group_clear(&group);
    return ok;
}

/* Random inputs are drawn where the file has none. */
static bool add_samples(struct onnxrun_trial *t, GError **error)
{
    struct orch_weights *file = orch_weights_load(t->p->samples, error);
    if (!file)
        return false;
    const struct orch_weight *random = orch_weights_find(file, ORCH_SAMPLE_RANDOM "/input");
    const struct orch_weight *real = orch_weights_find(file, ORCH_SAMPLE_REAL "/input");
    bool ok = random || real;
    if (!ok)
        misfit(t, ORCH_SAMPLE_REAL "/input", "is not there, nor " ORCH_SAMPLE_RANDOM "/input",
               error);
    else if (!random)
        ok = add_random(t, error);
    ok = ok && (!random || add_sample_group(t, file, random, error)) &&
         (!real || add_sample_group(t, file, real, error));
    if (!t->classes)
        t->classes = orch_sample_file_classes(file);
    t->has_normalisation =
        t->batch.rank == 4 &&
        orch_sample_file_normalisation(file, (int)MIN(t->batch.shape[1], 4), t->mean, t->std);
    orch_weights_free(file);
    return ok;
}

bool orch_onnxrun_inputs_make(struct onnxrun_trial *t, GError **error)
{
    if (!t->classes)
        t->classes = g_strdupv(t->file->classes);
    if (t->p->samples)
        return add_samples(t, error);
    return add_random(t, error) && (!t->p->images || add_images(t, error));
}
