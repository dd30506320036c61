/* SPDX-License-Identifier: MIT */
#include "core/host/logged_files.h"

#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/label_from.h"
#include "lib/base/text.h"
#include "lib/loggers/logged_file.h"
#include "lib/watch/watch_memory.h"
#include "lib/wire/verdict.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CANDIDATES_MAX = 1000,
    FILES_MAX = 200,
    FACTS_MAX = 50,
    SETTINGS_MAX = 1000,
    SETTING_BYTES_MAX = 4096,
    NAMES_MAX = 4096,          /* of the series of a file */
    VALUES_KEPT_MAX = 2000000, /* of a file that may be written anew */
    READ_BYTES = 4 << 20,      /* of a file at once, while the trial runs */
};
static const int64_t SECOND_NS = INT64_C(1000000000), FINISH_NS = INT64_C(60000000000);

/* A metric whose points come from files. */
struct series {
    const struct orch_metric_spec *spec;
    const void *owner; /* its file, or the format of a tree of folders */
    const struct orch_logger *logger;
};

struct value {
    int64_t step;
    double value;
};

/* A series as it stands in one file. */
struct column {
    struct series *series; /* NULL: its values are not taken */
    GArray *passed;        /* struct value: those that were taken; NULL: they are not kept */
    guint again;           /* of those, how many were met in a file that was written anew */
};

struct source {
    struct logged_files *all;
    const struct orch_logger *logger;
    struct logged_file *file;
    char *path;          /* as others see it */
    GHashTable *columns; /* name -> struct column * */
    int64_t points;
    guint kept;
};

struct candidate {
    char *path;
    off_t looked_bytes; /* its size when it was looked at last; -1: not yet */
    bool is_over;       /* nothing more is to be found out about it */
    bool is_extended;   /* it was there before the trial, which appends to it */
};

struct logged_files {
    const struct child_setup *setup;
    struct intake *intake;
    const struct orch_watch_memory *memory;
    int64_t started_ns, due_ns;
    uint64_t cursor; /* of the memory, when it was looked at */
    bool was_changed;
    GPtrArray *candidates; /* struct candidate * */
    GHashTable *known;     /* path -> struct candidate *; borrowed from the list */
    GPtrArray *sources;    /* struct source * */
    GHashTable *series;    /* label -> struct series * */
    GHashTable *results;   /* struct orch_metric_spec * -> double * */
    json_t *settings, *unlogged;
    bool is_ending;
};

/* ---- names ------------------------------------------------------------------------------------
 */

/* The folder of a file, or its path without the end of its name, as a list of words. */
static char **words_of(const char *path, bool is_folder)
{
    g_autofree char *folder = g_path_get_dirname(path);
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    size_t stem = dot && slash && dot > slash ? (size_t)(dot - path) : strlen(path);
    g_autofree char *whole = is_folder ? g_strdup(folder) : g_strndup(path, stem);
    return g_strsplit(whole, "/", -1);
}

/* What distinguishes a place from the first one of its kind: its words without the common ones at
 * the beginning and the end, and without times. The caller frees. */
static char *prefix_of(const char *first, const char *path, bool is_folder)
{
    g_auto(GStrv) a = words_of(first, is_folder);
    g_auto(GStrv) b = words_of(path, is_folder);
    size_t begin = 0, end = g_strv_length(b), other = g_strv_length(a);
    GString *out = g_string_new(NULL);
    while (begin < end && begin < other && strcmp(a[begin], b[begin]) == 0)
        begin++;
    while (end > begin && other > begin && strcmp(a[other - 1], b[end - 1]) == 0) {
        end--;
        other--;
    }
    for (; begin < end; begin++)
        if (strspn(b[begin], "0123456789.") != strlen(b[begin]))
            g_string_append_printf(out, "%s/", b[begin]);
    return g_string_free(out, FALSE);
}

static const struct source *first_of(const struct source *source)
{
    for (guint i = 0; i < source->all->sources->len; i++) {
        const struct source *other = source->all->sources->pdata[i];
        if (other->logger == source->logger)
            return other;
    }
    return source;
}

/* The series of that label, which is made for this source when there is none. NULL when the trial
 * can have no such metric, or reports it itself. */
static struct series *series_of(struct source *source, const char *name)
{
    struct logged_files *all = source->all;
    g_autofree char *label = orch_label_from(name);
    struct series *series = g_hash_table_lookup(all->series, label);
    struct orch_metric_spec *spec = series ? NULL : orch_intake_adopt(all->intake, label);
    if (series || !spec || !orch_intake_begin_logged(all->intake, spec))
        return series;
    series = g_new0(struct series, 1);
    series->spec = spec;
    series->logger = source->logger;
    series->owner = source->logger->has_folders ? (const void *)source->logger : source;
    g_hash_table_insert(all->series, g_strdup(label), series);
    return series;
}

