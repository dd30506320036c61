/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mark in the folder beside a store: the user and machine that created it, its place (owner.c
 * explains why), and the id that it shares with the database. */
#include "store/handle/folder_mark.h"
#include "store/handle/owner.h"

#include "store/handle/meta.h"
#include "store/handle/sql.h"

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

enum { MARK_FORMAT = 1, MARK_BYTES_MAX = 65536, OWNERS_MAX = 64 };

#define ID_NAME "store.id"

struct place {
    int64_t inode, born_ns; /* born_ns is 0 when the file system does not report it */
};

/* ---- this user, this machine ------------------------------------------------------------------
 */

/* A digest of the machine's id and the store's id, so that the marks of two stores cannot be
 * linked; "" when the machine has no id. */
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

bool orch_store_mark_add_me(json_t *mark, int fd)
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

bool orch_store_mark_write(json_t *mark, int fd, GError **error)
{
    g_autofree char *text = orch_json_canonical(mark);
    g_autofree char *line = g_strconcat(text, "\n", NULL);
    return orch_below_write(fd, STORE_MARK, line, strlen(line), false, error);
}

json_t *orch_store_mark_read(int fd)
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

bool orch_store_mark_names_me(const json_t *mark, int fd, bool is_shard)
{
    char machine[ORCH_SHA256_CHARS];
    bool here = is_here(mark, fd);
    const json_t *owners = json_object_get(mark, "owners");
    machine_mark(orch_json_text(mark, "store", ""), machine);
    if (here && is_shard)
        return true; /* users of several hosts share the folder */
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

bool orch_store_set_id(struct orch_store *store, const char *id, GError **error)
{
    if (!orch_store_remember(store, ID_NAME, id, error))
        return false;
    g_strlcpy(store->id, id, sizeof store->id);
    return true;
}

bool orch_store_read_id(struct orch_store *store, GError **error)
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

bool orch_store_give_id(struct orch_store *store, GError **error)
{
    char id[ORCH_KEY_CHARS];
    if (*store->id)
        return true;
    orch_key_make(id);
    if (!orch_store_is_writable(store, error) || !orch_store_transaction_begin(store, error))
        return false;
    /* of several processes that make one store the first gives the id */
    if (!orch_store_run_statement(store, error,
                                  "INSERT OR IGNORE INTO meta(key, value) VALUES(?, ?)", "tt",
                                  ID_NAME, id)) {
        orch_store_transaction_rollback(store);
        return false;
    }
    return orch_store_transaction_commit(store, error) && orch_store_read_id(store, error) &&
           (*store->id || orch_store_set_id(store, id, error));
}

/* ---- making the folder ------------------------------------------------------------------------
 */

static bool fill(const struct orch_store *store, int fd, GError **error)
{
    g_autoptr(json_t) mark = mark_new(store->id);
    orch_store_mark_add_me(mark, fd);
    return orch_below_write(fd, STORE_IGNORE, "*\n", 2, false, error) &&
           orch_store_mark_write(mark, fd, error);
}

bool orch_store_folder_make(const struct orch_store *store, GError **error)
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
    if (!ok)
        g_prefix_error(error, "cannot make folder '%s': ", store->folder);
    if (ok && rename(made, store->folder) == 0)
        return true;
    if (ok && errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot make folder '%s'", store->folder);
        ok = false;
    }
    orch_tree_remove(made, NULL);
    return ok;
}
