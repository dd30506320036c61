/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/coverage_gpus.h"

#include "core/cli/predict_step.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* Equal questions: trials that declare the same cost. */
struct work {
    json_t *cost;
    unsigned gpus; /* that the trial asks for */
    unsigned trials;
};

/* The whole on one GPU model at one price. */
struct row {
    const char *gpu;              /* borrowed from the hardware */
    unsigned known;               /* trials */
    double low_s, time_s, high_s; /* one trial after the other */
    double device_low_s, device_s, device_high_s;
    const char *tier; /* "prior", "transferred", "mixed"; "none" */
    struct rate rate;
    bool pareto;
};

struct coverage_gpus {
    struct orch_hardware *hardware;
    GPtrArray *works; /* struct work * */
    GPtrArray *rows;  /* struct row * */
    unsigned trials;
    bool is_priced; /* --price */
};

static void free_work(gpointer data)
{
    struct work *work = data;
    json_decref(work->cost);
    g_free(work);
}

static void free_row(gpointer data)
{
    struct row *row = data;
    rate_release(&row->rate);
    g_free(row);
}

/* ---- the work ----------------------------------------------------------------------------------
 */

static GPtrArray *works_of(struct orch_forecasts *forecasts, const GPtrArray *items)
{
    GPtrArray *works = g_ptr_array_new_with_free_func(free_work);
    g_autoptr(GHashTable) by_text = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < items->len; i++) {
        const struct orch_plan_item *item = items->pdata[i];
        unsigned gpus = orch_experiment_gpus(item->cell->experiment);
        g_autoptr(json_t) cost = orch_forecasts_cost(forecasts, item);
        g_autofree char *canonical = cost ? orch_json_canonical(cost) : NULL;
        g_autofree char *text = canonical ? g_strdup_printf("%u %s", gpus, canonical) : NULL;
        struct work *work = text ? g_hash_table_lookup(by_text, text) : NULL;
        if (text && !work) {
            work = g_new0(struct work, 1);
            work->cost = json_incref(cost);
            work->gpus = gpus;
            g_hash_table_insert(by_text, g_steal_pointer(&text), work);
            g_ptr_array_add(works, work);
        }
        if (work)
            work->trials++;
    }
    return works;
}

/* Errors are shared (one white box), so that widths add up. */
static void add_work(struct row *row, const struct work *work, const struct orch_forecast *one)
{
    double n = work->trials, devices = MAX(1u, work->gpus);
    row->known += work->trials;
    row->low_s += n * one->p5_s;
    row->time_s += n * one->p50_s;
    row->high_s += n * one->p95_s;
    row->device_low_s += n * devices * one->p5_s;
    row->device_s += n * devices * one->p50_s;
    row->device_high_s += n * devices * one->p95_s;
    row->tier = !row->tier || strcmp(row->tier, one->tier) == 0 ? one->tier : "mixed";
}

static struct row *ask(const struct coverage_gpus *all, struct forecast_untried *untried,
                       const struct orch_gpu_spec *gpu)
{
    struct row *row = g_new0(struct row, 1);
    row->gpu = gpu->name;
    for (guint i = 0; i < all->works->len; i++) {
        const struct work *work = all->works->pdata[i];
        struct forecast_question question = {work->cost, gpu->name, work->gpus};
        struct orch_forecast one;
        if (forecast_untried(untried, &question, &one))
            add_work(row, work, &one);
    }
    return row;
}

/* ---- which GPUs --------------------------------------------------------------------------------
 */

/* struct orch_gpu_spec *, borrowed from the hardware. A board is two devices: it is asked for as
 * one of them. */
static GPtrArray *specs_of(const struct orch_hardware *hardware, const char *names, GError **error)
{
    GPtrArray *specs = g_ptr_array_new();
    g_auto(GStrv) words = g_strsplit(names, ",", -1);
    if (strcmp(names, "all") == 0) {
        for (guint i = 0; i < hardware->gpus->len; i++) {
            struct orch_gpu_spec *gpu = hardware->gpus->pdata[i];
            if (gpu->unit != ORCH_GPU_BOARD)
                g_ptr_array_add(specs, gpu);
        }
        return specs;
    }
    for (unsigned i = 0; words[i]; i++) {
        const struct orch_gpu_spec *gpu = orch_hardware_gpu(hardware, g_strstrip(words[i]), error);
        if (!gpu) {
            g_ptr_array_unref(specs);
            return NULL;
        }
        g_ptr_array_add(specs, (gpointer)(uintptr_t)gpu);
    }
    return specs;
}

static double usd_of(const struct row *row, double device_s)
{
    return row->rate.usd_per_hour > 0 ? device_s / 3600 * row->rate.usd_per_hour : (double)NAN;
}

static struct row *copy_at(const struct row *row, struct rate rate)
{
    struct row *copy = g_memdup2(row, sizeof *row);
    copy->rate = rate;
    return copy;
}

/* The row at each cloud's price; where there is none, or one is given, once. */
static void add_rows(struct coverage_gpus *all, struct row *row, double price)
{
    g_ptr_array_add(all->rows, row);
    row->rate = price > 0 ? (struct rate){price, g_strdup("--price")}
                          : rate_of(all->hardware, row->gpu, NULL, false);
    for (unsigned i = 0; row->known && row->rate.from && price <= 0 && PRICED_CLOUDS[i]; i++) {
        struct rate rate = rate_of(all->hardware, row->gpu, PRICED_CLOUDS[i], false);
        if (rate.usd_per_hour > 0 && strcmp(rate.from, row->rate.from) != 0)
            g_ptr_array_add(all->rows, copy_at(row, rate));
        else
            rate_release(&rate);
    }
}

