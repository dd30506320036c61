/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The estimate for one device, number of workers and batch; shared by the answer for one GPU and
 * the ranking of all. */
#ifndef ORCH_FEATURES_PREDICT_STEP_ANSWER_H
#define ORCH_FEATURES_PREDICT_STEP_ANSWER_H

#include "features/predict/step_tiers.h"
#include "lib/base/interval.h"

/* A device to estimate for. */
struct orch_candidate {
    const struct orch_gpu_spec *gpu;
    enum orch_precision precision; /* of the multiplications */
    /* of the linear layers of a training in 8 or 4 bits, whose `precision` is bf16 */
    enum orch_number_format format;
    const char *precision_name; /* "fp32", "fp8". Static */
    /* taken from the network's records, because the question has none */
    bool precision_is_recorded;
    struct orch_prior prior;
    struct orch_step_ppp ppp; /* of a question whose PPP is measured; else zeros */
    struct orch_rate rate;
};

/* One estimate. */
struct orch_step_answer {
    int64_t workers, batch;
    enum orch_tier tier;
    char *why;                    /* the evidence for the tier, or NULL */
    struct orch_near_answer near; /* of the tiers same-step, same-chip and same-network */
    bool extrapolates;
    bool is_whole;           /* `near` is of steps of so many workers, with their exchange */
    bool is_alone;           /* the store's measurements say nothing of it */
    struct orch_prior prior; /* as shifted for this question */
    struct orch_prior_step step;
    double epoch_s;               /* NaN without a number of images */
    struct orch_interval total_s; /* the same */
    struct orch_interval usd;     /* NaN without a price */
};

/** Determines the precision, analytical model and price of a device. A question without a precision
 * uses the one in the network's records (`tiers`, or NULL), else fp32; orch_precision_run maps it
 * to the precision that the device computes in. */
bool orch_candidate_choose(const struct orch_time_question *q, struct orch_step_tiers *tiers,
                           const struct orch_gpu_spec *gpu, struct orch_candidate *out,
                           GError **error);
/** Computes the estimate. The caller releases it with orch_step_answer_clear. */
bool orch_candidate_estimate(const struct orch_time_question *q, struct orch_step_tiers *tiers,
                             const struct orch_candidate *c, int64_t workers, int64_t batch,
                             struct orch_step_answer *out, GError **error);
void orch_step_answer_clear(struct orch_step_answer *answer);
/** True when the estimate is within --budget and --deadline, or neither is set. */
bool orch_step_answer_keeps_limits(const struct orch_time_question *q,
                                   const struct orch_step_answer *answer);

/** Tokens a second over all workers, of a network of sequences. */
double orch_step_answer_tokens_per_s(const struct orch_time_question *q,
                                     const struct orch_step_answer *answer);
/** Price of a million tokens; NaN: no price is known, or the batch does not fit. */
double orch_step_answer_million_usd(const struct orch_time_question *q,
                                    const struct orch_candidate *c,
                                    const struct orch_step_answer *a);

/** Adds the assumption of orch_time_question_assume_stem, with the ratio of the variant's step time
 * to that of `answer` on the device. */
void orch_time_question_assume_stem_on(struct orch_time_question *q, struct orch_step_tiers *tiers,
                                       const struct orch_candidate *c,
                                       const struct orch_step_answer *answer);

/** Adds the assumptions about the device; `asked` is its name as the user wrote it. */
void orch_time_question_assume_device(struct orch_time_question *q, const char *gpu_name,
                                      const struct orch_candidate *c);

/** What a short run of the configuration on the device would cost and bring. */
struct orch_short_run {
    int steps;
    double seconds;                 /* with starting the machine and loading the data */
    double usd;                     /* NaN without a price */
    double factor_now, factor_then; /* of the 90 % interval of the step time, to each side */
};
/** False when the estimate is a measurement, is of several workers, or would not become narrower.
 */
bool orch_step_answer_short_run(const struct orch_candidate *c, const struct orch_step_answer *a,
                                struct orch_short_run *out);

/** One estimate as JSON, as in `orch predict --json`. New reference. */
json_t *orch_step_answer_json(const struct orch_time_question *q, const struct orch_candidate *c,
                              const struct orch_step_answer *a);
/** The complete JSON answer; steals `predictions`. */
json_t *orch_step_answers_json(const struct orch_time_question *q, const char *tier_name,
                               json_t *predictions);

#endif
