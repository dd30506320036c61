/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table in memory. It is printed on a terminal or written as CSV, Markdown, LaTeX or JSON. */
#ifndef ORCH_CORE_RENDER_TABLE_H
#define ORCH_CORE_RENDER_TABLE_H

#include "core/stats/spread.h"

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct orch_table_cell {
    char *text;                /* as shown, never NULL */
    json_t *value;             /* the value in JSON; NULL: the text */
    double number;             /* the number that the text shows; NaN: none */
    struct orch_spread spread; /* spread over runs; count 0: not from runs */
    double standard_error;     /* of the number, when it is an estimate; else 0 */
    bool is_missing;           /* the trial has not run */
};

struct orch_table;
/** Creates a table. `headers` is NULL-terminated; a header that begins with '>' is right-aligned.
 */
struct orch_table *orch_table_new(const char *const *headers);
void orch_table_free(struct orch_table *table);
/** Sets a column's name in JSON. The default is its header in lower case; "" leaves it out. */
void orch_table_set_name(struct orch_table *table, unsigned column, const char *name);

/** Sets what people read above a column: `label` instead of its header (NULL: the header), and
 * `group` above neighbouring columns with the same one (NULL: nothing). CSV, TSV and JSON have the
 * header. */
void orch_table_set_heading(struct orch_table *table, unsigned column, const char *group,
                            const char *label);

/** Appends a cell to the last row, or to a new row when that one is full. `value` (ownership is
 * taken; NULL: the text) is the value in JSON. */
void orch_table_add(struct orch_table *table, const char *text, json_t *value);
/** Replaces the value in JSON of the last cell (ownership is taken). */
void orch_table_set_value(struct orch_table *table, json_t *value);
void orch_table_add_int(struct orch_table *table, int64_t value);
/** Appends a user: the name in the table, the full text in JSON. NULL: unknown. */
void orch_table_add_who(struct orch_table *table, const char *who);
void orch_table_add_real(struct orch_table *table, double value); /* NaN: "-" */
/** Appends a spread formatted by orch_spread_format, with ", 2 of 3 trials" when fewer than
 * `planned` runs are done. */
void orch_table_add_spread(struct orch_table *table, const struct orch_spread *spread,
                           unsigned done, unsigned planned);
/** Appends an estimate with its standard error in brackets: "0.0120 (0.0003)"; without the error
 * when that is NaN. */
void orch_table_add_estimate(struct orch_table *table, double value, double standard_error);
/** Appends "missing", for a trial that has not run. */
void orch_table_add_missing(struct orch_table *table);

/** From now on large numbers in the cells are shown with grouped digits (orch_digits_grouped), but
 * in the first column, which names the row, and in CSV, TSV and JSON. */
void orch_table_group_digits(struct orch_table *table);
/** Returns the text of a cell as people read it. The caller frees. */
char *orch_table_shown(const struct orch_table *table, unsigned row, unsigned column);

unsigned orch_table_columns(const struct orch_table *table);
unsigned orch_table_rows(const struct orch_table *table);
const char *orch_table_header(const struct orch_table *table, unsigned column);
/** Returns the heading of a column as people read it. Borrowed. */
const char *orch_table_label(const struct orch_table *table, unsigned column);
/** Returns what stands above the heading, or NULL. Borrowed. */
const char *orch_table_group(const struct orch_table *table, unsigned column);
/** Returns how many columns from this one on share its group; 1 without a group. */
unsigned orch_table_group_columns(const struct orch_table *table, unsigned column);
bool orch_table_has_groups(const struct orch_table *table);
bool orch_table_is_right(const struct orch_table *table, unsigned column);
const struct orch_table_cell *orch_table_cell(const struct orch_table *table, unsigned row,
                                              unsigned column);

/** Returns how many characters wide the table is on a page when long texts are wrapped and numbers
 * are not.
 */
int orch_table_width(const struct orch_table *table);
/** Returns a table of few rows and many columns, wider than `width` characters, with its columns as
 * rows: heading and values. NULL for any other. The caller frees. */
struct orch_table *orch_table_turned_for(const struct orch_table *table, int width);

enum orch_table_format {
    ORCH_TABLE_TEXT,     /* aligned columns */
    ORCH_TABLE_TSV,      /* the same texts, tab-separated */
    ORCH_TABLE_CSV,      /* RFC 4180; cells that are means have extra columns for interval and n */
    ORCH_TABLE_MARKDOWN, /* GitHub flavour */
    ORCH_TABLE_LATEX,    /* a tabular environment */
};
/** Parses "text" (also NULL), "tsv", "csv", "markdown" or "latex"; false with ORCH_ERROR_USAGE for
 * any other name. */
bool orch_table_format_parse(const char *name, enum orch_table_format *out, GError **error);
/** Formats the table. The caller frees. */
char *orch_table_format(const struct orch_table *table, enum orch_table_format format);
/** Formats aligned columns, optionally in colour, wrapped to a terminal of `limit` columns (0: no
 * limit). The caller frees. */
char *orch_table_aligned(const struct orch_table *table, bool color, int limit);
/** Returns an array with one object for each row. A cell of several runs adds the key COLUMN_spread
 * with n, form ("runs", "interval", "median and range"), low and high; an estimate adds COLUMN_se,
 * its standard error. New reference. */
json_t *orch_table_json(const struct orch_table *table);

/** Returns the width of a text on a terminal, in columns. */
int orch_text_columns(const char *text);
/** Returns the escape sequence for the colour of a state's name, or NULL. Static. */
const char *orch_color_of(const char *word);

#endif
