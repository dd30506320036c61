/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SQL of the user, read-only and bounded. */
#ifndef ORCH_STORE_ASK_H
#define ORCH_STORE_ASK_H

#include "store/store.h"

/** Most rows of an answer. */
#define ORCH_STORE_ASK_ROWS 1000000

/** A view that a query finds beside the tables of the store. */
struct orch_store_view {
    const char *name; /* NULL ends a table */
    const char *columns, *sql;
};
extern const struct orch_store_view ORCH_STORE_VIEWS[];

/** Answers one SELECT within `seconds`: {"columns": [name...], "rows": [[value...]...]}, in which a
 * BLOB is hexadecimal text, and equal names of columns are told apart by ":2". The statement can
 * neither change the store nor reach another file. Removed runs are not in the views. NULL with
 * ORCH_ERROR_USAGE for a statement that cannot be run, ORCH_ERROR_BUDGET when it takes too long, or
 * ORCH_ERROR_STORE. New reference. */
json_t *orch_store_ask(struct orch_store *store, const char *sql, double seconds, GError **error);

#endif
