/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/onnxrun/answers.h"

#include "lib/base/text.h"
#include "plugins/onnxrun/roles.h"

#include <string.h>

enum { TOP = 5 };
#define BOX_SCORE 0.1F /* lowest score of a box in the table */
static const char OUTPUTS_FILE[] = "outputs.safetensors", ANSWERS_FILE[] = "answers.csv";

/* ---- outputs ------------------------------------------------------------------------------ */

static bool add_array(struct orch_weights *weights, char *name, const struct onnxrun_array *array,
                      GError **error)
{
    bool ok = orch_weights_add(weights, name, ORCH_DTYPE_FLOAT32, array->rank, array->shape,
                               array->data, error);
    g_free(name);
    return ok;
}

static bool add_group(const struct onnxrun_trial *t, struct orch_weights *weights,
                      const struct onnxrun_group *group, GError **error)
{
    bool ok = add_array(weights, g_strconcat(group->name, "/input", NULL), &group->inputs, error);
    for (int i = 0; ok && i < t->file->output_count; i++)
        ok = add_array(weights, g_strconcat(group->name, "/output/", t->file->outputs[i], NULL),
                       &group->outputs[i], error);
    return ok;
}

bool orch_onnxrun_outputs_write(const struct onnxrun_trial *t, GError **error)
{
    struct orch_weights *weights = orch_weights_new();
    bool ok = true;
    for (guint i = 0; ok && i < t->groups->len; i++)
        ok = add_group(t, weights, &g_array_index(t->groups, struct onnxrun_group, i), error);
    if (t->classes)
        orch_sample_file_set_classes(weights, t->classes);
    ok = ok && orch_weights_save(weights, OUTPUTS_FILE, false, error);
    if (ok)
        t->host->artifact(t->host, "outputs", OUTPUTS_FILE);
    orch_weights_free(weights);
    return ok;
}

static bool write_answers(const struct onnxrun_trial *t, const GString *csv, GError **error)
{
    if (!g_file_set_contents(ANSWERS_FILE, csv->str, (gssize)csv->len, error))
        return false;
    t->host->artifact(t->host, "answers", ANSWERS_FILE);
    return true;
}

/* ---- classes ------------------------------------------------------------------------------ */

/* The places of the `TOP` largest values, by falling value; returns their number. */
static int top_places(const float *row, int64_t width, int64_t out[TOP])
{
    int count = 0;
    for (int64_t i = 0; i < width; i++) {
        int at = count;
        while (at > 0 && row[i] > row[out[at - 1]])
            at--;
        if (at == TOP)
            continue;
        count = MIN(count + 1, TOP);
        memmove(out + at + 1, out + at, sizeof *out * (size_t)(count - at - 1));
        out[at] = i;
    }
    return count;
}

static void append_class(const struct onnxrun_trial *t, GString *csv, int64_t label)
{
    if (t->classes && label < (int64_t)g_strv_length(t->classes))
        orch_csv_append(csv, t->classes[label]);
    else
        g_string_append_printf(csv, "%" G_GINT64_FORMAT, label);
}

/* Returns how many of the inputs have their label on top. */
static int64_t append_group(const struct onnxrun_trial *t, const struct onnxrun_group *group,
                            GString *csv)
{
    const struct onnxrun_array *output = &group->outputs[0];
    const int64_t width = output->shape[1];
    int64_t right = 0, places[TOP];
    for (int64_t i = 0; i < output->shape[0]; i++) {
        const float *row = output->data + i * width;
        const int count = top_places(row, width, places);
        right += group->labels && places[0] == group->labels[i];
        for (int j = 0; j < count; j++) {
            char value[ORCH_REAL_CHARS];
            g_string_append_printf(csv, "%s,%" G_GINT64_FORMAT ",%d,", group->name, i, j + 1);
            append_class(t, csv, places[j]);
            g_string_append_printf(csv, ",%s\n", orch_real_format((double)row[places[j]], value));
        }
    }
    return right;
}

bool orch_onnxrun_classes_write(const struct onnxrun_trial *t, GError **error)
{
    const struct onnxrun_group *first = &g_array_index(t->groups, struct onnxrun_group, 0);
    if (t->file->output_count != 1 || first->outputs[0].rank != 2)
        return true;
    g_autoptr(GString) csv = g_string_new("inputs,number,rank,class,value\n");
    for (guint i = 0; i < t->groups->len; i++) {
        const struct onnxrun_group *group = &g_array_index(t->groups, struct onnxrun_group, i);
        const int64_t right = append_group(t, group, csv);
        if (group->labels)
            t->host->result(t->host, "accuracy", (double)right / (double)group->inputs.shape[0]);
    }
    return write_answers(t, csv, error);
}

/* ---- boxes -------------------------------------------------------------------------------- */

static void append_box(const struct onnxrun_trial *t, const char *group, int64_t number,
                       const struct orch_detection *detection, GString *csv)
{
    const struct orch_box box = detection->box;
    const float values[] = {detection->score, box.x1, box.y1, box.x2, box.y2};
    g_string_append_printf(csv, "%s,%" G_GINT64_FORMAT ",", group, number);
    append_class(t, csv, detection->label);
    for (unsigned i = 0; i < G_N_ELEMENTS(values); i++)
        g_string_append_printf(csv, ",%.5f", (double)values[i]);
    g_string_append_c(csv, '\n');
}

bool orch_onnxrun_boxes_write(const struct onnxrun_trial *t, GError **error)
{
    g_autoptr(GString) csv = g_string_new("inputs,number,class,score,left,top,right,bottom\n");
    if (!orch_onnxrun_file_detects(t->file))
        return true;
    for (guint g = 0; g < t->groups->len; g++) {
        const struct onnxrun_group *group = &g_array_index(t->groups, struct onnxrun_group, g);
        for (int64_t i = 0; i < group->inputs.shape[0]; i++)
            for (int64_t j = group->first[i]; j < group->first[i + 1]; j++) {
                const struct orch_detection *detection =
                    &g_array_index(group->detections, struct orch_detection, j);
                if (detection->score >= BOX_SCORE)
                    append_box(t, group->name, i, detection, csv);
            }
    }
    return write_answers(t, csv, error);
}
