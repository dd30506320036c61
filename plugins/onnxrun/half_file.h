/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An ONNX file in half precision. */
#ifndef ORCH_PLUGINS_ONNXRUN_HALF_FILE_H
#define ORCH_PLUGINS_ONNXRUN_HALF_FILE_H

#include <glib.h>
#include <stdbool.h>

/** Writes the network of file `from` to `to` with weights and values of 16 bits. Input and outputs
 * stay floats of 32 bits: the graph begins and ends with conversions. Scales of Resize and Upsample
 * stay, too, as these operators take no other. Fails with ORCH_ERROR_RECIPE for weights in another
 * file and for operators with subgraphs. */
bool orch_onnxrun_half_file_write(const char *from, const char *to, GError **error);

#endif
