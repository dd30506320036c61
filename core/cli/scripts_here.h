/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The scripts and recipes of a folder, for a user who asks what to type in it. */
#ifndef ORCH_CORE_CLI_SCRIPTS_HERE_H
#define ORCH_CORE_CLI_SCRIPTS_HERE_H

#include <glib.h>
#include <stdbool.h>

/** At most this many entries of a folder are looked at. */
#define ORCH_HERE_ENTRIES 20000

/** What the current folder has. The paths are relative to it, valid UTF-8 without hidden
 * characters. */
struct orch_here {
    GPtrArray *scripts; /* char *: commands that start scripts ("python3 train.py"), the one that
                           most looks like the training first */
    GPtrArray *recipes; /* char *: recipes here and in recipes/, the last changed first */
    int error;          /* errno of reading the folder; 0: it was read */
};

/** Reads the current folder, recipes/, and, where the folder itself has no script, src/ and
 * scripts/, but nothing below them. */
void orch_here_read(struct orch_here *out);
void orch_here_clear(struct orch_here *here);

#endif