static struct series *choose_series(struct source *source, const char *name)
{
    bool has_folders = source->logger->has_folders;
    g_autofree char *prefix = prefix_of(first_of(source)->path, source->path, has_folders);
    g_autofree char *longer = g_strconcat(prefix, name, NULL);
    struct series *series = series_of(source, has_folders ? longer : name);
    const void *owner = has_folders ? (const void *)source->logger : source;
    if (series && series->owner != owner && series->logger == source->logger && *prefix)
        series = series_of(source, longer);
    return series && series->owner == owner ? series : NULL;
}

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
    column->series = choose_series(source, name);
    if (source->logger->is_rewritten)
        column->passed = g_array_new(FALSE, FALSE, sizeof(struct value));
    g_hash_table_insert(source->columns, g_strdup(name), column);
    return column;
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
    if (++source->kept > VALUES_KEPT_MAX)
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

static void take_purge(void *ctx, int64_t step)
{
    struct source *source = ctx;
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
            take_purge(other, step);
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

static void read_again(void *ctx)
{
    struct source *source = ctx;
    GHashTableIter iter;
    gpointer column;
    if (source->kept > VALUES_KEPT_MAX)
        orch_logged_file_stop(source->file, "it was written anew after 2,000,000 values");
    g_hash_table_iter_init(&iter, source->columns);
    while (g_hash_table_iter_next(&iter, NULL, &column))
        ((struct column *)column)->again = 0;
}

/* ---- files ------------------------------------------------------------------------------------
 */

static void free_source(gpointer data)
{
    struct source *source = data;
    orch_logged_file_free(source->file);
    g_hash_table_unref(source->columns);
    g_free(source->path);
    g_free(source);
}

static void free_candidate(gpointer data)
{
    struct candidate *candidate = data;
    g_free(candidate->path);
    g_free(candidate);
}

/* How a path is shown: from the trial's folder where it lies below. Borrowed from `path`. */
static const char *shown(const struct logged_files *all, const char *path)
{
    const char *inner = orch_path_below(path, all->setup->work_dir);
    return inner && *inner ? inner : path;
}

static void leave_out(struct logged_files *all, const char *path, const char *why)
{
    if (json_array_size(all->unlogged) < FACTS_MAX && g_utf8_validate(path, -1, NULL))
        json_array_append_new(all->unlogged, json_pack("[ss]", shown(all, path), why));
}

static void begin_source(struct logged_files *all, const char *path,
                         const struct orch_logger *logger)
{
    if (all->sources->len >= FILES_MAX) {
        leave_out(all, path, "a trial's values are taken from 200 files at most");
        return;
    }
    struct source *source = g_new0(struct source, 1);
    const struct orch_log_sink sink = {.ctx = source,
                                       .point = take_point,
                                       .result = take_result,
                                       .purge = take_folder_purge,
                                       .setting = take_setting};
    source->all = all;
    source->logger = logger;
    source->path = g_strdup(path);
    source->columns = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_column);
    source->file = orch_logged_file_new(path, logger, &sink, read_again);
    g_ptr_array_add(all->sources, source);
}

