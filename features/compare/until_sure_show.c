/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/compare/until_sure_show.h"

#include "core/record/argv_record.h"
#include "core/stats/numbers.h"
#include "features/compare/contrast.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>

static struct orch_stat stat_of(const GArray *values)
{
    return orch_stat_of((const double *)(const void *)values->data, values->len);
}

/* The difference and its interval, as a fraction of A where it is a ratio. */
static struct orch_interval change_of(const struct orch_sure *sure)
{
    const struct orch_interval *at = &sure->so_far.interval;
    if (!sure->is_ratio)
        return *at;
    return (struct orch_interval){.mid = expm1(at->mid),
                                  .low = isinf(at->low) ? at->low : expm1(at->low),
                                  .high = expm1(at->high)};
}

/* ---- words ----------------------------------------------------------------------------------- */

static double usd_of(const struct orch_sure *sure, double device_s)
{
    return sure->usd_per_hour > 0 ? device_s / 3600 * sure->usd_per_hour : (double)NAN;
}

/* "$0.40 (12 min)", or the time alone where the price of the device is not known. */
static char *cost_text(const struct orch_sure *sure, double device_s, double wall_s)
{
    g_autofree char *time = orch_duration_format(wall_s);
    double usd = usd_of(sure, device_s);
    if (isnan(usd))
        return g_steal_pointer(&time);
    g_autofree char *money = orch_money_format(usd);
    return g_strdup_printf("%s (%s)", money, time);
}

/* Whether the differences do not show how much they scatter. */
static bool has_few_values(const struct orch_sure *sure)
{
    return sure->so_far.distinct < MIN(sure->so_far.count, (size_t)ORCH_DISTINCT_LEAST);
}

/* "the difference was the same 8 times, so its noise is unknown" */
static char *few_values_text(const struct orch_sure *sure)
{
    if (sure->so_far.distinct == 1)
        return g_strdup_printf("the difference was the same %zu times, so its noise is unknown",
                               sure->so_far.count);
    return g_strdup_printf(
        "the %zu differences have %zu distinct values, too few to show their noise",
        sure->so_far.count, sure->so_far.distinct);
}

static char *failures_text(const struct orch_sure *sure)
{
    return orch_side_failures_text(&sure->failures, sure->a->len + sure->left_out);
}

/* What further runs would do. */
static char *outlook_text(const struct orch_sure *sure)
{
    if (sure->so_far.count < 3)
        return g_strdup_printf("at least %d pairs are needed", ORCH_ANYTIME_LEAST);
    if (sure->so_far.side)
        return g_strdup("most pairs differ in one direction, but their mean in the other");
    if (has_few_values(sure))
        return few_values_text(sure);
    if (sure->is_refused) {
        g_autofree char *failures = failures_text(sure);
        return g_strdup_printf(
            "the repeats that are left are alike, but those that failed may hide a difference (%s)",
            failures);
    }
    if (!sure->more)
        return g_strdup_printf("more than %d further pairs would be needed", ORCH_ANYTIME_AHEAD);
    double share = (double)sure->more / (double)sure->a->len;
    g_autofree char *cost = cost_text(sure, share * sure->device_s, share * sure->wall_s);
    return g_strdup_printf(
        "another %.0f runs, about %s, would give a verdict with a probability of %g %%",
        share * sure->runs, cost, 100 * ORCH_SURE_POWER);
}

/* "B is 9 % slower (2.1 to 18 %)". */
static char *change_text(const struct orch_sure *sure)
{
    const struct orch_contrast c = {.is_ratio = sure->is_ratio, .change = change_of(sure)};
    return orch_contrast_change_text(&c, sure->better, sure->unit);
}

static char *verdict_text(const struct orch_sure *sure, double least)
{
    g_autofree char *change = change_text(sure);
    const char *why = orch_sure_is_constant(sure)
                          ? ": the metric has no noise, as all differences are equal"
                          : "";
    if (sure->verdict == ORCH_ANYTIME_DIFFERENT)
        return g_strdup_printf("%s, sure%s", change, why);
    if (sure->verdict == ORCH_ANYTIME_ALIKE)
        return g_strdup_printf("no difference of %g %% or more, sure%s", 100 * least, why);
    return g_strdup_printf("%s, not sure yet", change);
}

char *orch_sure_text(const struct orch_sure *sure, double least)
{
    g_autofree char *verdict = verdict_text(sure, least), *outlook = outlook_text(sure),
                    *cost = cost_text(sure, sure->device_s, sure->wall_s);
    bool is_open = sure->verdict == ORCH_ANYTIME_OPEN;
    return g_strdup_printf("%zu pair%s, %u runs, %s: %s%s%s", sure->so_far.count,
                           orch_plural((int64_t)sure->so_far.count), sure->runs, cost, verdict,
                           is_open ? "; " : "", is_open ? outlook : "");
}

