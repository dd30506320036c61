/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `program:` of an experiment: the user's own command, in place of a plugin's code or without a
 * plugin. Its printed values are read, its names are its own, and its exit status is its end, as
 * under `orch try`. */
#ifndef ORCH_CORE_RECIPE_OWN_PROGRAM_H
#define ORCH_CORE_RECIPE_OWN_PROGRAM_H

#include "core/recipe/internal.h"

/** Gives an experiment without a plugin a manifest of its own, whose parameters are those that the
 * recipe gives values or `types`. Its settings are read already. */
void orch_recipe_make_manifest(struct recipe_draft *draft, const struct orch_yaml *map,
                               struct recipe_experiment *experiment);

/** Reads `program`, `metrics_on` and `artifacts` into a manifest of the experiment's own, which has
 * the tables of its manifest so far. The command starts in the recipe's folder. */
void orch_recipe_use_program(struct recipe_draft *draft, const struct orch_yaml *map,
                             struct recipe_experiment *experiment);

#endif
