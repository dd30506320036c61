/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All points of a file, run after run. At most one scan of a store is under way. */
#ifndef ORCH_STORE_SCAN_H
#define ORCH_STORE_SCAN_H

#include "store/join_internal.h"

struct store_scan;
struct store_scan *store_scan_new(struct orch_store *from);
void store_scan_free(struct store_scan *scan);
/** Lets go of the rows. */
void store_scan_rest(struct store_scan *scan);

/** A row of `metric`. NULL in a real column is NaN. */
struct store_scanned {
    int64_t run, name_id, step;
    double t_ms, value;
    bool is_sound; /* each value is of its column's type */
};
/** Goes to the first row of a run: 1, or 0 when it has none, -1 failed. Runs are asked for in
 * rising order. */
int store_scan_find(struct store_scan *scan, int64_t run_id);
/** Goes to the next row, be it of another run: 1, 0 at the end, -1 failed. */
int store_scan_next(struct store_scan *scan);
/** The row that it stands on. Borrowed until the next call. */
const struct store_scanned *store_scan_row(const struct store_scan *scan);
/** After a failure: was it of the row, not of the whole? And what it was, to be freed. */
bool store_scan_is_damage(const struct store_scan *scan);
GError *store_scan_problem(struct store_scan *scan);

#endif
