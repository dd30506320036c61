/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How images and activations lie in memory: plain (N x C x H x W) or channels-last (N x H x W x C).
 * Which is faster depends on processor, LibTorch, network and precision, so `layout: auto` measures
 * a few steps of both once and keeps the answer. */
#ifndef ORCH_PLUGINS_COMMON_TRAINING_MEMORY_LAYOUT_H
#define ORCH_PLUGINS_COMMON_TRAINING_MEMORY_LAYOUT_H

#include "plugins/common/training/session.h"

/** Decides the layout of a session whose data, network and LibTorch are there, before its model.
 * `setup` is that of the model; its channels_last is set.
 *
 * With `layout: auto` the answer is looked up in $XDG_CACHE_HOME/orch/layouts by LibTorch's
 * version, processor, device, network, shape and precision: equal for all batch sizes and numbers
 * of threads, so that a comparison of times never mixes layouts. If it is not there, both are
 * timed, while other trials of this user wait for the answer. Plain where the difference is below
 * 3 %, in smoke runs, and where only a head is trained on features that are computed once.
 *
 * Reports the result channels_last, and a note if it was measured. */
bool orch_layout_choose(const struct orch_session *session, struct orch_torch_setup *setup,
                        GError **error);

#endif
