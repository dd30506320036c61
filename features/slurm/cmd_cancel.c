/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch cancel`: cancels trials in Slurm jobs. */
#include "core/cli/cli.h"
#include "features/slurm/slurm_command.h"
#include "features/slurm/slurm_jobs.h"
#include "lib/base/error.h"
#include "lib/base/text.h"
#include "store/store.h"

#include <stdio.h>
#include <string.h>

/* ---- scancel ------------------------------------------------------------------------------------
 */

enum { CANCEL_AT_ONCE = 500 };

static bool call_scancel(GPtrArray *argv, GError **error)
{
    g_autofree char *out = NULL, *err = NULL;
    g_ptr_array_add(argv, NULL);
    int status = orch_slurm_run((const char *const *)argv->pdata, &out, &err, error);
    if (status < 0)
        return false;
    /* a job that has just ended is no failure */
    if (status == 0 || strstr(err, "already complet") || strstr(err, "Invalid job id"))
        return true;
    g_autofree char *complaint = orch_slurm_complaint(err);
    orch_error_set(error, ORCH_ERROR_IO, "'scontrol ping' shows whether the controller answers",
                   "scancel refused: %s", complaint);
    return false;
}

/* Returns the elements ("JOB_INDEX") of the trials whose key `is_wanted` accepts. The caller
 * unrefs; NULL with an error. */
static GPtrArray *slurm_cancel_find(struct orch_store *store,
                                    bool (*is_wanted)(void *ctx, const char *key), void *ctx,
                                    GError **error)
{
    g_autoptr(GPtrArray) actives = orch_store_actives(store, error);
    if (!actives)
        return NULL;
    g_autoptr(GPtrArray) rows = orch_slurm_trials(store, actives);
    GPtrArray *elements = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_slurm_trial *row = rows->pdata[i];
        if (row->job && is_wanted(ctx, row->row->key))
            g_ptr_array_add(elements, orch_slurm_element(row->job, row->index));
    }
    return elements;
}

/* Cancels elements. Their trials are taken in later, as any other trial that has ended. */
static bool slurm_cancel(const GPtrArray *elements, GError **error)
{
    for (guint i = 0; i < elements->len;) {
        g_autoptr(GPtrArray) argv = g_ptr_array_new();
        g_ptr_array_add(argv, (gpointer)(uintptr_t) "scancel");
        for (; i < elements->len && argv->len <= CANCEL_AT_ONCE; i++)
            g_ptr_array_add(argv, elements->pdata[i]);
        if (!call_scancel(argv, error))
            return false;
    }
    return true;
}

/* ---- the command --------------------------------------------------------------------------------
 */

struct cancel_options {
    bool all;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct cancel_options, all, FLAG, "all", .letter = 'a',
                .help = "cancel every trial of this store that is in a Slurm job"),
    {0}};

/* The trials that the user named; `found` marks the words that named one. */
struct wanted {
    const char *const *words;
    int count;
    bool all;
    bool *found;
};

static bool is_named(const char *key, const char *word)
{
    return strlen(word) >= 4 && (g_str_has_prefix(key, word) || g_str_has_suffix(key, word));
}

static bool is_wanted(void *ctx, const char *key)
{
    struct wanted *wanted = ctx;
    bool any = wanted->all;
    for (int i = 0; i < wanted->count; i++)
        if (is_named(key, wanted->words[i]))
            any = wanted->found[i] = true;
    return any;
}

static bool check_found(const struct wanted *wanted, GError **error)
{
    for (int i = 0; i < wanted->count; i++) {
        if (wanted->found[i])
            continue;
        orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                       "'orch ls' lists them as queued and running; Ctrl-C in its 'orch run' stops "
                       "a trial of this machine",
                       "no trial '%s' is in a Slurm job", wanted->words[i]);
        return false;
    }
    return true;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct cancel_options *o = options;
    if (o->all == (cli->arg_count > 0)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "name runs, or add --all",
                       o->all ? "option '--all' and names of runs exclude each other"
                              : "no run is named");
        return -1;
    }
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_WRITE, error);
    if (!store)
        return -1;
    g_autofree bool *found = g_new0(bool, cli->arg_count + 1);
    struct wanted wanted = {(const char *const *)cli->args, cli->arg_count, o->all, found};
    g_autoptr(GPtrArray) elements = slurm_cancel_find(store, is_wanted, &wanted, error);
    if (!elements || !check_found(&wanted, error) || !slurm_cancel(elements, error))
        return -1;
    unsigned count = elements->len;
    if (cli->json)
        orch_cli_print_json(json_pack("{s:i}", "cancelled", (int)count));
    else
        orch_cli_info(cli, "cancelled %u trial%s; 'orch collect' takes in what they wrote", count,
                      orch_plural(count));
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_CANCEL = {
    .name = "cancel",
    .group = "Running",
    .summary = "cancel trials that wait or run in Slurm jobs",
    .usage = "[RUN...]",
    .max_args = -1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct cancel_options),
    .about =
        "Cancels the elements of job arrays in which these trials wait or run. A running trial "
        "gets SIGTERM first, so that it can save; 'orch collect' records it as cancelled. A "
        "trial that had not begun leaves no run. Trials that depend on a cancelled one are "
        "cancelled by Slurm. A name that fits no such trial is an error, and nothing is cancelled.",
    .examples = "  orch ls                 # shows them as queued and running\n"
                "  orch cancel 5f3a91c2\n"
                "  orch cancel --all",
    .run = run,
};
