/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps what an ended trial left in folders of its own: ${trial_dir} of a program, the current
 * folder of a plugin, and a folder apart, where it is what the trial made or wrote. */
#ifndef ORCH_CORE_INPUTS_LEFT_KEEP_H
#define ORCH_CORE_INPUTS_LEFT_KEEP_H

#include "core/inputs/left_files.h"

#include <jansson.h>

/** Moves it from the trial's folder, of which `folder` is a descriptor, to where orch_left_look
 * finds it; `*out` is what that finds. `trial` is its trial.json; NULL: it is lost, and
 * ${trial_dir} alone is looked at. False when something could not be moved: it is still in the
 * trial's folder. */
bool orch_left_keep(struct orch_store *store, const char *key, int folder, const json_t *trial,
                    struct orch_left *out);

#endif
