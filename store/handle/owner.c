/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The owner of a store.
 *
 * The mark identifies the machine by a digest of /etc/machine-id, which is not known elsewhere, so
 * nobody else can make a folder that passes for one of this machine. It also records the folder's
 * place by inode and time of birth: a machine without an id (most containers) and the hosts of a
 * network file system recognise the folder by its place, and a machine whose id changed still owns
 * its folders. A copy on the same machine matches by machine; a copy that was sent elsewhere
 * matches neither.
 *
 * Rejected: the owner of the files (whoever unpacks an archive owns its contents); a secret in the
 * user's home (missing in containers, and the same for all copies that the user hands out).
 */
#include "store/handle/owner.h"
#include "store/handle/folder_mark.h"
#include "store/handle/sql.h"

#include "store/handle/meta.h"
#include "store/handle/store_dir.h"

#include "lib/base/error.h"
#include "lib/base/files_below.h"
#include "lib/base/json.h"
#include "lib/base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- messages ---------------------------------------------------------------------------------
 */

/* The path that users type: the folder's without ".d". */
static char *name_of(const struct orch_store *store)
{
    return g_str_has_suffix(store->folder, ".d")
               ? g_strndup(store->folder, strlen(store->folder) - strlen(".d"))
               : g_strdup(store->path);
}

static char *sentence(const struct orch_store *store, enum store_owner owner, char **out_hint)
{
    g_autofree char *path = name_of(store);
    g_autofree char *folder = g_shell_quote(store->folder), *file = g_shell_quote(path);
    switch (owner) {
    case STORE_OWNER_UNMARKED:
        *out_hint = g_strdup_printf("mv %s %s.kept", folder, folder);
        return g_strdup_printf("its folder '%s' was not made by orch", store->folder);
    case STORE_OWNER_OTHER_STORE:
        *out_hint = g_strdup_printf("if both are yours: orch db adopt --db %s", file);
        return g_strdup_printf("'%s' belongs to another store than the database", store->folder);
    default:
        *out_hint = g_strdup_printf("copy its runs into your own store: orch db merge %s --db "
                                    "OTHER.db; or make it yours: orch db adopt --db %s",
                                    file, file);
        return g_strdup_printf("it was made by another user or on another machine ('%s/%s')",
                               store->folder, STORE_MARK);
    }
}

bool orch_store_owner_refuse(const struct orch_store *store, enum store_owner owner, GError **error)
{
    g_autofree char *hint = NULL;
    g_autofree char *why = sentence(store, owner, &hint), *path = name_of(store);
    orch_error_set(error, ORCH_ERROR_STORE, hint, "cannot write to store '%s': %s", path, why);
    return false;
}

static void warn(struct orch_store *store, enum store_owner owner)
{
    g_autofree char *hint = NULL;
    if (owner != STORE_OWNER_OTHER && owner != STORE_OWNER_OTHER_STORE)
        return;
    g_autofree char *why = sentence(store, owner, &hint), *path = name_of(store);
    g_ptr_array_add(store->warnings,
                    g_strdup_printf("store '%s' is read only: %s\n  hint: %s", path, why, hint));
}

/* ---- entry points -----------------------------------------------------------------------------
 */

enum store_owner orch_store_owner_look(struct orch_store *store, bool is_shard, json_t **out_mark)
{
    *out_mark = NULL;
    if (store->folder_fd >= 0)
        close(store->folder_fd);
    store->folder_fd = orch_below_root(store->folder);
    if (store->folder_fd < 0)
        return errno == ENOENT ? STORE_OWNER_NONE : STORE_OWNER_UNMARKED;
    *out_mark = orch_store_mark_read(store->folder_fd);
    if (!*out_mark)
        return STORE_OWNER_UNMARKED;
    return orch_store_mark_names_me(*out_mark, store->folder_fd, is_shard) ? STORE_OWNER_ME
                                                                           : STORE_OWNER_OTHER;
}

/* `*out`: the database holds nothing yet. */
static bool is_new(struct orch_store *store, bool *out, GError **error)
{
    int64_t rows;
    if (!orch_store_get_int(store, &rows, 1, error,
                            "SELECT EXISTS (SELECT 1 FROM run) OR EXISTS (SELECT 1 FROM active)",
                            ""))
        return false;
    *out = !rows;
    return true;
}

/* Compares the ids of the database and the folder, which differ when one of them was replaced by
 * that of another store. */
static bool fit(struct orch_store *store, json_t *mark, bool writes, bool is_shard,
                enum store_owner *owner, GError **error)
{
    const char *id = orch_json_text(mark, "store", "");
    bool is_empty = false;
    if (strcmp(id, store->id) == 0)
        return true;
    if (!orch_store_read_id(store, error)) /* another process gave it since it was read */
        return false;
    if (strcmp(id, store->id) == 0)
        return true;
    if (!is_shard && !is_new(store, &is_empty, error))
        return false;
    if (writes && (is_shard || is_empty))
        return orch_store_set_id(store, id, error);
    if (!is_shard && !is_empty)
        *owner = STORE_OWNER_OTHER_STORE;
    return true;
}

bool orch_store_own_shard_folder(struct orch_store *store, GError **error)
{
    json_t *mark = NULL;
    enum store_owner owner = orch_store_owner_look(store, true, &mark);
    json_decref(mark);
    if (owner == STORE_OWNER_ME)
        return true;
    if (owner != STORE_OWNER_NONE)
        return orch_store_owner_refuse(store, owner, error);
    g_autofree char *above = g_path_get_dirname(store->folder);
    orch_key_make(store->id); /* the database gets the id when it is created */
    return orch_dir_make(above, error) && orch_store_folder_make(store, error);
}

bool orch_store_folder_is_foreign(const char *path, bool is_shard)
{
    struct orch_store *store = orch_store_new_handle(path);
    json_t *mark = NULL;
    enum store_owner owner = orch_store_owner_look(store, is_shard, &mark);
    json_decref(mark);
    orch_store_free_handle(store);
    return owner != STORE_OWNER_ME && owner != STORE_OWNER_NONE;
}

bool orch_store_own(struct orch_store *store, enum orch_store_mode mode,
                    const struct store_options *options, GError **error)
{
    bool writes = mode != ORCH_STORE_READ && !options->is_scratch;
    json_t *mark = NULL;
    if (options->is_alone)
        return true;
    if (!orch_store_read_id(store, error))
        return false;
    enum store_owner owner = orch_store_owner_look(store, options->is_shard, &mark);
    if (owner == STORE_OWNER_NONE && writes) {
        if (!orch_store_give_id(store, error) || !orch_store_folder_make(store, error))
            return false;
        owner = orch_store_owner_look(store, options->is_shard, &mark);
    }
    bool ok = !mark || owner != STORE_OWNER_ME ||
              fit(store, mark, writes, options->is_shard, &owner, error);
    store->is_own = ok && owner == STORE_OWNER_ME;
    if (ok && store->is_own && writes && orch_store_mark_add_me(mark, store->folder_fd))
        orch_store_mark_write(mark, store->folder_fd,
                              NULL); /* so that copies are recognised here */
    json_decref(mark);
    if (!ok)
        return false;
    if (writes && !store->is_own)
        return orch_store_owner_refuse(store, owner, error);
    warn(store, owner);
    return true;
}

bool orch_store_is_own(const struct orch_store *store)
{
    return store->is_own;
}

const char *orch_store_id(const struct orch_store *store)
{
    return store->id;
}
