/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/informative_show.h"

#include "core/cli/forecast_show.h"
#include "lib/base/json.h"

#include <string.h>

GArray *orch_cli_plan_informative(struct orch_plan *plan, const char *text, GError **error)
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

void orch_cli_plan_informative_print(struct orch_cli *cli, const struct orch_plan *plan,
                                     const GArray *choices,
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
