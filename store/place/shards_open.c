/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens a store that has a file for each host, and merges one that was moved to a local disk into
 * one file again. */
#include "store/place/shards.h"

#include "store/handle/open.h"
#include "store/handle/owner.h"
#include "store/handle/sql.h"
#include "store/join/join_internal.h"

#include "lib/base/error.h"
#include "lib/base/temporary.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* ---- opening ----------------------------------------------------------------------------------
 */

static bool may_write(const char *path, const char *folder, enum orch_store_mode mode)
{
    if (access(path, F_OK) == 0)
        return access(path, W_OK) == 0 && access(folder, W_OK) == 0;
    if (access(folder, F_OK) == 0)
        return access(folder, W_OK) == 0;
    g_autofree char *parent = g_path_get_dirname(folder);
    return mode == ORCH_STORE_CREATE || access(parent, W_OK) == 0;
}

/* Opens a temporary copy that joins all files, for a user who may only read. */
static struct orch_store *open_copy(const char *name, GError **error)
{
    g_autofree char *scratch = orch_temporary_folder("joined", error);
    if (!scratch)
        return NULL;
    g_autofree char *path = g_build_filename(scratch, "joined.db", NULL);
    const struct store_options options = {.migrations = &store_migrations,
                                          .never_wal = true,
                                          .stands_for = name,
                                          .is_shard = true,
                                          .is_scratch = true};
    struct orch_store *store = orch_store_open_with(path, ORCH_STORE_CREATE, &options, error);
    if (!store) {
        orch_tree_remove(scratch, NULL);
        return NULL;
    }
    store->shards = orch_store_shards_new();
    store->shards->scratch = g_steal_pointer(&scratch);
    return store;
}

static struct orch_store *open_own(const char *name, const char *path, const char *folder,
                                   GError **error)
{
    const struct store_options options = {
        .migrations = &store_migrations, .never_wal = true, .stands_for = name, .is_shard = true};
    struct orch_store *store = orch_store_open_with(path, ORCH_STORE_CREATE, &options, error);
    if (!store)
        return NULL;
    /* otherwise a large join would wait for readers before its commit */
    sqlite3_exec(store->db, "PRAGMA cache_spill = OFF", NULL, NULL, NULL);
    orch_store_shards_note_place(folder);
    store->shards = orch_store_shards_new();
    return store;
}

static bool refuse(const char *name, enum orch_store_mode mode, const char *folder, GError **error)
{
    if (!orch_store_exists(name) && mode != ORCH_STORE_CREATE) {
        orch_error_set(error, ORCH_ERROR_STORE,
                       "check --db and $ORCH_DB; 'orch init' and 'orch run' make a store",
                       "cannot open store '%s': %s", name, g_strerror(ENOENT));
        return true;
    }
    g_autofree char *own = orch_store_shards_own_file(folder);
    if (mode == ORCH_STORE_READ || may_write(own, folder, mode))
        return false;
    orch_error_set(error, ORCH_ERROR_STORE, "check the permissions of the folder",
                   "cannot write to store '%s': '%s' cannot be written", name, own);
    return true;
}

struct orch_store *orch_store_shards_open(const char *name, enum orch_store_mode mode,
                                          GError **error)
{
    g_autofree char *folder = orch_store_shards_folder(name);
    if (refuse(name, mode, folder, error))
        return NULL;
    g_autofree char *own = orch_store_shards_own_file(folder);
    bool is_strange = mode == ORCH_STORE_READ && orch_store_folder_is_foreign(name, true);
    struct orch_store *store = may_write(own, folder, mode) && !is_strange
                                   ? open_own(name, own, folder, error)
                                   : open_copy(name, error);
    if (!store)
        return NULL;
    store->shards->name = g_strdup(name);
    g_autofree char *stem = g_strndup(store->path, strlen(store->path) - strlen(".db"));
    store->shards->local = g_strconcat(stem, ".d", NULL);
    orch_store_shards_look(store);
    if (mode != ORCH_STORE_READ)
        return store;
    store->readonly = true;
    if (orch_store_exec(store, "PRAGMA query_only = ON", "open", error))
        return store;
    orch_store_close(store);
    return NULL;
}

/* ---- merging into one file --------------------------------------------------------------------
 */

/* Joins a shard that is no longer written; a journal that its last writer left is rolled back. */
static bool fold_one(struct orch_store *store, const char *path, GError **error)
{
    const struct store_options options = {
        .migrations = &store_migrations, .never_wal = true, .is_alone = true};
    struct orch_store *shard = orch_store_open_with(path, ORCH_STORE_WRITE, &options, error);
    if (!shard)
        return false;
    orch_store_close(shard);
    struct orch_store_join_part part = {0};
    struct orch_join *join = orch_join_begin(store, path, error);
    if (!join)
        return false;
    if (!orch_store_join_part(join, path, 0, &part, error)) {
        orch_join_rollback(join);
        return false;
    }
    struct orch_receipt *receipt = orch_join_commit(join, error);
    if (!receipt)
        return false;
    orch_store_shards_warn_of(store, receipt);
    orch_receipt_free(receipt);
    g_autofree char *done = g_strconcat(path, ".joined", NULL);
    return orch_store_sync(store, error) && (rename(path, done) == 0 || errno == ENOENT);
}

static void fold_all(struct orch_store *store, const char *folder)
{
    g_autoptr(GPtrArray) names = orch_store_shards_list(folder);
    for (guint i = 0; i < names->len; i++) {
        GError *problem = NULL;
        g_autofree char *path = g_build_filename(folder, names->pdata[i], NULL);
        if (!fold_one(store, path, &problem) && access(path, F_OK) == 0)
            orch_store_shards_warn(store, path, problem);
        g_clear_error(&problem);
    }
}

struct orch_store *orch_store_shards_fold(const char *path, enum orch_store_mode mode,
                                          GError **error)
{
    const struct store_options options = {.migrations = &store_migrations};
    g_autofree char *folder = orch_store_shards_folder(path);
    if (mode == ORCH_STORE_READ &&
        (access(folder, W_OK) != 0 || orch_store_folder_is_foreign(path, false))) { /* read only */
        struct orch_store *store = open_copy(path, error);
        if (!store)
            return NULL;
        store->shards->name = g_strdup(path);
        orch_store_shards_look(store);
        store->readonly = true;
        return store;
    }
    struct orch_store *store = orch_store_open_with(path, ORCH_STORE_CREATE, &options, error);
    if (!store)
        return NULL;
    fold_all(store, folder);
    if (mode != ORCH_STORE_READ)
        return store;
    GPtrArray *warnings = g_ptr_array_ref(store->warnings);
    orch_store_close(store);
    store = orch_store_open_with(path, mode, &options, error);
    if (store) {
        g_ptr_array_unref(store->warnings);
        store->warnings = g_ptr_array_ref(warnings);
    }
    g_ptr_array_unref(warnings);
    return store;
}
