/* SPDX-License-Identifier: MIT */
#ifndef ORCH_WATCH_PRELOAD_FOLDER_H
#define ORCH_WATCH_PRELOAD_FOLDER_H

/** Of tools that build programs (by the name of this process's program) the files at whose times
 * they look count, too: those that are up to date are not opened. */
void orch_watch_folder_begin(const char *program);

#endif
