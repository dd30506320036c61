/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads networks from ONNX files into the graph of lib/net, which counts their costs. Only the
 * shapes of weights are read, so that a model of 500 MB loads as fast as its graph.
 *
 * An open batch size becomes 1, a fixed one is divided out; counts are for one image. The batch is
 * the first axis of the inputs, or the second of sequences whose first axis a recurrent layer or
 * attention takes for steps. Where values of several samples meet a sample is the whole batch; the
 * notes say both. Parameters
 * are the initializers that layers with weights use, and those with more than one element that are
 * added to, multiplied with or concatenated to a value. A tensor that is used twice counts once
 * (PyTorch also merges tensors with equal content, such as untrained batch norms). Batch norms that
 * an exporter folded into convolutions are missing, with their parameters.
 *
 * Operations that an exporter decomposed (GELU, SiLU, layer norm, a bias after a product) become
 * one layer again. Activations that lib/net lacks become the most similar one. Views (reshape,
 * squeeze, cast) are not layers; operations that move elements are layers without operations.
 */
#ifndef ORCH_FEATURES_ONNX_ONNX_H
#define ORCH_FEATURES_ONNX_ONNX_H

#include "lib/net/net.h"

/** Operators of the same name whose operations were counted as zero. */
struct orch_onnx_note {
    char *op;       /* "HardSwish", "com.example::Foo" */
    char *node;     /* name of the first one */
    int count;      /* number of nodes */
    int64_t params; /* elements of their weights, which were not counted either */
    bool is_known;  /* the output shape is exact; otherwise it is the file's or the input's */
};

struct orch_onnx_notes {
    GPtrArray *items;    /* struct orch_onnx_note *; NULL: none */
    char *batch;         /* what was found out about it, or NULL */
    int64_t newer_opset; /* version of ONNX's operators, if newer than those tested; else 0 */
};
/** Frees the contents; a zeroed struct is empty. */
void orch_onnx_notes_release(struct orch_onnx_notes *notes);

/** Reads a model with inputs of size `input`; a dimension of 0 stands for the model's own. A vector
 * is C x 1 x 1, a sequence of tokens 1 x T x 1. `notes` (zeroed, may be NULL) receives what was
 * counted as zero; the caller releases it. Fails with ORCH_ERROR_IO (the file cannot be read) or
 * ORCH_ERROR_RECIPE (not an ONNX model, truncated, cyclic, or inconsistent shapes; with file, node
 * and hint). */
struct orch_net *orch_onnx_load(const char *path, struct orch_net_shape input,
                                struct orch_onnx_notes *notes, GError **error);

/** The same from memory; `name` replaces the path in messages. */
struct orch_net *orch_onnx_load_bytes(const void *bytes, size_t length, const char *name,
                                      struct orch_net_shape input, struct orch_onnx_notes *notes,
                                      GError **error);

#endif
