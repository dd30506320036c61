/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/share/sharing.h"

#include "core/cli/parts.h"
#include "core/cli/run_part.h"
#include "features/share/remote.h"
#include "features/share/signatures.h"
#include "lib/base/error.h"

struct sharing {
    struct orch_cli *cli;
    struct orch_remote remote;
    char *store_folder; /* NULL: no store yet */
    struct orch_share_options options;
    struct orch_run_sharing *share;
    const struct orch_listener *listener; /* during a run */
};

/* Prints a warning. During a run the listener prints it, because a progress block is on the
 * screen. */
static void on_message(void *ctx, const char *text)
{
    const struct sharing *sharing = ctx;
    const struct orch_listener *listener = sharing->listener;
    g_autofree char *warning = g_strdup_printf("warning: %s", text);
    if (listener && listener->message)
        listener->message(listener->ctx, warning);
    else
        orch_cli_warn(sharing->cli, "%s", text);
}

static void on_wait(void *ctx, const char *text)
{
    const struct sharing *sharing = ctx;
    const struct orch_listener *listener = sharing->listener;
    if (listener && listener->message && !sharing->cli->quiet)
        listener->message(listener->ctx, text);
    else
        orch_cli_info(sharing->cli, "%s", text);
}

struct sharing *orch_cli_sharing_open(struct orch_cli *cli, const char *remote, GError **error)
{
    const struct orch_workspace *workspace = orch_cli_workspace(cli, NULL, error);
    if (!workspace)
        return NULL;
    struct sharing *sharing = g_new0(struct sharing, 1);
    GError *problem = NULL;
    struct orch_share_place place = orch_share_place_of(workspace, &sharing->store_folder);
    if (!orch_remote_find(workspace, remote, &sharing->remote, &problem)) {
        if (remote || !place.claims_folder) {
            g_propagate_error(error, problem);
            orch_cli_sharing_close(sharing);
            return NULL;
        }
        g_error_free(problem); /* use the store's own folder */
    }
    place.remote = sharing->remote.name;
    place.carrier = sharing->remote.carrier;
    sharing->cli = cli;
    sharing->options = (struct orch_share_options){
        .place = place, .on_message = on_message, .on_wait = on_wait, .ctx = sharing};
    sharing->share = orch_run_sharing_new(&sharing->options, error);
    if (sharing->share)
        return sharing;
    orch_cli_sharing_close(sharing);
    return NULL;
}

void orch_cli_sharing_close(struct sharing *sharing)
{
    if (!sharing)
        return;
    orch_run_sharing_free(sharing->share);
    orch_remote_clear(&sharing->remote);
    g_free(sharing->store_folder);
    g_free(sharing);
}

void orch_cli_sharing_mark_anywhere(struct sharing *sharing, struct orch_plan *plan)
{
    orch_share_mark(sharing->share, plan, true);
}

const struct orch_claim *orch_cli_sharing_holder(const struct sharing *sharing,
                                                 const struct orch_plan_item *item)
{
    return sharing ? orch_share_holder(sharing->share, item) : NULL;
}

/* ---- orch run, plan and try -------------------------------------------------------------------
 */

struct run_options {
    const char *remote;
    bool shares, waits, sign;
};
#define SIGN_OPTION                                                                                \
    ORCH_OPTION(struct run_options, sign, FLAG, "sign",                                            \
                .help = "sign these runs with your git signing key")
#define SHARING_OPTIONS                                                                            \
    ORCH_OPTION(struct run_options, shares, FLAG, "share",                                         \
                .help = "divide the trials among your group"),                                     \
        ORCH_OPTION(struct run_options, remote, TEXT, "remote", .value = "NAME|FOLDER",            \
                    .help = "with --share: the group's git remote or shared folder")

static const struct orch_option RUN_OPTIONS[] = {
    SIGN_OPTION,
    SHARING_OPTIONS,
    ORCH_OPTION(struct run_options, waits, FLAG, "wait",
                .help = "with --share: wait for trials that others run"),
    {0}};
static const struct orch_option PLAN_OPTIONS[] = {SHARING_OPTIONS, {0}};
static const struct orch_option TRY_OPTIONS[] = {SIGN_OPTION, {0}};

