/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The law of schedules as tables and JSON. */
#include "core/cli/cli.h"
#include "features/curve/schedule_fit.h"
#include "lib/base/json.h"

#include <math.h>
#include <string.h>

/* Rows of the predicted curve that are shown as text. */
#define ROWS 12

static struct orch_table *runs_table(const struct orch_schedule_fit *fit, bool is_json)
{
    const char *const headers[] = {"run",
                                   "loss",
                                   ">points",
                                   ">largest lr",
                                   ">last lr",
                                   is_json ? ">error_percent" : ">error %",
                                   is_json ? ">left_out_error_percent" : ">left-out error %",
                                   NULL};
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < fit->curves->len; i++) {
        const struct orch_run_curve *c = fit->curves->pdata[i];
        double largest = 0;
        for (size_t r = 0; r < c->rates; r++)
            largest = fmax(largest, c->rate[r]);
        orch_table_add(table, orch_run_short_key(c->key), json_string(c->key));
        orch_table_add(table, c->metric, NULL);
        orch_table_add_int(table, (int64_t)c->count);
        orch_table_add_real(table, largest);
        orch_table_add_real(table, c->rate[c->rates - 1]);
        orch_table_add_real(table, 100 * fit->runs[i].error);
        orch_table_add_real(table, 100 * fit->runs[i].left_out);
    }
    return table;
}

/* All points, or ROWS of them with the first and the last. */
static struct orch_table *loss_table(const struct orch_schedule_fit *fit, bool is_all)
{
    const struct orch_run_curve *c = fit->curves->pdata[0];
    const char *const headers[] = {c->is_by_epoch ? ">epoch" : ">step", ">lr", ">loss", NULL};
    struct orch_table *table = orch_table_new(headers);
    size_t rows = is_all ? fit->asked : MIN(fit->asked, ROWS);
    for (size_t i = 0; i < rows; i++) {
        size_t at = rows > 1 ? i * (fit->asked - 1) / (rows - 1) : 0;
        orch_table_add_real(table, fit->k[at]);
        orch_table_add_real(table, fit->rate[at]);
        orch_table_add_real(table, fit->loss[at]);
    }
    return table;
}

static json_t *law_json(const struct orch_schedule_law *l)
{
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"l0", l->l0},
                   {"a", l->a},
                   {"b", l->b},
                   {"alpha", l->alpha},
                   {"beta", l->beta},
                   {"gamma", l->gamma},
                   {"c", l->c},
                   {"shift", l->shift},
                   {"lr_unit", l->rate_unit},
                   {"sum_unit", l->sum_unit}};
    json_t *out = json_object();
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
        json_object_set_new(out, numbers[i].name, orch_json_finite(numbers[i].value));
    return out;
}

static void print_text(struct orch_cli *cli, const struct orch_schedule_fit *fit)
{
    const struct orch_schedule_law *l = &fit->law;
    orch_cli_table_print(cli, runs_table(fit, false), "runs");
    orch_cli_print("law: loss = %.4g + %.4g (S + %.3g)^-%.3g + %.3g sum of changes of the learning "
                   "rate x (1 - (1 + %.3g rate^-%.3g S since)^-%.3g)",
                   l->l0, l->a, l->shift, l->alpha, l->b, l->c, l->gamma, l->beta);
    orch_cli_print("S: sum of the learning rates, in %.3g; rates in %.3g (multi-power law, Luo et "
                   "al. 2025)",
                   l->sum_unit * l->rate_unit, l->rate_unit);
    if (!fit->asked)
        return;
    printf("\n");
    orch_cli_table_print(cli, loss_table(fit, false), "predicted");
}

void orch_cli_schedule_fit_print(struct orch_cli *cli, const struct orch_schedule_fit *fit,
                                 const char *format)
{
    if (cli->json) {
        json_t *out = json_pack("{s:i s:o s:o}", "schema_version", 1, "law", law_json(&fit->law),
                                "runs", orch_cli_table_to_json(runs_table(fit, true)));
        if (fit->asked)
            json_object_set_new(out, "predicted", orch_cli_table_to_json(loss_table(fit, true)));
        orch_cli_print_json(out);
    } else if (format && strcmp(format, "text") != 0) {
        if (fit->asked)
            orch_cli_table_print_as(cli, loss_table(fit, true), "predicted", format);
        else
            orch_cli_table_print_as(cli, runs_table(fit, false), "runs", format);
    } else {
        print_text(cli, fit);
    }
}
