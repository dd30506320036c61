/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ORCH_FEATURES_CONFIG_RECIPE_SCHEMA_H
#define ORCH_FEATURES_CONFIG_RECIPE_SCHEMA_H

#include <jansson.h>

/** The JSON Schema of a recipe with the keys and report items of all features
 * (features/config/key_schema.h). New reference. */
json_t *orch_recipe_schema(void);

#endif