/* ---- the result ------------------------------------------------------------------------------ */

static void print_table(struct orch_cli *cli, const struct orch_sure *sure,
                        const struct orch_sure_request *request)
{
    static const char *const headers[] = {"metric",         ">A",      ">B", ">n", ">B / A",
                                          ">95 % interval", "verdict", NULL};
    struct orch_table *table = orch_table_new(headers);
    struct orch_interval change = change_of(sure);
    double shift = sure->is_ratio ? 1 : 0;
    bool is_bounded = isfinite(change.low) && isfinite(change.high);
    g_autofree char *name = sure->unit && *sure->unit
                                ? g_strdup_printf("%s (%s)", request->metric, sure->unit)
                                : g_strdup(request->metric);
    g_autofree char *a = orch_number_format(stat_of(sure->a).mean);
    g_autofree char *b = orch_number_format(stat_of(sure->b).mean);
    g_autofree char *count = g_strdup_printf("%zu pairs", sure->so_far.count);
    g_autofree char *mid =
        is_bounded ? orch_within_format(change.mid + shift, change.low + shift, change.high + shift)
                   : orch_number_format(change.mid + shift);
    g_autofree char *middle = sure->is_ratio ? g_strdup(mid) : g_strdup_printf("B - A = %s", mid);
    g_autofree char *interval =
        is_bounded ? orch_interval_format(change.low + shift, change.high + shift) : g_strdup("-");
    g_autofree char *verdict = verdict_text(sure, request->least);
    const char *const cells[] = {name, a, b, count, middle, interval, verdict};
    for (size_t i = 0; i < G_N_ELEMENTS(cells); i++)
        orch_table_add(table, cells[i], NULL);
    orch_cli_table_print(cli, table, "metrics");
    fflush(stdout);
}

static void print_why(struct orch_cli *cli, const struct orch_sure *sure)
{
    static const char *const why[] = {
        [ORCH_SURE_VERDICT] = NULL,
        [ORCH_SURE_RUNS_SPENT] = "stopped at --max-runs",
        [ORCH_SURE_BUDGET_SPENT] = "stopped by the budget",
        [ORCH_SURE_INTERRUPTED] = "stopped",
        [ORCH_SURE_TERMINATED] = "stopped",
    };
    if (!why[sure->stop])
        return;
    g_autofree char *outlook = sure->a->len ? outlook_text(sure) : g_strdup("nothing is known yet");
    orch_cli_info(cli, "%s: %s\n  hint: the same command%s continues with these runs",
                  why[sure->stop], outlook,
                  sure->stop == ORCH_SURE_RUNS_SPENT     ? " with a larger --max-runs"
                  : sure->stop == ORCH_SURE_BUDGET_SPENT ? " with a new budget"
                                                         : "");
}

