/* SPDX-License-Identifier: MIT */
#include "lib/watch/preload_next.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

/* May be missing in programs of an old C library. */
#pragma weak dlsym

#define NAME(name) #name,
static const char *const NAMES[ORCH_WATCH_NEXT_COUNT] = {ORCH_WATCH_FUNCTIONS(NAME)};

static void *found[ORCH_WATCH_NEXT_COUNT];

void *orch_watch_next(enum orch_watch_next which)
{
    void *there = __atomic_load_n(&found[which], __ATOMIC_RELAXED);
    if (!there && dlsym) {
        there = dlsym(RTLD_NEXT, NAMES[which]);
        __atomic_store_n(&found[which], there, __ATOMIC_RELAXED);
    }
    return there;
}

void orch_watch_find_next(void)
{
    for (unsigned i = 0; i < ORCH_WATCH_NEXT_COUNT; i++)
        orch_watch_next((enum orch_watch_next)i);
}

int orch_watch_missing(void)
{
    errno = ENOSYS;
    return -1;
}
