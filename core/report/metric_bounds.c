/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/report/metric_bounds.h"

#include "lib/base/text.h"

#include <math.h>

GHashTable *orch_bounds_new(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

static double bound_of(const char *text)
{
    double bound;
    return text && orch_real_parse(text, &bound) ? bound : (double)NAN;
}

static bool is_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

void orch_bounds_add(GHashTable *bounds, const struct orch_manifest *manifest)
{
    for (guint i = 0; i < manifest->metrics->len; i++) {
        const struct orch_metric_spec *metric = manifest->metrics->pdata[i];
        struct orch_bounds own = {bound_of(metric->min), bound_of(metric->max)};
        const struct orch_bounds *known = g_hash_table_lookup(bounds, metric->name);
        if (known && (!is_same(known->min, own.min) || !is_same(known->max, own.max)))
            own = (struct orch_bounds){(double)NAN, (double)NAN};
        g_hash_table_replace(bounds, g_strdup(metric->name), g_memdup2(&own, sizeof own));
    }
}

struct orch_spread orch_trials_spread(const struct orch_trials *trials,
                                      const struct orch_item_value *value, const char *unit,
                                      const GArray *numbers)
{
    const bool is_count =
        value->aggregate == ORCH_AGGREGATE_COUNT || value->aggregate == ORCH_AGGREGATE_SUM;
    return orch_spread_within((const double *)(const void *)numbers->data, numbers->len,
                              value->name, unit,
                              is_count ? NULL : g_hash_table_lookup(trials->bounds, value->name));
}
