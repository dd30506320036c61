/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch predict --gpu all`: every GPU at every cloud's price, which of them nothing beats, and
 * which to take. */
#include "core/cli/predict_step.h"

#include "lib/base/error.h"

#include "core/report/draw.h"

#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

struct ranked {
    struct candidate c;
    struct answer a;
    bool pareto;
    bool owns_why;
};

/* A GPU that cannot be answered for, and why. */
struct unranked {
    const char *gpu;
    char *why;
};

static void free_unranked(gpointer data)
{
    struct unranked *u = data;
    g_free(u->why);
    g_free(u);
}

static void free_ranked(gpointer data)
{
    struct ranked *r = data;
    rate_release(&r->c.rate);
    if (r->owns_why)
        answer_clear(&r->a);
    g_free(r);
}

static double time_of(const struct ranked *r)
{
    return isnan(r->a.total_s) ? r->a.step.total_s : r->a.total_s;
}

static gint by_time(gconstpointer a, gconstpointer b)
{
    const struct ranked *p = *(const struct ranked *const *)a,
                        *o = *(const struct ranked *const *)b;
    double x = time_of(p), y = time_of(o);
    if (x < y || x > y)
        return x < y ? -1 : 1;
    return p->a.usd < o->a.usd ? -1 : p->a.usd > o->a.usd;
}

/* Nothing that fits and has a price is both faster and cheaper. The list is sorted by time. */
static void mark_pareto(GPtrArray *list)
{
    double cheapest = INFINITY;
    for (guint i = 0; i < list->len; i++) {
        struct ranked *r = list->pdata[i];
        r->pareto = r->a.step.fits && pareto_step(r->a.usd, &cheapest);
    }
}

/* The same GPU at the price of every cloud that has one: which to take is a question of both. */
static void add_clouds(struct question *q, const struct ranked *first, GPtrArray *list)
{
    for (size_t k = 0; PRICED_CLOUDS[k] && isnan(q->price) && !q->o->cloud; k++) {
        struct rate rate = question_rate_of(q, first->c.gpu->name, PRICED_CLOUDS[k]);
        if (rate.usd_per_hour <= 0 || !strcmp(rate.from, first->c.rate.from)) {
            rate_release(&rate);
            continue;
        }
        struct ranked *r = g_new0(struct ranked, 1);
        *r = *first;
        r->owns_why = false;
        double ratio = rate.usd_per_hour / first->c.rate.usd_per_hour;
        r->c.rate = rate;
        r->a.usd *= ratio;
        r->a.low_usd *= ratio;
        r->a.high_usd *= ratio;
        g_ptr_array_add(list, r);
    }
}

/* By the first line of the error, without the GPU's name. NULL: a board. */
static void note_unranked(GPtrArray *unranked, const struct orch_gpu_spec *gpu, const GError *error)
{
    struct unranked *u = g_new0(struct unranked, 1);
    const char *what = error ? error->message : "two GPUs: one of them is ranked, see --workers 2";
    u->gpu = gpu->name;
    if (g_str_has_prefix(what, gpu->name))
        what += strlen(gpu->name) + 1;
    u->why = g_strndup(what, strcspn(what, "\n"));
    g_ptr_array_add(unranked, u);
}

static bool ask_all(struct question *q, struct tiers *tiers, GPtrArray *list, GPtrArray *unranked,
                    GError **error)
{
    for (guint i = 0; i < q->hardware->gpus->len; i++) {
        const struct orch_gpu_spec *gpu = q->hardware->gpus->pdata[i];
        struct ranked *r = g_new0(struct ranked, 1);
        g_autoptr(GError) unable = NULL;
        r->owns_why = true;
        /* a board is two devices: two workers say what it does */
        bool can = gpu->unit != ORCH_GPU_BOARD && candidate_choose(q, gpu, &r->c, &unable);
        if (can && !candidate_ask(q, tiers, &r->c, q->workers[0], q->batches[0], &r->a, error)) {
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

/* ---- printing ----------------------------------------------------------------------------------
 */

static const char *const HEADERS[] = {"gpu",    "precision",   ">images/s", ">epoch",
                                      ">total", ">90 % of it", ">cost",     "Pareto",
                                      "fits",   "tier",        "price",     NULL};

static void add_ranked(struct orch_table *table, const struct ranked *r)
{
    g_autofree char *rate = orch_number_format(r->a.step.images_per_s);
    g_autofree char *span = span_format(r->a.low_s, r->a.high_s);
    orch_table_add(table, r->c.gpu->name, NULL);
    orch_table_add(table, orch_precision_names()[r->c.precision], NULL);
    orch_table_add(table, rate, orch_json_finite(r->a.step.images_per_s));
    add_duration(table, r->a.epoch_s);
    add_duration(table, r->a.total_s);
    orch_table_add(table, span, NULL);
    add_money(table, r->a.usd);
    orch_table_add(table, r->pareto ? "*" : "", json_boolean(r->pareto));
    orch_table_add(table, r->a.step.fits ? "yes" : "no", json_boolean(r->a.step.fits));
    orch_table_add(table, r->a.tier, NULL);
    orch_table_add(table, r->c.rate.from ? r->c.rate.from : "-", NULL);
}

/* What to take: within a deadline the cheapest, within a budget the fastest, else the cheapest of
 * all. NULL: nothing fits and has a price. */
static const struct ranked *choose(const struct question *q, const GPtrArray *list)
{
    const struct ranked *best = NULL;
    bool by_money = isnan(q->budget_usd) || !isnan(q->deadline_s);
    for (guint i = 0; i < list->len; i++) {
        const struct ranked *r = list->pdata[i];
        if (!r->a.step.fits || isnan(r->a.usd) || !answer_keeps_limits(q, &r->a))
            continue;
        if (!best || (by_money ? r->a.usd < best->a.usd : time_of(r) < time_of(best)))
            best = r;
    }
    return best;
}

/* Why there is nothing to take, and what to type. */
static const char *why_nothing(const struct question *q, const GPtrArray *all)
{
    bool fits = false, has_price = false;
    for (guint i = 0; i < all->len; i++) {
        const struct ranked *r = all->pdata[i];
        fits |= r->a.step.fits;
        has_price |= r->a.step.fits && r->c.rate.usd_per_hour > 0;
    }
    if (!fits)
        return "the batch fits the memory of no GPU: take a smaller --batch";
    if (!q->images)
        return "no cost is known without a data set: add --dataset NAME, or the number of training "
               "images";
    if (!has_price)
        return "no price is known there: leave --cloud and --spot away, or add --price";
    return "no GPU keeps to the limits: raise --budget or --deadline";
}

static void say_choice(const struct question *q, const struct ranked *best, const GPtrArray *all)
{
    if (!best) {
        printf("%s\n", why_nothing(q, all));
        return;
    }
    g_autofree char *usd = money_format(best->a.usd);
    g_autofree char *low = money_format(best->a.low_usd), *high = money_format(best->a.high_usd);
    g_autofree char *time = orch_duration_format(time_of(best));
    printf("take %s (%s): %s, %s (%s to %s)\n", best->c.gpu->name, best->c.rate.from, time, usd,
           low, high);
}

static int compare_times(gconstpointer a, gconstpointer b)
{
    double x = time_of(*(const struct ranked *const *)a);
    double y = time_of(*(const struct ranked *const *)b);
    return (x > y) - (x < y);
}

/* Time against cost: the Pareto set joined by a line and labelled, the others as they are. */
static struct orch_chart *pareto_chart(const struct question *q, GPtrArray *list)
{
    g_autofree char *title = g_strdup_printf("%s, batch %" G_GINT64_FORMAT ": time and cost by GPU",
                                             q->net->name, q->batches[0]);
    struct orch_chart *chart = orch_chart_new(ORCH_CHART_SCATTER, title, "time (h)", "cost (USD)");
    chart->log_x = chart->log_y = true;
    struct orch_chart_panel *panel = orch_chart_panel(chart, NULL);
    struct orch_chart_series *line =
        orch_chart_series(panel, "nothing is both faster and cheaper", ORCH_SERIES_IDEAL);
    struct orch_chart_series *best = orch_chart_series(panel, "Pareto set", ORCH_SERIES_MEASURED);
    struct orch_chart_series *others = orch_chart_series(panel, "others", ORCH_SERIES_MEASURED);
    guint unpriced = 0;
    for (guint i = 0; i < list->len; i++) {
        const struct ranked *r = list->pdata[i];
        if (!r->a.step.fits)
            continue;
        if (!(r->a.usd > 0)) {
            unpriced++;
            continue;
        }
        double hours = time_of(r) / 3600;
        if (r->pareto)
            orch_chart_add(line, hours, r->a.usd);
        orch_chart_add(r->pareto ? best : others, hours, r->a.usd)->label =
            r->pareto ? g_strdup(r->c.gpu->name) : NULL;
    }
    if (unpriced)
        chart->note = g_strdup_printf("%u GPU%s without a price not shown", unpriced,
                                      unpriced == 1 ? "" : "s");
    return chart;
}

static bool draw(const struct question *q, const GPtrArray *list, GError **error)
{
    g_autoptr(GPtrArray) sorted = g_ptr_array_new();
    for (guint i = 0; i < list->len; i++)
        g_ptr_array_add(sorted, list->pdata[i]);
    g_ptr_array_sort(sorted, compare_times);
    struct orch_chart *chart = pareto_chart(q, sorted);
    bool ok = orch_chart_write(chart, q->o->pareto, error);
    orch_chart_free(chart);
    return ok;
}

/* Those that keep to --budget and --deadline. Borrows its elements. */
static GPtrArray *within_limits(const struct question *q, const GPtrArray *all)
{
    GPtrArray *list = g_ptr_array_new();
    for (guint i = 0; i < all->len; i++)
        if (answer_keeps_limits(q, &((const struct ranked *)all->pdata[i])->a))
            g_ptr_array_add(list, all->pdata[i]);
    return list;
}

static void say_unranked(struct orch_cli *cli, const GPtrArray *unranked)
{
    g_autoptr(GHashTable) said = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < unranked->len; i++) {
        const struct unranked *first = unranked->pdata[i];
        if (!g_hash_table_add(said, first->why))
            continue;
        g_autoptr(GPtrArray) names = g_ptr_array_new();
        for (guint k = i; k < unranked->len; k++) {
            const struct unranked *u = unranked->pdata[k];
            if (strcmp(u->why, first->why) == 0)
                g_ptr_array_add(names, (gpointer)(uintptr_t)u->gpu);
        }
        g_ptr_array_add(names, NULL);
        g_autofree char *list = g_strjoinv(", ", (char **)names->pdata);
        orch_cli_say(cli, "not ranked: %s: %s", list, first->why);
    }
}

static json_t *unranked_json(const GPtrArray *unranked)
{
    json_t *list = json_array();
    for (guint i = 0; i < unranked->len; i++) {
        const struct unranked *u = unranked->pdata[i];
        json_array_append_new(list, json_pack("{s:s, s:s}", "gpu", u->gpu, "because", u->why));
    }
    return list;
}

static void print_json(struct question *q, const GPtrArray *list, const struct ranked *best,
                       const GPtrArray *unranked, const GPtrArray *asked)
{
    json_t *all = json_array();
    for (guint i = 0; i < list->len; i++) {
        const struct ranked *r = list->pdata[i];
        json_t *one = answer_json(q, &r->c, &r->a);
        json_object_set_new(one, "pareto", json_boolean(r->pareto));
        json_object_set_new(one, "recommended", json_boolean(r == best));
        json_array_append_new(all, one);
    }
    bool one_tier = list->len > 0;
    const char *tier = list->len ? ((const struct ranked *)list->pdata[0])->a.tier : "none";
    for (guint i = 0; i < list->len; i++)
        one_tier &= strcmp(((const struct ranked *)list->pdata[i])->a.tier, tier) == 0;
    json_t *out = answers_json(q, one_tier ? tier : "mixed", all);
    json_object_set_new(out, "not_ranked", unranked_json(unranked));
    json_object_set_new(out, "nothing_because",
                        best ? json_null() : json_string(why_nothing(q, asked)));
    orch_cli_print_json(out);
}

static void print_table(struct orch_cli *cli, struct question *q, const GPtrArray *list,
                        const struct ranked *best, const GPtrArray *all)
{
    struct orch_table *table = orch_table_new(HEADERS);
    for (guint i = 0; i < list->len; i++)
        add_ranked(table, list->pdata[i]);
    if (!q->o->format)
        question_say_assumptions(q);
    orch_table_print_as(cli, table, "predictions", q->o->format);
    if (q->o->format)
        return;
    printf("* nothing that fits is both faster and cheaper. Tiers: transferred, from public "
           "measurements of other GPUs; prior, by specification; measured and fitted, from the "
           "store's runs and data sets.\n");
    say_choice(q, best, all);
    if (q->o->pareto)
        printf("chart: %s\n", q->o->pareto);
}

/* A ranking is of one configuration. */
static bool asks_one(const struct question *q, GError **error)
{
    const struct predict_options *o = q->o;
    bool many_workers = o->workers && strchr(o->workers, ',');
    bool many_batches = o->batches && strchr(o->batches, ',');
    if (many_workers || many_batches)
        orch_error_set(error, ORCH_ERROR_USAGE, "one number at a time",
                       "option '--%s': --gpu all ranks a single configuration",
                       many_workers ? "workers" : "batch");
    else if (o->explain)
        orch_error_set(error, ORCH_ERROR_USAGE, "--explain with the GPU in question",
                       "option '--explain' does nothing with --gpu all");
    else
        return true;
    return false;
}

int predict_rank(struct orch_cli *cli, struct question *q, GError **error)
{
    enum orch_precision ignored;
    struct tiers tiers = {0};
    if (!asks_one(q, error) ||
        !question_precision(q, q->hardware->gpus->pdata[0], &ignored, error) ||
        !tiers_open(cli, q, q->o->calibrate, &tiers, error))
        return -1;
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(free_ranked);
    g_autoptr(GPtrArray) unranked = g_ptr_array_new_with_free_func(free_unranked);
    bool ok = ask_all(q, &tiers, all, unranked, error);
    g_ptr_array_sort(all, by_time);
    g_autoptr(GPtrArray) list = within_limits(q, all);
    if (ok) {
        mark_pareto(list);
        ok = !q->o->pareto || draw(q, list, error);
    }
    if (ok) {
        const struct ranked *best = choose(q, list);
        question_assume(q, "workers", "--workers", "%d", (int)q->workers[0]);
        question_assume(q, "data", NULL, "read and prepared as fast as they are used");
        say_unranked(cli, unranked);
        if (cli->json)
            print_json(q, list, best, unranked, all);
        else
            print_table(cli, q, list, best, all);
    }
    tiers_close(&tiers);
    return ok ? ORCH_EXIT_OK : -1;
}
