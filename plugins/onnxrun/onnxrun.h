/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of the plugin share. */
#ifndef ORCH_PLUGINS_ONNXRUN_ONNXRUN_H
#define ORCH_PLUGINS_ONNXRUN_ONNXRUN_H

#include "plugins/onnxrun/engine.h"

#include <orch/plugin.h>

struct onnxrun_params {
    const char *onnx, *engine, *precision, *input, *images, *data_root, *reference, *weights, *net;
    int64_t batch, count, warmup, repeats, threads;
};

/** Inputs of one kind, with the outputs of the engine and, where there is one, of a reference. The
 * first axis of each array is the input's number. */
struct onnxrun_group {
    char *name; /* "random", "real" */
    struct onnxrun_array inputs;
    struct onnxrun_array outputs[ONNXRUN_OUTPUTS_MAX];  /* in the order of the file's; run.h */
    struct onnxrun_array expected[ONNXRUN_OUTPUTS_MAX]; /* the same; data NULL: there is none */
    int32_t *labels;                                    /* of each input, or NULL */
};

struct onnxrun_trial {
    const struct onnxrun_params *p;
    const struct orch_host *host;
    const struct onnxrun_engine *engine;
    const char *engine_version;
    struct onnxrun_file *file; /* as given, or converted to fp16 */
    struct onnxrun_session *session;
    struct onnxrun_array batch; /* the shape of a batch */
    GArray *groups;             /* struct onnxrun_group */
    char **classes;             /* names of classes, or NULL */
    int threads;
};

/** Names of the groups, which are prefixes of results. */
#define ONNXRUN_RANDOM "random"
#define ONNXRUN_REAL "real"

/** Number of values of one input, or of one output for one input. */
static inline int64_t onnxrun_each(const struct onnxrun_array *array)
{
    return array->shape[0] > 0 ? array->count / array->shape[0] : 0;
}

#endif
