/* SPDX-License-Identifier: MIT */
#include "core/host/logged_source.h"

#include "lib/base/label_from.h"

#include <string.h>

enum {
    SETTINGS_MAX = 1000,
    SETTING_BYTES_MAX = 4096,
    NAMES_MAX = 4096 /* of the series of a file */
};

/* ---- series -----------------------------------------------------------------------------------
 */

static void free_column(gpointer data)
{
    struct column *column = data;
    g_clear_pointer(&column->passed, g_array_unref);
    g_free(column);
}

static struct column *column_of(struct source *source, const char *name)
{
    struct column *column = g_hash_table_lookup(source->columns, name);
    if (column || g_hash_table_size(source->columns) >= NAMES_MAX)
        return column;
    column = g_new0(struct column, 1);
    column->series = orch_logged_series(source, name);
    if (source->logger->is_rewritten)
        column->passed = g_array_new(FALSE, FALSE, sizeof(struct value));
    g_hash_table_insert(source->columns, g_strdup(name), column);
    return column;
}

GHashTable *orch_logged_columns(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_column);
}

/* ---- what the readers find --------------------------------------------------------------------
 */

static bool is_same(const struct value *a, const struct value *b)
{
    return a->step == b->step && memcmp(&a->value, &b->value, sizeof a->value) == 0;
}

/* True for a value that was taken before the file was written anew. Another one in its place ends
 * the comparison: the file then holds new values. */
static bool was_passed(struct column *column, const struct value *value)
{
    const GArray *passed = column->passed;
    if (!passed || column->again >= passed->len)
        return false;
    if (is_same(&g_array_index(passed, struct value, column->again), value)) {
        column->again++;
        return true;
    }
    g_array_set_size(column->passed, column->again);
    return false;
}

static void take_point(void *ctx, const char *name, int64_t step, double time_s, double value)
{
    struct source *source = ctx;
    struct column *column = column_of(source, name);
    const struct value found = {step, value};
    if (!column || !column->series || was_passed(column, &found))
        return;
    double t_ms = time_s * 1e3 - (double)(source->all->started_ns / 1000) / 1e3;
    if (!orch_intake_logged(source->all->intake, column->series->spec, step, t_ms, value)) {
        column->series = NULL;
        return;
    }
    source->points++;
    if (!column->passed)
        return;
    g_array_append_val(column->passed, found);
    column->again = column->passed->len;
    if (++source->kept > LOGGED_VALUES_KEPT_MAX)
        g_clear_pointer(&column->passed, g_array_unref);
}

static void take_result(void *ctx, const char *name, double value)
{
    struct source *source = ctx;
    struct logged_files *all = source->all;
    g_autofree char *label = orch_label_from(name);
    const struct orch_metric_spec *spec = orch_intake_adopt(all->intake, label);
    if (spec && !g_hash_table_contains(all->series, label) &&
        !orch_intake_is_reported(all->intake, spec))
        g_hash_table_insert(all->results, (gpointer)(uintptr_t)spec,
                            g_memdup2(&value, sizeof value));
}

void orch_logged_purge(struct source *source, int64_t step)
{
    GHashTableIter iter;
    gpointer column;
    g_hash_table_iter_init(&iter, source->columns);
    while (g_hash_table_iter_next(&iter, NULL, &column))
        if (((struct column *)column)->series)
            orch_intake_purge_logged(source->all->intake, ((struct column *)column)->series->spec,
                                     step);
}

/* A resumed run writes to another file of the folder: what the others hold is purged, too. */
static void take_folder_purge(void *ctx, int64_t step)
{
    struct source *source = ctx;
    g_autofree char *folder = g_path_get_dirname(source->path);
    for (guint i = 0; i < source->all->sources->len; i++) {
        struct source *other = source->all->sources->pdata[i];
        g_autofree char *its = g_path_get_dirname(other->path);
        if (other->logger == source->logger && strcmp(folder, its) == 0)
            orch_logged_purge(other, step);
    }
}

static void take_setting(void *ctx, const char *name, json_t *value)
{
    struct source *source = ctx;
    json_t *settings = source->all->settings;
    bool fits = json_object_size(settings) < SETTINGS_MAX || json_object_get(settings, name);
    const char *text = json_string_value(value);
    if (fits && *name && g_utf8_validate(name, -1, NULL) &&
        (!text || strlen(text) <= SETTING_BYTES_MAX))
        json_object_set(settings, name, value);
}

void orch_logged_again(void *ctx)
{
    struct source *source = ctx;
    GHashTableIter iter;
    gpointer column;
    if (source->kept > LOGGED_VALUES_KEPT_MAX)
        orch_logged_file_stop(source->file, "it was written anew after 2,000,000 values");
    g_hash_table_iter_init(&iter, source->columns);
    while (g_hash_table_iter_next(&iter, NULL, &column))
        ((struct column *)column)->again = 0;
}

struct orch_log_sink orch_logged_sink(struct source *source)
{
    return (struct orch_log_sink){.ctx = source,
                                  .point = take_point,
                                  .result = take_result,
                                  .purge = take_folder_purge,
                                  .setting = take_setting};
}
