/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PyTorch's caching allocator on one stream, for tensors of more than 10 MiB: a request takes the
 * smallest free block that is large enough and splits off the rest; without one, a block of its own
 * size is reserved from the device and never returned. Two free blocks become one only if they
 * were split from the same one. Sizes have any unit. */
#ifndef ORCH_NET_ALLOCATOR_H
#define ORCH_NET_ALLOCATOR_H

struct orch_allocator;

struct orch_allocator *orch_allocator_new(void);
void orch_allocator_free(struct orch_allocator *allocator);
/** Returns a block of this size, above 0. */
int orch_allocator_take(struct orch_allocator *allocator, double size);
void orch_allocator_give(struct orch_allocator *allocator, int block);
/** What was reserved from the device so far. */
double orch_allocator_reserved(const struct orch_allocator *allocator);

#endif
