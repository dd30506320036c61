/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whose a store is.
 *
 * The mark names the machine by a digest of /etc/machine-id, which is not known elsewhere, so
 * nobody can make a folder that passes for one made here. It names the folder's place by inode and
 * time of birth as well: a machine without an id (most containers) and the hosts of a network file
 * system know the folder by its place, and a machine whose id changed still owns what it made. A
 * copy on the same machine keeps the machine; a copy that was sent around has neither.
 *
 * Rejected: the owner of the files (whoever unpacks an archive owns what comes out); a secret in
 * the user's home (missing in containers, and the same for all copies that the user hands out).
 */
#include "store/owner.h"

#include "store/beside.h"
#include "store/meta.h"

#include "lib/base/below.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MARK_FORMAT = 1, MARK_BYTES_MAX = 65536, OWNERS_MAX = 64 };

#define ID_NAME "store.id"

struct place {
    int64_t inode, born_ns; /* born_ns 0: the file system does not tell */
};

/* ---- this user, this machine ------------------------------------------------------------------
 */

/* A digest of the machine's id and the store's, so that marks of two stores cannot be linked; ""
 * where the machine has no id. */
static void machine_mark(const char *store_id, char out[ORCH_SHA256_CHARS])
{
    g_autofree char *id = NULL;
    size_t length = 0;
    out[0] = 0;
    if (!orch_file_read("/etc/machine-id", 100, &id, &length, NULL) || length < 32)
        return;
    g_autofree char *text =
        g_strdup_printf("orch store mark 1\n%s\n%s\n", g_strstrip(id), store_id);
    orch_sha256(text, strlen(text), out);
}

static struct place place_of(int fd)
{
    struct statx info;
    struct place place = {0};
    if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &info) != 0)
        return place;
    place.inode = (int64_t)info.stx_ino;
    if (info.stx_mask & STATX_BTIME)
        place.born_ns = info.stx_btime.tv_sec * INT64_C(1000000000) + info.stx_btime.tv_nsec;
    return place;
}

static bool is_here(const json_t *mark, int fd)
{
    struct place now = place_of(fd);
    int64_t inode = orch_json_int(mark, "inode", 0), born_ns = orch_json_int(mark, "born_ns", 0);
    return inode && inode == now.inode && (!now.born_ns || now.born_ns == born_ns);
}

/* ---- the mark ---------------------------------------------------------------------------------
 */

static json_t *mark_new(const char *store_id)
{
    return json_pack("{s:s s:i s:s s:[]}", "kind", "orch store", "format", MARK_FORMAT, "store",
                     store_id, "owners");
}

/* Adds this user on this machine, and where the folder lies now. False: both were there. */
static bool mark_add_me(json_t *mark, int fd)
{
    char machine[ORCH_SHA256_CHARS];
    struct place place = place_of(fd);
    json_t *owners = json_object_get(mark, "owners");
    bool was_here = is_here(mark, fd), is_listed = false;
    machine_mark(orch_json_text(mark, "store", ""), machine);
    for (size_t i = 0; i < json_array_size(owners); i++) {
        const json_t *owner = json_array_get(owners, i);
        is_listed = is_listed || (orch_json_int(owner, "uid", -1) == (int64_t)geteuid() &&
                                  strcmp(orch_json_text(owner, "machine", ""), machine) == 0);
    }
    json_object_set_new(mark, "inode", json_integer(place.inode));
    json_object_set_new(mark, "born_ns", json_integer(place.born_ns));
    if (!is_listed)
        json_array_append_new(
            owners, json_pack("{s:I s:s}", "uid", (json_int_t)geteuid(), "machine", machine));
    while (json_array_size(owners) > OWNERS_MAX)
        json_array_remove(owners, 0);
    return !is_listed || !was_here;
}

static bool mark_write(json_t *mark, int fd, GError **error)
{
    g_autofree char *text = orch_json_canonical(mark);
    g_autofree char *line = g_strconcat(text, "\n", NULL);
    return orch_below_write(fd, STORE_MARK, line, strlen(line), false, error);
}

/* NULL: there is none, or it is not well formed. */
static json_t *mark_read(int fd)
{
    g_autofree char *text = NULL;
    size_t length = 0;
    if (!orch_below_read(fd, STORE_MARK, MARK_BYTES_MAX, &text, &length, NULL))
        return NULL;
    json_t *mark = orch_json_parse(text, length, MARK_BYTES_MAX, NULL);
    if (mark && strcmp(orch_json_text(mark, "kind", ""), "orch store") == 0 &&
        orch_json_int(mark, "format", 0) == MARK_FORMAT &&
        orch_key_is_valid(orch_json_text(mark, "store", "")) &&
        json_is_array(json_object_get(mark, "owners")))
        return mark;
    json_decref(mark);
    return NULL;
}

