/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/cost/allowance_left.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "store/read/bulk.h"
#include "store/write/forecast.h"
#include "store/write/trial_record.h"

#include <math.h>

/* ---- runs and trials in progress ---------------------------------------------------------------
 */

struct summing {
    struct orch_device_prices *prices;
    struct orch_allowances_left *out;
};

/* Whether an allowance counts what this person runs. */
static bool counts(const struct orch_allowance_left *left, const char *who)
{
    return left->allowance &&
           (left->scope == ORCH_ALLOWANCE_GROUP || orch_who_is_same(who, orch_user_name()));
}

static bool add_run(void *ctx, const struct orch_run *run, GError **error)
{
    (void)error;
    struct summing *s = ctx;
    struct orch_ledger_run one = orch_device_prices_run(s->prices, run);
    for (unsigned i = 0; i < ORCH_ALLOWANCE_SCOPES; i++)
        if (counts(&s->out->each[i], run->who))
            orch_ledger_sum_add(&s->out->each[i].used, &one);
    return true;
}

/* The seconds that a trial in progress takes by its forecast. One that runs here takes at least the
 * time since it started; a job of a cluster may still be waiting. */
static double expected_s(struct orch_store *store, const struct orch_active_row *row)
{
    struct orch_forecast_row forecast;
    bool known = orch_store_forecast_of(store, row->key, &forecast, NULL);
    double own_s = known ? forecast.time_s.mid : 0;
    double since_s = (double)(orch_now_ns() - row->started_ns) / 1e9;
    return orch_process_is_alive(&row->runner) ? MAX(own_s, since_s) : own_s;
}

static void add_trial(struct summing *s, struct orch_store *store,
                      const struct orch_active_row *row, const char *recipe)
{
    g_autoptr(json_t) trial = json_loads(row->record ? row->record : "{}", 0, NULL);
    struct orch_record record = {0};
    orch_record_from_trial(trial, &record);
    if (g_strcmp0(record.recipe, recipe) != 0)
        return;
    const struct orch_run run = {.who = (char *)(uintptr_t)record.who,
                                 .recipe = (char *)(uintptr_t)recipe,
                                 .device_key = row->device_key,
                                 .state = (char *)(uintptr_t) "ok",
                                 .ended_ns = orch_now_ns(),
                                 .wall_ms = 1e3 * expected_s(store, row)};
    struct orch_ledger_run one = orch_device_prices_run(s->prices, &run);
    for (unsigned i = 0; i < ORCH_ALLOWANCE_SCOPES; i++)
        if (counts(&s->out->each[i], record.who))
            orch_ledger_sum_add(&s->out->each[i].reserved, &one);
}

static bool add_trials(struct summing *s, struct orch_store *store, const char *recipe,
                       GError **error)
{
    g_autoptr(GPtrArray) rows = orch_store_actives(store, error);
    for (guint i = 0; rows && i < rows->len; i++)
        add_trial(s, store, rows->pdata[i], recipe);
    return rows != NULL;
}

static void subtract(struct orch_allowance_left *left)
{
    const struct orch_allowance *a = left->allowance;
    left->left_usd = left->left_s = (double)NAN;
    if (a && a->has_usd)
        left->left_usd = a->usd - left->used.usd - left->reserved.usd;
    if (a && a->has_hours)
        left->left_s = a->hours * 3600 - left->used.device_s - left->reserved.device_s;
}

bool orch_allowances_left_read(struct orch_store *store, const struct orch_expansion *expansion,
                               struct orch_device_prices *prices, struct orch_allowances_left *out,
                               GError **error)
{
    struct summing summing = {prices, out};
    const struct orch_run_query query = {.recipe = expansion->name, .with_hidden = true};
    *out = (struct orch_allowances_left){0};
    for (unsigned i = 0; i < ORCH_ALLOWANCE_SCOPES; i++) {
        const enum orch_allowance_scope scope = (enum orch_allowance_scope)i;
        out->each[i].scope = scope;
        out->each[i].allowance = orch_allowance_of(expansion, scope);
    }
    if (orch_expansion_has_allowance(expansion) && store &&
        !(orch_store_visit_full_runs(store, &query, add_run, &summing, error) &&
          add_trials(&summing, store, expansion->name, error)))
        return false;
    for (unsigned i = 0; i < ORCH_ALLOWANCE_SCOPES; i++)
        subtract(&out->each[i]);
    return true;
}

