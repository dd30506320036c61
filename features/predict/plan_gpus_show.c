/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shows what trials would take and cost on other GPUs (`orch coverage --gpu`, `orch plan --gpu`).
 */
#include "core/cli/parts.h"
#include "core/plan/plan.h"
#include "features/predict/estimator.h"
#include "features/predict/step_show.h"
#include "features/predict/trial_forecasts.h"
#include "lib/base/interval.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/devices/rate.h"

#include <math.h>
#include <string.h>

/* ---- estimates ----------------------------------------------------------------------------------
 */

/** All trials on one GPU model at one price. */
struct orch_plan_gpu {
    const char *gpu;             /* borrowed from the hardware */
    unsigned known;              /* trials */
    struct orch_interval time_s; /* with the trials run one after another */
    struct orch_interval device_s;
    const char *tier; /* "prior", "transferred", "mixed"; NULL: none */
    struct orch_rate rate;
    bool pareto;
};

struct orch_plan_gpus {
    struct orch_hardware *hardware;
    GPtrArray *works; /* trials that declare the same cost, as one */
    GPtrArray *rows;  /* struct orch_plan_gpu *, by time and then cost */
    unsigned trials;
    bool is_priced; /* a price was given */
};

/* Trials that declare the same cost, estimated once. */
struct work {
    json_t *cost;
    unsigned gpus; /* requested by the trial */
    unsigned trials;
};

static void free_work(gpointer data)
{
    struct work *work = data;
    json_decref(work->cost);
    g_free(work);
}

