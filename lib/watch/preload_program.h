/* SPDX-License-Identifier: MIT */
/* Whether a program would load orch-watch.so. */
#ifndef ORCH_WATCH_PRELOAD_PROGRAM_H
#define ORCH_WATCH_PRELOAD_PROGRAM_H

#include "lib/watch/watch_map.h"

#include <stdbool.h>

/** False for a program that is known to load no library before its own: a static one, one of
 * another machine, one that gets another user's rights, and a script whose interpreter is one of
 * these. True also when it cannot be looked at. */
bool orch_watch_program_loads(int dirfd, const char *path);

/** Where execvp and posix_spawnp find a program: `path` is `file` itself when it has a slash. False
 * when it is nowhere. `folders`: the value of PATH, or NULL. */
bool orch_watch_program_find(const char *file, const char *folders,
                             char path[ORCH_WATCH_PATH_BYTES]);

#endif
