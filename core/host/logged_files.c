/* SPDX-License-Identifier: MIT */
#include "core/host/logged_files.h"

#include "core/host/logged_source.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/loggers/unread.h"
#include "lib/watch/watch_memory.h"
#include "lib/wire/verdict.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    CANDIDATES_MAX = 4000,
    FILES_MAX = 2000,
    CLAIMED_MAX = 200, /* of those, the ones that keep a descriptor */
    FACTS_MAX = 50,
    SOURCES_MAX = 500,
    SOURCE_BYTES_MAX = 1 << 20,
    READ_BYTES = 1 << 20, /* of a file at once, while the trial runs */
    REST = 19,            /* times what reading took of a CPU, which the trial may need */
};
static const int64_t INTERVAL_NS = INT64_C(500000000), FINISH_NS = INT64_C(60000000000);

struct candidate {
    char *path;
    off_t looked_bytes; /* its size when it was looked at last; -1: not yet */
    bool is_over;       /* nothing more is to be found out about it */
    bool is_named;      /* the user says that it is a log */
    bool is_extended;   /* it was there before the trial, which appends to it */
};

/* ---- files ---------------------------------------------------------------------------- */

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
    if (all->sources->len >= FILES_MAX || (!logger->is_apart && all->claimed >= CLAIMED_MAX)) {
        leave_out(all, path, "a trial's values are taken from 200 files at most");
        return;
    }
    all->claimed += !logger->is_apart;
    struct source *source = orch_logged_source_new(all, path, logger, NULL, NULL);
    const struct orch_log_sink sink = orch_logged_sink(source);
    source->file = orch_logged_file_new(path, logger, all->started_ns, &sink, orch_logged_again);
}

/* The size of a file, with that of a database's log of writes; -1: there is no such file. */
static off_t size_of(const char *path)
{
    struct stat info, log;
    g_autofree char *log_path = g_strconcat(path, "-wal", NULL);
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return -1;
    return info.st_size + (stat(log_path, &log) == 0 ? log.st_size : 0);
}

