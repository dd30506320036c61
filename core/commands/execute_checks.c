/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is checked before a run begins: that the options go together, and that the plan may run. */
#include "core/commands/execute.h"
#include "core/feature/feature.h"
#include "core/plan/command_check.h"
#include "core/plan/executor.h"
#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

/* With more trials, --yes is required. */
#define TRIALS_WITHOUT_CONFIRMATION 500

bool orch_execute_gpus_parse(struct orch_cli *cli, const char *text, GArray *out, GError **error)
{
    guint count = orch_workspace_machine(cli->workspace)->gpus->len;
    g_auto(GStrv) words = g_strsplit(text ? text : "", ",", -1);
    for (int i = 0; words[i]; i++) {
        int64_t gpu;
        if (!orch_int_parse(words[i], &gpu) || gpu < 0 || gpu >= count) {
            const char *doctor = orch_advice(ORCH_ADVICE_MACHINE, NULL);
            g_autofree char *hint =
                doctor ? g_strconcat("'", doctor, "' lists the GPUs of this machine", NULL) : NULL;
            orch_error_set(error, ORCH_ERROR_USAGE, hint,
                           "option '--gpus': '%s' is not one of this machine's %u GPUs", words[i],
                           count);
            return false;
        }
        unsigned index = (unsigned)gpu;
        g_array_append_val(out, index);
    }
    return true;
}

bool orch_execute_executor_fits(const struct orch_cli *cli, const char *name, GError **error)
{
    const struct orch_executor *executor = name ? orch_executor_find(name) : NULL;
    g_autofree const char **names = orch_executor_names();
    if (name && !g_strv_contains(names, name)) {
        g_autofree char *words = g_strjoinv(" or ", (char **)(void *)names);
        g_autofree char *hint = g_strdup_printf("use %s", words);
        orch_error_set(error, ORCH_ERROR_USAGE, hint,
                       "option '--executor': there is no executor '%s'", name);
        return false;
    }
    for (size_t i = 0; executor && executor->refused[i].name; i++) {
        const struct orch_refused_option *refused = &executor->refused[i];
        if (!orch_cli_is_given(cli, refused->name))
            continue;
        orch_error_set(error, ORCH_ERROR_USAGE, refused->hint,
                       "option '--%s' cannot be combined with '--executor %s'", refused->name,
                       name);
        return false;
    }
    return true;
}

bool orch_execute_options_agree(const struct orch_cli *cli,
                                const struct orch_execute_options *options, GError **error)
{
    if (options->fail_fast && options->keep_going) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL,
                       "option '--fail-fast' excludes '--keep-going'");
        return false;
    }
    if (options->jobs < 0 || options->jobs > 1024) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL,
                       "option '--jobs': %d is not between 1 and 1024", options->jobs);
        return false;
    }
    return orch_execute_executor_fits(cli, options->executor, error);
}

/* Which repeats of `repeat: auto` are needed is decided here, from results that an executor brings
 * later. */
static bool has_no_auto_repeats(const struct orch_plan *plan, GError **error)
{
    for (unsigned i = 0; i < plan->count; i++) {
        const struct orch_plan_item *item = &plan->items[i];
        if (!plan->options.executor || !item->cell->wanted || !item->cell->experiment->repeats)
            continue;
        orch_error_set(
            error, ORCH_ERROR_USAGE, "give 'repeat' a number",
            "option '--executor' needs a number of repeats, but experiment '%s' has 'repeat: auto'",
            item->cell->experiment->name);
        return false;
    }
    return true;
}

static bool may_be_frozen(const struct orch_execute_options *options,
                          const struct orch_source *source, GError **error)
{
    if (options->live && options->frozen)
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "--live uses the changed files, --frozen a copy of the old files",
                       "option '--live' excludes '--frozen'");
    else if (options->frozen && !source->tree)
        orch_error_set(error, ORCH_ERROR_USAGE, "run 'git init' first",
                       "option '--frozen' needs a git repository");
    else
        return true;
    return false;
}

bool orch_execute_may_start(struct orch_cli *cli, const struct orch_expansion *expansion,
                            const struct orch_execute_options *options,
                            const struct orch_plan *plan, GError **error)
{
    if (!has_no_auto_repeats(plan, error) || !orch_command_check_plan(plan, error))
        return false;
    const struct orch_source *source = orch_workspace_source(cli->workspace, error);
    if (!source || !may_be_frozen(options, source, error))
        return false;
    if ((options->require_clean || expansion->require_clean) && (!source->tree || source->dirty)) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       source->tree ? "commit your changes first ('git status' shows them)"
                                    : "run 'git init' and commit first",
                       "'%s' %s, but --require-clean needs a clean work tree", cli->workspace->root,
                       source->tree ? "has uncommitted changes" : "is not in a git repository");
        return false;
    }
    unsigned left = orch_plan_count(plan, ORCH_PLAN_MISSING) +
                    orch_plan_count(plan, ORCH_PLAN_STALE) +
                    orch_plan_count(plan, ORCH_PLAN_WAITING);
    if (left > TRIALS_WITHOUT_CONFIRMATION && !options->yes) {
        orch_error_set(error, ORCH_ERROR_USAGE, "to run them, add --yes",
                       "%u trials would run; more than %d need --yes", left,
                       TRIALS_WITHOUT_CONFIRMATION);
        return false;
    }
    return true;
}
