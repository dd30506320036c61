/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/limits.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/value.h"

#include <string.h>

/* Parses a number with the syntax of a parameter type ("2h", "0.90 USD"); false for any other
 * text. */
static bool read_typed(uint32_t type, const char *text, double *out)
{
    char name[] = "limit";
    const struct orch_param_spec spec = {.name = name, .type = type};
    g_autoptr(json_t) value = orch_value_parse_scalar(&spec, text, NULL);
    if (!value)
        return false;
    *out = json_number_value(value);
    return true;
}

bool cli_duration_read(const char *option, const char *text, double *out_s, GError **error)
{
    double seconds;
    if (!read_typed(ORCH_DURATION, text, &seconds) || !(seconds > 0)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "for example 90, 30s, 5min, 2h, 1h30min",
                       "option '--%s': '%s' is no duration above 0", option, text);
        return false;
    }
    *out_s = seconds;
    return true;
}

/* Parses "5usd", "$2.50" or "2.5": an amount above 0 in USD. */
static bool read_usd(const char *text, double most, double *out)
{
    size_t length = strlen(text);
    bool has_unit = length > 3 && g_ascii_strcasecmp(text + length - 3, "usd") == 0;
    g_autofree char *number = g_strndup(text, has_unit ? length - 3 : length);
    double usd;
    if (!read_typed(ORCH_MONEY, g_strstrip(number), &usd) || usd <= 0 || usd > most)
        return false;
    *out = usd;
    return true;
}

bool cli_price_read(const char *text, double *out_usd, GError **error)
{
    if (read_usd(text, 1e6, out_usd))
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE,
                   "dollars an hour of one device, for example --price 3.06 or --price 3.06usd",
                   "option '--price': '%s' is no amount above 0", text);
    return false;
}

bool cli_budget_read(const char *text, double *out_usd, GError **error)
{
    if (read_usd(text, 1e9, out_usd))
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "for example --budget 5usd, --budget 2.50usd",
                   "option '--budget': '%s' is no amount above 0", text);
    return false;
}

static bool read_budget(const char *text, const struct orch_rate *price, struct orch_limits *out,
                        GError **error)
{
    double usd;
    if (!cli_budget_read(text, &usd, error))
        return false;
    if (!(price->usd_per_hour > 0)) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "--price USD (of one device an hour), or a price in your hardware file "
                       "('orch gpu ls --help')",
                       "option '--budget': what an hour costs here is not known");
        return false;
    }
    out->budget_usd = usd;
    out->usd_per_hour = price->usd_per_hour;
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
    if (!at)
        return 0;
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

bool cli_deadline_read(const char *text, int64_t now_ns, int64_t *out_ns, GError **error)
{
    double seconds;
    g_autoptr(GDateTime) now = g_date_time_new_from_unix_local(now_ns / 1000000000);
    int64_t at = next_clock(text, now);
    if (!at)
        at = iso_time(text);
    if (!at && read_typed(ORCH_DURATION, text, &seconds) && seconds > 0 && seconds < 1e9 &&
        strspn(text, "0123456789.") < strlen(text))
        at = now_ns + (int64_t)(seconds * 1e9);
    if (!at && *text == '-' && read_typed(ORCH_DURATION, text + 1, &seconds)) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "a duration from now, for example --deadline 2h or --deadline 90min",
                       "option '--deadline': '%s' is negative", text);
        return false;
    }
    if (!at) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "a time of day (18:00), a duration (2h, 90min) or a date and time "
                       "(2026-11-21T18:00)",
                       "option '--deadline': '%s' is no point in time", text);
        return false;
    }
    if (at <= now_ns) {
        orch_error_set(error, ORCH_ERROR_USAGE, "a point in time that is still to come",
                       "option '--deadline': '%s' is over", text);
        return false;
    }
    *out_ns = at;
    return true;
}

bool cli_limits_read(const char *budget, const char *deadline, const struct orch_rate *price,
                     int64_t now_ns, struct orch_limits *out, GError **error)
{
    *out = (struct orch_limits){.usd_per_hour = price->usd_per_hour};
    return (!budget || read_budget(budget, price, out, error)) &&
           (!deadline || cli_deadline_read(deadline, now_ns, &out->deadline_ns, error));
}

static char *when_text(int64_t at_ns)
{
    g_autoptr(GDateTime) at = g_date_time_new_from_unix_local(at_ns / 1000000000);
    return g_date_time_format(at, "%Y-%m-%d %H:%M:%S");
}

char *cli_limits_text(const struct orch_limits *limits, const struct orch_rate *price)
{
    GString *text = g_string_new(NULL);
    if (limits->budget_usd > 0) {
        g_autofree char *usd = orch_money_format(limits->budget_usd);
        g_string_append_printf(text, "budget %s at $%.4g an hour of a device (%s)", usd,
                               price->usd_per_hour, price->from);
    }
    if (limits->deadline_ns) {
        g_autofree char *when = when_text(limits->deadline_ns);
        g_string_append_printf(text, "%sdeadline %s", text->len ? "; " : "", when);
    }
    if (text->len)
        g_string_append(text, "; a trial starts if the median of its forecast keeps to it");
    return g_string_free(text, !text->len);
}

static void print_remaining(struct orch_cli *cli, const struct orch_plan *plan,
                            const struct orch_limits *limits, const struct orch_totals *totals,
                            const struct orch_forecaster *forecaster, const char *go_on)
{
    struct orch_forecast_total left;
    orch_forecast_total(plan, forecaster, &left);
    g_autofree char *time = orch_duration_format(left.p50_s);
    g_autofree char *usd = limits->usd_per_hour > 0
                               ? orch_money_format(orch_limits_usd(limits, left.device_p50_s))
                               : NULL;
    orch_cli_say(cli, "stopped by the %s: %u trial%s not started, %u cancelled",
                 orch_limit_name(totals->limit), totals->held_back,
                 totals->held_back == 1 ? "" : "s", totals->cut_off);
    if (left.known)
        orch_cli_say(cli, "  left: about %s%s%s for %u trial%s%s", time, usd ? ", " : "",
                     usd ? usd : "", left.known, left.known == 1 ? "" : "s",
                     left.unknown ? "; of the others nothing is known" : "");
    orch_cli_say(cli, "  %s", go_on);
}

void cli_limits_say_end(struct orch_cli *cli, const struct orch_plan *plan,
                        const struct orch_limits *limits, const struct orch_totals *totals,
                        const struct orch_forecaster *forecaster, const char *go_on)
{
    if (limits->budget_usd > 0) {
        g_autofree char *spent = orch_money_format(orch_limits_usd(limits, totals->device_s));
        g_autofree char *budget = orch_money_format(limits->budget_usd);
        g_autofree char *time = orch_duration_format(totals->device_s);
        orch_cli_say(cli, "spent %s of %s: %s of devices, trials of this command alone", spent,
                     budget, time);
    }
    if (totals->limit != ORCH_LIMIT_NONE)
        print_remaining(cli, plan, limits, totals, forecaster, go_on);
}
