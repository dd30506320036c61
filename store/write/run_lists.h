/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a run has besides its fields (run_fields.h) and its points, listed once: parameters, inputs,
 * results and artifacts. What writes, reads, joins, hashes, repairs or prints them takes tables,
 * columns and statements from here.
 */
#ifndef ORCH_STORE_RUN_LISTS_H
#define ORCH_STORE_RUN_LISTS_H

#include "store/store.h"

/** How a member of a struct is stored, and written as text. */
enum store_value {
    STORE_VALUE_END,
    STORE_VALUE_NAME,  /* const char *, never NULL */
    STORE_VALUE_TEXT,  /* const char *, NULL: null; an empty one is stored as NULL */
    STORE_VALUE_INT64, /* int64_t */
    STORE_VALUE_INT,   /* int */
    STORE_VALUE_EXIT,  /* int, -1: null */
    STORE_VALUE_BOOL,  /* bool */
    STORE_VALUE_SEED,  /* uint64_t, as a string */
    STORE_VALUE_REAL,  /* double, NaN: null, infinite: a string */
};
struct store_member {
    const char *name; /* of its column, and its key in a run's text */
    enum store_value kind;
    size_t offset;
};

/** A result with the unit and direction that its metric declared. */
struct store_result {
    const char *name;
    double value;
    const char *unit, *better;
};

enum store_rows { STORE_PARAMS, STORE_INPUTS, STORE_RESULTS, STORE_ARTIFACTS, STORE_ROWS };

/** A kind of rows: struct orch_named_text, orch_input_row, store_result, orch_artifact_row. The
 * first member is the name. Every statement has the columns in the order of the members, which is
 * that of digest v1. */
struct store_row_kind {
    const char *plural;   /* its key in a run's text */
    const char *of_run;   /* the rows of run ?, by name */
    const char *from_run; /* run, then the columns: of all runs from ?1 on */
    const char *put;      /* inserts run and columns; the last of a name stays */
    const char *remove;   /* those of run ? */
    size_t row_bytes;
    const struct store_member *members; /* the last is STORE_VALUE_END */
};
extern const struct store_row_kind store_row_kinds[STORE_ROWS];

/** The rows of a kind that a record has. Results are made with their units, in `*out_own`, which
 * the caller frees; it is NULL for the other kinds. */
const void *orch_store_rows_of_record(const struct orch_record *record, enum store_rows kind,
                                      size_t *out_count, void **out_own);
/** What a record declares of a metric: the unit "" and no direction where it says nothing. */
struct orch_metric_row orch_store_declared(const struct orch_record *record, const char *name);

#endif
