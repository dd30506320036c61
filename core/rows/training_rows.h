/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trains a predictor from the store's runs and data sets. */
#ifndef ORCH_CORE_ROWS_TRAINING_ROWS_H
#define ORCH_CORE_ROWS_TRAINING_ROWS_H

#include "predictors/learn/trained.h"
#include "store/write/predictor.h"

struct orch_training_request {
    const char *target;             /* "step_ms", ...; NULL: see orch_training_learn */
    bool runs;                      /* include the store's runs */
    const char *const *only;        /* only these runs (keys as typed by the user); NULL: all */
    const struct orch_where *where; /* or NULL */
    const char *const *datasets;    /* names of data sets, or NULL */
    const char *const *drop;        /* columns, or NULL */
    const char *name;               /* of the predictor; NULL: the target's, or the experiment's */
    struct orch_learn_options learn;
};

/** Collects the measurements without training. When there are fewer than `learn_below` rows, but
 * enough to train on, a model is also fitted without tuning. The caller frees. */
struct orch_trained *orch_training_measure(struct orch_store *store,
                                           const struct orch_training_request *request,
                                           size_t learn_below, GError **error);
/** Replaces the measurements of `trained` by those of `fresh`, and frees `fresh`. */
void orch_training_take_known(struct orch_trained *trained, struct orch_trained *fresh);

/** Trains with cross-validation, baselines and held-out GPUs. `notes` (char *) lists what was left
 * out and why. Without data sets, and with the target NULL or "wall_s", runs of which none declares
 * a cost are trained on by their parameters (core/rows/param_rows.h): the target is then wall_s,
 * and the predictor has an experiment. Otherwise NULL means step_ms. ORCH_ERROR_USAGE, with a hint,
 * for a bad name, when no run matches and when there are too few rows. */
struct orch_trained *orch_training_learn(struct orch_store *store,
                                         const struct orch_training_request *request,
                                         GPtrArray *notes, GError **error);

#endif
