/* SPDX-License-Identifier: MIT */
#include "core/host/logged_files.h"

#include "core/host/logged_source.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/watch/watch_memory.h"
#include "lib/wire/verdict.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CANDIDATES_MAX = 1000,
    FILES_MAX = 200,
    FACTS_MAX = 50,
    READ_BYTES = 4 << 20, /* of a file at once, while the trial runs */
};
static const int64_t SECOND_NS = INT64_C(1000000000), FINISH_NS = INT64_C(60000000000);

struct candidate {
    char *path;
    off_t looked_bytes; /* its size when it was looked at last; -1: not yet */
    bool is_over;       /* nothing more is to be found out about it */
    bool is_extended;   /* it was there before the trial, which appends to it */
};

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
    const struct orch_log_sink sink = orch_logged_sink(source);
    source->all = all;
    source->logger = logger;
    source->path = g_strdup(path);
    source->columns = orch_logged_columns();
    source->file = orch_logged_file_new(path, logger, &sink, orch_logged_again);
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
            orch_logged_purge(source, INT64_MIN);
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
