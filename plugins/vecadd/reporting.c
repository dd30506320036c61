/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/vecadd/vecadd.h"

#include "lib/base/file.h"

#include <glib.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double orch_vecadd_bytes(size_t count)
{
    return 3.0 * sizeof(float) * (double)count;
}

/* Field 22 of /proc/self/stat: the start of the process in ticks (10 ms) since boot. The name in
 * field 2 may hold blanks and parentheses, so fields are counted from the last ')'. */
double orch_vecadd_process_age_s(void)
{
    g_autofree char *text = NULL;
    struct timespec now;
    if (!orch_file_read("/proc/self/stat", 4096, &text, NULL, NULL) ||
        clock_gettime(CLOCK_BOOTTIME, &now) != 0)
        return 0;
    const char *field = strrchr(text, ')');
    for (int i = 2; field && i < 22; i++)
        field = strchr(field + 1, ' ');
    if (!field)
        return 0;
    const double start = strtod(field, NULL) / (double)sysconf(_SC_CLK_TCK);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9 - start;
}

void orch_vecadd_report_kernel(const struct vecadd_trial *trial, const struct orch_samples *samples,
                               double measured, const struct orch_host *host)
{
    const struct orch_samples_summary kernel = orch_samples_summarize(samples);
    for (size_t i = 0; i < samples->count; i++)
        host->metric(host, "sample_time", (int64_t)i, 1e3 * samples->times_s[i]);
    const double bandwidth = orch_vecadd_bytes(trial->count) / kernel.median_s;
    host->result(host, "kernel_time", 1e3 * kernel.median_s);
    host->result(host, "kernel_spread", kernel.spread);
    host->result(host, "kernel_samples", (double)kernel.count);
    host->result(host, "dropped_samples", (double)kernel.dropped);
    host->result(host, "bandwidth", bandwidth / 1e9);
    if (kernel.clock_mhz > 0)
        host->result(host, "sm_clock", kernel.clock_mhz);
    if (measured > 0) {
        host->result(host, "measured_bandwidth", measured / 1e9);
        host->result(host, "bandwidth_share", bandwidth / measured);
    }
}

int orch_vecadd_fail(const struct orch_host *host, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    host->fail(host, text);
    return ORCH_FAILED;
}

int orch_vecadd_skip(const struct orch_host *host, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    host->fail(host, text);
    return ORCH_SKIPPED;
}
