/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch plan --most-informative N` and `orch run --most-informative N`. */
#include "core/cli/forecast_show.h"
#include "core/cli/parts.h"
#include "core/cli/run_part.h"
#include "core/plan/plan.h"
#include "features/predict/trial/design.h"
#include "features/predict/trial_forecasts.h"
#include "lib/base/json.h"

#include <string.h>

/* ---- the choice ---------------------------------------------------------------------------------
 */

struct orch_informative_trial {
    unsigned item; /* of the plan */
    double left; /* share (0 to 1) of the plan's uncertainty that remains after measuring this trial
                    and those before it */
};

/** The maximum number of trials to choose from. */
#define ORCH_INFORMATIVE_MAX ORCH_DESIGN_ROWS_MAX

/* The trials of a plan without their repeats. */
struct cells {
    GArray *items;    /* unsigned: the first item of each that will run, else its first */
    GArray *measured; /* bool */
    GArray *open;     /* bool: at least one repeat will run */
};

static void cells_init(struct cells *cells)
{
    cells->items = g_array_new(FALSE, FALSE, sizeof(unsigned));
    cells->measured = g_array_new(FALSE, FALSE, sizeof(bool));
    cells->open = g_array_new(FALSE, FALSE, sizeof(bool));
}

static void cells_release(struct cells *cells)
{
    g_array_unref(cells->items);
    g_array_unref(cells->measured);
    g_array_unref(cells->open);
}

static void add_item(struct cells *cells, GHashTable *by_cell, struct orch_plan *plan,
                     unsigned index, struct orch_forecasts *forecasts)
{
    const struct orch_plan_item *item = &plan->items[index];
    bool opens = orch_plan_will_run(item), measured = orch_forecasts_has_run(forecasts, item);
    char *cell = orch_forecasts_cell(forecasts, item);
    gpointer at;
    if (g_hash_table_lookup_extended(by_cell, cell, NULL, &at)) {
        bool *open = &g_array_index(cells->open, bool, GPOINTER_TO_UINT(at));
        if (opens && !*open)
            g_array_index(cells->items, unsigned, GPOINTER_TO_UINT(at)) = index;
        *open = *open || opens;
        g_free(cell);
        return;
    }
    g_hash_table_insert(by_cell, cell, GUINT_TO_POINTER(cells->items->len));
    g_array_append_val(cells->items, index);
    g_array_append_val(cells->measured, measured);
    g_array_append_val(cells->open, opens);
}

static void find_cells(struct orch_plan *plan, struct orch_forecasts *forecasts,
                       struct cells *cells)
{
    g_autoptr(GHashTable) by_cell = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->items[i].state != ORCH_PLAN_UNUSED && plan->items[i].state != ORCH_PLAN_SKIPPED &&
            plan->items[i].state != ORCH_PLAN_PRUNED)
            add_item(cells, by_cell, plan, i, forecasts);
}

/* Chooses `count` (1 to ORCH_INFORMATIVE_MAX) trials that will run, at most one per setting,
 * because repeats add little. Settings already measured on this device count as known. Returns
 * struct orch_informative_trial in the order of choice, or NULL with ORCH_ERROR_USAGE when there
 * are too many trials. The caller unrefs. */
static GArray *informative_choose(struct orch_plan *plan, struct orch_forecasts *forecasts,
                                  int count, GError **error)
{
    struct cells cells;
    cells_init(&cells);
    find_cells(plan, forecasts, &cells);
    g_autofree bool *may = g_new0(bool, cells.items->len + 1);
    for (guint i = 0; i < cells.items->len; i++)
        may[i] = g_array_index(cells.open, bool, i) && !g_array_index(cells.measured, bool, i);
    struct orch_matrix *features = orch_forecasts_features(
        forecasts, (const unsigned *)(void *)cells.items->data, cells.items->len);
    g_autofree struct orch_design_choice *design =
        g_new0(struct orch_design_choice, (size_t)count + 1);
    int chosen = orch_design_choose(features, (const bool *)(void *)cells.measured->data, may,
                                    count, design, error);
    GArray *choices =
        chosen < 0 ? NULL : g_array_new(FALSE, FALSE, sizeof(struct orch_informative_trial));
    for (int i = 0; i < chosen; i++) {
        struct orch_informative_trial choice = {g_array_index(cells.items, unsigned, design[i].row),
                                                design[i].left};
        g_array_append_val(choices, choice);
    }
    orch_matrix_free(features);
    cells_release(&cells);
    return choices;
}

static void keep(const struct orch_plan *plan, unsigned index, bool *kept)
{
    if (kept[index])
        return;
    kept[index] = true;
    const GPtrArray *refs = plan->items[index].cell->refs;
    for (guint i = 0; i < refs->len; i++) {
        const struct orch_ref *ref = refs->pdata[i];
        for (guint j = 0; j < ref->cells->len; j++)
            keep(plan, g_array_index(ref->cells, unsigned, j), kept);
    }
}

/* Restricts the plan to these trials and the trials they refer to. */
static void informative_keep(struct orch_plan *plan, const GArray *choices)
{
    g_autofree bool *kept = g_new0(bool, plan->count + 1);
    for (guint i = 0; i < choices->len; i++)
        keep(plan, g_array_index(choices, struct orch_informative_trial, i).item, kept);
    for (unsigned i = 0; i < plan->count; i++)
        if (!kept[i] && plan->items[i].state != ORCH_PLAN_DONE)
            plan->items[i].state = ORCH_PLAN_UNUSED;
}

/* ---- as text ------------------------------------------------------------------------------------
 */

struct informative_options {
    const char *count;
};

/* Chooses the trials; ORCH_ERROR_USAGE for a bad number of them. */
static GArray *choose(struct orch_plan *plan, const struct orch_forecaster *forecaster,
                      const char *text, GError **error)
{
    int64_t count = 0;
    return orch_cli_count(text, "--most-informative", ORCH_INFORMATIVE_MAX, &count, error)
               ? informative_choose(plan, orch_forecasts_of(forecaster), (int)count, error)
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
        orch_cli_info(cli, "command that runs just these trials: %s", command);
    else
        orch_cli_info(cli, "every trial of the plan has been measured here");
}

/* ---- the parts of run and plan -----------------------------------------------------------------
 */

static const struct orch_option RUN_OPTIONS[] = {
    ORCH_OPTION(struct informative_options, count, TEXT, "most-informative", .value = "N",
                .help = "only the N trials that would improve time forecasts most"),
    {0}};
static const struct orch_option PLAN_OPTIONS[] = {
    ORCH_OPTION(struct informative_options, count, TEXT, "most-informative", .value = "N",
                .help = "only the N trials that would improve time forecasts most"),
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
    g_autoptr(GArray) choices = choose(subject->plan, subject->forecaster, o->count, error);
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
    g_autoptr(GArray) choices = choose(outlook->plan, outlook->forecaster, state, error);
    if (choices)
        informative_keep(outlook->plan, choices);
    return choices;
}

static const struct orch_run_part RUN_PART = {.begin = begin, .limit = limit, .close = g_free};

const struct orch_command_part ORCH_PART_RUN_INFORMATIVE = {
    .command = "run",
    .heading = "what runs",
    .options = RUN_OPTIONS,
    .option_bytes = sizeof(struct informative_options),
    .is_alone = true, /* with --dry-run, which shows the plan */
    .is_asked = is_asked,
    .show = show,
    .run = &RUN_PART,
};

const struct orch_command_part ORCH_PART_PLAN_INFORMATIVE = {
    .command = "plan",
    .heading = "what runs",
    .options = PLAN_OPTIONS,
    .option_bytes = sizeof(struct informative_options),
    .examples =
        "  orch plan recipes/hw4.recipe --most-informative 5        # which five to measure first",
    .is_alone = true,
    .is_asked = is_asked,
    .show = show,
};
