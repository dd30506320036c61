/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The key `allowance:` of a recipe. */
#ifndef ORCH_FEATURES_COST_ALLOWANCE_H
#define ORCH_FEATURES_COST_ALLOWANCE_H

#include "core/recipe/recipe_key.h"

/** Whose runs an allowance limits: those of all people together, or those of each person. */
enum orch_allowance_scope { ORCH_ALLOWANCE_GROUP, ORCH_ALLOWANCE_PERSON, ORCH_ALLOWANCE_SCOPES };

/** The maximum cost of a recipe over all its runs; without any amount there is no limit. */
struct orch_allowance {
    bool has_usd, has_hours;
    double usd, hours; /* hours: device hours (GPUs, or the machine as one device) */
};

extern const struct orch_recipe_key ORCH_RECIPE_KEY_ALLOWANCE;

/** Returns the allowance of a scope, borrowed; NULL when the recipe has none. */
const struct orch_allowance *orch_allowance_of(const struct orch_expansion *expansion,
                                               enum orch_allowance_scope scope);
/** True when the recipe limits the cost of its runs. */
bool orch_expansion_has_allowance(const struct orch_expansion *expansion);

#endif
