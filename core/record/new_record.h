/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the store will hold of a trial that is about to start, besides what its journal says. */
#ifndef ORCH_CORE_RECORD_NEW_RECORD_H
#define ORCH_CORE_RECORD_NEW_RECORD_H

#include "core/record/trialdir.h"

/** Returns the record (store/write/trial_record.h) of a new run with that key as JSON text, and
 * stores the files that the run keeps. NULL on error. The caller frees. */
char *orch_new_record_make(struct orch_plan *plan, const struct orch_plan_item *item,
                           json_t *inputs, const struct orch_run_slot *slot, const char *key,
                           const char *argv_json, GError **error);

/** Returns the cost that the plugin declares for the item's parameters, or NULL when there is none.
 * The caller releases it. */
json_t *orch_item_cost(struct orch_plan *plan, const struct orch_plan_item *item);

#endif
