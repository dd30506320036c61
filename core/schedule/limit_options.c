/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/schedule/limit_options.h"

#include "core/feature/feature.h"
#include "core/recipe/option_value.h"
#include "lib/base/error.h"

#include <stdio.h>
#include <string.h>

bool orch_price_read(const char *text, double *out_usd, GError **error)
{
    if (orch_option_usd(text, 1e6, out_usd))
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "for example --price 3.06usd (per hour of one device)",
                   "option '--price': '%s' is not an amount above 0", text);
    return false;
}

bool orch_budget_read(const char *text, double *out_usd, GError **error)
{
    if (orch_option_usd(text, 1e9, out_usd))
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "for example --budget 5usd",
                   "option '--budget': '%s' is not an amount above 0", text);
    return false;
}

static bool read_budget(const char *text, double usd_per_hour, struct orch_limits *out,
                        GError **error)
{
    double usd;
    if (orch_option_device_time(text, &out->budget_s))
        return true;
    if (!orch_budget_read(text, &usd, error))
        return false;
    if (!(usd_per_hour > 0)) {
        orch_error_set(
            error, ORCH_ERROR_USAGE,
            orch_advice(ORCH_ADVICE_NO_PRICE, "add --price USD (per hour of one device)"),
            "option '--budget': the price per hour of this machine is not known");
        return false;
    }
    out->budget_usd = usd;
    out->usd_per_hour = usd_per_hour;
    return true;
}

/* Converts to nanoseconds. A time beyond their range (the year 2262) counts as never. */
static int64_t ns_of(const GDateTime *at)
{
    int64_t seconds = g_date_time_to_unix((GDateTime *)(uintptr_t)at);
    return CLAMP(seconds, -9000000000, 9000000000) * 1000000000;
}

/* Parses "18:00" or "18:00:30" as the next such time. 0: another form. */
static int64_t next_clock(const char *text, GDateTime *now)
{
    unsigned hour, minute, second = 0;
    int end = 0, short_end = 0;
    char rest;
    if (sscanf(text, "%2u:%2u%n:%2u%n%c", &hour, &minute, &short_end, &second, &end, &rest) < 2 ||
        text[MAX(end, short_end)] || hour > 23 || minute > 59 || second > 59)
        return 0;
    g_autoptr(GTimeZone) zone = g_time_zone_new_local();
    g_autoptr(GDateTime) at =
        g_date_time_new(zone, g_date_time_get_year(now), g_date_time_get_month(now),
                        g_date_time_get_day_of_month(now), (int)hour, (int)minute, second);
    g_autoptr(GDateTime) tomorrow = g_date_time_add_days(at, 1);
    bool is_over = g_date_time_compare(at, now) <= 0;
    return ns_of(is_over ? tomorrow : at);
}

/* Parses ISO 8601; a space may replace the 'T', and seconds and time zone may be absent. */
static int64_t iso_time(const char *text)
{
    g_autofree char *iso = g_strdup(text);
    char *space = strchr(iso, ' ');
    if (space)
        *space = 'T';
    g_autofree char *with_seconds = NULL;
    const char *clock = strchr(iso, 'T');
    size_t digits = clock ? strspn(clock + 1, "0123456789:") : 0;
    if (digits == 5)
        with_seconds = g_strdup_printf("%.*s:00%s", (int)(clock + 6 - iso), iso, clock + 6);
    g_autoptr(GTimeZone) zone = g_time_zone_new_local();
    g_autoptr(GDateTime) at =
        clock ? g_date_time_new_from_iso8601(with_seconds ? with_seconds : iso, zone) : NULL;
    return at ? ns_of(at) : 0;
}

bool orch_deadline_read(const char *text, int64_t now_ns, int64_t *out_ns, GError **error)
{
    double seconds;
    g_autoptr(GDateTime) now = g_date_time_new_from_unix_local(now_ns / 1000000000);
    int64_t at = next_clock(text, now);
    if (!at)
        at = iso_time(text);
    if (!at && orch_option_seconds(text, &seconds) && seconds > 0 && seconds < 1e9 &&
        strspn(text, "0123456789.") < strlen(text))
        at = now_ns + (int64_t)(seconds * 1e9);
    if (!at && *text == '-' && orch_option_seconds(text + 1, &seconds)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "for example --deadline 2h",
                       "option '--deadline': '%s' is negative", text);
        return false;
    }
    if (!at) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "for example --deadline 18:00, 2h or 2026-11-21T18:00",
                       "option '--deadline': '%s' is not a time", text);
        return false;
    }
    if (at <= now_ns) {
        orch_error_set(error, ORCH_ERROR_USAGE, "give a time in the future",
                       "option '--deadline': '%s' has passed", text);
        return false;
    }
    *out_ns = at;
    return true;
}

bool orch_limits_read(const char *budget, const char *deadline, double usd_per_hour, int64_t now_ns,
                      struct orch_limits *out, GError **error)
{
    *out = (struct orch_limits){.usd_per_hour = usd_per_hour};
    return (!budget || read_budget(budget, usd_per_hour, out, error)) &&
           (!deadline || orch_deadline_read(deadline, now_ns, &out->deadline_ns, error));
}
