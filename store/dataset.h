/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Data sets: measurements from elsewhere, as rows of named columns and a target.
 *
 * A data set is kept whole or not at all, and never changes. Its digest is over what can be learned
 * from it (names of the columns, target, every value) and not over its labels (name, source,
 * licence, who brought it in when), so the same measurements are there once, whoever imports them.
 * docs/store.md has the layout. In the file a set is a row of `dataset`, and rows of `sample`: row
 * 0 is its heading (JSON), rows from 1 on are its rows, each an array in the order of the columns.
 */
#ifndef ORCH_STORE_DATASET_H
#define ORCH_STORE_DATASET_H

#include "lib/base/file.h"
#include "store/store.h"

#include <glib.h>
#include <jansson.h>

/** A set with more rows or columns is refused. */
#define ORCH_DATASET_ROWS_MAX 10000000
#define ORCH_DATASET_COLUMNS_MAX 4096

/** A column: numbers or texts, one of the two by row. */
struct orch_dataset_column {
    char *name;
    bool is_text;
    bool left_out;      /* kept, but never learned from: it gives the target away */
    double *numbers;    /* NaN: missing */
    const char **texts; /* NULL: missing; owned by the set */
};

struct orch_dataset {
    char *name;             /* orch_name_is_valid, '-' allowed */
    char *source, *licence; /* NULL: not known */
    char *target;           /* name of what was measured, e.g. "step_ms" */
    char *unit;             /* of the target, "" when not known */
    char sha256[ORCH_SHA256_CHARS];
    size_t rows;
    double *targets; /* by row; NULL: only the heading was read */
    GArray *columns; /* struct orch_dataset_column; numbers and texts NULL: only the heading */
    json_t *about;   /* object: file, its sha256, mapping, what was dropped or skipped, imported
                        (UTC nanoseconds), who */
    GStringChunk *kept;
};

/** An empty set of `rows` rows, targets NaN; texts are copied. */
struct orch_dataset *orch_dataset_new(const char *name, const char *target, const char *unit,
                                      size_t rows);
void orch_dataset_free(struct orch_dataset *set);
/** Adds a column of numbers, all missing, and returns its values to be filled in (borrowed). */
double *orch_dataset_add_numbers(struct orch_dataset *set, const char *name);
/** The same of texts; a value is put in with orch_dataset_keep. */
const char **orch_dataset_add_texts(struct orch_dataset *set, const char *name);
/** A copy of `text` (UTF-8) that lives as long as the set; equal texts are kept once. */
const char *orch_dataset_keep(struct orch_dataset *set, const char *text);
const struct orch_dataset_column *orch_dataset_column(const struct orch_dataset *set, guint column);
/** The column of that name, or NULL. */
const struct orch_dataset_column *orch_dataset_find(const struct orch_dataset *set,
                                                    const char *name);

/** The set as one text, for a file or an exchange: a line of JSON that heads it, then a line for
 * each row, [target, value, ...]. Equal sets give equal bytes. Fills `sha256`. */
GString *orch_dataset_encode(struct orch_dataset *set);
/** Reads what orch_dataset_encode made. `name` stands for the file in messages. NULL with
 * ORCH_ERROR_RECIPE (line named) when it is none, is damaged, or its digest is another. */
struct orch_dataset *orch_dataset_decode(const char *name, const char *text, size_t length,
                                         GError **error);

/** What orch_store_put_dataset did. */
enum orch_dataset_put {
    ORCH_DATASET_ADDED,
    ORCH_DATASET_KNOWN, /* the same rows are there already, under `*out_name` */
};
/** Writes a set with all its rows in one transaction, and fills its `sha256`. The same rows under
 * any name are KNOWN and change nothing; `*out_name` (may be NULL; g_free) is the name that they
 * have. A name taken by other rows is ORCH_ERROR_USAGE. */
bool orch_store_put_dataset(struct orch_store *store, struct orch_dataset *set,
                            enum orch_dataset_put *out, char **out_name, GError **error);

/** The headings of all sets, by name: struct orch_dataset *; the caller unrefs. */
GPtrArray *orch_store_datasets(struct orch_store *store, GError **error);
/** A set with all its rows, by its name or 4 or more of the first digits of its digest.
 * ORCH_ERROR_NOT_FOUND with the nearest name, or when it is ambiguous. */
struct orch_dataset *orch_store_dataset(struct orch_store *store, const char *name, GError **error);
/** Removes a set found as by orch_store_dataset; `*out` (may be NULL) is its heading, to be freed.
 */
bool orch_store_remove_dataset(struct orch_store *store, const char *name,
                               struct orch_dataset **out, GError **error);

#endif
