/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/scaling/speedup_columns.h"

#include <glib.h>
#include <math.h>
#include <string.h>

const char *const ORCH_SPEEDUP_EXTRA_KEYS[ORCH_SPEEDUP_EXTRAS] = {
    "bytes", "compute", "exposed", "wait", "work", "steps", "transfer"};

static double speedup(const struct orch_speedup_numbers *r)
{
    return r->is_less_better ? r->alone / r->value : r->value / r->alone;
}

static double efficiency(const struct orch_speedup_numbers *r)
{
    return speedup(r) / r->workers;
}

static double ratio(const struct orch_speedup_numbers *r)
{
    return r->value / r->alone;
}

static double inverse(const struct orch_speedup_numbers *r)
{
    return r->alone / r->value;
}

static double increase(const struct orch_speedup_numbers *r)
{
    return 100 * (r->value / r->alone - 1);
}

/* The plugin's timers take precedence over what follows from the times of one and of n workers:
 * where workers share cores, the latter calls it communication that they slow each other. */
static double timer(const struct orch_speedup_numbers *r, enum orch_speedup_extra which)
{
    return r->extra[which] * (r->times_steps ? r->extra[ORCH_SPEEDUP_STEPS] : 1);
}

static double computing(const struct orch_speedup_numbers *r)
{
    return isnan(r->extra[ORCH_SPEEDUP_COMPUTE]) ? r->alone / r->workers
                                                 : timer(r, ORCH_SPEEDUP_COMPUTE);
}

static double waiting(const struct orch_speedup_numbers *r)
{
    return timer(r, ORCH_SPEEDUP_WAIT);
}

/* Without the time in which a worker waits for slower ones, where that was measured: it would be as
 * long on an infinitely fast link. */
static double exposed(const struct orch_speedup_numbers *r)
{
    if (isnan(r->extra[ORCH_SPEEDUP_EXPOSED]))
        return r->value - r->alone / r->workers;
    const double waited = waiting(r);
    return timer(r, ORCH_SPEEDUP_EXPOSED) - (isnan(waited) ? 0 : waited);
}

/* All bytes move in all of the communication: those of its exposed part alone are not known. */
static double communication(const struct orch_speedup_numbers *r)
{
    return isnan(r->extra[ORCH_SPEEDUP_TRANSFER]) ? exposed(r) : timer(r, ORCH_SPEEDUP_TRANSFER);
}

/* What none of the timers holds: loading, the loop around the steps. */
static double rest(const struct orch_speedup_numbers *r)
{
    const double waited = waiting(r);
    return r->value - computing(r) - exposed(r) - (isnan(waited) ? 0 : waited);
}

static double moved(const struct orch_speedup_numbers *r)
{
    return r->workers > 1 ? 2 * (r->workers - 1) / r->workers * r->extra[ORCH_SPEEDUP_BYTES] / 1e6
                          : (double)NAN;
}

/* Not defined where the difference of two measured times is not positive. */
static double bandwidth(const struct orch_speedup_numbers *r)
{
    const double seconds = communication(r);
    return r->workers > 1 && seconds > 0
               ? 2 * (r->workers - 1) / r->workers * r->extra[ORCH_SPEEDUP_BYTES] / seconds / 1e9
               : (double)NAN;
}

static double link_share(const struct orch_speedup_numbers *r)
{
    return bandwidth(r) / r->link;
}

static double ideal_speedup(double workers)
{
    return workers;
}

static double ideal_efficiency(double workers)
{
    (void)workers;
    return 1;
}

/* clang-format off */
static const struct orch_speedup_column COLUMNS[] = {
    {.name = "speedup", .header = "speedup", .said = "speedup",
     .formula_less = "S(n) = t(1) / t(n)", .formula_more = "S(n) = v(n) / v(1)", .compute = speedup,
     .ideal = ideal_speedup, .is_quotient = true},
    {.name = "efficiency", .header = "share of the ideal n", .said = "share of the ideal",
     .formula_less = "S(n) / n", .formula_more = "S(n) / n", .compute = efficiency,
     .ideal = ideal_efficiency, .is_quotient = true},
    {.name = "ratio", .header = "t(n)/t(1)", .said = "t(n)/t(1)", .formula_less = "t(n) / t(1)",
     .formula_more = "v(n) / v(1)", .compute = ratio, .is_quotient = true},
    {.name = "inverse", .header = "t(1)/t(n)", .said = "t(1)/t(n)", .formula_less = "t(1) / t(n)",
     .formula_more = "v(1) / v(n)", .compute = inverse, .is_quotient = true},
    {.name = "increase", .header = "increase (%)", .said = "increase", .unit = "%",
     .formula_less = "100 (t(n) / t(1) - 1) %", .formula_more = "100 (v(n) / v(1) - 1) %",
     .compute = increase, .is_quotient = true},
    {.name = "computing", .header = "computing", .said = "computing", .has_unit = true,
     .formula_less = "t(1) / n", .formula_more = "v(1) / n", .compute = computing,
     .timer = ORCH_SPEEDUP_COMPUTE, .is_timed = true},
    {.name = "communication", .header = "communication", .said = "communication", .has_unit = true,
     .formula_less = "t(n) - t(1) / n", .formula_more = "v(n) - v(1) / n", .compute = communication,
     .timer = ORCH_SPEEDUP_EXPOSED, .is_timed = true},
    {.name = "waiting", .header = "waiting", .said = "waiting for other workers", .has_unit = true,
     .formula_less = "the item's key `wait`", .formula_more = "the item's key `wait`",
     .compute = waiting, .timer = ORCH_SPEEDUP_WAIT, .is_timed = true},
    {.name = "rest", .header = "remaining", .said = "remaining", .has_unit = true,
     .formula_less = "t(n) - computing - communication - waiting",
     .formula_more = "t(n) - computing - communication - waiting", .compute = rest,
     .is_timed = true},
    {.name = "moved", .header = "moved by each worker (MB)",
     .said = "each worker sends and receives", .unit = "MB",
     .formula_less = "2 (n-1)/n x bytes / 10^6", .formula_more = "2 (n-1)/n x bytes / 10^6",
     .compute = moved},
    {.name = "bandwidth", .header = "bandwidth (GB/s)", .said = "bandwidth", .unit = "GB/s",
     .formula_less = "2 (n-1)/n x bytes / communication / 10^9",
     .formula_more = "2 (n-1)/n x bytes / communication / 10^9", .compute = bandwidth,
     .is_per_time = true},
    {.name = "link_share", .header = "share of the link", .said = "share of the measured link",
     .formula_less = "bandwidth / largest bandwidth of all-reduces alone",
     .formula_more = "bandwidth / largest bandwidth of all-reduces alone", .compute = link_share,
     .is_per_time = true},
};
/* clang-format on */

const struct orch_speedup_column *orch_speedup_column(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(COLUMNS); i++)
        if (strcmp(COLUMNS[i].name, name) == 0)
            return &COLUMNS[i];
    return NULL;
}
