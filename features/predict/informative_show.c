/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch plan --most-informative N` and `orch run --most-informative N`. */
#include "core/cli/forecast_show.h"
#include "core/cli/parts.h"
#include "core/cli/run_part.h"
#include "features/predict/informative.h"
#include "lib/base/json.h"

#include <string.h>

struct informative_options {
    const char *count;
};

/* Chooses the trials; ORCH_ERROR_USAGE for a bad number of them. */
static GArray *choose(struct orch_plan *plan, const char *text, GError **error)
{
    int64_t count = 0;
    return orch_cli_count(text, "--most-informative", ORCH_INFORMATIVE_MAX, &count, error)
               ? orch_informative_choose(plan, (int)count, error)
               : NULL;
}

/* Returns the command line with 'run' instead of 'plan': "orch run r.recipe ... --most-informative
 * 5". */
static char *run_command(const struct orch_cli *cli)
{
    GString *text = g_string_new("orch run");
    for (int i = 1; i < cli->argc; i++) {
        if (strcmp(cli->argv[i], "plan") == 0 || strcmp(cli->argv[i], "--json") == 0)
            continue;
        g_autofree char *word = orch_cli_shell_word(cli->argv[i]);
        g_string_append_printf(text, " %s", word);
    }
    return g_string_free(text, FALSE);
}

/* Prints the chosen trials with their forecasts, and a command that runs only these. */
static void print_choices(struct orch_cli *cli, const struct orch_plan *plan, const GArray *choices,
                          const struct orch_forecaster *forecaster)
{
    static const char *const headers[] = {"measure", ">uncertainty_left", "forecast", NULL};
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < choices->len; i++) {
        const struct orch_informative_trial *choice =
            &g_array_index(choices, struct orch_informative_trial, i);
        const struct orch_plan_item *item = &plan->items[choice->item];
        struct orch_forecast forecast;
        bool known = forecaster->forecast(forecaster->ctx, item, &forecast);
        g_autofree char *label = orch_cell_label(item->cell);
        g_autofree char *left = g_strdup_printf("%.2g %%", 100 * choice->left);
        orch_table_add(table, label, NULL);
        orch_table_add(table, left, orch_json_finite(choice->left));
        orch_cli_forecast_add_cell(table, known ? &forecast : NULL, orch_plan_item_charged(item));
    }
    g_autofree char *command = run_command(cli);
    if (cli->json) {
        orch_cli_print_json(json_pack("{s:s s:o s:s}", "recipe", plan->expansion->name,
                                      "most_informative", orch_cli_table_to_json(table), "command",
                                      command));
        return;
    }
    orch_cli_table_print(cli, table, "most_informative");
    fflush(stdout);
    if (choices->len)
        orch_cli_info(cli, "to run just these: %s", command);
    else
        orch_cli_info(cli, "every trial of the plan has been measured here");
}

/* ---- the parts of run and plan -----------------------------------------------------------------
 */

static const struct orch_option RUN_OPTIONS[] = {
    ORCH_OPTION(
        struct informative_options, count, TEXT, "most-informative", .value = "N",
        .help =
            "run only the N most informative trials: those that improve the other forecasts most"),
    {0}};
static const struct orch_option PLAN_OPTIONS[] = {
    ORCH_OPTION(
        struct informative_options, count, TEXT, "most-informative", .value = "N",
        .help = "show the N most informative trials: those that improve the other forecasts most"),
    {0}};

static bool is_asked(const void *options)
{
    return ((const struct informative_options *)options)->count;
}

/* Shows the chosen trials instead of the plan. */
static bool show(struct orch_cli *cli, void *options, const struct orch_subject *subject,
                 json_t *json, GError **error)
{
    (void)json;
    const struct informative_options *o = options;
    g_autoptr(GArray) choices = choose(subject->plan, o->count, error);
    if (choices)
        print_choices(cli, subject->plan, choices, subject->forecaster);
    return choices;
}

static bool begin(struct orch_cli *cli, const void *options, const struct orch_expansion *expansion,
                  bool only_plans, void **out_state, GError **error)
{
    (void)cli, (void)expansion, (void)only_plans, (void)error;
    *out_state = g_strdup(((const struct informative_options *)options)->count);
    return true;
}

/* Keeps only the chosen trials. */
static bool limit(void *state, const struct orch_run_outlook *outlook, GError **error)
{
    g_autoptr(GArray) choices = choose(outlook->plan, state, error);
    if (choices)
        orch_informative_keep(outlook->plan, choices);
    return choices;
}

static const struct orch_run_part RUN_PART = {.begin = begin, .limit = limit, .close = g_free};

const struct orch_command_part ORCH_PART_RUN_INFORMATIVE = {
    .command = "run",
    .options = RUN_OPTIONS,
    .option_bytes = sizeof(struct informative_options),
    .is_alone = true, /* with --dry-run, which shows the plan */
    .is_asked = is_asked,
    .show = show,
    .run = &RUN_PART,
};

const struct orch_command_part ORCH_PART_PLAN_INFORMATIVE = {
    .command = "plan",
    .options = PLAN_OPTIONS,
    .option_bytes = sizeof(struct informative_options),
    .examples =
        "  orch plan recipes/hw4.recipe --most-informative 5        # which five to measure first",
    .is_alone = true,
    .is_asked = is_asked,
    .show = show,
};