const struct orch_allowance_left *
orch_allowances_left_tightest(const struct orch_allowances_left *all, double usd_per_hour)
{
    const struct orch_allowance_left *tightest = NULL;
    for (unsigned i = 0; i < ORCH_ALLOWANCE_SCOPES; i++) {
        const struct orch_allowance_left *one = &all->each[i];
        if (one->allowance && (!tightest || orch_allowance_left_s(one, usd_per_hour) <
                                                orch_allowance_left_s(tightest, usd_per_hour)))
            tightest = one;
    }
    return tightest;
}

const char *orch_allowance_scope_text(enum orch_allowance_scope scope)
{
    static const char *const texts[ORCH_ALLOWANCE_SCOPES] = {
        [ORCH_ALLOWANCE_GROUP] = "the group",
        [ORCH_ALLOWANCE_PERSON] = "each person",
    };
    return texts[scope];
}

double orch_allowance_left_s(const struct orch_allowance_left *allowance, double usd_per_hour)
{
    double left_s = INFINITY;
    if (allowance && allowance->allowance && allowance->allowance->has_hours)
        left_s = MAX(0.0, allowance->left_s);
    if (allowance && allowance->allowance && allowance->allowance->has_usd && usd_per_hour > 0)
        left_s = MIN(left_s, MAX(0.0, allowance->left_usd) / usd_per_hour * 3600);
    return left_s;
}

/* "$4.10", "1 h 2 min", or both; negative amounts have a minus sign. */
static char *amounts(const struct orch_allowance *a, double usd, double s)
{
    GString *text = g_string_new(NULL);
    if (a->has_usd) {
        g_autofree char *money = orch_money_format(fabs(usd));
        g_string_append_printf(text, "%s%s", usd < 0 ? "-" : "", money);
    }
    if (a->has_hours) {
        g_autofree char *time = orch_duration_format(fabs(s));
        g_string_append_printf(text, "%s%s%s of device time", a->has_usd ? ", " : "",
                               s < 0 ? "-" : "", time);
    }
    return g_string_free(text, FALSE);
}

char *orch_allowance_left_text(const struct orch_allowance_left *allowance)
{
    const struct orch_allowance *a = allowance->allowance;
    const struct orch_ledger_sum *used = &allowance->used;
    g_autofree char *all = amounts(a, a->usd, a->hours * 3600);
    g_autofree char *spent = amounts(a, used->usd, used->device_s);
    g_autofree char *left = amounts(a, allowance->left_usd, allowance->left_s);
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "allowance %s for %s: used %s, left %s", all,
                           orch_allowance_scope_text(allowance->scope), spent, left);
    if (allowance->reserved.runs) {
        g_autofree char *reserved =
            amounts(a, allowance->reserved.usd, allowance->reserved.device_s);
        g_string_append_printf(text, ", after %s for %" G_GINT64_FORMAT " trial%s in progress",
                               reserved, allowance->reserved.runs,
                               orch_plural(allowance->reserved.runs));
    }
    if (a->has_usd && used->unpriced_runs) {
        g_autofree char *time = orch_duration_format(used->unpriced_device_s);
        g_string_append_printf(text, " (without %s of device time whose price is not known)", time);
    }
    return g_string_free(text, FALSE);
}

json_t *orch_allowance_left_json(const struct orch_allowance_left *allowance)
{
    const struct orch_allowance *a = allowance ? allowance->allowance : NULL;
    if (!a)
        return json_null();
    return json_pack("{s:o s:o s:s s:o s:o s:o s:o s:o s:o s:o s:I}", "usd",
                     a->has_usd ? orch_json_finite(a->usd) : json_null(), "hours",
                     a->has_hours ? orch_json_finite(a->hours) : json_null(), "per",
                     allowance->scope == ORCH_ALLOWANCE_PERSON ? "person" : "group", "used_usd",
                     orch_json_finite(allowance->used.usd), "used_h",
                     orch_json_finite(allowance->used.device_s / 3600), "unpriced_h",
                     orch_json_finite(allowance->used.unpriced_device_s / 3600), "left_usd",
                     a->has_usd ? orch_json_finite(allowance->left_usd) : json_null(), "left_h",
                     a->has_hours ? orch_json_finite(allowance->left_s / 3600) : json_null(),
                     "reserved_usd", orch_json_finite(allowance->reserved.usd), "reserved_h",
                     orch_json_finite(allowance->reserved.device_s / 3600), "running",
                     (json_int_t)allowance->reserved.runs);
}

json_t *orch_allowances_left_json(const struct orch_allowances_left *all)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < ORCH_ALLOWANCE_SCOPES; i++)
        if (all->each[i].allowance)
            json_array_append_new(list, orch_allowance_left_json(&all->each[i]));
    return list;
}
