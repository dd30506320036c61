/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of a repository that a command provably uses: those that its words name and, for
 * scripts, the modules and scripts that these use in turn. */
#ifndef ORCH_CORE_RUN_COMMAND_FILES_H
#define ORCH_CORE_RUN_COMMAND_FILES_H

#include <glib.h>

/** Adds to `chosen` (a set of char *, which it owns) the files that command `argv`
 * (NULL-terminated, or NULL), started in `folder`, provably uses, relative to `root`. `files`: the
 * candidate files, sorted, relative to `root`; their text is read from disk. A file that is
 * unreadable or larger than 1 MiB is added, but its text is not searched. */
void orch_command_files(const char *root, const char *folder, char *const *argv,
                        const GPtrArray *files, GHashTable *chosen);

#endif
