/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Deletes data that is no longer needed: objects, and the folders of trials, checkpoints and work
 * copies.
 *
 * Data that a visible run references (not hidden by a tombstone) or a running trial may use is
 * kept. What a running trial uses is not parsed here, so any name that occurs in an active row, or
 * in the trial.json of its folder, counts as used. Unreferenced data younger than an hour may
 * belong to a trial that is just starting or ending, and is kept too (objects only while there is
 * an active row; folders kept for debugging never).
 */
#include "store/handle/foreign.h"
#include "store/handle/sql.h"
#include "store/handle/store_dir.h"
#include "store/place/shards.h"
#include "store/write/active.h"
#include "store/write/note_rules.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/files_below.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GRACE_S = 3600, TRIAL_JSON_MAX = 16 << 20 };

struct gc {
    struct orch_store *store;
    bool dry_run;
    GPtrArray *failed; /* char *: what could not be removed */
    GString *in_use;   /* all texts of active rows, concatenated */
    bool has_actives;
    GHashTable *objects; /* set of sha256 that kept runs reference */
    int count;
    int64_t bytes;
};

/* ---- what must be kept ------------------------------------------------------------------------
 */

/* `trials` is the folder of the trials of these rows, relative to the store's folder. */
static bool add_actives(struct gc *gc, struct orch_store *store, const char *trials, GError **error)
{
    g_autoptr(GPtrArray) rows = orch_store_actives_all(store, error);
    if (!rows)
        return false;
    gc->has_actives = gc->has_actives || rows->len > 0;
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_active_row *row = rows->pdata[i];
        const char *const texts[] = {row->key, row->fingerprint, row->record};
        for (size_t j = 0; j < G_N_ELEMENTS(texts); j++)
            g_string_append_printf(gc->in_use, "%s\n", texts[j] ? texts[j] : "");
        g_autofree char *path = g_build_filename(trials, row->key, "trial.json", NULL);
        g_autofree char *text = NULL;
        struct stat info;
        if (!orch_below_stat(gc->store->folder_fd, path, &info) && errno == ENOENT)
            continue; /* the trial has no folder yet */
        if (!orch_below_read(gc->store->folder_fd, path, TRIAL_JSON_MAX, &text, NULL, error)) {
            g_prefix_error(error, "cannot determine which files trial %s uses in '%s': ", row->key,
                           gc->store->folder);
            return false;
        }
        g_string_append_printf(gc->in_use, "%s\n", text);
    }
    return true;
}

/* The trials folder that belongs to a file: that of the host for a file in shards/, else that of
 * the single file from before sharding. */
static char *trials_of(const struct gc *gc, const char *path)
{
    g_autofree char *name = g_path_get_basename(path);
    bool is_shard = strcmp(path, gc->store->shards->name) != 0;
    if (!is_shard)
        return g_strdup("trials");
    g_autofree char *stem = g_strndup(name, strlen(name) - strlen(".db"));
    g_autofree char *host = g_strconcat(stem, ".d", NULL);
    return g_build_filename("shards", host, "trials", NULL);
}

/* Reads the active rows of all hosts that share the folder. When one cannot be read, this fails and
 * nothing is deleted. */
static bool read_actives(struct gc *gc, GError **error)
{
    g_autofree char *own = gc->store->shards ? trials_of(gc, gc->store->path) : g_strdup("trials");
    if (!add_actives(gc, gc->store, own, error))
        return false;
    g_autoptr(GPtrArray) others =
        gc->store->shards ? orch_store_shards_others(gc->store) : g_ptr_array_new();
    bool ok = true;
    for (guint i = 0; ok && i < others->len; i++) {
        struct store_foreign other;
        g_autofree char *trials = trials_of(gc, others->pdata[i]);
        if (!orch_store_foreign_open(gc->store, others->pdata[i], &other, error))
            return false;
        ok = add_actives(gc, other.store, trials, error);
        orch_store_foreign_close(&other);
    }
    return ok;
}

static bool read_named_objects(struct gc *gc, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        gc->store,
        "SELECT sha256 FROM artifact WHERE run NOT IN " STORE_HIDDEN
        " UNION SELECT sha256 FROM input WHERE sha256 IS NOT NULL AND run NOT IN " STORE_HIDDEN,
        error);
    if (!s)
        return false;
    int more;
    while ((more = orch_store_step(gc->store, s, error)) > 0)
        g_hash_table_add(gc->objects, g_strdup(orch_store_text(s, 0)));
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

/* `path`: relative to the store's folder. What cannot be removed stays, and is named. */
static void drop(struct gc *gc, const char *path)
{
    g_autoptr(GError) problem = NULL;
    int root = gc->store->folder_fd;
    int64_t bytes = orch_below_bytes(root, path);
    if (gc->dry_run || orch_below_remove(root, path, &problem)) {
        gc->count++;
        gc->bytes += bytes;
        return;
    }
    g_autofree char *what = orch_error_what(problem);
    if (gc->failed)
        g_ptr_array_add(gc->failed, g_strdup_printf("in '%s': %s", gc->store->folder, what));
    gc->bytes += bytes - orch_below_bytes(root, path);
}

static bool is_young(const struct gc *gc, const char *path)
{
    struct stat info;
    return orch_below_stat(gc->store->folder_fd, path, &info) &&
           orch_now_ns() / 1000000000 - info.st_mtime < GRACE_S;
}

