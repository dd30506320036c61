/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/samples/sample_file.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <math.h>

/* Columns of the array of objects. */
enum { IMAGE, LABEL, LEFT, TOP, RIGHT, BOTTOM, DIFFICULT, COLUMNS };
#define OBJECTS_MAX (INT64_C(1) << 24)

/* ---- writing ------------------------------------------------------------------------------ */

static bool add_objects(struct orch_weights *file, const struct orch_sample_inputs *samples,
                        GError **error)
{
    const struct orch_box_batch *objects = samples->objects;
    if (objects->images != samples->count) {
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                       "%" G_GINT64_FORMAT " samples were made, but there are objects for this "
                       "number of images: %" G_GINT64_FORMAT,
                       samples->count, objects->images);
        return false;
    }
    const int64_t count = objects->first[objects->images], shape[] = {count, COLUMNS};
    if (!count) /* an array without values is none */
        return true;
    g_autofree float *rows = g_new(float, count *COLUMNS);
    for (int64_t image = 0; image < objects->images; image++)
        for (int64_t i = objects->first[image]; i < objects->first[image + 1]; i++) {
            const struct orch_box box = objects->boxes[i];
            float *row = rows + i * COLUMNS;
            row[IMAGE] = (float)image;
            row[LABEL] = (float)objects->labels[i];
            row[LEFT] = box.x1;
            row[TOP] = box.y1;
            row[RIGHT] = box.x2;
            row[BOTTOM] = box.y2;
            row[DIFFICULT] = samples->is_difficult && samples->is_difficult[i] ? 1 : 0;
        }
    g_autofree char *name = g_strconcat(samples->kind, "/objects", NULL);
    return orch_weights_add(file, name, ORCH_DTYPE_FLOAT32, 2, shape, rows, error);
}

bool orch_sample_file_add(struct orch_weights *file, const struct orch_sample_inputs *samples,
                          GError **error)
{
    const int64_t shape[] = {samples->count, samples->channels, samples->height, samples->width};
    g_autofree char *name = g_strconcat(samples->kind, "/input", NULL);
    return orch_weights_add(file, name, ORCH_DTYPE_FLOAT32, 4, shape, samples->inputs, error) &&
           (!samples->objects || add_objects(file, samples, error));
}

bool orch_sample_file_add_output(struct orch_weights *file, const char *kind, const char *name,
                                 int rank, const int64_t *shape, const float *data, GError **error)
{
    g_autofree char *full = g_strconcat(kind, "/output/", name, NULL);
    return orch_weights_add(file, full, ORCH_DTYPE_FLOAT32, rank, shape, data, error);
}

void orch_sample_file_set_classes(struct orch_weights *file, char *const *names)
{
    GString *text = g_string_new(NULL);
    for (int i = 0; names[i]; i++)
        g_string_append_printf(text, "%s%s", i ? "\n" : "", names[i]);
    g_hash_table_insert(file->metadata, g_strdup("classes"), g_string_free(text, FALSE));
}

static void set_reals(struct orch_weights *file, const char *key, const float *values, int count)
{
    GString *text = g_string_new(NULL);
    char number[ORCH_REAL_CHARS];
    for (int i = 0; i < count; i++)
        g_string_append_printf(text, "%s%s", i ? " " : "",
                               orch_real_format((double)values[i], number));
    g_hash_table_insert(file->metadata, g_strdup(key), g_string_free(text, FALSE));
}

void orch_sample_file_set_normalisation(struct orch_weights *file, int channels, const float *mean,
                                        const float *std)
{
    set_reals(file, "mean", mean, channels);
    set_reals(file, "std", std, channels);
}

/* ---- reading ------------------------------------------------------------------------------ */

