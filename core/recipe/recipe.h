/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recipes: read, checked, expanded into cells (the trials that a recipe asks for). Everything that
 * is wrong is found in one pass, at file:line:column, before anything runs. docs/recipes.md is the
 * user's manual of the format. */
#ifndef ORCH_CORE_RECIPE_RECIPE_H
#define ORCH_CORE_RECIPE_RECIPE_H

#include "core/plugin/plugins.h"
#include "lib/base/diag.h"
#include "lib/wire/manifest.h"

#include <glib.h>
#include <jansson.h>

/** A recipe may not expand into more cells. */
#define ORCH_CELLS_MAX 100000

/** What the command line says. All borrowed; lists NULL-terminated or NULL. */
struct orch_recipe_options {
    const char *profile;         /* NULL: the recipe's */
    const char *const *settings; /* -s "param=value" or "experiment.param=value" */
    const char *const *sweeps;   /* -x "param=a,b" or "experiment.param=a,b" */
    const char *const *targets;  /* problems and experiments to keep; NULL or empty: all */
    unsigned part, part_count;   /* --part 2/5; 0: all */
    int repeat; /* of the experiments that `targets` means, in place of what is written; 0: none */
    bool smoke;
    bool leaves_out_untrusted; /* an experiment whose plugin is not trusted, and those that refer to
                                  it, are left out with a warning; else it is an error */
};

/** `reuse` as resolved (same order as enum orch_reuse of the store). */
enum orch_recipe_reuse { ORCH_RECIPE_REUSE_WHERE, ORCH_RECIPE_REUSE_ANY, ORCH_RECIPE_REUSE_NEVER };

struct orch_experiment {
    char *name;
    int line, column;
    const struct orch_manifest *manifest; /* borrowed from the plugins, or `own_manifest` */
    struct orch_manifest *own_manifest;   /* program: the plugin's tables with the user's command */
    char **program;                       /* argv of `program:`, or NULL */
    int repeat;                           /* >= 1 */
    bool skipped;                         /* by the profile (`skip: true` or a reason), or: */
    bool is_untrusted; /* skipped because a compiled plugin is not trusted: its own, then `manifest`
                          has nothing but a name, or one that it refers to */
    char *skip_reason;
    enum orch_recipe_reuse reuse;
    char *reuse_why; /* "plugin 'sleep' is a timing plugin", "report reads images_per_s (images/s)",
                        "says the recipe", "default" */
    unsigned retries;         /* further attempts after lost or preempted; default 1 */
    unsigned timeout_retries; /* after a timeout: `retries` where the recipe has it, else 0 */
    double timeout_s;         /* 0: none */
    unsigned gpus;            /* per trial */
    unsigned cores;           /* per trial; 0: the slot's share */
    int64_t memory_bytes;
    double time_s;       /* expected at most, for queues; 0: unknown */
    char **inputs;       /* patterns, relative to the repository's root as found from the recipe's
                            folder: written relative to the recipe; NULL: none given */
    bool share_source;   /* share: source */
    GHashTable *origins; /* parameter -> where its value came from: "recipes/hw4.recipe:14:9",
                            "-s", "-x", "default of plugin 'train' 1.0.0" */
};

/** A reference of one cell: ${pretrain.weights}, ${best(pretrain, val_accuracy).weights}. */
struct orch_ref {
    char *param;    /* the parameter that it fills; with several references in one text: the same */
    char *artifact; /* artifact, or result name, of the other trial */
    bool is_result; /* a declared metric or result instead of an artifact */
    char *text;     /* as written */
    char *best_metric; /* NULL, or choose the best of `cells` by the last value of this metric */
    bool best_is_max;
    GArray *cells; /* unsigned: positions in the expansion's cells; exactly one without best_metric.
                      Read only: cells that mean the same trials share it */
};

