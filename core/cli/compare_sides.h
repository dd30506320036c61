/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From what a user types to the runs of one side of a comparison. */
#ifndef ORCH_CORE_CLI_COMPARE_SIDES_H
#define ORCH_CORE_CLI_COMPARE_SIDES_H

#include "core/cli/cli.h"

struct compare_side {
    char *name;      /* as typed; "HEAD" for the empty end of a range */
    char *what;      /* "experiment 'finetune' of recipe 'hw4'", "commit 1a2b3c4d", ... */
    GPtrArray *runs; /* struct orch_run *, newest first, that ended ok or diverged */
};
void compare_side_clear(struct compare_side *side);

/** "main..feature" in two names (the caller frees them); false: it is no range. An empty end is
 * HEAD. */
bool compare_range_split(const char *text, char **out_a, char **out_b);

/** A run (key, beginning of one, @last), an experiment ("hw4/finetune", or "finetune" where one
 * recipe alone has it), a filter (it holds an operator), a commit (id, branch, tag, HEAD~2), or "."
 * for the work tree as it lies; looked for in this order. `where`: only runs that meet this too, or
 * NULL. ORCH_ERROR_NOT_FOUND, ORCH_ERROR_USAGE. */
bool compare_side_find(struct orch_cli *cli, struct orch_store *store, const char *text,
                       const char *where, struct compare_side *out, GError **error);
/** As a commit or "." alone, as the ends of a range are. */
bool compare_side_of_commit(struct orch_cli *cli, struct orch_store *store, const char *text,
                            const char *where, struct compare_side *out, GError **error);

/** The commit (NULL for "."'s uncommitted changes) and tree that a name means; the caller frees
 * them. */
bool compare_commit(struct orch_cli *cli, const char *text, char **out_commit, char **out_tree,
                    GError **error);

#endif
