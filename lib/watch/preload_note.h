/* SPDX-License-Identifier: MIT */
/* Records of what a process does with files, in the memory that it shares with its host. None of
 * these functions allocates, locks or changes errno; without a memory they do nothing. */
#ifndef ORCH_WATCH_PRELOAD_NOTE_H
#define ORCH_WATCH_PRELOAD_NOTE_H

#include "lib/watch/watch_map.h"

#include <stdbool.h>
#include <sys/stat.h>

/** From now on records go to `map`; `pid` is this process. */
void orch_watch_begin(struct orch_watch_map *map, int pid);
/** The memory, NULL before. */
struct orch_watch_map *orch_watch_memory(void);

/** A file was opened with these flags of open(2). Returns `fd`, which may be -1. */
int orch_watch_opened(int fd, int dirfd, const char *name, int flags);
/** A descriptor is closed now: what was written to it is complete. */
void orch_watch_closing(int fd);
/** `fd` is another number of the file `from`. Returns `fd`, which may be -1. */
int orch_watch_doubled(int fd, int from);
/** The same around fclose: where the file's record is (0: it was not opened for writing), and after
 * the stream has been closed. */
uint32_t orch_watch_written(int fd);
void orch_watch_closed(uint32_t record);

/** The file that was opened for reading last: its descriptor + 1, and more. Most programs ask for
 * its state before they read it (orch_watch_seen), which saves a look at it; else it is looked at
 * when it is read (orch_watch_reading), closed, or when the next one is opened. */
extern uint64_t orch_watch_latest;
void orch_watch_look_at_latest(int fd);
void orch_watch_end_latest(void);
void orch_watch_seen(int fd, const struct stat *info);
static inline bool orch_watch_is_latest(int fd)
{
    return (uint32_t)orch_watch_latest == (uint32_t)fd + 1 && orch_watch_latest;
}
static inline void orch_watch_reading(int fd)
{
    if (orch_watch_is_latest(fd))
        orch_watch_look_at_latest(fd);
}

/** READ: a file that was loaded or started. LOOK and LIST: of those kinds. */
void orch_watch_used(enum orch_watch_kind kind, int dirfd, const char *name);
/** The file at this name was written, made or replaced. */
void orch_watch_wrote(int dirfd, const char *name);
void orch_watch_removed(int dirfd, const char *name);
/** False for a folder, and where nothing lies. */
bool orch_watch_is_file(const char *name);
/** A file got another name. */
void orch_watch_renamed(int from_fd, const char *from, int to_fd, const char *to);
/** A file got a second name. */
void orch_watch_linked(int from_fd, const char *from, int to_fd, const char *to);
/** The attributes of the file at this name were changed. `name` NULL: of the descriptor `fd`. */
void orch_watch_touched(int fd, const char *name);
/** A descriptor that the process had when it began. */
void orch_watch_inherited(int fd);
/** A program is started that will attach (1), or it could not be (-1). */
void orch_watch_started(int count);
/** START or RING: the program at this path; NULL: that of this process. */
void orch_watch_program(enum orch_watch_kind kind, const char *path);

#endif
