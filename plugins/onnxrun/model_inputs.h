/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where inputs come from: random numbers, the test images of a data set or folder, or a file of
 * samples that a trainer wrote, perhaps with its outputs. */
#ifndef ORCH_PLUGINS_ONNXRUN_MODEL_INPUTS_H
#define ORCH_PLUGINS_ONNXRUN_MODEL_INPUTS_H

#include "plugins/onnxrun/onnxrun.h"

/** Fills t->groups and, where they are known, t->classes. Fails naming the file, the set, or the
 * array that does not fit the input of the ONNX file. */
bool orch_onnxrun_inputs_make(struct onnxrun_trial *t, GError **error);

/** Frees what groups hold. */
void orch_onnxrun_group_clear(void *group);

/** The digest of the data set that is read becomes an input of the trial. */
bool orch_onnxrun_inputs_digest(const struct onnxrun_params *p, const struct orch_host *host,
                                GError **error);

#endif
