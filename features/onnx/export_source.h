/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is exported: a network of the zoo, with the weights that a run kept, those of a file, or
 * those with which a training starts. */
#ifndef ORCH_FEATURES_ONNX_EXPORT_SOURCE_H
#define ORCH_FEATURES_ONNX_EXPORT_SOURCE_H

#include "features/onnx/onnx_model.h"
#include "lib/net/net.h"
#include "store/store.h"

struct onnx_export_source {
    struct orch_net *net;
    float **values;      /* by tensor, or NULL for those that are not exported */
    GPtrArray *metadata; /* char *: a key, its value, the next key, ... */
    char *weights;       /* in words where the values are from: "run 4f2a9c1b" */
};

/** The network to build, and where its weights are. */
struct onnx_export_request {
    struct orch_net_options net;
    const char *weights; /* file; NULL: initial values */
    uint64_t seed;       /* of the initial values */
};

/** Builds the network and reads or makes its values. Fails with ORCH_ERROR_CHECK for the weights of
 * another network, naming the first tensors that differ. Clear with
 * orch_onnx_export_source_clear in any case. */
bool orch_onnx_export_source_open(const struct onnx_export_request *request,
                                  struct onnx_export_source *out, GError **error);

/** The same for a run that ended, with its artifact 'weights': `net` may override its input and
 * classes. Fails with ORCH_ERROR_NOT_FOUND where the run has no network or no such artifact here.
 */
bool orch_onnx_export_source_of_run(struct orch_store *store, const struct orch_run *run,
                                    const struct orch_net_options *net,
                                    struct onnx_export_source *out, GError **error);

void orch_onnx_export_source_clear(struct onnx_export_source *source);

#endif
