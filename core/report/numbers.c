/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/report/numbers.h"

#include "lib/base/text.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>

char *orch_number_format(double value)
{
    char text[ORCH_REAL_CHARS];
    if (!isfinite(value))
        return g_strdup(orch_real_format(value, text));
    double size = fabs(value);
    if (value == floor(value) && size < 1e15)
        return g_strdup_printf("%.0f", value);
    if (size >= 1e6 || size < 1e-4)
        return g_strdup(g_ascii_formatd(text, sizeof text, "%.3e", value));
    int digits = size >= 1000 ? 1 : size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4;
    char format[8];
    snprintf(format, sizeof format, "%%.%df", digits);
    g_ascii_formatd(text, sizeof text, format, value);
    return g_strdup(text);
}

static char *with_decimals(double value, int decimals)
{
    char format[16], text[ORCH_REAL_CHARS];
    snprintf(format, sizeof format, "%%.%df", decimals);
    return g_strdup(g_ascii_formatd(text, sizeof text, format, value));
}

/* Decimals that show two digits of `size`; -1: a number that wants an exponent. */
static int decimals_of(double size, double value)
{
    if (!(size > 0) || !isfinite(size) || fabs(value) >= 1e6)
        return -1;
    int decimals = 1 - (int)floor(log10(size));
    return decimals > 9 ? -1 : MAX(decimals, 0);
}

char *orch_mean_format(double mean, double half)
{
    if (isnan(mean))
        return g_strdup("-");
    if (isnan(half) || half <= 0)
        return orch_number_format(mean);
    int decimals = decimals_of(half, mean);
    g_autofree char *first =
        decimals < 0 ? orch_number_format(mean) : with_decimals(mean, decimals);
    g_autofree char *second =
        decimals < 0 ? orch_number_format(half) : with_decimals(half, decimals);
    return g_strdup_printf("%s +- %s", first, second);
}

char *orch_interval_format(double low, double high)
{
    if (isnan(low) || isnan(high))
        return g_strdup("-");
    int decimals = decimals_of((high - low) / 2, MAX(fabs(low), fabs(high)));
    g_autofree char *first = decimals < 0 ? orch_number_format(low) : with_decimals(low, decimals);
    g_autofree char *second =
        decimals < 0 ? orch_number_format(high) : with_decimals(high, decimals);
    return g_strdup_printf("%s to %s", first, second);
}

char *orch_p_format(double p)
{
    return isnan(p) ? g_strdup("-") : p < 1e-4 ? g_strdup("<0.0001") : orch_number_format(p);
}

void orch_numbers_format_like(double range, const double *values, char **out, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs(values[i]));
    int decimals = decimals_of(range / 2, most);
    for (size_t i = 0; i < count; i++)
        out[i] = decimals < 0 ? orch_number_format(values[i]) : with_decimals(values[i], decimals);
}
