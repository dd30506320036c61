/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ONNX models under construction: nodes, initializers and what describes them are added one by one,
 * then the model is written. The values of initializers are borrowed until then and go straight
 * into the file, so that a model takes no more memory than its weights.
 */
#ifndef ORCH_LIB_ONNX_ONNX_MODEL_H
#define ORCH_LIB_ONNX_ONNX_MODEL_H

#include "lib/onnx/onnx_file.h"

#define ONNX_BATCH ((int64_t)-1) /* as a dimension: the batch, which may be any number */

struct onnx_model {
    Onnx__ModelProto proto;
    Onnx__GraphProto graph;
    int opset;
    GPtrArray *nodes, *initializers, *inputs, *outputs, *infos, *metadata; /* messages, owned */
    GPtrArray *owned; /* whatever the messages point to */
};

/** The versions of ONNX's operators that models are written in. */
enum { ONNX_OPSET_MIN = 13, ONNX_OPSET_MAX = 21, ONNX_OPSET_DEFAULT = 17 };

/** `name` is the graph's. Clear with orch_onnx_model_clear. */
void orch_onnx_model_init(struct onnx_model *m, const char *name, int opset);
void orch_onnx_model_clear(struct onnx_model *m);

/** Adds a node and returns it for attributes. `outputs` and `inputs` are names. */
Onnx__NodeProto *orch_onnx_model_node(struct onnx_model *m, const char *op, const char *name,
                                      const char *const *inputs, int input_count,
                                      const char *const *outputs, int output_count);
void orch_onnx_model_int(struct onnx_model *m, Onnx__NodeProto *node, const char *name,
                         int64_t value);
void orch_onnx_model_float(struct onnx_model *m, Onnx__NodeProto *node, const char *name,
                           double value);
void orch_onnx_model_ints(struct onnx_model *m, Onnx__NodeProto *node, const char *name,
                          const int64_t *values, int count);

/** Adds a node Constant with a copy of the values, whose output has its name. Numbers of the graph
 * (axes, sizes, masks) are such nodes, so that initializers are weights and nothing else. */
void orch_onnx_model_constant_ints(struct onnx_model *m, const char *name, const int64_t *values,
                                   int count);
void orch_onnx_model_constant_int(struct onnx_model *m, const char *name, int64_t value);
void orch_onnx_model_constant_floats(struct onnx_model *m, const char *name, const float *values,
                                     int rank, const int64_t *dims);
/** Adds an initializer of floats, whose values must remain valid until the model is written. */
void orch_onnx_model_initializer(struct onnx_model *m, const char *name, const float *values,
                                 int rank, const int64_t *dims);
/** Declares a value in `list` (the model's inputs, outputs or infos); `type` as of TensorProto. */
void orch_onnx_model_value(struct onnx_model *m, GPtrArray *list, const char *name, int type,
                           int rank, const int64_t *dims);
void orch_onnx_model_metadata(struct onnx_model *m, const char *key, const char *value);

/** Returns a name that lives as long as the model. */
const char *orch_onnx_model_text(struct onnx_model *m, const char *format, ...) G_GNUC_PRINTF(2, 3);

/** What was written. */
struct onnx_written {
    int64_t bytes;      /* of the model's file */
    char *data;         /* path of the file with the weights beside it; NULL: there is none */
    int64_t data_bytes; /* of that file */
};

/** Writes the model to `path`. With `external`, and when it would exceed protobuf's limit of 2 GiB,
 * the weights are written beside it, as ONNX specifies: to PATH.data, or to PATH.1.data when the
 * older model at `path` uses PATH.data, which is then removed. The new model replaces the older one
 * in one step when it is complete; after a failure (ORCH_ERROR_IO) the older one is as before and
 * no part of the new one is left. The caller frees `out->data`. Must be the last call. */
bool orch_onnx_model_write(struct onnx_model *m, const char *path, bool external,
                           struct onnx_written *out, GError **error);

#endif
