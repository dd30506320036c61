/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads and checks recipes and expands them into cells (the trials that a recipe requests). All
 * errors are found in one pass, with file:line:column, before anything runs. docs/recipes.md is the
 * user's manual of the format. */
#ifndef ORCH_CORE_RECIPE_RECIPE_H
#define ORCH_CORE_RECIPE_RECIPE_H

#include "core/plugin/plugins.h"
#include "lib/base/diag.h"
#include "lib/wire/manifest.h"

#include <glib.h>
#include <jansson.h>

/** Maximum number of cells of a recipe. */
#define ORCH_CELLS_MAX 100000

/** Splits a list at commas outside of quotes and brackets, without surrounding spaces. Caller
 * unrefs (char *). */
GPtrArray *orch_recipe_split(const char *text);
/** Splits an option -x into one "param=values" for each parameter: "n=100,200,batch=64" becomes
 * "n=100,200" and "batch=64". After a comma a name with '=' begins the next parameter; a value that
 * looks so is written in quotes. Text without '=' is returned as it is. Caller unrefs (char *). */
GPtrArray *orch_sweep_split(const char *text);
/** Length of the type between the name and the '=' of an option of `orch try` (":text=", ":int=",
 * ":real="), without the '='; 0 when there is none. */
size_t orch_option_type_bytes(const char *at);

/** Options from the command line. All borrowed; lists NULL-terminated or NULL. */
struct orch_recipe_options {
    const char *profile;         /* NULL: the recipe's */
    const char *const *settings; /* -s "param=value" or "experiment.param=value" */
    const char *const *sweeps;   /* -x "param=a,b" or "experiment.param=a,b", as orch_sweep_split */
    const char *const *targets;  /* problems and experiments to keep; NULL or empty: all */
    unsigned part, part_count;   /* --part 2/5; 0: all */
    int repeat; /* overrides the repeats of the experiments selected by `targets`; 0: no override */
    bool smoke;
    bool is_ad_hoc; /* one experiment: a dot in a parameter's name does not begin with its name */
    bool leaves_out_unnamed; /* without targets, experiments with `only_when_named` are not wanted;
                                with a part always, so that every command divides the same trials
                                into parts */
    bool leaves_out_untrusted; /* experiments whose plugin is not trusted are unavailable, as are
                                  always those whose plugin is not there: they and those that refer
                                  to them are skipped with a warning. Otherwise an error */
};

/** `reuse` as resolved (same order as enum orch_reuse of the store). */
enum orch_recipe_reuse { ORCH_RECIPE_REUSE_DEVICE, ORCH_RECIPE_REUSE_ANY, ORCH_RECIPE_REUSE_NEVER };

struct orch_search;
struct orch_repeat_rule;
struct orch_search_point;

struct orch_experiment {
    char *name;
    int line, column;
    const struct orch_manifest *manifest; /* borrowed from the plugins, or `own_manifest` */
    struct orch_manifest *own_manifest;   /* program: the plugin's tables with the user's command */
    char **program;                       /* argv of `program:`, or NULL */
    bool is_own_program;                  /* `program:` without a plugin */
    int repeat;                           /* >= 1; with `repeats` the largest number */
    struct orch_repeat_rule *repeats;     /* of `repeat: auto(...)`, with its metric: a setting is
                                             repeated until its median is known (features/search); or
                                             NULL */
    bool only_when_named; /* not run unless it, its problem, or an experiment that refers to it is
                             named */
    bool skipped; /* by the profile (`skip: true` or a reason), or because of `is_unavailable` */
    bool is_unavailable; /* a plugin is not there or not trusted: its own (then `manifest` has only
                            a name), or that of an experiment it refers to */
    char *skip_reason, *skip_hint; /* the latter: how to have the plugin; or NULL */
    enum orch_recipe_reuse reuse;
    char *reuse_why; /* "plugin 'sleep' is a timing plugin", "report reads images_per_s (images/s)",
                        "says the recipe", "default" */
    bool seed_by_device;      /* `seed: device`: the seeds of a device are its own */
    unsigned retries;         /* retries after lost or preempted; default 1 */
    unsigned timeout_retries; /* retries after a timeout: `retries` if the recipe sets it, else 0 */
    double timeout_s;         /* 0: none */
    double system_interval_s; /* between samples of processor, memory and GPUs; 0: none */
    unsigned gpus;            /* per trial */
    bool hides_gpus;          /* `gpus: 0` is written: a program of the user's sees none */
    double gpu_share;         /* of its only GPU, above 0 and below 1; 0: whole GPUs */
    unsigned cores;           /* per trial; 0: the slot's share */
    bool exclusive;           /* no other trial runs beside one of it */
    unsigned ranks;           /* MPI processes per trial; 0: as many as its cost has workers */
    int64_t memory_bytes;
    double time_s; /* upper bound for queues; 0: unknown */
    struct orch_trial_environment
        *environment;  /* the software in which its trials run (trial_environment.h); or NULL */
    char **keep;       /* patterns of files whose content is kept with each run; NULL: none */
    char **inputs;     /* patterns as written, relative to the recipe's folder; NULL: none given */
    bool share_source; /* share: source */
    struct orch_search
        *search; /* its trials' values are chosen while it runs (recipe_search.h); or NULL */
    GHashTable *origins; /* parameter -> where its value came from: "recipes/hw4.recipe:14:9",
                            "-s", "-x", "default of plugin 'train' 1.0.0" */
};

