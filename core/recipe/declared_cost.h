/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cost that a trial's plugin declares (struct orch_cost), as JSON. A sample is an image, or
 * what `unit` says. Batch augmentation computes each sample of a batch `copies` times: the samples
 * counted here are those that are computed. */
#ifndef ORCH_CORE_RECIPE_DECLARED_COST_H
#define ORCH_CORE_RECIPE_DECLARED_COST_H

#include <jansson.h>
#include <stdbool.h>

/** A positive number from the cost that a run's plugin declared; NaN when it is absent. */
double orch_cost_number(const json_t *cost, const char *name);
/** True when the declared work trains the network. Plugins write `training` only then. */
bool orch_cost_is_training(const json_t *cost);

/** Number of data-parallel learners as declared, whatever number of GPUs the trial may use; 1 when
 * it is absent. */
double orch_cost_workers(const json_t *cost);
/** Samples that a step computes in each worker: `batch`, or `samples` without it, times `copies`.
 * NaN when neither is declared. */
double orch_cost_step_samples(const json_t *cost);
/** Samples that an epoch computes in all workers: `images` times `copies`. NaN without `images`. */
double orch_cost_epoch_samples(const json_t *cost);
/** Samples that the whole trial computes in all workers: those of its epochs (1 when `epochs` is
 * absent), or, where `images` is absent or only `steps` are declared, those of its steps. NaN when
 * neither is known. */
double orch_cost_all_samples(const json_t *cost);

#endif
