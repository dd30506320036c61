/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `repeat:` of an experiment and of its part of a profile: a number, or auto(...). */
#ifndef ORCH_CORE_RECIPE_AUTO_REPEAT_H
#define ORCH_CORE_RECIPE_AUTO_REPEAT_H

#include "core/recipe/internal.h"
#include "lib/space/repeat_rule.h"

/** Reads `repeat:`, if it is there. */
void orch_recipe_read_repeat(struct recipe_draft *draft, const struct orch_yaml *map,
                             struct recipe_part *part);
/** Sets the experiment's repeats from its own and those of its part of the profile (or NULL), once
 * its search is known: auto(...) takes over the metric of the search, or has a checked one. */
void orch_recipe_resolve_repeat(struct recipe_draft *draft,
                                const struct recipe_experiment *experiment,
                                const struct recipe_part *part);
/** Checks that the plugin can report the metric; false after a finding. Unknown names of a command
 * that declares none are right. */
bool orch_recipe_check_metric(struct recipe_draft *draft, const struct orch_yaml *node,
                              const struct recipe_experiment *experiment, const char *metric);

#endif
