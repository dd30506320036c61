/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plan: for each trial of a recipe what will happen and why. Making it changes nothing. */
#ifndef ORCH_CORE_RUN_PLAN_H
#define ORCH_CORE_RUN_PLAN_H

#include "core/plugin/plugins.h"
#include "core/recipe/recipe.h"
#include "core/run/environment.h"
#include "core/run/workspace.h"

enum orch_plan_state {
    ORCH_PLAN_DONE,    /* a run spares it */
    ORCH_PLAN_MISSING, /* will run: there is no run of it, or the last did not end well */
    ORCH_PLAN_STALE,   /* will run: there is a run of an earlier version of it */
    ORCH_PLAN_WAITING, /* will run, or be spared, once what it refers to is done */
    ORCH_PLAN_HELD,    /* another process runs it now */
    ORCH_PLAN_SKIPPED, /* will not run: by the profile, or this machine lacks what it needs */
    ORCH_PLAN_UNUSED,  /* not asked for, and nothing that will run refers to it */
};

struct orch_plan_item {
    const struct orch_cell *cell;
    enum orch_plan_state state;
    char *reason;         /* for people: "done by ada, 2 d ago (any machine)", ... */
    char fingerprint[65]; /* "" while it waits for the best of others */
    char *where_key;
    GPtrArray *inputs;     /* struct orch_checked_input *, or NULL */
    const char *inputs_id; /* borrowed from the plan */
    char *run_key;         /* DONE: the run that spares it */
    char *passed_over;     /* why a run of this fingerprint does not count: made by another build of
                              orch's own plugin, or in another environment; NULL: there is none */
    int64_t passed_over_ns; /* when that was found out: a run that ends later counts again */
    bool forced;            /* makes a new run although one would spare it */
    int attempts;           /* runs of this fingerprint so far */
    bool visited;
    char *refused; /* with `reads_only`: why the plugin would not run it here; NULL: it would */
};

struct orch_plan_options {
    unsigned slots; /* trials at once; at least 1 */
    bool force;     /* wanted trials run whatever the store holds */
    bool any_slots; /* to look at what is there: a run counts with whichever share of this machine's
                       threads its slot had, `slots` first */
    /** Nothing will run: what a plugin refuses here (its data may be on another machine) is no
     * error, and is looked up by its parameters. What nobody has run of it is skipped. */
    bool reads_only;
};

struct orch_plan {
    struct orch_workspace *workspace;
    struct orch_plugins *plugins;
    const struct orch_expansion *expansion;
    struct orch_plan_options options;
    struct orch_plan_item *items; /* one for each cell, same index */
    unsigned count;
    GHashTable *inputs_ids;   /* experiment -> char * */
    GHashTable *tree_files;   /* paths of the captured tree; NULL: not asked for yet */
    GHashTable *path_digests; /* path -> digest of its content, "" when the tree has no such path */
    struct orch_environments *environments;
    struct orch_store *store; /* NULL: there is no store yet */
    GHashTable *active;       /* fingerprint -> struct orch_active_row * */
    GPtrArray *actives;
};

/** Makes the plan: asks plugins to check every trial, fingerprints it, looks it up. What plugins
 * refuse is added to `diags` (then NULL is returned). Everything given must outlive the plan. */
struct orch_plan *orch_plan_new(struct orch_workspace *workspace, struct orch_plugins *plugins,
                                const struct orch_expansion *expansion,
                                const struct orch_plan_options *options, struct orch_diags *diags,
                                GError **error);
void orch_plan_free(struct orch_plan *plan);

/** Looks again at an item whose references may have ended: sets its state and reason. */
bool orch_plan_settle(struct orch_plan *plan, unsigned index, GError **error);

/** The item that a reference means now: its only one, or the best of several (all must be done).
 * False with a reason in `*out_why` (the caller frees) when none is known. */
bool orch_plan_choose(struct orch_plan *plan, const struct orch_ref *ref, unsigned *out_index,
                      char **out_why, GError **error);

/** Of a DONE item: are the bytes of its artifacts here that trials which will run refer to? A run
 * that was made elsewhere may have come without. False: the item is to make a run of its own, and
 * is MISSING and forced now. */
bool orch_plan_check_files(struct orch_plan *plan, unsigned index);

unsigned orch_plan_count(const struct orch_plan *plan, enum orch_plan_state state);
/** "done", "missing", ... */
const char *orch_plan_state_name(enum orch_plan_state state);

/** GPUs that a trial of the experiment takes. */
unsigned orch_experiment_gpus(const struct orch_experiment *experiment);
/** Threads of its slot: all of the machine's for a timing trial, else its share. */
int orch_experiment_threads(const struct orch_experiment *experiment,
                            const struct orch_machine *machine, unsigned slots);
bool orch_experiment_is_timing(const struct orch_experiment *experiment);

#endif
