/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/plan_gpus_show.h"

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

void orch_cli_plan_gpus_show(struct orch_cli *cli, const struct orch_plan_gpus *gpus)
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

json_t *orch_cli_plan_gpus_json(const struct orch_plan_gpus *gpus)
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
