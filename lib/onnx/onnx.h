/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Networks from ONNX files, read into the graph of lib/net: what they cost is then counted as for
 * any other. Weights are not read, only their shapes: a model of 500 MB takes no longer than its
 * graph.
 *
 * A batch that is left open is 1; one that is fixed is divided out, counts are for one image.
 * Parameters are the initializers that layers with weights use, and those of more than one element
 * that are added to, multiplied with or joined to a value; a tensor used twice counts once (PyTorch
 * also merges tensors of equal content, which fresh batch norms have). Batch norms that an exporter
 * folded into convolutions are gone, and so are their parameters.
 *
 * What an exporter took apart (GELU, SiLU, layer norm, a bias behind a product) is one layer again;
 * activations that lib/net does not have become the nearest that it has. A view (reshape, squeeze,
 * cast) is no layer, what moves elements is one without operations.
 */
#ifndef ORCH_ONNX_ONNX_H
#define ORCH_ONNX_ONNX_H

#include "lib/net/net.h"

/** Operators of one name whose operations were counted as zero. */
struct orch_onnx_note {
    char *op;       /* "HardSwish", "com.example::Foo" */
    char *node;     /* the first one's name */
    int count;      /* nodes */
    int64_t params; /* elements of the weights that they read, which were not counted either */
    bool is_known;  /* its shape is right; else it was taken from the file or from the input */
};

struct orch_onnx_notes {
    GPtrArray *items; /* struct orch_onnx_note *; NULL: none */
};
/** Frees what is in it; a zeroed one is empty. */
void orch_onnx_notes_release(struct orch_onnx_notes *notes);

/** Reads a model. `notes` (zeroed, may be NULL) gets what was counted as zero; the caller releases
 * it. NULL with ORCH_ERROR_IO (the file cannot be read) or ORCH_ERROR_RECIPE (it is no ONNX model,
 * is cut short, its graph is cyclic, a shape does not fit: file, node and cure are named). */
struct orch_net *orch_onnx_load(const char *path, struct orch_onnx_notes *notes, GError **error);

/** The same with another size of the input; what is 0 is the model's own. A vector is C x 1 x 1,
 * a sequence of tokens 1 x T x 1. */
struct orch_net *orch_onnx_load_input(const char *path, struct orch_net_shape input,
                                      struct orch_onnx_notes *notes, GError **error);

/** The same from memory; `name` stands for the path. */
struct orch_net *orch_onnx_load_bytes(const void *bytes, size_t length, const char *name,
                                      struct orch_net_shape input, struct orch_onnx_notes *notes,
                                      GError **error);

#endif
