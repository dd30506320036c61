/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values on the right side of comparisons: quantities with units, and points in time. */
#include "store/read/where.h"

#include "lib/base/text.h"
#include "lib/base/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool unit_factor(const char *name, size_t length, double *out)
{
    const struct orch_unit *unit = orch_unit_typed(name, length, ORCH_QUANTITY_TIME);
    unit = unit ? unit : orch_unit_typed(name, length, ORCH_QUANTITY_BYTES);
    *out = unit ? unit->factor : 0;
    return unit;
}

/* "inf", "-inf", "Infinity": the value of a loss that overflowed. */
static bool parse_infinity(const char *text, double *out)
{
    const char *word = text + (*text == '-' || *text == '+');
    if (g_ascii_strcasecmp(word, "inf") != 0 && g_ascii_strcasecmp(word, "infinity") != 0)
        return false;
    *out = *text == '-' ? -(double)INFINITY : (double)INFINITY;
    return true;
}

bool orch_where_quantity(const char *text, double *out)
{
    int64_t integer;
    if (orch_real_parse(text, out) || parse_infinity(text, out))
        return true;
    if (orch_int_parse(text, &integer)) {
        *out = (double)integer;
        return true;
    }
    double sum = 0;
    while (*text) {
        size_t digits = strspn(text, "0123456789.");
        size_t letters = 0;
        while (g_ascii_isalpha(text[digits + letters]))
            letters++;
        g_autofree char *number = g_strndup(text, digits);
        double value, factor;
        if (!digits || !orch_real_parse(number, &value) ||
            !unit_factor(text + digits, letters, &factor))
            return false;
        sum += value * factor;
        text += digits + letters;
    }
    *out = sum;
    return true;
}

/* Midnight UTC of the current day, in seconds. */
static int64_t today_s(void)
{
    int64_t now_s = orch_now_ns() / 1000000000;
    return now_s - now_s % 86400;
}

bool orch_where_time(const char *text, int64_t *out_from_ns, int64_t *out_to_ns)
{
    int year, month, day, hour = 0, minute = 0, second = 0, end = 0;
    int64_t from_s, span_s = 86400;
    double ago_s;
    if (sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &end) == 3) {
        const char *clock = text + end;
        int used = 0;
        if (*clock && sscanf(clock, "%*1[T ]%2d:%2d%n", &hour, &minute, &used) == 2 && used) {
            clock += used;
            span_s = 60;
            used = 0;
            if (sscanf(clock, ":%2d%n", &second, &used) == 1 && used) {
                clock += used;
                span_s = 1;
            }
            if (*clock == 'Z')
                clock++;
        }
        g_autoptr(GDateTime) time = g_date_time_new_utc(year, month, day, hour, minute, second);
        if (*clock || !time)
            return false;
        from_s = g_date_time_to_unix(time);
    } else if (g_ascii_strcasecmp(text, "today") == 0) {
        from_s = today_s();
    } else if (g_ascii_strcasecmp(text, "yesterday") == 0) {
        from_s = today_s() - 86400;
    } else if (g_ascii_isdigit(*text) && g_ascii_isalpha(text[strlen(text) - 1]) &&
               orch_where_quantity(text, &ago_s) && ago_s < 1e10) {
        *out_from_ns = orch_now_ns() - (int64_t)(ago_s * 1e9);
        *out_to_ns = *out_from_ns + 1;
        return true;
    } else {
        return false;
    }
    if (from_s > INT64_MAX / 1000000000 - 86400 || from_s < 0)
        return false;
    *out_from_ns = from_s * 1000000000;
    *out_to_ns = (from_s + span_s) * 1000000000;
    return true;
}
