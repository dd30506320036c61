/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads runs from rows.
 */
#ifndef ORCH_STORE_RUN_COLUMNS_H
#define ORCH_STORE_RUN_COLUMNS_H

#include "store/handle/handle.h"
#include "store/write/note_rules.h"
#include "store/write/run_fields.h"

/** SQL: the columns that struct orch_run is read from; STORE_RUN_JOINS follow. */
#define STORE_RUN_COLUMNS                                                                          \
    "SELECT r.id" STORE_RUN_FIELDS(                                                                \
        STORE_FIELD_SELECT) ", r.digest,"                                                          \
                            " EXISTS (SELECT 1 FROM note n WHERE " STORE_HIDES(                    \
                                "n", "r") "),"                                                     \
                                          " EXISTS (SELECT 1 FROM purged p WHERE p.run = r.id)"

/** Reads a run from a row of STORE_RUN_COLUMNS. Texts that every run recorded by orch has (plugin,
 * version, fingerprint, device key, state, ...) are "" where an imported run has NULL. */
struct orch_run *orch_store_run_from_row(sqlite3_stmt *statement);
/** Like orch_store_run_from_row, but keeps NULL. Needed for writing the run out, because NULL and
 * "" have different digests. */
struct orch_run *orch_store_run_as_stored(sqlite3_stmt *statement);

#endif
