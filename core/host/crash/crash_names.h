/* SPDX-License-Identifier: MIT */
/* Names for the addresses of a process that is gone. */
#ifndef ORCH_HOST_CRASH_NAMES_H
#define ORCH_HOST_CRASH_NAMES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct crash_frame {
    uint64_t address;
    bool is_return; /* the address after a call; else that of the instruction itself */
    bool is_plugin; /* it is one of the plugin's */
    char **names; /* "step at /src/crash.c:12"; several where functions were inlined, the innermost
                     first. Set by orch_crash_names_find, never empty */
};
void orch_crash_frame_clear(void *frame);

/** Finds names for the frames (struct crash_frame). `maps` (char *) are lines of /proc/PID/maps;
 * `plugin` is the plugin's file, from which names are taken if it still has the digest `sha256`
 * (NULL: not checked). Takes 10 s at most. */
void orch_crash_names_find(const char *plugin, const char *sha256, const GPtrArray *maps,
                           GArray *frames);
/** "step at crash.c:12", without the file's folder. The caller frees. */
char *orch_crash_name_short(const char *name);

#endif
