/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch predict --gpu all`. */
#include "core/render/draw.h"
#include "features/predict/step_answer.h"
#include "features/predict/step_show.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* ---- the ranking --------------------------------------------------------------------------------
 */

struct orch_ranked_gpu {
    struct orch_candidate c;
    struct orch_step_answer a;
    bool pareto;
    bool owns_why;
};

/** A GPU without an estimate, and the reason. */
struct orch_unranked {
    const char *gpu;
    char *why;
};

struct orch_gpu_ranking {
    GPtrArray *all;      /* struct orch_ranked_gpu *, sorted by time and cost */
    GPtrArray *list;     /* those within budget and deadline; borrowed from `all` */
    GPtrArray *unranked; /* struct orch_unranked * */
    /* the recommendation; NULL: no GPU with a known price is within the limits */
    const struct orch_ranked_gpu *best;
};

static void free_unranked(gpointer data)
{
    struct orch_unranked *u = data;
    g_free(u->why);
    g_free(u);
}

static void free_ranked(gpointer data)
{
    struct orch_ranked_gpu *r = data;
    orch_rate_release(&r->c.rate);
    if (r->owns_why)
        orch_step_answer_clear(&r->a);
    g_free(r);
}

/* Seconds of the whole training, or of one step when the number of images is unknown. */
static double ranked_s(const struct orch_ranked_gpu *r)
{
    return isnan(r->a.total_s.mid) ? r->a.step.total_s.mid : r->a.total_s.mid;
}

static gint by_time(gconstpointer a, gconstpointer b)
{
    const struct orch_ranked_gpu *p = *(const struct orch_ranked_gpu *const *)a,
                                 *o = *(const struct orch_ranked_gpu *const *)b;
    double x = ranked_s(p), y = ranked_s(o);
    if (x < y || x > y)
        return x < y ? -1 : 1;
    return p->a.usd.mid < o->a.usd.mid ? -1 : p->a.usd.mid > o->a.usd.mid;
}

/* Marks the Pareto front: entries for which no priced entry within the limits is both faster and
 * cheaper. The list is sorted by time. */
static void mark_pareto(GPtrArray *list)
{
    double cheapest = INFINITY;
    for (guint i = 0; i < list->len; i++) {
        struct orch_ranked_gpu *r = list->pdata[i];
        r->pareto = r->a.step.fits && orch_pareto_step(r->a.usd.mid, &cheapest);
    }
}

/* Adds the same GPU at each other cloud's price, because the recommendation depends on GPU and
 * cloud. */
static void add_clouds(struct orch_time_question *q, const struct orch_ranked_gpu *first,
                       GPtrArray *list)
{
    for (size_t k = 0; ORCH_PRICED_CLOUDS[k] && isnan(q->price) && !q->cloud; k++) {
        struct orch_rate rate =
            orch_time_question_rate_of(q, first->c.gpu->name, ORCH_PRICED_CLOUDS[k]);
        if (rate.usd_per_hour <= 0 || !strcmp(rate.from, first->c.rate.from)) {
            orch_rate_release(&rate);
            continue;
        }
        struct orch_ranked_gpu *r = g_new0(struct orch_ranked_gpu, 1);
        *r = *first;
        r->owns_why = false;
        double ratio = rate.usd_per_hour / first->c.rate.usd_per_hour;
        r->c.rate = rate;
        r->a.usd.mid *= ratio;
        r->a.usd.low *= ratio;
        r->a.usd.high *= ratio;
        g_ptr_array_add(list, r);
    }
}

/* Records the first line of the error, without the GPU's name. `error` NULL: the GPU is a dual-GPU
 * board. */
static void note_unranked(GPtrArray *unranked, const struct orch_gpu_spec *gpu, const GError *error)
{
    struct orch_unranked *u = g_new0(struct orch_unranked, 1);
    const char *what = error ? error->message : "two GPUs: one of them is ranked, see --workers 2";
    u->gpu = gpu->name;
    if (g_str_has_prefix(what, gpu->name))
        what += strlen(gpu->name) + 1;
    u->why = g_strndup(what, strcspn(what, "\n"));
    g_ptr_array_add(unranked, u);
}

static bool rank_all(struct orch_time_question *q, struct orch_step_tiers *tiers, GPtrArray *list,
                     GPtrArray *unranked, GError **error)
{
    for (guint i = 0; i < q->hardware->gpus->len; i++) {
        const struct orch_gpu_spec *gpu = q->hardware->gpus->pdata[i];
        struct orch_ranked_gpu *r = g_new0(struct orch_ranked_gpu, 1);
        g_autoptr(GError) unable = NULL;
        r->owns_why = true;
        /* a dual-GPU board is two devices: ask for two workers instead */
        bool can =
            gpu->unit != ORCH_GPU_BOARD && orch_candidate_choose(q, tiers, gpu, &r->c, &unable);
        if (can &&
            !orch_candidate_estimate(q, tiers, &r->c, q->workers[0], q->batches[0], &r->a, error)) {
            free_ranked(r);
            return false;
        }
        if (!can) {
            note_unranked(unranked, gpu, unable);
            free_ranked(r);
            continue;
        }
        g_ptr_array_add(list, r);
        if (r->c.rate.usd_per_hour > 0)
            add_clouds(q, r, list);
    }
    return true;
}

/* ---- what to take ------------------------------------------------------------------------------
 */

/* Selects the entries within --budget and --deadline. The elements are borrowed. */
static void take_within_limits(const struct orch_time_question *q, const GPtrArray *all,
                               GPtrArray *list)
{
    for (guint i = 0; i < all->len; i++)
        if (orch_step_answer_keeps_limits(q, &((const struct orch_ranked_gpu *)all->pdata[i])->a))
            g_ptr_array_add(list, all->pdata[i]);
}

/* The recommendation: with a deadline the cheapest, with a budget the fastest, else the cheapest of
 * all. NULL when no entry with a known price is within the limits. */
static const struct orch_ranked_gpu *choose(const struct orch_time_question *q,
                                            const GPtrArray *list)
{
    const struct orch_ranked_gpu *best = NULL;
    bool by_money = isnan(q->budget_usd) || !isnan(q->deadline_s);
    for (guint i = 0; i < list->len; i++) {
        const struct orch_ranked_gpu *r = list->pdata[i];
        if (!r->a.step.fits || isnan(r->a.usd.mid) || !orch_step_answer_keeps_limits(q, &r->a))
            continue;
        if (!best || (by_money ? r->a.usd.mid < best->a.usd.mid : ranked_s(r) < ranked_s(best)))
            best = r;
    }
    return best;
}

/* Names the limits that were set and, for each, the GPU that comes closest to it. The caller frees.
 */
static char *raise_limits(const struct orch_time_question *q, const GPtrArray *all)
{
    const struct orch_ranked_gpu *cheapest = NULL, *fastest = NULL;
    for (guint i = 0; i < all->len; i++) {
        const struct orch_ranked_gpu *r = all->pdata[i];
        if (!r->a.step.fits || isnan(r->a.usd.mid))
            continue;
        cheapest = !cheapest || r->a.usd.mid < cheapest->a.usd.mid ? r : cheapest;
        fastest = !fastest || ranked_s(r) < ranked_s(fastest) ? r : fastest;
    }
    const bool has_budget = !isnan(q->budget_usd), has_deadline = !isnan(q->deadline_s);
    GString *text = g_string_new("no GPU keeps to the limits: raise ");
    g_string_append_printf(text, "%s%s%s (", has_budget ? "--budget" : "",
                           has_budget && has_deadline ? " or " : "",
                           has_deadline ? "--deadline" : "");
    if (has_budget) {
        g_autofree char *usd = orch_money_format(cheapest->a.usd.mid);
        g_string_append_printf(text, "the cheapest, %s, costs %s", cheapest->c.gpu->name, usd);
    }
    if (has_deadline) {
        g_autofree char *time = orch_duration_format(ranked_s(fastest));
        g_string_append_printf(text, "%sthe fastest, %s, takes %s", has_budget ? "; " : "",
                               fastest->c.gpu->name, time);
    }
    return g_string_free(g_string_append_c(text, ')'), FALSE);
}

/* Explains why there is no recommendation and what the user can do. The caller frees. */
static char *gpu_ranking_why_empty(const struct orch_time_question *q,
                                   const struct orch_gpu_ranking *ranking)
{
    const GPtrArray *all = ranking->all;
    bool fits = false, has_price = false;
    for (guint i = 0; i < all->len; i++) {
        const struct orch_ranked_gpu *r = all->pdata[i];
        fits |= r->a.step.fits;
        has_price |= r->a.step.fits && !isnan(r->a.usd.mid);
    }
    if (!fits)
        return g_strdup("the batch fits the memory of no GPU: take a smaller --batch");
    if (!q->images)
        return g_strdup("no cost is known without a data set: add --dataset NAME, or the number of "
                        "training images");
    if (!has_price)
        return g_strdup("no price is known there: leave --cloud and --spot away, or add --price");
    return raise_limits(q, all);
}

static void gpu_ranking_free(struct orch_gpu_ranking *ranking)
{
    if (!ranking)
        return;
    g_ptr_array_unref(ranking->list);
    g_ptr_array_unref(ranking->all);
    g_ptr_array_unref(ranking->unranked);
    g_free(ranking);
}

/* Ranks all GPUs for the question's first number of workers and first batch size. NULL on error.
 * The caller frees. */
static struct orch_gpu_ranking *gpu_ranking_new(struct orch_time_question *q,
                                                struct orch_step_tiers *tiers, GError **error)
{
    struct orch_gpu_ranking *ranking = g_new0(struct orch_gpu_ranking, 1);
    ranking->all = g_ptr_array_new_with_free_func(free_ranked);
    ranking->unranked = g_ptr_array_new_with_free_func(free_unranked);
    ranking->list = g_ptr_array_new();
    if (!rank_all(q, tiers, ranking->all, ranking->unranked, error)) {
        gpu_ranking_free(ranking);
        return NULL;
    }
    g_ptr_array_sort(ranking->all, by_time);
    take_within_limits(q, ranking->all, ranking->list);
    mark_pareto(ranking->list);
    ranking->best = choose(q, ranking->list);
    return ranking;
}

/* ---- as text ------------------------------------------------------------------------------------
 */

static const char *const HEADERS[] = {"gpu",    "precision",      ">images/s", ">epoch",
                                      ">total", ">90 % interval", ">cost",     "Pareto",
                                      "fits",   "tier",           "price",     NULL};

static void add_ranked(struct orch_table *table, const struct orch_ranked_gpu *r)
{
    g_autofree char *rate = orch_number_format(r->a.step.images_per_s);
    g_autofree char *span = orch_cli_span_format(r->a.total_s);
    orch_table_add(table, r->c.gpu->name, NULL);
    orch_table_add(table, orch_precision_names()[r->c.precision], NULL);
    orch_table_add(table, rate, orch_json_finite(r->a.step.images_per_s));
    orch_cli_add_duration(table, r->a.epoch_s);
    orch_cli_add_duration(table, r->a.total_s.mid);
    orch_table_add(table, span, NULL);
    orch_cli_add_money(table, r->a.usd.mid);
    orch_table_add(table, r->pareto ? "*" : "", json_boolean(r->pareto));
    orch_table_add(table, r->a.step.fits ? "yes" : "no", json_boolean(r->a.step.fits));
    orch_table_add(table, r->a.tier, NULL);
    orch_table_add(table, r->c.rate.from ? r->c.rate.from : "-", NULL);
}

static void print_choice(const struct orch_time_question *q, const struct orch_gpu_ranking *ranking)
{
    const struct orch_ranked_gpu *best = ranking->best;
    if (!best) {
        g_autofree char *why = gpu_ranking_why_empty(q, ranking);
        orch_cli_print("%s", why);
        return;
    }
    g_autofree char *usd = orch_money_format(best->a.usd.mid);
    g_autofree char *low = orch_money_format(best->a.usd.low),
                    *high = orch_money_format(best->a.usd.high);
    g_autofree char *time = orch_duration_format(ranked_s(best));
    orch_cli_print("recommended: %s (%s): %s, %s (%s to %s)", best->c.gpu->name, best->c.rate.from,
                   time, usd, low, high);
    if (!isnan(q->budget_usd) || !isnan(q->deadline_s)) {
        g_autofree char *late = orch_duration_format(best->a.total_s.high);
        orch_cli_print(
            "limits: compared with the median; 95 %% of such trainings stay within %s and %s", late,
            high);
    }
}

static int compare_times(gconstpointer a, gconstpointer b)
{
    double x = ranked_s(*(const struct orch_ranked_gpu *const *)a);
    double y = ranked_s(*(const struct orch_ranked_gpu *const *)b);
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
        double hours = ranked_s(r) / 3600;
        if (r->pareto)
            orch_chart_add(line, hours, r->a.usd.mid);
        orch_chart_add(r->pareto ? best : others, hours, r->a.usd.mid)->label =
            r->pareto ? g_strdup(r->c.gpu->name) : NULL;
    }
    if (unpriced)
        chart->note =
            g_strdup_printf("%u GPU%s without a price not shown", unpriced, orch_plural(unpriced));
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

static void print_json(const struct orch_time_question *q, const struct orch_gpu_ranking *ranking)
{
    const GPtrArray *list = ranking->list;
    const struct orch_ranked_gpu *best = ranking->best;
    json_t *all = json_array();
    for (guint i = 0; i < list->len; i++) {
        const struct orch_ranked_gpu *r = list->pdata[i];
        json_t *one = orch_step_answer_json(q, &r->c, &r->a);
        json_object_set_new(one, "pareto", json_boolean(r->pareto));
        json_object_set_new(one, "recommended", json_boolean(r == best));
        json_array_append_new(all, one);
    }
    bool one_tier = list->len > 0;
    const char *tier =
        list->len ? ((const struct orch_ranked_gpu *)list->pdata[0])->a.tier : "none";
    for (guint i = 0; i < list->len; i++)
        one_tier &= strcmp(((const struct orch_ranked_gpu *)list->pdata[i])->a.tier, tier) == 0;
    json_t *out = orch_step_answers_json(q, one_tier ? tier : "mixed", all);
    json_object_set_new(out, "not_ranked", unranked_json(ranking->unranked));
    g_autofree char *why = best ? NULL : gpu_ranking_why_empty(q, ranking);
    json_object_set_new(out, "nothing_because", why ? json_string(why) : json_null());
    orch_cli_print_json(out);
}

static void print_table(struct orch_cli *cli, const struct predict_options *o,
                        const struct orch_time_question *q, const struct orch_gpu_ranking *ranking)
{
    const GPtrArray *list = ranking->list;
    struct orch_table *table = orch_cli_rate_table_new(q, HEADERS);
    for (guint i = 0; i < list->len; i++)
        add_ranked(table, list->pdata[i]);
    if (!o->format)
        orch_cli_time_assumptions_print(q);
    if (!list->len && !o->format) {
        json_decref(orch_cli_table_to_json(table));
        print_choice(q, ranking);
        return;
    }
    orch_cli_table_print_as(cli, table, "predictions", o->format);
    if (o->format)
        return;
    printf(
        "* no GPU that fits is both faster and cheaper. Tiers: transferred, from public "
        "measurements of other GPUs; prior, from the specification; measured and fitted, from the "
        "store's runs and data sets.\n");
    print_choice(q, ranking);
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
                       "option '--%s': --gpu all ranks GPUs for a single configuration",
                       many_workers ? "workers" : "batch");
    else if (o->explain)
        orch_error_set(error, ORCH_ERROR_USAGE, "use --explain with a single GPU",
                       "option '--explain' does nothing with --gpu all");
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
    struct orch_gpu_ranking *ranking = gpu_ranking_new(q, &tiers, error);
    bool ok = ranking && (!o->pareto || draw(o->pareto, q, ranking->list, error));
    if (ok) {
        orch_time_question_assume(q, "workers", "--workers", "%d", (int)q->workers[0]);
        orch_time_question_assume(q, "input pipeline", NULL, "not a bottleneck");
        print_unranked(cli, ranking->unranked);
        if (cli->json)
            print_json(q, ranking);
        else
            print_table(cli, o, q, ranking);
    }
    gpu_ranking_free(ranking);
    orch_step_tiers_close(&tiers);
    return ok ? ORCH_EXIT_OK : -1;
}
