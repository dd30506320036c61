/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Data sets: imported measurements, stored as rows of named columns and a target.
 *
 * A data set is stored completely or not at all, and never changes. Its digest covers everything
 * that can be learned from (the names of the columns, the target, every value) and not its labels
 * (name, source, licence, importer, time of import), so the same measurements are stored once,
 * whoever imports them. docs/store.md describes the layout. In the file, a set is one row of
 * `dataset` and several rows of `sample`: row 0 is the heading (JSON), and the rows from 1 on are
 * the data, each a JSON array in the order of the columns.
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

/** A column, either of numbers or of texts; one value for each row. */
struct orch_dataset_column {
    char *name;
    bool is_text;
    bool left_out;      /* stored, but never learned from, because it reveals the target */
    double *numbers;    /* NaN: missing */
    const char **texts; /* NULL: missing; owned by the set */
};

struct orch_dataset {
    char *name;             /* orch_name_is_valid, '-' allowed */
    char *source, *licence; /* NULL: unknown */
    char *target;           /* name of what was measured, e.g. "step_ms" */
    char *unit;             /* of the target; "" when unknown */
    char sha256[ORCH_SHA256_CHARS];
    size_t rows;
    double *targets; /* one for each row; NULL when only the heading was read */
    GArray *columns; /* struct orch_dataset_column; its numbers and texts are NULL when only the
                        heading was read */
    json_t *about;   /* object: file, its sha256, mapping, what was dropped or skipped, imported
                        (UTC nanoseconds), who */
    GStringChunk *kept;
};

/** Creates a set of `rows` rows whose targets are NaN. The strings are copied. */
struct orch_dataset *orch_dataset_new(const char *name, const char *target, const char *unit,
                                      size_t rows);
void orch_dataset_free(struct orch_dataset *set);
/** Adds a column of numbers, all missing, and returns its values for the caller to fill in
 * (borrowed). */
double *orch_dataset_add_numbers(struct orch_dataset *set, const char *name);
/** Adds a column of texts, likewise; the values must come from orch_dataset_keep. */
const char **orch_dataset_add_texts(struct orch_dataset *set, const char *name);
/** Returns a copy of `text` (UTF-8) that lives as long as the set. Equal texts share one copy. */
const char *orch_dataset_keep(struct orch_dataset *set, const char *text);
const struct orch_dataset_column *orch_dataset_column(const struct orch_dataset *set, guint column);
/** The column with that name, or NULL. */
const struct orch_dataset_column *orch_dataset_find(const struct orch_dataset *set,
                                                    const char *name);

/** The set as one text, for a file or an exchange: a header line of JSON, then a line [target,
 * value, ...] for each row. Equal sets give equal bytes. Fills `sha256`. */
GString *orch_dataset_encode(struct orch_dataset *set);
/** Decodes a text made by orch_dataset_encode. `name` is the name of the file in error messages.
 * Returns NULL with ORCH_ERROR_RECIPE, which names the line, when the text is not a data set, is
 * damaged or does not have the digest that it claims. */
struct orch_dataset *orch_dataset_decode(const char *name, const char *text, size_t length,
                                         GError **error);

/** The outcome of orch_store_put_dataset. */
enum orch_dataset_put {
    ORCH_DATASET_ADDED,
    ORCH_DATASET_KNOWN, /* the same rows are already stored under the name `*out_name` */
};
/** Writes a set with all its rows in one transaction and fills its `sha256`. When the same rows are
 * already stored under any name, nothing changes and the outcome is KNOWN. `*out_name` (may be
 * NULL; g_free) receives the name of the stored set. Fails with ORCH_ERROR_USAGE when other rows
 * have the name. */
bool orch_store_put_dataset(struct orch_store *store, struct orch_dataset *set,
                            enum orch_dataset_put *out, char **out_name, GError **error);

/** The headings of all sets, sorted by name: struct orch_dataset *; the caller unrefs. */
GPtrArray *orch_store_datasets(struct orch_store *store, GError **error);
/** A set with all its rows, found by its name or by at least the first 4 digits of its digest.
 * Fails with ORCH_ERROR_NOT_FOUND when there is none (the hint is
 * the nearest name) or the digits are ambiguous. */
struct orch_dataset *orch_store_dataset(struct orch_store *store, const char *name, GError **error);
/** Removes a set, found as by orch_store_dataset. `*out` (may be NULL) receives its heading, which
 * the caller frees. */
bool orch_store_remove_dataset(struct orch_store *store, const char *name,
                               struct orch_dataset **out, GError **error);

/** Reads every data set and recomputes its digest; adds findings (char *). */
void orch_store_check_datasets(struct orch_store *store, GPtrArray *out);

#endif
