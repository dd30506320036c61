/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch predictor score`: the accuracy of past forecasts, by model, device and network. */
#include "core/cli/forecast_show.h"
#include "core/cli/parts.h"
#include "features/predict/forecast_scores.h"

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <math.h>

struct score_options {
    bool all;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct score_options, all, FLAG, "all",
                .help = "also score runs during which other programs kept the CPUs busy, apart"),
    {0}};

static void add_row(struct orch_table *table, const struct orch_forecast_score_row *row, bool all)
{
    if (all)
        orch_table_add(table, row->is_disturbed ? "foreign" : "own", NULL);
    orch_table_add(table, row->tier, NULL);
    orch_table_add(table, row->model, NULL);
    orch_table_add(table, row->made, NULL);
    orch_table_add(table, row->where, NULL);
    orch_table_add(table, row->network, NULL);
    orch_table_add_int(table, (int64_t)row->count);
    orch_cli_add_percent(table, row->score.median_relative_error);
    orch_cli_add_percent(table, row->score.mean_relative_error);
    orch_cli_add_percent(table, row->score.coverage_90);
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct score_options *o = options;
    const struct orch_subject subject = {.not_alone = o->all ? "option '--all'" : NULL};
    if (orch_cli_part_alone(cli))
        return orch_cli_parts_show(cli, &subject, NULL, error) ? ORCH_EXIT_OK : -1;
    static const char *const headers[] = {
        "load",       "tier",          "model",       "made",         "where", "network",
        ">forecasts", ">median_error", ">mean_error", ">coverage_90", NULL};
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    struct orch_forecast_scores scores;
    if (!store || !orch_forecast_scores_read(store, o->all, &scores, error))
        return -1;
    if (scores.left_out)
        orch_cli_info(cli,
                      "%u forecast%s not scored: other programs kept the CPUs busy meanwhile "
                      "(--all scores them apart)",
                      scores.left_out, scores.left_out == 1 ? " is" : "s are");
    if (!scores.rows->len && !cli->json)
        orch_cli_info(cli, "no run with a forecast has ended yet: 'orch run' makes and keeps them");
    struct orch_table *table = orch_table_new(o->all ? headers : headers + 1);
    for (guint i = 0; i < scores.rows->len; i++)
        add_row(table, &g_array_index(scores.rows, struct orch_forecast_score_row, i), o->all);
    orch_cli_table_print(cli, table, "scores");
    orch_forecast_scores_clear(&scores);
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_PREDICTOR_SCORE = {
    .name = "predictor score",
    .group = "Networks and hardware",
    .summary = "compare past forecasts with the times that were measured",
    .usage = "",
    .max_args = 0,
    .options = OPTIONS,
    .option_bytes = sizeof(struct score_options),
    .about =
        "Every forecast of 'orch run' is kept with its run. This command compares them with the\n"
        "measured times, by tier, model, device and network: the median and mean of\n"
        "|forecast - measured| / measured, and the share of measured times within the 90 %\n"
        "interval. Forecasts made before the run and during it are scored apart. With --all, runs\n"
        "during which other programs kept the CPUs busy are scored in rows of their own (load\n"
        "'foreign').",
    .examples = "  orch predictor score",
    .run = run,
};
