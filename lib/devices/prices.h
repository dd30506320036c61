/* SPDX-License-Identifier: MIT */
/* Prices of GPUs per hour by cloud, instance and date. Prices become outdated, so every printed
 * cost includes the price with its source and date. */
#ifndef ORCH_LIB_DEVICES_PRICES_H
#define ORCH_LIB_DEVICES_PRICES_H

#include "lib/base/csv.h"

#include <glib.h>
#include <stdbool.h>

struct orch_price {
    const char *gpu; /* name in the table of GPUs */
    const char *cloud, *instance, *region;
    int count;                              /* GPUs per instance */
    double usd_per_hour, spot_usd_per_hour; /* for the whole instance; spot 0: unknown */
    const char *as_of;                      /* "2022-12" or "2024" */
    const char *source;                     /* catalogue's folder and commit */
    const char *ended; /* date when the cloud withdrew the offer; NULL or "": not withdrawn as far
                          as known */
    bool is_fee;       /* the host machine is billed separately */
    bool is_own;       /* added by the user, not built in */
};

/** The built-in prices, const struct orch_price *. */
const GPtrArray *orch_prices(void);
/** Reads a table with the columns of share/hardware/prices.csv, which must outlive the result.
 * Fails with NULL and ORCH_ERROR_RECIPE with the position. Caller unrefs. */
GPtrArray *orch_prices_read(const struct orch_csv *csv, GError **error);
/** Formats prices as such a table. Caller frees. */
GString *orch_prices_text(const GPtrArray *prices);

/** Criteria for choosing a price. */
struct orch_price_query {
    const char *gpu;   /* name in the table of GPUs */
    const char *cloud; /* NULL: any */
    bool spot;
    const char *on; /* "2025-11-21": the price valid on that day; NULL: the newest */
};
/** True if the price was already known on that day, if it has no date, or if `on` is NULL. */
bool orch_price_was_known(const struct orch_price *price, const char *on);
/** True if the cloud has withdrawn the offer. */
bool orch_price_has_ended(const struct orch_price *price);
/** Price of one GPU per hour. */
double orch_price_per_gpu(const struct orch_price *price, bool spot);
/** Chooses the price for calculations from `prices` (const struct orch_price *). Orders by: with a
 * host before fees without one; available before withdrawn, unless a day is given; newest year;
 * cloud in the order aws, azure, gcp, others; cheapest per GPU. Of several prices of an instance in
 * a region the newest counts. With a day, only rows valid then; if all are later, the oldest. NULL
 * if there is none. */
const struct orch_price *orch_price_choose(const GPtrArray *prices, struct orch_price_query query);

/** The range of available offers. */
struct orch_price_range {
    const struct orch_price *cheapest, *dearest; /* NULL if there are none */
    unsigned count;
};
/** The cheapest and the most expensive offer per GPU among those that meet the wish, include the
 * host, and are neither withdrawn nor outdated. */
struct orch_price_range orch_price_range(const GPtrArray *prices, struct orch_price_query query);

#endif
