/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Dropping what nothing needs any more: objects, and the folders of trials, checkpoints and work
 * copies.
 *
 * Kept is what a kept run names (not hidden by a tombstone) and what a trial under way may use. The
 * latter is opaque here, so it is taken broadly: any name that occurs in an active row, or in the
 * trial.json of its folder, is in use. What nobody names yet but is younger than an hour may belong
 * to a trial that is just starting or ending.
 */
#include "store/join_internal.h"
#include "store/shards.h"

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GRACE_S = 3600, TRIAL_JSON_MAX = 16 << 20 };

struct gc {
    struct orch_store *store;
    bool dry_run;
    GString *in_use; /* all texts of active rows, one after another */
    bool has_actives;
    GHashTable *objects; /* sha256 that kept runs name */
    int count;
    int64_t bytes;
};

/* ---- what is needed ---------------------------------------------------------------------------
 */

static bool add_actives(struct gc *gc, struct orch_store *store, GError **error)
{
    g_autoptr(GPtrArray) rows = orch_store_actives(store, error);
    if (!rows)
        return false;
    gc->has_actives = gc->has_actives || rows->len > 0;
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_active_row *row = rows->pdata[i];
        const char *const texts[] = {row->key, row->fingerprint, row->trial_dir, row->record};
        for (size_t j = 0; j < G_N_ELEMENTS(texts); j++)
            g_string_append_printf(gc->in_use, "%s\n", texts[j] ? texts[j] : "");
        g_autofree char *path =
            g_build_filename(row->trial_dir ? row->trial_dir : "/nowhere", "trial.json", NULL);
        g_autofree char *text = NULL;
        if (orch_file_read(path, TRIAL_JSON_MAX, &text, NULL, NULL))
            g_string_append_printf(gc->in_use, "%s\n", text);
    }
    return true;
}

/* Those of other hosts as well, where they share the folder: unless all can be read, nothing goes.
 */
static bool read_actives(struct gc *gc, GError **error)
{
    if (!add_actives(gc, gc->store, error))
        return false;
    g_autoptr(GPtrArray) others =
        gc->store->shards ? store_shards_others(gc->store) : g_ptr_array_new();
    bool ok = true;
    for (guint i = 0; ok && i < others->len; i++) {
        struct store_foreign other;
        if (!store_foreign_open(gc->store, others->pdata[i], &other, error))
            return false;
        ok = add_actives(gc, other.store, error);
        store_foreign_close(&other);
    }
    return ok;
}

static bool read_named_objects(struct gc *gc, GError **error)
{
    sqlite3_stmt *s = store_statement(
        gc->store,
        "SELECT sha256 FROM artifact WHERE run NOT IN " STORE_HIDDEN
        " UNION SELECT sha256 FROM input WHERE sha256 IS NOT NULL AND run NOT IN " STORE_HIDDEN,
        error);
    if (!s)
        return false;
    int more;
    while ((more = store_step(gc->store, s, error)) > 0)
        g_hash_table_add(gc->objects, g_strdup(store_text(s, 0)));
    return more == 0;
}

static bool object_is_needed(const struct gc *gc, const char *sha256, bool is_young)
{
    if (g_hash_table_contains(gc->objects, sha256) || (is_young && gc->has_actives))
        return true;
    g_autofree char *as_path = g_strdup_printf("%.2s/%s", sha256, sha256 + 2);
    return strstr(gc->in_use->str, sha256) || strstr(gc->in_use->str, as_path);
}

/* ---- deleting ---------------------------------------------------------------------------------
 */

static int64_t tree_bytes(const char *path)
{
    struct stat info;
    if (lstat(path, &info) != 0)
        return 0;
    int64_t bytes = S_ISREG(info.st_mode) ? info.st_size : 0;
    GDir *dir = S_ISDIR(info.st_mode) ? g_dir_open(path, 0, NULL) : NULL;
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        g_autofree char *child = g_build_filename(path, name, NULL);
        bytes += tree_bytes(child);
    }
    if (dir)
        g_dir_close(dir);
    return bytes;
}

static bool drop(struct gc *gc, const char *path, GError **error)
{
    gc->count++;
    gc->bytes += tree_bytes(path);
    return gc->dry_run || orch_tree_remove(path, error);
}

static bool is_young(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0 && orch_now_ns() / 1000000000 - info.st_mtime < GRACE_S;
}

