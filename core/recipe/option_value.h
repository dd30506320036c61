/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of command line options that are written as in recipes: durations, sizes, money. */
#ifndef ORCH_CORE_RECIPE_OPTION_VALUE_H
#define ORCH_CORE_RECIPE_OPTION_VALUE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/** Parses a duration: "90" (seconds), "30s", "5min", "1h30min". False for any other text. */
bool orch_option_seconds(const char *text, double *out_s);
/** Parses a duration above 0. ORCH_ERROR_USAGE, which names the option. */
bool orch_option_duration(const char *option, const char *text, double *out_s, GError **error);
/** Parses a size: "4MiB", "1000000". False for any other text and for a negative number. */
bool orch_option_bytes(const char *text, int64_t *out_bytes);
/** Parses an amount of money above 0 and at most `most`, in USD: "5usd", "$2.50" or "2.5". False
 * for any other text. */
bool orch_option_usd(const char *text, double most, double *out_usd);
/** Parses a budget of device time, which has a unit of time: "2h", "90min"; an amount without a
 * unit is one of money. Writes `out_s`, above 0, only where it is one. */
bool orch_option_device_time(const char *text, double *out_s);

#endif