static bool mark_names_me(const json_t *mark, int fd, bool is_shard)
{
    char machine[ORCH_SHA256_CHARS];
    bool here = is_here(mark, fd);
    const json_t *owners = json_object_get(mark, "owners");
    machine_mark(orch_json_text(mark, "store", ""), machine);
    if (here && is_shard)
        return true; /* users of several hosts share it */
    for (size_t i = 0; i < json_array_size(owners); i++) {
        const json_t *owner = json_array_get(owners, i);
        const char *made_on = orch_json_text(owner, "machine", "");
        if (orch_json_int(owner, "uid", -1) == (int64_t)geteuid() &&
            (here || (*machine && strcmp(made_on, machine) == 0)))
            return true;
    }
    return false;
}

/* ---- the database's id ------------------------------------------------------------------------
 */

static bool set_id(struct orch_store *store, const char *id, GError **error)
{
    if (!orch_store_remember(store, ID_NAME, id, error))
        return false;
    g_strlcpy(store->id, id, sizeof store->id);
    return true;
}

static bool read_id(struct orch_store *store, GError **error)
{
    GError *problem = NULL;
    g_autofree char *id = orch_store_remembered(store, ID_NAME, &problem);
    if (problem) {
        g_propagate_error(error, problem);
        return false;
    }
    g_strlcpy(store->id, id && orch_key_is_valid(id) ? id : "", sizeof store->id);
    return true;
}

static bool is_new(struct orch_store *store)
{
    int64_t rows = 1;
    return store_get_int(store, &rows, 1, NULL,
                         "SELECT EXISTS (SELECT 1 FROM run) OR EXISTS (SELECT 1 FROM active)",
                         "") &&
           !rows;
}

/* ---- making the folder ------------------------------------------------------------------------
 */

static bool fill(const struct orch_store *store, int fd, GError **error)
{
    g_autoptr(json_t) mark = mark_new(store->id);
    mark_add_me(mark, fd);
    return orch_below_write(fd, STORE_IGNORE, "*\n", 2, false, error) &&
           mark_write(mark, fd, error);
}

bool store_folder_make(const struct orch_store *store, GError **error)
{
    g_autofree char *pattern = g_strconcat(store->folder, ".new-XXXXXX", NULL);
    char *made = g_mkdtemp_full(pattern, 0777);
    int fd = made ? orch_below_root(made) : -1;
    if (fd < 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot make folder '%s'", store->folder);
        if (made)
            rmdir(made);
        return false;
    }
    bool ok = fill(store, fd, error);
    close(fd);
    if (ok && rename(made, store->folder) == 0)
        return true;
    if (ok && errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot make folder '%s'", store->folder);
        ok = false;
    }
    orch_tree_remove(made, NULL);
    return ok;
}

/* ---- what is said -----------------------------------------------------------------------------
 */

/* The path that people use: the folder's without ".d". */
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
        *out_hint =
            g_strdup_printf("mv %s %s.kept, or choose another store with --db", folder, folder);
        return g_strdup_printf("'%s', where it would keep its files, was not made by orch",
                               store->folder);
    case STORE_OWNER_MISFIT:
        *out_hint = g_strdup_printf("if both are yours: orch db adopt --db %s", file);
        return g_strdup_printf("'%s' belongs to another store than the database", store->folder);
    default:
        *out_hint = g_strdup_printf("take its runs into a store of your own: orch db merge %s --db "
                                    "OTHER.db. Is it yours, copied from another machine? orch db "
                                    "adopt --db %s",
                                    file, file);
        return g_strdup_printf("it was made by another user or on another machine ('%s/%s')",
                               store->folder, STORE_MARK);
    }
}

static bool refuse(const struct orch_store *store, enum store_owner owner, GError **error)
{
    g_autofree char *hint = NULL;
    g_autofree char *why = sentence(store, owner, &hint), *path = name_of(store);
    orch_error_set(error, ORCH_ERROR_STORE, hint, "cannot write to store '%s': %s", path, why);
    return false;
}

