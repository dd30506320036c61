/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The key `slurm:` of a recipe and of its profiles. */
#ifndef ORCH_FEATURES_SLURM_SLURM_SETTINGS_H
#define ORCH_FEATURES_SLURM_SLURM_SETTINGS_H

#include "core/recipe/recipe_key.h"

/** How trials are submitted to Slurm: `slurm:` of the recipe, and over it that of the profile, key
 * by key. A NULL text and a 0 are not set. */
struct orch_slurm_settings {
    char *partition, *account, *qos, *constraint, *reservation, *exclude, *gpu_type;
    char **setup;         /* shell lines before the trial */
    double time_s;        /* --time of trials that have neither forecast nor resources.time */
    int64_t memory_bytes; /* --mem of trials that have neither measured runs nor resources.memory */
    double margin_s;      /* between SIGTERM and the end of --time; < 0: not set */
    bool no_requeue;
};

extern const struct orch_recipe_key ORCH_RECIPE_KEY_SLURM;

/** Returns the settings of a recipe, borrowed: the defaults where it has no `slurm:`. */
const struct orch_slurm_settings *orch_slurm_settings_of(const struct orch_expansion *expansion);

#endif
