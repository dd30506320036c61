/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shows what trials would take and cost on other GPUs (`orch coverage --gpu`). */
#include "core/cli/parts.h"
#include "features/predict/plan_gpus.h"
#include "features/predict/step_show.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

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
    g_autofree char *usd = orch_money_format(orch_plan_gpu_usd(best, best->device_s.mid));
    orch_cli_print("cheapest: %s (%s): %s, %s", best->gpu, best->rate.from, time, usd);
}

/* Prints a table with the basis of its numbers. */
static void print_gpus(struct orch_cli *cli, const struct orch_plan_gpus *gpus)
{
    static const char *const headers[] = {
        "gpu", ">trials", ">time", ">90 % interval", ">cost", "Pareto", "tier", "price", NULL};
    if (!gpus->rows->len) {
        printf("none of these trials declares a cost that a GPU could be asked about\n");
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
        orch_cli_add_money(table, orch_plan_gpu_usd(row, row->device_s.mid));
        orch_table_add(table, row->pareto ? "*" : "", NULL);
        orch_table_add(table, row->tier, NULL);
        orch_table_add(table, row->rate.from ? row->rate.from : "-", NULL);
    }
    orch_cli_table_print(cli, table, "gpus");
    if (first->known < gpus->trials)
        printf("%u more declare no cost and have no forecast\n", gpus->trials - first->known);
    printf("* no GPU is both faster and cheaper. Trials run one after another; estimated from "
           "specifications and public measurements, not measured here.\n");
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
                            orch_json_finite(orch_plan_gpu_usd(row, row->device_s.mid)));
        json_object_set_new(one, "cost_low_usd",
                            orch_json_finite(orch_plan_gpu_usd(row, row->device_s.low)));
        json_object_set_new(one, "cost_high_usd",
                            orch_json_finite(orch_plan_gpu_usd(row, row->device_s.high)));
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
    o->gpus =
        orch_plan_gpus_new(subject->plan, subject->items, o->gpu, subject->usd_per_hour, error);
    return o->gpus;
}

static bool show(struct orch_cli *cli, void *options, const struct orch_subject *subject,
                 json_t *json, GError **error)
{
    (void)error;
    struct gpus_options *o = options;
    if (json)
        json_object_set_new(json, "gpus", gpus_json(o->gpus));
    else if (subject->items->len)
        print_gpus(cli, o->gpus);
    g_clear_pointer(&o->gpus, orch_plan_gpus_free);
    return true;
}

const struct orch_command_part ORCH_PART_COVERAGE_GPU = {
    .command = "coverage",
    .options = OPTIONS,
    .option_bytes = sizeof(struct gpus_options),
    .about = " --gpu estimates time and cost of the missing trials on other GPUs from what the "
             "plugins declare.",
    .examples = "  orch coverage recipes/hw4.recipe p4 --gpu all",
    .is_asked = is_asked,
    .look = look,
    .show = show,
};
