/* SPDX-License-Identifier: MIT */
/* A walk through a tree of files. Links are not followed, and two descriptors are enough for any
 * depth. */
#ifndef ORCH_BASE_WALK_H
#define ORCH_BASE_WALK_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/** An entry. A folder is visited before its entries and once more after them. */
struct orch_walked {
    int folder;              /* descriptor of the folder that has it */
    const char *name, *path; /* in that folder; from where the walk began */
    struct stat info;
    bool is_left; /* its entries have been visited */
};

/** Returns whether the walk enters a folder; the answer does not matter for anything else. The
 * visitor may remove, move or rename the entry. */
typedef bool (*orch_walk_visit)(void *ctx, const struct orch_walked *entry);

/** Visits everything in a folder, by name. `unlocks`: a folder below it that its owner, the user,
 * may not read or change is made accessible first. False with errno when some folder could not be
 * read; the others are visited all the same. `*out_failed` (may be NULL) becomes the first such
 * folder; the caller frees. */
bool orch_walk(int folder, bool unlocks, orch_walk_visit visit, void *ctx, char **out_failed);

/** Removes an entry of a folder with all that it holds. Keeps what is mounted there. Goes on after
 * a failure. False with errno; `*out_failed` (may be NULL) becomes the first entry that could not
 * be removed, as a path that begins with `name`; the caller frees. True when there is nothing.
 */
bool orch_walk_remove(int folder, const char *name, char **out_failed);

#endif
