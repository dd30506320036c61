/* SPDX-License-Identifier: MIT */
/* The memory that a watched trial's processes share with its host: which files they opened. The
 * host makes it (watch_memory.h), preload.c and its neighbours write to it in every process of the
 * trial.
 *
 * All members that change are accessed with atomic operations only; there is no lock that a process
 * could hold when it is forked or killed. A record is appended in two steps: its place is taken by
 * moving `cursor`, and its mark is written last. A process that is killed between the two leaves a
 * gap, which a reader skips by looking for the next mark: it begins with a NUL and is no part of a
 * path. A slot of the index leads to the record of a path, so that a later writer finds it: only
 * its identity changes, and a checksum tells one that was written by halves. The index has three
 * parts; a part is used for what finds no place in the one before it, so that few files use few
 * pages. */
#ifndef ORCH_WATCH_MAP_H
#define ORCH_WATCH_MAP_H

#include <stdint.h>
#include <sys/stat.h>

/** The variable of a process's environment with the path of the memory. */
#define ORCH_WATCH_ENV "ORCH_WATCH_FILE"

#define ORCH_WATCH_MAGIC UINT64_C(0x3268637461776f6f)
enum {
    ORCH_WATCH_ROOT_BYTES = 16384,
    ORCH_WATCH_SLOTS_1 = 1 << 10, /* of the parts of the index */
    ORCH_WATCH_SLOTS_2 = 1 << 14,
    ORCH_WATCH_SLOTS_3 = 1 << 17,
    ORCH_WATCH_PLACE_BITS = 21,   /* of a slot: the place of a record in units of 8 bytes, plus 1 */
    ORCH_WATCH_BYTES = 8 << 20,   /* of all records */
    ORCH_WATCH_PATH_BYTES = 2048, /* of a path; longer ones are counted */
    ORCH_WATCH_MARK = 0x00776f00, /* "\0ow\0" */
};

enum orch_watch_kind {
    ORCH_WATCH_NONE,   /* void: another process recorded the same at the same time */
    ORCH_WATCH_READ,   /* opened for reading; the identity is that of the first time */
    ORCH_WATCH_WRITE,  /* opened for writing, created, replaced, removed; the last identity */
    ORCH_WATCH_TOUCH,  /* its attributes were changed; the last identity */
    ORCH_WATCH_LOOK,   /* not opened: a tool that builds programs looked at its times */
    ORCH_WATCH_LIST,   /* a folder whose files were listed */
    ORCH_WATCH_MOVE,   /* a folder was renamed: two paths */
    ORCH_WATCH_START,  /* a program was started that does not note what it opens */
    ORCH_WATCH_RING,   /* a program that opens files by io_uring */
    ORCH_WATCH_EXTEND, /* opened for writing, but not emptied, before the trial wrote it */
    ORCH_WATCH_KINDS
};

/** What identifies a file and its content. Inode 0: the file was removed, or is no regular one. */
struct orch_watch_identity {
    uint64_t device, inode;
    int64_t size, mtime_ns, ctime_ns;
};

struct orch_watch_record {
    uint32_t mark;
    uint16_t units;    /* of 8 bytes, with this head */
    uint8_t kind;      /* enum orch_watch_kind */
    uint8_t is_opened; /* of WRITE: for writing, not only renamed, linked or removed */
    struct orch_watch_identity identity;
    uint64_t check; /* orch_watch_check of it; other: unknown */
    char path[];    /* absolute, without "." and ".."; ends with a NUL. Of MOVE another follows */
};

struct orch_watch_map {
    uint64_t magic;
    uint64_t attached;                 /* processes that loaded preload.c */
    uint64_t started;                  /* programs that attached processes started to load it */
    uint64_t cursor;                   /* first free byte of `records` */
    uint64_t left_out;                 /* files for which there was no room */
    uint64_t unnamed;                  /* files whose path is too long, or could not be told */
    char roots[ORCH_WATCH_ROOT_BYTES]; /* texts; only files at or below one are recorded. An empty
                                          text ends them. Does not change */
    /* the other bits of a slot are some of the hash of what was recorded. 0: free */
    uint32_t index[ORCH_WATCH_SLOTS_1 + ORCH_WATCH_SLOTS_2 + ORCH_WATCH_SLOTS_3];
    char records[ORCH_WATCH_BYTES];
};

static inline struct orch_watch_identity orch_watch_identity_of(const struct stat *info)
{
    const int64_t second = 1000000000;
    return (struct orch_watch_identity){
        .device = info->st_dev,
        .inode = info->st_ino,
        .size = info->st_size,
        .mtime_ns = (int64_t)info->st_mtim.tv_sec * second + info->st_mtim.tv_nsec,
        .ctime_ns = (int64_t)info->st_ctim.tv_sec * second + info->st_ctim.tv_nsec};
}

static inline uint64_t orch_watch_check(const struct orch_watch_identity *of)
{
    const uint64_t words[] = {of->device, of->inode, (uint64_t)of->size, (uint64_t)of->mtime_ns,
                              (uint64_t)of->ctime_ns};
    uint64_t check = UINT64_C(0x6f72636877617463);
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        check = (check ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return check;
}

/** In orch-host: from now on this process notes what it opens, in a memory that it inherited (NULL:
 * in the one that the variable names, if it does). */
void orch_watch_attach(struct orch_watch_map *inherited);

#endif
