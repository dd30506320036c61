/* SPDX-License-Identifier: MIT */
#include "lib/base/mount_space.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

static bool write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    int saved = errno;
    if (fd >= 0)
        close(fd);
    errno = saved;
    return ok;
}

/* In a user namespace a process may mount. Its files keep their owners, because its user and group
 * are mapped to themselves. */
static bool enter_with_user(void)
{
    char users[64], groups[64];
    snprintf(users, sizeof users, "%u %u 1", (unsigned)geteuid(), (unsigned)geteuid());
    snprintf(groups, sizeof groups, "%u %u 1", (unsigned)getegid(), (unsigned)getegid());
    return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
           write_text("/proc/self/setgroups", "deny") && write_text("/proc/self/uid_map", users) &&
           write_text("/proc/self/gid_map", groups);
}

bool orch_mount_space_enter(void)
{
    bool is_in = unshare(CLONE_NEWNS) == 0 || enter_with_user();
    return is_in && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

bool orch_mount_bind(const char *from, const char *to)
{
    return mount(from, to, NULL, MS_BIND | MS_REC, NULL) == 0;
}

static bool try_in_child(void)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0)
        _exit(orch_mount_space_enter() && orch_mount_bind("/tmp", "/tmp") ? 0 : 1);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool orch_mount_space_is_allowed(void)
{
    static int is_allowed = -1;
    if (g_strcmp0(g_getenv("ORCH_APART"), "links") == 0)
        return false;
    if (is_allowed < 0)
        is_allowed = try_in_child();
    return is_allowed;
}
