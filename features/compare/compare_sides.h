/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Resolves what a user typed into the runs of one side of a comparison. */
#ifndef ORCH_FEATURES_COMPARE_COMPARE_SIDES_H
#define ORCH_FEATURES_COMPARE_COMPARE_SIDES_H

#include "features/compare/compare_run.h"

/** Splits "main..feature" into two names, which the caller frees. An empty end becomes HEAD.
 * Returns false when the text is not a range. */
bool orch_compare_range_split(const char *text, char **out_a, char **out_b);

/** Finds the runs that `text` names. In this order it is tried as a filter (it contains an
 * operator), a run (key, key prefix, @last), an experiment ("hw4/finetune", or "finetune" when
 * only one recipe has that experiment), and a commit (id, branch, tag, HEAD~2, or "." for the
 * work tree with its uncommitted changes). `where` is a further filter or NULL. Warnings are
 * appended to `notes` (char *). Errors: ORCH_ERROR_NOT_FOUND, ORCH_ERROR_USAGE. */
bool orch_compare_side_find(struct orch_workspace *workspace, struct orch_store *store,
                            const char *text, const char *where, struct orch_compare_side *out,
                            GPtrArray *notes, GError **error);
/** The same, but `text` can only be a commit or ".", as at the ends of a range. */
bool orch_compare_side_of_commit(struct orch_workspace *workspace, struct orch_store *store,
                                 const char *text, const char *where, struct orch_compare_side *out,
                                 GPtrArray *notes, GError **error);

#endif
