/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranks GPUs by the time and the cost of one training on each, and recommends one. */
#ifndef ORCH_FEATURES_PREDICT_GPU_RANKING_H
#define ORCH_FEATURES_PREDICT_GPU_RANKING_H

#include "features/predict/step_answer.h"

struct orch_ranked_gpu {
    struct orch_candidate c;
    struct orch_step_answer a;
    bool pareto;
    bool is_guess; /* no measured step is like it: it is ranked behind all others */
    bool owns_why;
};

/** A GPU without an estimate, and the reason. */
struct orch_unranked {
    const char *gpu;
    char *why;
};

struct orch_gpu_ranking {
    GPtrArray *all;      /* struct orch_ranked_gpu *, guesses last, then by time and cost */
    GPtrArray *list;     /* those within budget and deadline; borrowed from `all` */
    GPtrArray *unranked; /* struct orch_unranked * */
    /* the recommendation; NULL: no GPU with a known price is within the limits */
    const struct orch_ranked_gpu *best;
};

/** Ranks the question's GPUs for its first number of workers and first batch size. NULL on error.
 * The caller frees. */
struct orch_gpu_ranking *orch_gpu_ranking_new(struct orch_time_question *question,
                                              struct orch_step_tiers *tiers, GError **error);
void orch_gpu_ranking_free(struct orch_gpu_ranking *ranking);
/** Seconds of the whole training, or of one step when the number of images is unknown. */
double orch_ranked_gpu_s(const struct orch_ranked_gpu *ranked);
/** Explains why there is no recommendation and what the user can do. The caller frees. */
char *orch_gpu_ranking_why_empty(const struct orch_time_question *question,
                                 const struct orch_gpu_ranking *ranking);

#endif
