/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the store's runs and data sets to a predictor. */
#ifndef ORCH_CORE_CLI_TRAINING_ROWS_H
#define ORCH_CORE_CLI_TRAINING_ROWS_H

#include "predictors/trained.h"
#include "store/predictor.h"

struct training_request {
    const char *target;             /* "step_ms", ... */
    bool runs;                      /* rows of runs */
    const char *const *only;        /* these runs alone (what a user types), NULL: all */
    const struct orch_where *where; /* or NULL */
    const char *const *datasets;    /* names of data sets, or NULL */
    const char *const *drop;        /* columns, or NULL */
    const char *name;               /* of the predictor; NULL: the target's */
    struct orch_learn_options learn;
};

/** What was measured, without learning; with fewer than `learn_below` rows (and enough of them) a
 * model at its first settings is fitted as well. The caller frees. */
struct orch_trained *training_measure(struct orch_store *store,
                                      const struct training_request *request, size_t learn_below,
                                      GError **error);
/** Moves what `fresh` measured into `trained`, and frees `fresh`. */
void training_take_known(struct orch_trained *trained, struct orch_trained *fresh);

/** All of it: cross-validation, baselines, unseen GPUs. `notes` (char *) gets what was left out and
 * why. ORCH_ERROR_USAGE when there are too few rows, naming the cure. */
struct orch_trained *training_learn(struct orch_store *store,
                                    const struct training_request *request, GPtrArray *notes,
                                    GError **error);

#endif
