/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Imports a table of measurements (CSV) as a data set: columns are renamed to known features
 * (predictors/features/feature_names.h), the target is checked, and columns that leak the target
 * are marked.
 */
#ifndef ORCH_FEATURES_IMPORTS_IMPORT_H
#define ORCH_FEATURES_IMPORTS_IMPORT_H

#include "predictors/features/feature_names.h"
#include "store/write/dataset.h"

struct orch_import_options {
    const char *target;           /* a column, or the feature it is mapped to */
    const char *const *map;       /* "column=feature", NULL-terminated, or NULL */
    const char *const *drop;      /* columns to leave out, likewise */
    const char *name;             /* NULL: from the file's name */
    const char *unit;             /* of the target; NULL: by its name */
    const char *source, *licence; /* NULL: taken from FILE.md beside the file, if it exists */
    bool skip_bad;                /* leave bad rows out instead of refusing the file */
};

struct orch_import {
    struct orch_dataset *set;
    GPtrArray *notes; /* char *: what a user should know */
    size_t skipped;   /* bad rows */
};
void orch_import_clear(struct orch_import *import);

/**
 * Reads a table. A bad row has a target that is no number above 0, or something else than a number
 * in a column of numbers. A column without a mapping keeps its name, whether that is known or not.
 *
 * False with ORCH_ERROR_USAGE (a column or feature of the options that is not there, with the
 * nearest; two columns of one name), ORCH_ERROR_RECIPE (not a table, not UTF-8, a bad row: with its
 * place) or ORCH_ERROR_IO; then `*out` is untouched.
 */
bool orch_import_csv(const char *path, const struct orch_import_options *options,
                     struct orch_import *out, GError **error);

/** What FILE.md beside FILE.csv says of its source and licence: the lines "Source: ..." and
 * "Licence: ...", or the licence that the source's line names. NULL where it does not; the caller
 * frees. */
void orch_import_provenance(const char *path, char **out_source, char **out_licence);

#endif
