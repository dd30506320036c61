/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which code a run had, to tell runs of one version from those of another. */
#ifndef ORCH_FEATURES_SEARCH_RUN_CODE_H
#define ORCH_FEATURES_SEARCH_RUN_CODE_H

#include "store/store.h"

/** Notes the code of a run in a set, or tests whether it is there. False with an error when the
 * store cannot be read. */
bool orch_run_code_add(struct orch_store *store, const struct orch_run *run, GHashTable *codes,
                       GError **error);
bool orch_run_code_is_in(struct orch_store *store, const struct orch_run *run, GHashTable *codes,
                         bool *out, GError **error);

#endif
