/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch cost`: the measured device-hours and their cost, and a recipe's allowance. */
#include "core/cli/cli.h"
#include "core/cli/forecast_show.h"
#include "core/cli/recipe_plan.h"
#include "core/plan/plan.h"
#include "core/plan/plan_forecast.h"
#include "core/results/selection.h"
#include "features/cost/allowance_left.h"
#include "features/cost/device_prices.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* ---- what the missing trials will cost ----------------------------------------------------------
 */

struct orch_plan_outlook {
    struct orch_allowances_left allowances;
    unsigned known, unknown; /* trials to run, with and without a forecast */
    double device_s;     /* device seconds of the known ones, by the medians of their forecasts */
    double usd_per_hour; /* of the device; NaN: unknown */
    char *device;        /* the GPU asked for, else this machine's GPU or processor */
};

/* Forecasts a trial: on this machine as `orch plan` does, for another GPU from the declared cost
 * only. False when nothing is known. */
static bool forecast_one(const struct orch_forecaster *f, const struct orch_plan_item *item,
                         const char *gpu, double *out_p50_s)
{
    struct orch_forecast o;
    bool known = gpu ? f->elsewhere(f->ctx, item, gpu, &o) : f->forecast(f->ctx, item, &o);
    *out_p50_s = known ? o.time_s.mid : 0;
    return known;
}

static void add_up(struct orch_plan *plan, const char *gpu, struct orch_plan_outlook *out)
{
    struct orch_forecaster forecaster = orch_forecaster_open(plan);
    for (unsigned i = 0; i < plan->count; i++) {
        double p50_s;
        const struct orch_plan_item *item = &plan->items[i];
        if (!orch_plan_will_run(item))
            continue;
        if (forecast_one(&forecaster, item, gpu, &p50_s)) {
            out->known++;
            out->device_s += p50_s * orch_plan_item_charged(item);
        } else {
            out->unknown++;
        }
    }
    orch_forecaster_close(&forecaster);
}

/* Forecasts the trials that the plan would run: on this machine, or on `gpu` from their declared
 * costs alone. The workspace's store may be closed; then nothing of the allowance is used up. False
 * when the store cannot be read. Clear with plan_outlook_clear in both cases. */
static bool plan_outlook_read(struct orch_plan *plan, const char *gpu,
                              struct orch_device_prices *prices, struct orch_plan_outlook *out,
                              GError **error)
{
    const struct orch_machine *machine = orch_workspace_machine(plan->workspace);
    bool here_gpu = machine->gpus->len && orch_plan_uses_gpus(plan);
    const struct orch_gpu_device *first = here_gpu ? machine->gpus->pdata[0] : NULL;
    *out = (struct orch_plan_outlook){.device = g_strdup(gpu     ? gpu
                                                         : first ? first->model
                                                                 : machine->cpu_model)};
    out->usd_per_hour = orch_device_prices_find(prices, out->device, !gpu && !first, NULL, NULL);
    add_up(plan, gpu, out);
    return orch_allowances_left_read(plan->workspace->store, plan->expansion, prices,
                                     &out->allowances, error);
}

static void plan_outlook_clear(struct orch_plan_outlook *outlook)
{
    g_free(outlook->device);
    *outlook = (struct orch_plan_outlook){0};
}

/* ---- the command --------------------------------------------------------------------------------
 */

struct cost_options {
    const char *by, *since, *where, *gpu, *profile;
    const char **prices;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct cost_options, by, TEXT, "by", .letter = 'b', .value = "NAMES",
                .help = "by who,gpu (default), or recipe, experiment, machine, week, month (UTC)"),
    ORCH_OPTION(struct cost_options, since, TEXT, "since", .value = "DATE",
                .help = "only runs that ended since DATE (2026-11-01, or 7d for a week ago)"),
    ORCH_OPTION(struct cost_options, where, TEXT, "where", .letter = 'w', .value = "FILTER",
                .help = "only runs that match ('orch help filters')"),
    ORCH_OPTION(struct cost_options, prices, LIST, "price", .value = "GPU=USD",
                .help = "price of an hour of one device: V100=0.50, cpu=0.05"),
    ORCH_OPTION(struct cost_options, gpu, TEXT, "gpu", .value = "GPU",
                .help = "estimate the remaining trials' cost on this GPU (default: this machine)"),
    ORCH_OPTION(struct cost_options, profile, TEXT, "profile", .letter = 'p', .value = "NAME",
                .help = "estimate for this profile instead of the recipe's default"),
    {0}};

/* ---- options -----------------------------------------------------------------------------------
 */

static bool read_axes(const char *text, enum orch_ledger_axis *axes, size_t *out_count,
                      GError **error)
{
    g_auto(GStrv) words = g_strsplit(text ? text : "who,gpu", ",", -1);
    bool seen[ORCH_LEDGER_AXES] = {false};
    *out_count = 0;
    for (int i = 0; words[i]; i++) {
        const char *names[ORCH_LEDGER_AXES + 1] = {NULL};
        int found = -1;
        for (int axis = 0; axis < ORCH_LEDGER_AXES; axis++) {
            names[axis] = orch_ledger_axis_name((enum orch_ledger_axis)axis);
            if (strcmp(g_strstrip(words[i]), names[axis]) == 0)
                found = axis;
        }
        if (found < 0 || seen[found]) {
            g_autofree char *hint = orch_suggest_hint(words[i], names);
            g_autofree char *all = g_strjoinv(", ", (char **)(uintptr_t)names);
            orch_error_set(error, ORCH_ERROR_USAGE, hint ? hint : all,
                           found < 0 ? "option '--by': cannot group by '%s'"
                                     : "option '--by': '%s' is given twice",
                           words[i]);
            return false;
        }
        seen[found] = true;
        axes[(*out_count)++] = (enum orch_ledger_axis)found;
    }
    return true;
}

/* ---- the ledger --------------------------------------------------------------------------------
 */

struct cost_visit {
    struct orch_device_prices *prices;
    struct orch_ledger *ledger;
};

static bool add_run(void *ctx, const struct orch_run *run, GError **error)
{
    (void)error;
    struct cost_visit *t = ctx;
    struct orch_ledger_run one = orch_device_prices_run(t->prices, run);
    orch_ledger_add(t->ledger, &one);
    return true;
}

/* Returns JSON null when no price is known. */
static json_t *money_json(double usd, int64_t runs, int64_t unpriced)
{
    return runs && runs == unpriced ? json_null() : orch_json_finite(usd);
}

/* Appends the cost of some runs; `unpriced` of them have no price. */
static void orch_cli_add_money(struct orch_table *table, double usd, int64_t runs, int64_t unpriced)
{
    g_autofree char *money = orch_money_format(usd);
    g_autofree char *text = !runs              ? g_strdup("-")
                            : runs == unpriced ? g_strdup("unknown")
                            : unpriced         ? g_strdup_printf("%s + unknown", money)
                                               : g_strdup(money);
    orch_table_add(table, text, money_json(usd, runs, unpriced));
}

static void add_hours(struct orch_table *table, double seconds)
{
    g_autofree char *text = seconds > 0 ? orch_duration_format(seconds) : g_strdup("-");
    orch_table_add(table, text, orch_json_finite(seconds / 3600));
}

static double share_of(const struct orch_ledger_sum *sum, const struct orch_ledger_sum *total)
{
    bool by_money = !total->unpriced_runs && total->usd > 0;
    return by_money              ? sum->usd / total->usd
           : total->device_s > 0 ? sum->device_s / total->device_s
                                 : 0;
}

/* Adds the whole sum as JSON. */
static void add_sum(struct orch_table *table, const struct orch_ledger_sum *sum,
                    const struct orch_ledger_sum *total)
{
    orch_table_add_int(table, sum->runs);
    orch_table_add_int(table, sum->lost_runs);
    add_hours(table, sum->wall_s);
    add_hours(table, sum->device_s);
    add_hours(table, sum->lost_device_s);
    add_hours(table, sum->unpriced_device_s);
    orch_cli_add_money(table, sum->usd, sum->runs, sum->unpriced_runs);
    orch_cli_add_money(table, sum->lost_usd, sum->lost_runs, sum->lost_unpriced_runs);
    orch_table_add(table, "", orch_json_finite(share_of(sum, total)));
}

/* Columns worth printing: a column that is empty in all rows, or equal to another one, is left
 * out. */
struct row_columns {
    bool devices, unpriced, lost;
};

static struct row_columns row_columns_of(const struct orch_ledger_sum *total)
{
    return (struct row_columns){.devices = total->device_s != total->wall_s,
                                .unpriced =
                                    total->unpriced_runs &&
                                    total->unpriced_runs<total->runs, .lost = total->lost_runs> 0};
}

static void add_sum_cells(struct orch_table *table, const struct row_columns *columns,
                          const struct orch_ledger_sum *sum, const struct orch_ledger_sum *total)
{
    g_autofree char *percent = g_strdup_printf("%.0f %%", 100 * share_of(sum, total));
    orch_table_add_int(table, sum->runs);
    add_hours(table, sum->wall_s);
    if (columns->devices)
        add_hours(table, sum->device_s);
    if (columns->unpriced)
        add_hours(table, sum->unpriced_device_s);
    orch_cli_add_money(table, sum->usd, sum->runs, sum->unpriced_runs);
    if (columns->lost) {
        g_autofree char *time = orch_duration_format(sum->lost_device_s);
        g_autofree char *lost =
            sum->lost_runs ? g_strdup_printf("%s in %" G_GINT64_FORMAT, time, sum->lost_runs)
                           : g_strdup("-");
        orch_table_add(table, lost, NULL);
    }
    orch_table_add(table, percent, NULL);
}

static void add_labels(struct orch_table *table, const struct orch_ledger_row *row,
                       const enum orch_ledger_axis *axes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (axes[i] == ORCH_LEDGER_WHO)
            orch_table_add_who(table, row->labels[i]);
        else
            orch_table_add(table, row->labels[i], NULL);
}

static struct orch_table *new_table(const enum orch_ledger_axis *axes, size_t count,
                                    const char *const *sums)
{
    g_autoptr(GPtrArray) headers = g_ptr_array_new();
    for (size_t i = 0; i < count; i++)
        g_ptr_array_add(headers, (char *)(uintptr_t)orch_ledger_axis_name(axes[i]));
    for (size_t i = 0; sums[i]; i++)
        g_ptr_array_add(headers, (char *)(uintptr_t)sums[i]);
    g_ptr_array_add(headers, NULL);
    return orch_table_new((const char *const *)headers->pdata);
}

static json_t *rows_json(const struct orch_ledger *ledger, const enum orch_ledger_axis *axes,
                         size_t count)
{
    static const char *const sums[] = {
        "runs",           "lost runs", "hours",         "device hours", "lost hours",
        "unpriced hours", "cost usd",  "lost cost usd", "share",        NULL};
    struct orch_table *table = new_table(axes, count, sums);
    g_autoptr(GPtrArray) rows = orch_ledger_rows(ledger);
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_ledger_row *row = rows->pdata[i];
        add_labels(table, row, axes, count);
        add_sum(table, &row->sum, orch_ledger_total(ledger));
    }
    return orch_cli_table_to_json(table);
}

/* Makes the table for people, with a total. */
static struct orch_table *make_table(const struct orch_ledger *ledger,
                                     const enum orch_ledger_axis *axes, size_t count)
{
    const struct orch_ledger_sum *total = orch_ledger_total(ledger);
    const struct row_columns columns = row_columns_of(total);
    const char *sums[8];
    size_t n = 0;
    sums[n++] = ">runs";
    sums[n++] = ">time";
    if (columns.devices)
        sums[n++] = ">x devices";
    if (columns.unpriced)
        sums[n++] = ">without price";
    sums[n++] = ">cost";
    if (columns.lost)
        sums[n++] = ">lost in runs";
    sums[n++] = ">share";
    sums[n] = NULL;
    struct orch_table *table = new_table(axes, count, sums);
    g_autoptr(GPtrArray) rows = orch_ledger_rows(ledger);
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_ledger_row *row = rows->pdata[i];
        add_labels(table, row, axes, count);
        add_sum_cells(table, &columns, &row->sum, total);
    }
    for (size_t i = 0; i < count; i++)
        orch_table_add(table, i ? "" : "total", NULL);
    add_sum_cells(table, &columns, total, total);
    return table;
}

static json_t *sum_json(const struct orch_ledger_sum *sum)
{
    return json_pack("{s:I s:I s:o s:o s:o s:o s:o s:o}", "runs", (json_int_t)sum->runs,
                     "lost_runs", (json_int_t)sum->lost_runs, "hours",
                     orch_json_finite(sum->wall_s / 3600), "device_hours",
                     orch_json_finite(sum->device_s / 3600), "lost_hours",
                     orch_json_finite(sum->lost_device_s / 3600), "unpriced_hours",
                     orch_json_finite(sum->unpriced_device_s / 3600), "cost_usd",
                     money_json(sum->usd, sum->runs, sum->unpriced_runs), "lost_cost_usd",
                     money_json(sum->lost_usd, sum->lost_runs, sum->lost_unpriced_runs));
}

static json_t *texts_json(const GPtrArray *texts)
{
    json_t *list = json_array();
    for (guint i = 0; i < texts->len; i++)
        json_array_append_new(list, json_string(texts->pdata[i]));
    return list;
}

static void print_texts(struct orch_cli *cli, const char *what, const GPtrArray *texts)
{
    g_autoptr(GString) line = g_string_new(NULL);
    for (guint i = 0; i < texts->len; i++)
        g_string_append_printf(line, "%s%s", i ? "; " : "", (const char *)texts->pdata[i]);
    if (texts->len)
        orch_cli_info(cli, "%s: %s", what, line->str);
}

static void print_prices(struct orch_cli *cli, const struct orch_device_prices *prices)
{
    g_autoptr(GPtrArray) used = orch_device_prices_used(prices);
    g_autoptr(GPtrArray) unknown = orch_device_prices_unknown(prices);
    g_autoptr(GPtrArray) idle = orch_device_prices_idle(prices);
    print_texts(cli, "prices of an hour", used);
    print_texts(cli, "no price is known of", unknown);
    if (unknown->len)
        orch_cli_info(cli, "  hint: give it with --price GPU=USD (for processors: cpu=USD)");
    if (idle->len)
        print_texts(cli, "--price names devices that no run used", idle);
}

/* ---- a recipe's allowance and its plan ----------------------------------------------------------
 */

static bool look_ahead(struct orch_cli *cli, const struct orch_expansion *expansion,
                       const struct cost_options *o, struct orch_device_prices *prices,
                       struct orch_plan_outlook *out, GError **error)
{
    const struct orch_plan_options options = {0};
    struct orch_plan *plan = orch_cli_plan(cli, expansion, options, 0, error);
    bool ok = plan && plan_outlook_read(plan, o->gpu, prices, out, error);
    orch_plan_free(plan);
    return ok;
}

/* The allowance with the least left at the price of the plan's device; NULL when there is none. */
static const struct orch_allowance_left *tightest(const struct orch_plan_outlook *out)
{
    return orch_allowances_left_tightest(&out->allowances, out->usd_per_hour);
}

static void print_outlook(struct orch_cli *cli, const struct orch_plan_outlook *out)
{
    g_autoptr(GString) line = g_string_new(NULL);
    g_autofree char *time = orch_duration_format(out->device_s);
    double usd = out->device_s / 3600 * out->usd_per_hour;
    g_autofree char *money =
        isnan(usd) ? g_strdup("at a price that is not known") : orch_money_format(usd);
    for (unsigned i = 0; i < ORCH_ALLOWANCE_SCOPES; i++) {
        if (!out->allowances.each[i].allowance)
            continue;
        g_autofree char *text = orch_allowance_left_text(&out->allowances.each[i]);
        orch_cli_print("%s", text);
    }
    if (out->known)
        g_string_append_printf(
            line, "the remaining trials take about %s of device time on %s, %s (%u trial%s)", time,
            out->device, money, out->known, orch_plural(out->known));
    if (out->unknown)
        g_string_append_printf(line, "%s%u trial%s without a forecast on %s",
                               out->known ? "; " : "", out->unknown, orch_plural(out->unknown),
                               out->device);
    if (!out->known && !out->unknown)
        g_string_append(line, "no trials remain");
    if (out->device_s > orch_allowance_left_s(tightest(out), out->usd_per_hour))
        g_string_append_printf(line, ": more than the allowance for %s",
                               orch_allowance_scope_text(tightest(out)->scope));
    g_autofree char *plain = orch_text_plain(g_strdup(line->str));
    orch_cli_print("%s", plain);
    fflush(stdout);
    (void)cli;
}

static json_t *plan_json(const struct orch_plan_outlook *out)
{
    double usd = out->device_s / 3600 * out->usd_per_hour;
    double left_s = orch_allowance_left_s(tightest(out), out->usd_per_hour);
    return json_pack("{s:i s:i s:o s:o s:s s:b}", "trials", (int)out->known, "unknown",
                     (int)out->unknown, "device_hours", orch_json_finite(out->device_s / 3600),
                     "cost_usd", isnan(usd) || !out->known ? json_null() : orch_json_finite(usd),
                     "on", out->device, "beyond_allowance", out->device_s > left_s);
}

/* ---- the command -------------------------------------------------------------------------------
 */

static int print_all(struct orch_cli *cli, const struct cost_visit *t,
                     const enum orch_ledger_axis *axes, size_t count,
                     const struct orch_plan_outlook *outlook)
{
    if (cli->json) {
        g_autoptr(GPtrArray) used = orch_device_prices_used(t->prices);
        g_autoptr(GPtrArray) unknown = orch_device_prices_unknown(t->prices);
        orch_cli_print_json(json_pack(
            "{s:o s:o s:o s:o s:o s:o s:o}", "rows", rows_json(t->ledger, axes, count), "total",
            sum_json(orch_ledger_total(t->ledger)), "prices", texts_json(used), "without_price",
            texts_json(unknown), "allowance",
            outlook ? orch_allowance_left_json(tightest(outlook)) : json_null(), "allowances",
            outlook ? orch_allowances_left_json(&outlook->allowances) : json_array(), "plan",
            outlook ? plan_json(outlook) : json_null()));
        return ORCH_EXIT_OK;
    }
    orch_cli_table_print(cli, make_table(t->ledger, axes, count), "rows");
    fflush(stdout);
    if (outlook)
        print_outlook(cli, outlook);
    print_prices(cli, t->prices);
    return ORCH_EXIT_OK;
}

static int run_with(struct orch_cli *cli, const struct cost_options *o, struct cost_visit *t,
                    const enum orch_ledger_axis *axes, size_t count, GError **error)
{
    const struct orch_variant variant = {.profile = o->profile};
    struct orch_expansion *expansion =
        cli->arg_count ? orch_cli_recipe(cli, cli->args[0], &variant, error) : NULL;
    if (cli->arg_count && !expansion)
        return -1;
    struct orch_plan_outlook outlook = {0};
    bool is_new = expansion && !orch_workspace_has_store(cli->workspace); /* no run yet */
    struct orch_store *store = is_new ? NULL : orch_cli_store(cli, ORCH_STORE_READ, error);
    const struct orch_selection selection = {.where = o->where,
                                             .since = o->since,
                                             .recipe = expansion ? expansion->name : NULL,
                                             .without_imported = true,
                                             .with_hidden = true};
    bool ok = (is_new || (store && orch_selection_visit(&selection, store, add_run, t, error))) &&
              (!expansion || look_ahead(cli, expansion, o, t->prices, &outlook, error));
    int status = ok ? print_all(cli, t, axes, count, expansion ? &outlook : NULL) : -1;
    plan_outlook_clear(&outlook);
    orch_expansion_free(expansion);
    return status;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct cost_options *o = options;
    enum orch_ledger_axis axes[ORCH_LEDGER_AXES];
    size_t count = 0;
    if (!read_axes(o->by, axes, &count, error))
        return -1;
    if (o->gpu && !cli->arg_count) {
        orch_error_set(error, ORCH_ERROR_USAGE, "for example orch cost RECIPE --gpu V100",
                       "option '--gpu' needs a recipe");
        return -1;
    }
    struct cost_visit t = {.prices = orch_device_prices_new(o->prices, error)};
    if (!t.prices)
        return -1;
    t.ledger = orch_ledger_new(axes, count);
    int status = run_with(cli, o, &t, axes, count, error);
    orch_ledger_free(t.ledger);
    orch_device_prices_free(t.prices);
    return status;
}

const struct orch_command ORCH_COMMAND_COST = {
    .name = "cost",
    .group = "Share",
    .summary = "show what runs cost, and how much of a recipe's allowance is left",
    .usage = "[RECIPE]",
    .max_args = 1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct cost_options),
    .about =
        "The cost of a run is its hours x its GPUs (without a GPU: x 1) x the price per hour "
        "on that day. The price comes from --price, else from your hardware.yaml, else from 'orch "
        "gpu prices'. Hours without a known price are listed separately. Hours count as lost if "
        "their run ended in a state other than ok, diverged or pruned. Lost hours and removed runs "
        "are included, because they were paid for. With RECIPE, only its runs are summed, and "
        "the output shows the rest of its 'allowance:' and the cost of its remaining trials.",
    .examples = "  orch cost                              # who used what\n"
                "  orch cost --by week,who --since 2026-11-01\n"
                "  orch cost --by gpu --price 'V100=0.50' --price cpu=0.05\n"
                "  orch cost recipes/hw4.recipe --gpu T4  # what is left of its allowance",
    .run = run,
};
