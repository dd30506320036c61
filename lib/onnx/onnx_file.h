/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a file's bytes to ONNX's messages, without the weights. */
#ifndef ORCH_ONNX_ONNX_FILE_H
#define ORCH_ONNX_ONNX_FILE_H

#include "onnx.pb-c.h"

#include <glib.h>
#include <stdbool.h>

/** Decodes a model; `name` is the file in errors. Payloads of tensors above 64 KiB are left out
 * (left_field, left_bytes). The caller frees with onnx__model_proto__free_unpacked(m, NULL). */
Onnx__ModelProto *onnx_file_decode(const void *bytes, size_t length, const char *name,
                                   GError **error);

/** Text of a file (NULL: ""), fit to be printed: at most 100 bytes, valid UTF-8, no controls. The
 * caller frees. */
char *onnx_text_clean(const char *text);

/** Bytes of one element of ONNX's data type, 0 when unknown; what is smaller than a byte is 1. */
int onnx_type_bytes(int data_type);

/** Does the file hold what the tensor's dims declare? `*out_count`: its elements. `external` is
 * true for one whose data lie in another file. */
bool onnx_tensor_check(const Onnx__TensorProto *tensor, const char *name, int64_t *out_count,
                       GError **error);

#endif
