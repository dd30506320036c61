/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plan states for each trial of a recipe what will happen and why. Making a plan has no side
 * effects. */
#ifndef ORCH_CORE_PLAN_PLAN_H
#define ORCH_CORE_PLAN_PLAN_H

#include "core/inputs/inputs.h"
#include "core/plan/executor.h"
#include "core/plugin/plugins.h"
#include "core/recipe/needs.h"
#include "core/recipe/recipe.h"
#include "core/recipe/recipe_search.h"
#include "core/workspace/environment.h"
#include "core/workspace/workspace.h"

enum orch_plan_state {
    ORCH_PLAN_DONE,    /* an earlier run is reused */
    ORCH_PLAN_MISSING, /* will run: it has no run, or its last run did not end well */
    ORCH_PLAN_STALE,   /* will run: only an earlier version of it has a run */
    ORCH_PLAN_WAITING, /* will run or reuse a run once the trials it refers to are done */
    ORCH_PLAN_HELD,    /* another process runs it now */
    ORCH_PLAN_PRUNED,  /* will not run: its search's rule stopped it in an earlier run */
    ORCH_PLAN_SKIPPED, /* will not run: this machine lacks a resource that it needs */
    ORCH_PLAN_UNUSED,  /* not requested, and no trial that will run refers to it */
};

/** What this machine lacks for a trial that is skipped. */
enum orch_plan_lack {
    ORCH_PLAN_LACKS_NOTHING,
    ORCH_PLAN_LACKS_GPU,
    ORCH_PLAN_LACKS_MEMORY,
    ORCH_PLAN_LACKS_SOFTWARE, /* a package brings it */
};

struct orch_plan_item {
    const struct orch_cell *cell;
    enum orch_plan_state state;
    char *reason;              /* for people: "done by ada, 2 d ago (any machine)", ... */
    enum orch_plan_lack lack;  /* SKIPPED: also of the trial that it refers to */
    char fingerprint[65];      /* "" while it depends on an undecided best(..) */
    char code_fingerprint[65]; /* the same without comments (core/inputs/scripts.h) */
    char own_fingerprint[65];  /* the trial's own when `fingerprint` is that of a run of which only
                                  comments differ; else the same */
    char *device_key;
    uint64_t seed;                   /* the cell's; with `seed: device` that of the device */
    unsigned gpus;                   /* that it has on this machine: declared, or seen undeclared */
    struct orch_trial_inputs inputs; /* its cell is `cell` */
    GPtrArray *warnings;             /* char *: what the plugin's check warns of, or NULL */
    GPtrArray *no_effect;            /* char *: parameters that have no effect here, no part of the
                                   fingerprint;  or NULL */
    char *run_key;                   /* DONE: the reused run; PRUNED: the one that was stopped */
    char *other_settings; /* STALE: the differing settings of its newest run, as options ("-s
                             epochs=3"); NULL when the difference is not in the settings */
    char *passed_over; /* why a run of this fingerprint is not reused: it was made by another build
                          of orch's own plugin, or in another environment; NULL: no such run */
    int64_t passed_over_ns; /* time of that check; runs that end later are considered again */
    bool forced;            /* makes a new run although one could be reused */
    bool is_disturbed; /* forced because other programs disturbed the run that could be reused */
    int attempts;      /* runs of this fingerprint so far */
    bool was_pruned; /* its search's rule stopped it in an earlier run: when it runs again, then to
                        its end */
    char *goes_on_from; /* the run of it that its search's rule stopped and now lets go on; NULL */
    bool stays_pruned;  /* PRUNED, and the rule cannot let it go on: it has failed since, or its
                           files have changed */
    bool visited;
    bool has_other_comments; /* DONE: only comments changed since the run */
    char *refused; /* with `reads_only`: the reason why the plugin rejects it here, or NULL */
};

struct orch_plan_options {
    unsigned slots; /* trials at once; at least 1 */
    bool force;     /* run the wanted trials even when runs could be reused */
    bool disturbed; /* ... but only those whose run other programs disturbed */
    bool any_slots; /* for commands that only read: accept runs with any share of this machine's
                       threads, preferring that of `slots` */
    /** Nothing will run. A trial that a plugin rejects here (its data may be on another machine) is
     * no error: its runs are looked up by its parameters, and it is skipped when there are none. */
    bool reads_only;
    bool continues_pruned; /* run trials to their end that their search's rule stopped */
    bool no_watch;         /* do not note which files the trials open (core/inputs/opened.h) */
    bool keep_trials;      /* keep the folders of ended trials (ORCH_STORE_DIR_KEPT) */
    /** Runs the trials somewhere else: this machine need not have what they need, and runs of a
     * `reuse: device` trial are those of the same place. NULL: trials run on this machine. */
    const struct orch_executor *executor;
};

struct orch_plan {
    struct orch_workspace *workspace;
    struct orch_plugins *plugins;
    const struct orch_expansion *expansion;
    struct orch_plan_options options;
    struct orch_plan_item *items; /* one per cell, same index */
    unsigned count;
    unsigned *order; /* indices of the items in starting order: every setting of every experiment
                        once before any repeat. References may delay an item. */
    struct orch_inputs *inputs;
    struct orch_environments *environments;
    struct orch_store *store;   /* NULL: there is no store yet */
    GHashTable *equal_searches; /* experiment -> set of names (cell_runs.c) */
    GHashTable *active;         /* fingerprint -> struct orch_active_row * */
    GPtrArray *actives;
    GHashTable *said;    /* set of "EXPERIMENT TEXT": what plugins warn of, as the user knows */
    GPtrArray *rejected; /* char *: points of runs and of others that a plugin rejects, each once */
    guint rejected_said; /* so many of these are known to the user */
};

