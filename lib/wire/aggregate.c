/* SPDX-License-Identifier: MIT */
#include "lib/wire/aggregate.h"

#include <stddef.h>
#include <string.h>

static const char *const NAMES[] = {
    [ORCH_AGGREGATE_LAST] = "last",
    [ORCH_AGGREGATE_BEST] = "best",
    [ORCH_AGGREGATE_MIN] = "min",
    [ORCH_AGGREGATE_MAX] = "max",
    [ORCH_AGGREGATE_MEAN] = "mean",
    [ORCH_AGGREGATE_FIRST] = "first",
    [ORCH_AGGREGATE_COUNT] = "count",
    [ORCH_AGGREGATE_SUM] = "sum",
    NULL,
};

bool orch_aggregate_parse(const char *word, enum orch_aggregate *out)
{
    for (int i = 0; NAMES[i]; i++)
        if (strcmp(NAMES[i], word) == 0) {
            *out = (enum orch_aggregate)i;
            return true;
        }
    return false;
}

const char *orch_aggregate_name(enum orch_aggregate aggregate)
{
    return NAMES[aggregate];
}

const char *const *orch_aggregate_names(void)
{
    return NAMES;
}

bool orch_aggregate_is_of_curve(enum orch_aggregate aggregate)
{
    return aggregate != ORCH_AGGREGATE_COUNT && aggregate != ORCH_AGGREGATE_SUM;
}
