/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the readers use to fill a list of weights. */
#ifndef ORCH_WEIGHTS_WEIGHTS_PRIVATE_H
#define ORCH_WEIGHTS_WEIGHTS_PRIVATE_H

#include "plugins/common/weights/weights.h"

/** Adds a tensor whose bytes lie in one of the list's blocks, aligned. Checks name and shape and
 * counts elements and bytes. */
bool orch_weights_adopt(struct orch_weights *weights, const char *name, enum orch_dtype dtype,
                        int rank, const int64_t *shape, const void *data, GError **error);
/** A new block of the list (at least one byte long, aligned for every type); NULL with
 * ORCH_ERROR_IO when there is no memory for it. */
void *orch_weights_block(struct orch_weights *weights, size_t bytes, GError **error);
/** Elements of a shape, or -1 when it is negative somewhere or beyond 2^62. */
int64_t orch_shape_count(int rank, const int64_t *shape);
/** Little-endian numbers at `bytes`. */
uint64_t orch_little_endian(const uint8_t *bytes, size_t size);

/** True when the bytes begin as such a file does. */
bool orch_pth_is(const uint8_t *bytes, size_t length);
bool orch_safetensors_is(const uint8_t *bytes, size_t length);
/** Add a file's tensors to an empty list; `bytes` is one of its blocks. */
bool orch_pth_read(struct orch_weights *weights, const uint8_t *bytes, size_t length,
                   GError **error);
bool orch_safetensors_read(struct orch_weights *weights, const uint8_t *bytes, size_t length,
                           GError **error);

#endif
