/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes networks of lib/net as ONNX models that compute what the training plugins compute in
 * evaluation: dropout and stochastic depth do nothing, batch norms use their running statistics.
 * What only the training has, such as auxiliary heads, is left out.
 *
 * Values have the names of the network's nodes, initializers those of its tensors. Images are
 * N x C x H x W; a sequence is N x T whole numbers at the input and N x T x C after that. An output
 * without rows and columns is N x C.
 */
#ifndef ORCH_LIB_ONNX_ONNX_EXPORT_H
#define ORCH_LIB_ONNX_ONNX_EXPORT_H

#include "lib/net/net.h"
#include "lib/onnx/onnx_model.h"

struct onnx_export {
    const struct orch_net *net;
    float **values;   /* by tensor of the network; those of tensors that are not exported may be
                         NULL */
    int opset;        /* ONNX_OPSET_MIN to ONNX_OPSET_MAX */
    int64_t batch;    /* 0: any */
    bool folds_norms; /* batch norms become part of the convolutions before them, whose values are
                         changed */
};

/** For each tensor of the network whether its values are exported. Caller frees. */
bool *orch_onnx_export_tensors(const struct orch_net *net);

/** Initialises `m` with the network; metadata can be added until it is written. The values must
 * remain valid until then. Fails with ORCH_ERROR_RECIPE for an operation that cannot be written.
 * The caller clears `m` in any case. */
bool orch_onnx_export(const struct onnx_export *e, struct onnx_model *m, GError **error);

#endif
