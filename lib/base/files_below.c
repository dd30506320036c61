/* SPDX-License-Identifier: MIT */
/* One openat with O_NOFOLLOW per component. openat2 with RESOLVE_BENEATH would need only one call,
 * but is missing before Linux 5.6 and blocked by the seccomp filters of older containers. */
#include "lib/base/files_below.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"
#include "lib/base/walk.h"
#include "lib/base/write_all.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FOLDER_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

static void close_quietly(int fd)
{
    int saved = errno;
    if (fd >= 0)
        close(fd);
    errno = saved;
}

/* The kernel reports ENOTDIR for a link where a folder is required; this reports ELOOP. */
static int open_folder_at(int parent, const char *name)
{
    int fd = openat(parent, name, FOLDER_FLAGS);
    struct stat info;
    if (fd < 0 && errno == ENOTDIR) {
        bool is_link =
            fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode);
        errno = is_link ? ELOOP : ENOTDIR;
    }
    return fd;
}

int orch_below_root(const char *path)
{
    return open_folder_at(AT_FDCWD, path);
}

bool orch_below_path_is_valid(const char *path)
{
    if (!path || !*path || strlen(path) >= 4096)
        return false;
    for (const char *at = path;; at++) {
        size_t length = strcspn(at, "/");
        if (length == 0 || length > 255 || (length == 1 && at[0] == '.') ||
            (length == 2 && at[0] == '.' && at[1] == '.'))
            return false;
        at += length;
        if (!*at)
            return true;
    }
}

/* Opens the folder that contains the last component; the caller closes it unless it is `root`. */
static int open_parent(int root, const char *path, bool makes, mode_t mode, const char **out_name)
{
    if (!orch_below_path_is_valid(path)) {
        errno = EINVAL;
        return -1;
    }
    int at = root;
    const char *slash;
    while (at >= 0 && (slash = strchr(path, '/'))) {
        char name[256];
        g_strlcpy(name, path, (gsize)(slash - path) + 1);
        if (makes && mkdirat(at, name, mode) != 0 && errno != EEXIST) {
            if (at != root)
                close_quietly(at);
            return -1;
        }
        int next = open_folder_at(at, name);
        if (at != root)
            close_quietly(at);
        at = next;
        path = slash + 1;
    }
    *out_name = path;
    return at;
}

int orch_below_open(int root, const char *path, int flags, mode_t mode)
{
    const char *name;
    int parent = open_parent(root, path, false, 0, &name);
    if (parent < 0)
        return -1;
    int fd = flags & O_DIRECTORY
                 ? open_folder_at(parent, name)
                 : openat(parent, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode);
    if (parent != root)
        close_quietly(parent);
    return fd;
}

int orch_below_open_file(int root, const char *path)
{
    struct stat info;
    int fd = orch_below_open(root, path, O_RDONLY, 0);
    if (fd >= 0 && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))) {
        close(fd);
        errno = EINVAL;
        fd = -1;
    }
    return fd;
}

int orch_below_make_folder(int root, const char *path, mode_t mode)
{
    const char *name;
    int parent = open_parent(root, path, true, mode, &name);
    if (parent < 0)
        return -1;
    int fd =
        mkdirat(parent, name, mode) == 0 || errno == EEXIST ? open_folder_at(parent, name) : -1;
    if (parent != root)
        close_quietly(parent);
    return fd;
}

bool orch_below_stat(int root, const char *path, struct stat *out)
{
    const char *name;
    int parent = open_parent(root, path, false, 0, &name);
    if (parent < 0)
        return false;
    bool ok = fstatat(parent, name, out, AT_SYMLINK_NOFOLLOW) == 0;
    if (parent != root)
        close_quietly(parent);
    return ok;
}

GPtrArray *orch_below_list(int root, const char *path)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    int fd = *path ? orch_below_open(root, path, O_DIRECTORY, 0) : openat(root, ".", FOLDER_FLAGS);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            g_ptr_array_add(names, g_strdup(entry->d_name));
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
    g_ptr_array_sort(names, orch_compare_texts);
    return names;
}

/* ---- whole files ------------------------------------------------------------------------------
 */

bool orch_below_read(int root, const char *path, size_t max_bytes, char **out, size_t *out_length,
                     GError **error)
{
    int fd = orch_below_open_file(root, path);
    if (fd < 0) {
        if (errno == EINVAL)
            orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot read '%s': not a regular file",
                           path);
        else
            orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot read '%s'", path);
        return false;
    }
    bool ok = orch_file_read_fd(fd, path, max_bytes, out, out_length, error);
    close(fd);
    return ok;
}

/* `mode` 0: as the umask has it. */
static bool replace_file(int root, const char *path, const void *bytes, size_t length, bool durable,
                         mode_t mode, GError **error)
{
    static unsigned serial;
    const char *name = path;
    int parent = open_parent(root, path, false, 0, &name);
    g_autofree char *temporary = g_strdup_printf("%s.tmp%d.%u", name, (int)getpid(), serial++);
    int fd = parent < 0 ? -1
                        : openat(parent, temporary,
                                 O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    bool ok = fd >= 0 && (!mode || fchmod(fd, mode) == 0) && orch_write_all(fd, bytes, length) &&
              (!durable || fsync(fd) == 0) && renameat(parent, temporary, parent, name) == 0;
    if (!ok)
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot write '%s'", path);
    if (!ok && fd >= 0)
        unlinkat(parent, temporary, 0);
    if (fd >= 0)
        close(fd);
    if (parent >= 0 && parent != root)
        close(parent);
    return ok;
}

bool orch_below_write(int root, const char *path, const void *bytes, size_t length, bool durable,
                      GError **error)
{
    return replace_file(root, path, bytes, length, durable, 0, error);
}

bool orch_below_write_mode(int root, const char *path, const void *bytes, size_t length,
                           bool durable, mode_t mode, GError **error)
{
    return replace_file(root, path, bytes, length, durable, mode, error);
}

/* ---- trees ------------------------------------------------------------------------------------
 */

bool orch_below_remove(int root, const char *path, GError **error)
{
    struct stat here, info;
    const char *name;
    g_autofree char *failed = NULL;
    int parent = open_parent(root, path, false, 0, &name);
    if (parent < 0 && errno == ENOENT)
        return true;
    bool ok = parent >= 0 && fstat(root, &here) == 0;
    if (ok && fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
        info.st_dev != here.st_dev) {
        errno = EXDEV;
        ok = false;
    }
    ok = ok && orch_walk_remove(parent, name, &failed);
    if (!ok)
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot remove '%.*s%s'",
                             failed ? (int)(name - path) : 0, path, failed ? failed : path);
    if (parent >= 0 && parent != root)
        close(parent);
    return ok;
}

static bool add_bytes(void *ctx, const struct orch_walked *entry)
{
    int64_t *bytes = ctx;
    if (S_ISREG(entry->info.st_mode))
        *bytes += entry->info.st_size;
    return true;
}

int64_t orch_below_bytes(int root, const char *path)
{
    struct stat info;
    if (!orch_below_stat(root, path, &info))
        return 0;
    if (!S_ISDIR(info.st_mode))
        return S_ISREG(info.st_mode) ? info.st_size : 0;
    int64_t bytes = 0;
    int fd = orch_below_open(root, path, O_DIRECTORY, 0);
    if (fd >= 0) {
        orch_walk(fd, false, add_bytes, &bytes, NULL);
        close(fd);
    }
    return bytes;
}
