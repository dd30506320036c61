/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CSV tables (RFC 4180) whose every complaint names file, line and column.
 *
 * A table is read as a whole: the first record names the columns, all others have as many fields.
 * Quoted fields may hold commas, line ends and doubled quotes; lines may end in LF or CRLF; empty
 * lines are passed over. The columns of an error are bytes from 1, at which the field begins.
 */
#ifndef ORCH_PREDICTORS_CSV_H
#define ORCH_PREDICTORS_CSV_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/** Larger files are refused. */
#define ORCH_CSV_BYTES_MAX (64 * 1024 * 1024)

struct orch_csv;

/** Reads a file. NULL with ORCH_ERROR_IO (cannot be read) or ORCH_ERROR_RECIPE (not a table). */
struct orch_csv *orch_csv_read(const char *path, GError **error);
/** The same of `length` bytes in memory; `name` stands for the file in messages. */
struct orch_csv *orch_csv_parse(const char *name, const char *text, size_t length, GError **error);
void orch_csv_free(struct orch_csv *csv);

/** Number of records behind the header. */
size_t orch_csv_rows(const struct orch_csv *csv);
/** Number of columns, and their names (borrowed). */
int orch_csv_columns(const struct orch_csv *csv);
const char *orch_csv_name(const struct orch_csv *csv, int column);
/** Index of a column, -1 when there is none. */
int orch_csv_find(const struct orch_csv *csv, const char *column);
/** The same, where a missing one is ORCH_ERROR_RECIPE with the nearest name. */
bool orch_csv_column(const struct orch_csv *csv, const char *column, int *out_index,
                     GError **error);
/** A field's text, borrowed; never NULL. */
const char *orch_csv_text(const struct orch_csv *csv, size_t row, int column);
/** A field as a finite real, or as an integer (also "3.0"). */
bool orch_csv_real(const struct orch_csv *csv, size_t row, int column, double *out, GError **error);
bool orch_csv_int(const struct orch_csv *csv, size_t row, int column, int64_t *out, GError **error);
/** Sets `*error` (ORCH_ERROR_RECIPE) about one field: what, place and cure (`hint` may be NULL).
 * Returns false. */
bool orch_csv_fail(const struct orch_csv *csv, size_t row, int column, const char *hint,
                   GError **error, const char *format, ...) G_GNUC_PRINTF(6, 7);

#endif
