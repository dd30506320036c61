/* SPDX-License-Identifier: MIT */
/* Reads a record of a CSV table into a struct, described by a list of columns with type, range and
 * offset. Errors name file, line and column. */
#ifndef ORCH_LIB_DEVICES_COLUMNS_H
#define ORCH_LIB_DEVICES_COLUMNS_H

#include "lib/base/csv.h"

#include <stddef.h>

enum orch_column_kind {
    ORCH_COLUMN_TEXT,  /* const char *: borrowed from the table; one line, at most 200 characters */
    ORCH_COLUMN_DATE,  /* const char *: "2024", "2024-06" or "2024-06-30" */
    ORCH_COLUMN_COUNT, /* int */
    ORCH_COLUMN_REAL,  /* double */
    ORCH_COLUMN_CHOICE, /* int: index into `choices` */
    ORCH_COLUMN_FLAG,   /* bool: the second of two `choices` */
};

enum orch_column_presence {
    ORCH_COLUMN_FULL,     /* every record has a value */
    ORCH_COLUMN_SPARSE,   /* fields may be empty, which means 0, "" or the first choice */
    ORCH_COLUMN_MAY_LACK, /* the same, and the table may lack the column */
};

struct orch_column {
    const char *name; /* in the header; NULL ends the list */
    enum orch_column_kind kind;
    size_t offset;
    enum orch_column_presence presence;
    double min, max;            /* of a number, in the unit that ends the name */
    const char *const *choices; /* NULL-terminated */
};

/** Checks that the header has each listed column once (ORCH_COLUMN_MAY_LACK: at most once) and no
 * other. Fails with ORCH_ERROR_RECIPE. */
bool orch_columns_check(const struct orch_column *columns, const struct orch_csv *csv,
                        GError **error);
/** Fills the struct at `out` from a record of a table whose header was checked. Fails with
 * ORCH_ERROR_RECIPE and the position; `out` may then be partly filled. */
bool orch_columns_read(const struct orch_column *columns, const struct orch_csv *csv, size_t row,
                       void *out, GError **error);
/** All records of a table, header checked: zeroed structs of `size` bytes, filled by
 * orch_columns_read and owned by the array; their texts are borrowed from the table. Fails with
 * ORCH_ERROR_RECIPE and the position. */
GPtrArray *orch_columns_rows(const struct orch_column *columns, const struct orch_csv *csv,
                             size_t size, GError **error);

#endif