static void print_method(struct orch_cli *cli, const struct orch_sure *sure,
                         const char *const names[2])
{
    for (int i = 0; i < 2; i++)
        orch_cli_info(cli, "%c: %s (%s)", 'A' + i, names[i], sure->what[i]);
    g_autofree char *cost = cost_text(sure, sure->device_s, sure->wall_s);
    orch_cli_info(cli, "%u run%s of %u pair%s are compared; %s", sure->runs,
                  orch_plural(sure->runs), sure->a->len, orch_plural(sure->a->len), cost);
    if (sure->reused)
        orch_cli_info(cli, "%u of the pairs were already in the store", sure->reused);
    if (sure->left_out) {
        g_autofree char *failures = failures_text(sure);
        orch_cli_info(cli, "%u repeat%s left out on both sides%s%s", sure->left_out,
                      orch_plural(sure->left_out), *failures ? ": " : "", failures);
    }
    orch_cli_info(
        cli, "interval and verdict are about the median of the pairs. You may read them after "
             "every pair: at most 5 %% of comparisons without a true difference ever report one");
    const char *notice = orch_anytime_notice_text(sure->so_far.notice);
    if (notice)
        orch_cli_warn(cli,
                      "the differences possibly come from more than one distribution: %s\n  hint: "
                      "run both sides on a quiet machine",
                      notice);
    print_why(cli, sure);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *reals_json(const GArray *values)
{
    json_t *out = json_array();
    for (guint i = 0; i < values->len; i++)
        json_array_append_new(out, orch_json_finite(g_array_index(values, double, i)));
    return out;
}

static json_t *side_json(const struct orch_sure *sure, int side, const char *name)
{
    const GArray *values = side ? sure->b : sure->a;
    return json_pack("{s:s s:s s:o s:o s:i s:i}", "name", name, "what", sure->what[side], "mean",
                     orch_json_finite(stat_of(values).mean), "values", reals_json(values), "failed",
                     (int)sure->failures.failed[side], "timed_out",
                     (int)sure->failures.timed_out[side]);
}

static void print_json(const struct orch_sure *sure, const struct orch_sure_request *request,
                       const char *const names[2])
{
    static const char *const stops[] = {"sure", "max-runs", "budget", "interrupted", "terminated"};
    static const char *const verdicts[] = {"unknown", "different", "same"};
    struct orch_interval change = change_of(sure);
    double shift = sure->is_ratio ? 1 : 0;
    double share = sure->a->len ? (double)sure->more / (double)sure->a->len : 0;
    g_autofree char *words = sure->a->len ? orch_sure_text(sure, request->least) : NULL;
    json_t *repeats = json_array();
    for (guint i = 0; i < sure->repeats->len; i++)
        json_array_append_new(repeats, json_integer(g_array_index(sure->repeats, int, i)));
    json_t *json = json_pack(
        "{s:s s:s? s:s s:s s:s s:o s:o s:I s:o s:i s:i s:i s:o s:o s:o s:o s:o s:o s:o s:o s:b "
        "s:s?}",
        "metric", request->metric, "unit", sure->unit, "better", sure->better, "verdict",
        verdicts[sure->verdict], "stopped", stops[sure->stop], "a", side_json(sure, 0, names[0]),
        "b", side_json(sure, 1, names[1]), "pairs", (json_int_t)sure->so_far.count, "repeats",
        repeats, "runs", (int)sure->runs, "pairs_reused", (int)sure->reused, "left_out",
        (int)sure->left_out, sure->is_ratio ? "ratio" : "difference",
        orch_json_finite(change.mid + shift), "low", orch_json_finite(change.low + shift), "high",
        orch_json_finite(change.high + shift), "e_value", orch_json_finite(exp(sure->so_far.log_e)),
        "least", orch_json_finite(request->least), "seconds", orch_json_finite(sure->wall_s),
        "cost_usd", orch_json_finite(usd_of(sure, sure->device_s)), "spent_usd",
        orch_json_finite(usd_of(sure, sure->spent_device_s)), "notice",
        orch_anytime_notice_text(sure->so_far.notice), "words", words);
    if (sure->more)
        json_object_set_new(json, "more",
                            json_pack("{s:I s:i s:o s:o s:o}", "pairs", (json_int_t)sure->more,
                                      "runs", (int)lround(share * sure->runs), "seconds",
                                      orch_json_finite(share * sure->wall_s), "cost_usd",
                                      orch_json_finite(usd_of(sure, share * sure->device_s)),
                                      "power", orch_json_finite(ORCH_SURE_POWER)));
    orch_cli_print_json(json);
}

void orch_cli_sure_show(struct orch_cli *cli, const struct orch_sure *sure,
                        const struct orch_sure_request *request, const char *const names[2])
{
    if (cli->json) {
        print_json(sure, request, names);
        return;
    }
    if (sure->a->len)
        print_table(cli, sure, request);
    print_method(cli, sure, names);
}

/* ---- while it runs --------------------------------------------------------------------------- */

static void on_message(void *ctx, const char *text)
{
    orch_cli_info(ctx, "%s", text);
}

static void on_warn(void *ctx, const char *text)
{
    orch_cli_warn(ctx, "%s", text);
}

static char *command_line(void *ctx, const struct orch_expansion *expansion)
{
    const struct orch_cli *cli = ctx;
    return orch_argv_record(cli->argv, cli->argc, expansion);
}

struct orch_compare_listener orch_cli_compare_listener(struct orch_cli *cli)
{
    return (struct orch_compare_listener){cli, on_message, on_warn, command_line};
}

int orch_cli_sure_status(enum orch_sure_stop stop)
{
    static const int status[] = {
        [ORCH_SURE_VERDICT] = ORCH_EXIT_OK,
        [ORCH_SURE_RUNS_SPENT] = ORCH_EXIT_OK,
        [ORCH_SURE_BUDGET_SPENT] = ORCH_EXIT_BUDGET,
        [ORCH_SURE_INTERRUPTED] = ORCH_EXIT_INTERRUPTED,
        [ORCH_SURE_TERMINATED] = ORCH_EXIT_TERMINATED,
    };
    return status[stop];
}
