/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of core/recipe. A recipe passes through them in this order:
 *
 *   parse.c      the tree becomes a draft: experiments, profiles, problems, their plugins
 *   overrides.c    -s, -x, --profile, targets, --part
 *   values.c     checks every value against its parameter; variables; refs.c reads ${...}
 *   resolve.c    levels of precedence: one value or sweep for each parameter, and its origin
 *   expand.c     cells (cell.c: a single cell); refs_match.c resolves the references between them
 *   report_items.c     the report's items, and from them the default of `reuse`
 *   canonical.c  the canonical form, which is hashed
 *
 * Every step adds its errors to the draft's findings and continues, so that one pass finds all
 * errors. An experiment with an error is marked `is_broken` and left out of later steps, which
 * would only report the same error in other words. */
#ifndef ORCH_CORE_RECIPE_INTERNAL_H
#define ORCH_CORE_RECIPE_INTERNAL_H

#include "core/recipe/recipe_key.h"
#include "core/recipe/recipe_search.h"

#define RECIPE_EXPERIMENTS_MAX 1000
#define RECIPE_PROFILES_MAX 100
#define RECIPE_REPORT_MAX 1000
/** Parameters under one `with`, `sweep` or `zip`. */
#define RECIPE_SETTINGS_MAX 1000

/** A source location. `file` is the recipe's path, or an option such as "-s lr=0.1". */
struct recipe_place {
    const char *file;
    int line, column;
};

/** In ascending order of precedence; the plugin's default is below all of them. */
enum recipe_level {
    RECIPE_LEVEL_RECIPE,     /* `with` of the recipe */
    RECIPE_LEVEL_EXPERIMENT, /* `with`, `sweep`, `zip` of the experiment */
    RECIPE_LEVEL_PROFILE,    /* `with` of the profile */
    RECIPE_LEVEL_PART,       /* the profile's part for the experiment */
    RECIPE_LEVEL_OPTION,     /* -s param=.., -x param=.. */
    RECIPE_LEVEL_OPTION_ONE, /* -s experiment.param=.., -x experiment.param=.. */
};

/** A parameter with its value, or under `sweep` and `zip` its list of values, as written. */
struct recipe_setting {
    const char *name;
    const char *file;
    const struct orch_yaml *key, *value; /* borrowed */
};

/** The parameter settings of one level: arrays of struct recipe_setting. */
struct recipe_block {
    GArray *with, *sweep, *zip, *search;
};

/** An experiment's own settings, or a profile's settings for an experiment. */
struct recipe_part {
    struct recipe_block block;
    int repeat;                           /* 0: not given */
    struct orch_repeat_rule *repeat_rule; /* `repeat: auto(...)`; or NULL */
    const struct orch_yaml *repeat_node;  /* as written, borrowed */
    double timeout_s;                     /* < 0: not given */
    bool skip;
    char *skip_reason;
};

/** One ${...} that names another experiment, as read. */
struct recipe_reference {
    char *text; /* as written */
    char *experiment;
    GPtrArray *selector_names; /* char * */
    /* char *: as text; the JSON values are in `selected` once checked */
    GPtrArray *selector_values;
    char *metric; /* best(experiment, metric), or NULL */
    char *artifact;
    struct recipe_place place;
    /* set by orch_recipe_reference_check: */
    struct recipe_experiment *target;
    json_t *selected; /* array, as selector_values; the repeat as an integer */
    bool is_result, best_is_max;
    /* used by refs_match.c: */
    GHashTable *index; /* the values that must be equal -> GArray of cell indices */
    GPtrArray *shared; /* const char *: swept names whose values must be equal */
    bool has_failed;   /* its error was reported; it is not repeated for each cell */
};

/** A checked value: plain, or a reference. */
struct recipe_value {
    json_t *json;
    struct recipe_reference *reference;
};

/** A parameter with one value. */
struct recipe_fixed {
    const struct orch_param_spec *spec;
    const struct recipe_setting *setting; /* NULL: the default */
    enum recipe_level level;
    struct recipe_value value;
};

/** Parameters swept together: one (sweep) or several (zip). */
struct recipe_dimension {
    GArray *members; /* struct recipe_swept */
    unsigned count;  /* values of each member */
};
struct recipe_swept {
    const struct orch_param_spec *spec;
    const struct recipe_setting *setting;
    enum recipe_level level;
    GArray *values; /* struct recipe_value */
};

