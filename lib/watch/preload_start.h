/* SPDX-License-Identifier: MIT */
#ifndef ORCH_WATCH_PRELOAD_START_H
#define ORCH_WATCH_PRELOAD_START_H

/** `memory`: its path, by which other processes open it. `libraries`: the LD_PRELOAD of this
 * process, or NULL. */
void orch_watch_start_begin(const char *memory, const char *libraries);

#endif
