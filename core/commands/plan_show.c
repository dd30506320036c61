/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/commands/plan_show.h"

#include "core/cli/forecast_show.h"
#include "core/feature/feature.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>

/* Rows of a plan that are shown; the rest is only counted. */
#define PLAN_ROWS 60

/* Returns the forecast of a trial that will run; NULL when it will not run or nothing is known. */
static const struct orch_forecast *ask(const struct orch_forecaster *forecaster,
                                       const struct orch_plan_item *item, struct orch_forecast *out)
{
    bool may_run = orch_plan_will_run(item) || item->state == ORCH_PLAN_HELD;
    return may_run && forecaster->forecast(forecaster->ctx, item, out) ? out : NULL;
}

/* The words for enum orch_recipe_reuse in recipes, in its order. */
static const char *const REUSE_WORDS[] = {"device", "any", "never"};

/* How many trials from position `from` on are of one search that chooses their values later, and so
 * look the same; 1 for any other trial. */
static unsigned count_alike(const struct orch_plan *plan, unsigned from)
{
    const struct orch_plan_item *first = &plan->items[plan->order[from]];
    g_autofree char *label = orch_cell_label(first->cell);
    unsigned count = 1;
    while (orch_cell_is_open(first->cell) && from + count < plan->count) {
        const struct orch_plan_item *item = &plan->items[plan->order[from + count]];
        g_autofree char *other = orch_cell_label(item->cell);
        if (!orch_cell_is_open(item->cell) || item->state != first->state ||
            g_strcmp0(item->reason, first->reason) != 0 || strcmp(label, other) != 0)
            break;
        count++;
    }
    return count;
}

/* `alike`: trials for which the row stands. */
static void add_plan_row(struct orch_table *table, const struct orch_plan_item *item,
                         unsigned alike, const struct orch_forecaster *forecaster)
{
    struct orch_forecast forecast;
    const struct orch_experiment *experiment = item->cell->experiment;
    g_autofree char *label = orch_cell_label(item->cell);
    const char *state = orch_plan_state_name(item->state);
    orch_table_add(table, label, NULL);
    orch_table_add(table, state, NULL);
    g_autofree char *reason =
        alike > 1 ? g_strdup_printf("%u trials, each with values chosen when it starts", alike)
                  : g_strdup(item->reason);
    orch_table_add(table, reason, NULL);
    orch_table_add(table, item->run_key ? orch_run_short_key(item->run_key) : "-",
                   orch_json_text_or_null(item->run_key));
    orch_table_add(table, REUSE_WORDS[experiment->reuse], NULL);
    orch_cli_forecast_add_cell(table, ask(forecaster, item, &forecast),
                               orch_plan_item_charged(item));
}

/* Returns the parameters, with "(secret)" in place of secret values. */
static json_t *shown_params(const struct orch_cell *cell)
{
    json_t *params = json_copy(cell->params);
    const struct orch_manifest *manifest = cell->experiment->manifest;
    for (guint i = 0; i < manifest->params->len; i++) {
        const struct orch_param_spec *spec = manifest->params->pdata[i];
        if (orch_param_is_secret(spec) && json_object_get(params, spec->name))
            json_object_set_new(params, spec->name, json_string("(secret)"));
    }
    return params;
}

json_t *orch_cli_plan_json(const struct orch_plan *plan, const struct orch_forecaster *forecaster,
                           const struct orch_rate *price)
{
    json_t *rows = json_array();
    struct orch_forecast forecast;
    for (unsigned i = 0; i < plan->count; i++) {
        const struct orch_plan_item *item = &plan->items[plan->order[i]];
        const struct orch_experiment *experiment = item->cell->experiment;
        if (item->state == ORCH_PLAN_UNUSED)
            continue;
        g_autofree char *label = orch_cell_label(item->cell);
        json_array_append_new(
            rows,
            json_pack("{s:s s:s s:o s:i s:s s:s s:s? s:s? s:s? s:s s:s s:s s:s s:o}", "trial",
                      label, "experiment", experiment->name, "params", shown_params(item->cell),
                      "repeat", item->cell->repeat, "state", orch_plan_state_name(item->state),
                      "reason", item->reason ? item->reason : "", "lacks",
                      orch_plan_lack_name(item->lack), "run", item->run_key, "fingerprint",
                      item->fingerprint[0] ? item->fingerprint : NULL, "device_key",
                      item->device_key, "reuse", REUSE_WORDS[experiment->reuse], "reuse_why",
                      experiment->reuse_why ? experiment->reuse_why : "", "plugin",
                      experiment->manifest->name, "forecast",
                      orch_cli_forecast_json(ask(forecaster, item, &forecast),
                                             orch_plan_item_charged(item), price)));
    }
    return rows;
}

