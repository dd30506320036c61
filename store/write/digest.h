/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The digest of a run and of the whole store (docs/store.md).
 */
#ifndef ORCH_STORE_DIGEST_H
#define ORCH_STORE_DIGEST_H

#include "store/handle/handle.h"

/** The points of one metric, hashed while they are written. They need not be read back as long as
 * their steps ascend. */
struct store_points;
struct store_points *orch_store_points_new(void);
void orch_store_points_free(struct store_points *points);
void orch_store_points_add(struct store_points *points, int64_t step, double t_ms, double value);

/** A metric of a run. */
struct store_metric {
    int64_t name_id;
    const char *name, *unit, *better;
    struct store_points *points; /* NULL: they must be read from the store */
};
/** Digest of a run, computed from its rows. `key` replaces the row's key unless it is NULL.
 * `metrics` (struct store_metric) lists all metrics of the run in any order and is sorted here;
 * NULL reads the list from the store. */
bool orch_store_digest_run(struct orch_store *store, int64_t run_id, const char *key,
                           GArray *metrics, char out[ORCH_SHA256_CHARS], GError **error);

/** Query of the pairs that the store's digest covers, sorted: key, digest, id of the run (0: a
 * conflict). orch_store_pair_line formats a row of it. */
extern const char store_pairs_sql[];
void orch_store_pair_line(sqlite3_stmt *pair, GString *out);

/** Query of the metrics of a run (id, name, unit, better), by name. It seeks from one metric to the
 * next in the primary key and does not scan the points. */
extern const char store_run_metrics_sql[];
/** Query of the points (step, t_ms, value) of a run and the id of one of its metrics, by step. */
extern const char store_points_sql[];

#endif
