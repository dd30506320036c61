/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of the first line of a run's text, shared by writing and reading; private to store/. */
#ifndef ORCH_STORE_RUN_TEXT_FIELDS_H
#define ORCH_STORE_RUN_TEXT_FIELDS_H

#include "store/join/run_text.h"

#define RUN_TEXT_FORMAT "orch run 1"

/** Upper bounds of a run's text. Readers refuse more, so writers never produce it. */
enum {
    RUN_TEXT_HEAD_MAX = 16 << 20,  /* bytes of the first line */
    RUN_TEXT_METRIC_MAX = 1 << 20, /* bytes of a metric's line */
    RUN_TEXT_METRICS_MAX = 4096,   /* same limit as for a record */
    RUN_TEXT_ROWS_MAX = 20000,     /* rows of each list in the first line */
};

enum run_text_type {
    RUN_TEXT_END,
    RUN_TEXT_NAME,  /* const char *, never NULL */
    RUN_TEXT_TEXT,  /* const char *, NULL: null */
    RUN_TEXT_INT64, /* int64_t */
    RUN_TEXT_INT,   /* int */
    RUN_TEXT_EXIT,  /* int, -1: null */
    RUN_TEXT_BOOL,  /* bool */
    RUN_TEXT_SEED,  /* uint64_t, as a string */
    RUN_TEXT_REAL,  /* double, NaN: null, infinite: a string */
};
struct run_text_field {
    const char *name; /* the key in JSON */
    enum run_text_type type;
    size_t offset;
};

/** A result with the unit and direction that its metric declared. */
struct run_text_result {
    const char *name;
    double value;
    const char *unit, *better;
};

/** The lists in the first line, besides the fields of the record itself; indices into
 * run_text_lists. */
enum { RUN_TEXT_PARAMS, RUN_TEXT_INPUTS, RUN_TEXT_RESULTS, RUN_TEXT_ARTIFACTS, RUN_TEXT_FORECASTS };
#define RUN_TEXT_LISTS 5
struct run_text_list {
    const char *name;
    size_t row_bytes;
    const struct run_text_field *fields;
};

extern const struct run_text_field run_text_record[];
extern const struct run_text_list run_text_lists[RUN_TEXT_LISTS];

#endif
