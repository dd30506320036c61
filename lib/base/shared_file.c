/* SPDX-License-Identifier: MIT */
#include "lib/base/shared_file.h"

#include "lib/base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

char *orch_user_describe(uid_t uid)
{
    const struct passwd *user = getpwuid(uid);
    return user ? g_strdup_printf("user '%s'", user->pw_name)
                : g_strdup_printf("user %u", (unsigned)uid);
}

static const char *kind_of(mode_t mode)
{
    static const struct {
        mode_t format;
        const char *kind;
    } rows[] = {{S_IFREG, "a file"},        {S_IFDIR, "a folder"},  {S_IFLNK, "a symbolic link"},
                {S_IFIFO, "a named pipe"},  {S_IFSOCK, "a socket"}, {S_IFCHR, "a device"},
                {S_IFBLK, "a block device"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++)
        if ((mode & S_IFMT) == rows[i].format)
            return rows[i].kind;
    return "something unknown";
}

static char *describe(const struct stat *info)
{
    g_autofree char *who = orch_user_describe(info->st_uid);
    const char *more = S_ISREG(info->st_mode) && info->st_nlink > 1 ? " with further names" : "";
    return g_strdup_printf("%s%s of %s", kind_of(info->st_mode), more, who);
}

char *orch_shared_describe(int folder_fd, const char *name)
{
    struct stat info;
    return fstatat(folder_fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0 ? describe(&info) : NULL;
}

static bool is_acceptable(const struct stat *info, uid_t owner)
{
    return S_ISREG(info->st_mode) && info->st_nlink <= 1 &&
           (owner == ORCH_SHARED_ANY_OWNER || info->st_uid == owner);
}

static void set_refused(GError **error, const char *shown, const char *found, uid_t owner)
{
    g_autofree char *who = owner == ORCH_SHARED_ANY_OWNER ? NULL : orch_user_describe(owner);
    orch_error_set(error, ORCH_ERROR_IO, "the file's owner or root can remove it",
                   "cannot use '%s': it is %s, expected a regular file%s%s", shown, found,
                   who ? " of " : "", who ? who : "");
}

/* The error of an open(2) that failed. */
static void set_unopened(GError **error, int folder_fd, const char *name, const char *shown,
                         int saved, uid_t owner)
{
    g_autofree char *found = orch_shared_describe(folder_fd, name);
    struct stat info;
    if (saved == ENOENT)
        orch_error_set_errno(error, ORCH_ERROR_NOT_FOUND, saved, "cannot open '%s'", shown);
    else if (found && fstatat(folder_fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
             !is_acceptable(&info, owner))
        set_refused(error, shown, found, owner);
    else
        orch_error_set_errno(error, ORCH_ERROR_IO, saved, "cannot open '%s' (%s)", shown,
                             found ? found : "it is gone");
}

int orch_shared_open(int folder_fd, const char *name, const char *shown, int flags, mode_t mode,
                     uid_t owner, GError **error)
{
    struct stat info = {0};
    int fd = openat(folder_fd, name,
                    (flags & ~O_TRUNC) | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode);
    if (fd < 0) {
        set_unopened(error, folder_fd, name, shown, errno, owner);
        return -1;
    }
    if (fstat(fd, &info) == 0 && is_acceptable(&info, owner)) {
        if (!(flags & O_TRUNC) || ftruncate(fd, 0) == 0)
            return fd;
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot empty '%s'", shown);
    } else {
        g_autofree char *found = describe(&info);
        set_refused(error, shown, found, owner);
    }
    close(fd);
    return -1;
}
