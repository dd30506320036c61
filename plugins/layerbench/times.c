/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/layerbench/units.h"

#include "lib/base/reals.h"

#include <string.h>
#include <time.h>

int orch_layerbench_index(const char *const *names, const char *name)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

bool orch_layerbench_processor_time(const struct params *p)
{
    return strcmp(p->clock, "processor") == 0;
}

double orch_layerbench_now_ms(const struct params *p)
{
    struct timespec t;
    clock_gettime(orch_layerbench_processor_time(p) ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC,
                  &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

struct layerbench_spread orch_layerbench_spread_of(double *times, int count)
{
    double median = orch_reals_median(times, (size_t)count);
    return (struct layerbench_spread){median, times[0], times[count - 1]};
}
