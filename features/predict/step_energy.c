/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/step_energy.h"

#include "features/predict/step_grid.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>

/* What a board draws while a training keeps it busy, as shares of its own watts and of a limit set
 * below them: so drew 94 % of 1,040 trainings on four boards (bench/energy.py). */
static const struct orch_interval OF_BOARD = {.low = 0.4, .mid = 0.75, .high = 1};
static const struct orch_interval OF_LIMIT = {.low = 0.8, .mid = 0.95, .high = 1};

static struct orch_interval drawn_w(double board, double limit)
{
    return (struct orch_interval){.low = MIN(limit * OF_LIMIT.low, board * OF_BOARD.low),
                                  .mid = MIN(limit * OF_LIMIT.mid, board * OF_BOARD.mid),
                                  .high = MIN(limit * OF_LIMIT.high, board * OF_BOARD.high)};
}

/* The end of the product's 90 % interval: the errors of the two factors are independent. */
static double end(double middle, double of_a, double of_b)
{
    return middle * exp(copysign(hypot(log(of_a), log(of_b)), log(of_a)));
}

static struct orch_interval product(struct orch_interval a, struct orch_interval b)
{
    double mid = a.mid * b.mid;
    return (struct orch_interval){.low = end(mid, b.low / b.mid, a.low / a.mid),
                                  .mid = mid,
                                  .high = end(mid, b.high / b.mid, a.high / a.mid)};
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
    const struct orch_interval watts = drawn_w(board, limit > 0 ? limit : board);
    const struct orch_interval all = times(watts, (double)a->workers);
    struct orch_step_energy out = {.watts = watts,
                                   .step_j = product(a->step.total_s, all),
                                   .kwh = times(product(a->total_s, all), 1 / 3.6e6)};
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
    g_string_append_printf(text, ". Assumed power of each board: %.0f W (%.0f to %.0f)",
                           e->watts.mid, e->watts.low, e->watts.high);
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
    add(object, "board_power", "w", e->watts);
    add(object, "step_energy", "j", e->step_j);
    add(object, "energy", "kwh", e->kwh);
    add(object, "energy_cost", "usd", e->usd);
    add(object, "co2", "kg", e->co2_kg);
}
