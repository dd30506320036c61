/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The estimate for one device, number of workers and batch; shared by the answer for one GPU and
 * the ranking of all. Whoever has an answer keeps the question and the device that it points to. */
#ifndef ORCH_FEATURES_PREDICT_STEP_ANSWER_H
#define ORCH_FEATURES_PREDICT_STEP_ANSWER_H

#include "features/predict/candidate.h"
#include "lib/base/interval.h"

/** What a short run of the configuration on the device would cost and bring. */
struct orch_short_run {
    int steps;                      /* 0: the estimate is a measurement, is of several workers, or
                                       would not become narrower; then nothing else is set */
    double seconds;                 /* with starting the machine and loading the data */
    double usd;                     /* NaN without a price */
    double factor_now, factor_then; /* of the 90 % interval of the step time, to each side */
};

/* One estimate. */
struct orch_step_answer {
    const struct orch_time_question *q;
    const struct orch_candidate *c; /* on which device */
    int64_t workers, batch;         /* batch: images per worker */
    enum orch_tier tier;
    char *why;                    /* the evidence for the tier, or NULL */
    struct orch_interval own;     /* of the tiers measured and fitted: seconds of a step */
    bool own_is_whole;            /* it includes the exchange between workers */
    struct orch_near_answer near; /* of the tiers same-step, same-chip and same-network */
    bool extrapolates;
    bool is_whole;           /* `near` is of steps of so many workers, with their exchange */
    bool is_alone;           /* the store's measurements say nothing of it */
    struct orch_prior prior; /* as shifted for this question */
    struct orch_prior_step step;
    double epoch_s;               /* NaN without a number of images */
    struct orch_interval total_s; /* the same */
    struct orch_interval usd;     /* NaN without a price */
    char *no_basis;               /* what no measured step covers (no_basis.h), or NULL */
    struct orch_short_run narrower;
};

/** Computes the estimate. The caller releases it with orch_step_answer_clear. */
bool orch_candidate_estimate(const struct orch_time_question *q, struct orch_step_tiers *tiers,
                             const struct orch_candidate *c, int64_t workers, int64_t batch,
                             struct orch_step_answer *out, GError **error);
void orch_step_answer_clear(struct orch_step_answer *answer);
/** True when the estimate is within --budget and --deadline, or neither is set. */
bool orch_step_answer_keeps_limits(const struct orch_step_answer *answer);

/** Tokens a second over all workers, of a network of sequences. */
double orch_step_answer_tokens_per_s(const struct orch_step_answer *answer);
/** Price of a million tokens; NaN: no price is known, or the batch does not fit. */
double orch_step_answer_million_usd(const struct orch_step_answer *answer);

/** Adds the assumption of orch_time_question_assume_stem, with the ratio of the variant's step time
 * to that of `answer`, on its device. */
void orch_time_question_assume_stem_on(struct orch_time_question *q, struct orch_step_tiers *tiers,
                                       const struct orch_step_answer *answer);

/** One estimate as JSON, as in `orch predict --json`. New reference. */
json_t *orch_step_answer_json(const struct orch_step_answer *answer);
/** The complete JSON answer; steals `predictions`. */
json_t *orch_step_answers_json(const struct orch_time_question *q, const char *tier_name,
                               json_t *predictions);

/** The parts of an estimate: {analytical_model: {forward_s, backward_s, update_s,
 * exposed_exchange_s, shift}, learned: {step_s, roofline_s, extrapolates} or null, features:
 * [{name, value, unit}], nearest: [{source, net, gpu, batch, precision, step_s, count, runs}],
 * measured_steps (see orch_step_tiers_near_json)} (explain.c). A new reference; NULL on error. */
json_t *orch_step_answer_explain(const struct orch_step_tiers *tiers,
                                 const struct orch_step_answer *answer, GError **error);

#endif
