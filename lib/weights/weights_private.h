/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to this folder: functions that readers use to fill a list of weights. */
#ifndef ORCH_WEIGHTS_WEIGHTS_PRIVATE_H
#define ORCH_WEIGHTS_WEIGHTS_PRIVATE_H

#include "lib/weights/weights.h"

/** Adds a tensor whose bytes are in one of the list's blocks, aligned. Validates name and shape,
 * and computes the numbers of elements and bytes. */
bool orch_weights_adopt(struct orch_weights *weights, const char *name, enum orch_dtype dtype,
                        int rank, const int64_t *shape, const void *data, GError **error);
/** Allocates a block of the list (at least one byte, aligned for every type); NULL with
 * ORCH_ERROR_IO if there is not enough memory. */
void *orch_weights_block(struct orch_weights *weights, size_t bytes, GError **error);
/** Number of elements of a shape; -1 if a dimension is negative or the number exceeds 2^62. */
int64_t orch_shape_count(int rank, const int64_t *shape);
/** Reads a little-endian number. */
uint64_t orch_little_endian(const uint8_t *bytes, size_t size);

/** True if the bytes begin like a file of that format. */
bool orch_pth_is(const uint8_t *bytes, size_t length);
bool orch_safetensors_is(const uint8_t *bytes, size_t length);
/** Add a file's tensors to an empty list; `bytes` is one of its blocks. */
bool orch_pth_read(struct orch_weights *weights, const uint8_t *bytes, size_t length,
                   GError **error);
bool orch_safetensors_read(struct orch_weights *weights, const uint8_t *bytes, size_t length,
                           GError **error);

#endif