/* Returns whether none of the experiment's trials is planned because it was not named. */
static bool is_unnamed(const struct orch_expansion *expansion,
                       const struct orch_experiment *experiment)
{
    for (guint i = 0; experiment->only_when_named && i < expansion->cells->len; i++)
        if (((const struct orch_cell *)expansion->cells->pdata[i])->experiment == experiment)
            return false;
    return experiment->only_when_named;
}

static const char *left_out_reason(const struct orch_experiment *experiment)
{
    if (!experiment->skipped)
        return "runs only when it is named (only_when_named)";
    return experiment->skip_reason ? experiment->skip_reason : "no reason given";
}

/* Returns what is left out, by the profile, because a plugin is not trusted, or because it must be
 * named, as {experiment: reason}. When there are targets, the recipe's reader warns of those among
 * them. */
static json_t *left_out(struct orch_cli *cli, const struct orch_expansion *expansion)
{
    json_t *reasons = json_object();
    for (guint i = 0; cli->arg_count == 1 && i < expansion->experiments->len; i++) {
        const struct orch_experiment *experiment = expansion->experiments->pdata[i];
        if (experiment->skipped || is_unnamed(expansion, experiment))
            json_object_set_new(reasons, experiment->name,
                                json_string(left_out_reason(experiment)));
    }
    return reasons;
}

void orch_cli_plan_print_left_out(struct orch_cli *cli, const struct orch_expansion *expansion)
{
    for (guint i = 0; cli->arg_count == 1 && i < expansion->experiments->len; i++) {
        const struct orch_experiment *experiment = expansion->experiments->pdata[i];
        const char *reason = left_out_reason(experiment);
        if (experiment->is_unavailable)
            orch_cli_info(cli, "  %s: left out: %s%s%s", experiment->name, reason,
                          experiment->skip_hint ? "\n    hint: " : "",
                          experiment->skip_hint ? experiment->skip_hint : "");
        else if (experiment->skipped)
            orch_cli_info(cli, "  %s: skipped by profile '%s': %s", experiment->name,
                          expansion->profile, reason);
        else if (is_unnamed(expansion, experiment))
            orch_cli_info(cli, "  %s: left out: %s", experiment->name, reason);
    }
}

void orch_cli_plan_print_counts(struct orch_cli *cli, const struct orch_plan *plan)
{
    GString *line = g_string_new(NULL);
    unsigned total = 0;
    for (int state = ORCH_PLAN_DONE; state < ORCH_PLAN_UNUSED; state++) {
        unsigned count = orch_plan_count(plan, (enum orch_plan_state)state);
        total += count;
        if (count)
            g_string_append_printf(line, "%s%u %s", line->len ? ", " : "", count,
                                   orch_plan_state_name((enum orch_plan_state)state));
    }
    const struct orch_expansion *expansion = plan->expansion;
    orch_cli_info(cli, "%s%s%s: %u trial%s: %s", expansion->name,
                  expansion->profile ? ", profile " : "",
                  expansion->profile ? expansion->profile : "", total, orch_plural(total),
                  line->len ? line->str : "none");
    g_string_free(line, TRUE);
    orch_cli_plan_print_left_out(cli, expansion);
}

static void print_plan_table(struct orch_cli *cli, const struct orch_plan *plan, bool all,
                             const struct orch_forecaster *forecaster)
{
    static const char *const headers[] = {"trial", "state",    "reason", "run",
                                          "reuse", "forecast", NULL};
    struct orch_table *table = orch_table_new(headers);
    orch_table_set_heading(table, 5, NULL, "forecast (90 % interval)");
    unsigned shown = 0, total = 0;
    for (unsigned i = 0; i < plan->count; i++) {
        const struct orch_plan_item *item = &plan->items[plan->order[i]];
        if (item->state == ORCH_PLAN_UNUSED)
            continue;
        unsigned alike = all || cli->format ? 1 : count_alike(plan, i);
        total += alike;
        if (shown < PLAN_ROWS || all || !cli->stdout_is_tty) {
            add_plan_row(table, item, alike, forecaster);
            shown += alike;
        }
        i += alike - 1;
    }
    orch_cli_table_print(cli, table, "trials");
    if (shown < total)
        printf("... and %u more (--all shows them)\n", total - shown);
    fflush(stdout);
    orch_cli_plan_print_counts(cli, plan);
}

