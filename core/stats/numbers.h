/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Formats numbers for people. */
#ifndef ORCH_CORE_STATS_NUMBERS_H
#define ORCH_CORE_STATS_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>

/** Formats 4 significant digits, 3 below 0.1 and a decimal from 1000 on, without exponent between
 * 1e-4 and 1e6. The caller frees. */
char *orch_number_format(double value);
/** Formats `count` numbers with the same digits, as many as show two digits of half the `range`
 * (0.912 with 0.905 to 0.918; 1,234 with 1,180 to 1,290), whatever the size of the numbers. The
 * caller frees each of `out`. Numbers that differ only by rounding errors are formatted as by
 * orch_number_format. */
void orch_numbers_format_like(double range, const double *values, char **out, size_t count);
/** Formats the numbers of single runs: 4 significant digits, or more when the lowest and the
 * highest would look the same. Then the first digit of their `range` is shown. Otherwise as
 * orch_numbers_format_like. */
void orch_runs_format(double range, const double *values, char **out, size_t count);
/** Formats a mean and the half width of its interval: "0.912 +- 0.0043". The mean alone when `half`
 * is NaN or 0; "-" for NaN. The caller frees. */
char *orch_mean_format(double mean, double half);
/** Formats an interval: "0.0995 to 0.1005"; "0.27, all equal" when the ends differ only by rounding
 * errors; "-" for NaN. The caller frees. */
char *orch_interval_format(double low, double high);
/** Formats a number with the digits that orch_interval_format gives its interval; "-" for NaN. The
 * caller frees. */
char *orch_within_format(double value, double low, double high);
/** Groups the digits of large numbers in a text, those before the decimal point from five digits
 * on: "1171488 = 64*18304" becomes "1,171,488 = 64*18,304". Digits that touch a letter or '_',
 * stand behind a point or '=', or begin with 0 are no such number (keys, versions, dates in one
 * word, settings). The caller frees. */
char *orch_digits_grouped(const char *text);
/** Formats a p-value: "0.028", "<0.0001"; "-" for NaN. The caller frees. */
char *orch_p_format(double p);

#endif
