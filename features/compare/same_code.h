/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of other commits that are also valid for a given commit. `orch run` makes no new run when
 * nothing that a trial reads has changed, so a commit that only edits a README has no runs of its
 * own. */
#ifndef ORCH_FEATURES_COMPARE_SAME_CODE_H
#define ORCH_FEATURES_COMPARE_SAME_CODE_H

#include "lib/vcs/vcs.h"
#include "store/store.h"

/** Selects from `runs` (struct orch_run *, any order; taken over) those that could equally have
 * been made from `tree`: between their tree and `tree` no file of their code, no file that they
 * read and no recipe differs. Runs whose code is unknown (recorded by hand, imported) are never
 * selected. The caller unrefs. NULL when the store cannot be read. */
GPtrArray *orch_runs_of_same_code(struct orch_vcs *vcs, struct orch_store *store, const char *tree,
                                  GPtrArray *runs, GError **error);

#endif
