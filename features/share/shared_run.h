/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A shared run: results of others are merged before a trial starts, a trial is claimed while it
 * runs, and results are sent when it has ended. A claim is released only after the result is
 * visible to all, so that the next process to claim the trial finds the run of the previous one,
 * and each trial runs once. A network failure is reported once, and the run continues unshared.
 *
 * Only trials whose runs others can reuse are claimed, so none with `reuse: never` or --force. This
 * module prints nothing.
 */
#ifndef ORCH_FEATURES_SHARE_SHARED_RUN_H
#define ORCH_FEATURES_SHARE_SHARED_RUN_H

#include "core/schedule/schedule.h"
#include "features/share/remotes/carrier.h"

/** The location of a group's results and claims: a remote, the folder of a store shared by several
 * hosts, or both. */
struct orch_share_place {
    const char *repository;             /* for a git remote: a folder inside the work tree */
    const char *store_folder;           /* used when there is no repository; may be NULL */
    const char *remote;                 /* a git remote, URL or path; or a folder; NULL: none */
    const char *claims_folder;          /* of a shared store; NULL: the store is not shared */
    const struct orch_carrier *carrier; /* of the remote */
    const char *who;                    /* the holder of this process's claims */
};

/** The place of a workspace's store and user, to which the caller adds a remote. `*out_folder` is
 * the store_folder, which the caller frees. */
struct orch_share_place orch_share_place_of(const struct orch_workspace *workspace,
                                            char **out_folder);

struct orch_share_options {
    struct orch_share_place place;
    bool waits; /* wait for trials that others run, and take over those whose claims expire */
    /** Reports the first network failure to the user, in one sentence. May be NULL. */
    void (*on_message)(void *ctx, const char *text);
    /** With `waits`: reports whom the run waits for and until when, whenever that changes. May be
     * NULL. */
    void (*on_wait)(void *ctx, const char *text);
    void *ctx; /* of both */
};

struct orch_run_sharing;
/** Creates the object without contacting a git remote. The options and everything they point to
 * must outlive it. NULL with ORCH_ERROR_IO when there is no such remote or the folder cannot be
 * used. */
struct orch_run_sharing *orch_run_sharing_new(const struct orch_share_options *options,
                                              GError **error);
/** Merges the results that others have sent into the store. Reports a failure and returns false. */
bool orch_share_pull(struct orch_run_sharing *share, struct orch_store *store);
/** Marks trials of the plan as HELD when others run them now: those whose claims prevent them from
 * running here or, with `anywhere`, all trials not done here that any machine has claimed. Reports
 * a failure and returns false. */
bool orch_share_mark(struct orch_run_sharing *share, struct orch_plan *plan, bool anywhere);
/** The claim because of which an item is HELD; NULL when this share knows none. Borrowed. */
const struct orch_claim *orch_share_holder(const struct orch_run_sharing *share,
                                           const struct orch_plan_item *item);
/** The scheduler's hooks for a run of `plan`. Borrows `share`. */
struct orch_sharing orch_share_hooks(struct orch_run_sharing *share, struct orch_plan *plan);
/** Sends all unsent results and releases all claims. `has_more`: the store got new data other than
 * trials. */
void orch_share_finish(struct orch_run_sharing *share, bool has_more);
/** "3 trials are run by bob until 12:40, 1 by eve until 13:05"; for the plan's HELD trials whose
 * claims this share knows; NULL when there are none. The caller frees. */
char *orch_share_held_text(const struct orch_run_sharing *share, const struct orch_plan *plan);
void orch_run_sharing_free(struct orch_run_sharing *share);

#endif
