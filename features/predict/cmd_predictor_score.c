/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch predictor score`: the accuracy of past forecasts. */
#include "core/cli/forecast_show.h"
#include "core/cli/parts.h"
#include "core/render/draw.h"
#include "features/predict/forecast_scores.h"
#include "lib/base/error.h"

#include <string.h>

struct score_options {
    const char *by, *chart;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct score_options, by, TEXT, "by", .value = "NAME",
                .help = "by setting (default), question, time, model, network or where (device)"),
    ORCH_OPTION(struct score_options, chart, TEXT, "chart", .value = "FILE",
                .help = "draw the calibration of the forecasts into FILE (.svg, .png or .pdf)"),
    {0}};

static void add_row(struct orch_table *table, const struct orch_score_grouping *grouping,
                    const struct orch_score_row *row)
{
    orch_table_add(table, row->is_disturbed ? "foreign" : "own", NULL);
    for (int i = 0; grouping->headers[i]; i++)
        orch_table_add(table, row->names[i], NULL);
    orch_table_add_int(table, (int64_t)row->count);
    orch_cli_add_percent(table, row->score.median_relative_error);
    orch_cli_add_percent(table, row->score.mean_relative_error);
    orch_cli_add_percent(table, row->score.coverage_90);
}

static struct orch_table *score_table(const struct orch_score_grouping *grouping,
                                      const struct orch_forecast_scores *scores)
{
    static const char *const numbers[] = {">forecasts", ">median_error", ">mean_error",
                                          ">coverage_90"};
    const char *headers[ORCH_SCORE_NAMES_MAX + G_N_ELEMENTS(numbers) + 2] = {"load"};
    size_t count = 1;
    for (int i = 0; grouping->headers[i]; i++)
        headers[count++] = grouping->headers[i];
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
        headers[count++] = numbers[i];
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < scores->rows->len; i++)
        add_row(table, grouping, &g_array_index(scores->rows, struct orch_score_row, i));
    return table;
}

static bool draw(const struct score_options *o, const struct orch_forecast_scores *scores,
                 GError **error)
{
    if (!o->chart)
        return true;
    if (!scores->grades->len) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "'orch run' makes forecasts and keeps them",
                       "option '--chart': no run with a forecast has ended yet");
        return false;
    }
    struct orch_chart *chart = orch_forecast_calibration(scores->grades);
    bool ok = orch_chart_write(chart, o->chart, error);
    orch_chart_free(chart);
    return ok;
}

static const struct orch_score_grouping *grouping_of(const struct score_options *o, GError **error)
{
    const struct orch_score_grouping *grouping =
        o->by ? orch_score_grouping_find(o->by) : orch_score_groupings();
    if (!grouping)
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "use setting, question, time, model, where or network",
                       "option '--by': unknown value '%s'", o->by);
    return grouping;
}

static void print_scores(struct orch_cli *cli, struct orch_table *table, unsigned promises,
                         unsigned held)
{
    if (cli->json) {
        orch_cli_print_json(json_pack("{s:o s:{s:i s:i}}", "scores", orch_cli_table_to_json(table),
                                      "promises", "made", (int)promises, "held", (int)held));
        return;
    }
    orch_cli_table_print(cli, table, "scores");
    if (promises)
        orch_cli_info(
            cli, "%u of %u forecasts of how many trials end within a limit were right (aim: 90 %%)",
            held, promises);
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct score_options *o = options;
    const struct orch_subject subject = {.not_alone = o->by      ? "option '--by'"
                                                      : o->chart ? "option '--chart'"
                                                                 : NULL};
    if (orch_cli_has_part_alone(cli))
        return orch_cli_part_alone_show(cli, &subject, error) ? ORCH_EXIT_OK : -1;
    const struct orch_score_grouping *grouping = grouping_of(o, error);
    struct orch_store *store = grouping ? orch_cli_store(cli, ORCH_STORE_READ, error) : NULL;
    struct orch_forecast_scores scores = {0};
    if (!store || !orch_forecast_scores_read(store, grouping, &scores, error))
        return -1;
    unsigned promises, held;
    bool ok = draw(o, &scores, error) && orch_store_promises(store, &promises, &held, error);
    if (ok) {
        if (!scores.rows->len && !cli->json)
            orch_cli_info(
                cli, "no run with a forecast has ended yet: 'orch run' makes and keeps forecasts");
        print_scores(cli, score_table(grouping, &scores), promises, held);
        if (o->chart)
            orch_cli_info(cli, "chart: %s", o->chart);
    }
    orch_forecast_scores_clear(&scores);
    return ok ? ORCH_EXIT_OK : -1;
}

const struct orch_command ORCH_COMMAND_PREDICTOR_SCORE = {
    .name = "predictor score",
    .group = "Networks and hardware",
    .summary = "compare past forecasts with the times that were measured",
    .usage = "",
    .max_args = 0,
    .options = OPTIONS,
    .option_bytes = sizeof(struct score_options),
    .about = "Every forecast of 'orch run' is kept with its run. This command compares these "
             "forecasts with the measured times: the median and mean of |forecast - measured| / "
             "measured, and the share of measured times within the 90 % interval. Forecasts made "
             "before the run and during it are scored separately. --by question separates settings "
             "that had run before from new ones. For each quantile of the forecasts, --chart draws "
             "the share of measured times at or below it.",
    .examples = "  orch predictor score\n"
                "  orch predictor score --by time\n"
                "  orch predictor score --chart calibration.svg",
    .run = run,
};
