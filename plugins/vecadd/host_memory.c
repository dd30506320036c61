/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/vecadd/host_memory.h"

#include "plugins/vecadd/summands.h"
#include "plugins/vecadd/vecadd.h"

#include "lib/base/file.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
enum { LINE_BYTES = 64, HUGE_BYTES = 2 << 20 };

float *orch_vecadd_floats_new(size_t count)
{
    const size_t bytes = (count * sizeof(float) + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    void *memory = NULL;
    if (posix_memalign(&memory, bytes >= 2 * HUGE_BYTES ? HUGE_BYTES : LINE_BYTES, bytes) != 0)
        return NULL;
    if (bytes >= 2 * HUGE_BYTES)
        madvise(memory, bytes,
                MADV_HUGEPAGE); /* fewer page faults and TLB misses, where the system allows it */
    return memory;
}

/* The content of a file of a CPU's last-level cache in /sys; NULL without one. Caller frees. */
static char *cache_file(unsigned cpu, const char *name)
{
    g_autofree char *path =
        g_strdup_printf("/sys/devices/system/cpu/cpu%u/cache/index3/%s", cpu, name);
    char *text = NULL;
    return orch_file_read(path, 4096, &text, NULL, NULL) ? text : NULL;
}

/* A cache counts once, at the first of the CPUs that share it. Not sysconf: in virtual machines it
 * multiplies by CPUs that are not theirs. */
size_t orch_vecadd_cache_bytes(void)
{
    const long cpus = sysconf(_SC_NPROCESSORS_CONF);
    size_t bytes = 0;
    for (unsigned cpu = 0; cpu < (unsigned)MAX(cpus, 1); cpu++) {
        g_autofree char *sharing = cache_file(cpu, "shared_cpu_list"),
                        *size = cache_file(cpu, "size");
        if (sharing && size && strtoul(sharing, NULL, 10) == cpu)
            bytes += strtoul(size, NULL, 10) * (strchr(size, 'M') ? MIB : 1024);
    }
    return MAX(16 * MIB, bytes);
}

void orch_vecadd_flush_init(struct orch_vecadd_flush *flush, struct orch_team *team)
{
    const size_t bytes = MIN(MAX(2 * orch_vecadd_cache_bytes(), 64 * MIB), 2048 * MIB);
    *flush = (struct orch_vecadd_flush){.buffer = orch_vecadd_floats_new(bytes / sizeof(float)),
                                        .count = bytes / sizeof(float)};
    if (flush->buffer)
        orch_vecadd_poison(team, flush->buffer, flush->count);
}

void orch_vecadd_flush_release(struct orch_vecadd_flush *flush)
{
    free(flush->buffer);
    flush->buffer = NULL;
}

static void read_part(void *argument, int index, int threads)
{
    const struct orch_vecadd_flush *flush = argument;
    size_t begin, end;
    orch_vecadd_part(flush->count, index, threads, &begin, &end);
    for (size_t i = begin; i < end; i += LINE_BYTES / sizeof(float))
        (void)*(const volatile float *)&flush->buffer[i];
}

void orch_vecadd_flush_caches(struct orch_vecadd_flush *flush, struct orch_team *team)
{
    if (flush->buffer)
        orch_team_run(team, read_part, flush);
}
