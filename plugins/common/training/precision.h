/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which precision a training computes in: by its parameter, or by what the device multiplies fast.
 */
#ifndef ORCH_PLUGINS_COMMON_TRAINING_PRECISION_H
#define ORCH_PLUGINS_COMMON_TRAINING_PRECISION_H

#include "plugins/common/torch/torch.h"
#include "plugins/common/training/session.h"

/** The precision of a training on the session's device. `precision: auto` is bf16 on a processor
 * with bf16 instructions and on an NVIDIA GPU since Ampere (compute capability 8.0), else fp32. */
enum orch_torch_precision orch_precision_of(const struct orch_session *session);

/** Its name as far as this machine tells it before a trial: `auto` is NULL where a GPU may be
 * used. Borrowed from the parameters, or a literal. */
const char *orch_precision_known(const struct orch_training *training);

/** What is to be said of the training's precision where `computes_bf16` tells whether the processor
 * has bf16 instructions and `may_use_gpu` whether the machine has an NVIDIA GPU; NULL: nothing. */
const char *orch_precision_caution(const struct orch_training *training, bool computes_bf16,
                                   bool may_use_gpu);

/** In check: warns the user of a precision that is slow on this machine. */
void orch_precision_warn(const struct orch_training *training, const struct orch_host *host);

#endif
