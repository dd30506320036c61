/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/layertime/layertime.h"

#include "lib/base/reals.h"

#include <string.h>

int orch_layertime_index(const char *const *names, const char *name)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

struct layertime_spread orch_layertime_spread_of(double *times, int count)
{
    double median = orch_reals_median(times, (size_t)count);
    return (struct layertime_spread){median, times[0], times[count - 1]};
}
