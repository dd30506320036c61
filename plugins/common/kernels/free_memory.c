/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/kernels/free_memory.h"

#include "lib/base/file.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

double orch_free_memory(const struct orch_host *host)
{
    g_autofree char *text = NULL;
    const char *line = NULL;
    if (orch_file_read("/proc/meminfo", 65536, &text, NULL, NULL))
        line = strstr(text, "MemAvailable:");
    double bytes = line ? 1024 * strtod(line + strlen("MemAvailable:"), NULL) : 0;
    struct orch_slot slot = {.struct_bytes = sizeof slot};
    if (orch_host_has(host, slot))
        host->slot(host, &slot);
    const double limit = (double)slot.memory_bytes;
    return limit > 0 && (bytes == 0 || limit < bytes) ? limit : bytes;
}

bool orch_memory_fits(double bytes, const char *what, const char *instead,
                      const struct orch_host *host)
{
    const double free_bytes = orch_free_memory(host);
    if (free_bytes == 0 || bytes <= 0.9 * free_bytes)
        return true;
    g_autofree char *text = g_strdup_printf(
        "%s need %.1f GB, and %.1f GB of the machine's memory are free for this trial: choose %s",
        what, bytes / 1e9, free_bytes / 1e9, instead);
    host->fail(host, text);
    return false;
}
