/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How values are compared by conditions: numbers as numbers, texts by their bytes. */
#ifndef ORCH_STORE_COMPARE_VALUES_H
#define ORCH_STORE_COMPARE_VALUES_H

#include "lib/base/condition.h"

#include <sqlite3.h>
#include <stdbool.h>

/** Parses a stored number, also one that keeps the spelling that was typed ("1_000", "0123"). */
bool orch_store_number_of(const char *text, double *out);

/** Adds the functions that the store's SQL uses to a connection: orch_is_who(who, text),
 * orch_number(x) and orch_match(left, op, text, number). Returns SQLite's code. */
int orch_store_add_functions(sqlite3 *db);

#endif
