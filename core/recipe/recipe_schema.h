/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ORCH_CORE_RECIPE_RECIPE_SCHEMA_H
#define ORCH_CORE_RECIPE_RECIPE_SCHEMA_H

#include <jansson.h>

/** The JSON Schema of a recipe with the keys and report items of all features
 * (core/plugin/key_schema.h). New reference. */
json_t *orch_recipe_schema(void);

#endif
