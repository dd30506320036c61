/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Step time estimates from the store's own measurements, which precede all other sources:
 *   measured     this configuration was measured
 *   fitted       a predictor trained on measurements that include this GPU
 *   transferred  the analytical model, scaled by measurements, preferably of the same
 *                network or GPU
 * Without measurements the analytical model is used alone: transferred, or prior (the roofline)
 * where the calibration does not apply.
 */
#ifndef ORCH_FEATURES_PREDICT_STEP_TIERS_H
#define ORCH_FEATURES_PREDICT_STEP_TIERS_H

#include "core/rows/kept_predictors.h"
#include "core/workspace/workspace.h"
#include "features/predict/step_tier.h"
#include "features/predict/steps/near_steps.h"
#include "features/predict/time_question.h"
#include "predictors/learn/trained.h"
#include "predictors/steps/prior.h"

struct orch_step_tiers {
    struct orch_trained *trained; /* NULL: none; `learned` in it may be NULL */
    struct orch_trained
        *imported; /* measurements of small data sets it was not trained on, or NULL */
    int64_t newer; /* number of runs newer than the predictor */
    const struct orch_hardware *hardware;
    /* "name input" to struct known_net *: networks of the measured configurations */
    GHashTable *nets;
    bool uses_published; /* steps that others published (step_near.c) */
    GArray *near;        /* struct orch_near_step: published steps, then the store's; NULL: none */
    double *near_ratios; /* of them: log of measured over analytical time; 0: not computed yet */
    guint published;     /* how many of them are published */
    double *whites;      /* cached analytical step times, seconds: two per measured configuration
                            (roofline, transferred); NaN: no estimate, 0: not computed yet */
};

/** Loads the predictor and the measurements of the workspace's open store. It is no error if no
 * store is open, no predictor is trained or there are no runs. With the question's `calibrate`,
 * only the runs it names scale the estimate. Warnings are added to `notes` (char *). With
 * `may_keep` a predictor trained by this call is saved in the store, which may reopen the
 * workspace's store for writing. */
bool orch_step_tiers_open(struct orch_workspace *workspace, const struct orch_time_question *q,
                          bool may_keep, struct orch_step_tiers *out, GPtrArray *notes,
                          GError **error);
void orch_step_tiers_close(struct orch_step_tiers *tiers);

/** What is asked, and what is found of it: features/predict/step_answer.h. */
struct orch_step_answer;
/** Answers from the store (`tier`, `own`, `why`), or leaves the tier as it is. */
bool orch_step_tiers_estimate(const struct orch_step_tiers *tiers, struct orch_step_answer *answer,
                              GError **error);
/** The most frequent precision among the network's records on this GPU, or on all GPUs when this
 * one has none. False when no record states a precision. */
bool orch_step_tiers_precision(const struct orch_step_tiers *tiers, const struct orch_net *net,
                               const struct orch_gpu_spec *gpu, enum orch_precision *out);
/** Predicts the ratio of the step's time to the analytical model's (`near`) from measured steps
 * that are like it (features/predict/steps/near_steps.h): published ones, and the store's. `why`
 * names the nearest. Leaves the tier as it is when there are none. */
void orch_step_tiers_near(struct orch_step_tiers *tiers, struct orch_step_answer *answer);
/** The measured steps that an answer uses: [{source, by, gpu, net, mode, precision, batch, workers,
 * step_s, software, date, where, licence, weight, measured_over_model}]. New reference. */
json_t *orch_step_tiers_near_json(const struct orch_step_tiers *tiers,
                                  const struct orch_near_answer *near);
/** Scales the analytical model in `prior` by the ratio of measured to estimated times; `why` (may
 * stay NULL) names the measurements. */
void orch_step_tiers_shift(struct orch_step_tiers *tiers, struct orch_step_answer *answer);

/** Platform percent of peak: observed over estimated throughput of a set of workloads, averaged. */
struct orch_step_ppp {
    double share;  /* in (0, 1] */
    int workloads; /* measured configurations: network, batch, mode */
};
/** Measures PPP from the store's runs of one worker on this device at this precision. The estimate
 * is a roofline at the device's whole peak and bandwidth. Fails with ORCH_ERROR_USAGE if there are
 * no such runs (`tiers` may be NULL), or if they are faster than the peak allows. */
bool orch_step_tiers_ppp(struct orch_step_tiers *tiers, const struct orch_gpu_spec *gpu,
                         enum orch_precision precision, struct orch_step_ppp *out, GError **error);
/** Makes the roofline of `prior` the estimate at the whole peak over `share`. */
void orch_prior_set_ppp(struct orch_prior *prior, double share);

/** Converts a question to a table row with the columns that the predictor was trained on. Unknown
 * values are empty; the target is 1. */
struct orch_csv *orch_step_tiers_row(const struct orch_trained *trained,
                                     const struct orch_step_answer *answer, GError **error);
/** The device's name as recorded in runs: for a processor its model, not the machine's name.
 * Borrowed. */
const char *orch_step_tiers_device_name(const struct orch_gpu_spec *gpu);

#endif
