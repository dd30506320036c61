/* SPDX-License-Identifier: MIT */
#include "lib/base/own_group.h"

#include <signal.h>

void orch_spawn_own_group(posix_spawnattr_t *out)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(out);
    posix_spawnattr_setflags(out, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                      POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(out, 0);
    posix_spawnattr_setsigmask(out, &none);
    posix_spawnattr_setsigdefault(out, &all);
}
