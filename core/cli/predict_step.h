/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `orch predict` answers for one device, worker count and batch; shared by the answer for one
 * GPU and the ranking of all. */
#ifndef ORCH_CORE_CLI_PREDICT_STEP_H
#define ORCH_CORE_CLI_PREDICT_STEP_H

#include "core/cli/predict_tiers.h"

/* One device that is asked about. */
struct candidate {
    const struct orch_gpu_spec *gpu;
    enum orch_precision precision;
    struct orch_prior prior;
    struct rate rate;
};

/* One line of the answer. */
struct answer {
    int64_t workers, batch;
    const char *tier;
    char *why; /* what the tier rests on, or NULL */
    bool extrapolates;
    struct orch_prior prior; /* as shifted for this question */
    struct orch_prior_step step;
    double epoch_s, total_s, low_s, high_s; /* NaN without a number of images */
    double usd, low_usd, high_usd;          /* NaN without a price */
};

/** Precision, white box and price of a device. */
bool candidate_choose(const struct question *q, const struct orch_gpu_spec *gpu,
                      struct candidate *out, GError **error);
/** Answers; answer_clear frees. */
bool candidate_ask(const struct question *q, struct tiers *tiers, const struct candidate *c,
                   int64_t workers, int64_t batch, struct answer *out, GError **error);
void answer_clear(struct answer *answer);
/** Does it keep to --budget and --deadline? Without them: yes. */
bool answer_keeps_limits(const struct question *q, const struct answer *answer);

/** Adds the assumption that an ImageNet network is meant with its own stem, where the images are
 * small and the zoo has a variant for them, and how much more that one computes (predict_stem.c).
 */
void question_assume_stem(struct question *q);
/** The same with how much longer the variant takes than `answer` on that device. */
void question_assume_stem_on(struct question *q, struct tiers *tiers, const struct candidate *c,
                             const struct answer *answer);

json_t *answer_json(const struct question *q, const struct candidate *c, const struct answer *a);
/** The whole answer; steals `predictions`. */
json_t *answers_json(const struct question *q, const char *tier, json_t *predictions);
/** "1 h to 2 h"; "-" for NaN. The caller frees. */
char *span_format(double low, double high);
void add_duration(struct orch_table *table, double seconds);
void add_money(struct orch_table *table, double usd);

#endif
