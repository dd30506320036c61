/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a store holds, where it is, and whether it is as it was recorded. */
#ifndef ORCH_CORE_RESULTS_UPKEEP_H
#define ORCH_CORE_RESULTS_UPKEEP_H

#include "store/store.h"

struct orch_upkeep {
    const char *path; /* borrowed from the store */
    const char *folder;
    bool is_shared; /* hosts share it, each with a file of its own */
    struct orch_store_info info;
    GPtrArray *shards; /* struct orch_shard *: these files; empty for a store that is not shared */
};
/** Describes an open store. Clear with orch_upkeep_clear in both cases. */
bool orch_upkeep_look(struct orch_store *store, struct orch_upkeep *out, GError **error);
void orch_upkeep_clear(struct orch_upkeep *upkeep);

struct orch_upkeep_check {
    GPtrArray *findings;    /* char *: what is not as it was recorded */
    int64_t runs, datasets; /* checked */
};
/** Recomputes every digest and looks for damage. False only when the check could not run. Clear
 * with orch_upkeep_check_clear in both cases. */
bool orch_upkeep_check(struct orch_store *store, struct orch_upkeep_check *out, GError **error);
void orch_upkeep_check_clear(struct orch_upkeep_check *check);

#endif