void orch_cli_plan_show(struct orch_cli *cli, const struct orch_plan *plan, bool all,
                        const struct orch_forecaster *forecaster, const struct orch_rate *price,
                        unsigned left)
{
    const struct orch_expansion *expansion = plan->expansion;
    struct orch_forecast_total total;
    orch_forecast_total(plan, forecaster, &total);
    if (!cli->json) {
        print_plan_table(cli, plan, all, forecaster);
        if (!total.known && total.unknown)
            orch_cli_info(
                cli, "forecast: none, because nothing like these trials has been measured here. %s",
                orch_advice(ORCH_ADVICE_NO_FORECAST, "After the first runs there is a forecast"));
        orch_cli_forecast_print_total(cli, plan, &total, price);
        return;
    }
    orch_cli_print_json(json_pack("{s:s s:s? s:s s:o s:o s:i s:o}", "recipe", expansion->name,
                                  "profile", expansion->profile, "recipe_key", expansion->key,
                                  "trials", orch_cli_plan_json(plan, forecaster, price), "left_out",
                                  left_out(cli, expansion), "left", (int)left, "forecast",
                                  orch_cli_forecast_total_json(plan, &total, price)));
}

void orch_cli_plan_print_why_nothing(struct orch_cli *cli, const struct orch_plan *plan)
{
    for (guint i = 0; i < plan->expansion->experiments->len; i++) {
        const struct orch_experiment *experiment = plan->expansion->experiments->pdata[i];
        unsigned done = 0, pruned = 0, skipped = 0;
        const char *reason = NULL, *skip = NULL;
        for (unsigned j = 0; j < plan->count; j++) {
            const struct orch_plan_item *item = &plan->items[j];
            if (item->cell->experiment != experiment)
                continue;
            if (item->state == ORCH_PLAN_DONE) {
                done++;
                reason = item->reason;
            } else if (item->state == ORCH_PLAN_PRUNED) {
                pruned++;
            } else if (item->state == ORCH_PLAN_SKIPPED) {
                skipped++;
                skip = item->reason;
            }
        }
        if (done)
            orch_cli_info(cli, "  %s: %u done; the last: %s", experiment->name, done, reason);
        if (pruned)
            orch_cli_info(cli, "  %s: %u pruned; --continue-pruned runs %s to %s end",
                          experiment->name, pruned, pruned == 1 ? "it" : "them",
                          pruned == 1 ? "its" : "their");
        if (skipped)
            orch_cli_info(cli, "  %s: %u skipped: %s", experiment->name, skipped, skip);
    }
}

void orch_cli_plan_print_changes(struct orch_cli *cli, const struct orch_plan *plan)
{
    enum { REASONS_SHOWN = 3 };
    g_autoptr(GHashTable) counts = g_hash_table_new(g_str_hash, g_str_equal);
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->items[i].state == ORCH_PLAN_STALE) {
            guint count = GPOINTER_TO_UINT(g_hash_table_lookup(counts, plan->items[i].reason));
            g_hash_table_insert(counts, plan->items[i].reason, GUINT_TO_POINTER(count + 1));
        }
    unsigned shown = 0, reasons = g_hash_table_size(counts);
    for (unsigned i = 0; i < plan->count && shown < REASONS_SHOWN; i++) {
        const struct orch_plan_item *item = &plan->items[plan->order[i]];
        guint count = item->state == ORCH_PLAN_STALE
                          ? GPOINTER_TO_UINT(g_hash_table_lookup(counts, item->reason))
                          : 0;
        if (!count)
            continue;
        orch_cli_info(cli, "  stale: %s (%u trial%s)", item->reason, count, orch_plural(count));
        g_hash_table_insert(counts, item->reason, NULL);
        shown++;
    }
    if (reasons > shown)
        orch_cli_info(cli, "  %u more reasons for stale trials: see 'orch plan'", reasons - shown);
}
