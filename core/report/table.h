/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of answers, before it is shown: on a terminal, as CSV, Markdown, LaTeX or JSON. */
#ifndef ORCH_CORE_REPORT_TABLE_H
#define ORCH_CORE_REPORT_TABLE_H

#include "core/report/spread.h"

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct orch_table_cell {
    char *text;                /* as shown, never NULL */
    json_t *value;             /* what --json shows; NULL: the text */
    double number;             /* what it is made of; NaN: no number */
    struct orch_spread spread; /* of the runs behind the number; count 0: not made of runs */
    double standard_error;     /* of the number, when it is an estimate; else 0 */
    bool is_missing;           /* nobody has run it */
};

struct orch_table;
/** `headers`: NULL-terminated; a header that begins with '>' is right-aligned. */
struct orch_table *orch_table_new(const char *const *headers);
void orch_table_free(struct orch_table *table);

/** Adds a cell to the last row, beginning a new row when that one is full. `value` (stolen, may be
 * NULL: the text) is what --json shows. */
void orch_table_add(struct orch_table *table, const char *text, json_t *value);
void orch_table_add_int(struct orch_table *table, int64_t value);
/** Somebody: the name for people, the full text in JSON; NULL: nobody is known. */
void orch_table_add_who(struct orch_table *table, const char *who);
void orch_table_add_real(struct orch_table *table, double value); /* NaN: "-" */
/** orch_spread_format of runs, with " n=2/3" where fewer are done than `planned`. */
void orch_table_add_spread(struct orch_table *table, const struct orch_spread *spread,
                           unsigned done, unsigned planned);
/** "0.0120 (0.0003)": an estimate with its standard error in brackets; the error NaN: the estimate
 * alone. */
void orch_table_add_estimate(struct orch_table *table, double value, double standard_error);
/** "missing": a cell that nobody has run. */
void orch_table_add_missing(struct orch_table *table);

unsigned orch_table_columns(const struct orch_table *table);
unsigned orch_table_rows(const struct orch_table *table);
const char *orch_table_header(const struct orch_table *table, unsigned column);
bool orch_table_is_right(const struct orch_table *table, unsigned column);
const struct orch_table_cell *orch_table_cell(const struct orch_table *table, unsigned row,
                                              unsigned column);

enum orch_table_format {
    ORCH_TABLE_TEXT,     /* aligned columns */
    ORCH_TABLE_TSV,      /* the same texts, separated by tabs */
    ORCH_TABLE_CSV,      /* RFC 4180; where cells are means, with columns for interval and n */
    ORCH_TABLE_MARKDOWN, /* GitHub's */
    ORCH_TABLE_LATEX,    /* a tabular */
};
/** "text" (NULL, too), "tsv", "csv", "markdown", "latex"; false with ORCH_ERROR_USAGE for another.
 */
bool orch_table_format_parse(const char *name, enum orch_table_format *out, GError **error);
/** The caller frees. */
char *orch_table_format(const struct orch_table *table, enum orch_table_format format);
/** Aligned, in colour where asked for, wrapped to `limit` columns of a terminal (0: as long as it
 * likes). The caller frees. */
char *orch_table_aligned(const struct orch_table *table, bool color, int limit);
/** An array of objects, a row each; a cell of several runs has a second key, its column's with
 * "_spread": n, form ("runs", "interval", "median and range"), low and high; an estimate one with
 * "_se", its standard error. New reference. */
json_t *orch_table_json(const struct orch_table *table);

/** Columns that a text takes on a terminal. */
int orch_text_columns(const char *text);
/** The escape sequence that colours a state's name, or NULL. Static. */
const char *orch_color_of(const char *word);

#endif
