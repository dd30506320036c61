/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/forecast_show.h"

#include "core/cli/predict.h"
#include "core/hardware/hardware.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* ---- money -------------------------------------------------------------------------------------
 */

static bool any_uses_gpus(const struct orch_plan *plan)
{
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->items[i].state != ORCH_PLAN_UNUSED &&
            orch_experiment_gpus(plan->items[i].cell->experiment))
            return true;
    return false;
}

bool device_price_find(struct orch_cli *cli, const struct orch_plan *plan, const char *option,
                       struct device_price *out, GError **error)
{
    *out = (struct device_price){0};
    if (option) {
        double usd;
        if (!orch_real_parse(option, &usd) || usd <= 0 || usd > 1e6) {
            orch_error_set(error, ORCH_ERROR_USAGE, "dollars an hour of one device, above 0",
                           "option '--price': '%s' is out of range", option);
            return false;
        }
        *out = (struct device_price){usd, g_strdup("--price")};
        return true;
    }
    const struct orch_machine *machine = orch_workspace_machine(cli->workspace);
    if (!machine->gpus->len || !any_uses_gpus(plan))
        return true;
    struct orch_hardware *hardware = orch_hardware_load(error);
    if (!hardware)
        return false;
    const struct orch_gpu_device *device = machine->gpus->pdata[0];
    const struct orch_gpu_spec *gpu = orch_hardware_gpu(hardware, device->model, NULL);
    struct orch_price_wish wish = {.gpu = gpu ? gpu->name : device->model};
    const struct orch_price *price = orch_hardware_price(hardware, wish);
    if (price)
        *out = (struct device_price){orch_price_per_gpu(price, false),
                                     g_strdup_printf("%s %s, %s, as of %s", price->cloud,
                                                     price->instance, price->region, price->as_of)};
    orch_hardware_free(hardware);
    return true;
}

void device_price_release(struct device_price *price)
{
    g_free(price->from);
}

static double usd_of(const struct device_price *price, double device_s)
{
    return price && price->usd_per_hour > 0 ? device_s / 3600 * price->usd_per_hour : (double)NAN;
}

/* ---- one forecast ------------------------------------------------------------------------------
 */

static char *span_text(double p5_s, double p50_s, double p95_s)
{
    g_autofree char *low = orch_duration_format(p5_s);
    g_autofree char *middle = orch_duration_format(p50_s);
    g_autofree char *high = orch_duration_format(p95_s);
    return g_strdup_printf("%s (%s to %s)", middle, low, high);
}

static void add_costs(json_t *json, double low, double middle, double high)
{
    json_object_set_new(json, "cost_usd", orch_json_finite(middle));
    json_object_set_new(json, "cost_low_usd", orch_json_finite(low));
    json_object_set_new(json, "cost_high_usd", orch_json_finite(high));
}

json_t *forecast_json(const struct orch_forecast *forecast, unsigned devices,
                      const struct device_price *price)
{
    if (!forecast)
        return json_null();
    json_t *json =
        json_pack("{s:o s:o s:o s:s s:s s:s s:i}", "total_s", orch_json_finite(forecast->p50_s),
                  "low_s", orch_json_finite(forecast->p5_s), "high_s",
                  orch_json_finite(forecast->p95_s), "tier", forecast->tier, "model",
                  forecast->model, "because", forecast->why, "devices", (int)devices);
    add_costs(json, usd_of(price, forecast->p5_s * devices),
              usd_of(price, forecast->p50_s * devices), usd_of(price, forecast->p95_s * devices));
    return json;
}

void forecast_add_cell(struct orch_table *table, const struct orch_forecast *forecast,
                       unsigned devices)
{
    g_autofree char *span =
        forecast ? span_text(forecast->p5_s, forecast->p50_s, forecast->p95_s) : NULL;
    g_autofree char *text = forecast ? g_strdup_printf("%s, %s", span, forecast->tier) : NULL;
    orch_table_add(table, text ? text : "-", forecast_json(forecast, devices, NULL));
}

/* ---- the total ---------------------------------------------------------------------------------
 */

