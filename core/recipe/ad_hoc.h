/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recipe made in memory for a command (`orch try`): one experiment with a `program` and no plugin
 * (own_program.h), whose settings come as options. It is written as text and then read like a file,
 * because the text is stored with the runs, and all checks of a recipe are of a parsed text. */
#ifndef ORCH_CORE_RECIPE_AD_HOC_H
#define ORCH_CORE_RECIPE_AD_HOC_H

#include "core/recipe/recipe.h"

/** Lists are NULL-terminated, or NULL. */
struct orch_ad_hoc {
    const char *const
        *command;          /* its words, with {name} for settings (core/recipe/command_words.h) */
    const char *folder;    /* in which it starts, absolute; NULL: the current one */
    const char *name;      /* of the experiment; NULL: from the program's name */
    const char **settings; /* "NAME=VALUE" */
    const char **sweeps;   /* "NAME=A,B" */
    const char *const *artifacts; /* "NAME=FILE": files that the command makes */
    const char *const *inputs;    /* files that results depend on */
    const char *const *first;     /* "lr=0.1,opt=sgd": settings that a search begins with */
    const char *const *resources; /* "gpus=1", "gpus=1,cores=4": as in a recipe's `resources` */
    const char *search, *subject_to, *sampler, *seed, *until,
        *stop;          /* of a recipe's `objective`; NULL: none, or the default. `search` and
                           `until` are lists with commas where there are several metrics */
    int trials;         /* the same; 0: the default */
    int jobs;           /* trials at once, for the recipe that is written; 0: not given */
    const char *repeat; /* a number, or auto(...); NULL: 1 */
    double timeout_s;   /* 0: none */
    const char
        *metrics_on; /* the stream that metrics are read from: stdout, stderr, both; NULL: stdout */
    const char **metrics_files; /* patterns of files that are logs */
    const json_t *alerts;       /* as in struct orch_expansion; NULL: none */
    bool from_env;              /* the program reads settings from the environment */
};
/** Expands the recipe. Warnings and findings go to `diags`. NULL with an error (ORCH_ERROR_USAGE
 * for settings that do not fit the command), or with errors in `diags`. The caller frees. */
struct orch_expansion *orch_ad_hoc_expand(struct orch_plugins *plugins,
                                          const struct orch_ad_hoc *wish, struct orch_diags *diags,
                                          GError **error);

/** Writes the recipe as a file that `orch run` reads, with the values: its trials are those of
 * `expansion`, which is the wish's, and have the same fingerprints. ORCH_ERROR_USAGE when `path` is
 * not in the folder in which the command starts, is there already and not `overwrites`, or the
 * command holds a secret. */
bool orch_ad_hoc_write(struct orch_plugins *plugins, const struct orch_ad_hoc *wish,
                       const struct orch_expansion *expansion, const char *path, bool overwrites,
                       GError **error);

#endif
