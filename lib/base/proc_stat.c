/* SPDX-License-Identifier: MIT */
#include "lib/base/proc_stat.h"

#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool orch_proc_stat_read(pid_t pid, struct orch_proc_stat *out)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc//%d/stat", (int)pid); /* qemu-user makes up /proc/OWN/stat */
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[MAX(n, 0)] = 0;
    const char *name = strchr(text, '('), *name_end = strrchr(text, ')');
    long long user, system, children_user, children_system, start;
    if (!name_end || sscanf(name_end + 1,
                            " %c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %lld %lld %lld %lld %*s "
                            "%*s %*s %*s %lld",
                            &out->state, &out->parent, &user, &system, &children_user,
                            &children_system, &start) != 7)
        return false;
    double ticks = (double)sysconf(_SC_CLK_TCK);
    out->pid = pid;
    g_strlcpy(out->name, name + 1, MIN(sizeof out->name, (size_t)(name_end - name)));
    out->start = start;
    out->user_s = (double)user / ticks;
    out->system_s = (double)system / ticks;
    out->children_s = (double)(children_user + children_system) / ticks;
    return true;
}