void forecast_say_total(struct orch_cli *cli, const struct orch_plan *plan,
                        const struct orch_forecast_total *total, const struct device_price *price)
{
    if (!total->known)
        return;
    g_autofree char *span = span_text(total->p5_s, total->p50_s, total->p95_s);
    GString *line = g_string_new(NULL);
    g_string_append_printf(line, "forecast: %s for %u trial%s, %u at once", span, total->known,
                           total->known == 1 ? "" : "s", plan->options.slots);
    if (total->unknown)
        g_string_append_printf(line, "; of %u more nothing is known", total->unknown);
    if (price->usd_per_hour > 0) {
        g_autofree char *usd = money_format(usd_of(price, total->device_p50_s));
        g_autofree char *low = money_format(usd_of(price, total->device_p5_s));
        g_autofree char *high = money_format(usd_of(price, total->device_p95_s));
        g_string_append_printf(line, "; %s (%s to %s) at $%.4g an hour of a device (%s)", usd, low,
                               high, price->usd_per_hour, price->from);
    }
    orch_cli_say(cli, "%s", line->str);
    g_string_free(line, TRUE);
}

json_t *forecast_total_json(const struct orch_plan *plan, const struct orch_forecast_total *total,
                            const struct device_price *price)
{
    double nothing = total->known ? 0 : (double)NAN;
    json_t *json =
        json_pack("{s:i s:i s:i s:o}", "trials", (int)total->known, "unknown", (int)total->unknown,
                  "slots", (int)plan->options.slots, "interval", orch_json_finite(0.9));
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"total_s", total->p50_s},
                   {"low_s", total->p5_s},
                   {"high_s", total->p95_s},
                   {"device_s", total->device_p50_s}};
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
        json_object_set_new(json, numbers[i].name, orch_json_finite(numbers[i].value + nothing));
    add_costs(json, usd_of(price, total->device_p5_s) + nothing,
              usd_of(price, total->device_p50_s) + nothing,
              usd_of(price, total->device_p95_s) + nothing);
    json_object_set_new(json, "usd_per_hour",
                        price->usd_per_hour > 0 ? orch_json_finite(price->usd_per_hour)
                                                : json_null());
    json_object_set_new(json, "price_from", price->from ? json_string(price->from) : json_null());
    return json;
}

/* ---- grades ------------------------------------------------------------------------------------
 */

void forecast_grades_init(struct forecast_grades *grades)
{
    grades->wall_s = g_array_new(FALSE, FALSE, sizeof(double));
    grades->answers = g_array_new(FALSE, FALSE, sizeof(struct orch_answer));
}

void forecast_grades_release(struct forecast_grades *grades)
{
    g_array_unref(grades->wall_s);
    g_array_unref(grades->answers);
}

void forecast_grades_add(struct forecast_grades *grades, double p5_s, double p50_s, double p95_s,
                         double wall_s)
{
    struct orch_answer answer = {.value = p50_s, .low = p5_s, .high = p95_s};
    g_array_append_val(grades->wall_s, wall_s);
    g_array_append_val(grades->answers, answer);
}

struct orch_score forecast_grades_score(const struct forecast_grades *grades)
{
    return orch_score_of((const double *)(void *)grades->wall_s->data,
                         (const struct orch_answer *)(void *)grades->answers->data, NULL,
                         grades->wall_s->len);
}

char *forecast_grades_text(const struct forecast_grades *grades)
{
    guint n = grades->wall_s->len;
    if (!n)
        return NULL;
    struct orch_score score = forecast_grades_score(grades);
    return g_strdup_printf(
        "%u forecast%s: median error %.2g %%, %d of %u within the 90 %% interval", n,
        n == 1 ? "" : "s", 100 * score.median_relative_error, (int)lround(score.coverage_90 * n),
        n);
}

json_t *forecast_grades_json(const struct forecast_grades *grades)
{
    guint n = grades->wall_s->len;
    if (!n)
        return json_null();
    struct orch_score score = forecast_grades_score(grades);
    return json_pack("{s:i s:o s:o}", "graded", (int)n, "median_relative_error",
                     orch_json_finite(score.median_relative_error), "coverage_90",
                     orch_json_finite(score.coverage_90));
}
