/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Earlier versions kept the folders of a store (objects, trials, checkpoints) beside results.db
 * itself, or in an unmarked FILE.d. They are moved into the marked folder once.
 *
 * Only what provably belongs to a store is moved: entries with valid names and of the expected file
 * type, out of a folder of this user that orch created ('.orch' or FILE.d, each with the .gitignore
 * that orch writes). Work copies and the private repository stay behind, because another user's
 * could be executed without being noticed, and both are created again when they are needed.
 */
#include "store/owner.h"

#include "lib/base/below.h"
#include "lib/base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const PARTS[] = {"checkpoints", "claims", "exchange.git", "objects", "shards",
                                    "trials",      "try",    "work",         NULL};

/* ---- ownership checks -------------------------------------------------------------------------
 */

static bool was_made_by_orch(int fd)
{
    struct stat folder, ignore;
    g_autofree char *text = NULL;
    return fstat(fd, &folder) == 0 && folder.st_uid == geteuid() &&
           orch_below_stat(fd, STORE_IGNORE, &ignore) && ignore.st_uid == geteuid() &&
           orch_below_read(fd, STORE_IGNORE, 2, &text, NULL, NULL) && strcmp(text, "*\n") == 0;
}

static bool has_nothing_else(int fd)
{
    g_autoptr(GPtrArray) names = orch_below_list(fd, "");
    for (guint i = 0; i < names->len; i++)
        if (strcmp(names->pdata[i], STORE_IGNORE) != 0 && !g_strv_contains(PARTS, names->pdata[i]))
            return false;
    return true;
}

static bool has_parts(int fd)
{
    struct stat info;
    for (size_t i = 0; PARTS[i]; i++)
        if (orch_below_stat(fd, PARTS[i], &info) && S_ISDIR(info.st_mode))
            return true;
    return false;
}

/* Opens '.orch' when the store is .orch/results.db and orch created that folder. */
static int open_dot_orch(const char *path)
{
    g_autofree char *name = g_path_get_basename(path);
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *folder_name = g_path_get_basename(folder);
    if (strcmp(name, "results.db") != 0 || strcmp(folder_name, ".orch") != 0)
        return -1;
    int fd = orch_below_root(folder);
    if (fd >= 0 && was_made_by_orch(fd) && has_parts(fd))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Renames an unmarked FILE.d that orch created, and opens it. */
static int take_aside(const struct orch_store *store)
{
    struct stat info;
    int fd = orch_below_root(store->folder);
    g_autofree char *aside = g_strconcat(store->folder, ".older", NULL);
    if (fd >= 0 && !orch_below_stat(fd, STORE_MARK, &info) && was_made_by_orch(fd) &&
        has_nothing_else(fd) && access(aside, F_OK) != 0 && rename(store->folder, aside) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* ---- moving -----------------------------------------------------------------------------------
 */

struct move {
    int from, to;
    unsigned moved[3]; /* objects, trials, checkpoints */
};

static unsigned move_entries(const struct move *m, const char *part, bool (*is_name)(const char *),
                             mode_t type)
{
    struct stat info;
    unsigned count = 0;
    g_autoptr(GPtrArray) names = orch_below_list(m->from, part);
    int from = names->len ? orch_below_open(m->from, part, O_DIRECTORY, 0) : -1;
    int to = from < 0 ? -1 : orch_below_make_folder(m->to, part, 0777);
    for (guint i = 0; to >= 0 && i < names->len; i++) {
        const char *name = names->pdata[i];
        count += is_name(name) && orch_below_stat(from, name, &info) &&
                 (info.st_mode & S_IFMT) == type && info.st_uid == geteuid() &&
                 renameat(from, name, to, name) == 0;
    }
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
    g_autofree char *parent = g_path_get_dirname(part);
    if (strcmp(parent, ".") == 0)
        unlinkat(m->from, part, AT_REMOVEDIR); /* fails while the folder is not empty */
    return count;
}

static bool is_object_rest(const char *name)
{
    return strlen(name) == 62 && strspn(name, "0123456789abcdef") == 62;
}

static void move_objects(struct move *m)
{
    g_autoptr(GPtrArray) prefixes = orch_below_list(m->from, "objects");
    for (guint i = 0; i < prefixes->len; i++) {
        const char *prefix = prefixes->pdata[i];
        if (strlen(prefix) != 2 || strspn(prefix, "0123456789abcdef") != 2)
            continue;
        g_autofree char *part = g_build_filename("objects", prefix, NULL);
        m->moved[0] += move_entries(m, part, is_object_rest, S_IFREG);
        unlinkat(m->from, part, AT_REMOVEDIR);
    }
    unlinkat(m->from, "objects", AT_REMOVEDIR);
}

static void warn_of_move(struct orch_store *store, const struct move *m, const char *from)
{
    GString *left = g_string_new(NULL);
    for (size_t i = 0; PARTS[i]; i++) {
        struct stat info;
        if (orch_below_stat(m->from, PARTS[i], &info))
            g_string_append_printf(left, "%s'%s'",
                                   left->len ? ", " : "; left in place: ", PARTS[i]);
    }
    g_ptr_array_add(store->warnings,
                    g_strdup_printf("moved %u objects, %u trials and %u checkpoints of an earlier "
                                    "version from '%s' to '%s'%s",
                                    m->moved[0], m->moved[1], m->moved[2], from, store->folder,
                                    left->str));
    g_string_free(left, TRUE);
}

/* Fails while a trial of the earlier version is running, because that program looks for its trials
 * in the old place. */
static bool nobody_runs(struct orch_store *store, GError **error)
{
    g_autoptr(GPtrArray) rows = orch_store_actives_all(store, error);
    if (!rows)
        return false;
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_active_row *row = rows->pdata[i];
        if (!orch_process_is_alive(&row->runner))
            continue;
        orch_error_set(error, ORCH_ERROR_STORE,
                       "wait for it or stop it, then run the same command again",
                       "cannot move store '%s' to this version's folders: process %" G_GINT64_FORMAT
                       " of an earlier version runs trials in it",
                       orch_store_path(store), row->runner.pid);
        return false;
    }
    return true;
}

bool orch_store_older_move(struct orch_store *store, GError **error)
{
    struct stat info;
    g_autofree char *from = g_path_get_dirname(store->path);
    struct move m = {.from = open_dot_orch(store->path), .to = -1};
    if (m.from < 0 && lstat(store->folder, &info) == 0) {
        g_free(from);
        from = g_strconcat(store->folder, ".older", NULL);
        m.from = nobody_runs(store, NULL) ? take_aside(store) : -1;
    }
    if (m.from < 0)
        return true;
    bool ok = nobody_runs(store, error) && orch_store_give_id(store, error) &&
              (lstat(store->folder, &info) == 0 || orch_store_folder_make(store, error));
    m.to = ok ? orch_below_root(store->folder) : -1;
    ok = ok && m.to >= 0 && orch_below_stat(m.to, STORE_MARK, &info);
    if (ok) {
        move_objects(&m);
        m.moved[1] = move_entries(&m, "trials", orch_store_name_is_trial, S_IFDIR);
        m.moved[2] = move_entries(&m, "checkpoints", orch_store_name_is_checkpoint, S_IFDIR);
        warn_of_move(store, &m, from);
    }
    if (m.to >= 0)
        close(m.to);
    close(m.from);
    if (!ok && error && !*error)
        orch_error_set(error, ORCH_ERROR_STORE, "run the same command again",
                       "cannot move the files of store '%s': '%s' changed meanwhile",
                       orch_store_path(store), store->folder);
    return ok;
}