/* A run with its options. */
struct run {
    struct orch_cli *cli;
    const struct run_options *options;
    struct sharing *sharing; /* NULL: not shared */
};

static bool options_agree(const struct run_options *o, bool shares,
                          const struct orch_expansion *expansion, GError **error)
{
    if ((o->remote || o->waits) && !shares)
        orch_error_set(error, ORCH_ERROR_USAGE, "add --share", "option '--%s' needs '--share'",
                       o->waits ? "wait" : "remote");
    else if (shares && expansion->smoke)
        orch_error_set(error, ORCH_ERROR_USAGE, NULL, "option '--share' excludes '--smoke'");
    else
        return true;
    return false;
}

static void close_run(void *state)
{
    struct run *run = state;
    orch_cli_sharing_close(run->sharing);
    g_free(run);
}

/* Merges what others have sent, so that the plan reuses it; a network failure is only a warning. */
static bool begin(struct orch_cli *cli, const void *options, const struct orch_expansion *expansion,
                  bool only_plans, void **out_state, GError **error)
{
    const struct run_options *o = options;
    bool shares = o->shares || (only_plans && o->remote); /* for looking, --remote is enough */
    if (!options_agree(o, shares, expansion, error))
        return false;
    struct run *run = g_new0(struct run, 1);
    *run = (struct run){.cli = cli, .options = o};
    if (shares) {
        run->sharing = orch_cli_sharing_open(cli, o->remote, error);
        if (!run->sharing) {
            close_run(run);
            return false;
        }
        run->sharing->options.waits = o->waits;
        if (!only_plans)
            orch_share_pull(run->sharing->share, cli->workspace->store);
    }
    *out_state = run;
    return true;
}

static void mark(void *state, struct orch_plan *plan)
{
    const struct run *run = state;
    if (run->sharing)
        orch_share_mark(run->sharing->share, plan, false);
}

static bool share(void *state, struct orch_plan *plan, const struct orch_listener *listener,
                  struct orch_sharing *out)
{
    const struct run *run = state;
    if (!run->sharing)
        return false;
    run->sharing->listener = listener;
    *out = orch_share_hooks(run->sharing->share, plan);
    return true;
}

/* Signs the new runs, sends what has not been sent yet, and releases the claims. */
static bool ended(void *state, struct orch_plan *plan, const struct orch_totals *totals,
                  GError **error)
{
    const struct run *run = state;
    bool may_sign =
        totals && !plan->expansion->smoke && !totals->interrupted && !totals->terminated;
    int signatures =
        may_sign ? orch_cli_signatures_make(run->cli, plan->store, run->options->sign, error) : 0;
    if (run->sharing) {
        run->sharing->listener = NULL; /* the progress display has ended */
        orch_share_finish(run->sharing->share, signatures > 0);
    }
    return signatures >= 0;
}

static bool print_held(void *state, const struct orch_plan *plan)
{
    const struct run *run = state;
    g_autofree char *text = run->sharing ? orch_share_held_text(run->sharing->share, plan) : NULL;
    if (text)
        orch_cli_info(run->cli, "%s; --wait waits for the results", text);
    return run->sharing;
}

static const struct orch_run_part RUN_PART = {
    .begin = begin,
    .mark = mark,
    .share = share,
    .ended = ended,
    .print_held = print_held,
    .close = close_run,
};

const struct orch_command_part ORCH_PART_RUN_SHARING = {
    .command = "run",
    .heading = "sharing",
    .options = RUN_OPTIONS,
    .option_bytes = sizeof(struct run_options),
    .about = "\n"
             "\n"
             "With --share, a group runs one recipe together: results of others are reused, and "
             "trials that others are running are left out. See 'orch help sharing'.",
    .examples = "  orch run r.recipe --share --wait       # with your group",
    .run = &RUN_PART,
};

const struct orch_command_part ORCH_PART_PLAN_SHARING = {
    .command = "plan",
    .heading = "sharing",
    .options = PLAN_OPTIONS,
    .option_bytes = sizeof(struct run_options),
    .run = &RUN_PART,
};

const struct orch_command_part ORCH_PART_TRY_SIGN = {
    .command = "try",
    .heading = "sharing",
    .options = TRY_OPTIONS,
    .option_bytes = sizeof(struct run_options),
    .run = &RUN_PART,
};
