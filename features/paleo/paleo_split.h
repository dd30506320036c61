/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PALEO's model parallelism, and data parallelism together with it. */
#ifndef ORCH_FEATURES_PALEO_SPLIT_H
#define ORCH_FEATURES_PALEO_SPLIT_H

#include "predictors/paleo/paleo.h"

/** Model parallelism: some layers are split along their channels into one piece per worker. */
struct orch_paleo_split_step {
    int64_t workers;
    double fwd_lower_ms, bwd_lower_ms; /* pieces run in parallel */
    double fwd_upper_ms, bwd_upper_ms; /* pieces run one after another */
    double update_ms;                  /* of all weights */
};
/** All workers compute one batch with `split_layers` (names, NULL-terminated) split. As in PALEO,
 * fetches of other workers' outputs use the bandwidth of device memory over ppp_comm, and there is
 * no pipelining. Fails with ORCH_ERROR_USAGE if a layer cannot be split, ORCH_ERROR_NOT_FOUND for
 * an unknown layer, ORCH_ERROR_RECIPE if the table does not say which layer reads which. */
bool orch_paleo_model_parallel(const struct orch_layer_table *table,
                               const struct orch_paleo_options *options,
                               const char *const *split_layers, int64_t workers,
                               struct orch_paleo_split_step *out, GError **error);

/** "One weird trick" (Krizhevsky 2014): data parallelism, except that `split_layers` are split and
 * process the batches of all workers one after another. Each worker has options->batch images. */
struct orch_paleo_hybrid_step {
    int64_t workers, effective_batch;
    double data_fwd_ms, data_bwd_ms, data_update_ms, data_comm_ms; /* layers that are not split */
    double split_fwd_ms, split_bwd_ms, split_update_ms;            /* split layers */
    double total_ms;
    double images_per_s;
};
bool orch_paleo_hybrid(const struct orch_layer_table *table,
                       const struct orch_paleo_options *options, const char *const *split_layers,
                       int64_t workers, struct orch_paleo_hybrid_step *out, GError **error);

#endif
