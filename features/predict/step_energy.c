/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/step_energy.h"

#include "features/predict/step_grid.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>

/* Share of its watts that a board draws while it trains. A guess: kernels that multiply draw all of
 * it, kernels that move bytes and waits for the host much less. The middle is that of the interval.
 */
#define LEAST_SHARE 0.5
#define MIDDLE_SHARE 0.75

static struct orch_interval drawn(struct orch_interval time_s, double watts)
{
    return (struct orch_interval){.low = time_s.low * watts * LEAST_SHARE,
                                  .mid = time_s.mid * watts * MIDDLE_SHARE,
                                  .high = time_s.high * watts};
}

static struct orch_interval times(struct orch_interval a, double factor)
{
    return (struct orch_interval){
        .low = a.low * factor, .mid = a.mid * factor, .high = a.high * factor};
}

struct orch_step_energy orch_step_energy_of(const struct orch_step_answer *a)
{
    const struct orch_time_question *q = a->q;
    double board = a->c->gpu->watts > 0 ? a->c->gpu->watts : (double)NAN;
    double limit = a->q->kernels.watts;
    double watts = limit > 0 && !(limit > board) ? limit : board;
    double all = watts * (double)a->workers;
    struct orch_step_energy out = {.watts = watts,
                                   .step_j = drawn(a->step.total_s, all),
                                   .kwh = times(drawn(a->total_s, all), 1 / 3.6e6)};
    out.usd = times(out.kwh, q->price_kwh);
    out.co2_kg = times(out.kwh, q->grid_g / 1e3);
    out.grid_g = q->grid_g;
    out.grid = q->grid;
    return out;
}

/* To two digits: more would be more than a guess is good for. */
static double rounded(double kwh)
{
    const double last = pow(10, floor(log10(kwh)) - 1);
    return kwh > 0 ? round(kwh / last) * last : kwh;
}

char *orch_step_energy_text(const struct orch_step_energy *e)
{
    if (isnan(e->step_j.mid))
        return NULL;
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "energy: %.2g J a step", e->step_j.mid);
    if (e->step_j.mid >= 100)
        g_string_printf(text, "energy: %.0f J a step", e->step_j.mid);
    if (!isnan(e->kwh.mid))
        g_string_append_printf(text, ", %g kWh in all (%g to %g)", rounded(e->kwh.mid),
                               rounded(e->kwh.low), rounded(e->kwh.high));
    if (!isnan(e->usd.mid)) {
        g_autofree char *usd = orch_money_format(e->usd.mid);
        g_string_append_printf(text, " for %s", usd);
    }
    if (!isnan(e->co2_kg.mid)) {
        g_autofree char *of =
            e->grid ? g_strdup_printf(": %s's mean of " ORCH_GRID_YEAR, e->grid) : g_strdup("");
        g_string_append_printf(text, " and %.2g kg of CO2 (%.0f g a kWh%s)", e->co2_kg.mid,
                               e->grid_g, of);
    }
    g_string_append_printf(text, ". Assumed power: half to all of %.0f W for each board", e->watts);
    return g_string_free(text, FALSE);
}

static void add(json_t *object, const char *name, const char *unit, struct orch_interval value)
{
    static const char *const ends[] = {"", "low_", "high_"};
    const double values[] = {value.mid, value.low, value.high};
    for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
        g_autofree char *key = g_strdup_printf("%s_%s%s", name, ends[i], unit);
        json_object_set_new(object, key, orch_json_finite(values[i]));
    }
}

void orch_step_energy_add_json(const struct orch_step_energy *e, json_t *object)
{
    add(object, "step_energy", "j", e->step_j);
    add(object, "energy", "kwh", e->kwh);
    add(object, "energy_cost", "usd", e->usd);
    add(object, "co2", "kg", e->co2_kg);
}
