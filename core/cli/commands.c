/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of commands, in the order in which help shows them. */
#include "core/cli/cli.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

/* clang-format off */
#define COMMANDS(X)                                                                                \
    X(RUN) X(COLLECT) X(CANCEL) X(PLAN) X(CHECK) X(CONFIG) X(TRY) X(RECORD) X(INIT)                                              \
    X(REPORT) X(SUBMIT) X(TABLE) X(PLOT) X(LS) X(SHOW) X(LOG) X(NOTE) X(TAG) X(NAME) X(SERVE) X(BEST) X(COMPARE) X(EXPORT) X(EXPORT_JOB) X(DIFF) X(CHECKOUT)  \
    X(PLUGIN_LS) X(PLUGIN_SHOW) X(PLUGIN_CHECK) X(PLUGIN_NEW) X(PLUGIN_TRUST)                      \
    X(NET_LS) X(NET_SHOW) X(NET_COMPARE) X(NET_FIELD) X(GPU_LS) X(GPU_SHOW) X(GPU_LINKS) X(GPU_PRICES) X(PREDICT) X(CURVE) X(PALEO) X(PREDICTOR_EVAL) \
    X(PREDICTOR_ROWS) X(PREDICTOR_TRAIN) X(PREDICTOR_SCORE) X(PREDICTOR_LS) X(PREDICTOR_SHOW) X(PREDICTOR_EXPORT) X(PREDICTOR_RM) \
    X(DATASET_LS) X(DATASET_GET) X(IMPORT) X(MEASUREMENTS_LS) X(MEASUREMENTS_SHOW) X(MEASUREMENTS_EXPORT) X(MEASUREMENTS_RM) \
    X(PULL) X(PUSH) X(STATUS) X(COVERAGE) X(COST) X(PACK) X(VERIFY)                                \
    X(RM) X(PURGE) X(GC) X(DB_INFO) X(DB_CHECK) X(DB_BACKUP) X(DB_MIGRATE) X(DB_MERGE) X(DB_REPAIR) X(DB_ADOPT) \
    X(DOCTOR) X(COMPLETION) X(HELP)
/* clang-format on */

#define DECLARE(name) extern const struct orch_command ORCH_COMMAND_##name;
COMMANDS(DECLARE)
#undef DECLARE

#define ROW(name) &ORCH_COMMAND_##name,
const struct orch_command *const ORCH_COMMANDS[] = {COMMANDS(ROW) NULL};
#undef ROW

/* Returns a hint for a word that users of other programs may type; NULL for other words. */
static const char *usual_word(const char *typed)
{
    static const struct {
        const char *word, *hint;
    } table[] = {
        {"merge",
         "'orch db merge FILE' joins a store or bundle, 'orch pull' what the group pushed"},
        {"sync", "'orch pull' gets the group's runs, 'orch push' sends yours"},
        {"share", "'orch push' sends your runs; 'orch run RECIPE --share' runs what nobody has"},
        {"fetch", "'orch pull' gets the group's runs"},
        {"clone", "'git clone' the repository, then 'orch pull'"},
        {"remote", "'git remote add origin URL' names a remote"},
        {"bundle", "'orch export --bundle FILE' writes one, 'orch db merge FILE' joins one"},
        {"stop",
         "'orch cancel RUN' cancels a trial in a Slurm job; Ctrl-C in 'orch run' stops those here"},
        {"wait", "'orch collect' takes in the trials of Slurm jobs that have ended"},
        {"claim", "'orch run RECIPE --share' claims trials, 'orch coverage RECIPE' shows claims"},
        {"claims", "'orch run RECIPE --share' claims trials, 'orch coverage RECIPE' shows claims"},
        {"ledger", "'orch cost' sums what it cost the group"},
        {"sign", "'orch push --sign' signs your runs, 'orch db check --signatures' judges them"},
        {"remove", "'orch rm RUN' hides a run"},
        {"delete", "'orch rm RUN' hides a run"},
        {"undo", "'orch rm --undo RUN' brings a removed run back"},
        {"restore", "'orch rm --undo RUN' brings a removed run back"},
        {"list", "'orch ls' lists runs"},
        {"data", "'orch dataset ls' lists training sets, 'orch measurements ls' imported tables"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
        if (strcmp(table[i].word, typed) == 0)
            return table[i].hint;
    return NULL;
}

/* Renamed commands: the earlier name, and the current one. */
static const struct {
    const char *old, *now;
} RENAMED[] = {
    {"data ls", "dataset ls"},
    {"data get", "dataset get"},
    {"dataset show", "measurements show"},
    {"dataset rm", "measurements rm"},
    {"dataset export", "measurements export"},
};

/* Sets an error with the new name when the command was renamed. False when it was not. */
static bool refuse_renamed(int argc, const char *const *argv, GError **error)
{
    g_autofree char *typed = argc > 1 ? g_strjoin(" ", argv[0], argv[1], NULL) : g_strdup(argv[0]);
    for (size_t i = 0; i < G_N_ELEMENTS(RENAMED); i++) {
        if (strcmp(RENAMED[i].old, typed) != 0)
            continue;
        g_autofree char *hint = g_strdup_printf("type 'orch %s'", RENAMED[i].now);
        orch_error_set(error, ORCH_ERROR_USAGE, hint, "'orch %s' is now called 'orch %s'", typed,
                       RENAMED[i].now);
        return true;
    }
    return false;
}

const struct orch_command *orch_command_find(const char *name)
{
    for (int i = 0; ORCH_COMMANDS[i]; i++)
        if (strcmp(ORCH_COMMANDS[i]->name, name) == 0)
            return ORCH_COMMANDS[i];
    return NULL;
}

void orch_command_unknown(int argc, const char *const *argv, GError **error)
{
    if (refuse_renamed(argc, argv, error))
        return;
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    g_autofree char *prefix = g_strconcat(argv[0], " ", NULL);
    GString *inner = g_string_new(NULL);
    for (int i = 0; ORCH_COMMANDS[i]; i++) {
        g_ptr_array_add(names, (char *)(uintptr_t)ORCH_COMMANDS[i]->name);
        if (g_str_has_prefix(ORCH_COMMANDS[i]->name, prefix))
            g_string_append_printf(inner, "%s'orch %s'", inner->len ? ", " : "",
                                   ORCH_COMMANDS[i]->name);
    }
    g_ptr_array_add(names, NULL);
    g_autofree char *typed =
        argc > 1 && inner->len ? g_strconcat(prefix, argv[1], NULL) : g_strdup(argv[0]);
    const char *near = orch_suggest(typed, (const char *const *)names->pdata);
    g_autofree char *hint =
        inner->len && argc < 2 ? g_strdup_printf("there are %s", inner->str)
        : usual_word(argv[0])  ? g_strdup(usual_word(argv[0]))
        : near ? g_strdup_printf("did you mean 'orch %s'? 'orch help' lists all", near)
               : g_strdup("'orch help' lists all");
    orch_error_set(error, ORCH_ERROR_USAGE, hint,
                   inner->len && argc < 2 ? "'orch %s' needs a subcommand" : "unknown command '%s'",
                   typed);
    g_string_free(inner, TRUE);
}