static void free_row(gpointer data)
{
    struct orch_plan_gpu *row = data;
    orch_rate_release(&row->rate);
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
        unsigned gpus = item->gpus;
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

/* All trials share the error of one analytical model, so their interval bounds are summed. */
static void add_work(struct orch_plan_gpu *row, const struct work *work,
                     const struct orch_forecast *one)
{
    double n = work->trials, devices = MAX(1u, work->gpus);
    row->known += work->trials;
    row->time_s.low += n * one->time_s.low;
    row->time_s.mid += n * one->time_s.mid;
    row->time_s.high += n * one->time_s.high;
    row->device_s.low += n * devices * one->time_s.low;
    row->device_s.mid += n * devices * one->time_s.mid;
    row->device_s.high += n * devices * one->time_s.high;
    row->tier = !row->tier || row->tier == one->tier ? one->tier : "mixed";
}

static struct orch_plan_gpu *forecast_on_gpu(const struct orch_plan_gpus *all,
                                             struct orch_estimator *estimator,
                                             const struct orch_gpu_spec *gpu)
{
    struct orch_plan_gpu *row = g_new0(struct orch_plan_gpu, 1);
    row->gpu = gpu->name;
    for (guint i = 0; i < all->works->len; i++) {
        const struct work *work = all->works->pdata[i];
        struct orch_forecast one;
        if (orch_estimator_forecast(estimator, work->cost, gpu->name, 0, &one))
            add_work(row, work, &one);
    }
    return row;
}

/* ---- which GPUs --------------------------------------------------------------------------------
 */

/* struct orch_gpu_spec *, borrowed from the hardware. A dual-GPU board is listed as one of its two
 * devices. */
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

/* Cost in dollars of `device_s` at the row's price; NaN when the price is unknown. */
static double plan_gpu_usd(const struct orch_plan_gpu *row, double device_s)
{
    return row->rate.usd_per_hour > 0 ? device_s / 3600 * row->rate.usd_per_hour : (double)NAN;
}

static struct orch_plan_gpu *copy_at(const struct orch_plan_gpu *row, struct orch_rate rate)
{
    struct orch_plan_gpu *copy = g_memdup2(row, sizeof *row);
    copy->rate = rate;
    return copy;
}

/* Adds the row once per cloud that has a price, or once when no cloud has one or `price` is given.
 */
static void add_rows(struct orch_plan_gpus *all, struct orch_plan_gpu *row, double price)
{
    g_ptr_array_add(all->rows, row);
    row->rate = orch_rate_of(all->hardware, row->gpu, NULL, false, price);
    for (unsigned i = 0; row->known && row->rate.from && price <= 0 && ORCH_PRICED_CLOUDS[i]; i++) {
        struct orch_rate rate =
            orch_rate_of(all->hardware, row->gpu, ORCH_PRICED_CLOUDS[i], false, 0);
        if (rate.usd_per_hour > 0 && strcmp(rate.from, row->rate.from) != 0)
            g_ptr_array_add(all->rows, copy_at(row, rate));
        else
            orch_rate_release(&rate);
    }
}

static gint by_time(gconstpointer a, gconstpointer b)
{
    const struct orch_plan_gpu *x = *(const struct orch_plan_gpu *const *)a,
                               *y = *(const struct orch_plan_gpu *const *)b;
    double p = plan_gpu_usd(x, x->device_s.mid), q = plan_gpu_usd(y, y->device_s.mid);
    if (x->time_s.mid < y->time_s.mid || x->time_s.mid > y->time_s.mid)
        return x->time_s.mid < y->time_s.mid ? -1 : 1;
    return p < q ? -1 : p > q;
}

/* A GPU with estimates for fewer trials than another cannot be ranked against it. */
static void drop_incomplete(GPtrArray *rows)
{
    unsigned most = 0;
    for (guint i = 0; i < rows->len; i++)
        most = MAX(most, ((const struct orch_plan_gpu *)rows->pdata[i])->known);
    for (guint i = rows->len; i-- > 0;) {
        const struct orch_plan_gpu *row = rows->pdata[i];
        if (!row->known || row->known < most)
            g_ptr_array_remove_index(rows, i);
    }
}

static void plan_gpus_free(struct orch_plan_gpus *gpus)
{
    if (!gpus)
        return;
    g_ptr_array_unref(gpus->rows);
    g_ptr_array_unref(gpus->works);
    orch_hardware_free(gpus->hardware);
    g_free(gpus);
}

/* Estimates trials of a plan (const struct orch_plan_item *) on the GPUs listed in `names`
 * ("V100", "V100,K80" or "all"). `price`: dollars per GPU hour, 0 for the dated price table. NULL
 * with an error for an unknown GPU or an invalid hardware file. The caller frees. */
static struct orch_plan_gpus *plan_gpus_new(struct orch_forecasts *forecasts,
                                            const GPtrArray *items, const char *names, double price,
                                            GError **error)
{
    struct orch_plan_gpus *all = g_new0(struct orch_plan_gpus, 1);
    all->rows = g_ptr_array_new_with_free_func(free_row);
    all->works = works_of(forecasts, items);
    all->trials = items->len;
    all->is_priced = price > 0;
    all->hardware = orch_hardware_load(error);
    g_autoptr(GPtrArray) specs = all->hardware ? specs_of(all->hardware, names, error) : NULL;
    if (!specs) {
        plan_gpus_free(all);
        return NULL;
    }
    for (guint i = 0; i < specs->len; i++)
        add_rows(all, forecast_on_gpu(all, orch_forecasts_estimator(forecasts), specs->pdata[i]),
                 price);
    drop_incomplete(all->rows);
    g_ptr_array_sort(all->rows, by_time);
    double cheapest = INFINITY;
    for (guint i = 0; i < all->rows->len; i++) {
        struct orch_plan_gpu *row = all->rows->pdata[i];
        row->pareto = orch_pareto_step(plan_gpu_usd(row, row->device_s.mid), &cheapest);
    }
    return all;
}

/* ---- as text ------------------------------------------------------------------------------------
 */

static void print_cheapest(const struct orch_plan_gpus *gpus)
{
    const struct orch_plan_gpu *best = NULL;
    for (guint i = 0; i < gpus->rows->len; i++) {
        const struct orch_plan_gpu *row = gpus->rows->pdata[i];
        if (row->pareto)
            best = row; /* the last one in the Pareto set is the cheapest */
    }
    if (!best)
        return;
    g_autofree char *time = orch_duration_format(best->time_s.mid);
    g_autofree char *usd = orch_money_format(plan_gpu_usd(best, best->device_s.mid));
    orch_cli_print("cheapest: %s (%s): %s, %s", best->gpu, best->rate.from, time, usd);
}

/* Prints a table with the basis of its numbers. */
static void print_gpus(struct orch_cli *cli, const struct orch_plan_gpus *gpus)
{
    static const char *const headers[] = {
        "gpu", ">trials", ">time", ">90 % interval", ">cost", "Pareto", "tier", "price", NULL};
    if (!gpus->rows->len) {
        printf("no forecast for a GPU: none of these trials declares its cost\n");
        return;
    }
    struct orch_table *table = orch_table_new(headers);
    const struct orch_plan_gpu *first = gpus->rows->pdata[0];
    for (guint i = 0; i < gpus->rows->len; i++) {
        const struct orch_plan_gpu *row = gpus->rows->pdata[i];
        g_autofree char *span = orch_cli_span_format(row->time_s);
        orch_table_add(table, row->gpu, NULL);
        orch_table_add_int(table, row->known);
        orch_cli_add_duration(table, row->time_s.mid);
        orch_table_add(table, span, NULL);
        orch_cli_add_money(table, plan_gpu_usd(row, row->device_s.mid));
        orch_table_add(table, row->pareto ? "*" : "", NULL);
        orch_table_add(table, row->tier, NULL);
        orch_table_add(table, row->rate.from ? row->rate.from : "-", NULL);
    }
    orch_cli_table_print(cli, table, "gpus");
    if (first->known < gpus->trials)
        printf("%u more trials declare no cost and have no forecast\n",
               gpus->trials - first->known);
    printf("* no GPU is both faster and cheaper. The times are forecasts for trials that run one "
           "after another.\n");
    print_cheapest(gpus);
}

static json_t *gpus_json(const struct orch_plan_gpus *gpus)
{
    json_t *out = json_array();
    for (guint i = 0; i < gpus->rows->len; i++) {
        const struct orch_plan_gpu *row = gpus->rows->pdata[i];
        json_t *one = json_pack(
            "{s:s s:i s:i s:o s:o s:o s:o s:s s:s? s:b}", "gpu", row->gpu, "trials",
            (int)row->known, "unknown", (int)(gpus->trials - row->known), "total_s",
            orch_json_finite(row->time_s.mid), "low_s", orch_json_finite(row->time_s.low), "high_s",
            orch_json_finite(row->time_s.high), "device_s", orch_json_finite(row->device_s.mid),
            "tier", row->tier, "price_from", row->rate.from, "pareto", row->pareto);
        json_object_set_new(one, "cost_usd",
                            orch_json_finite(plan_gpu_usd(row, row->device_s.mid)));
        json_object_set_new(one, "cost_low_usd",
                            orch_json_finite(plan_gpu_usd(row, row->device_s.low)));
        json_object_set_new(one, "cost_high_usd",
                            orch_json_finite(plan_gpu_usd(row, row->device_s.high)));
        json_array_append_new(out, one);
    }
    return out;
}

/* ---- the part of 'orch coverage' ----------------------------------------------------------------
 */

struct gpus_options {
    const char *gpu;
    struct orch_plan_gpus *gpus; /* the answer, between `look` and `show` */
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct gpus_options, gpu, TEXT, "gpu", .value = "NAMES|all",
                .help = "estimate time and cost of the missing trials on these GPUs"),
    {0}};

