/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/comm/buckets.h"

size_t orch_comm_plan(const size_t *tensor_bytes, size_t count,
                      const struct orch_comm_bucket_sizes *sizes, struct orch_comm_bucket *out)
{
    size_t planned = 0;
    struct orch_comm_bucket bucket = {0};
    for (size_t i = 0; i < count; i++) {
        bucket.bytes += tensor_bytes[i];
        bucket.count++;
        if (bucket.bytes < (planned ? sizes->bytes : sizes->first_bytes) && i + 1 < count)
            continue;
        out[planned++] = bucket;
        bucket = (struct orch_comm_bucket){.first = i + 1};
    }
    return planned;
}
