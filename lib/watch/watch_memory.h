/* SPDX-License-Identifier: MIT */
/* The host's side of the memory in which a trial's processes note the files that they open
 * (watch_map.h). */
#ifndef ORCH_WATCH_MEMORY_H
#define ORCH_WATCH_MEMORY_H

#include "lib/watch/watch_map.h"

#include <glib.h>
#include <stdbool.h>

struct orch_watch_memory;

/** Makes the memory for files at or below `roots` (absolute paths). It lives in no file
 * system, so that a full disk cannot harm the program. NULL when that is not possible here. */
struct orch_watch_memory *orch_watch_memory_new(const GPtrArray *roots);
void orch_watch_memory_free(struct orch_watch_memory *memory);

/** Adds the variable by which a process finds the memory. Takes `env` over. */
char **orch_watch_memory_environment(const struct orch_watch_memory *memory, char **env);
/** Adds the variables that let a program started with `env` load the library: an LD_PRELOAD that is
 * there stays first. Takes `env` over. */
char **orch_watch_library_environment(const char *library, char **env);

/** For forks of this process. Borrowed. */
struct orch_watch_map *orch_watch_memory_map(const struct orch_watch_memory *memory);

/** True when nothing was recorded, and nothing is missing. */
bool orch_watch_memory_is_empty(const struct orch_watch_memory *memory);

/** What could not be recorded. */
struct orch_watch_gaps {
    uint64_t attached;  /* processes that noted files */
    uint64_t lost;      /* programs that were started, and did not load the library */
    uint64_t left_out;  /* files for which there was no room */
    uint64_t unnamed;   /* files whose path is too long, or could not be told */
    uint64_t unwatched; /* roots for which there was no room */
};
struct orch_watch_gaps orch_watch_memory_gaps(const struct orch_watch_memory *memory);

struct orch_watch_entry {
    enum orch_watch_kind kind;
    const char *path;                           /* absolute, of any bytes */
    const char *to;                             /* of MOVE: the folder's new path; NULL otherwise */
    const struct orch_watch_identity *identity; /* NULL: unknown */
    bool is_opened;                             /* of WRITE: for writing */
};
typedef void orch_watch_visitor(void *ctx, const struct orch_watch_entry *entry);
/** Calls `visit` for each record, in the order in which they were made. A program may have written
 * anything there: paths need not exist, but they are absolute and end. */
void orch_watch_memory_visit(const struct orch_watch_memory *memory, orch_watch_visitor *visit,
                             void *ctx);

#endif