static gint by_time(gconstpointer a, gconstpointer b)
{
    const struct row *x = *(const struct row *const *)a, *y = *(const struct row *const *)b;
    double p = usd_of(x, x->device_s), q = usd_of(y, y->device_s);
    if (x->time_s < y->time_s || x->time_s > y->time_s)
        return x->time_s < y->time_s ? -1 : 1;
    return p < q ? -1 : p > q;
}

/* What answers for fewer trials than another GPU cannot be ranked with it. */
static void drop_incomplete(GPtrArray *rows)
{
    unsigned most = 0;
    for (guint i = 0; i < rows->len; i++)
        most = MAX(most, ((const struct row *)rows->pdata[i])->known);
    for (guint i = rows->len; i-- > 0;) {
        const struct row *row = rows->pdata[i];
        if (!row->known || row->known < most)
            g_ptr_array_remove_index(rows, i);
    }
}

struct coverage_gpus *coverage_gpus_new(struct orch_forecasts *forecasts, const GPtrArray *items,
                                        const char *names, double price, GError **error)
{
    struct coverage_gpus *all = g_new0(struct coverage_gpus, 1);
    all->rows = g_ptr_array_new_with_free_func(free_row);
    all->works = works_of(forecasts, items);
    all->trials = items->len;
    all->is_priced = price > 0;
    all->hardware = orch_hardware_load(error);
    g_autoptr(GPtrArray) specs = all->hardware ? specs_of(all->hardware, names, error) : NULL;
    if (!specs) {
        coverage_gpus_free(all);
        return NULL;
    }
    struct forecast_untried *untried = forecast_untried_new();
    for (guint i = 0; i < specs->len; i++)
        add_rows(all, ask(all, untried, specs->pdata[i]), price);
    forecast_untried_free(untried);
    drop_incomplete(all->rows);
    g_ptr_array_sort(all->rows, by_time);
    double cheapest = INFINITY;
    for (guint i = 0; i < all->rows->len; i++) {
        struct row *row = all->rows->pdata[i];
        row->pareto = pareto_step(usd_of(row, row->device_s), &cheapest);
    }
    return all;
}

void coverage_gpus_free(struct coverage_gpus *gpus)
{
    if (!gpus)
        return;
    g_ptr_array_unref(gpus->rows);
    g_ptr_array_unref(gpus->works);
    orch_hardware_free(gpus->hardware);
    g_free(gpus);
}

/* ---- printing ----------------------------------------------------------------------------------
 */

static void say_cheapest(const struct coverage_gpus *gpus)
{
    const struct row *best = NULL;
    for (guint i = 0; i < gpus->rows->len; i++) {
        const struct row *row = gpus->rows->pdata[i];
        if (row->pareto)
            best = row; /* the last of the Pareto set is the cheapest */
    }
    if (!best)
        return;
    g_autofree char *time = orch_duration_format(best->time_s);
    g_autofree char *usd = money_format(usd_of(best, best->device_s));
    printf("cheapest: %s (%s): %s, %s\n", best->gpu, best->rate.from, time, usd);
}

void coverage_gpus_print(struct orch_cli *cli, const struct coverage_gpus *gpus)
{
    static const char *const headers[] = {"gpu",    ">trials", ">time", ">90 % of it", ">cost",
                                          "Pareto", "tier",    "price", NULL};
    if (!gpus->rows->len) {
        printf("none of these trials declares a cost that a GPU could be asked about\n");
        return;
    }
    struct orch_table *table = orch_table_new(headers);
    const struct row *first = gpus->rows->pdata[0];
    for (guint i = 0; i < gpus->rows->len; i++) {
        const struct row *row = gpus->rows->pdata[i];
        g_autofree char *span = span_format(row->low_s, row->high_s);
        orch_table_add(table, row->gpu, NULL);
        orch_table_add_int(table, row->known);
        add_duration(table, row->time_s);
        orch_table_add(table, span, NULL);
        add_money(table, usd_of(row, row->device_s));
        orch_table_add(table, row->pareto ? "*" : "", NULL);
        orch_table_add(table, row->tier, NULL);
        orch_table_add(table, row->rate.from ? row->rate.from : "-", NULL);
    }
    orch_table_print(cli, table, "gpus");
    if (first->known < gpus->trials)
        printf("of %u more nothing is known: they declare no cost\n", gpus->trials - first->known);
    printf("* nothing is both faster and cheaper. One trial after another; by specification and "
           "public measurements, not measured here.\n");
    say_cheapest(gpus);
}

json_t *coverage_gpus_json(const struct coverage_gpus *gpus)
{
    json_t *out = json_array();
    for (guint i = 0; i < gpus->rows->len; i++) {
        const struct row *row = gpus->rows->pdata[i];
        json_t *one = json_pack(
            "{s:s s:i s:i s:o s:o s:o s:o s:s s:s? s:b}", "gpu", row->gpu, "trials",
            (int)row->known, "unknown", (int)(gpus->trials - row->known), "total_s",
            orch_json_finite(row->time_s), "low_s", orch_json_finite(row->low_s), "high_s",
            orch_json_finite(row->high_s), "device_s", orch_json_finite(row->device_s), "tier",
            row->tier, "price_from", row->rate.from, "pareto", row->pareto);
        json_object_set_new(one, "cost_usd", orch_json_finite(usd_of(row, row->device_s)));
        json_object_set_new(one, "cost_low_usd", orch_json_finite(usd_of(row, row->device_low_s)));
        json_object_set_new(one, "cost_high_usd",
                            orch_json_finite(usd_of(row, row->device_high_s)));
        json_array_append_new(out, one);
    }
    return out;
}
