/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What runs cost: measured hours x devices x the price of a device that held on that day. Hours
 * whose price nobody knows are counted beside the money, never as none. What did not end well was
 * paid for all the same: it is part of every sum and shown apart as lost.
 */
#ifndef ORCH_CORE_RUN_LEDGER_H
#define ORCH_CORE_RUN_LEDGER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/** An ended run. Texts are borrowed for the call. */
struct orch_ledger_run {
    const char *who, *recipe, *experiment, *device, *machine; /* NULL: not known */
    unsigned devices;                                         /* GPUs, or 1: the machine as one */
    double wall_s;
    int64_t ended_ns;    /* UTC */
    bool is_lost;        /* it ended neither ok nor diverged */
    double usd_per_hour; /* of one device; NaN: not known */
};

/** Sums of some runs; money is that of the hours with a price. */
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
/** "who", "recipe", ...: as one writes it. */
const char *orch_ledger_axis_name(enum orch_ledger_axis axis);

struct orch_ledger_row {
    char **labels; /* one for each axis; "-" where a run says nothing. Of one person's several
                      names the first that came */
    struct orch_ledger_sum sum;
};
struct orch_ledger;
/** Sums by these axes (at most ORCH_LEDGER_AXES). */
struct orch_ledger *orch_ledger_new(const enum orch_ledger_axis *axes, size_t count);
void orch_ledger_free(struct orch_ledger *ledger);
void orch_ledger_add(struct orch_ledger *ledger, const struct orch_ledger_run *run);
/** Rows by their labels: struct orch_ledger_row *, owned by the ledger; the caller unrefs. */
GPtrArray *orch_ledger_rows(const struct orch_ledger *ledger);
const struct orch_ledger_sum *orch_ledger_total(const struct orch_ledger *ledger);

/** "2026-W47", "2026-11", "2026-11-21" (UTC). The caller frees. */
char *orch_utc_week(int64_t ns);
char *orch_utc_month(int64_t ns);
char *orch_utc_day(int64_t ns);

#endif
