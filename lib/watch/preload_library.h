/* SPDX-License-Identifier: MIT */
/* The libraries of a process, which the loader opens, and what else it cannot note. */
#ifndef ORCH_WATCH_PRELOAD_LIBRARY_H
#define ORCH_WATCH_PRELOAD_LIBRARY_H

#include <stdbool.h>

/** Notes the libraries that are loaded now. */
void orch_watch_libraries(void);

/** True when the program was made by a compiler whose programs make system calls themselves (Go).
 */
bool orch_watch_is_without_libc(void);

#endif
