/* SPDX-License-Identifier: MIT */
#include "lib/wire/bounds.h"

#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

#define YEAR_2200_NS 7258118400e9
#define CENTURY_MS 3.2e12
#define CENTURY_S 3.2e9
#define EXABYTE 1152921504606846976.0 /* no artifact is larger */
#define EXACT_MAX 9e15                /* above, a double does not represent every integer */
#define MANY 1e9

const struct orch_bound ORCH_BOUNDS[] = {
    [ORCH_BOUNDED_STARTED_NS] = {"started_ns", 0, YEAR_2200_NS, "ns since 1970"},
    [ORCH_BOUNDED_ENDED_NS] = {"ended_ns", 0, YEAR_2200_NS, "ns since 1970"},
    [ORCH_BOUNDED_MADE_NS] = {"made_ns", 0, YEAR_2200_NS, "ns since 1970"},
    [ORCH_BOUNDED_TIME_NS] = {"time_ns", 0, YEAR_2200_NS, "ns since 1970"},
    [ORCH_BOUNDED_WALL_NS] = {"wall_ns", 0, CENTURY_MS * 1e6, "ns"},
    [ORCH_BOUNDED_WALL_MS] = {"wall_ms", 0, CENTURY_MS, "ms"},
    [ORCH_BOUNDED_REPEAT] = {"repeat", 0, MANY, ""},
    [ORCH_BOUNDED_ATTEMPT] = {"attempt", 0, MANY, ""},
    [ORCH_BOUNDED_EXIT_CODE] = {"exit_code", -1, 255, ""},
    [ORCH_BOUNDED_SIGNAL] = {"signal", 0, 128, ""},
    [ORCH_BOUNDED_BYTES] = {"bytes", 0, EXABYTE, "bytes"},
    [ORCH_BOUNDED_STEP] = {"step", 0, EXACT_MAX, ""},
    /* negative if the clock was set back while a recorded program ran */
    [ORCH_BOUNDED_T_MS] = {"t_ms", -CENTURY_MS, CENTURY_MS, "ms"},
    [ORCH_BOUNDED_P5] = {"p5", 0, CENTURY_S, "s"},
    [ORCH_BOUNDED_P50] = {"p50", 0, CENTURY_S, "s"},
    [ORCH_BOUNDED_P95] = {"p95", 0, CENTURY_S, "s"},
    [ORCH_BOUNDED_COST] = {"cost", -1e30, 1e30, ""}, /* operations, bytes: any declared quantity */
    [ORCH_BOUNDED_NAMES] = {"load", 0, MANY, ""},
    {"co_runners", 0, MANY, ""},
    {"threads", 0, MANY, ""},
    {"cpus", 0, MANY, ""},
    {"cores", 0, MANY, ""},
    {"foreign_cpu", 0, MANY, "CPUs per CPU"},
    {"points", 0, EXACT_MAX, ""},
    {"unknown_events", 0, EXACT_MAX, ""},
    {"*_points", 0, EXACT_MAX, ""},
    {"*_lines", 0, EXACT_MAX, ""},
    {"*_count", 0, EXACT_MAX, ""},
    {"*_bytes", 0, EXABYTE, "bytes"},
    {"*_usd", 0, 1e12, "USD"},
    {"*_ns", 0, YEAR_2200_NS, "ns"},
    {"*_ms", 0, CENTURY_MS, "ms"},
    {"*_s", 0, CENTURY_S *MANY, "s"}, /* CPU time: a century on each of many cores */
    {0},
};

static char *fault_of(const struct orch_bound *bound, const char *name, double value)
{
    char is[ORCH_REAL_CHARS], lowest[ORCH_REAL_CHARS], highest[ORCH_REAL_CHARS];
    if (value >= bound->lowest && value <= bound->highest)
        return NULL;
    return g_strdup_printf("%.64s is %s, beyond %s to %s%s%s", name, orch_real_format(value, is),
                           orch_real_format(bound->lowest, lowest),
                           orch_real_format(bound->highest, highest), *bound->unit ? " " : "",
                           bound->unit);
}

char *orch_bound_fault(enum orch_bounded which, double value)
{
    return fault_of(&ORCH_BOUNDS[which], ORCH_BOUNDS[which].name, value);
}

char *orch_bound_point_fault(const struct orch_point *point)
{
    bool has_time = !isnan(point->t_ms);
    if (orch_bound_holds(ORCH_BOUNDED_STEP, (double)point->step) &&
        (!has_time || orch_bound_holds(ORCH_BOUNDED_T_MS, point->t_ms)))
        return NULL;
    g_autofree char *step = orch_bound_fault(ORCH_BOUNDED_STEP, (double)point->step);
    g_autofree char *time = step ? NULL : orch_bound_fault(ORCH_BOUNDED_T_MS, point->t_ms);
    return g_strdup_printf("metric '%.64s': its %s", point->name, step ? step : time);
}

/* ---- facts ------------------------------------------------------------------------------------
 */

static const struct orch_bound *bound_of(const char *name)
{
    for (const struct orch_bound *bound = ORCH_BOUNDS; bound->name; bound++)
        if (*bound->name == '*' ? g_str_has_suffix(name, bound->name + 1)
                                : strcmp(name, bound->name) == 0)
            return bound;
    return NULL;
}

/* `cost`: bounds for numbers without bounds of their own; NULL: none. */
static char *walk(const char *name, const json_t *value, const struct orch_bound *cost)
{
    const char *key;
    json_t *member;
    size_t i;
    double number;
    char *fault = NULL;
    if (json_is_object(value)) {
        json_object_foreach((json_t *)(uintptr_t)value, key, member)
        {
            bool is_free = strcmp(key, "coords") == 0 || strcmp(key, "imported") == 0;
            bool is_cost = strcmp(key, ORCH_BOUNDS[ORCH_BOUNDED_COST].name) == 0;
            if (!is_free &&
                (fault = walk(key, member, is_cost ? &ORCH_BOUNDS[ORCH_BOUNDED_COST] : cost)))
                return fault;
        }
    } else if (json_is_array(value)) {
        json_array_foreach(value, i, member) if ((fault = walk(name, member, cost))) return fault;
    } else if (orch_json_get_real(value, &number)) {
        const struct orch_bound *bound = cost ? cost : bound_of(name);
        return bound ? fault_of(bound, name, number) : NULL;
    }
    return NULL;
}

char *orch_bound_named_fault(const char *name, double value)
{
    const struct orch_bound *bound = bound_of(name);
    return bound ? fault_of(bound, name, value) : NULL;
}

char *orch_bound_facts_fault(const json_t *facts)
{
    return walk("", facts, NULL);
}
