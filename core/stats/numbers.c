/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/stats/numbers.h"

#include "lib/base/text.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

char *orch_number_format(double value)
{
    char text[ORCH_REAL_CHARS];
    if (!isfinite(value))
        return g_strdup(orch_real_format(value, text));
    double size = fabs(value);
    if (value == floor(value) && size < 1e15)
        return g_strdup_printf("%.0f", value == 0 ? 0 : value); /* not "-0" */
    if (size >= 1e6 || size < 1e-4)
        return g_strdup(g_ascii_formatd(text, sizeof text, "%.3e", value));
    int digits = size >= 100    ? 1
                 : size >= 10   ? 2
                 : size >= 1    ? 3
                 : size >= 0.01 ? 4
                 : size >= 1e-3 ? 5
                                : 6;
    char format[8];
    snprintf(format, sizeof format, "%%.%df", digits);
    g_ascii_formatd(text, sizeof text, format, value);
    return g_strdup(text);
}

/* ---- digits by uncertainty ------------------------------------------------------------------- */

/* Ranges below this share of a number are rounding errors. */
#define ROUNDING 1e-12
/* Maximum digits of a double. */
#define DIGITS_MOST 15
#define LARGE 1e6
#define SMALL 1e-4

static int exponent_of(double value)
{
    return (int)floor(log10(value));
}

/* The common format of several numbers: a count of decimals, or of mantissa digits after the
 * point. */
struct digits {
    bool is_exponent;
    int count;
};

/* Returns the format for numbers up to `most` in which the digit of 10^last is the last one shown.
 */
static struct digits digits_of(int last, double most)
{
    int first = exponent_of(most);
    bool is_short = first - last < 4; /* otherwise plain notation is no longer */
    if (most >= LARGE ? last > 0 && is_short : most < SMALL)
        return (struct digits){true, CLAMP(first - last, 0, DIGITS_MOST)};
    return (struct digits){false, CLAMP(-last, 0, DIGITS_MOST - MIN(first, 0))};
}

static char *format(double value, struct digits digits)
{
    char format[16], text[ORCH_REAL_CHARS * 2];
    snprintf(format, sizeof format, digits.is_exponent ? "%%.%de" : "%%.%df", digits.count);
    return g_strdup(g_ascii_formatd(text, sizeof text, format, value));
}

static double most_of(const double *values, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs(values[i]));
    return most;
}

static bool is_spread(double range, double most)
{
    return isfinite(range) && isfinite(most) && range > ROUNDING * most && most > 0;
}

void orch_numbers_format_like(double range, const double *values, char **out, size_t count)
{
    double most = most_of(values, count);
    bool has_digits = is_spread(range, most);
    struct digits digits =
        has_digits ? digits_of(exponent_of(range / 2) - 1, most) : (struct digits){false, 0};
    for (size_t i = 0; i < count; i++)
        out[i] = has_digits ? format(values[i], digits) : orch_number_format(values[i]);
}

void orch_runs_format(double range, const double *values, char **out, size_t count)
{
    double most = most_of(values, count);
    bool is_different = is_spread(range, most) && exponent_of(range) < exponent_of(most) - 3;
    struct digits digits =
        is_different ? digits_of(exponent_of(range), most) : (struct digits){false, 0};
    for (size_t i = 0; i < count; i++)
        out[i] = is_different ? format(values[i], digits) : orch_number_format(values[i]);
}

char *orch_mean_format(double mean, double half)
{
    if (isnan(mean))
        return g_strdup("-");
    if (isnan(half) || half <= 0)
        return orch_number_format(mean);
    char *texts[2];
    orch_numbers_format_like(2 * half, (const double[]){mean, half}, texts, 2);
    char *out = g_strdup_printf("%s +- %s", texts[0], texts[1]);
    g_free(texts[0]);
    g_free(texts[1]);
    return out;
}

char *orch_interval_format(double low, double high)
{
    if (isnan(low) || isnan(high))
        return g_strdup("-");
    const double ends[] = {low, high};
    char *texts[2];
    orch_numbers_format_like(high - low, ends, texts, 2);
    bool is_point =
        low == high || (isfinite(high - low) && !is_spread(high - low, most_of(ends, 2)));
    char *out = is_point ? g_strdup_printf("%s, all equal", texts[0])
                         : g_strdup_printf("%s to %s", texts[0], texts[1]);
    g_free(texts[0]);
    g_free(texts[1]);
    return out;
}

char *orch_within_format(double value, double low, double high)
{
    if (isnan(value))
        return g_strdup("-");
    const double values[] = {low, high, value};
    if (isnan(low) || isnan(high))
        return orch_number_format(value);
    char *texts[3];
    orch_numbers_format_like(high - low, values, texts, 3);
    g_free(texts[0]);
    g_free(texts[1]);
    return texts[2];
}

/* Numbers of fewer digits are read at a glance. */
enum { GROUPED_FROM = 5 };

/* Whether the digits from `begin` to `end` within `text` are a number, and not a part of a word. */
static bool is_number(const char *text, const char *begin, const char *end)
{
    const char before = begin > text ? begin[-1] : ' ';
    const bool is_range = begin > text + 1 && g_str_has_prefix(begin - 2, "..");
    const bool is_name = g_ascii_isalpha(before) || strchr("_,=#@:", before) ||
                         (before == '.' && !is_range) || g_ascii_isalpha(*end) || *end == '_' ||
                         *end == ':';
    const bool is_version = *end == '.' && g_ascii_isalpha(end[1]);
    return !is_name && !is_version && *begin != '0' && end - begin >= GROUPED_FROM;
}

char *orch_digits_grouped(const char *text)
{
    GString *out = g_string_new(NULL);
    for (const char *p = text; *p;) {
        const size_t digits = strspn(p, "0123456789");
        const bool is_grouped = digits && is_number(text, p, p + digits);
        for (size_t i = 0; i < digits; i++) {
            if (is_grouped && i && (digits - i) % 3 == 0)
                g_string_append_c(out, ',');
            g_string_append_c(out, p[i]);
        }
        p += digits;
        if (*p)
            g_string_append_c(out, *p++);
    }
    return g_string_free(out, FALSE);
}

char *orch_p_format(double p)
{
    return isnan(p) ? g_strdup("-") : p < 1e-4 ? g_strdup("<0.0001") : orch_number_format(p);
}
