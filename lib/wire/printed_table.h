/* SPDX-License-Identifier: MIT */
/* Tables over several lines: boxes of names and values, columns under a line of names that begins
 * with a word for a step, and rows that a name in the first column tells apart. Each row is
 * rewritten as "name: value | name: value", so that names, numbers and units are read in one place
 * only (printed.c). */
#ifndef ORCH_WIRE_PRINTED_TABLE_H
#define ORCH_WIRE_PRINTED_TABLE_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/** The header of a table. */
struct printed_columns {
    GPtrArray *names; /* char *: of the columns; NULL: none was printed */
    GPtrArray *words; /* char *: the words of a header between blanks, where a column may be one */
    unsigned indent;  /* columns of blanks before the header */
    char mark;        /* what separates the columns: '|', '\t', ',' or ' ' */
    bool is_seen;     /* a row was printed below it */
    unsigned others;  /* lines since its last row */
};

/** The tables that are being printed; they last from line to line. */
struct printed_table {
    struct printed_columns by_step; /* the first column counts, or is "Class" */
    bool is_by_class;               /* it is "Class", with a name in each row */
    struct printed_columns by_name; /* texts in a row tell it from others */
    GString *header;                /* the line before, which may be a header; NULL: none */
    GString *section; /* "rollout/": a row without a value, the beginning of the next names */
};

void orch_printed_table_clear(struct printed_table *table);

/** True for a row of a table (`indent` columns of blanks stood before it), which `out` then has as
 * "name: value | name: value", and for a header or a line between rows, for which `out` is empty.
 * `*out_is_boxed`: the row is one of several that belong together ("| name | value |"). `text` must
 * not be part of `out`. */
bool orch_printed_table_row(struct printed_table *table, const char *text, size_t length,
                            unsigned indent, GString *out, bool *out_is_boxed);

#endif
