/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/plan/setting_limits.h"

#include "lib/base/json.h"
#include "lib/base/unit.h"

#include <math.h>
#include <string.h>

double orch_limit_in(const struct orch_search_bound *bound, const char *unit)
{
    double value = bound->value;
    const struct orch_unit *written = orch_unit_find(bound->unit, strlen(bound->unit));
    if (!*bound->unit || (unit && *unit && orch_unit_convert(bound->unit, unit, &value)))
        return value;
    return written && !(unit && *unit) ? value * written->factor : value;
}

double orch_limit_excess(const struct orch_search_bound *bound, double value, double limit)
{
    const double over = bound->is_most ? value - limit : limit - value;
    const double scale = limit != 0 ? fabs(limit) : 1;
    return over < 0 || (over == 0 && !bound->is_strict) ? 0 : fmax(over / scale, 1e-9);
}

/* The value of a limit's metric. `peak_memory` that a run does not report is what orch measured, in
 * bytes; its `price` is that of its time. */
static double value_of(const struct orch_run *run, const struct orch_run_numbers *numbers,
                       const char *metric, const char **out_unit)
{
    const bool is_memory = strcmp(metric, "peak_memory") == 0;
    if (orch_run_numbers_has(numbers, metric) || !(is_memory || strcmp(metric, "price") == 0))
        return orch_run_numbers_get(numbers, metric, ORCH_AGGREGATE_LAST, NULL, out_unit);
    g_autoptr(json_t) facts = run->facts ? json_loads(run->facts, 0, NULL) : NULL;
    double value = (double)MAX(orch_json_int(facts, "max_pss_bytes", 0),
                               orch_json_int(facts, "max_rss_bytes", 0));
    if (!is_memory)
        value = run->wall_ms / 3.6e6 *
                json_number_value(json_object_get(facts, ORCH_FACT_USD_PER_HOUR));
    return value > 0 ? value : (double)NAN;
}

double orch_limits_excess(const struct orch_search *search, const struct orch_run *run,
                          const struct orch_run_numbers *numbers, double *out_at)
{
    double excess = 0;
    for (unsigned k = 0; k < search->bound_count; k++) {
        const struct orch_search_bound *bound = &search->bounds[k];
        const char *unit = NULL;
        const double value = value_of(run, numbers, bound->metric, &unit);
        const double limit = orch_limit_in(bound, unit);
        if (out_at)
            out_at[k] = limit != 0 ? value * (bound->value / limit) : value;
        if (isfinite(value) || strcmp(bound->metric, "price") != 0)
            excess += isfinite(value) ? orch_limit_excess(bound, value, limit) : 1;
    }
    return excess;
}

double orch_limits_excess_of(const struct orch_search *search, struct orch_store *store,
                             const char *key, GError **error)
{
    struct orch_run *run = orch_store_run(store, key, error);
    struct orch_run_numbers *numbers = run ? orch_run_numbers_read(store, run, error) : NULL;
    const double excess = numbers ? orch_limits_excess(search, run, numbers, NULL) : (double)NAN;
    orch_run_numbers_free(numbers);
    orch_run_free(run);
    return excess;
}
