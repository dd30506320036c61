/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/bisect/bisect_metric.h"

#include "lib/base/error.h"
#include "lib/base/unit.h"
#include "lib/wire/direction.h"

#include <math.h>
#include <string.h>

bool orch_bisect_metric_direct(struct orch_bisect_metric *metric, bool min, bool max,
                               GError **error)
{
    if (min && max) {
        orch_error_set(error, ORCH_ERROR_USAGE, "leave out one of the two",
                       "option '--min' excludes '--max'");
        return false;
    }
    metric->is_declared = min || max;
    metric->direction = orch_direction_of(metric->name, NULL,
                                          min   ? ORCH_BETTER_MIN
                                          : max ? ORCH_BETTER_MAX
                                                : ORCH_BETTER_NONE);
    return true;
}

void orch_bisect_metric_learn(struct orch_bisect_metric *metric, const char *better,
                              const char *unit)
{
    metric->unit = metric->unit ? metric->unit : unit;
    struct orch_direction direction = orch_direction_of(metric->name, unit, ORCH_BETTER_NONE);
    if (metric->is_declared)
        return;
    metric->is_declared = orch_better_parse(better) != direction.better;
    if (metric->is_declared)
        direction = (struct orch_direction){orch_better_parse(better), NULL};
    metric->direction = direction;
}

bool orch_bisect_metric_is_max(const struct orch_bisect_metric *metric)
{
    return metric->direction.better == ORCH_BETTER_MAX;
}

bool orch_bisect_metric_is_timing(const struct orch_bisect_metric *metric)
{
    return strcmp(metric->name, "wall_s") == 0 || orch_unit_is_timing(metric->unit, NULL);
}

bool orch_bisect_metric_is_ratio(const struct orch_bisect_metric *metric, const double *values,
                                 size_t count)
{
    struct orch_metric_kind kind = orch_metric_kind_of(metric->name, metric->unit);
    bool is_ratio = kind.scale == ORCH_SCALE_LOG || orch_bisect_metric_is_timing(metric);
    for (size_t i = 0; i < count; i++)
        is_ratio = is_ratio && values[i] > 0;
    return is_ratio;
}

double orch_bisect_metric_badness(const struct orch_bisect_metric *metric, bool is_ratio,
                                  double value)
{
    double scaled = is_ratio ? log(value) : value;
    return orch_bisect_metric_is_max(metric) ? -scaled : scaled;
}