/* ---- objects ----------------------------------------------------------------------------------
 */

/* A file "tmp.PID.N" left by a writer that was killed. */
static bool is_temporary(const char *name)
{
    return g_str_has_prefix(name, "tmp.") && strspn(name + 4, "0123456789.") == strlen(name + 4);
}

static void visit_objects(struct gc *gc)
{
    int root = gc->store->folder_fd;
    g_autoptr(GPtrArray) prefixes = orch_below_list(root, "objects");
    for (guint i = 0; i < prefixes->len; i++) {
        const char *prefix = prefixes->pdata[i];
        g_autofree char *part = g_build_filename("objects", prefix, NULL);
        if (is_temporary(prefix) && !is_young(gc, part))
            drop(gc, part);
        g_autoptr(GPtrArray) rests = orch_below_list(root, part);
        for (guint j = 0; j < rests->len; j++) {
            g_autofree char *sha256 = g_strconcat(prefix, rests->pdata[j], NULL);
            g_autofree char *path = g_build_filename(part, rests->pdata[j], NULL);
            if (strlen(prefix) == 2 && orch_sha256_is_valid(sha256) &&
                !object_is_needed(gc, sha256, is_young(gc, path)))
                drop(gc, path);
        }
    }
}

/* ---- folders ----------------------------------------------------------------------------------
 */

/* The folder of a trial that is over: it could not be removed when it ended, and can perhaps now.
 * That of a hidden run is deleted at any age. */
static bool trial_is_needed(struct gc *gc, const char *name, bool young, bool *out, GError **error)
{
    int64_t hidden;
    if (!orch_store_get_int(
            gc->store, &hidden, 0, error,
            "SELECT 1 FROM note n JOIN run r ON " STORE_HIDES("n", "r") " WHERE r.key = ?", "t",
            name))
        return false;
    *out = !hidden && young;
    return true;
}

/* A checkpoint is named by fingerprint or run key. It is needed until a run with that fingerprint
 * has ended ok or diverged. */
static bool checkpoint_is_needed(struct gc *gc, const char *name, bool young, bool *out,
                                 GError **error)
{
    int64_t unfinished = 0;
    if (!young &&
        !orch_store_get_int(
            gc->store, &unfinished, 0, error,
            "SELECT 1 FROM run r WHERE (r.fingerprint = ?1 OR r.key = ?1)"
            " AND r.id NOT IN " STORE_HIDDEN " AND NOT EXISTS (SELECT 1 FROM run d"
            "  WHERE d.fingerprint = r.fingerprint AND d.state IN " STORE_REUSED_STATES ") LIMIT 1",
            "t", name))
        return false;
    *out = young || unfinished;
    return true;
}

/* A tree written out of git is needed only while it is young, because it can be written again. So
 * is the folder of a submission that no active row names: either its trials follow within
 * moments, or the command that collected the last of them was killed before it removed it. */
static bool work_is_needed(struct gc *gc, const char *name, bool young, bool *out, GError **error)
{
    (void)gc;
    (void)name;
    (void)error;
    *out = young;
    return true;
}

/* A folder kept for debugging, and files left in a folder apart, are always deleted by a gc. */
static bool kept_is_needed(struct gc *gc, const char *name, bool young, bool *out, GError **error)
{
    (void)gc;
    (void)name;
    (void)young;
    (void)error;
    *out = false;
    return true;
}

static bool visit(struct gc *gc, enum orch_store_dir kind,
                  bool (*is_needed)(struct gc *, const char *name, bool young, bool *out,
                                    GError **),
                  GError **error)
{
    g_autoptr(GPtrArray) names = orch_store_dir_list(gc->store, kind);
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *path = orch_store_dir_path(gc->store, kind, names->pdata[i]);
        const char *relative = path + strlen(gc->store->folder) + 1;
        bool needed;
        if (strstr(gc->in_use->str, names->pdata[i]))
            continue;
        if (!is_needed(gc, names->pdata[i], is_young(gc, relative), &needed, error))
            return false;
        if (!needed)
            drop(gc, relative);
    }
    return true;
}

bool orch_store_gc(struct orch_store *store, bool dry_run, int *out_count, int64_t *out_bytes,
                   GPtrArray *failed, GError **error)
{
    /* nothing is written to the database, so a store that is read on a full disk will do */
    if (!dry_run && !store->is_own && !orch_store_is_writable(store, error))
        return false;
    struct gc gc = {
        .store = store,
        .dry_run = dry_run,
        .failed = failed,
        .in_use = g_string_new(NULL),
        .objects = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
    };
    /* active rows first: a trial that ends between the two queries is then seen twice rather than
     * never */
    bool ok =
        !store->is_own ||
        (read_actives(&gc, error) && read_named_objects(&gc, error) && (visit_objects(&gc), true) &&
         visit(&gc, ORCH_STORE_DIR_TRIAL, trial_is_needed, error) &&
         visit(&gc, ORCH_STORE_DIR_CHECKPOINT, checkpoint_is_needed, error) &&
         visit(&gc, ORCH_STORE_DIR_WORK, work_is_needed, error) &&
         visit(&gc, ORCH_STORE_DIR_JOBS, work_is_needed, error) &&
         visit(&gc, ORCH_STORE_DIR_KEPT, kept_is_needed, error) &&
         visit(&gc, ORCH_STORE_DIR_LEFT, kept_is_needed, error));
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
