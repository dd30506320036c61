/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run that is shared: results of others are joined before a trial starts, a trial is claimed for
 * as long as it takes, and what ended is sent. A claim is given back only when the result is there
 * for all to see, so that whoever claims a trial and then looks finds the run of the one before:
 * each trial runs once. Where the network fails it is said once, and the run goes on alone.
 *
 * Claimed is what could spare others: no trial with `reuse: never`, none that is forced. Nothing is
 * printed here.
 */
#ifndef ORCH_CORE_RUN_SHARED_RUN_H
#define ORCH_CORE_RUN_SHARED_RUN_H

#include "core/run/schedule.h"
#include "store/exchange/claims.h"
#include "store/exchange/results_ref.h"

/** Where results and claims of a group are: at a remote, in the folder of a store that several
 * hosts share, or at both. */
struct orch_share_place {
    const char *repository;    /* folder inside the work tree; of a git remote */
    const char *store_folder;  /* where there is no repository; may be NULL */
    const char *remote;        /* a git remote, URL or path; or a folder; NULL: none */
    const char *claims_folder; /* of a shared store; NULL: it is none */
    bool is_folder;            /* the remote */
    const char *who;           /* of our claims */
};

struct orch_share_options {
    struct orch_share_place place;
    bool waits; /* for trials that others run, and takes over those whose claims expire */
    /** A sentence for the user: a network that fails, the first time. May be NULL. */
    void (*say)(void *ctx, const char *text);
    /** For whom the run waits and until when (with `waits`), whenever that changes. May be NULL. */
    void (*tell)(void *ctx, const char *text);
    void *say_ctx; /* of both */
};

struct orch_share;
/** Nothing is asked of a git remote yet. Options and what they point to must outlive it. NULL with
 * ORCH_ERROR_IO: no such remote, or the folder cannot be used. */
struct orch_share *orch_share_new(const struct orch_share_options *options, GError **error);
/** Joins what others have sent into the store. A failure is said; false then. */
bool orch_share_pull(struct orch_share *share, struct orch_store *store);
/** Trials of the plan that others run now are HELD: those that their claims keep from running here;
 * with `anywhere` all that are not done here, by whatever machine they are claimed. A failure is
 * said; false then. */
bool orch_share_mark(struct orch_share *share, struct orch_plan *plan, bool anywhere);
/** The claim by which an item is HELD; NULL: none that this share knows of. Borrowed. */
const struct orch_claim *orch_share_holder(const struct orch_share *share,
                                           const struct orch_plan_item *item);
/** The hooks of a run of `plan`. Borrows `share`. */
struct orch_sharing orch_share_hooks(struct orch_share *share, struct orch_plan *plan);
/** Sends what was not sent yet, and gives all claims back. `has_more`: something came to the store
 * besides trials. */
void orch_share_finish(struct orch_share *share, bool has_more);
/** "3 trials are run by bob until 12:40, 1 by eve until 13:05"; NULL: none. Of the plan's HELD
 * trials that this share knows of. The caller frees. */
char *orch_share_held_text(const struct orch_share *share, const struct orch_plan *plan);
void orch_share_free(struct orch_share *share);

#endif
