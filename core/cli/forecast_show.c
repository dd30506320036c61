/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/forecast_show.h"

#include "core/schedule/limit_options.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* ---- money -------------------------------------------------------------------------------------
 */

bool orch_cli_plan_price_find(const struct orch_plan *plan, const char *option,
                              struct orch_rate *out, GError **error)
{
    double usd;
    *out = (struct orch_rate){0};
    if (!option)
        return orch_plan_rate(plan, out, error);
    if (!orch_price_read(option, &usd, error))
        return false;
    *out = (struct orch_rate){.usd_per_hour = usd, .from = g_strdup("--price")};
    return true;
}

static double usd_of(const struct orch_rate *price, double device_s)
{
    return price && price->usd_per_hour > 0 ? device_s / 3600 * price->usd_per_hour : (double)NAN;
}

/* ---- one forecast ------------------------------------------------------------------------------
 */

char *orch_cli_span_text(struct orch_interval time_s)
{
    g_autofree char *low = orch_duration_format(time_s.low);
    g_autofree char *middle = orch_duration_format(time_s.mid);
    g_autofree char *high = orch_duration_format(time_s.high);
    return g_strdup_printf("%s (%s to %s)", middle, low, high);
}

static void add_costs(json_t *json, double low, double middle, double high)
{
    json_object_set_new(json, "cost_usd", orch_json_finite(middle));
    json_object_set_new(json, "cost_low_usd", orch_json_finite(low));
    json_object_set_new(json, "cost_high_usd", orch_json_finite(high));
}

json_t *orch_cli_forecast_json(const struct orch_forecast *forecast, double devices,
                               const struct orch_rate *price)
{
    if (!forecast)
        return json_null();
    json_t *json = json_pack(
        "{s:o s:o s:o s:s s:s s:s s:o}", "total_s", orch_json_finite(forecast->time_s.mid), "low_s",
        orch_json_finite(forecast->time_s.low), "high_s", orch_json_finite(forecast->time_s.high),
        "tier", forecast->tier, "model", forecast->model, "because", forecast->why, "devices",
        devices < 1 ? orch_json_finite(devices) : json_integer((json_int_t)devices));
    add_costs(json, usd_of(price, forecast->time_s.low * devices),
              usd_of(price, forecast->time_s.mid * devices),
              usd_of(price, forecast->time_s.high * devices));
    return json;
}

void orch_cli_forecast_add_cell(struct orch_table *table, const struct orch_forecast *forecast,
                                double devices)
{
    g_autofree char *span = forecast ? orch_cli_span_text(forecast->time_s) : NULL;
    g_autofree char *text = forecast ? g_strdup_printf("%s, %s", span, forecast->tier) : NULL;
    orch_table_add(table, text ? text : "-", orch_cli_forecast_json(forecast, devices, NULL));
}

/* ---- the total ---------------------------------------------------------------------------------
 */

void orch_cli_forecast_print_total(struct orch_cli *cli, const struct orch_plan *plan,
                                   const struct orch_forecast_total *total,
                                   const struct orch_rate *price)
{
    if (!total->known)
        return;
    g_autofree char *span = orch_cli_span_text(total->time_s);
    GString *line = g_string_new(NULL);
    g_string_append_printf(line, "forecast (90 %% interval): %s for %u trial%s, %u at once", span,
                           total->known, orch_plural(total->known), plan->options.slots);
    if (total->unknown)
        g_string_append_printf(line, "; %u more without a forecast", total->unknown);
    if (price->usd_per_hour > 0) {
        g_autofree char *usd = orch_money_format(usd_of(price, total->device_s.mid));
        g_autofree char *low = orch_money_format(usd_of(price, total->device_s.low));
        g_autofree char *high = orch_money_format(usd_of(price, total->device_s.high));
        g_string_append_printf(line, "; %s (%s to %s) at $%.4g an hour of a device (%s)", usd, low,
                               high, price->usd_per_hour, price->from);
    }
    orch_cli_info(cli, "%s", line->str);
    g_string_free(line, TRUE);
}

json_t *orch_cli_forecast_total_json(const struct orch_plan *plan,
                                     const struct orch_forecast_total *total,
                                     const struct orch_rate *price)
{
    double nothing = total->known ? 0 : (double)NAN;
    json_t *json =
        json_pack("{s:i s:i s:i s:o}", "trials", (int)total->known, "unknown", (int)total->unknown,
                  "slots", (int)plan->options.slots, "interval", orch_json_finite(0.9));
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"total_s", total->time_s.mid},
                   {"low_s", total->time_s.low},
                   {"high_s", total->time_s.high},
                   {"device_s", total->device_s.mid}};
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
        json_object_set_new(json, numbers[i].name, orch_json_finite(numbers[i].value + nothing));
    add_costs(json, usd_of(price, total->device_s.low) + nothing,
              usd_of(price, total->device_s.mid) + nothing,
              usd_of(price, total->device_s.high) + nothing);
    json_object_set_new(json, "usd_per_hour",
                        price->usd_per_hour > 0 ? orch_json_finite(price->usd_per_hour)
                                                : json_null());
    json_object_set_new(json, "price_from", orch_json_text_or_null(price->from));
    return json;
}

void orch_cli_add_percent(struct orch_table *table, double share)
{
    g_autofree char *text = isnan(share) ? g_strdup("-") : g_strdup_printf("%.3g %%", 100 * share);
    orch_table_add(table, text, isnan(share) ? json_null() : orch_json_finite(share));
}
