/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/onnxrun/compare.h"

#include "lib/base/error.h"
#include "plugins/onnxrun/roles.h"

#include <math.h>

static int64_t top_of(const float *row, struct onnxrun_rows rows)
{
    int64_t best = 0;
    for (int64_t k = 1; k < rows.classes; k++)
        best = row[k * rows.stride] > row[best * rows.stride] ? k : best;
    return best;
}

/* The classes of an output: of a detector's map they are parts of the channels, of other maps the
 * channels, else the last axis. Offsets have none. */
static struct onnxrun_rows rows_of(const struct onnxrun_trial *t, const struct onnxrun_group *group,
                                   int index)
{
    const struct onnxrun_array *output = &group->outputs[index];
    const bool is_map = output->rank == 4, is_cell = group->detections && output->rank == 2;
    if (output->rank < 2 || orch_onnxrun_role_of(t->file, index) == ONNXRUN_LOCATIONS)
        return (struct onnxrun_rows){0, 1};
    const int64_t axis = is_map || is_cell ? output->shape[1] : output->shape[output->rank - 1];
    const bool has_parts = group->detections && (is_map || is_cell) && group->classes > 0 &&
                           axis % group->classes == 0;
    return (struct onnxrun_rows){has_parts ? group->classes : axis,
                                 is_map ? output->shape[2] * output->shape[3] : 1};
}

void orch_onnxrun_difference_add(struct onnxrun_difference *sum, const float *got,
                                 const float *expected, int64_t count, struct onnxrun_rows rows)
{
    for (int64_t i = 0; i < count; i++) {
        const double size = fabs((double)expected[i]);
        const double difference = fabs((double)got[i] - (double)expected[i]);
        sum->absolute = MAX(sum->absolute, difference);
        sum->tolerance = MAX(sum->tolerance, difference / (size + ONNXRUN_ABSOLUTE_SHARE));
        if (size > 0)
            sum->relative = MAX(sum->relative, difference / size);
    }
    sum->values += count;
    for (int64_t j = 0; rows.classes > 0 && j < count / rows.classes; j++) {
        const int64_t at = j / rows.stride * rows.classes * rows.stride + j % rows.stride;
        sum->rows++;
        sum->same_top += top_of(got + at, rows) == top_of(expected + at, rows);
    }
}

static int64_t first_not_finite(const struct onnxrun_array *array)
{
    for (int64_t i = 0; i < array->count; i++)
        if (!isfinite(array->data[i]))
            return i;
    return -1;
}

static bool expected_fits(const struct onnxrun_trial *t, const struct onnxrun_group *group,
                          int index, GError **error)
{
    const struct onnxrun_array *got = &group->outputs[index], *expected = &group->expected[index];
    if (got->count != expected->count) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "compare with the network that was exported",
                       "%s: output '%s' has %" G_GINT64_FORMAT
                       " values, but the output of the reference has %" G_GINT64_FORMAT,
                       group->name, t->file->outputs[index], got->count, expected->count);
        return false;
    }
    const int64_t at = first_not_finite(expected);
    if (at < 0)
        return true;
    orch_error_set(error, ORCH_ERROR_CHECK, "train the network again, with a smaller learning rate",
                   "%s: output '%s' of the reference is not finite for input %" G_GINT64_FORMAT,
                   group->name, t->file->outputs[index], at / onnxrun_each(expected));
    return false;
}

static void report(const struct onnxrun_trial *t, const char *group,
                   const struct onnxrun_difference *d)
{
    const struct {
        const char *name;
        double value;
    } results[] = {{"absolute", d->absolute},
                   {"relative", d->relative},
                   {"tolerance", d->tolerance},
                   {"same_top", d->rows ? (double)d->same_top / (double)d->rows : (double)NAN}};
    for (unsigned i = 0; i < G_N_ELEMENTS(results); i++) {
        g_autofree char *name = g_strdup_printf("%s_%s", group, results[i].name);
        if (!isnan(results[i].value))
            t->host->result(t->host, name, results[i].value);
    }
}

bool orch_onnxrun_groups_compare(const struct onnxrun_trial *t, GError **error)
{
    for (guint g = 0; g < t->groups->len; g++) {
        const struct onnxrun_group *group = &g_array_index(t->groups, struct onnxrun_group, g);
        struct onnxrun_difference sum = {0};
        for (int i = 0; i < t->file->output_count; i++) {
            const struct onnxrun_array *got = &group->outputs[i], *expected = &group->expected[i];
            if (!expected->data)
                continue;
            if (!expected_fits(t, group, i, error))
                return false;
            orch_onnxrun_difference_add(&sum, got->data, expected->data, got->count,
                                        rows_of(t, group, i));
        }
        if (sum.values)
            report(t, group->name, &sum);
    }
    return true;
}

int64_t orch_onnxrun_groups_not_finite(const struct onnxrun_trial *t, char **out_where)
{
    int64_t count = 0;
    *out_where = NULL;
    for (guint g = 0; g < t->groups->len; g++) {
        const struct onnxrun_group *group = &g_array_index(t->groups, struct onnxrun_group, g);
        for (int i = 0; i < t->file->output_count; i++) {
            const struct onnxrun_array *output = &group->outputs[i];
            const int64_t at = first_not_finite(output);
            if (at >= 0 && !*out_where)
                *out_where = g_strdup_printf(
                    "output '%s' of '%s' for input %" G_GINT64_FORMAT " of the %s inputs",
                    t->file->outputs[i], t->file->path, at / onnxrun_each(output), group->name);
            for (int64_t j = MAX(at, 0); at >= 0 && j < output->count; j++)
                count += !isfinite(output->data[j]);
        }
    }
    return count;
}