/** Makes the plan: lets plugins check every trial, computes its fingerprint and looks for its runs.
 * When plugins reject trials, adds findings to `diags` and returns NULL. All arguments must outlive
 * the plan. */
struct orch_plan *orch_plan_new(struct orch_workspace *workspace, struct orch_plugins *plugins,
                                const struct orch_expansion *expansion,
                                const struct orch_plan_options *options, struct orch_diags *diags,
                                GError **error);
void orch_plan_free(struct orch_plan *plan);

/** Re-evaluates an item whose references may have ended: sets its state and reason. */
bool orch_plan_settle(struct orch_plan *plan, unsigned index, GError **error);

/** Captures the source again: trials that start from now on use the files as they are now, once
 * orch_plan_renew was called for them. Finished and running trials keep the tree that they began
 * with. */
bool orch_plan_recapture(struct orch_plan *plan, GError **error);
/** Gives the cells of a search's point, which is set but not chosen yet, its values: they are
 * checked by their plugin, get their fingerprints and states. False, and the point is open again,
 * when the plugin rejects it or on another error. */
bool orch_plan_take_point(struct orch_plan *plan, struct orch_search_point *point, GError **error);
/** Takes the values away from a point again. */
void orch_plan_open_point(struct orch_plan *plan, struct orch_search_point *point);
/** Gives open points of searches those of runs that the store has and that can be reused, in the
 * order in which these ended. Done by orch_plan_new; once more when the store got further runs. */
bool orch_plan_fill_searches(struct orch_plan *plan, GError **error);
/** Says which points of runs of the store, and of others, cannot be taken because the plugin
 * rejects their values today: those that were not said before, the first few by name. Done by
 * orch_plan_new. */
void orch_plan_say_rejected(struct orch_plan *plan, void (*say)(void *ctx, const char *text),
                            void *ctx);
/** Whether the user does not know yet that a plugin warns of this; notes it. */
bool orch_plan_is_new_warning(struct orch_plan *plan, const struct orch_experiment *experiment,
                              const char *text);
/** Gives the open point of an item the coordinates `at`, if one of its trials has the fingerprint
 * then, and no other point of its search has them. `*out_taken`: whether it has them now. */
bool orch_plan_take_trial(struct orch_plan *plan, unsigned index, const double *at,
                          const char *fingerprint, bool *out_taken, GError **error);
/** Finds out which fingerprint an item whose point is open would have with a point's values; ""
 * when its plugin rejects these, or while a trial that it refers to is undecided. */
bool orch_plan_would_be(struct orch_plan *plan, unsigned index, const double *at, char out[65],
                        GError **error);
/** Determines the inputs of a trial that has not started anew; orch_plan_settle then gives its new
 * fingerprint and state. A plugin may reject an open trial, whose values are those of no point. */
bool orch_plan_renew(struct orch_plan *plan, unsigned index, GError **error);

/** Removes files from the inputs of an item, because it has run and has written them, or because
 * another trial of its experiment has before it starts: its inputs and its fingerprint are then
 * those that the next plan finds. `names`: a set. False when the item has none of them. */
bool orch_plan_drop_inputs(struct orch_plan *plan, unsigned index, GHashTable *names);

/** Resolves a reference to an item: its only candidate, or the best of several (all must be done
 * that are not passed over). False with a reason in `*out_why` (the caller frees) when it cannot be
 * resolved. */
bool orch_plan_choose(struct orch_plan *plan, const struct orch_ref *ref, unsigned *out_index,
                      char **out_why, GError **error);

/** True for a trial that the best of several is chosen without: its search's rule stopped it, or
 * its search does not need it. */
bool orch_plan_is_passed_over(const struct orch_plan_item *item);

/** Checks that the artifacts of a DONE item are available here when trials that will run refer to
 * them; a run received from elsewhere may lack its artifacts. Returns false when one is missing:
 * the item is then MISSING and forced, so that it runs again. */
bool orch_plan_check_files(struct orch_plan *plan, unsigned index);

/** Marks an item as PRUNED: its search's rule stopped its run `key` for this reason (may be NULL).
 */
void orch_plan_set_pruned(struct orch_plan_item *item, const char *key, const char *reason);
/** Lets a PRUNED item run once more, which the rule may stop again. */
void orch_plan_let_go_on(struct orch_plan_item *item, const char *why);
/** Marks an item whose search tries nothing more as UNUSED. */
void orch_plan_set_unneeded(struct orch_plan_item *item, const char *why);

/** True for items that `orch run` would start. */
bool orch_plan_will_run(const struct orch_plan_item *item);
unsigned orch_plan_count(const struct orch_plan *plan, enum orch_plan_state state);
/** "done", "missing", ... */
const char *orch_plan_state_name(enum orch_plan_state state);

/** "gpu", "memory" or "software", NULL for nothing. */
const char *orch_plan_lack_name(enum orch_plan_lack lack);

/** The default number of parallel trials: as many as fit on this machine's GPUs (`allowed_gpus` of
 * them; 0: all). When no trial uses a GPU, the recipe's `jobs`, at most one for each of the
 * machine's threads; 1 without `jobs`. */
unsigned orch_plan_default_slots(struct orch_workspace *workspace,
                                 const struct orch_expansion *expansion, unsigned allowed_gpus);

/** Stores the plan's recipe, as written and as it was read, so that runs can refer to it. */
bool orch_plan_store_recipe(const struct orch_plan *plan, GError **error);

#endif
