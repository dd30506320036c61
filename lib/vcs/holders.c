/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records which stores need a captured tree.
 *
 * Several stores can use one repository: one per linked work tree, and any number of --db files.
 * Each has a list of the trees captured for its runs, a file in orch/stores in the git folder that
 * all work trees share. A tree's ref is deleted when no list contains it any more. This does not
 * open any store, so a store that is temporarily absent (another disk) loses nothing.
 *
 * A list is named after the store's id and path, because a copy of a store needs its trees too. It
 * consists of lines: a header, the path, then tree ids.
 */
#include "lib/vcs/holders.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/shared_file.h"
#include "lib/vcs/backend.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { LIST_BYTES_MAX = 64 << 20, HOLDERS_MAX = 10000 };

static const char HEAD[] = "orch trees 1";

/* The folder of the lists, inside the git directory that all work trees share. */
static char *lists_folder(const struct orch_vcs *vcs)
{
    g_autofree char *file = g_build_filename(vcs->git_dir, "commondir", NULL);
    g_autofree char *text = NULL;
    g_autofree char *common = NULL;
    if (orch_file_read(file, 4096, &text, NULL, NULL))
        common = orch_path_absolute(g_strchomp(text), vcs->git_dir);
    return g_build_filename(common ? common : vcs->git_dir, "orch", "stores", NULL);
}

static char *list_name(const struct orch_holder *holder)
{
    char digest[ORCH_SHA256_CHARS];
    g_autofree char *text = g_strdup_printf("%s\n%s\n", holder->id, holder->path);
    orch_sha256(text, strlen(text), digest);
    return g_strndup(digest, 32);
}

/* Locks the lists; closing the descriptor unlocks them. -1 on failure. */
static int lock_lists(const char *folder, GError **error)
{
    g_autofree char *path = g_build_filename(folder, ".lock", NULL);
    int fd = orch_dir_make(folder, error) ? orch_shared_open(AT_FDCWD, path, path, O_RDWR | O_CREAT,
                                                             0666, ORCH_SHARED_ANY_OWNER, error)
                                          : -1;
    if (fd < 0 || flock(fd, LOCK_EX) == 0)
        return fd;
    orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot lock '%s'", path);
    close(fd);
    return -1;
}

/* The lines of a list; NULL if it does not exist or is invalid. */
static char **read_list(const char *folder, const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_autofree char *text = NULL;
    if (!orch_file_read(path, LIST_BYTES_MAX, &text, NULL, NULL))
        return NULL;
    char **lines = g_strsplit(text, "\n", -1);
    if (lines[0] && lines[1] && strcmp(lines[0], HEAD) == 0)
        return lines;
    g_strfreev(lines);
    return NULL;
}

static bool write_list(const char *folder, const char *name, const char *store_path,
                       const GPtrArray *trees, GError **error)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    GString *text = g_string_new(HEAD);
    g_string_append_printf(text, "\n%s\n", store_path);
    for (guint i = 0; i < trees->len; i++)
        g_string_append_printf(text, "%s\n", (char *)trees->pdata[i]);
    bool ok = orch_file_write(path, text->str, text->len, false, error);
    g_string_free(text, TRUE);
    return ok;
}

/* The trees of a list, borrowed from its lines. */
static GPtrArray *trees_of(char **lines)
{
    GPtrArray *trees = g_ptr_array_new();
    for (size_t i = 2; lines && lines[0] && lines[1] && lines[i]; i++)
        if (*lines[i])
            g_ptr_array_add(trees, lines[i]);
    return trees;
}

bool orch_vcs_hold(struct orch_vcs *vcs, const struct orch_holder *holder, const char *tree,
                   GError **error)
{
    g_autofree char *folder = lists_folder(vcs);
    g_autofree char *name = list_name(holder);
    int lock = lock_lists(folder, error);
    if (lock < 0)
        return false;
    g_auto(GStrv) lines = read_list(folder, name);
    g_autoptr(GPtrArray) trees = trees_of(lines);
    bool ok = true;
    if (!g_ptr_array_find_with_equal_func(trees, tree, g_str_equal, NULL)) {
        g_ptr_array_add(trees, (gpointer)(uintptr_t)tree);
        ok = write_list(folder, name, holder->path, trees, error);
    }
    close(lock);
    return ok;
}

/* Removes the trees of all other lists from `dropped`. */
static void keep_others(const char *folder, const char *own, GHashTable *dropped,
                        GPtrArray *out_absent)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    unsigned count = 0;
    for (const char *name; dir && (name = g_dir_read_name(dir)) && count++ < HOLDERS_MAX;) {
        if (strcmp(name, own) == 0)
            continue;
        g_auto(GStrv) lines = read_list(folder, name);
        g_autoptr(GPtrArray) trees = trees_of(lines);
        bool needs = false;
        for (guint i = 0; i < trees->len; i++)
            needs = g_hash_table_remove(dropped, trees->pdata[i]) || needs;
        if (needs && access(lines[1], F_OK) != 0)
            g_ptr_array_add(out_absent,
                            g_strdup_printf("'%s' (its list is '%s/%s')", lines[1], folder, name));
    }
}

static int drop(struct orch_vcs *vcs, GHashTable *dropped, GError **error)
{
    g_autoptr(GPtrArray) kept = orch_vcs_start(vcs, error) ? vcs->backend->kept(vcs, error) : NULL;
    g_autoptr(GPtrArray) trees = g_ptr_array_new();
    if (!kept)
        return -1;
    for (guint i = 0; i < kept->len; i++)
        if (g_hash_table_contains(dropped, kept->pdata[i]))
            g_ptr_array_add(trees, kept->pdata[i]);
    if (trees->len && !vcs->backend->drop(vcs, trees, error))
        return -1;
    return (int)trees->len;
}

int orch_vcs_release(struct orch_vcs *vcs, const struct orch_holder *holder, GHashTable *kept,
                     GPtrArray *out_absent, GError **error)
{
    g_autofree char *folder = lists_folder(vcs);
    g_autofree char *name = list_name(holder);
    int lock = lock_lists(folder, error);
    if (lock < 0)
        return -1;
    g_auto(GStrv) lines = read_list(folder, name);
    g_autoptr(GPtrArray) trees = trees_of(lines);
    g_autoptr(GPtrArray) rest = g_ptr_array_new();
    g_autoptr(GHashTable) dropped = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < trees->len; i++)
        if (g_hash_table_contains(kept, trees->pdata[i]))
            g_ptr_array_add(rest, trees->pdata[i]);
        else
            g_hash_table_add(dropped, trees->pdata[i]);
    keep_others(folder, name, dropped, out_absent);
    /* delete the refs first: a list without a tree would leave its ref for ever */
    int count = drop(vcs, dropped, error);
    if (count >= 0 && rest->len < trees->len &&
        !write_list(folder, name, holder->path, rest, error))
        count = -1;
    close(lock);
    return count;
}
