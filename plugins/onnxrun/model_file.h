/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the plugin needs to know of an ONNX file before an engine opens it: its input and outputs,
 * its opset, and that its nodes can be computed in their order. Engines find most faults of a file
 * themselves, but each in other words, and some end the process on them. */
#ifndef ORCH_PLUGINS_ONNXRUN_MODEL_FILE_H
#define ORCH_PLUGINS_ONNXRUN_MODEL_FILE_H

#include "plugins/onnxrun/array.h"

#include <glib.h>
#include <stdbool.h>

/** protobuf reads no longer message, so no engine opens a longer file. */
#define ONNXRUN_FILE_BYTES_MAX (INT64_C(2) << 30)

struct onnxrun_file {
    char *path;
    int64_t opset; /* of ONNX's own operators; 0: not said */
    char *input;   /* name of the one input that is no weight */
    int rank;
    int64_t shape[ONNXRUN_RANK_MAX]; /* of the input; 0: any */
    int output_count;
    char *outputs[ONNXRUN_OUTPUTS_MAX]; /* names */
    char **classes;                     /* names from the file's metadata "classes", or NULL */
    bool has_external_data;
    int64_t node_count, bytes; /* bytes: without the files of external data */
};

/** Fails for a file that is too long for ONNX; true for one that is not there. */
bool orch_onnxrun_file_size_check(const char *path, GError **error);

/** The paths of the files with data of a model, which lie beside it (char *). None of a file that
 * is not there or that cannot be read, which fails later. The caller unrefs. */
GPtrArray *orch_onnxrun_data_files(const char *path);

/** Reads a file. Fails with ORCH_ERROR_RECIPE or ORCH_ERROR_IO, naming the file: over 2 GiB,
 * truncated, a node that uses a value which no node before it makes (a cycle, or a wrong order), no
 * input or several, an input that is no array of floats. Caller frees. */
struct onnxrun_file *orch_onnxrun_file_read(const char *path, GError **error);
void orch_onnxrun_file_free(struct onnxrun_file *file);

/** Sets the open sizes of the file's input for a batch of `batch`: those after the first by `shape`
 * ("3x224x224"; NULL or "": none). Fails with ORCH_ERROR_RECIPE for a size that stays open, and for
 * a shape or a batch that the file does not take. */
bool orch_onnxrun_file_input(const struct onnxrun_file *file, const char *shape, int64_t batch,
                             struct onnxrun_array *out, GError **error);

#endif