/** A parameter that is searched: its setting is a range. */
struct recipe_searched {
    const struct orch_param_spec *spec;
    const struct recipe_setting *setting;
    enum recipe_level level;
};

/** An experiment while the recipe is read. */
struct recipe_experiment {
    const char *name;
    const struct orch_yaml *key;
    const struct orch_manifest *manifest; /* NULL: its plugin was not found */
    const struct orch_yaml *plugin_node;  /* the name of a plugin that is unavailable */
    char *lacks_plugin; /* where that plugin was looked for, if it is not there; else NULL */
    struct orch_experiment *made; /* owned by the expansion */
    struct recipe_part own;
    enum orch_recipe_reuse reuse;
    bool has_reuse;
    bool is_broken;
    GArray *fixed;         /* struct recipe_fixed, in the manifest's order */
    GPtrArray *dimensions; /* struct recipe_dimension *, the slowest first */
    GArray *searched;      /* struct recipe_searched, in the order of their conditions */
    bool was_searched;     /* a parameter of `search` got one value instead */
    const struct orch_yaml *objective; /* the key; NULL: none */
    const struct orch_yaml *first;     /* the objective's `try`; NULL: none */
    GPtrArray *assumed; /* struct orch_metric_spec *: names in the report that its own program will
                           print; or NULL */
    guint first_cell, cell_count;
    int visit; /* state in the search for reference cycles */
};

struct recipe_profile {
    const char *name;
    const struct orch_yaml *key;
    GArray *with;                /* struct recipe_setting */
    GHashTable *parts;           /* experiment's name -> struct recipe_part * */
    unsigned jobs;               /* 0: not set */
    const struct orch_yaml *map; /* the profile itself */
};

/** An -s or -x. */
struct recipe_option {
    char *file;       /* "-s lr=0.1" */
    char *experiment; /* NULL: all experiments that have the parameter */
    bool is_sweep;
    struct orch_yaml *value; /* owned: a text for -s, a list of texts for -x */
    struct recipe_setting setting;
    char *name;
};

struct recipe_draft {
    const char *path;
    struct orch_yaml *root;
    struct orch_plugins *plugins;
    const struct orch_recipe_options *options;
    struct orch_diags *diags;
    struct orch_expansion *out;
    GArray *with;                         /* of the recipe: struct recipe_setting */
    GPtrArray *experiments;               /* struct recipe_experiment *, in the file's order */
    GHashTable *by_name;                  /* name -> struct recipe_experiment *, borrowed */
    GPtrArray *profiles;                  /* struct recipe_profile * */
    GHashTable *problems;                 /* name -> GPtrArray of borrowed experiment names */
    GPtrArray *option_list;               /* struct recipe_option * */
    const struct recipe_profile *profile; /* the chosen one, or NULL */
    GHashTable *said;            /* texts of the findings so far, so that each is reported once */
    unsigned complaint_count;    /* including repeated findings; shows whether a step failed */
    GPtrArray *experiment_names; /* const char *, NULL-terminated, for suggestions */
    bool share_source;           /* of the recipe */
    bool has_unknown_plugin; /* then a parameter that no known experiment has may still be valid */
};

/* ---- findings (draft.c) ------------------------------------------------------------------------
 */

/** Add an error at a location; from a GError, whose hint is split off. */
void orch_recipe_error(struct recipe_draft *draft, struct recipe_place place, const char *hint,
                       const char *format, ...) G_GNUC_PRINTF(4, 5);
void orch_recipe_error_from(struct recipe_draft *draft, struct recipe_place place,
                            const GError *error);
/** Location of a setting's name, and of a node inside its value. */
struct recipe_place orch_recipe_key_place(const struct recipe_setting *setting);
struct recipe_place orch_recipe_value_place(const struct recipe_setting *setting,
                                            const struct orch_yaml *node);

/** "did you mean 'x'?" or "known are: a, b, c"; NULL without candidates, and when the maximum
 * number of findings is reached, because the search is expensive. The caller frees. */
char *orch_recipe_hint_names(const struct recipe_draft *draft, const char *word,
                             const char *const *known);

