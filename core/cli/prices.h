/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an hour of a device cost on a day: what the command line says, else the user's hardware
 * file, else the dated table. What nobody knows stays unknown. */
#ifndef ORCH_CORE_CLI_PRICES_H
#define ORCH_CORE_CLI_PRICES_H

#include "core/cli/cli.h"
#include "core/run/ledger.h"

struct cli_prices;

/** `given`: "GPU=USD" each (--price), NULL-terminated, or NULL; "cpu" means every processor.
 * ORCH_ERROR_USAGE for what is none. */
struct cli_prices *cli_prices_new(const char *const *given, GError **error);
void cli_prices_free(struct cli_prices *prices);
/** The price of a device (as runs call it) from now on. */
void cli_prices_set(struct cli_prices *prices, const char *device, double usd_per_hour);

/** Dollars an hour of one device; NaN: not known. `day`: "2026-11-21", or NULL for today.
 * `*out_from` (may be NULL): where that is from, borrowed. */
double cli_prices_find(struct cli_prices *prices, const char *device, bool is_processor,
                       const char *day, const char **out_from);
/** A run as the ledger wants it. Texts are borrowed from the run, or from `prices` until the next
 * call. */
struct orch_ledger_run cli_prices_run(struct cli_prices *prices, const struct orch_run *run);

/** Which prices were used, one text each, and the devices of which none is known, sorted; the
 * caller unrefs. */
GPtrArray *cli_prices_used(const struct cli_prices *prices);
GPtrArray *cli_prices_unknown(const struct cli_prices *prices);
/** Names that --price gave and nothing had; the caller unrefs. */
GPtrArray *cli_prices_idle(const struct cli_prices *prices);

#endif
