/* SPDX-License-Identifier: GPL-3.0-or-later */
/* 'orch predictor score --slurm': the forecasts behind --time and --mem beside Slurm's accounts. */
#include "core/cli/forecast_show.h"
#include "core/cli/parts.h"
#include "features/slurm/slurm_scores.h"
#include "lib/base/error.h"

struct scores_options {
    bool slurm;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct scores_options, slurm, FLAG, "slurm",
                .help = "compare the forecasts behind --time and --mem with Slurm's accounts"),
    {0}};

static bool is_asked(const void *options)
{
    return ((const struct scores_options *)options)->slurm;
}

static bool show(struct orch_cli *cli, void *options, const struct orch_subject *subject,
                 json_t *json, GError **error)
{
    (void)options, (void)json;
    static const char *const headers[] = {"place",   "quantity",        ">jobs", ">median_error",
                                          ">within", ">within_request", NULL};
    if (subject->not_alone) {
        orch_error_set(error, ORCH_ERROR_USAGE, "give one of them", "%s does nothing with --slurm",
                       subject->not_alone);
        return false;
    }
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    g_autoptr(GPtrArray) scores = store ? orch_slurm_scores_read(store, error) : NULL;
    if (!scores)
        return false;
    if (!scores->len && !cli->json)
        orch_cli_info(cli, "no Slurm job with a forecast and an account has ended well yet");
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < scores->len; i++) {
        const struct orch_slurm_score *score = scores->pdata[i];
        orch_table_add(table, score->place, NULL);
        orch_table_add(table, score->quantity, NULL);
        orch_table_add_int(table, score->count);
        orch_cli_add_percent(table, score->median_relative_error);
        orch_cli_add_percent(table, score->within);
        orch_cli_add_percent(table, score->within_request);
    }
    orch_cli_table_print(cli, table, "scores");
    return true;
}

const struct orch_command_part ORCH_PART_SCORE_SLURM = {
    .command = "predictor score",
    .options = OPTIONS,
    .option_bytes = sizeof(struct scores_options),
    .about =
        "\n"
        "\n"
        "With --slurm it compares the forecasts from which --time and --mem of Slurm jobs came "
        "with "
        "the accounts (Elapsed and MaxRSS of sacct). 'within' is the share of times inside the "
        "90 "
        "% interval, and of memory at most the 95 % quantile; 'within_request' is the share at "
        "most --time or --mem.",
    .examples = "  orch predictor score --slurm",
    .is_alone = true,
    .is_asked = is_asked,
    .show = show,
};
