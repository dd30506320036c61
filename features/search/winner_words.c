/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/search/winner_words.h"

#include "core/cli/cli.h"
#include "core/recipe/command_words.h"
#include "core/stats/spread.h"
#include "features/search/searched_points.h"
#include "features/search/tried_points.h"
#include "lib/base/text.h"

#define FRESH_REPEATS 5

/* "5 fresh repeats of it give 0.912 [0.905, 0.918]" */
static char *fresh_text(const struct orch_searched *searched)
{
    const GArray *fresh = searched->fresh;
    const struct orch_spread spread =
        orch_spread_of((const double *)(const void *)fresh->data, fresh->len,
                       searched->search->metric, searched->unit);
    g_autofree char *value = orch_spread_format(&spread);
    return g_strdup_printf("%u fresh repeat%s, not used to choose the setting, give%s %s",
                           fresh->len, orch_plural(fresh->len), fresh->len == 1 ? "s" : "", value);
}

static struct orch_best_of best_of(const struct orch_searched *searched)
{
    const struct orch_searched_point *best = searched->best, *second = searched->second;
    const unsigned count = searched->counts[ORCH_SEARCHED_ENDED] - searched->broke;
    return (struct orch_best_of){
        .noun = count < searched->points->len ? "settings that could be chosen" : "settings",
        .count = count,
        .best = best->value,
        .second = second->value,
        .best_runs = best->values->len,
        .second_runs = second->values->len,
        .larger_wins = searched->search->is_max,
        .noise = searched->noise};
}

char *orch_winner_trust_text(const struct orch_searched *searched)
{
    if (!searched->second)
        return NULL;
    if (searched->fresh->len)
        return fresh_text(searched);
    const struct orch_best_of of = best_of(searched);
    return orch_best_of_text(&of);
}

bool orch_winner_may_be_luck(const struct orch_searched *searched)
{
    if (!searched->second)
        return false;
    const struct orch_best_of of = best_of(searched);
    return !searched->fresh->len && orch_best_of_may_be_luck(&of);
}

/* ---- what is no winner ----------------------------------------------------------------------- */

char *orch_winner_spoilt_text(const struct orch_searched *searched)
{
    const struct orch_searched_point *point = searched->spoilt;
    if (!point)
        return NULL;
    char value[ORCH_REAL_CHARS];
    const unsigned all = point->values->len + point->failed + point->without;
    g_autofree char *setting = orch_search_values(searched->search, point->at);
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%s%s would be best by its other trials (%s), but has no value: ",
                           searched->best ? "" : "no setting has a value; ", setting,
                           orch_tried_value_format(orch_searched_mean(point->values), value));
    if (point->failed)
        g_string_append_printf(text, "%u of its %u trials failed", point->failed, all);
    if (point->without)
        g_string_append_printf(text, "%s%u of its %u trials %s no number of %s",
                               point->failed ? ", and " : "", point->without, all,
                               point->without == 1 ? "has" : "have", searched->search->metric);
    return g_string_free(text, FALSE);
}

/* ---- what repeats it ------------------------------------------------------------------------- */

/* Whether a parameter is to be given to make the trial again: its value is no default. */
static bool is_given(const struct orch_cell *cell, const char *name)
{
    const struct orch_param_spec *spec = orch_manifest_param(cell->experiment->manifest, name);
    const char *origin = g_hash_table_lookup(cell->experiment->origins, name);
    return spec && !orch_param_is_secret(spec) &&
           !(origin && g_str_has_prefix(origin, "default ")) &&
           !json_is_null(json_object_get(cell->params, name));
}

/* Appends the options that decide what a run of the command records, and under which name. */
static void add_recorded(GString *text, const struct orch_experiment *experiment)
{
    const struct orch_manifest *manifest = experiment->manifest;
    g_autofree char *name = orch_cli_shell_word(experiment->name);
    g_string_append_printf(text, " --name %s", name);
    if (manifest->metrics_on != ORCH_METRICS_ON_STDOUT)
        g_string_append_printf(text, " --metrics-from %s",
                               ORCH_METRICS_ON_NAMES[manifest->metrics_on]);
    for (char **pattern = manifest->metrics_files; pattern && *pattern; pattern++) {
        g_autofree char *word = orch_cli_shell_word(*pattern);
        g_string_append_printf(text, " --metrics-file %s", word);
    }
    for (guint i = 0; i < manifest->artifacts->len; i++) {
        const struct orch_artifact_spec *spec = manifest->artifacts->pdata[i];
        g_autofree char *path = spec->path ? orch_command_word_typed(spec->path) : g_strdup("");
        g_autofree char *both = g_strdup_printf("%s=%s", spec->name, path);
        g_autofree char *word = orch_cli_shell_word(both);
        if (spec->path)
            g_string_append_printf(text, " --artifact %s", word);
    }
}

/* "orch try -s lr=0.01 --name train --repeat 6 -- python3 train.py --lr={lr}" */
static char *command_text(const struct orch_cell *cell, int repeat)
{
    GString *text = g_string_new("orch try");
    const char *name;
    json_t *value;
    json_object_foreach(cell->params, name, value)
    {
        g_autofree char *plain = orch_cell_value_text(cell, name);
        g_autofree char *setting = g_strdup_printf("%s=%s", name, plain);
        g_autofree char *word = orch_cli_shell_word(setting);
        if (is_given(cell, name))
            g_string_append_printf(text, " -s %s", word);
    }
    add_recorded(text, cell->experiment);
    g_string_append_printf(text, " --repeat %d --", repeat);
    for (int i = 0; cell->experiment->program[i]; i++) {
        g_autofree char *typed = orch_command_word_typed(cell->experiment->program[i]);
        g_autofree char *word = orch_cli_shell_word(typed);
        g_string_append_printf(text, " %s", word);
    }
    return g_string_free(text, FALSE);
}

/* A value as it is written between braces. */
static char *recipe_value(const struct orch_cell *cell, const char *name, const json_t *value)
{
    static const char PLAIN[] =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._-+/";
    g_autofree char *text = orch_cell_value_text(cell, name);
    if (json_is_string(value) && (!*text || text[strspn(text, PLAIN)]))
        return json_dumps(value, JSON_ENCODE_ANY);
    return g_steal_pointer(&text);
}

/* "again: { plugin: train, with: { lr: 0.01, opt: sgd }, repeat: 6 }" */
static char *experiment_text(const struct orch_cell *cell, int repeat)
{
    GString *with = g_string_new(NULL);
    const char *name;
    json_t *value;
    json_object_foreach(cell->params, name, value)
    {
        g_autofree char *plain = recipe_value(cell, name, value);
        if (is_given(cell, name))
            g_string_append_printf(with, "%s%s: %s", with->len ? ", " : "", name, plain);
    }
    char *text = g_strdup_printf(
        "add the experiment 'again: { plugin: %s, with: { %s }, repeat: %d }' to the recipe",
        cell->experiment->manifest->name, with->str, repeat);
    g_string_free(with, TRUE);
    return text;
}

char *orch_winner_repeat_text(const struct orch_searched *searched)
{
    if (!searched->second || searched->fresh->len)
        return NULL;
    const struct orch_cell *cell = searched->best->item->cell;
    const int repeat = cell->experiment->repeat + FRESH_REPEATS;
    return cell->experiment->is_own_program ? command_text(cell, repeat)
                                            : experiment_text(cell, repeat);
}
