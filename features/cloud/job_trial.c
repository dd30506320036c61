/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/cloud/job_trial.h"

#include "core/record/argv_record.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>

#define LABELS_SHOWN 8

/* ---- one of several ----------------------------------------------------------------------------
 */

/* Whether 'orch run' would consider an item; of one experiment (NULL: of those requested). */
static bool is_counted(const struct orch_plan_item *item, const char *experiment)
{
    return experiment ? strcmp(item->cell->experiment->name, experiment) == 0 : item->cell->wanted;
}

static unsigned count_wanted(const struct orch_plan *plan, const char *experiment)
{
    unsigned count = 0;
    for (unsigned i = 0; i < plan->count; i++)
        count += is_counted(&plan->items[i], experiment);
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

static unsigned position_of(const struct orch_plan *plan, const struct orch_plan_item *item,
                            const char *experiment)
{
    unsigned position = 0;
    for (unsigned i = 0; i < plan->count; i++) {
        position += is_counted(&plan->items[i], experiment);
        if (&plan->items[i] == item)
            break;
    }
    return position;
}

static char *labels_hint(const struct orch_plan *plan)
{
    GString *out = g_string_new("name one with --trial: ");
    unsigned count = count_wanted(plan, NULL);
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

const struct orch_plan_item *orch_job_trial_choose(const struct orch_plan *plan, const char *trial,
                                                   GError **error)
{
    unsigned count = count_wanted(plan, NULL);
    int64_t number = 0;
    if (!trial && count == 1)
        return wanted_at(plan, 1);
    g_autofree char *hint = labels_hint(plan);
    if (!trial) {
        orch_error_set(error, ORCH_ERROR_USAGE, count ? hint : NULL, "a job runs one trial, not %u",
                       count);
        return NULL;
    }
    const struct orch_plan_item *item =
        orch_int_parse(trial, &number)
            ? (number > 0 && number <= count ? wanted_at(plan, (unsigned)number) : NULL)
            : with_label(plan, trial);
    if (!item)
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, hint, "there is no trial '%s'", trial);
    else if (orch_cell_is_open(item->cell))
        orch_error_set(
            error, ORCH_ERROR_USAGE, "set the searched parameters with -s",
            "trial '%s' belongs to a search, which chooses parameter values during the run", trial);
    return item && !orch_cell_is_open(item->cell) ? item : NULL;
}

/* ---- a stored run ------------------------------------------------------------------------------
 */

const struct orch_plan_item *orch_job_trial_of_run(const struct orch_plan *plan,
                                                   const struct orch_run *run, GError **error)
{
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->items[i].cell->wanted && run->fingerprint &&
            strcmp(plan->items[i].fingerprint, run->fingerprint) == 0)
            return &plan->items[i];
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, "choose a trial: orch export job RECIPE --trial N",
                   "recipe '%s' no longer has the trial of run %s", plan->expansion->name,
                   orch_run_short_key(run->key));
    return NULL;
}

char **orch_job_run_words(const struct orch_run *run, int *out_count, GError **error)
{
    g_autoptr(json_t) argv = run->argv ? json_loads(run->argv, 0, NULL) : NULL;
    const char *command = json_string_value(json_array_get(argv, 1));
    if (json_array_size(argv) < 3 || !command || strcmp(command, "run") != 0) {
        orch_error_set(error, ORCH_ERROR_USAGE, "name the recipe, and a trial with --trial",
                       "run %s was not made by 'orch run', so no recipe describes its job",
                       orch_run_short_key(run->key));
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
GPtrArray *orch_job_command_words(const struct orch_plan *plan, const struct orch_plan_item *item,
                                  const struct orch_job_command *typed)
{
    GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *path = orch_path_absolute(typed->args[0], NULL);
    const char *relative = orch_path_below(path, plan->workspace->root);
    g_autofree char *part = g_strdup_printf("%u/%u", position_of(plan, item, typed->experiment),
                                            count_wanted(plan, typed->experiment));
    add(words, "orch");
    add(words, "run");
    add(words, relative ? relative : path);
    for (int i = 1; typed->args[i]; i++)
        add(words, typed->args[i]);
    if (typed->experiment)
        add(words, typed->experiment);
    if (typed->profile)
        add_all(words, "-p", (const char *const[]){typed->profile, NULL});
    add_all(words, "-s", typed->settings);
    add_all(words, "-x", typed->sweeps);
    add_all(words, "--part", (const char *const[]){part, NULL});
    add(words, "--no-progress");
    return words;
}

/* A document is a file that others read, so a secret must not be in its command. */
bool orch_job_has_no_secret(const GPtrArray *words, const struct orch_expansion *expansion,
                            GError **error)
{
    g_autofree char *shown =
        orch_argv_record((char *const *)words->pdata, (int)words->len, expansion);
    if (!strstr(shown, "(secret)"))
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "let the program read the secret from its environment",
                   "the job document would show a secret parameter of the command");
    return false;
}
