/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The network that a run trained, with the weights that it kept, as what is exported. */
#ifndef ORCH_FEATURES_ONNX_EXPORT_SOURCE_H
#define ORCH_FEATURES_ONNX_EXPORT_SOURCE_H

#include "lib/onnx/export_values.h"
#include "store/store.h"

/** orch_onnx_export_source_open for a run that ended, with its artifact 'weights': `net` may
 * override its input and classes. Fails with ORCH_ERROR_NOT_FOUND where the run has no network or
 * no such artifact here.
 */
bool orch_onnx_export_source_of_run(struct orch_store *store, const struct orch_run *run,
                                    const struct orch_net_options *net,
                                    struct onnx_export_source *out, GError **error);

#endif
