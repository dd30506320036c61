/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Active rows, all at once: read and taken over. */
#ifndef ORCH_STORE_ACTIVE_H
#define ORCH_STORE_ACTIVE_H

#include "store/store.h"

/** As orch_store_adopt for each of `rows` (struct orch_active_row *) and its own runner, in one
 * transaction. `out_taken` has an entry for each. */
bool orch_store_adopt_all(struct orch_store *store, const GPtrArray *rows, bool *out_taken,
                          GError **error);

/** Like orch_store_actives, but also for a store that does not belong to this user. */
GPtrArray *orch_store_actives_all(struct orch_store *store, GError **error);

#endif
