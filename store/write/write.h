/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes the rows of a run and its points.
 */
#ifndef ORCH_STORE_WRITE_H
#define ORCH_STORE_WRITE_H

#include "store/handle/handle.h"

/** The result of orch_store_write_run. */
struct store_written {
    int64_t run_id;
    char digest[ORCH_SHA256_CHARS]; /* computed from the rows as stored */
    bool is_records_fault;          /* on failure: the record is at fault, not the store */
    int64_t new_source, new_machine, first_new_name; /* ids of rows that this run added, else 0 */
};
/** Writes a run with everything it owns under `key`, within a transaction, and computes its digest
 * (always with the record's own key). With `claimed` "" the run stays open until
 * orch_store_seal_run sets the digest. A join, which disables the triggers, passes the claimed
 * digest at once and removes the run again when `out` has a different one. */
bool orch_store_write_run(struct orch_store *store, const struct orch_record *record,
                          const char *key, const char *claimed, struct store_written *out,
                          GError **error);
bool orch_store_seal_run(struct orch_store *store, const struct store_written *written,
                         GError **error);
/** Removes a run that was just written, sealed or not. Only within a join, which disables the
 * triggers. */
bool orch_store_unwrite_run(struct orch_store *store, const struct store_written *written,
                            GError **error);

/* ---- stream.c ---------------------------------------------------------------------------------
 */

/** A row of `metric`. */
struct store_row {
    int64_t name_id, step;
    double t_ms, value;
};
/** Fetches the next row. Returns 1 for a row, 0 at the end and -1 on failure. It may use the
 * store. */
typedef int (*store_next_row)(void *ctx, struct store_row *out);
/** Inserts all points of a run. A later point of the same metric and step replaces an earlier
 * one. */
bool orch_store_insert_points(struct orch_store *store, int64_t run_id, store_next_row next,
                              void *ctx, GError **error);

#endif
