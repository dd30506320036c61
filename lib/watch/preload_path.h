/* SPDX-License-Identifier: MIT */
/* Which file a name means, and whether it lies below a watched folder.
 *
 * A name below a watched folder is taken as the program wrote it, made absolute: two readings of
 * one name cost no system call. What it means with links in it, the host finds out at the end, when
 * it compares the file's identity. Only where the text does not say enough the kernel is asked: a
 * path outside, which may lead inside by a link, and "..", which may stand behind a link. */
#ifndef ORCH_WATCH_PRELOAD_PATH_H
#define ORCH_WATCH_PRELOAD_PATH_H

#include "lib/watch/watch_map.h"

#include <stdbool.h>
#include <stddef.h>

struct orch_watch_path {
    char text[ORCH_WATCH_PATH_BYTES];
    size_t length;
    bool is_unsure; /* ".." stands behind a name, which may be a link */
};

/** How a name leads to its file. */
enum orch_watch_leaf {
    ORCH_WATCH_FOLLOWED, /* what a link at its end leads to */
    ORCH_WATCH_ITSELF    /* the name in its folder: it was removed, replaced or made */
};

/** Makes a name absolute by its text. False when that is not possible. */
bool orch_watch_resolve(struct orch_watch_path *path, int dirfd, const char *name);

/** True when the file counts, and then under which name. `fd`: the opened file, or -1. A file that
 * may count, and whose name cannot be told, is counted in the memory. */
bool orch_watch_locate(struct orch_watch_path *path, int dirfd, const char *name, int fd,
                       enum orch_watch_leaf leaf);

/** The absolute path that a link of /proc stands for. False when it is none. */
bool orch_watch_path_behind(const char *link, struct orch_watch_path *path);
/** The path of an open descriptor. False when it has none. */
bool orch_watch_path_of(int fd, struct orch_watch_path *path);

/** The current folder may have changed. */
void orch_watch_forget_folder(void);
/** From now on it may change without notice. */
void orch_watch_never_keep_folder(void);

/** Once, when the memory is there: `pid` is this process. NULL: nothing is watched any more. */
void orch_watch_path_begin(struct orch_watch_map *map, int pid);

#endif