/* Looks at the beginning of a file that the trial writes. */
static void look_at(struct logged_files *all, struct candidate *candidate)
{
    char head[ORCH_LOGGER_HEAD_BYTES];
    struct stat info;
    if (candidate->is_over || stat(candidate->path, &info) != 0 || !S_ISREG(info.st_mode) ||
        info.st_size == candidate->looked_bytes || !info.st_size)
        return;
    int fd = open(candidate->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    ssize_t length = fd >= 0 ? pread(fd, head, sizeof head, 0) : -1;
    if (fd >= 0)
        close(fd);
    if (length < 0)
        return;
    const struct orch_logger *logger = orch_logger_of(candidate->path, head, (size_t)length);
    candidate->looked_bytes = info.st_size;
    candidate->is_over = logger || length == sizeof head;
    if (logger && candidate->is_extended)
        leave_out(all, candidate->path, "it was there before the trial, which appends to it");
    else if (logger)
        begin_source(all, candidate->path, logger);
}

static void note_written(void *ctx, const struct orch_watch_entry *entry)
{
    struct logged_files *all = ctx;
    bool is_extended = entry->kind == ORCH_WATCH_EXTEND;
    if ((entry->kind != ORCH_WATCH_WRITE && !is_extended) || !orch_logger_may_know(entry->path))
        return;
    g_autofree char *path = orch_apart_outside(all->setup->apart, entry->path);
    struct candidate *candidate = g_hash_table_lookup(all->known, path);
    if (candidate || all->candidates->len >= CANDIDATES_MAX)
        return;
    candidate = g_new0(struct candidate, 1);
    candidate->path = g_strdup(path);
    candidate->looked_bytes = -1;
    candidate->is_extended = is_extended;
    g_ptr_array_add(all->candidates, candidate);
    g_hash_table_insert(all->known, candidate->path, candidate);
}

/* Once more after the last change, because a record is taken before it is written. */
static void find_files(struct logged_files *all)
{
    const struct orch_watch_map *map = orch_watch_memory_map(all->memory);
    uint64_t cursor = __atomic_load_n(&map->cursor, __ATOMIC_ACQUIRE);
    bool is_changed = cursor != all->cursor;
    if (is_changed || all->was_changed || all->is_ending)
        orch_watch_memory_visit(all->memory, note_written, all);
    all->cursor = cursor;
    all->was_changed = is_changed;
    for (guint i = 0; i < all->candidates->len; i++)
        look_at(all, all->candidates->pdata[i]);
}

/* ---- the trial --------------------------------------------------------------------------------
 */

struct logged_files *orch_logged_files_new(const struct child_setup *setup, struct intake *intake,
                                           int64_t started_ns)
{
    const struct orch_watch_memory *memory = orch_opened_files_memory(setup->opened);
    if (!memory || !orch_manifest_reads_files(setup->trial->manifest))
        return NULL;
    struct logged_files *all = g_new0(struct logged_files, 1);
    all->setup = setup;
    all->intake = intake;
    all->memory = memory;
    all->started_ns = started_ns;
    all->due_ns = orch_mono_ns() + SECOND_NS;
    all->candidates = g_ptr_array_new_with_free_func(free_candidate);
    all->known = g_hash_table_new(g_str_hash, g_str_equal);
    all->sources = g_ptr_array_new_with_free_func(free_source);
    all->series = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    all->results = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    all->settings = json_object();
    all->unlogged = json_array();
    return all;
}

void orch_logged_files_free(struct logged_files *all)
{
    if (!all)
        return;
    g_hash_table_unref(all->known);
    g_ptr_array_unref(all->candidates);
    g_ptr_array_unref(all->sources);
    g_hash_table_unref(all->series);
    g_hash_table_unref(all->results);
    json_decref(all->settings);
    json_decref(all->unlogged);
    g_free(all);
}

int64_t orch_logged_files_due(const struct logged_files *all)
{
    return all ? all->due_ns : INT64_MAX;
}

/* Reads a part of each file. True when one has more. */
static bool read_parts(struct logged_files *all)
{
    bool has_more = false;
    for (guint i = 0; i < all->sources->len; i++) {
        struct source *source = all->sources->pdata[i];
        has_more = orch_logged_file_read(source->file, READ_BYTES) || has_more;
        if (orch_logged_file_is_shared(source->file) && source->points) {
            take_purge(source, INT64_MIN);
            source->points = 0;
        }
    }
    return has_more;
}

void orch_logged_files_read(struct logged_files *all)
{
    find_files(all);
    bool has_more = read_parts(all);
    all->due_ns = orch_mono_ns() + (has_more ? 0 : SECOND_NS);
}

static void write_results(struct logged_files *all)
{
    GHashTableIter iter;
    gpointer spec, value;
    g_hash_table_iter_init(&iter, all->results);
    while (g_hash_table_iter_next(&iter, &spec, &value))
        orch_intake_result_logged(all->intake, spec, *(double *)value);
}

void orch_logged_files_finish(struct logged_files *all)
{
    if (!all)
        return;
    int64_t until = orch_mono_ns() + FINISH_NS;
    all->is_ending = true;
    find_files(all);
    bool has_more = true;
    while (has_more && orch_mono_ns() < until)
        has_more = read_parts(all);
    for (guint i = 0; i < all->sources->len; i++) {
        struct source *source = all->sources->pdata[i];
        if (has_more)
            orch_logged_file_stop(source->file, "reading took longer than 60 s");
        orch_logged_file_finish(source->file);
        if (orch_logged_file_why(source->file))
            leave_out(all, source->path, orch_logged_file_why(source->file));
    }
    write_results(all);
}

void orch_logged_files_facts(const struct logged_files *all, json_t *facts)
{
    if (!all)
        return;
    json_t *taken = json_array();
    for (guint i = 0; i < MIN(all->sources->len, (guint)FACTS_MAX); i++) {
        const struct source *source = all->sources->pdata[i];
        bool is_left_out = !source->points && orch_logged_file_why(source->file);
        if (!is_left_out && g_utf8_validate(source->path, -1, NULL))
            json_array_append_new(taken,
                                  json_pack("[ssI]", shown(all, source->path), source->logger->name,
                                            (json_int_t)source->points));
    }
    if (json_array_size(taken))
        json_object_set(facts, ORCH_FACT_LOGGED_FILES, taken);
    json_decref(taken);
    if (json_array_size(all->unlogged))
        json_object_set(facts, ORCH_FACT_UNLOGGED_FILES, all->unlogged);
    if (json_object_size(all->settings))
        json_object_set(facts, ORCH_FACT_LOGGED_SETTINGS, all->settings);
}