/** A trial that the recipe asks for. */
struct orch_cell {
    unsigned index; /* in declared order, over the whole recipe (before part and targets) */
    const struct orch_experiment *experiment;
    json_t *params; /* object of canonical values, defaults included (null: optional, none given),
                       references absent. Paths are as written, relative to the recipe's folder, so
                       that they are equal on every machine: whoever starts a trial makes them
                       absolute */
    json_t *coords; /* object: the swept names and their values, in sweep order */
    int repeat;     /* from 1 */
    uint64_t seed;
    GPtrArray *refs; /* struct orch_ref * */
    bool wanted;     /* chosen by targets and part; others are there because one refers to them */
};

enum orch_report_kind {
    ORCH_REPORT_TEXT,
    ORCH_REPORT_TABLE,
    ORCH_REPORT_PLOT,
    ORCH_REPORT_IMAGES,
    ORCH_REPORT_BEST,
    ORCH_REPORT_COMPARE,
    ORCH_REPORT_COVERAGE,
    ORCH_REPORT_WORK,
    ORCH_REPORT_COLLABORATORS,
    ORCH_REPORT_CONVERGED, /* does a series still change at its end? */
    ORCH_REPORT_LISTING,   /* a table that runs leave */
    ORCH_REPORT_CURVE,
    ORCH_REPORT_CURVE_LAW,
    ORCH_REPORT_TIME_TO,
    ORCH_REPORT_LEARN,     /* regressors side by side, and by group held out */
    ORCH_REPORT_LAYERWISE, /* networks' times as sums of measured layers */
    ORCH_REPORT_PALEO,     /* forward passes as PALEO predicts them, and their ratio to a peak */
    ORCH_REPORT_STUDENT,   /* to be written by the student: nothing is computed */
};

/** An item of `report:`, checked. */
struct orch_report_item {
    enum orch_report_kind kind;
    char *question, *title; /* or NULL */
    double points;
    json_t *spec; /* the item's own part as written: texts, lists, objects */
    int line, column;
};

/** What a recipe may cost, over all its runs so far. */
struct orch_allowance {
    bool is_set, has_usd, has_hours;
    double usd, hours; /* hours: of devices (GPUs, or the machine as one) */
    bool per_person;   /* each may use so much; else all together */
    int line, column;
};

/** A recipe resolved with its options. Owns everything below. */
struct orch_expansion {
    char *path, *name, *about, *profile; /* profile: NULL when the recipe has none */
    char *folder;                        /* of the recipe, absolute */
    uint64_t seed;
    char *key;       /* SHA-256 of the canonical form (of the file, not of options) */
    char *canonical; /* canonical JSON text */
    char *verbatim;
    bool smoke;
    bool require_clean;
    struct orch_allowance allowance;
    GPtrArray *experiments; /* struct orch_experiment * */
    GPtrArray *cells;    /* struct orch_cell *, in declared order; every reference points inside */
    GPtrArray *report;   /* struct orch_report_item * */
    GPtrArray *problems; /* char *: names, in order */
};

/** Reads, checks and expands a recipe. Findings go to `diags` (warnings too); NULL when there is an
 * error. */
struct orch_expansion *orch_recipe_expand(const char *path, struct orch_plugins *plugins,
                                          const struct orch_recipe_options *options,
                                          struct orch_diags *diags);
/** The same from text; `path` names it. For `orch try`, whose recipe is made in memory. */
struct orch_expansion *orch_recipe_expand_text(const char *path, const char *text, size_t length,
                                               struct orch_plugins *plugins,
                                               const struct orch_recipe_options *options,
                                               struct orch_diags *diags);
void orch_expansion_free(struct orch_expansion *expansion);

/** Seed of repeat `k` (from 1) of a recipe with seed `recipe_seed`: the same in every cell. */
uint64_t orch_recipe_seed(uint64_t recipe_seed, int k);

/** "finetune lr=0.01 #2": experiment, swept values, repeat when there are several. Caller frees. */
char *orch_cell_label(const struct orch_cell *cell);
/** A value of the cell as labels and tables show it: plain, so that it may be typed into a filter
 * or behind -s ("seconds=0.1", not "100 ms"). NULL: it has none. The caller frees. */
char *orch_cell_value_text(const struct orch_cell *cell, const char *name);

#endif
