/* SPDX-License-Identifier: MIT */
#include "core/host/logged_source.h"

#include "lib/base/file.h"
#include "lib/base/label_from.h"

#include <string.h>

enum {
    IMAGES_MAX = 64,
    IMAGE_BYTES_MAX = 16 << 20,
    SETTINGS_MAX = 1000,
    SETTING_BYTES_MAX = 4096,
    NAMES_MAX = 4096 /* of the series of a file */
};

/* ---- series --------------------------------------------------------------------------- */

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
    column->last.step = -1;
    if (source->logger->is_rewritten)
        column->passed = g_array_new(FALSE, FALSE, sizeof(struct value));
    g_hash_table_insert(source->columns, g_strdup(name), column);
    return column;
}

/* ---- sources -------------------------------------------------------------------------- */

void orch_logged_place_free(void *pointer)
{
    struct logged_place *place = pointer;
    g_free(place->path);
    g_free(place->id);
    g_free(place->name);
    g_free(place);
}

/* The place of that path and id, which is made when there is none. Takes `path` over. */
static struct logged_place *place_of(struct logged_files *all, char *path,
                                     const struct orch_logger *logger,
                                     const struct orch_log_run *run)
{
    for (guint i = 0; i < all->places->len; i++) {
        struct logged_place *place = all->places->pdata[i];
        if (strcmp(place->path, path) == 0 && strcmp(place->logger->name, logger->name) == 0 &&
            g_strcmp0(place->id, run ? run->id : NULL) == 0) {
            g_free(path);
            return place;
        }
    }
    struct logged_place *place = g_new0(struct logged_place, 1);
    place->path = path;
    place->id = run ? g_strdup(run->id) : NULL;
    place->name = run && *run->name ? g_strdup(run->name) : NULL;
    place->logger = logger;
    g_ptr_array_add(all->places, place);
    return place;
}

struct source *orch_logged_source_new(struct logged_files *all, const char *path,
                                      const struct orch_logger *logger, const struct source *whole,
                                      const struct orch_log_run *run)
{
    struct source *source = g_new0(struct source, 1);
    source->all = all;
    source->logger = logger;
    source->whole = whole ? whole : source;
    source->path = g_strdup(path);
    source->columns = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_column);
    if (!logger->read || run) /* a database by itself is no run */
        source->place =
            place_of(all, logger->place ? logger->place(path) : g_strdup(path), logger, run);
    g_ptr_array_add(all->sources, source);
    return source;
}

void orch_logged_source_free(void *pointer)
{
    struct source *source = pointer;
    orch_logged_file_free(source->file);
    g_hash_table_unref(source->columns);
    g_free(source->path);
    g_free(source);
}

/* ---- what the readers find ------------------------------------------------------------ */

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
    if (column && step == 0 && source->logger->defaults_to_0)
        step = column->zeros++; /* logged without steps, they are numbered */
    const struct value found = {step, value};
    if (!column || !column->series || was_passed(column, &found))
        return;
    double t_ms = time_s * 1e3 - (double)(source->all->started_ns / 1000) / 1e3;
    if (!orch_intake_logged(source->all->intake, column->series->spec, step, t_ms, value)) {
        column->series = NULL;
        return;
    }
    source->points++;
    source->place->points++;
    source->place->replaced += column->last.step == step && !is_same(&column->last, &found);
    column->last = found;
    if (!column->passed)
        return;
    g_array_append_val(column->passed, found);
    column->again = column->passed->len;
    if (++source->kept > LOGGED_VALUES_KEPT_MAX)
        g_clear_pointer(&column->passed, g_array_unref);
}

/* A value without a step, as it was read last. */
struct logged_result {
    struct logged_place *place;
    double value;
};

