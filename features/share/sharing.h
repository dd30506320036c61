/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --share of `run`, `plan` and `coverage`: access to the group's results and claims, and messages
 * about them. */
#ifndef ORCH_FEATURES_SHARE_SHARING_H
#define ORCH_FEATURES_SHARE_SHARING_H

#include "core/cli/cli.h"
#include "features/share/shared_run.h"

struct sharing_options {
    const char *remote;
    bool shares, waits;
};
#define ORCH_SHARING_OPTIONS(type, member)                                                         \
    {"share",                                                                                      \
     0,                                                                                            \
     NULL,                                                                                         \
     ORCH_OPT_FLAG,                                                                                \
     offsetof(type, member.shares),                                                                \
     "share trials with your group through the git remote or a folder"},                           \
    {                                                                                              \
        "remote", 0, "NAME|FOLDER", ORCH_OPT_TEXT, offsetof(type, member.remote),                  \
            "with --share: another git remote (URL, path), or a shared folder"                     \
    }

struct sharing;
/** Opens the remote that the options request; `*out` is NULL without --share. ORCH_ERROR_USAGE for
 * options that have no effect, ORCH_ERROR_IO when there is no remote. */
bool orch_cli_sharing_open(struct orch_cli *cli, const struct sharing_options *options,
                           const struct orch_expansion *expansion, struct sharing **out,
                           GError **error);
/** Releases this user's claims. Accepts NULL, like the functions below. */
void orch_cli_sharing_close(struct sharing *sharing);
/** Merges results that others have pushed; a network failure is only a warning. */
void orch_cli_sharing_pull(struct sharing *sharing, struct orch_store *store);
/** Marks trials of the plan that others are running as HELD. */
void orch_cli_sharing_mark_held(struct sharing *sharing, struct orch_plan *plan);
/** Returns the hooks of a run. Their messages go to `listener` from now on. */
struct orch_sharing orch_cli_sharing_hooks(struct sharing *sharing, struct orch_plan *plan,
                                           const struct orch_listener *listener);
/** Pushes what has not been pushed yet and releases claims. `has_more`: the store has new content
 * other than trials (signatures). */
void orch_cli_sharing_finish(struct sharing *sharing, bool has_more);
/** Prints who is running the remaining trials. */
void orch_cli_sharing_print_held(struct orch_cli *cli, const struct sharing *sharing,
                                 const struct orch_plan *plan);
/** For `orch plan`: marks trials that others are running. False for bad options. */
bool orch_cli_sharing_mark(struct orch_cli *cli, const struct sharing_options *options,
                           struct orch_plan *plan, GError **error);

/** Opens the group's claims for reading; `remote` NULL: the default. NULL with an error when there
 * is none. */
struct sharing *orch_cli_sharing_open_readonly(struct orch_cli *cli, const char *remote,
                                               GError **error);
/** Marks all trials that others are running on any machine. */
void orch_cli_sharing_mark_anywhere(struct sharing *sharing, struct orch_plan *plan);
/** Returns the claim of a HELD item; NULL when it is unknown. Borrowed. */
const struct orch_claim *orch_cli_sharing_holder(const struct sharing *sharing,
                                                 const struct orch_plan_item *item);

#endif
