/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The price of a device hour on a given day: from the command line, else from the user's hardware
 * file, else from the dated price table. Unknown prices stay unknown (NaN). */
#ifndef ORCH_FEATURES_COST_DEVICE_PRICES_H
#define ORCH_FEATURES_COST_DEVICE_PRICES_H

#include "features/cost/ledger.h"
#include "store/store.h"

struct orch_device_prices;

/** `given`: the --price options, "GPU=USD" each, NULL-terminated, or NULL; the name "cpu" means
 * every processor. NULL with ORCH_ERROR_USAGE when one is malformed. */
struct orch_device_prices *orch_device_prices_new(const char *const *given, GError **error);
void orch_device_prices_free(struct orch_device_prices *prices);
/** Overrides the price of a device, named as in runs, for all later lookups. */
void orch_device_prices_set(struct orch_device_prices *prices, const char *device,
                            double usd_per_hour);

/** Returns the price of one device in dollars per hour, NaN when unknown. `day`: "2026-11-21", or
 * NULL for today. `*out_from` (out_from may be NULL) gets the source of the price, borrowed. */
double orch_device_prices_find(struct orch_device_prices *prices, const char *device,
                               bool is_processor, const char *day, const char **out_from);
/** Converts a run to a ledger entry. Its texts are borrowed from the run, or from `prices` until
 * the next call. */
struct orch_ledger_run orch_device_prices_run(struct orch_device_prices *prices,
                                              const struct orch_run *run);

/** The prices used so far, one text each, and the devices without a known price; both sorted. The
 * caller unrefs. */
GPtrArray *orch_device_prices_used(const struct orch_device_prices *prices);
GPtrArray *orch_device_prices_unknown(const struct orch_device_prices *prices);
/** Names given to --price that matched no device; the caller unrefs. */
GPtrArray *orch_device_prices_idle(const struct orch_device_prices *prices);

#endif
