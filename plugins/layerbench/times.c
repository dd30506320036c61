/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/layerbench/layerbench.h"

#include "lib/base/reals.h"

#include <string.h>

int orch_layerbench_index(const char *const *names, const char *name)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

struct layerbench_spread orch_layerbench_spread_of(double *times, int count)
{
    double median = orch_reals_median(times, (size_t)count);
    return (struct layerbench_spread){median, times[0], times[count - 1]};
}
