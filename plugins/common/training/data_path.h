/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where batches of images are made. On the processor, worker threads apply the transforms, and each
 * batch is copied to the device. On a GPU, the bytes of the data sets lie in its memory, the
 * workers only draw the plans of the transforms, and a kernel applies them. The images are the
 * same. */
#ifndef ORCH_PLUGINS_COMMON_TRAINING_DATA_PATH_H
#define ORCH_PLUGINS_COMMON_TRAINING_DATA_PATH_H

#include "plugins/common/training/epochs.h"
#include "plugins/common/training/session.h"

/** Fails with ORCH_ERROR_RECIPE for `data_path: gpu` with a device that is no GPU. `device` "auto"
 * may be one. */
bool orch_data_path_check(const struct orch_training *training, const char *device, GError **error);

/** Decides by the parameter data_path, after the session was opened and before any feed is made.
 * `auto` is the GPU's path if the model is on a GPU, the plugin's parts take its batches, the
 * adapter has the kernel, and the data sets fit. Where a model on a GPU gets its batches from the
 * processor although the parameter is not `cpu`, a note says why; with `gpu` it is an error
 * (ORCH_ERROR_TRIAL). Fills session->train_images and val_images, both or none, and reports the
 * result gpu_data_path. */
bool orch_data_path_choose(struct orch_session *session, const struct orch_training_parts *parts,
                           GError **error);

/** True if data sets of `set_bytes` may be copied to a GPU with so much free memory, in bytes: an
 * eighth of all memory must stay free for the training. */
bool orch_data_path_fits(int64_t set_bytes, int64_t free_bytes, int64_t total_bytes);

#endif