static bool is_asked(const void *options)
{
    return ((const struct gpus_options *)options)->gpu;
}

static bool look(struct orch_cli *cli, void *options, const struct orch_subject *subject,
                 GError **error)
{
    (void)cli;
    struct gpus_options *o = options;
    o->gpus = plan_gpus_new(orch_forecasts_of(subject->forecaster), subject->items, o->gpu,
                            subject->usd_per_hour, error);
    return o->gpus;
}

static bool show(struct orch_cli *cli, void *options, const struct orch_subject *subject,
                 json_t *json, GError **error)
{
    (void)error;
    const struct gpus_options *o = options;
    if (json)
        json_object_set_new(json, "gpus", gpus_json(o->gpus));
    else if (subject->items->len)
        print_gpus(cli, o->gpus);
    return true;
}

static void clear(void *options)
{
    struct gpus_options *o = options;
    g_clear_pointer(&o->gpus, plan_gpus_free);
}

const struct orch_command_part ORCH_PART_COVERAGE_GPU = {
    .command = "coverage",
    .options = OPTIONS,
    .option_bytes = sizeof(struct gpus_options),
    .about = " --gpu forecasts time and cost of the missing trials on other GPUs, if the trials' "
             "plugins describe their work (key 'cost').",
    .examples = "  orch coverage recipes/hw4.recipe p4 --gpu all",
    .is_asked = is_asked,
    .look = look,
    .show = show,
    .clear = clear,
};

/* ---- the part of 'orch plan' --------------------------------------------------------------------
 */

static const struct orch_option PLAN_OPTIONS[] = {
    ORCH_OPTION(struct gpus_options, gpu, TEXT, "gpu", .value = "NAMES|all",
                .help = "forecast time and cost of the remaining trials on these GPUs"),
    {0}};

/* The trials that are not done, also those that this machine cannot run. The caller unrefs. */
static GPtrArray *trials_left(const struct orch_plan *plan)
{
    GPtrArray *items = g_ptr_array_new();
    for (unsigned i = 0; i < plan->count; i++) {
        struct orch_plan_item *item = &plan->items[i];
        if (orch_plan_will_run(item) || item->state == ORCH_PLAN_HELD ||
            item->state == ORCH_PLAN_SKIPPED)
            g_ptr_array_add(items, item);
    }
    return items;
}

static bool look_at_plan(struct orch_cli *cli, void *options, const struct orch_subject *subject,
                         GError **error)
{
    g_autoptr(GPtrArray) items = trials_left(subject->plan);
    struct orch_subject left = *subject;
    left.items = items;
    return look(cli, options, &left, error);
}

static bool show_plan(struct orch_cli *cli, void *options, const struct orch_subject *subject,
                      json_t *json, GError **error)
{
    (void)subject, (void)json, (void)error;
    const struct gpus_options *o = options;
    if (cli->json)
        orch_cli_print_json(
            json_pack("{s:i s:o}", "left", (int)o->gpus->trials, "gpus", gpus_json(o->gpus)));
    else if (!o->gpus->trials)
        printf("no trial is left to run\n");
    else
        print_gpus(cli, o->gpus);
    return true;
}

const struct orch_command_part ORCH_PART_PLAN_GPU = {
    .command = "plan",
    .options = PLAN_OPTIONS,
    .option_bytes = sizeof(struct gpus_options),
    .about = " --gpu forecasts time and cost of the remaining trials on other GPUs, if the trials' "
             "plugins describe their work (key 'cost').",
    .examples = "  orch plan recipes/hw3.recipe --profile course --gpu V100,H100",
    .is_alone = true,
    .reads_only = true,
    .is_asked = is_asked,
    .look = look_at_plan,
    .show = show_plan,
    .clear = clear,
};
