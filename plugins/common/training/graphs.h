/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CUDA graphs: on a GPU the steps of a training are captured once and then replayed, which saves
 * the launches of their kernels (torch.h, graphs_set). */
#ifndef ORCH_PLUGINS_COMMON_TRAINING_GRAPHS_H
#define ORCH_PLUGINS_COMMON_TRAINING_GRAPHS_H

#include "plugins/common/training/session.h"

/** Fails with ORCH_ERROR_RECIPE for `graphs: on` with `device: cpu`. Needs the parameters alone. */
bool orch_graphs_check(const struct orch_training *training, GError **error);

/** Turns graphs on for the session's model, which has its optimizer: with `graphs: on`, or with
 * `auto` on a GPU. Fails for `on` where there is no GPU or a LibTorch that cannot capture; with
 * `auto` the latter is a note. */
bool orch_graphs_choose(const struct orch_session *session, GError **error);

/** Reports why the training's steps so far were not replayed, as a note. Returns false if there is
 * nothing to report. */
bool orch_graphs_note(const struct orch_session *session);

/** Reports the result cuda_graphs: 1 if steps were replayed. */
void orch_graphs_report(const struct orch_session *session);

#endif
