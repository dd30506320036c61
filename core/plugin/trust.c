/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One small JSON file, read whole and written whole under a lock, so that two commands that add at
 * once lose nothing. It is used only while it belongs to the user and nobody else may write to it.
 */
#include "core/plugin/trust.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/base/shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENTRIES_MAX = 2000, DIGEST_PREFIX_MIN = 8 };
#define LIST_BYTES_MAX ((size_t)16 << 20)
#define MANIFEST_BYTES_MAX ((size_t)4 << 20)
/* Version of the stored manifests; increased when orch reads other data from plugins. */
#define MANIFEST_FORMAT 2

/* ---- where it lies ------------------------------------------------------------------------ */

/* NULL when $XDG_STATE_HOME is not absolute; there is no list then. */
static char *state_path(const char *name)
{
    const char *state = g_get_user_state_dir();
    return g_path_is_absolute(state) ? g_build_filename(state, "orch", name, NULL) : NULL;
}

static char *manifest_path(const char *sha256)
{
    g_autofree char *name = g_strconcat("plugin-manifests/", sha256, ".json", NULL);
    return state_path(name);
}

/* False with an error when others may have written to the file; a missing one is safe. */
static bool is_private(const char *path, GError **error)
{
    struct stat info;
    if (lstat(path, &info) != 0)
        return errno == ENOENT;
    if (S_ISREG(info.st_mode) && info.st_uid == geteuid() && !(info.st_mode & (S_IWGRP | S_IWOTH)))
        return true;
    g_autofree char *hint = g_strdup_printf("read it, then run 'chmod 600 %s', or delete it", path);
    orch_error_set(error, ORCH_ERROR_IO, hint,
                   "'%s' is not used, because it must be owned by you and writable by nobody else",
                   path);
    return false;
}

static bool write_private(const char *path, const json_t *json, GError **error)
{
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *text = orch_json_canonical(json);
    g_autoptr(GError) problem = NULL;
    if (g_mkdir_with_parents(folder, 0700) == 0 &&
        g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, &problem))
        return true;
    orch_error_set(
        error, ORCH_ERROR_IO, "check that your state folder ($XDG_STATE_HOME) is writable",
        "cannot write '%s'%s%s", path, problem ? ": " : "", problem ? problem->message : "");
    return false;
}

/* ---- the list ----------------------------------------------------------------------------- */

static void trusted_free(void *pointer)
{
    struct orch_trusted *entry = pointer;
    g_free(entry->sha256);
    g_free(entry->path);
    g_free(entry);
}

static void add_entry(GPtrArray *entries, const char *sha256, const char *path, int64_t when_ns)
{
    struct orch_trusted *entry = g_new0(struct orch_trusted, 1);
    entry->sha256 = g_strdup(sha256);
    entry->path = g_strdup(path);
    entry->when_ns = when_ns;
    g_ptr_array_add(entries, entry);
}

GPtrArray *orch_trust_list(GError **error)
{
    g_autoptr(GPtrArray) entries = g_ptr_array_new_with_free_func(trusted_free);
    g_autofree char *path = state_path("trusted-plugins.json");
    g_autofree char *text = NULL;
    size_t length = 0;
    if (!path || access(path, F_OK) != 0)
        return g_steal_pointer(&entries);
    if (!is_private(path, error) || !orch_file_read(path, LIST_BYTES_MAX, &text, &length, error))
        return NULL;
    g_autoptr(json_t) json = orch_json_parse(text, length, LIST_BYTES_MAX, error);
    if (!json) {
        g_prefix_error(error, "'%s': ", path);
        return NULL;
    }
    const json_t *rows = json_object_get(json, "plugins");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *sha256 = orch_json_text(row, "sha256", NULL);
        if (orch_sha256_is_valid(sha256))
            add_entry(entries, sha256, orch_json_text(row, "file", ""),
                      orch_json_int(row, "added_ns", 0));
    }
    return g_steal_pointer(&entries);
}

static bool write_list(const GPtrArray *entries, GError **error)
{
    g_autofree char *path = state_path("trusted-plugins.json");
    json_t *rows = json_array();
    g_autoptr(json_t) json = json_pack("{s:i s:o}", "format", 1, "plugins", rows);
    for (guint i = entries->len > ENTRIES_MAX ? entries->len - ENTRIES_MAX : 0; i < entries->len;
         i++) {
        const struct orch_trusted *entry = entries->pdata[i];
        g_autofree char *file = g_utf8_make_valid(entry->path, -1);
        json_array_append_new(rows, json_pack("{s:s s:s s:I}", "sha256", entry->sha256, "file",
                                              file, "added_ns", (json_int_t)entry->when_ns));
    }
    return write_private(path, json, error);
}

