/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/job_trial.h"

#include "core/results/run_named.h"
#include "core/run/argv_record.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>

#define LABELS_SHOWN 8

extern const struct orch_command ORCH_COMMAND_RUN;

void orch_job_trial_clear(struct orch_job_trial *trial)
{
    orch_plan_free(trial->plan);
    orch_expansion_free(trial->expansion);
    g_clear_pointer(&trial->words, g_ptr_array_unref);
}

/* ---- the trials --------------------------------------------------------------------------------
 */

static bool expand(struct orch_cli *cli, const struct orch_variant *wish,
                   struct orch_job_trial *out, GError **error)
{
    struct orch_variant variant = *wish;
    variant.leaves_out_unnamed = true; /* as 'orch run' does, so that --part counts alike */
    out->expansion = orch_cli_recipe(cli, cli->args[0], &variant, error);
    const struct orch_execute_options options = {.jobs = 1, .any_slots = true, .reads_only = true};
    if (out->expansion)
        out->plan = orch_execute_make_plan(cli, out->expansion, &options, 0, error);
    return out->plan != NULL;
}

static unsigned count_wanted(const struct orch_plan *plan)
{
    unsigned count = 0;
    for (unsigned i = 0; i < plan->count; i++)
        count += plan->items[i].cell->wanted;
    return count;
}

/* The item at a position (from 1) among those that 'orch run' would consider. */
static const struct orch_plan_item *wanted_at(const struct orch_plan *plan, unsigned position)
{
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->items[i].cell->wanted && --position == 0)
            return &plan->items[i];
    return NULL;
}

static unsigned position_of(const struct orch_plan *plan, const struct orch_plan_item *item)
{
    unsigned position = 0;
    for (unsigned i = 0; i < plan->count; i++) {
        position += plan->items[i].cell->wanted;
        if (&plan->items[i] == item)
            break;
    }
    return position;
}

/* ---- one of several ----------------------------------------------------------------------------
 */

static char *labels_hint(const struct orch_plan *plan)
{
    GString *out = g_string_new("name one with --trial: ");
    unsigned count = count_wanted(plan);
    for (unsigned i = 1; i <= MIN(count, LABELS_SHOWN); i++) {
        const struct orch_plan_item *item = wanted_at(plan, i);
        g_autofree char *label = item ? orch_cell_label(item->cell) : g_strdup("");
        g_string_append_printf(out, "%s%u '%s'", i > 1 ? ", " : "", i, label);
    }
    if (count > LABELS_SHOWN)
        g_string_append_printf(out, ", ... %u", count);
    return g_string_free(out, FALSE);
}

static const struct orch_plan_item *with_label(const struct orch_plan *plan, const char *label)
{
    for (unsigned i = 0; i < plan->count; i++) {
        g_autofree char *own = orch_cell_label(plan->items[i].cell);
        if (plan->items[i].cell->wanted && strcmp(own, label) == 0)
            return &plan->items[i];
    }
    return NULL;
}

static const struct orch_plan_item *choose(const struct orch_plan *plan, const char *trial,
                                           GError **error)
{
    unsigned count = count_wanted(plan);
    int64_t number = 0;
    if (!trial && count == 1)
        return wanted_at(plan, 1);
    g_autofree char *hint = labels_hint(plan);
    if (!trial) {
        orch_error_set(
            error, ORCH_ERROR_USAGE, count ? hint : NULL,
            count ? "there are %u trials, and a job is one of them" : "there are %u trials", count);
        return NULL;
    }
    const struct orch_plan_item *item =
        orch_int_parse(trial, &number)
            ? (number > 0 && number <= count ? wanted_at(plan, (unsigned)number) : NULL)
            : with_label(plan, trial);
    if (!item)
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, hint, "there is no trial '%s'", trial);
    return item;
}

/* ---- a stored run ------------------------------------------------------------------------------
 */

static const struct orch_plan_item *item_of_run(const struct orch_plan *plan,
                                                const struct orch_run *run, GError **error)
{
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->items[i].cell->wanted && run->fingerprint &&
            strcmp(plan->items[i].fingerprint, run->fingerprint) == 0)
            return &plan->items[i];
    orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                   "its settings, files or plugin have changed: name the recipe and --trial",
                   "no trial of '%s' as it is now is that of run %s", plan->expansion->name,
                   orch_cli_short_key(run->key));
    return NULL;
}

/* The arguments of the 'orch run' that made a run, without "orch run"; NULL with an error for runs
 * of other commands. */
static char **run_words(const struct orch_run *run, int *out_count, GError **error)
{
    g_autoptr(json_t) argv = run->argv ? json_loads(run->argv, 0, NULL) : NULL;
    const char *command = json_string_value(json_array_get(argv, 1));
    if (json_array_size(argv) < 3 || !command || strcmp(command, "run") != 0) {
        orch_error_set(error, ORCH_ERROR_USAGE, "name a recipe and --trial",
                       "run %s was not made by 'orch run', so no recipe describes its job",
                       orch_cli_short_key(run->key));
        return NULL;
    }
    size_t count = json_array_size(argv) - 2;
    char **words = g_new0(char *, count + 1);
    for (size_t i = 0; i < count; i++) {
        const char *word = json_string_value(json_array_get(argv, i + 2));
        words[i] = g_strdup(word ? word : "");
    }
    *out_count = (int)count;
    return words;
}

