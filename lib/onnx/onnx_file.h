/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decoding of ONNX files without their weights. */
#ifndef ORCH_LIB_ONNX_ONNX_FILE_H
#define ORCH_LIB_ONNX_ONNX_FILE_H

#include "onnx.pb-c.h"

#include <glib.h>
#include <stdbool.h>

enum {
    ONNX_FLOAT = 1,
    ONNX_INT64 = 7,
    ONNX_BOOL = 9,
    ONNX_FLOAT16 = 10
}; /* TensorProto.DataType */

/** Decodes a model; `name` is the file name in errors. Tensor data above 64 KiB is left out
 * (left_field, left_bytes). Caller frees with onnx__model_proto__free_unpacked(m, NULL). */
Onnx__ModelProto *orch_onnx_file_decode(const void *bytes, size_t length, const char *name,
                                        GError **error);

/** Makes text from a file (NULL: "") printable: at most 100 bytes, valid UTF-8, no control
 * characters. Caller frees. */
char *orch_onnx_text_clean(const char *text);

/** What a tensor says of its data in another file: "location", "offset", "length". Borrowed; NULL:
 * nothing. */
const char *orch_onnx_external(const Onnx__TensorProto *tensor, const char *key);

/** The files with data of the model, as it names them: relative to its folder, each once (char *,
 * borrowed from the model). The caller unrefs. */
GPtrArray *orch_onnx_data_files(const Onnx__ModelProto *model);

/** True if the graph has an initializer of that name. */
bool orch_onnx_is_initializer(const Onnx__GraphProto *graph, const char *name);

/** Size of an element of an ONNX data type in bytes, at least 1; 0 if unknown. */
int orch_onnx_type_bytes(int data_type);

/** Checks that the file contains the data that the tensor's dims declare. `*out_count`: number of
 * elements. A tensor with external data is stored in another file. */
bool orch_onnx_tensor_check(const Onnx__TensorProto *tensor, const char *name, int64_t *out_count,
                            GError **error);

#endif
