/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Locks that git holds on refs of results. */
#include "features/share/remotes/results_private.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_S 5 /* seconds after which an unchanged lock is considered stale */

/* git holds a ref's lock for milliseconds, but a process that dies meanwhile leaves it for ever.
 * The lock's age cannot be used because clocks differ, so a stale lock is one that has been the
 * same file for LOCK_S seconds. */
void orch_results_lock_wait(const char *path)
{
    struct stat first, now;
    int64_t since_us = g_get_monotonic_time();
    if (stat(path, &first) != 0)
        return;
    while (stat(path, &now) == 0) {
        if (now.st_ino != first.st_ino || now.st_mtim.tv_nsec != first.st_mtim.tv_nsec) {
            first = now;
            since_us = g_get_monotonic_time();
        }
        if (g_get_monotonic_time() - since_us > LOCK_S * G_USEC_PER_SEC) {
            unlink(path);
            return;
        }
        g_usleep(20000);
    }
}

bool orch_results_is_ref_locked(const char *said)
{
    return strstr(said, "cannot lock ref") || strstr(said, "failed to lock") ||
           (strstr(said, ".lock'") && strstr(said, "File exists"));
}
