/* SPDX-License-Identifier: MIT */
/*
 * CSV tables (RFC 4180). Every error names file, line and column.
 *
 * A table is read as a whole. The first record names the columns; all others have the same number
 * of fields. Fields are separated by commas, or by tabs where the header has no comma; a first line
 * "sep=," is skipped; other separators are refused by name. Quoted fields may contain commas, line
 * breaks and doubled quotes; lines may end in LF or CRLF; empty lines are skipped. The column of an
 * error is the byte, from 1, where the field begins.
 */
#ifndef ORCH_BASE_CSV_H
#define ORCH_BASE_CSV_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/** Larger files are refused. */
#define ORCH_CSV_BYTES_MAX (64 * 1024 * 1024)

struct orch_csv;

/** Reads a file. Fails with ORCH_ERROR_IO (cannot be read) or ORCH_ERROR_RECIPE (not a table). */
struct orch_csv *orch_csv_read(const char *path, GError **error);
/** The same with another bound than ORCH_CSV_BYTES_MAX. A table in memory takes up to five times
 * the size of its file. */
struct orch_csv *orch_csv_read_max(const char *path, size_t bytes_max, GError **error);
/** Parses `length` bytes in memory; `name` replaces the file name in messages. */
struct orch_csv *orch_csv_parse(const char *name, const char *text, size_t length, GError **error);
void orch_csv_free(struct orch_csv *csv);

/** Number of records after the header. */
size_t orch_csv_rows(const struct orch_csv *csv);
/** What separates the fields: ',' or '\t'. */
char orch_csv_separator(const struct orch_csv *csv);
/** What to do with a text that spreadsheets write for a number ("12,5", "1 234.5" with a no-break
 * space); NULL if it is none. */
const char *orch_csv_number_hint(const char *text);
/** Number of columns, and their names (borrowed). */
int orch_csv_columns(const struct orch_csv *csv);
const char *orch_csv_name(const struct orch_csv *csv, int column);
/** Index of a column, -1 if there is none. */
int orch_csv_find(const struct orch_csv *csv, const char *column);
/** The same; a missing column is ORCH_ERROR_RECIPE with the nearest name. */
bool orch_csv_column(const struct orch_csv *csv, const char *column, int *out_index,
                     GError **error);
/** The line of the file, from 1, on which a record begins. */
int orch_csv_line(const struct orch_csv *csv, size_t row);
/** A field's text, borrowed; never NULL. */
const char *orch_csv_text(const struct orch_csv *csv, size_t row, int column);
/** Replaces a field by a number. Its place in messages stays. */
void orch_csv_set_real(struct orch_csv *csv, size_t row, int column, double value);
/** A field as a finite real, or as an integer (also "3.0"). */
bool orch_csv_real(const struct orch_csv *csv, size_t row, int column, double *out, GError **error);
bool orch_csv_int(const struct orch_csv *csv, size_t row, int column, int64_t *out, GError **error);
/** Sets ORCH_ERROR_RECIPE with message, position of the field, and hint (may be NULL). Returns
 * false. */
bool orch_csv_fail(const struct orch_csv *csv, size_t row, int column, const char *hint,
                   GError **error, const char *format, ...) G_GNUC_PRINTF(6, 7);
/** The same for the name of a column in the header. */
bool orch_csv_fail_header(const struct orch_csv *csv, int column, const char *hint, GError **error,
                          const char *format, ...) G_GNUC_PRINTF(5, 6);

#endif
