/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The outputs of the trainer, LibTorch, for the same inputs. */
#ifndef ORCH_PLUGINS_ONNXRUN_TRAINER_H
#define ORCH_PLUGINS_ONNXRUN_TRAINER_H

#include "plugins/onnxrun/onnxrun.h"

/** Reports how long a batch takes (trainer_latency), and fills `expected` of each group, where a
 * file of samples did not, with the outputs of network t->p->net with the weights of t->weights,
 * after `outputs` were filled: these say how many classes the network has. Fails with
 * ORCH_ERROR_PLUGIN where there is no LibTorch, and for weights of another network. */
bool orch_onnxrun_trainer_run(struct onnxrun_trial *t, GError **error);

#endif
