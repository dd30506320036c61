/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Builds training tables from runs, their artifacts, and data sets. */
#include "features/learn/learn_item.h"

#include "core/stats/group.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "store/write/dataset.h"

#include <math.h>
#include <string.h>

#define TABLE_BYTES_MAX (32 << 20) /* maximum size of one artifact */

char **orch_learn_texts(const json_t *spec, const char *key)
{
    const json_t *value = json_object_get(spec, key);
    GPtrArray *out = g_ptr_array_new();
    if (json_is_string(value))
        g_ptr_array_add(out, g_strdup(json_string_value(value)));
    for (size_t i = 0; i < json_array_size(value); i++)
        g_ptr_array_add(out, g_strdup(json_string_value(json_array_get(value, i))));
    g_ptr_array_add(out, NULL);
    return (char **)g_ptr_array_free(out, FALSE);
}

bool orch_learn_source_init(struct orch_learn_source *s, struct orch_section_context *a,
                            GError **error)
{
    *s = (struct orch_learn_source){.trials = orch_section_trials(a, "experiments", error),
                                    .section = a->section,
                                    .used = g_hash_table_new(NULL, NULL),
                                    .notes = g_ptr_array_new_with_free_func(g_free)};
    return s->trials;
}

void orch_learn_source_clear(struct orch_learn_source *s)
{
    g_free(s->text);
    g_free(s->missing);
    g_free(s->hint);
    g_ptr_array_unref(s->notes);
    orch_trials_free(s->trials);
    g_hash_table_unref(s->used);
}

void orch_learn_source_set_hint(struct orch_learn_source *s, const struct orch_section_context *a)
{
    static const char *const keys[] = {"experiments", NULL};
    if (!s->missing || s->hint || json_object_get(a->item->spec, "dataset"))
        return;
    s->hint = orch_section_hint(a, keys);
    if (!s->hint) /* all requested trials are done */
        s->hint = g_strdup_printf("more settings: orch run %s, without -x or with -x PARAM=A,B,...",
                                  a->plan->expansion->path);
}

void orch_learn_source_fail(struct orch_learn_source *s, const char *hint, const char *format, ...)
{
    if (s->missing)
        return;
    va_list args;
    va_start(args, format);
    s->missing = g_strdup_vprintf(format, args);
    va_end(args);
    s->hint = g_strdup(hint);
}

void orch_learn_csv_field(GString *csv, const char *text, bool is_first)
{
    if (!is_first)
        g_string_append_c(csv, ',');
    orch_csv_append(csv, text);
}

/* ---- runs ------------------------------------------------------------------------------------ */

const struct orch_run *orch_learn_use(struct orch_learn_source *source,
                                      struct orch_report_trial *trial)
{
    g_hash_table_add(source->used, trial);
    source->planned++;
    source->done += trial->run != NULL;
    orch_section_trial(source->section, source->trials, trial);
    return trial->run;
}

/* Removes the count from a device's name ("1x NVIDIA H200"), to match the hardware table. */
static char *device_name(char *where)
{
    if (!where || !g_str_has_prefix(where, "1x "))
        return where;
    char *name = g_strdup(where + 3);
    g_free(where);
    return name;
}

char *orch_learn_run_value(struct orch_store *store, const struct orch_run *run, const char *name)
{
    char *value = orch_run_field(store, run, name);
    if (strcmp(name, "gpu") == 0)
        value = device_name(value);
    return value ? value : g_strdup("");
}

bool orch_learn_add_artifact(GString *csv, struct orch_store *store, const struct orch_run *run,
                             const char *artifact, char **features,
                             struct orch_learn_source *source)
{
    bool is_gone;
    g_autofree char *path = orch_run_artifact(store, run, artifact, &is_gone);
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    if (is_gone)
        g_ptr_array_add(source->notes,
                        g_strdup_printf("artifact '%s' of run %s is not here", artifact, run->key));
    if (!path)
        return false;
    if (!orch_file_read(path, TABLE_BYTES_MAX, &text, NULL, &error)) {
        g_ptr_array_add(source->notes, g_strdup(error->message));
        return false;
    }
    if (!*text)
        return false;
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    GString *front = g_string_new(NULL), *names = g_string_new(NULL);
    for (int i = 0; features[i]; i++) {
        g_autofree char *value = orch_learn_run_value(store, run, features[i]);
        orch_learn_csv_field(names, features[i], i == 0);
        orch_learn_csv_field(front, value, i == 0);
    }
    const char *comma = *features ? "," : "";
    for (int i = csv->len ? 1 : 0; lines[i]; i++)
        if (*lines[i])
            g_string_append_printf(csv, "%s%s%s\n", i ? front->str : names->str, comma, lines[i]);
    g_string_free(front, TRUE);
    g_string_free(names, TRUE);
    return true;
}

/* ---- data sets ------------------------------------------------------------------------------- */

static void add_value(GString *csv, const struct orch_dataset_column *column, size_t row,
                      bool is_first)
{
    char text[ORCH_REAL_CHARS];
    const char *value = column->is_text ? column->texts[row]
                        : isnan(column->numbers[row])
                            ? ""
                            : orch_real_format(column->numbers[row], text);
    orch_learn_csv_field(csv, value ? value : "", is_first);
}

static GString *set_csv(const struct orch_dataset *set, size_t step)
{
    GString *csv = g_string_new(NULL);
    g_autoptr(GPtrArray) columns = g_ptr_array_new();
    for (guint c = 0; c < set->columns->len; c++)
        if (!orch_dataset_column(set, c)->left_out)
            g_ptr_array_add(columns, (gpointer)(uintptr_t)orch_dataset_column(set, c));
    for (guint c = 0; c < columns->len; c++)
        orch_learn_csv_field(csv, ((const struct orch_dataset_column *)columns->pdata[c])->name,
                             c == 0);
    orch_learn_csv_field(csv, set->target, !columns->len);
    g_string_append_c(csv, '\n');
    for (size_t i = 0; i < set->rows; i += step) {
        char text[ORCH_REAL_CHARS];
        for (guint c = 0; c < columns->len; c++)
            add_value(csv, columns->pdata[c], i, c == 0);
        orch_learn_csv_field(csv, orch_real_format(set->targets[i], text), !columns->len);
        g_string_append_c(csv, '\n');
    }
    return csv;
}

GString *orch_learn_dataset_csv(struct orch_store *store, const char *name, const char *target,
                                size_t most, struct orch_learn_source *source)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *hint = g_strdup_printf("orch import %s.csv --target %s", name, target);
    struct orch_dataset *set = store ? orch_store_dataset(store, name, &error) : NULL;
    if (!set) {
        orch_learn_source_fail(source, hint, "the store has no data set '%s'", name);
        return NULL;
    }
    if (strcmp(set->target, target) != 0) {
        orch_learn_source_fail(source, hint, "the target of data set '%s' is '%s', not '%s'", name,
                               set->target, target);
        orch_dataset_free(set);
        return NULL;
    }
    size_t step = most && set->rows > most ? (set->rows + most - 1) / most : 1;
    GString *csv = set_csv(set, step);
    source->text = step > 1 ? g_strdup_printf("data set '%s', one in %zu of its %zu rows", name,
                                              step, set->rows)
                            : g_strdup_printf("data set '%s'", name);
    orch_dataset_free(set);
    return csv;
}