static void free_variant(struct orch_execute_options *options)
{
    g_free(options->variant.settings);
    g_free(options->variant.sweeps);
}

/* Reads that command line again, and makes its arguments those of `cli`. */
static bool read_words(struct orch_cli *cli, char **words, int count,
                       struct orch_execute_options *options, GError **error)
{
    struct orch_cli then = {.command = &ORCH_COMMAND_RUN, .args = g_new0(const char *, count + 1)};
    bool ok = orch_options_parse(&then, count, words, options, error) && then.arg_count > 0;
    if (ok) {
        g_free(cli->args);
        cli->args = g_steal_pointer(&then.args);
        cli->arg_count = then.arg_count;
        options->variant.part = NULL; /* the trial is counted among all of them */
    }
    g_free(then.args);
    g_free(then.plugin_paths);
    return ok;
}

/* ---- the command -------------------------------------------------------------------------------
 */

static void add(GPtrArray *words, const char *word)
{
    g_ptr_array_add(words, g_strdup(word));
}

static void add_all(GPtrArray *words, const char *option, const char *const *values)
{
    for (int i = 0; values && values[i]; i++) {
        add(words, option);
        add(words, values[i]);
    }
}

/* --part selects the trial by its position, so that it keeps the settings, the seed and therefore
 * the fingerprint that it has in the plan. */
static GPtrArray *command_words(const struct orch_cli *cli, const struct orch_job_trial *trial,
                                const struct orch_variant *variant)
{
    GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
    const char *root = trial->plan->workspace->root;
    g_autofree char *path = orch_path_absolute(cli->args[0], NULL);
    size_t length = strlen(root);
    bool is_inside = strncmp(path, root, length) == 0 && path[length] == '/';
    g_autofree char *part =
        g_strdup_printf("%u/%u", position_of(trial->plan, trial->item), count_wanted(trial->plan));
    add(words, "orch");
    add(words, "run");
    add(words, is_inside ? path + length + 1 : path);
    for (int i = 1; i < cli->arg_count; i++)
        add(words, cli->args[i]);
    if (variant->profile)
        add_all(words, "-p", (const char *const[]){variant->profile, NULL});
    add_all(words, "-s", variant->settings);
    add_all(words, "-x", variant->sweeps);
    add_all(words, "--part", (const char *const[]){part, NULL});
    add(words, "--no-progress");
    return words;
}

static bool find_of_recipe(struct orch_cli *cli, const struct orch_job_selector *selector,
                           struct orch_job_trial *out, GError **error)
{
    if (!expand(cli, &selector->variant, out, error))
        return false;
    out->item = choose(out->plan, selector->trial, error);
    if (out->item)
        out->words = command_words(cli, out, &selector->variant);
    return out->item != NULL;
}

static bool find_of_run(struct orch_cli *cli, const struct orch_run *run,
                        struct orch_job_trial *out, GError **error)
{
    int count = 0;
    g_auto(GStrv) words = run_words(run, &count, error);
    struct orch_execute_options options = {0};
    bool ok = words && read_words(cli, words, count, &options, error) &&
              expand(cli, &options.variant, out, error) &&
              (out->item = item_of_run(out->plan, run, error));
    if (ok)
        out->words = command_words(cli, out, &options.variant);
    free_variant(&options);
    return ok;
}

/* A document is a file that others read, so a secret must not be in its command. */
static bool has_no_secret(const struct orch_job_trial *trial, GError **error)
{
    g_autofree char *shown = orch_argv_record((char *const *)trial->words->pdata,
                                              (int)trial->words->len, trial->expansion);
    if (!strstr(shown, "(secret)"))
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE,
                   "let the job read it from its environment or from a file",
                   "the command sets a secret parameter, which the document would show");
    return false;
}

static bool find(struct orch_cli *cli, const struct orch_job_selector *selector,
                 struct orch_job_trial *out, GError **error)
{
    if (cli->arg_count > 1 || g_str_has_suffix(cli->args[0], ".recipe") ||
        g_file_test(cli->args[0], G_FILE_TEST_IS_REGULAR))
        return find_of_recipe(cli, selector, out, error);
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    struct orch_named_run named = {0};
    bool ok = store && orch_named_run_find(store, cli->args[0], false, &named, error);
    if (ok && !named.run) {
        orch_error_set(error, ORCH_ERROR_USAGE, "name its recipe and --trial",
                       "run '%s' has not ended", cli->args[0]);
        ok = false;
    }
    ok = ok && find_of_run(cli, named.run, out, error);
    orch_named_run_clear(&named);
    return ok;
}

bool orch_job_trial_find(struct orch_cli *cli, const struct orch_job_selector *selector,
                         struct orch_job_trial *out, GError **error)
{
    *out = (struct orch_job_trial){0};
    return find(cli, selector, out, error) && has_no_secret(out, error);
}
