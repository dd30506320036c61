/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report's items `learn` and `layerwise`: rows are gathered from the plan's runs, their tables
 * or a data set, models are judged. item_learn.c makes sections of it. */
#ifndef ORCH_CORE_ANSWER_LEARN_ITEM_H
#define ORCH_CORE_ANSWER_LEARN_ITEM_H

#include "core/answer/items.h"
#include "predictors/heldout.h"
#include "predictors/layerwise.h"
#include "predictors/regressors.h"

/** What was learned from, and why there is nothing. */
struct learn_source {
    struct orch_trials *trials;
    struct orch_section *section; /* in which trials are noted; borrowed */
    unsigned planned, done;       /* trials; 0: a data set */
    size_t rows;                  /* learned from */
    char *text;                   /* "24 runs", "data set 'x', 5000 of its 42405 rows" */
    char *missing;                /* why there is no answer, or NULL */
    char *cure;                   /* the next command, or NULL */
    GPtrArray *notes;             /* char *: columns left out, letters of the linear form */
};

struct learn_outcome {
    struct learn_source source;
    char *target, *unit;         /* unit may be "" */
    GPtrArray *models;           /* struct orch_regressor *, or NULL: none was asked for */
    struct orch_heldout *held;   /* or NULL */
    char *hold_out, *held_model; /* its column and its model */
};
/** Judges the models of an item `learn`, and notes its trials in the section. NULL with an error
 * when the store cannot be read. The caller frees. */
struct learn_outcome *learn_item_judge(struct orch_asked *a, GError **error);
void learn_outcome_free(struct learn_outcome *outcome);

struct layerwise_guess {
    double ms, low, high; /* NaN: there were no rows to learn from */
};
struct layerwise_row {
    char *net, *facts; /* "vgg11", "AMD EPYC, 2 threads": the values of its features */
    int64_t batch;
    double measured_ms;
    struct layerwise_guess own, all, left_out; /* by layers of its group, of all, of the others */
    int layers, outside;
    char *left_out_text;
};
struct layerwise_outcome {
    struct learn_source source;
    char *hold_out; /* or NULL: only `all` was asked for */
    char *model;
    int64_t images;  /* of an epoch; 0: not asked for */
    GPtrArray *rows; /* struct layerwise_row * */
};
/** Predicts the networks of an item `layerwise`; otherwise as above. */
struct layerwise_outcome *layerwise_item_predict(struct orch_asked *a, GError **error);
void layerwise_outcome_free(struct layerwise_outcome *outcome);

/* ---- what both files of this share (learn_rows.c) ----------------------------------------------
 */

/** A text or a list of texts, NULL-terminated; empty when absent. The caller frees. */
char **learn_words(const json_t *spec, const char *key);
/** Gathers the item's trials. False with an error; the source may be cleared then, too. */
bool learn_source_init(struct learn_source *source, struct orch_asked *a, GError **error);
void learn_source_clear(struct learn_source *source);
/** Says why there is nothing, once. */
void learn_source_fail(struct learn_source *source, const char *cure, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

/** Says what to run, where something is missing, no cure is known yet, and trials are not done. */
void learn_source_cure(struct learn_source *source, const struct orch_asked *a);

/** A table that grows by fields, made for orch_csv_parse. */
void learn_csv_field(GString *csv, const char *text, bool is_first);

/** Counts a trial, and notes it in the section. Its run, borrowed; NULL: it was not run. */
const struct orch_run *learn_use(struct learn_source *source, const struct orch_trial *trial);
/** A value of a run by its name: a parameter, "gpu" (the model's name), ...; "" when it has none.
 * The caller frees. */
char *learn_run_value(struct orch_store *store, const struct orch_run *run, const char *name);
/** Appends a run's CSV artifact to a table, with `features` of the run in front; the first one
 * brings the heading. False: the run has none of that name, or it is not here (noted). */
bool learn_add_artifact(GString *csv, struct orch_store *store, const struct orch_run *run,
                        const char *artifact, char **features, struct learn_source *source);
/** A data set as CSV text, at most `most` rows (0: all), evenly drawn; NULL with the reason in
 * `source`. The caller frees. */
GString *learn_dataset_csv(struct orch_store *store, const char *name, const char *target,
                           size_t most, struct learn_source *source);

#endif
