/* SPDX-License-Identifier: MIT */
/* The memory that a watched trial's processes share with its host: which files they opened. The
 * host makes it (watch_file.h), preload.c writes to it in every process of the trial.
 *
 * All members that change are accessed with atomic operations only; there is no lock that a process
 * could hold when it is forked or killed. A record is appended in two steps: its place is taken by
 * moving `cursor`, and its mark is written last. A process that is killed between the two leaves a
 * gap, which a reader skips by looking for the next mark: it begins with a NUL and is no part of a
 * path. */
#ifndef ORCH_WATCH_MAP_H
#define ORCH_WATCH_MAP_H

#include <stdint.h>

/** The variable of a process's environment with the path of the memory. */
#define ORCH_WATCH_ENV "ORCH_WATCH_FILE"

#define ORCH_WATCH_MAGIC UINT64_C(0x3168637461776f6f)
enum {
    ORCH_WATCH_ROOT_BYTES = 16384,
    ORCH_WATCH_SLOTS = 65536,     /* of the filter */
    ORCH_WATCH_BYTES = 4 << 20,   /* of all records */
    ORCH_WATCH_PATH_BYTES = 2048, /* of a path; longer ones are counted as left out */
    ORCH_WATCH_MARK = 0x00776f00, /* "\0ow\0" */
};

/** How a file was opened for the first time in this way. */
enum orch_watch_kind {
    ORCH_WATCH_READ = 1,
    ORCH_WATCH_WRITE = 2,  /* what it held before was not read: emptied, new, appended to, replaced
                            */
    ORCH_WATCH_UPDATE = 3, /* for reading and writing, and it was not empty */
    ORCH_WATCH_LOOK = 4,   /* not opened: a tool that builds programs looked at its times */
    ORCH_WATCH_LIST = 5,   /* a folder whose files were listed */
};

struct orch_watch_record {
    uint32_t mark;
    uint16_t units; /* of 8 bytes, with this head */
    uint8_t kind;   /* enum orch_watch_kind */
    uint8_t unused;
    char path[]; /* absolute, without "." and ".."; ends with a NUL */
};

struct orch_watch_map {
    uint64_t magic;
    uint64_t attached;                 /* processes that loaded preload.c */
    uint64_t cursor;                   /* first free byte of `records` */
    uint64_t left_out;                 /* files for which there was no room */
    char roots[ORCH_WATCH_ROOT_BYTES]; /* texts; only files at or below one are recorded. An empty
                                          text ends them. Does not change */
    uint64_t filter[ORCH_WATCH_SLOTS]; /* hashes of what was recorded; 0: free */
    char records[ORCH_WATCH_BYTES];
};

/** In orch-host: from now on this process notes what it opens, in a memory that it inherited (NULL:
 * in the one that the variable names, if it does). */
void orch_watch_attach(struct orch_watch_map *inherited);

#endif
