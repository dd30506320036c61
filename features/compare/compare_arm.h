/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two sides of a comparison that is run now: each has the tree of its commit, and a plan. */
#ifndef ORCH_FEATURES_COMPARE_COMPARE_ARM_H
#define ORCH_FEATURES_COMPARE_COMPARE_ARM_H

#include "core/recipe/recipe.h"
#include "core/record/commit_place.h"
#include "core/workspace/workspace.h"
#include "features/compare/interleave.h"
#include "store/store.h"

struct orch_compare_run {
    const char *recipe;   /* as typed: a path in the work tree */
    const char **targets; /* problems and experiments; NULL-terminated, or NULL: all */
    int repeat;
    const char *profile;
    const char **settings, **sweeps;
    bool reuses; /* trials that the store has are not run again */
};

/** Callbacks that report progress. */
struct orch_compare_listener {
    void *ctx;
    void (*on_message)(void *ctx, const char *text);
    void (*warn)(void *ctx, const char *text);
    /** Returns the command line as stored with the runs; the caller frees. */
    char *(*argv_json)(void *ctx, const struct orch_expansion *expansion);
};

struct orch_compare_arm {
    struct orch_workspace *base; /* the command's workspace; borrowed */
    const struct orch_compare_listener *listener;
    char letter;
    const char *name;    /* as typed: a commit, ".", or "lr = 0.1 and mode = full" */
    GPtrArray *settings; /* char *: "lr=0.1", those of the name; empty for a commit */
    struct orch_commit_place place;
    struct orch_expansion *expansion;
    struct orch_plan *plan;
};
/** Writes out the tree of each name, reads the recipe there and plans its trials. The caller clears
 * `arms`, on error, too. */
bool orch_compare_arms_make(struct orch_workspace *workspace, const char *const *plugin_paths,
                            const struct orch_compare_run *request, const char *const names[2],
                            const struct orch_compare_listener *listener,
                            struct orch_compare_arm arms[2], GError **error);
void orch_compare_arms_clear(struct orch_compare_arm arms[2]);
/** Pairs their trials, and warns of those without a counterpart. The caller clears `out`. */
bool orch_compare_arms_pair(struct orch_compare_arm arms[2], struct orch_interleave *out,
                            GError **error);
/** Returns what the side is: "commit 1a2b3c4d", "the work tree". The caller frees. */
char *orch_compare_arm_what(const struct orch_compare_arm *arm);
/** Reports each trial of a side that ends to the side's listener. */
struct orch_listener orch_compare_arm_listener(struct orch_compare_arm *arm);
/** Formats a message for one of the listener's functions. */
void orch_compare_say(void (*emit)(void *ctx, const char *text), void *ctx, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

#endif
