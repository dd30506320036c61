/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scans all points of a file, run after run. A store has at most one scan at a time. */
#ifndef ORCH_STORE_SCAN_H
#define ORCH_STORE_SCAN_H

#include "store/handle/handle.h"

struct store_scan;
struct store_scan *orch_store_scan_new(struct orch_store *from);
void orch_store_scan_free(struct store_scan *scan);
/** Resets the cursor. */
void orch_store_scan_rest(struct store_scan *scan);

/** A row of `metric`. NULL in a real column is NaN. */
struct store_scanned {
    int64_t run, name_id, step;
    double t_ms, value;
    bool is_sound; /* each value has the type of its column */
};
/** Moves to the first row of a run. Returns 1, 0 when the run has no rows and -1 on failure. Runs
 * must be requested in ascending order. */
int orch_store_scan_find(struct store_scan *scan, int64_t run_id);
/** Moves to the next row, which may belong to another run. Returns 1, 0 at the end and -1 on
 * failure. */
int orch_store_scan_next(struct store_scan *scan);
/** The current row. Borrowed until the next call. */
const struct store_scanned *orch_store_scan_row(const struct store_scan *scan);
/** After a failure: orch_store_scan_is_damage is true when it concerns only the row and not the
 * whole file, and orch_store_scan_problem returns the error, which the caller frees. */
bool orch_store_scan_is_damage(const struct store_scan *scan);
GError *orch_store_scan_problem(struct store_scan *scan);

#endif
