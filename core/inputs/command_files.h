/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of a repository that a command provably uses: those that its words name and, for
 * scripts, the modules and scripts that these use in turn. */
#ifndef ORCH_CORE_INPUTS_COMMAND_FILES_H
#define ORCH_CORE_INPUTS_COMMAND_FILES_H

#include <glib.h>

/** Files that a command uses: sets of char *, which own them. */
struct orch_used_files {
    GHashTable *code;    /* candidates that words name or that scripts use as code; relative */
    GHashTable *ignored; /* the same of other files below the root, which git ignores; absolute */
    GHashTable *data;    /* files that scripts name in literal texts, absolute; whether the scripts
                            read or write them is for the caller to find out */
};
void orch_used_files_init(struct orch_used_files *used);
void orch_used_files_clear(struct orch_used_files *used);

/** Adds to `used` the files that command `argv` (NULL-terminated, or NULL), started in `folder`,
 * provably uses. `files`: the candidate files, sorted, relative to `root`; their text is read from
 * disk. A file that is unreadable or larger than 1 MiB is added, but its text is not searched. */
void orch_command_files(const char *root, const char *folder, char *const *argv,
                        const GPtrArray *files, struct orch_used_files *used);

#endif
