/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/remaining.h"

#include "core/cli/forecast.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "predictors/duration.h"

#include <math.h>
#include <string.h>

bool cli_remaining(const GArray *points, double total, double now_s, struct orch_remaining *out)
{
    guint count = points ? points->len : 0;
    g_autofree struct orch_progress_point *copy = g_new(struct orch_progress_point, count + 1);
    for (guint i = 0; i < count; i++) {
        const struct orch_running_point *point =
            &g_array_index(points, struct orch_running_point, i);
        copy[i] = (struct orch_progress_point){point->t_s, point->done};
    }
    return orch_remaining(copy, count, total, now_s, out);
}

bool cli_remaining_forecast(double p5_s, double p50_s, double p95_s, double elapsed_s,
                            struct orch_remaining *out)
{
    if (!(p50_s > elapsed_s))
        return false;
    *out = (struct orch_remaining){.seconds = p50_s - elapsed_s,
                                   .low_s = fmax(0, p5_s - elapsed_s),
                                   .high_s = p95_s - elapsed_s,
                                   .tau_s = (double)NAN,
                                   .estimate = "forecast",
                                   .drift = (double)NAN};
    return true;
}

char *cli_remaining_text(double seconds, double low_s, double high_s)
{
    g_autofree char *middle = orch_duration_format(seconds);
    g_autofree char *low = orch_duration_format(low_s);
    g_autofree char *high = orch_duration_format(high_s);
    return g_strdup_printf("%s (%s to %s)", middle, low, high);
}

/* The GPU of a where_key: "2x Tesla V100-SXM2-16GB"; else this machine's processor. */
static const struct orch_gpu_spec *gpu_of(const struct orch_hardware *hardware,
                                          const char *where_key)
{
    size_t digits = strspn(where_key, "0123456789");
    bool has_gpus = digits && g_str_has_prefix(where_key + digits, "x ");
    return orch_hardware_gpu(hardware, has_gpus ? where_key + digits + 2 : "here", NULL);
}

static void set(struct elsewhere *out, const char *tier, double seconds, double spread, char *why)
{
    struct orch_duration d = orch_duration_of_spread(seconds, spread);
    out->tier = tier;
    out->why = why;
    out->seconds = d.p50_s;
    out->low_s = d.p5_s;
    out->high_s = d.p95_s;
}

/* By the pace here where it is known and this place, too; else by the white box alone. */
static bool answer(struct forecast_untried *untried, const json_t *record,
                   const struct orch_gpu_spec *gpu, double share, const struct orch_remaining *here,
                   struct elsewhere *out, GError **error)
{
    const json_t *cost = json_object_get(json_object_get(record, "facts"), "cost");
    const struct orch_hardware *hardware = forecast_hardware(untried);
    const struct orch_gpu_spec *own = gpu_of(hardware, orch_json_text(record, "where_key", ""));
    struct forecast_white_box there, mine;
    out->gpu = g_strdup(gpu->name);
    if (!cost || !forecast_white_box(untried, cost, gpu, &there)) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "its plugin must declare network, batch and precision (orch plugin show)",
                       "nothing is known of the trial's work on %s", gpu->name);
        return false;
    }
    if (own && here && here->seconds > 0 && forecast_white_box(untried, cost, own, &mine)) {
        double ratio = there.step_s / mine.step_s;
        double own_spread = log(here->high_s / here->seconds) / 1.645;
        set(out, "transferred", here->seconds * ratio,
            hypot(own_spread, hypot(there.spread, mine.spread)),
            g_strdup_printf("a step takes %.3g times as long as on %s, by the roofline", ratio,
                            own->name));
        return true;
    }
    if (!isfinite(there.whole_s) || !(share > 0)) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       own ? "wait until it has made some progress"
                           : "'orch doctor --bench' measures this machine",
                       "it is not known how much of the trial is left, or what runs it here");
        return false;
    }
    set(out, there.is_transferred ? "transferred" : "prior", share * there.whole_s, there.spread,
        g_strdup_printf("%s alone: its pace here says nothing of that GPU",
                        there.is_transferred ? "the white box" : "a roofline"));
    return true;
}

bool cli_remaining_elsewhere(const json_t *record, const char *gpu, double share,
                             const struct orch_remaining *here, struct elsewhere *out,
                             GError **error)
{
    struct orch_hardware *hardware = orch_hardware_load(error);
    const struct orch_gpu_spec *spec = hardware ? orch_hardware_gpu(hardware, gpu, error) : NULL;
    struct forecast_untried *untried = forecast_untried_new();
    *out = (struct elsewhere){0};
    bool ok = spec && answer(untried, record, spec, share, here, out, error);
    forecast_untried_free(untried);
    orch_hardware_free(hardware);
    if (!ok)
        elsewhere_release(out);
    return ok;
}

void elsewhere_release(struct elsewhere *elsewhere)
{
    g_free(elsewhere->gpu);
    g_free(elsewhere->why);
    *elsewhere = (struct elsewhere){0};
}