static void warn(struct orch_store *store, enum store_owner owner)
{
    g_autofree char *hint = NULL;
    if (owner != STORE_OWNER_OTHER && owner != STORE_OWNER_MISFIT)
        return;
    g_autofree char *why = sentence(store, owner, &hint), *path = name_of(store);
    g_ptr_array_add(store->warnings,
                    g_strdup_printf("store '%s' is read only: %s\n  hint: %s", path, why, hint));
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static enum store_owner look(struct orch_store *store, bool is_shard, json_t **out_mark)
{
    *out_mark = NULL;
    if (store->folder_fd >= 0)
        close(store->folder_fd);
    store->folder_fd = orch_below_root(store->folder);
    if (store->folder_fd < 0)
        return errno == ENOENT ? STORE_OWNER_NOBODY : STORE_OWNER_UNMARKED;
    *out_mark = mark_read(store->folder_fd);
    if (!*out_mark)
        return STORE_OWNER_UNMARKED;
    return mark_names_me(*out_mark, store->folder_fd, is_shard) ? STORE_OWNER_ME
                                                                : STORE_OWNER_OTHER;
}

/* The database and the folder are of one store, unless either was put in the other's place. */
static bool fit(struct orch_store *store, json_t *mark, bool writes, bool is_shard,
                enum store_owner *owner, GError **error)
{
    const char *id = orch_json_text(mark, "store", "");
    if (strcmp(id, store->id) == 0)
        return true;
    if (writes && (is_shard || is_new(store)))
        return set_id(store, id, error);
    if (!is_shard && !is_new(store))
        *owner = STORE_OWNER_MISFIT;
    return true;
}

bool store_give_id(struct orch_store *store, GError **error)
{
    char id[ORCH_KEY_CHARS];
    orch_key_make(id);
    return *store->id || set_id(store, id, error);
}

/* An earlier version kept the objects elsewhere. */
static void read_elsewhere(struct orch_store *store)
{
    char *folder = store_folder_for_reading(orch_store_path(store));
    g_free(store->folder);
    store->folder = folder;
    store->folder_fd = orch_below_root(folder);
}

bool store_own_shard_folder(struct orch_store *store, GError **error)
{
    json_t *mark = NULL;
    enum store_owner owner = look(store, true, &mark);
    json_decref(mark);
    if (owner == STORE_OWNER_ME)
        return true;
    if (owner != STORE_OWNER_NOBODY)
        return refuse(store, owner, error);
    g_autofree char *above = g_path_get_dirname(store->folder);
    orch_key_make(store->id); /* the database gets it when it is there */
    return orch_dir_make(above, error) && store_folder_make(store, error);
}

bool store_folder_is_strange(const char *path, bool is_shard)
{
    struct orch_store *store = store_new_handle(path);
    json_t *mark = NULL;
    enum store_owner owner = look(store, is_shard, &mark);
    json_decref(mark);
    store_free_handle(store);
    return owner != STORE_OWNER_ME && owner != STORE_OWNER_NOBODY;
}

bool store_own(struct orch_store *store, enum orch_store_mode mode,
               const struct store_options *options, GError **error)
{
    bool writes = mode != ORCH_STORE_READ && !options->is_scratch;
    json_t *mark = NULL;
    if (options->is_alone)
        return true;
    if (!read_id(store, error))
        return false;
    enum store_owner owner = look(store, options->is_shard, &mark);
    if (writes && !*store->id && !store_older_move(store, error))
        return false;
    if (writes && owner != STORE_OWNER_ME) { /* what was moved made the folder */
        json_decref(mark);
        owner = look(store, options->is_shard, &mark);
    }
    if (owner == STORE_OWNER_NOBODY && writes) {
        if (!store_give_id(store, error) || !store_folder_make(store, error))
            return false;
        owner = look(store, options->is_shard, &mark);
    }
    bool ok = !mark || owner != STORE_OWNER_ME ||
              fit(store, mark, writes, options->is_shard, &owner, error);
    store->is_own = ok && owner == STORE_OWNER_ME;
    if (ok && store->is_own && writes && mark_add_me(mark, store->folder_fd))
        mark_write(mark, store->folder_fd, NULL); /* a copy made from here is known again */
    json_decref(mark);
    if (!ok)
        return false;
    if (writes && !store->is_own)
        return refuse(store, owner, error);
    if (owner == STORE_OWNER_NOBODY)
        read_elsewhere(store);
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

/* ---- adopting ---------------------------------------------------------------------------------
 */

/* What the owner's programs would run or load without having made it. */
static bool clean(int fd, GError **error)
{
    static const char *const unsafe[] = {"work", "try", "exchange.git"};
    for (size_t i = 0; i < G_N_ELEMENTS(unsafe); i++)
        if (!orch_below_remove(fd, unsafe[i], error))
            return false;
    return true;
}

bool orch_store_adopt_folder(const char *path, GError **error)
{
    struct orch_store *store = orch_store_open(path, ORCH_STORE_READ, error);
    if (!store)
        return false;
    json_t *mark = NULL;
    bool is_shard = orch_store_is_shared(store);
    enum store_owner owner = look(store, is_shard, &mark);
    bool ok = owner != STORE_OWNER_UNMARKED || refuse(store, owner, error);
    if (ok && mark)
        ok = clean(store->folder_fd, error) && (mark_add_me(mark, store->folder_fd), true) &&
             mark_write(mark, store->folder_fd, error);
    g_autofree char *id = g_strdup(mark ? orch_json_text(mark, "store", "") : "");
    json_decref(mark);
    orch_store_close(store);
    if (!ok || !*id || is_shard)
        return ok;
    const struct store_options alone = {.migrations = &store_migrations, .is_alone = true};
    store = store_open_with(path, ORCH_STORE_WRITE, &alone, error);
    ok = store && set_id(store, id, error);
    orch_store_close(store);
    return ok;
}
