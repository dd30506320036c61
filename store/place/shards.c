/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What each host records about the files of the other hosts.
 *
 * In this host's file, in the same transaction as the joined runs: the last run id that was read
 * from each other file (table `meta`, "shards"), and a token that changes with every such write.
 * Beside it, in HOST.seen: the signature of each file when it was last read completely, together
 * with that token. A file whose signature is unchanged is not opened. When the tokens differ,
 * HOST.seen belongs to another state of the file (a backup was restored), and all files are read
 * again. The signatures are stored beside the file because a check that found nothing new must not
 * change it: every other host would then have to check it again, forever.
 *
 * Another host may be writing its file. We never write it or its journal. With a rollback journal a
 * reader's lock keeps the writer from changing the pages, and a writer's lock makes us wait; both
 * are fcntl locks, which NFS supports between hosts. The journal of a writer that died is rolled
 * back in a copy, never in the file (foreign.c). Where a mount does not support locks, a file that
 * changed during the read is detected by its change counter, size and time, and the join is rolled
 * back; and a run is joined only when its rows give its digest.
 */
#include "store/place/shards.h"

#include "store/handle/foreign.h"
#include "store/handle/sql.h"
#include "store/join/join_internal.h"

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOTES_MAX = 4 << 20, REFRESH_MS = 2000, REFRESH_ATTEMPTS_MAX = 20 };

/* ---- file signatures --------------------------------------------------------------------------
 */

/* The signature of a file: its size, time, inode, SQLite's change counter, and the size of its
 * journal and log. NULL when it cannot be read. The file is opened anew so that NFS asks the
 * server. */
static char *sign_of(const char *path)
{
    uint8_t header[28] = {0};
    struct stat info, journal = {0};
    g_autofree char *log = g_strconcat(path, "-wal", NULL);
    g_autofree char *name = g_strconcat(path, "-journal", NULL);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && fstat(fd, &info) == 0 && pread(fd, header, sizeof header, 0) >= 0;
    if (fd >= 0)
        close(fd);
    if (!ok)
        return NULL;
    int64_t left = stat(name, &journal) == 0 ? journal.st_size : 0;
    left += stat(log, &journal) == 0 ? journal.st_size : 0;
    return g_strdup_printf("%" G_GINT64_FORMAT " %" G_GINT64_FORMAT ".%09ld %" G_GUINT64_FORMAT
                           " %02x%02x%02x%02x %" G_GINT64_FORMAT,
                           (int64_t)info.st_size, (int64_t)info.st_mtim.tv_sec,
                           info.st_mtim.tv_nsec, (guint64)info.st_ino, header[24], header[25],
                           header[26], header[27], left);
}

/* ---- stored state -----------------------------------------------------------------------------
 */

/** What is recorded about the other files. */
struct memory {
    json_t *last; /* name -> the last run id that was read; stored in this host's file */
    json_t *seen; /* name -> signature; stored in HOST.seen */
    char token[ORCH_KEY_CHARS];
    bool seen_changed;
};

static json_t *parse_object(const char *text, size_t length)
{
    json_t *json = text ? orch_json_parse(text, length, NOTES_MAX, NULL) : NULL;
    if (json_is_object(json))
        return json;
    json_decref(json);
    return json_object();
}

static char *seen_path(const struct orch_store *store)
{
    g_autofree char *stem = g_strndup(store->path, strlen(store->path) - strlen(".db"));
    return g_strconcat(stem, ".seen", NULL);
}

static void memory_read(struct orch_store *store, struct memory *m)
{
    sqlite3_stmt *s =
        orch_store_statement(store, "SELECT value FROM meta WHERE key = 'shards'", NULL);
    g_autofree char *text =
        s && orch_store_step(store, s, NULL) > 0 ? orch_store_column_text(s, 0) : NULL;
    if (s)
        sqlite3_reset(s);
    g_autoptr(json_t) kept = parse_object(text, text ? strlen(text) : 0);
    g_autofree char *path = seen_path(store);
    g_autofree char *seen = NULL;
    size_t length = 0;
    orch_file_read(path, NOTES_MAX, &seen, &length, NULL);
    g_autoptr(json_t) beside = parse_object(seen, length);
    const char *token = orch_json_text(kept, "token", "");
    json_t *last = json_object_get(kept, "last"), *files = json_object_get(beside, "files");
    bool fits = strcmp(token, orch_json_text(beside, "token", "?")) == 0;
    *m =
        (struct memory){.last = json_is_object(last) ? json_incref(last) : json_object(),
                        .seen = fits && json_is_object(files) ? json_incref(files) : json_object()};
    g_strlcpy(m->token, token, sizeof m->token);
}

