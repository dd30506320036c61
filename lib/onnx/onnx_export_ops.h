/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A network that is being written as a model, and the table of its operations. */
#ifndef ORCH_LIB_ONNX_ONNX_EXPORT_OPS_H
#define ORCH_LIB_ONNX_ONNX_EXPORT_OPS_H

#include "lib/onnx/onnx_export.h"

struct onnx_writing {
    const struct onnx_export *e;
    struct onnx_model *m;
    bool is_sequence;
    bool has_mask; /* of causal attention */
    /* by node of the network */
    bool *needed, *is_output, *is_folded;
    int *readers;
    int *axes;          /* of its value: 4 images, 3 tokens, 2 vectors; 0: not written yet */
    const char **names; /* its value: the node's own, or another one's where nothing is computed */
    const float **shifts; /* of a layer with a folded norm: its bias */
};

/** The name of an output: an only one is called so, further ones have the names of their nodes. */
const char *orch_onnx_export_output_name(const struct onnx_writing *w,
                                         const struct orch_net_node *node);
/** True for an output whose value has axes of size 1 that the output lacks. */
bool orch_onnx_export_flattens(const struct onnx_writing *w, const struct orch_net_node *node);

/** Writes a node: sets its name and number of axes. Fails with ORCH_ERROR_RECIPE for an operation
 * that cannot be written. */
bool orch_onnx_export_node(struct onnx_writing *w, const struct orch_net_node *node,
                           GError **error);

#endif