/* Looks at the beginning of a file that the trial writes. */
static void look_at(struct logged_files *all, struct candidate *candidate)
{
    char head[ORCH_LOGGER_HEAD_BYTES];
    off_t size = candidate->is_over ? -1 : size_of(candidate->path);
    if (size <= 0 || size == candidate->looked_bytes)
        return;
    int fd = open(candidate->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    ssize_t length = fd >= 0 ? pread(fd, head, sizeof head, 0) : -1;
    if (fd >= 0)
        close(fd);
    if (length < 0)
        return;
    const struct orch_logger *logger =
        orch_logger_of(candidate->path, candidate->is_named, head, (size_t)length);
    bool is_unsure = orch_logger_is_unsure(head, (size_t)length);
    candidate->looked_bytes = is_unsure && length == sizeof head ? -1 : size; /* -1: a database */
    candidate->is_over = logger || !is_unsure;
    if (logger && candidate->is_extended && !logger->read)
        leave_out(all, candidate->path, "it was there before the trial, which appends to it");
    else if (logger)
        begin_source(all, candidate->path, logger);
}

/* Whether the user names a file as a log: by its path from where the trial works, or by its name.
 */
static bool is_named(const struct logged_files *all, const char *path)
{
    char **pattern = all->setup->trial->manifest->metrics_files;
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *inner = shown(all, path);
    for (; pattern && *pattern; pattern++)
        if (fnmatch(*pattern, strchr(*pattern, '/') ? inner : base, 0) == 0)
            return true;
    return false;
}

static void add_candidate(struct logged_files *all, const char *inside, bool is_extended)
{
    g_autofree char *path = orch_apart_outside(all->setup->apart, inside);
    if (g_hash_table_contains(all->known, path) || all->candidates->len >= CANDIDATES_MAX)
        return;
    struct candidate *candidate = g_new0(struct candidate, 1);
    candidate->path = g_strdup(path);
    candidate->looked_bytes = -1;
    candidate->is_extended = is_extended;
    candidate->is_named = is_named(all, path);
    g_ptr_array_add(all->candidates, candidate);
    g_hash_table_insert(all->known, candidate->path, candidate);
}

static void note_written(void *ctx, const struct orch_watch_entry *entry)
{
    struct logged_files *all = ctx;
    bool is_extended = entry->kind == ORCH_WATCH_EXTEND;
    if (entry->kind != ORCH_WATCH_WRITE && !is_extended)
        return;
    if (orch_logger_may_know(entry->path) || is_named(all, entry->path))
        add_candidate(all, entry->path, is_extended);
    g_autofree char *beside = orch_logger_beside(entry->path);
    if (beside && !is_extended)
        add_candidate(all, beside, false);
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

/* ---- the trial ------------------------------------------------------------------------ */

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
    all->due_ns = orch_mono_ns() + INTERVAL_NS;
    all->candidates = g_ptr_array_new_with_free_func(free_candidate);
    all->known = g_hash_table_new(g_str_hash, g_str_equal);
    all->sources = g_ptr_array_new_with_free_func(orch_logged_source_free);
    all->places = g_ptr_array_new_with_free_func(orch_logged_place_free);
    all->series = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    all->results = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    all->set_by = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    all->images = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
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
    g_ptr_array_unref(all->places);
    g_hash_table_unref(all->series);
    g_hash_table_unref(all->results);
    g_hash_table_unref(all->set_by);
    g_hash_table_unref(all->images);
    json_decref(all->settings);
    json_decref(all->unlogged);
    g_free(all);
}

int64_t orch_logged_files_due(const struct logged_files *all)
{
    return all ? all->due_ns : INT64_MAX;
}

/* Takes back what a file gave that another trial writes, too. */
static void take_back(struct source *source)
{
    if (!source->points || !orch_logged_file_is_shared(source->whole->file))
        return;
    orch_logged_purge(source, INT64_MIN);
    source->place->points -= source->points;
    source->points = 0;
}

/* Reads a part of each file. True when one has more. */
static bool read_parts(struct logged_files *all)
{
    bool has_more = false;
    for (guint i = 0; i < all->sources->len; i++) { /* which grows by the runs of databases */
        struct source *source = all->sources->pdata[i];
        has_more = (source->file && orch_logged_file_read(source->file, READ_BYTES)) || has_more;
        take_back(source);
    }
    return has_more;
}

void orch_logged_files_read(struct logged_files *all)
{
    const clock_t began = clock();
    find_files(all);
    bool has_more = read_parts(all);
    int64_t rest_ns = (int64_t)(clock() - began) * (INT64_C(1000000000) / CLOCKS_PER_SEC) * REST;
    all->due_ns = orch_mono_ns() + MAX(rest_ns, has_more ? 0 : INTERVAL_NS);
}

/* ---- loggers whose values are elsewhere ----------------------------------------------- */

struct unread {
    const struct logged_files *all;
    char **env;
    GHashTable *found; /* module -> why */
    unsigned sources;
};

static void look_into_source(void *ctx, const struct orch_watch_entry *entry)
{
    struct unread *unread = ctx;
    if (entry->kind != ORCH_WATCH_READ || !g_str_has_suffix(entry->path, ".py") ||
        unread->sources >= SOURCES_MAX)
        return;
    g_autofree char *path = orch_apart_outside(unread->all->setup->apart, entry->path);
    g_autofree char *text = NULL;
    unread->sources++;
    if (orch_file_read(path, SOURCE_BYTES_MAX, &text, NULL, NULL))
        orch_log_unread(text, unread->env, unread->found);
}

/* Of a logger that the script imports, no values were taken, because they are on a server. */
static void name_unread(struct logged_files *all)
{
    struct unread unread = {all, g_get_environ(), NULL, 0};
    GHashTableIter iter;
    gpointer module, why;
    for (char **entry = all->setup->trial->env; entry && *entry; entry++) {
        g_auto(GStrv) pair = g_strsplit(*entry, "=", 2);
        unread.env = g_environ_setenv(unread.env, pair[0], pair[1] ? pair[1] : "", TRUE);
    }
    unread.found = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    orch_watch_memory_visit(all->memory, look_into_source, &unread);
    g_hash_table_iter_init(&iter, unread.found);
    while (g_hash_table_iter_next(&iter, &module, &why)) {
        bool has_values = false;
        for (guint i = 0; i < all->places->len; i++)
            has_values =
                has_values ||
                strcmp(((struct logged_place *)all->places->pdata[i])->logger->name, module) == 0;
        if (!has_values)
            leave_out(all, module, why);
    }
    g_hash_table_unref(unread.found);
    g_strfreev(unread.env);
}

/* ---- the end -------------------------------------------------------------------------- */

static void finish_source(struct source *source, bool has_more)
{
    if (!source->file)
        return;
    if (has_more)
        orch_logged_file_stop(source->file, "reading took longer than 60 s");
    orch_logged_file_finish(source->file);
    const char *why = orch_logged_file_why(source->file);
    if (why)
        leave_out(source->all, source->path, why);
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
    for (guint i = 0; i < all->sources->len; i++)
        finish_source(all->sources->pdata[i], has_more);
    orch_logged_results(all);
    orch_logged_images(all);
    name_unread(all);
}

/* Adds a place, or its points to another run of the same file. */
static void add_place(const struct logged_files *all, const struct logged_place *place,
                      json_t *taken)
{
    const char *path = shown(all, place->path);
    if (!place->points || !g_utf8_validate(path, -1, NULL))
        return;
    for (size_t i = 0; i < json_array_size(taken); i++) {
        json_t *row = json_array_get(taken, i);
        json_int_t points = json_integer_value(json_array_get(row, 2));
        json_int_t replaced = json_integer_value(json_array_get(row, 3));
        if (strcmp(json_string_value(json_array_get(row, 0)), path) == 0 &&
            strcmp(json_string_value(json_array_get(row, 1)), place->logger->name) == 0) {
            json_array_set_new(row, 2, json_integer(points + place->points));
            json_array_set_new(row, 3, json_integer(replaced + place->replaced));
            return;
        }
    }
    if (json_array_size(taken) < FACTS_MAX)
        json_array_append_new(taken,
                              json_pack("[ssII]", path, place->logger->name,
                                        (json_int_t)place->points, (json_int_t)place->replaced));
}

json_t *orch_logged_files_paths(const struct logged_files *all)
{
    json_t *paths = all ? json_array() : NULL;
    for (guint i = 0; all && i < all->places->len; i++) {
        const struct logged_place *place = all->places->pdata[i];
        if (place->points && g_utf8_validate(place->path, -1, NULL))
            json_array_append_new(paths, json_string(place->path));
    }
    return paths;
}

void orch_logged_files_facts(const struct logged_files *all, json_t *facts)
{
    if (!all)
        return;
    json_t *taken = json_array();
    for (guint i = 0; i < all->places->len; i++)
        add_place(all, all->places->pdata[i], taken);
    if (json_array_size(taken))
        json_object_set(facts, ORCH_FACT_LOGGED_FILES, taken);
    json_decref(taken);
    if (json_array_size(all->unlogged))
        json_object_set(facts, ORCH_FACT_UNLOGGED_FILES, all->unlogged);
    if (json_object_size(all->settings))
        json_object_set(facts, ORCH_FACT_LOGGED_SETTINGS, all->settings);
}