void orch_recipe_block_init(struct recipe_block *block);
void orch_recipe_part_free(struct recipe_part *part);
void orch_recipe_value_clear(struct recipe_value *value);
void orch_recipe_dimension_free(void *pointer);
struct recipe_draft *orch_recipe_draft_new(void);
void orch_recipe_draft_free(struct recipe_draft *draft);
/** Frees the values of keys that features read; accepts NULL. */
void orch_recipe_feature_values_free(GHashTable *values);

/** Finds the setting of a parameter, or returns NULL. */
const struct recipe_setting *orch_recipe_setting_find(const GArray *settings, const char *name);

/* ---- steps -------------------------------------------------------------------------------------
 */

/** Reads the tree into the draft and the expansion. */
void orch_recipe_parse(struct recipe_draft *draft);
/** Reads -s and -x. */
void orch_recipe_read_options(struct recipe_draft *draft);

/** Replaces ${env:NAME}, ${env:NAME:-default}, ${recipe.dir} and "$$" in `text`. When the whole
 * text is a reference, sets `*out_reference` and returns NULL. Returns NULL without a reference
 * after a finding. With `names` (a manifest), ${param} is kept for the parameters in it. */
char *orch_recipe_expand_variables(struct recipe_draft *draft, struct recipe_place place,
                                   const char *text, const struct orch_manifest *names,
                                   struct recipe_reference **out_reference);
void orch_recipe_reference_free(struct recipe_reference *reference);
/** Resolves the target, the artifact, the selectors' values and the metric of a reference used as
 * the value of `spec` in `experiment`. */
bool orch_recipe_reference_check(struct recipe_draft *draft,
                                 const struct recipe_experiment *experiment,
                                 const struct orch_param_spec *spec,
                                 struct recipe_reference *reference);

/** Reads one value of a parameter. */
bool orch_recipe_read_value(struct recipe_draft *draft, const struct recipe_experiment *experiment,
                            const struct orch_param_spec *spec,
                            const struct recipe_setting *setting, struct recipe_value *out);
/** Reads the values of a swept parameter: array of struct recipe_value, or NULL after a finding. */
GArray *orch_recipe_read_sweep(struct recipe_draft *draft,
                               const struct recipe_experiment *experiment,
                               const struct orch_param_spec *spec,
                               const struct recipe_setting *setting, bool is_zip);
/** Reads `objective` of an experiment (recipe_search.c). */
void orch_recipe_read_objective(struct recipe_draft *draft, const struct orch_yaml *map,
                                struct recipe_experiment *experiment);
/** Makes the space of the parameters that the experiment searches, once they are known. */
void orch_recipe_make_search(struct recipe_draft *draft, struct recipe_experiment *experiment);
/** Whether the value of an -x is a range to search. */
bool orch_recipe_is_range(const struct recipe_setting *setting);
/** Checks every value of every level and profile, used or not. */
void orch_recipe_check_values(struct recipe_draft *draft);

/** Decides each experiment's values, dimensions and origins. */
void orch_recipe_resolve(struct recipe_draft *draft);
/** Skips an experiment because it refers to one that is unavailable. */
void orch_recipe_leave_out(struct recipe_experiment *experiment,
                           const struct recipe_experiment *need);
/** Skips every experiment that refers, directly or indirectly, to one that was skipped this way. */
void orch_recipe_leave_out_needing(struct recipe_draft *draft);
/** Adds an error for cyclic references. */
void orch_recipe_check_circles(struct recipe_draft *draft);
/** Makes the cells, joins references, and keeps the cells selected by targets, part and smoke. */
void orch_recipe_make_cells(struct recipe_draft *draft);

/** A reference of a cell whose target cells are not known yet. */
struct recipe_join {
    struct recipe_experiment *experiment; /* the experiment with the reference */
    struct orch_cell *cell;
    struct orch_ref *ref;
    struct recipe_reference *reference;
};
/** Fills the `cells` of every join (array of struct recipe_join). */
void orch_recipe_join(struct recipe_draft *draft, const GArray *joins);

/** Reads `report:` and decides `reuse` for every experiment. */
void orch_recipe_read_report(struct recipe_draft *draft);
/** Sets the expansion's `canonical` and `key`. */
void orch_recipe_make_canonical(struct recipe_draft *draft);

#endif
