/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fields of a run as every output names them: `orch show --json`, `orch ls --json`, `orch
 * export` and the API of the web page take names and values from here. docs/run-fields.md lists
 * them.
 */
#ifndef ORCH_STORE_RUN_JSON_H
#define ORCH_STORE_RUN_JSON_H

#include "store/store.h"

/** The name of field `index`, from 0, in the order of docs/run-fields.md; NULL after the last. */
const char *orch_run_json_field(size_t index);

/** The value of a field, JSON null where the run has none. Times are ISO 8601 in UTC, and the seed
 * is a text of its 64 bits. NULL when no field has that name. New reference. */
json_t *orch_run_json_value(const struct orch_run *run, const char *name);

/** A run without its points: an object of all its fields and of the related data in the store:
 * name, tags, notes, removal, params, results, units (of results), artifacts, inputs. New
 * reference; NULL with an error when the store cannot be read. */
json_t *orch_run_json(struct orch_store *store, const struct orch_run *run, GError **error);

/** The summary of one metric: name, unit, better, points, first, last, min, max, mean, last_step,
 * min_step, max_step. New reference. */
json_t *orch_summary_json(const struct orch_metric_summary *summary);

#endif