/* Locks the list for a change. Returns a descriptor to close, or -1 with an error. */
static int lock_list(GError **error)
{
    g_autofree char *path = state_path("trusted-plugins.lock");
    g_autofree char *folder = path ? g_path_get_dirname(path) : NULL;
    int fd = -1;
    if (!path)
        orch_error_set(error, ORCH_ERROR_IO, "set $XDG_STATE_HOME to an absolute path, or unset it",
                       "the list of trusted plugins cannot be stored: $XDG_STATE_HOME is not an "
                       "absolute path");
    else if (g_mkdir_with_parents(folder, 0700) != 0)
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot write '%s'", path);
    else
        fd = orch_shared_open(AT_FDCWD, path, path, O_RDWR | O_CREAT, 0600, geteuid(), error);
    if (fd < 0 || flock(fd, LOCK_EX) == 0)
        return fd;
    orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot lock '%s'", path);
    close(fd);
    return -1;
}

static const struct orch_trusted *find(const GPtrArray *entries, const char *sha256)
{
    for (guint i = 0; entries && i < entries->len; i++) {
        const struct orch_trusted *entry = entries->pdata[i];
        if (strcmp(entry->sha256, sha256) == 0)
            return entry;
    }
    return NULL;
}

bool orch_trust_has(const char *sha256)
{
    g_autoptr(GPtrArray) entries = orch_trust_list(NULL);
    return find(entries, sha256) != NULL;
}

bool orch_trust_had(const char *path)
{
    g_autoptr(GPtrArray) entries = orch_trust_list(NULL);
    for (guint i = 0; entries && i < entries->len; i++)
        if (strcmp(((struct orch_trusted *)entries->pdata[i])->path, path) == 0)
            return true;
    return false;
}

bool orch_trust_add(const char *path, const char *sha256, GError **error)
{
    int lock = lock_list(error);
    g_autoptr(GPtrArray) entries = lock < 0 ? NULL : orch_trust_list(error);
    bool ok = entries != NULL;
    if (ok) { /* for a copy of the same file, the list shows the latest path */
        g_ptr_array_remove(entries, (gpointer)(uintptr_t)find(entries, sha256));
        add_entry(entries, sha256, path, orch_now_ns());
        ok = write_list(entries, error);
    }
    if (lock >= 0)
        close(lock);
    return ok;
}

static bool is_meant(const struct orch_trusted *entry, const char *which)
{
    return strcmp(entry->path, which) == 0 ||
           (strlen(which) >= DIGEST_PREFIX_MIN && g_str_has_prefix(entry->sha256, which));
}

static void forget_manifest(const char *sha256)
{
    g_autofree char *path = manifest_path(sha256);
    if (path)
        unlink(path);
}

int orch_trust_remove(const char *which, GError **error)
{
    int lock = lock_list(error);
    g_autoptr(GPtrArray) entries = lock < 0 ? NULL : orch_trust_list(error);
    int count = entries ? 0 : -1;
    for (guint i = 0; entries && i < entries->len;) {
        const struct orch_trusted *entry = entries->pdata[i];
        if (!is_meant(entry, which)) {
            i++;
            continue;
        }
        forget_manifest(entry->sha256);
        g_ptr_array_remove_index(entries, i);
        count++;
    }
    if (count > 0 && !write_list(entries, error))
        count = -1;
    if (lock >= 0)
        close(lock);
    return count;
}

/* ---- descriptions ------------------------------------------------------------------------- */

struct orch_manifest *orch_trust_manifest(const char *sha256)
{
    g_autofree char *path = manifest_path(sha256);
    g_autofree char *text = NULL;
    size_t length = 0;
    if (!path || !is_private(path, NULL) ||
        !orch_file_read(path, MANIFEST_BYTES_MAX, &text, &length, NULL))
        return NULL;
    g_autoptr(json_t) json = orch_json_parse(text, length, MANIFEST_BYTES_MAX, NULL);
    if (!json || orch_json_int(json, "format", 0) != MANIFEST_FORMAT)
        return NULL;
    return orch_manifest_decode(json_object_get(json, "manifest"), NULL);
}

void orch_trust_keep_manifest(const char *sha256, const struct orch_manifest *manifest)
{
    if (!orch_trust_has(sha256))
        return;
    g_autofree char *path = manifest_path(sha256);
    g_autoptr(json_t) json = json_pack("{s:i s:o}", "format", MANIFEST_FORMAT, "manifest",
                                       orch_manifest_encode(manifest));
    if (path)
        write_private(path, json, NULL);
}