/* Calls `visit` for each entry of a folder of the store's; one that is not there is empty. */
static bool each_entry(struct gc *gc, const char *beside, const char *folder,
                       bool (*visit)(struct gc *, const char *path, const char *name, GError **),
                       GError **error)
{
    g_autofree char *path = g_build_filename(beside, folder, NULL);
    GDir *dir = g_dir_open(path, 0, NULL);
    bool ok = true;
    for (const char *name; ok && dir && (name = g_dir_read_name(dir));) {
        g_autofree char *child = g_build_filename(path, name, NULL);
        ok = visit(gc, child, name, error);
    }
    if (dir)
        g_dir_close(dir);
    return ok;
}

static bool visit_prefix(struct gc *gc, const char *path, const char *name, GError **error)
{
    if (g_str_has_prefix(name, "tmp.")) /* left by a writer that was killed */
        return is_young(path) || drop(gc, path, error);
    GDir *dir = strlen(name) == 2 ? g_dir_open(path, 0, NULL) : NULL;
    bool ok = true;
    for (const char *rest; ok && dir && (rest = g_dir_read_name(dir));) {
        g_autofree char *sha256 = g_strconcat(name, rest, NULL);
        g_autofree char *child = g_build_filename(path, rest, NULL);
        if (orch_sha256_is_valid(sha256) && !object_is_needed(gc, sha256, is_young(child)))
            ok = drop(gc, child, error);
    }
    if (dir)
        g_dir_close(dir);
    return ok;
}

/* The folder of a kept run holds its log; that of a hidden one goes at once. */
static bool visit_trial(struct gc *gc, const char *path, const char *name, GError **error)
{
    int64_t known, hidden;
    if (strstr(gc->in_use->str, name))
        return true;
    if (!store_get_int(gc->store, &known, 0, error, "SELECT id FROM run WHERE key = ?", "t",
                       name) ||
        !store_get_int(
            gc->store, &hidden, 0, error,
            "SELECT 1 FROM note n JOIN run r ON " STORE_HIDES("n", "r") " WHERE r.key = ?", "t",
            name))
        return false;
    if (hidden)
        return drop(gc, path, error);
    return known || is_young(path) || drop(gc, path, error);
}

/* Named by fingerprint, or by run key. Needed until a run of it needs no further attempt. */
static bool visit_checkpoint(struct gc *gc, const char *path, const char *name, GError **error)
{
    int64_t unfinished;
    if (strstr(gc->in_use->str, name) || is_young(path))
        return true;
    if (!store_get_int(gc->store, &unfinished, 0, error,
                       "SELECT 1 FROM run r WHERE (r.fingerprint = ?1 OR r.key = ?1)"
                       " AND r.id NOT IN " STORE_HIDDEN " AND NOT EXISTS (SELECT 1 FROM run d"
                       "  WHERE d.fingerprint = r.fingerprint AND d.state IN " STORE_SPARING
                       ") LIMIT 1",
                       "t", name))
        return false;
    return unfinished || drop(gc, path, error);
}

/* A tree written out of git: it can be written again. */
static bool visit_work(struct gc *gc, const char *path, const char *name, GError **error)
{
    return strstr(gc->in_use->str, name) || is_young(path) || drop(gc, path, error);
}

bool orch_store_gc(struct orch_store *store, bool dry_run, int *out_count, int64_t *out_bytes,
                   GError **error)
{
    if (!dry_run && !store_is_writable(store, error))
        return false;
    struct gc gc = {
        .store = store,
        .dry_run = dry_run,
        .in_use = g_string_new(NULL),
        .objects = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
    };
    /* actives first: a trial that ends between the two looks is then seen twice, not never */
    bool ok = read_actives(&gc, error) && read_named_objects(&gc, error) &&
              each_entry(&gc, store->folder, "objects", visit_prefix, error) &&
              each_entry(&gc, orch_store_local_folder(store), "trials", visit_trial, error) &&
              each_entry(&gc, store->folder, "checkpoints", visit_checkpoint, error) &&
              each_entry(&gc, store->folder, "work", visit_work, error);
    g_string_free(gc.in_use, TRUE);
    g_hash_table_destroy(gc.objects);
    if (!ok)
        return false;
    if (out_count)
        *out_count = gc.count;
    if (out_bytes)
        *out_bytes = gc.bytes;
    return true;
}
