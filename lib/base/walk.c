/* SPDX-License-Identifier: MIT */
/* The folder above is opened as "..", and must be the one from which the walk came: else somebody
 * has moved a folder meanwhile, and the walk ends there. */
#include "lib/base/walk.h"

#include "lib/base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FOLDER_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

/* A folder on the way. */
struct level {
    GPtrArray *names;
    guint next;
    dev_t device;
    ino_t inode;
    gsize path_length; /* of its own path */
};

struct walk {
    bool unlocks;
    orch_walk_visit visit;
    void *ctx;
    GArray *levels; /* struct level */
    GString *path;
    int folder; /* the innermost of them */
    int fault;  /* errno of the first failure */
    char *failed;
};

static void close_quietly(int fd)
{
    int saved = errno;
    if (fd >= 0)
        close(fd);
    errno = saved;
}

static void level_clear(void *pointer)
{
    g_ptr_array_unref(((struct level *)pointer)->names);
}

static void fail(struct walk *walk, int fault)
{
    if (walk->fault)
        return;
    walk->fault = fault;
    walk->failed = g_strdup(walk->path->str);
}

/* NULL with errno. */
static GPtrArray *names_in(int folder)
{
    int again = openat(folder, ".", FOLDER_FLAGS);
    DIR *dir = again < 0 ? NULL : fdopendir(again);
    if (!dir) {
        close_quietly(again);
        return NULL;
    }
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (struct dirent *entry; (entry = readdir(dir));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            g_ptr_array_add(names, g_strdup(entry->d_name));
    closedir(dir);
    g_ptr_array_sort(names, orch_compare_texts);
    return names;
}

/* Opens a folder of the user's whatever its mode, and gives the user all rights to it. */
static int open_locked(int parent, const char *name)
{
    char link[64];
    int at = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (at < 0)
        return -1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", at);
    int fd = chmod(link, 0700) == 0 ? openat(at, ".", FOLDER_FLAGS) : -1;
    close_quietly(at);
    return fd;
}

/* Opens a folder that can be listed, and whose entries can be reached. */
static int open_folder(int parent, const char *name, bool unlocks)
{
    const int wanted = R_OK | X_OK | (unlocks ? W_OK : 0);
    int fd = openat(parent, name, FOLDER_FLAGS);
    if (fd >= 0 && faccessat(fd, ".", wanted, AT_EACCESS) == 0)
        return fd;
    close_quietly(fd);
    bool is_locked = unlocks && errno == EACCES;
    fd = is_locked ? open_locked(parent, name) : -1;
    if (is_locked && fd < 0)
        errno = EACCES; /* somebody else's */
    return fd;
}

static void enter(struct walk *walk, int parent, const char *name)
{
    struct stat info;
    int folder = open_folder(parent, name, walk->unlocks);
    GPtrArray *names = folder >= 0 && fstat(folder, &info) == 0 ? names_in(folder) : NULL;
    if (!names) {
        fail(walk, errno);
        close_quietly(folder);
        return;
    }
    struct level level = {names, 0, info.st_dev, info.st_ino, walk->path->len};
    g_array_append_val(walk->levels, level);
    close_quietly(walk->folder);
    walk->folder = folder;
}

static void visit_next(struct walk *walk, struct level *level)
{
    struct orch_walked entry = {.folder = walk->folder, .name = level->names->pdata[level->next++]};
    g_string_append_printf(walk->path, "%s%s", walk->path->len ? "/" : "", entry.name);
    entry.path = walk->path->str;
    if (fstatat(entry.folder, entry.name, &entry.info, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno != ENOENT)
            fail(walk, errno);
        return;
    }
    if (walk->visit(walk->ctx, &entry) && S_ISDIR(entry.info.st_mode))
        enter(walk, entry.folder, entry.name);
}

/* Goes back to the folder above, and visits the one that was left. False when there is none, or
 * when it is another one. */
static bool leave(struct walk *walk)
{
    struct stat inner, above;
    g_array_set_size(walk->levels, walk->levels->len - 1);
    if (!walk->levels->len)
        return false;
    const struct level *level = &g_array_index(walk->levels, struct level, walk->levels->len - 1);
    int folder = openat(walk->folder, "..", FOLDER_FLAGS);
    bool ok = folder >= 0 && fstat(walk->folder, &inner) == 0 && fstat(folder, &above) == 0;
    bool is_same = ok && above.st_dev == level->device && above.st_ino == level->inode;
    if (!is_same) {
        fail(walk, ok ? ESTALE : errno);
        close_quietly(folder);
        return false;
    }
    close(walk->folder);
    walk->folder = folder;
    struct orch_walked entry = {.folder = folder,
                                .name = level->names->pdata[level->next - 1],
                                .path = walk->path->str,
                                .info = inner,
                                .is_left = true};
    walk->visit(walk->ctx, &entry);
    return true;
}

bool orch_walk(int folder, bool unlocks, orch_walk_visit visit, void *ctx, char **out_failed)
{
    struct walk walk = {.unlocks = unlocks,
                        .visit = visit,
                        .ctx = ctx,
                        .levels = g_array_new(FALSE, FALSE, sizeof(struct level)),
                        .path = g_string_new(NULL),
                        .folder = -1};
    g_array_set_clear_func(walk.levels, level_clear);
    enter(&walk, folder, ".");
    while (walk.levels->len) {
        struct level *level = &g_array_index(walk.levels, struct level, walk.levels->len - 1);
        g_string_truncate(walk.path, level->path_length);
        if (level->next < level->names->len)
            visit_next(&walk, level);
        else if (!leave(&walk))
            break;
    }
    close_quietly(walk.folder);
    g_array_unref(walk.levels);
    g_string_free(walk.path, TRUE);
    if (out_failed)
        *out_failed = g_steal_pointer(&walk.failed);
    g_free(walk.failed);
    errno = walk.fault;
    return !walk.fault;
}

/* ---- removing ---------------------------------------------------------------------------------
 */

struct removal {
    dev_t device;
    int fault;
    char *failed;
};

static bool remove_entry(void *ctx, const struct orch_walked *entry)
{
    struct removal *removal = ctx;
    bool is_folder = S_ISDIR(entry->info.st_mode);
    bool is_elsewhere = is_folder && entry->info.st_dev != removal->device;
    if (is_folder && !entry->is_left && !is_elsewhere)
        return true;
    const int flags = is_folder ? AT_REMOVEDIR : 0;
    bool is_gone =
        !is_elsewhere && (unlinkat(entry->folder, entry->name, flags) == 0 || errno == ENOENT);
    if (!is_gone && !removal->fault) {
        removal->fault = is_elsewhere ? EXDEV : errno;
        removal->failed = g_strdup(entry->path);
    }
    return false;
}

/* Empties a folder. */
static bool empty(int parent, const char *name, char **out_failed)
{
    struct stat info;
    struct removal removal = {0};
    g_autofree char *unread = NULL;
    int folder = open_folder(parent, name, true);
    bool is_read = folder >= 0 && fstat(folder, &info) == 0;
    removal.device = is_read ? info.st_dev : 0;
    is_read = is_read && orch_walk(folder, true, remove_entry, &removal, &unread);
    int fault = is_read ? removal.fault : errno;
    const char *inner = unread && *unread ? unread : removal.failed;
    if (fault && out_failed)
        *out_failed = inner ? g_strconcat(name, "/", inner, NULL) : g_strdup(name);
    close_quietly(folder);
    g_free(removal.failed);
    errno = fault;
    return !fault;
}

bool orch_walk_remove(int folder, const char *name, char **out_failed)
{
    struct stat info;
    if (out_failed)
        *out_failed = NULL;
    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT || errno == ENOTDIR;
    bool is_folder = S_ISDIR(info.st_mode);
    if (is_folder && !empty(folder, name, out_failed))
        return false;
    if (unlinkat(folder, name, is_folder ? AT_REMOVEDIR : 0) == 0 || errno == ENOENT)
        return true;
    if (out_failed)
        *out_failed = g_strdup(name);
    return false;
}