/** A reference of one cell: ${pretrain.weights}, ${best(pretrain, val_accuracy).weights}. */
struct orch_ref {
    char *param;    /* the parameter whose value it is; several references in one text share it */
    char *artifact; /* artifact, or result name, of the other trial */
    bool is_result; /* a declared metric or result instead of an artifact */
    char *text;     /* as written */
    char *best_metric; /* NULL, or: the reference means the best of `cells` by the last value of
                          this metric */
    bool best_is_max;
    GArray *cells; /* unsigned: indices into the expansion's cells; exactly one without best_metric.
                      Read-only, because cells that refer to the same trials share it */
};

/** A trial that the recipe requests. */
struct orch_cell {
    unsigned index; /* in declared order, over the whole recipe (before part and targets) */
    const struct orch_experiment *experiment;
    /* object of canonical values including defaults (null: optional and not given), without
     * references. Paths are relative to the recipe's folder as written, so that they are equal on
     * every machine; they are made absolute when a trial starts */
    json_t *params;
    json_t *coords;  /* object: the swept names and their values, in sweep order */
    int repeat;      /* from 1 */
    uint64_t seed;   /* of the repeat; with `seed: device` the plan derives the trial's from it */
    GPtrArray *refs; /* struct orch_ref * */
    struct orch_search_point *point; /* of a search, shared by its repeats; NULL: not of a search.
                                        `params` and `coords` follow from it (recipe_search.h) */
    bool wanted; /* selected by targets and part; the other cells are included because one refers to
                    them */
};

/** An item of `report:`, checked. */
struct orch_report_item {
    const struct orch_report_kind *kind; /* borrowed: a row of a feature (report_kinds.h) */
    char *question, *title;              /* or NULL */
    double points;
    json_t *spec; /* the item's own part as written: texts, lists, objects */
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
    unsigned part, part_count; /* only this part of the trials is included (--part 2/5); 0: all */
    bool smoke;
    bool require_clean;
    json_t *alerts;     /* [{"when", "stop"}, ...] of its trials (lib/wire/alert.h); NULL: none */
    unsigned jobs;      /* trials at once where the command line does not say; 0: not set */
    bool is_ad_hoc;     /* made for a command line (`orch try`) and set by the caller: there is no
                           recipe file, so a trial is never an edited version of another */
    GHashTable *values; /* of keys that features read (recipe_key.h): name -> value */
    GPtrArray *experiments; /* struct orch_experiment * */
    GPtrArray *cells;    /* struct orch_cell *, in declared order; every reference points inside */
    GPtrArray *points;   /* struct orch_search_point *: of all searches */
    GPtrArray *report;   /* struct orch_report_item * */
    GPtrArray *problems; /* char *: names, in order */
};

/** Reads, checks and expands a recipe. Findings go to `diags` (warnings too); NULL when there is an
 * error. */
struct orch_expansion *orch_recipe_expand(const char *path, struct orch_plugins *plugins,
                                          const struct orch_recipe_options *options,
                                          struct orch_diags *diags);
/** The same for a recipe in memory, as made by `orch try`; `path` is its name. */
struct orch_expansion *orch_recipe_expand_text(const char *path, const char *text, size_t length,
                                               struct orch_plugins *plugins,
                                               const struct orch_recipe_options *options,
                                               struct orch_diags *diags);
/** The folder in which an experiment's command starts: the recipe's, or that of its plugin's
 * manifest. The caller frees. */
char *orch_experiment_folder(const struct orch_expansion *expansion,
                             const struct orch_experiment *experiment);

void orch_expansion_free(struct orch_expansion *expansion);

/** Seed of repeat `k` (from 1) of a recipe with seed `recipe_seed`: the same in every cell. */
uint64_t orch_recipe_seed(uint64_t recipe_seed, int k);

/** Seed of a trial of an experiment with `seed: device`, from the seed of its repeat and the key of
 * its device (orch_machine_device_key; NULL: not known, which gives `seed` itself). */
uint64_t orch_recipe_device_seed(uint64_t seed, const char *device_key);

/** "finetune lr=0.01 #2": experiment, swept values, repeat when there are several. Caller frees. */
char *orch_cell_label(const struct orch_cell *cell);
/** Whether two cells that differ in this parameter are different trials: not for secrets, and for
 * neutral parameters only where a sweep or zip gives the value. `spec` may be NULL: false. */
bool orch_cell_identifies(const struct orch_cell *cell, const struct orch_param_spec *spec);
/** A value of the cell as shown in labels and tables: without unit formatting, so that it can be
 * used in a filter or with -s ("seconds=0.1", not "100 ms"). NULL when the cell has no such value.
 * The caller frees. */
char *orch_cell_value_text(const struct orch_cell *cell, const char *name);

#endif