/* Called inside the transaction of the join. */
static bool memory_write(struct orch_store *store, struct memory *m, GError **error)
{
    orch_key_make(m->token);
    g_autoptr(json_t) json = json_pack("{s:s s:O}", "token", m->token, "last", m->last);
    g_autofree char *text = orch_json_canonical(json);
    m->seen_changed = true;
    return orch_store_run_statement(store, error,
                                    "INSERT INTO meta(key, value) VALUES('shards', ?)"
                                    " ON CONFLICT DO UPDATE SET value = excluded.value",
                                    "t", text);
}

static void memory_close(struct orch_store *store, struct memory *m)
{
    if (m->seen_changed && !store->shards->scratch) {
        g_autoptr(json_t) json = json_pack("{s:s s:O}", "token", m->token, "files", m->seen);
        g_autofree char *text = orch_json_canonical(json);
        g_autofree char *path = seen_path(store);
        orch_file_write(path, text, strlen(text), false, NULL);
    }
    json_decref(m->last);
    json_decref(m->seen);
}

/* ---- joining ----------------------------------------------------------------------------------
 */

static void warn(struct orch_store *store, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void warn(struct orch_store *store, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_ptr_array_add(store->warnings, g_strdup_vprintf(format, args));
    va_end(args);
}

void orch_store_shards_warn(struct orch_store *store, const char *path, const GError *problem)
{
    g_auto(GStrv) lines = g_strsplit(problem ? problem->message : "it changed meanwhile", "\n", 2);
    warn(store, "this command leaves out the new contents of '%s': %s", path, lines[0]);
}

void orch_store_shards_warn_of(struct orch_store *store, const struct orch_receipt *receipt)
{
    for (guint i = 0; i < receipt->problems->len && i < 5; i++)
        warn(store, "from '%s': %s", receipt->origin, (char *)receipt->problems->pdata[i]);
}

/* Ends the join; writes nothing when there is nothing new. */
static bool end_join(struct orch_store *store, struct orch_join *join, bool came, const char *name,
                     int64_t last, struct memory *m, GError **error)
{
    if (!came) {
        orch_join_rollback(join);
        return true;
    }
    if (last > json_integer_value(json_object_get(m->last, name)))
        json_object_set_new(m->last, name, json_integer(last));
    if (!memory_write(store, m, error)) {
        orch_join_rollback(join);
        return false;
    }
    struct orch_receipt *receipt = orch_join_commit(join, error);
    if (receipt)
        orch_store_shards_warn_of(store, receipt);
    orch_receipt_free(receipt);
    return receipt != NULL;
}

static bool join_file(struct orch_store *store, const char *path, const char *name,
                      const char *sign, struct memory *m, GError **error)
{
    struct orch_store_join_part part = {.after =
                                            json_integer_value(json_object_get(m->last, name))};
    int before = sqlite3_total_changes(store->db);
    struct orch_join *join = orch_join_begin(store, path, error);
    store->shards->read_count++;
    if (!join)
        return false;
    bool ok = orch_store_join_part(join, path, 0, &part, error);
    g_autofree char *now = sign_of(path);
    if (!ok || g_strcmp0(sign, now) != 0) {
        orch_join_rollback(join);
        return false;
    }
    return end_join(store, join, sqlite3_total_changes(store->db) != before, name, part.last, m,
                    error);
}

/* Checks one file and joins what is new. Returns false when it changed while it was read. */
static bool look_at(struct orch_store *store, const char *path, struct memory *m)
{
    g_autofree char *name = g_path_get_basename(path);
    g_autofree char *sign = sign_of(path);
    GError *problem = NULL;
    if (!sign) {
        warn(store, "this command leaves out the new contents of '%s': %s", path,
             g_strerror(errno));
        return true;
    }
    if (strcmp(orch_json_text(m->seen, name, ""), sign) == 0)
        return true;
    if (g_str_has_prefix(sign, "0 "))
        return true; /* another host is creating it */
    bool changed = false;
    if (join_file(store, path, name, sign, m, &problem)) {
        json_object_set_new(m->seen, name, json_string(sign));
        m->seen_changed = true;
    } else {
        changed = !problem;
        orch_store_shards_warn(store, path, problem);
    }
    g_clear_error(&problem);
    return !changed;
}

GPtrArray *orch_store_shards_others(const struct orch_store *store)
{
    GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *folder = orch_store_shards_folder(store->shards->name);
    g_autofree char *own = g_path_get_basename(store->path);
    g_autoptr(GPtrArray) names = orch_store_shards_list(folder);
    if (access(store->shards->name, F_OK) == 0)
        g_ptr_array_add(paths, g_strdup(store->shards->name));
    for (guint i = 0; i < names->len; i++)
        if (store->shards->scratch || strcmp(names->pdata[i], own) != 0)
            g_ptr_array_add(paths, g_build_filename(folder, names->pdata[i], NULL));
    return paths;
}

bool orch_store_shards_look(struct orch_store *store)
{
    g_autoptr(GPtrArray) paths = orch_store_shards_others(store);
    struct memory m;
    bool ok = true;
    memory_read(store, &m);
    for (guint i = 0; i < paths->len; i++)
        ok = look_at(store, paths->pdata[i], &m) && ok;
    memory_close(store, &m);
    store->shards->looked_ns = orch_mono_ns();
    return ok;
}

/* When there is nothing new, this only checks the signature of each file. */
static void refresh(struct orch_store *store)
{
    if (!store->readonly &&
        orch_mono_ns() - store->shards->looked_ns > REFRESH_MS * INT64_C(1000000))
        orch_store_shards_look(store);
}

struct store_shards *orch_store_shards_new(void)
{
    struct store_shards *shards = g_new0(struct store_shards, 1);
    shards->refresh = refresh;
    return shards;
}

void orch_store_refresh(struct orch_store *store)
{
    if (!store->shards || store->readonly)
        return;
    guint warnings = store->warnings->len;
    for (int i = 1; !orch_store_shards_look(store) && i < REFRESH_ATTEMPTS_MAX; i++) {
        g_ptr_array_set_size(store->warnings, (gint)warnings);
        g_usleep(20000);
    }
}

/* ---- list of the files ------------------------------------------------------------------------
 */

static void free_shard(gpointer data)
{
    struct orch_shard *shard = data;
    g_free(shard->host);
    g_free(shard->path);
    g_free(shard->problem);
    g_free(shard);
}

static char *host_of(const struct orch_store *store, const char *path)
{
    if (strcmp(path, store->shards->name) == 0)
        return g_strdup("");
    char *host = g_path_get_basename(path);
    char *ending = g_str_has_suffix(host, ".db") ? host + strlen(host) - strlen(".db") : NULL;
    if (ending)
        *ending = 0;
    return host;
}

static struct orch_shard *new_shard(const struct orch_store *store, const char *path)
{
    struct orch_shard *shard = g_new0(struct orch_shard, 1);
    struct stat info;
    shard->path = g_strdup(path);
    shard->host = host_of(store, path);
    if (stat(path, &info) == 0) {
        shard->file_bytes = info.st_size;
        shard->changed_ns = orch_timespec_ns(info.st_mtim);
    }
    return shard;
}

static void count_runs(struct orch_store *store, struct orch_shard *shard)
{
    struct store_foreign other;
    GError *problem = NULL;
    bool ok =
        orch_store_foreign_open(store, shard->path, &other, &problem) &&
        orch_store_get_int(other.store, &shard->runs, 0, &problem, "SELECT count(*) FROM run", "");
    orch_store_foreign_close(&other);
    if (ok)
        return;
    g_auto(GStrv) lines = g_strsplit(problem->message, "\n", 2);
    shard->problem = g_strdup(lines[0]);
    g_error_free(problem);
}

GPtrArray *orch_store_shards(struct orch_store *store)
{
    GPtrArray *shards = g_ptr_array_new_with_free_func(free_shard);
    if (!store->shards)
        return shards;
    if (!store->shards->scratch) {
        struct orch_shard *own = new_shard(store, store->path);
        own->is_own = true;
        orch_store_get_int(store, &own->runs, 0, NULL, "SELECT count(*) FROM run", "");
        g_ptr_array_add(shards, own);
    }
    g_autoptr(GPtrArray) others = orch_store_shards_others(store);
    for (guint i = 0; i < others->len; i++) {
        struct orch_shard *shard = new_shard(store, others->pdata[i]);
        count_runs(store, shard);
        g_ptr_array_add(shards, shard);
    }
    return shards;
}
