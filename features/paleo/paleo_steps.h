/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The step times of PALEO (Qi et al. 2017), with additions to it that are marked as such. */
#ifndef ORCH_FEATURES_PALEO_PALEO_STEPS_H
#define ORCH_FEATURES_PALEO_PALEO_STEPS_H

#include "features/paleo/paleo_split.h"
#include "features/predict/time_question.h"

/** Settings of PALEO beside those of the question, as the user names them. NULL: the default. */
struct orch_paleo_request {
    const char *gpu;       /* of the hardware tables, or PALEO's own: "paleo:K80" (the default) */
    const char *link;      /* between workers; default ethernet20 */
    const char *scheme;    /* of the exchange: PALEO's own, or "ring" or "hierarchical" */
    const char *algorithm; /* of convolutions: "gemm" (the default), "fft", "fft-tiling" */
    bool pipeline;         /* a layer takes the longer of computing and memory, not their sum */
    /* additions to PALEO: */
    bool overlap;    /* the exchange overlaps with the backward pass */
    bool all_layers; /* time of norms, activations and sums, which PALEO counts as 0 */
};

/** One step. Unknown numbers are NaN. */
struct orch_paleo_row {
    struct orch_paleo_step step;
    double images_per_s_at_peak; /* at the peak of all workers, with PALEO's count of operations */
    double epoch_s, epoch_usd;
    double whole_comm_ms;   /* of the exchange before --overlap; NaN without it */
    double other_layers_ms; /* added by all_layers; NaN without it */
};

struct orch_paleo_steps {
    struct orch_paleo_options options;
    struct orch_rate rate;
    enum orch_exchange_scheme scheme; /* instead of PALEO's own when has_scheme */
    bool has_scheme, overlap, all_layers;
    bool is_own_device;     /* PALEO's own, not of the hardware tables */
    bool leaves_layers_out; /* PALEO has no formula for some layers */
    GArray *rows;           /* struct orch_paleo_row: each batch with each number of workers */
};

/** Answers the question for each batch and number of workers. What was not specified is added to
 * the question's assumptions. ORCH_ERROR_USAGE for an unknown name. The caller frees. */
struct orch_paleo_steps *orch_paleo_steps_new(struct orch_time_question *q,
                                              const struct orch_paleo_request *request,
                                              GError **error);
void orch_paleo_steps_free(struct orch_paleo_steps *steps);
/** True when the rows contain additions to PALEO. */
bool orch_paleo_steps_has_additions(const struct orch_paleo_steps *steps);

/** Model parallelism: the layers in `split` are cut among the workers. */
struct orch_paleo_model_row {
    int64_t workers;
    struct orch_paleo_split_step step;
};
/** Returns struct orch_paleo_model_row for each number of workers at the first batch. `split` is
 * NULL-terminated. The caller unrefs. */
GArray *orch_paleo_model_rows(struct orch_time_question *q,
                              const struct orch_paleo_request *request, const char *const *split,
                              GError **error);
/** Hybrid parallelism: the layers in `split` are cut, the others are data parallel. */
struct orch_paleo_hybrid_row {
    int64_t workers;
    struct orch_paleo_hybrid_step step;
};
/** Returns struct orch_paleo_hybrid_row, as above. ORCH_ERROR_USAGE for more than 8 workers. */
GArray *orch_paleo_hybrid_rows(struct orch_time_question *q,
                               const struct orch_paleo_request *request, const char *const *split,
                               GError **error);

#endif
