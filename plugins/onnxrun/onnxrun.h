/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of the plugin share. */
#ifndef ORCH_PLUGINS_ONNXRUN_ONNXRUN_H
#define ORCH_PLUGINS_ONNXRUN_ONNXRUN_H

#include "plugins/common/boxes/detections.h"
#include "plugins/common/samples/sample_file.h"
#include "plugins/onnxrun/engine.h"

#include <orch/plugin.h>

struct onnxrun_params {
    const char *onnx, *engine, *precision, *input, *images, *data_root, *samples, *weights, *net,
        *clock;
    int64_t batch, count, warmup, repeats, threads, pictures, classes, opset;
    double score;
    bool fold_norms;
};

/** Inputs of one kind, with the outputs of the engine and, where there is one, of a reference. The
 * first axis of each array is the input's number. */
struct onnxrun_group {
    char *name; /* ORCH_SAMPLE_RANDOM, ORCH_SAMPLE_REAL: prefixes of results */
    struct onnxrun_array inputs;
    struct onnxrun_array outputs[ONNXRUN_OUTPUTS_MAX];  /* in the order of the file's outputs */
    struct onnxrun_array expected[ONNXRUN_OUTPUTS_MAX]; /* the same; data NULL: there is none */
    int32_t *labels;                                    /* of each input, or NULL */
    struct orch_sample_objects *objects;                /* in the images, or NULL */
    /* what a detector found: in input i struct orch_detection first[i] to first[i + 1] - 1 */
    GArray *detections; /* NULL: the network is no detector */
    int64_t *first;
    int classes; /* of the detector, with the background */
};

struct onnxrun_trial {
    const struct onnxrun_params *p;
    const struct orch_host *host;
    const struct onnxrun_engine *engine;
    const char *engine_version;
    const char *path;             /* of the file: as given, or exported */
    struct orch_weights *weights; /* of network p->net, or NULL */
    struct onnxrun_file *file;    /* that file, or one converted to fp16 */
    struct onnxrun_session *session;
    struct onnxrun_array batch; /* the shape of a batch */
    GArray *groups;             /* struct onnxrun_group */
    char **classes;             /* names of classes, or NULL */
    bool has_normalisation;     /* an image was (input * std + mean) * 255 */
    float mean[3], std[3];
    int threads;
};

/** Number of values of one input, or of one output for one input. */
static inline int64_t onnxrun_each(const struct onnxrun_array *array)
{
    return array->shape[0] > 0 ? array->count / array->shape[0] : 0;
}

#endif
