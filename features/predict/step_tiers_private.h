/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internals of features/predict/step_tiers.h: what its files share. */
#ifndef ORCH_FEATURES_PREDICT_STEP_TIERS_PRIVATE_H
#define ORCH_FEATURES_PREDICT_STEP_TIERS_PRIVATE_H

#include "features/predict/step_answer.h"

/** The question's value in a column of the records, "" where it has none. Caller frees. */
char *orch_step_tiers_value(const struct orch_trained *trained,
                            const struct orch_step_answer *answer, const char *column);

/** The precision that a record's multiplications ran in on the GPU; fp32 when the record has none.
 * False when its name is unknown, because no precision is guessed. */
bool orch_step_tiers_precision_of(const struct orch_trained *trained,
                                  const struct orch_trained_cell *known,
                                  const struct orch_gpu_spec *gpu, enum orch_precision *out);
bool orch_step_tiers_is_one_worker(const struct orch_trained *trained,
                                   const struct orch_trained_cell *known);

/** How a measured configuration is estimated. */
enum orch_step_basis {
    ORCH_STEP_BASIS_ROOFLINE,
    ORCH_STEP_BASIS_TRANSFERRED,
    ORCH_STEP_BASIS_PEAK, /* a roofline at the whole peak and bandwidth, without launches */
};
/** A step to compute. */
struct orch_step_cell {
    const struct orch_gpu_spec *gpu;
    const char *net, *input; /* as recorded; the network is of the zoo */
    enum orch_precision precision;
    bool training;
    int64_t batch, workers;
};
/** The analytical time of the step, seconds; NaN when there is none. `out_host_share`: see struct
 * orch_roofline_step; NULL: not asked for. */
double orch_step_tiers_analytical(struct orch_step_tiers *tiers, const struct orch_step_cell *cell,
                                  enum orch_step_basis basis, double *out_host_share);
/** The same of a measured configuration. */
double orch_step_tiers_analytical_of(struct orch_step_tiers *tiers,
                                     const struct orch_trained_cell *known,
                                     enum orch_step_basis basis);
/** The step that a measured configuration is of; false if its GPU, precision or batch is not known.
 */
bool orch_step_tiers_cell_of(const struct orch_step_tiers *tiers, const struct orch_trained *t,
                             const struct orch_trained_cell *known, struct orch_step_cell *out);
/** True for a step whose network is of the zoo and has attention. */
bool orch_step_tiers_is_attention(struct orch_step_tiers *tiers, const struct orch_step_cell *cell);
/** The same of the configuration at this index, kept: by the roofline, or as transferred. */
double orch_step_tiers_white(struct orch_step_tiers *tiers, guint at, bool transfers);
/** Makes the roofline the one at the whole peak. */
void orch_step_tiers_use_peak(struct orch_prior *prior);

#endif
