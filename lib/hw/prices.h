/* SPDX-License-Identifier: MIT */
/* What an hour of a GPU costs, by cloud, instance and date. Prices go out of date: whoever prints a
 * cost prints the price, where it is from and when it held. */
#ifndef ORCH_HW_PRICES_H
#define ORCH_HW_PRICES_H

#include <stdbool.h>

struct orch_price {
    const char *gpu; /* name in the table of GPUs; NULL ends the table */
    const char *cloud, *instance, *region;
    int count;                              /* GPUs of the instance */
    double usd_per_hour, spot_usd_per_hour; /* of the whole instance; spot 0: not known */
    const char *as_of;                      /* "2022-12" or "2024" */
    const char *source;                     /* catalogue's folder and commit */
    bool is_fee;                            /* the host machine is billed apart */
};

/** The table, ended by a NULL gpu. */
const struct orch_price *orch_prices(void);

/** Which price is wanted. */
struct orch_price_wish {
    const char *gpu;   /* its name in the table */
    const char *cloud; /* NULL: any */
    bool spot;
    const char *on; /* "2025-11-21": the price that held on that day; NULL: the newest */
};
/** Had the price been asked on that day? True for one without a date, and for a day of NULL. */
bool orch_price_held(const struct orch_price *price, const char *on);
/** Price of one GPU an hour, at a row of orch_prices. */
double orch_price_per_gpu(const struct orch_price *price, bool spot);
/** The row to reckon with: of the newest year (fees without a host last) the first cloud that has
 * one in the order aws, azure, gcp, others; of those the cheapest a GPU. With a day, of the rows
 * that held then; where the table begins later, of its oldest. NULL when there is none. */
const struct orch_price *orch_price_choose(struct orch_price_wish wish);

#endif
