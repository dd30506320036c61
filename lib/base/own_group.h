/* SPDX-License-Identifier: MIT */
#ifndef ORCH_BASE_OWN_GROUP_H
#define ORCH_BASE_OWN_GROUP_H

#include <spawn.h>

/** Initializes attributes for posix_spawn: the child leads a process group of its own, so that
 * signals of the terminal do not reach it, and no signal is blocked or ignored in it. The caller
 * destroys them. */
void orch_spawn_own_group(posix_spawnattr_t *out);

#endif
