/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that a trial left in its own folders (left_keep.h). They stay in the folder of the store
 * until 'orch gc', and leave this machine with nothing. */
#ifndef ORCH_CORE_INPUTS_LEFT_FILES_H
#define ORCH_CORE_INPUTS_LEFT_FILES_H

#include "store/store.h"

struct orch_left_file {
    char *path; /* relative to the folder in which it was left */
    char *link; /* what a symbolic link names; NULL for anything else */
    int64_t bytes;
};

/** What a run left: files, links, pipes. */
struct orch_left {
    GPtrArray *files; /* struct orch_left_file *, by path: the first ORCH_LEFT_LISTED */
    unsigned count;   /* all of them */
    int64_t bytes;
    char *folder; /* where they are; NULL: nothing was left, or 'orch gc' has removed it */
    char *unread; /* the first folder in it that cannot be read; or NULL */
};
enum { ORCH_LEFT_LISTED = 10000 };

/** Looks at what a run left. To be cleared. */
void orch_left_look(const struct orch_store *store, const char *key, struct orch_left *out);
void orch_left_clear(struct orch_left *left);

/** Opens one of these files for reading; a link in place of it is followed to another of them.
 * Returns -1 with an error. The caller closes it. */
int orch_left_open(const struct orch_store *store, const char *key, const char *path,
                   GError **error);

#endif
