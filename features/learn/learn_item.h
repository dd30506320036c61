/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report items `learn` and `layerwise`: they collect rows from the plan's runs, tables left
 * by runs, or a data set, and evaluate models on them. item_learn.c turns the outcome into
 * sections. */
#ifndef ORCH_FEATURES_LEARN_LEARN_ITEM_H
#define ORCH_FEATURES_LEARN_LEARN_ITEM_H

#include "core/report/items.h"
#include "features/learn/heldout.h"
#include "features/learn/layerwise.h"
#include "features/learn/regressors.h"
#include "lib/base/interval.h"

/** The training data of an item, or the reason why there is none. */
struct orch_learn_source {
    struct orch_trials *trials;
    struct orch_section *section; /* the section that records the trials; borrowed */
    GHashTable *used;             /* the set of trials in use */
    unsigned planned, done;       /* counts of those trials; 0: the rows are from a data set */
    size_t rows;                  /* number of training rows */
    char *text;                   /* "24 runs", "data set 'x', 5000 of its 42405 rows" */
    char *missing;                /* why there is no result, or NULL */
    char *hint;                   /* the command to run next, or NULL */
    GPtrArray *notes; /* char *: notes on omitted columns and on the symbols of the linear form */
};

struct orch_learn_outcome {
    struct orch_learn_source source;
    char *target, *unit;         /* unit may be "" */
    GPtrArray *models;           /* struct orch_regressor *, or NULL: none was requested */
    struct orch_heldout *held;   /* evaluation on held-out groups, or NULL */
    char *hold_out, *held_model; /* the column that defines the groups, and the model evaluated */
};
/** Evaluates the models of an item `learn`, and records its trials in the section. NULL with an
 * error when the store cannot be read. The caller frees. */
struct orch_learn_outcome *orch_learn_item_evaluate(struct orch_section_context *a, GError **error);
void orch_learn_outcome_free(struct orch_learn_outcome *outcome);

struct orch_layerwise_row {
    char *net, *facts; /* "vgg11", "AMD EPYC, 2 threads": the values of its features */
    int64_t batch;
    double measured_ms;
    struct orch_interval own, all, left_out; /* predicted from layers of the row's own
                                                  group, of all groups, of the other groups */
    int layers, outside;
    char *left_out_text;
};
struct orch_layerwise_outcome {
    struct orch_learn_source source;
    char *hold_out; /* or NULL: only `all` is computed */
    char *model;
    int64_t images;  /* images per epoch; 0: not requested */
    GPtrArray *rows; /* struct orch_layerwise_row * */
};
/** Predicts the networks of an item `layerwise`. Errors and ownership are as for
 * orch_learn_item_evaluate. */
struct orch_layerwise_outcome *orch_layerwise_item_predict(struct orch_section_context *a,
                                                           GError **error);
void orch_layerwise_outcome_free(struct orch_layerwise_outcome *outcome);

/* ---- shared by learn_item.c and layerwise_item.c (defined in learn_rows.c) ---- */

/** Reads a string or a list of strings as a NULL-terminated array; empty when absent. The caller
 * frees. */
char **orch_learn_texts(const json_t *spec, const char *key);
/** Loads the item's trials. False with an error; orch_learn_source_clear is safe in that case too.
 */
bool orch_learn_source_init(struct orch_learn_source *source, struct orch_section_context *a,
                            GError **error);
void orch_learn_source_clear(struct orch_learn_source *source);
/** Sets the reason why there is no result. Later calls have no effect. */
void orch_learn_source_fail(struct orch_learn_source *source, const char *hint, const char *format,
                            ...) G_GNUC_PRINTF(3, 4);

/** Sets the command to run when a result is missing, no command is set yet, and trials are not
 * done. */
void orch_learn_source_set_hint(struct orch_learn_source *source,
                                const struct orch_section_context *a);

/** Appends one field, quoted if necessary, to a CSV table for orch_csv_parse. */
void orch_learn_csv_field(GString *csv, const char *text, bool is_first);

/** Records a trial as used, in the source and in the section. Returns its run, borrowed; NULL
 * when the trial has not run. */
const struct orch_run *orch_learn_use(struct orch_learn_source *source,
                                      struct orch_report_trial *trial);
/** Returns a run's value by name as text: a parameter, "gpu" (the model's name), ...; "" when
 * the run has none. The caller frees. */
char *orch_learn_run_value(struct orch_store *store, const struct orch_run *run, const char *name);
/** Appends a run's CSV artifact to a table, with the run's values of `features` as the first
 * columns. The first call writes the header row. False when the run has no such artifact, or
 * when its bytes are not on this machine (then a note is added). */
bool orch_learn_add_artifact(GString *csv, struct orch_store *store, const struct orch_run *run,
                             const char *artifact, char **features,
                             struct orch_learn_source *source);
/** Reads a data set as CSV text, with at most `most` rows (0: all), sampled evenly. NULL with
 * the reason in `source`. The caller frees. */
GString *orch_learn_dataset_csv(struct orch_store *store, const char *name, const char *target,
                                size_t most, struct orch_learn_source *source);

#endif
