/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cost of runs: measured hours x devices x the device price on that day. Hours without a known
 * price are summed separately and never treated as free. Runs that did not end well were paid for
 * too: they are part of every sum and also shown separately as lost.
 */
#ifndef ORCH_FEATURES_COST_LEDGER_H
#define ORCH_FEATURES_COST_LEDGER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/** An ended run. Texts are borrowed for the call. */
struct orch_ledger_run {
    const char *who, *recipe, *experiment, *device, *machine; /* NULL: not known */
    double devices; /* number of GPUs, or the share of one; 1 for the whole machine */
    double wall_s;
    int64_t ended_ns;    /* UTC */
    bool is_lost;        /* it ended neither ok nor diverged, and no rule stopped it (pruned) */
    double usd_per_hour; /* of one device; NaN: not known */
};

/** Sums over runs; the dollars cover only hours with a known price. */
struct orch_ledger_sum {
    int64_t runs, lost_runs, unpriced_runs, lost_unpriced_runs;
    double wall_s, device_s, lost_device_s, unpriced_device_s;
    double usd, lost_usd;
};
void orch_ledger_sum_add(struct orch_ledger_sum *sum, const struct orch_ledger_run *run);

enum orch_ledger_axis {
    ORCH_LEDGER_WHO,
    ORCH_LEDGER_RECIPE,
    ORCH_LEDGER_EXPERIMENT,
    ORCH_LEDGER_GPU, /* the device: a processor has its model */
    ORCH_LEDGER_MACHINE,
    ORCH_LEDGER_WEEK,  /* "2026-W47": ISO 8601, UTC, of the run's end */
    ORCH_LEDGER_MONTH, /* "2026-11" */
    ORCH_LEDGER_AXES,
};
/** "who", "recipe", ...: the axis as users type it. */
const char *orch_ledger_axis_name(enum orch_ledger_axis axis);

struct orch_ledger_row {
    char **labels; /* one per axis; "-" where the run has no value. A person with several names is
                      labelled with the first name seen */
    struct orch_ledger_sum sum;
};
struct orch_ledger;
/** Creates a ledger that groups by these axes (at most ORCH_LEDGER_AXES). */
struct orch_ledger *orch_ledger_new(const enum orch_ledger_axis *axes, size_t count);
void orch_ledger_free(struct orch_ledger *ledger);
void orch_ledger_add(struct orch_ledger *ledger, const struct orch_ledger_run *run);
/** Rows sorted by their labels: struct orch_ledger_row *, owned by the ledger; the caller unrefs
 * the array. */
GPtrArray *orch_ledger_rows(const struct orch_ledger *ledger);
const struct orch_ledger_sum *orch_ledger_total(const struct orch_ledger *ledger);

/** "2026-W47", "2026-11", "2026-11-21" (UTC). The caller frees. */
char *orch_utc_week(int64_t ns);
char *orch_utc_month(int64_t ns);
char *orch_utc_day(int64_t ns);

#endif
