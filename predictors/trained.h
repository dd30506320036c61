/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A trained predictor, as it is kept: what was learned from which rows, how good it was on rows
 * left out, what it must beat, and what was measured of each configuration, so that a question that
 * was measured is answered with the measurement.
 */
#ifndef ORCH_PREDICTORS_TRAINED_H
#define ORCH_PREDICTORS_TRAINED_H

#include "predictors/csv.h"
#include "predictors/learn.h"

#define ORCH_TRAINED_FORMAT 1

/** Measurements of one configuration. */
struct orch_known {
    char **values;            /* of the columns, NULL-terminated; "" for what is not known */
    int count, runs;          /* how many, and how many of them are runs: named by a run's key */
    double median, low, high; /* of the target; low and high: 90 % of single measurements */
    char *newest;             /* what the newest of them is called (a run's key), or "" */
};

struct orch_trained {
    char *name, *target, *made; /* made: ISO date, UTC */
    char **columns;             /* of the rows, without the target */
    size_t rows, run_rows;      /* learned from; those of runs, the others are of data sets */
    int64_t last_run;           /* rows of runs up to this local id are in it */
    char **sources;             /* "runs", and names of data sets */
    bool is_automatic;    /* made on the way by a question: made again when there are newer runs */
    double last_known;    /* mean relative error of the nearest record's time, which it must beat */
    double ratio;         /* of that times the ratio of the white boxes; NaN: there is none */
    bool is_used;         /* it beats both */
    double repeat_spread; /* standard deviation of the log of equal configurations' times */
    GPtrArray *known;     /* struct orch_known * */
    struct orch_learned *learned;
};
void orch_trained_free(struct orch_trained *trained);

/** Groups rows of a table that are equal in all columns but the target and those in `but`
 * (NULL-terminated, or NULL): struct orch_known *. `names` by row, or NULL. Columns come out in
 * `*columns` (g_strfreev); `*repeat_spread` as above, 0.1 where nothing was measured twice. */
GPtrArray *orch_known_of_table(const struct orch_csv *csv, const char *target,
                               const char *const *but, const GPtrArray *names, char ***columns,
                               double *repeat_spread);

/** The configuration that agrees with all the values given (names and values NULL-terminated, equal
 * lengths); "" or a column that is not there agrees with everything. NULL: none. With several the
 * one measured most often. */
const struct orch_known *orch_trained_find(const struct orch_trained *trained,
                                           const char *const *names, const char *const *values);
/** The value of a column, or "". Borrowed. */
const char *orch_known_value(const struct orch_trained *trained, const struct orch_known *known,
                             const char *column);

/** As a JSON object, and back. ORCH_ERROR_RECIPE for what is broken, or of a newer format (the hint
 * says what to do). The caller frees. */
json_t *orch_trained_save(const struct orch_trained *trained, enum orch_save_style style);
struct orch_trained *orch_trained_load(const json_t *saved, GError **error);

/** As the text that the store keeps: the object in one line, heavy parts that are seldom wanted in
 * further ones. The caller frees. */
char *orch_trained_text(const struct orch_trained *trained);
struct orch_trained *orch_trained_of_text(const char *text, GError **error);

#endif
