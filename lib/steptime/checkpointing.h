/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Activation checkpointing (Chen et al. 2016): each group of layers between the first and the last
 * keeps its input alone, and computes the rest again before its backward pass. */
#ifndef ORCH_STEPTIME_CHECKPOINTING_H
#define ORCH_STEPTIME_CHECKPOINTING_H

#include "lib/steptime/roofline.h"

/** Bytes of activations that a step does not keep at the same time, of the whole batch. */
double orch_checkpointing_saved(const struct orch_net *net, const struct orch_net_cost *costs,
                                const struct orch_roofline_work *work);
/** Adds the second forward pass of these groups to the backward pass; it ends with the last value
 * that a gradient needs, as in PyTorch without reentrant passes. `layers` are those of the step,
 * with net->nodes->len entries. */
void orch_checkpointing_add(const struct orch_net *net, const struct orch_net_cost *costs,
                            struct orch_roofline_layer *layers, struct orch_roofline_step *step);

#endif
