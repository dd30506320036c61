/* SPDX-License-Identifier: MIT */
/* Brings a printed line into plain form before it is read: no colours, no signs outside ASCII that
 * stand for one of ASCII, and the rows of tables as "name: value". */
#ifndef ORCH_WIRE_PRINTED_FOLD_H
#define ORCH_WIRE_PRINTED_FOLD_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/** A table that is being printed; it lasts from line to line. */
struct printed_table {
    GPtrArray *columns; /* char *: names of the header's columns; NULL: none was printed */
    char mark;          /* what separates them: '|', '\t', ',' or ' ' */
    bool is_by_class;   /* the first column, "Class", has a name in each row */
    GString *section;   /* "rollout/": a row without a value, the beginning of the next names */
};

void orch_printed_table_clear(struct printed_table *table);

/** Writes the line without escape sequences and with plain signs to `out`. False, with `out`
 * unchanged, if the line is plain already. */
bool orch_printed_fold_line(const char *text, size_t length, GString *out);

/** True for a row of a table, which `out` then has as "name: value | name: value". Notes a header.
 * `*out_is_boxed`: the row is one of several that belong together ("| name | value |"). `text` must
 * not be part of `out`. */
bool orch_printed_fold_row(struct printed_table *table, const char *text, size_t length,
                           GString *out, bool *out_is_boxed);

/** Length in bytes of the escape sequence at `at`; 0: none. */
size_t orch_printed_escape_bytes(const char *at, const char *end);

/** True for a word that counts epochs or steps. */
bool orch_printed_is_counter(const char *word, size_t length);

#endif
