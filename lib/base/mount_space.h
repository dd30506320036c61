/* SPDX-License-Identifier: MIT */
/* Mount namespaces: a process and its children see other files at a path than everybody else. */
#ifndef ORCH_BASE_MOUNT_SPACE_H
#define ORCH_BASE_MOUNT_SPACE_H

#include <glib.h>
#include <stdbool.h>

/** True when processes of this user may have mounts of their own; tried once in a child process.
 * False with $ORCH_APART set to "links". */
bool orch_mount_space_is_allowed(void);

/** Gives the calling process, which must have one thread, mounts of its own: as root in a mount
 * namespace, else also in a user namespace in which it has the same ids. False with errno. */
bool orch_mount_space_enter(void);

/** Shows the file or folder `from` at the path `to`, which must exist and be of the same kind.
 * False with errno. */
bool orch_mount_bind(const char *from, const char *to);

#endif
