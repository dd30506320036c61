/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers for people. */
#ifndef ORCH_CORE_REPORT_NUMBERS_H
#define ORCH_CORE_REPORT_NUMBERS_H

#include <stddef.h>

/** 4 significant digits, no exponent between 1e-4 and 1e6. The caller frees. */
char *orch_number_format(double value);
/** "0.912 +- 0.0043": a mean and the half width of its interval, both with the decimals that the
 * half width's second digit has. The mean alone when that is NaN or 0; "-" for NaN. The caller
 * frees. */
char *orch_mean_format(double mean, double half);
/** "0.0995 to 0.1005", with the digits that tell the ends apart; "-" for NaN. The caller frees. */
char *orch_interval_format(double low, double high);
/** A p-value: "0.028", "<0.0001", "-" for NaN. The caller frees. */
char *orch_p_format(double p);
/** `count` numbers with the decimals that show two digits of half their `range`; the caller frees
 * each of `out`. */
void orch_numbers_format_like(double range, const double *values, char **out, size_t count);

#endif
