/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A trained predictor as it is stored: the learned models, where the training rows came from, the
 * errors on held-out rows and those of the baselines, and the measurements of each configuration,
 * which answer queries for a measured configuration directly.
 */
#ifndef ORCH_PREDICTORS_TRAINED_H
#define ORCH_PREDICTORS_TRAINED_H

#include "lib/base/csv.h"
#include "lib/base/interval.h"
#include "predictors/learn/learn.h"

#define ORCH_TRAINED_FORMAT 1
/** What learned models are relative to: roofline, kernels and rates of GPUs, the features of rows.
 * A model kept by another method would be off by what changed, so it is not read. Raise it with
 * such a change (tests/unit/test_trained_method.c finds one). */
#define ORCH_TRAINED_METHOD 10

/** Measurements of one configuration. */
struct orch_trained_cell {
    char **values;   /* of the columns, NULL-terminated; "" where unknown */
    int count, runs; /* measurements, and how many of them are runs (named by a key) */
    struct orch_interval
        time;     /* of the target: the median, and the 90 % interval of one measurement */
    char *newest; /* name of the newest measurement (a run's key), or "" */
};

struct orch_trained {
    char *name, *target, *made; /* made: ISO date, UTC */
    /* of a predictor whose features are the parameters of one experiment; NULL: of any other */
    char *experiment, *plugin_version;
    char **columns;        /* of the rows, without the target */
    size_t rows, run_rows; /* training rows, and those from runs; others are from data sets */
    int64_t last_run;      /* greatest local id of a run in the training rows */
    char **sources;        /* "runs", and names of data sets */
    char **readings;       /* how data sets are understood, where their columns do not say it */
    bool is_automatic; /* trained on demand by a query; trained again when there are newer runs */
    bool is_outdated;  /* automatic, and kept by another method: read without what it knew */
    double last_known; /* baseline: mean relative error of the nearest measured time */
    double ratio;      /* baseline: that scaled by the ratio of white boxes; NaN: none */
    bool is_used;      /* the predictor beats both baselines */
    double repeat_spread; /* standard deviation of log times of equal configurations */
    GPtrArray *known;     /* struct orch_trained_cell * */
    struct orch_learned *learned;
};
void orch_trained_free(struct orch_trained *trained);

/** Says why a predictor that was read has no models: `is_outdated`, or damaged. */
void orch_trained_refuse(const struct orch_trained *trained, GError **error);

/** Groups the rows of a table that are equal in all columns except the target and `but`
 * (NULL-terminated, or NULL). Returns struct orch_trained_cell *. `names` names the measurements by
 * row, or is NULL. `*columns` is freed with g_strfreev. `*repeat_spread` is 0.1 without repeats. */
GPtrArray *orch_trained_cells_of_table(const struct orch_csv *csv, const char *target,
                                       const char *const *but, const GPtrArray *names,
                                       char ***columns, double *repeat_spread);

/** The half width, of the log of the time, of the 90 % interval of a configuration that was
 * measured once, when nothing was repeated yet. */
double orch_trained_first_run_half(void);

/** Finds the configuration that has all given values (`names` and `values` NULL-terminated, of
 * equal length). An empty value or an unknown column matches everything. Of several matches,
 * returns the one measured most often; NULL if there is none. */
const struct orch_trained_cell *orch_trained_find(const struct orch_trained *trained,
                                                  const char *const *names,
                                                  const char *const *values);
/** The value of a column, or "". Borrowed. */
const char *orch_trained_cell_value(const struct orch_trained *trained,
                                    const struct orch_trained_cell *known, const char *column);

/** Converts to and from a JSON object. Loading fails with ORCH_ERROR_RECIPE if the object is
 * invalid or of a newer format (with a hint). Caller frees. */
json_t *orch_trained_save(const struct orch_trained *trained, enum orch_save_style style);
struct orch_trained *orch_trained_load(const json_t *saved, GError **error);

/** Serialises to the text that the store keeps: the object on the first line, large and rarely
 * needed parts on further lines. Caller frees. */
char *orch_trained_text(const struct orch_trained *trained);
struct orch_trained *orch_trained_of_text(const char *text, GError **error);

#endif
