/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hourly price of one device, and the range of offers it was chosen from. */
#ifndef ORCH_LIB_DEVICES_RATE_H
#define ORCH_LIB_DEVICES_RATE_H

#include "lib/devices/hardware.h"

/** Price of an hour of one device. */
struct orch_rate {
    double usd_per_hour; /* 0: not known */
    char *from;          /* "aws p3.2xlarge, us-east-1, as of 2026", "--price"; NULL: not known */
    double low_usd,
        high_usd; /* range of the available offers; 0: fewer than two different prices */
    char *low_from, *high_from; /* or NULL */
};

/** "lambda gpu_8x_v100 with 8 GPUs, us-east-1, as of 2026". The caller frees. */
char *orch_price_text(const struct orch_price *price, bool spot);

/** The price of a GPU by its name in the table, at one cloud (NULL: any), on demand or as spot, by
 * orch_price_choose; `own_usd` above 0 (of --price) instead of it. A dual-GPU board costs as much
 * as two GPUs. The caller releases. */
struct orch_rate orch_rate_of(const struct orch_hardware *hardware, const char *gpu,
                              const char *cloud, bool spot, double own_usd);
void orch_rate_release(struct orch_rate *rate);

/** The clouds whose prices are compared; NULL-terminated. */
extern const char *const ORCH_PRICED_CLOUDS[];

/** Tests for the Pareto front; call it in ascending order of time. True when `usd` is less than all
 * earlier values. `*inout_cheapest` starts as INFINITY. False for NaN. */
bool orch_pareto_step(double usd, double *inout_cheapest);

#endif
