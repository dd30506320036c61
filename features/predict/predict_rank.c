/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch predict --gpu all` or `--gpu V100,A100`: the ranking as a table, a chart and JSON. */
#include "core/render/draw.h"
#include "features/predict/gpu_ranking.h"
#include "features/predict/step_show.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* ---- as text ------------------------------------------------------------------------------------
 */

static const char *const HEADERS[] = {"gpu",    "precision",      ">images/s", ">epoch",
                                      ">total", ">90 % interval", ">cost",     "Pareto",
                                      "fits",   "tier",           "price",     NULL};

/* A network of sequences has a price of a million tokens besides. */
static struct orch_table *new_table(const struct orch_time_question *q)
{
    const char *headers[G_N_ELEMENTS(HEADERS) + 1] = {NULL};
    memcpy(headers, HEADERS, sizeof HEADERS);
    const char **last = &headers[G_N_ELEMENTS(HEADERS) - 2];
    if (orch_net_is_sequence(q->net)) {
        last[1] = last[0];
        last[0] = ">million tokens";
    }
    return orch_cli_rate_table_new(q, headers);
}

static void add_ranked(struct orch_table *table, const struct orch_time_question *q,
                       const struct orch_ranked_gpu *r)
{
    g_autofree char *rate = orch_number_format(r->a.step.images_per_s);
    g_autofree char *span = orch_cli_span_format(r->a.total_s);
    orch_table_add(table, r->c.gpu->name, NULL);
    orch_table_add(table, r->c.precision_name, NULL);
    orch_table_add(table, rate, orch_json_finite(r->a.step.images_per_s));
    orch_cli_add_duration(table, r->a.epoch_s);
    orch_cli_add_duration(table, r->a.total_s.mid);
    orch_table_add(table, span, NULL);
    orch_cli_add_money(table, r->a.usd.mid);
    orch_table_add(table, r->pareto ? "*" : "", json_boolean(r->pareto));
    orch_table_add(table, r->a.step.fits ? "yes" : "no", json_boolean(r->a.step.fits));
    orch_table_add(table, orch_tier_name(r->a.tier), NULL);
    if (orch_net_is_sequence(q->net))
        orch_cli_add_money(table, orch_step_answer_million_usd(&r->a));
    orch_table_add(table, r->c.rate.from ? r->c.rate.from : "-", NULL);
}

static void print_choice(const struct orch_time_question *q, const struct orch_gpu_ranking *ranking)
{
    const struct orch_ranked_gpu *best = ranking->best;
    if (!best) {
        g_autofree char *why = orch_gpu_ranking_why_empty(q, ranking);
        orch_cli_print("%s", why);
        return;
    }
    g_autofree char *usd = orch_money_format(best->a.usd.mid);
    g_autofree char *low = orch_money_format(best->a.usd.low),
                    *high = orch_money_format(best->a.usd.high);
    g_autofree char *time = orch_duration_format(orch_ranked_gpu_s(best));
    orch_cli_print("recommended: %s (%s). It takes %s and costs %s (90 %% interval %s to %s)",
                   best->c.gpu->name, best->c.rate.from, time, usd, low, high);
    if (!isnan(q->budget_usd) || !isnan(q->deadline_s)) {
        g_autofree char *late = orch_duration_format(best->a.total_s.high);
        orch_cli_print("limits: --budget and --deadline are compared with the median; 95 %% of "
                       "such trainings stay within %s and %s",
                       late, high);
    }
}

static int compare_times(gconstpointer a, gconstpointer b)
{
    double x = orch_ranked_gpu_s(*(const struct orch_ranked_gpu *const *)a);
    double y = orch_ranked_gpu_s(*(const struct orch_ranked_gpu *const *)b);
    return (x > y) - (x < y);
}

/* Draws time against cost: the Pareto set is connected by a line and labelled, the other GPUs are
 * points. */
static struct orch_chart *pareto_chart(const struct orch_time_question *q, GPtrArray *list)
{
    g_autofree char *title = g_strdup_printf("%s, batch %" G_GINT64_FORMAT ": time and cost by GPU",
                                             q->net->name, q->batches[0]);
    struct orch_chart *chart = orch_chart_new(ORCH_CHART_SCATTER, title, "time (h)", "cost (USD)");
    chart->log_x = chart->log_y = true;
    struct orch_chart_panel *panel = orch_chart_panel(chart, NULL);
    struct orch_chart_series *line =
        orch_chart_series(panel, "no GPU is both faster and cheaper", ORCH_SERIES_IDEAL);
    struct orch_chart_series *best = orch_chart_series(panel, "Pareto set", ORCH_SERIES_MEASURED);
    struct orch_chart_series *others = orch_chart_series(panel, "others", ORCH_SERIES_MEASURED);
    guint unpriced = 0;
    for (guint i = 0; i < list->len; i++) {
        const struct orch_ranked_gpu *r = list->pdata[i];
        if (!r->a.step.fits)
            continue;
        if (!(r->a.usd.mid > 0)) {
            unpriced++;
            continue;
        }
        double hours = orch_ranked_gpu_s(r) / 3600;
        if (r->pareto)
            orch_chart_add(line, hours, r->a.usd.mid);
        orch_chart_add(r->pareto ? best : others, hours, r->a.usd.mid)->label =
            r->pareto ? g_strdup(r->c.gpu->name) : NULL;
    }
    if (unpriced)
        chart->note =
            g_strdup_printf("not shown: %u GPU%s without a price", unpriced, orch_plural(unpriced));
    return chart;
}

static bool draw(const char *path, const struct orch_time_question *q, const GPtrArray *list,
                 GError **error)
{
    g_autoptr(GPtrArray) sorted = g_ptr_array_new();
    for (guint i = 0; i < list->len; i++)
        g_ptr_array_add(sorted, list->pdata[i]);
    g_ptr_array_sort(sorted, compare_times);
    struct orch_chart *chart = pareto_chart(q, sorted);
    bool ok = orch_chart_write(chart, path, error);
    orch_chart_free(chart);
    return ok;
}

static void print_unranked(struct orch_cli *cli, const GPtrArray *unranked)
{
    g_autoptr(GHashTable) printed = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < unranked->len; i++) {
        const struct orch_unranked *first = unranked->pdata[i];
        if (!g_hash_table_add(printed, first->why))
            continue;
        g_autoptr(GPtrArray) names = g_ptr_array_new();
        for (guint k = i; k < unranked->len; k++) {
            const struct orch_unranked *u = unranked->pdata[k];
            if (strcmp(u->why, first->why) == 0)
                g_ptr_array_add(names, (gpointer)(uintptr_t)u->gpu);
        }
        g_ptr_array_add(names, NULL);
        g_autofree char *list = g_strjoinv(", ", (char **)names->pdata);
        orch_cli_info(cli, "not ranked: %s: %s", list, first->why);
    }
}

static json_t *unranked_json(const GPtrArray *unranked)
{
    json_t *list = json_array();
    for (guint i = 0; i < unranked->len; i++) {
        const struct orch_unranked *u = unranked->pdata[i];
        json_array_append_new(list, json_pack("{s:s, s:s}", "gpu", u->gpu, "because", u->why));
    }
    return list;
}

/* The tier of all, or "mixed". */
static const char *tiers_name(const GPtrArray *list)
{
    enum orch_tier first = ORCH_TIER_NONE;
    for (guint i = 0; i < list->len; i++) {
        enum orch_tier tier = ((const struct orch_ranked_gpu *)list->pdata[i])->a.tier;
        if (i && tier != first)
            return "mixed";
        first = tier;
    }
    return orch_tier_name(first);
}

static void print_json(const struct orch_time_question *q, const struct orch_gpu_ranking *ranking)
{
    const GPtrArray *list = ranking->list;
    const struct orch_ranked_gpu *best = ranking->best;
    json_t *all = json_array();
    for (guint i = 0; i < list->len; i++) {
        const struct orch_ranked_gpu *r = list->pdata[i];
        json_t *one = orch_step_answer_json(&r->a);
        json_object_set_new(one, "pareto", json_boolean(r->pareto));
        json_object_set_new(one, "recommended", json_boolean(r == best));
        json_array_append_new(all, one);
    }
    json_t *out = orch_step_answers_json(q, tiers_name(list), all);
    json_object_set_new(out, "not_ranked", unranked_json(ranking->unranked));
    g_autofree char *why = best ? NULL : orch_gpu_ranking_why_empty(q, ranking);
    json_object_set_new(out, "nothing_because", why ? json_string(why) : json_null());
    orch_cli_print_json(out);
}

static void print_table(struct orch_cli *cli, const struct predict_options *o,
                        const struct orch_time_question *q, const struct orch_gpu_ranking *ranking)
{
    const GPtrArray *list = ranking->list;
    struct orch_table *table = new_table(q);
    for (guint i = 0; i < list->len; i++)
        add_ranked(table, q, list->pdata[i]);
    if (!list->len && !o->format) {
        json_decref(orch_cli_table_to_json(table));
        print_choice(q, ranking);
        orch_cli_time_assumptions_print(q);
        return;
    }
    orch_cli_table_print_as(cli, table, "predictions", o->format);
    if (o->format)
        return;
    printf("* no GPU that fits is both faster and cheaper. Tiers, most reliable first: measured, "
           "fitted, same-step, same-chip, same-network, transferred, prior ('orch help predict'). "
           "GPUs without a similar measurement come last, then those that it does not fit.\n");
    print_choice(q, ranking);
    orch_cli_time_assumptions_print(q);
    if (o->pareto)
        orch_cli_print("chart: %s", o->pareto);
}

/* Checks that the options describe one configuration, which a ranking requires. */
static bool has_one_setting(const struct predict_options *o, GError **error)
{
    bool many_workers = o->time.workers && strchr(o->time.workers, ',');
    bool many_batches = o->time.batches && strchr(o->time.batches, ',');
    if (many_workers || many_batches)
        orch_error_set(error, ORCH_ERROR_USAGE, "give a single number",
                       "option '--%s' needs a single number if several GPUs are ranked",
                       many_workers ? "workers" : "batch");
    else if (o->explain)
        orch_error_set(error, ORCH_ERROR_USAGE, "name a single GPU",
                       "option '--explain' needs a single GPU");
    else
        return true;
    return false;
}

int orch_cli_predict_rank(struct orch_cli *cli, const struct predict_options *o,
                          struct orch_time_question *q, GError **error)
{
    struct orch_step_tiers tiers = {0};
    if (!has_one_setting(o, error) || !orch_cli_predict_open_tiers(cli, q, &tiers, error))
        return -1;
    struct orch_gpu_ranking *ranking = orch_gpu_ranking_new(q, &tiers, error);
    bool ok = ranking && (!o->pareto || draw(o->pareto, q, ranking->list, error));
    if (ok) {
        orch_time_question_assume(q, "workers", "--workers", "%d", (int)q->workers[0]);
        if (q->workers[0] > 1)
            orch_time_question_assume(q, "link", "--network, --per-node", "%s",
                                      q->link ? q->link->name
                                              : "each GPU's usual, in a node and between nodes "
                                                "('orch gpu links')");
        orch_time_question_assume(q, "input pipeline", NULL, "not a bottleneck");
        print_unranked(cli, ranking->unranked);
        if (cli->json)
            print_json(q, ranking);
        else
            print_table(cli, o, q, ranking);
    }
    orch_gpu_ranking_free(ranking);
    orch_step_tiers_close(&tiers);
    return ok ? ORCH_EXIT_OK : -1;
}