static bool get_reals(const struct orch_weights *file, const char *key, int count, float *out)
{
    const char *text = g_hash_table_lookup(file->metadata, key);
    g_auto(GStrv) words = g_strsplit(text ? text : "", " ", -1);
    bool ok = (int)g_strv_length(words) == count;
    for (int i = 0; ok && i < count; i++) {
        double value = 0;
        ok = orch_real_parse(words[i], &value) && isfinite(value);
        out[i] = (float)value;
    }
    return ok;
}

bool orch_sample_file_normalisation(const struct orch_weights *file, int channels, float mean[3],
                                    float std[3])
{
    return channels >= 1 && channels <= 3 && get_reals(file, "mean", channels, mean) &&
           get_reals(file, "std", channels, std);
}

char **orch_sample_file_classes(const struct orch_weights *file)
{
    const char *text = g_hash_table_lookup(file->metadata, "classes");
    return text ? g_strsplit(text, "\n", -1) : NULL;
}

static bool row_is_proper(const float *row, int64_t previous, int64_t images)
{
    const struct orch_box box = {row[LEFT], row[TOP], row[RIGHT], row[BOTTOM]};
    return row[IMAGE] >= (float)previous && row[IMAGE] < (float)images &&
           row[IMAGE] == floorf(row[IMAGE]) && row[LABEL] >= 1 && row[LABEL] < 1e6F &&
           row[LABEL] == floorf(row[LABEL]) && orch_box_is_proper(box);
}

/* Rows are ordered by image. */
static bool take_rows(const struct orch_weight *array, const float *rows, int64_t images,
                      struct orch_sample_objects *out, GError **error)
{
    int64_t image = 0;
    for (int64_t i = 0; i < array->shape[0]; i++) {
        const float *row = rows + i * COLUMNS;
        if (!row_is_proper(row, image, images)) {
            orch_error_set(
                error, ORCH_ERROR_RECIPE,
                "rows: image, label, left, top, right, bottom, difficult; sorted by image",
                "array '%s': object %" G_GINT64_FORMAT
                " is not in order, or its image, label or box is not valid",
                array->name, i);
            return false;
        }
        while (image < (int64_t)row[IMAGE])
            out->first[++image] = i;
        out->boxes[i] = (struct orch_box){row[LEFT], row[TOP], row[RIGHT], row[BOTTOM]};
        out->labels[i] = (int32_t)row[LABEL];
        out->is_difficult[i] = row[DIFFICULT] != 0;
    }
    while (image < images)
        out->first[++image] = array->shape[0];
    return true;
}

struct orch_sample_objects *orch_sample_file_objects(const struct orch_weights *file,
                                                     const char *kind, int64_t count,
                                                     GError **error)
{
    g_autofree char *name = g_strconcat(kind, "/objects", NULL);
    const struct orch_weight *array = orch_weights_find(file, name);
    if (!array)
        return NULL;
    if (array->rank != 2 || array->shape[1] != COLUMNS || array->shape[0] > OBJECTS_MAX) {
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                       "array '%s' has another number of columns than %d, or too many rows", name,
                       COLUMNS);
        return NULL;
    }
    g_autofree float *rows = g_new(float, array->count + 1);
    struct orch_sample_objects *objects = g_new0(struct orch_sample_objects, 1);
    orch_weight_to_float(array, rows);
    objects->first = g_new0(int64_t, count + 1);
    objects->boxes = g_new0(struct orch_box, array->shape[0] + 1);
    objects->labels = g_new0(int32_t, array->shape[0] + 1);
    objects->is_difficult = g_new0(bool, array->shape[0] + 1);
    objects->batch =
        (struct orch_box_batch){count, objects->first, objects->boxes, objects->labels};
    if (!take_rows(array, rows, count, objects, error))
        g_clear_pointer(&objects, orch_sample_objects_free);
    return objects;
}

void orch_sample_objects_free(struct orch_sample_objects *objects)
{
    if (!objects)
        return;
    g_free(objects->first);
    g_free(objects->boxes);
    g_free(objects->labels);
    g_free(objects->is_difficult);
    g_free(objects);
}
