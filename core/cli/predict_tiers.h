/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the store's own measurements say to a question, before any table is asked:
 *   measured     this configuration was run
 *   fitted       a predictor trained on runs of this GPU, within what it has seen
 *   transferred  the distilled white box, shifted by runs here of the same network or GPU
 * Nothing of the kind: the white box alone (transferred, or prior where that does not speak).
 */
#ifndef ORCH_CORE_CLI_PREDICT_TIERS_H
#define ORCH_CORE_CLI_PREDICT_TIERS_H

#include "core/cli/predict.h"
#include "predictors/prior.h"
#include "predictors/trained.h"

/** The name under which `orch predict` looks for a predictor. */
#define ORCH_PREDICTOR_STEP "step_ms"

struct tiers {
    struct orch_trained *trained; /* NULL: none; `learned` in it may be NULL */
    int64_t newer;                /* runs that it has not seen */
    const struct orch_hardware *hardware;
    GHashTable *nets; /* "name input" to struct known_net *: networks of what was measured */
    double *whites;   /* the white boxes' times of what was measured, by transferred or not; NaN:
                         none, 0: not asked yet */
};

/** Reads what the store of the current folder holds; no store, nothing trained and no runs is no
 * error. `calibrate`: runs (NULL-terminated, or NULL) that alone shift the white box. */
bool tiers_open(struct orch_cli *cli, const struct question *q, const char *const *calibrate,
                struct tiers *out, GError **error);
void tiers_close(struct tiers *tiers);

/** One configuration that is asked about. */
struct tier_ask {
    const struct question *q;
    const struct orch_gpu_spec *gpu;
    enum orch_precision precision;
    int64_t workers, batch; /* batch: of a worker */
};

struct told {
    const char *tier;          /* "measured", "fitted"; NULL: the store does not tell */
    struct orch_prior_own own; /* seconds of a step */
    bool whole;                /* with the exchange between workers */
    bool extrapolates;
    char *why; /* a sentence, or NULL */
};
void told_clear(struct told *told);
/** Answers from the store, or leaves `out->tier` NULL. */
bool tiers_tell(const struct tiers *tiers, const struct tier_ask *ask, struct told *out,
                GError **error);
/** Shifts the white box in `prior` by what was run here; `*why` (may stay NULL) says by what. */
void tiers_shift(struct tiers *tiers, const struct tier_ask *ask, struct orch_prior *prior,
                 char **why);

/** The table row of a question, in the columns that a predictor was trained on: the values that are
 * known, "" else; the target 1. */
struct orch_csv *tiers_row(const struct orch_trained *trained, const struct tier_ask *ask,
                           GError **error);
/** What runs call a device: a processor by its model, not by the machine's name. Borrowed. */
const char *tiers_device_name(const struct orch_gpu_spec *gpu);

/* ---- --explain (predict_explain.c) -------------------------------------------------------------
 */

/** What an answer is made of: {white_box: {forward_s, backward_s, update_s, exposed_exchange_s,
 * shift}, learned: {step_s, roofline_s, extrapolates} or null, features: [{name, value, unit}],
 * nearest: [{source, net, gpu, batch, precision, step_s, count, runs}]}. A new reference; NULL on
 * error. */
json_t *tiers_explain(const struct tiers *tiers, const struct tier_ask *ask,
                      const struct orch_prior *prior, const struct orch_prior_step *step,
                      GError **error);
/** Prints it as text. */
void tiers_say_explanation(const json_t *explanation);

#endif
