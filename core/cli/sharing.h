/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --share of `run`, `plan` and `coverage`: where the group's results and claims are, and what is
 * said of it. */
#ifndef ORCH_CORE_CLI_SHARING_H
#define ORCH_CORE_CLI_SHARING_H

#include "core/cli/cli.h"
#include "core/run/shared_run.h"

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
     "together with your group, through the git remote or a folder"},                              \
    {                                                                                              \
        "remote", 0, "NAME|FOLDER", ORCH_OPT_TEXT, offsetof(type, member.remote),                  \
            "with --share: another git remote (URL, path), or a shared folder"                     \
    }

struct sharing;
/** Opens what the options ask for; `*out` NULL: nothing. ORCH_ERROR_USAGE for options that do
 * nothing, ORCH_ERROR_IO when there is no remote. */
bool sharing_open(struct orch_cli *cli, const struct sharing_options *options,
                  const struct orch_expansion *expansion, struct sharing **out, GError **error);
/** Gives claims back. NULL is fine, here and below. */
void sharing_close(struct sharing *sharing);
/** Joins what others have sent; a network that fails is warned of. */
void sharing_pull(struct sharing *sharing, struct orch_store *store);
/** Trials of the plan that others run now are HELD. */
void sharing_look(struct sharing *sharing, struct orch_plan *plan);
/** The hooks of a run. What they say goes to the listener from now on. */
struct orch_sharing sharing_hooks(struct sharing *sharing, struct orch_plan *plan,
                                  const struct orch_listener *listener);
/** Sends what was not sent yet, gives claims back. `has_more`: something came to the store besides
 * trials (signatures). */
void sharing_finish(struct sharing *sharing, bool has_more);
/** Says who runs what is left. */
void sharing_say_held(struct orch_cli *cli, const struct sharing *sharing,
                      const struct orch_plan *plan);
/** For `orch plan`: marks what others run now. False: bad options. */
bool sharing_mark(struct orch_cli *cli, const struct sharing_options *options,
                  struct orch_plan *plan, GError **error);

/** The group's claims, for looking: `remote` NULL: the default. NULL with an error: there is none.
 */
struct sharing *sharing_look_at(struct orch_cli *cli, const char *remote, GError **error);
/** Marks all that others run anywhere. */
void sharing_mark_anywhere(struct sharing *sharing, struct orch_plan *plan);
/** Who runs a HELD item; NULL: nobody that is known. Borrowed. */
const struct orch_claim *sharing_holder(const struct sharing *sharing,
                                        const struct orch_plan_item *item);

#endif
