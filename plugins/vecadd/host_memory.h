/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of the machine, and reading past the processor's caches. */
#ifndef ORCH_PLUGINS_VECADD_HOST_MEMORY_H
#define ORCH_PLUGINS_VECADD_HOST_MEMORY_H

#include "plugins/common/kernels/team.h"

#include <stddef.h>

/** `count` floats, aligned to 64 bytes and rounded up to whole lines, on huge pages where the
 * system has them; NULL when there is no memory. free() frees. */
float *orch_vecadd_floats_new(size_t count);
/** Bytes of the last-level cache, at least 16 MiB where the system does not tell. */
size_t orch_vecadd_cache_bytes(void);

/** A buffer larger than the caches. */
struct orch_vecadd_flush {
    float *buffer; /* NULL: nothing is flushed */
    size_t count;
};
void orch_vecadd_flush_init(struct orch_vecadd_flush *flush, struct orch_team *team);
void orch_vecadd_flush_release(struct orch_vecadd_flush *flush);
/** Reads the buffer, so that nothing else remains in the caches, and nothing is left to be written
 * back. */
void orch_vecadd_flush_caches(struct orch_vecadd_flush *flush, struct orch_team *team);

#endif
