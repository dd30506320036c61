/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/share/sharing.h"

#include "features/share/remote.h"
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

struct sharing *orch_cli_sharing_open_readonly(struct orch_cli *cli, const char *remote,
                                               GError **error)
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
    place.is_folder = sharing->remote.is_folder;
    sharing->cli = cli;
    sharing->options = (struct orch_share_options){
        .place = place, .on_message = on_message, .on_wait = on_wait, .ctx = sharing};
    sharing->share = orch_run_sharing_new(&sharing->options, error);
    if (sharing->share)
        return sharing;
    orch_cli_sharing_close(sharing);
    return NULL;
}

static bool options_agree(const struct sharing_options *options,
                          const struct orch_expansion *expansion, GError **error)
{
    if ((options->remote || options->waits) && !options->shares)
        orch_error_set(error, ORCH_ERROR_USAGE, "add --share",
                       "option '--%s' does nothing without --share",
                       options->waits ? "wait" : "remote");
    else if (options->shares && expansion->smoke)
        orch_error_set(
            error, ORCH_ERROR_USAGE, NULL,
            "options '--share' and '--smoke' cannot be combined: a smoke run is not recorded");
    else
        return true;
    return false;
}

bool orch_cli_sharing_open(struct orch_cli *cli, const struct sharing_options *options,
                           const struct orch_expansion *expansion, struct sharing **out,
                           GError **error)
{
    *out = NULL;
    if (!options_agree(options, expansion, error))
        return false;
    if (!options->shares)
        return true;
    *out = orch_cli_sharing_open_readonly(cli, options->remote, error);
    if (*out)
        (*out)->options.waits = options->waits;
    return *out != NULL;
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

void orch_cli_sharing_pull(struct sharing *sharing, struct orch_store *store)
{
    if (sharing)
        orch_share_pull(sharing->share, store);
}

void orch_cli_sharing_mark_held(struct sharing *sharing, struct orch_plan *plan)
{
    if (sharing)
        orch_share_mark(sharing->share, plan, false);
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

struct orch_sharing orch_cli_sharing_hooks(struct sharing *sharing, struct orch_plan *plan,
                                           const struct orch_listener *listener)
{
    sharing->listener = listener;
    return orch_share_hooks(sharing->share, plan);
}

void orch_cli_sharing_finish(struct sharing *sharing, bool has_more)
{
    if (!sharing)
        return;
    sharing->listener = NULL; /* the progress display has ended */
    orch_share_finish(sharing->share, has_more);
}

void orch_cli_sharing_print_held(struct orch_cli *cli, const struct sharing *sharing,
                                 const struct orch_plan *plan)
{
    g_autofree char *text = orch_share_held_text(sharing->share, plan);
    if (text)
        orch_cli_info(cli, "%s; run again to use them, or --wait", text);
}

bool orch_cli_sharing_mark(struct orch_cli *cli, const struct sharing_options *options,
                           struct orch_plan *plan, GError **error)
{
    struct sharing_options with_remote = *options;
    with_remote.shares =
        with_remote.shares || with_remote.remote; /* for looking, --remote alone is enough */
    struct sharing *sharing;
    if (!orch_cli_sharing_open(cli, &with_remote, plan->expansion, &sharing, error))
        return false;
    orch_cli_sharing_mark_held(sharing, plan);
    orch_cli_sharing_close(sharing);
    return true;
}