static void take_result(void *ctx, const char *name, double value)
{
    struct source *source = ctx;
    struct logged_files *all = source->all;
    g_autofree char *prefix = orch_logged_prefix(source), *longer = g_strconcat(prefix, name, NULL);
    g_autofree char *label = orch_label_from(name), *other = orch_label_from(longer);
    const struct logged_result *taken = g_hash_table_lookup(all->results, label);
    char **key = taken && taken->place != source->place ? &other : &label;
    const struct logged_result result = {source->place, value};
    if (g_hash_table_size(all->results) < NAMES_MAX)
        g_hash_table_insert(all->results, g_steal_pointer(key), g_memdup2(&result, sizeof result));
}

/* The last value of a series is no result of its own; some formats write "train/acc" as
 * "train.acc" there. */
void orch_logged_results(struct logged_files *all)
{
    GHashTableIter iter;
    gpointer label, result;
    g_hash_table_iter_init(&iter, all->results);
    while (g_hash_table_iter_next(&iter, &label, &result)) {
        if (orch_intake_has_spelling(all->intake, label))
            continue;
        const struct logged_result *found = result;
        const struct orch_metric_spec *spec = orch_intake_adopt(all->intake, label);
        if (!spec || orch_intake_is_reported(all->intake, spec))
            continue;
        orch_intake_result_logged(all->intake, spec, found->value);
        found->place->points++;
    }
}

/* Writes an image in place of the one before it. */
static void take_image(void *ctx, const char *name, int64_t step, const uint8_t *bytes,
                       size_t length)
{
    struct source *source = ctx;
    struct logged_files *all = source->all;
    g_autofree char *prefix =
        source->logger->has_folders ? orch_logged_prefix(source) : g_strdup("");
    g_autofree char *longer = g_strconcat(prefix, name, NULL), *label = orch_label_from(longer);
    const char *path = g_hash_table_lookup(all->images, g_strdelimit(label, "/", '_'));
    guint count = g_hash_table_size(all->images);
    (void)step;
    if (length > IMAGE_BYTES_MAX || (!path && count >= IMAGES_MAX))
        return;
    if (!path) {
        char *made = g_strdup_printf("%s/logged-image.%u", all->setup->trial_dir, count);
        path = made;
        g_hash_table_insert(all->images, g_steal_pointer(&label), made);
    }
    orch_file_write(path, bytes, length, false, NULL);
}

void orch_logged_images(struct logged_files *all)
{
    GHashTableIter iter;
    gpointer label, path;
    g_hash_table_iter_init(&iter, all->images);
    while (g_hash_table_iter_next(&iter, &label, &path))
        orch_intake_artifact_logged(all->intake, label, path);
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
    struct logged_files *all = source->all;
    const char *text = json_string_value(value);
    if (!*name || !g_utf8_validate(name, -1, NULL) || (text && strlen(text) > SETTING_BYTES_MAX))
        return;
    const struct logged_place *by = g_hash_table_lookup(all->set_by, name);
    bool is_others = by && by != source->place && !source->logger->has_folders &&
                     strcmp(by->logger->name, source->logger->name) == 0;
    g_autofree char *prefix = is_others ? orch_logged_prefix(source) : g_strdup("");
    g_autofree char *key = g_strconcat(prefix, name, NULL);
    if (json_object_size(all->settings) >= SETTINGS_MAX && !json_object_get(all->settings, key))
        return;
    json_object_set(all->settings, key, value);
    g_hash_table_insert(all->set_by, g_steal_pointer(&key), source->place);
}

static void take_about(void *ctx, const char *what, const char *text)
{
    struct logged_place *place = ((struct source *)ctx)->place;
    if (strcmp(what, "name") == 0 && !place->name && *text)
        place->name = g_strdup(text);
}

/* A run of a database becomes a source of its own. */
static void *take_run(void *ctx, const struct orch_log_run *run)
{
    struct source *source = ctx;
    return orch_logged_source_new(source->all, source->path, source->logger, source, run);
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
                                  .image = take_image,
                                  .purge = take_folder_purge,
                                  .setting = take_setting,
                                  .about = take_about,
                                  .run = take_run};
}
