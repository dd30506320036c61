/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch cancel`: ends trials that run on this machine or were submitted to an executor. */
#include "core/cli/cli.h"
#include "core/plan/executor.h"
#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/wire/trial_request.h"
#include "store/store.h"

#include <string.h>

struct cancel_options {
    bool all;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct cancel_options, all, FLAG, "all", .letter = 'a',
                .help = "cancel every trial of this store that waits or runs"),
    {0}};

/* The trials that were named, by who runs them. */
struct wanted {
    GPtrArray *here;                      /* struct orch_active_row *, borrowed */
    GPtrArray *away;                      /* char *: keys, borrowed */
    const struct orch_executor *executor; /* of those away */
};

static bool is_named(const char *key, const char *word)
{
    return strlen(word) >= 4 && (g_str_has_prefix(key, word) || g_str_has_suffix(key, word));
}

/* Several words may name one trial. */
static void add_once(GPtrArray *trials, gpointer trial)
{
    if (!g_ptr_array_find(trials, trial, NULL))
        g_ptr_array_add(trials, trial);
}

/* Sorts the active trials that a word names (NULL: all). Returns how many there are. */
static unsigned find(const GPtrArray *actives, const char *word, struct wanted *wanted)
{
    unsigned count = 0;
    for (guint i = 0; i < actives->len; i++) {
        struct orch_active_row *row = actives->pdata[i];
        const struct orch_executor *executor = orch_executor_of(&row->runner);
        if ((word && !is_named(row->key, word)) || (!executor && !orch_active_is_alive(row)))
            continue;
        count++;
        if (executor) {
            wanted->executor = executor;
            add_once(wanted->away, row->key);
        } else {
            add_once(wanted->here, row);
        }
    }
    return count;
}

static bool find_all(const struct orch_cli *cli, const GPtrArray *actives, struct wanted *wanted,
                     GError **error)
{
    if (!cli->arg_count)
        find(actives, NULL, wanted);
    for (int i = 0; i < cli->arg_count; i++) {
        if (find(actives, cli->args[i], wanted))
            continue;
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "'orch ls' lists the trials that wait and run",
                       "there is no waiting or running trial '%s'", cli->args[i]);
        return false;
    }
    return true;
}

/* Cancels what was found. False on an error. */
static bool cancel(struct orch_store *store, const struct wanted *wanted, unsigned *out_away,
                   GError **error)
{
    g_autofree char *who = orch_who_name(orch_user_name());
    g_autofree char *why = g_strconcat("'orch cancel'", *who ? " by " : "", who, NULL);
    bool ok = !wanted->executor || wanted->executor->cancel(store, wanted->away, out_away, error);
    for (guint i = 0; ok && i < wanted->here->len; i++) {
        const struct orch_active_row *row = wanted->here->pdata[i];
        ok = orch_trial_request_write(row->trial_dir, ORCH_REQUEST_CANCEL, why, error);
    }
    return ok;
}

static void print_result(struct orch_cli *cli, const struct orch_executor *executor, unsigned here,
                         unsigned away)
{
    if (cli->json)
        orch_cli_print_json(json_pack("{s:i}", "cancelled", (int)(here + away)));
    else if (away)
        orch_cli_info(cli, "cancelled %u trial%s; %s", away, orch_plural(away),
                      executor->after_cancel);
    if (!cli->json && (here || !away))
        orch_cli_info(cli, "cancelled %u trial%s; 'orch run' stores the results so far", here,
                      orch_plural(here));
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct cancel_options *o = options;
    if (o->all == (cli->arg_count > 0)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "name runs, or add --all",
                       o->all ? "option '--all' excludes names of runs" : "no run is named");
        return -1;
    }
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_WRITE, error);
    g_autoptr(GPtrArray) actives = store ? orch_store_actives(store, error) : NULL;
    if (!actives)
        return -1;
    g_autoptr(GPtrArray) here = g_ptr_array_new(), away = g_ptr_array_new();
    struct wanted wanted = {.here = here, .away = away};
    unsigned away_count = 0;
    if (!find_all(cli, actives, &wanted, error) || !cancel(store, &wanted, &away_count, error))
        return -1;
    print_result(cli, wanted.executor, here->len, away_count);
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_CANCEL = {
    .name = "cancel",
    .group = "Run",
    .is_listed = true,
    .summary = "cancel trials that wait or run",
    .usage = "[RUN...]",
    .max_args = -1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct cancel_options),
    .about = "A running trial gets SIGTERM first, so that it can save a checkpoint. Its run is "
             "stored as 'cancelled', with its metrics so far. The other trials of the same 'orch "
             "run' continue. If a RUN matches no waiting or running trial, nothing is cancelled.",
    .examples = "  orch ls                 # waiting trials are 'queued'\n"
                "  orch cancel 5f3a91c2\n"
                "  orch cancel --all",
    .run = run,
};
