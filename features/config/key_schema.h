/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON Schema (2020-12) of the files that users write, made from the tables of keys by which these
 * are read. It judges a file after YAML has been parsed: a number may be a text, and a text a
 * number. What only the program can know (names of parameters and metrics) it accepts. */
#ifndef ORCH_FEATURES_CONFIG_KEY_SCHEMA_H
#define ORCH_FEATURES_CONFIG_KEY_SCHEMA_H

#include "lib/yaml/yaml.h"

#include <jansson.h>

/** The schema of a map with these keys, and of the value of one of them. New references. */
json_t *orch_key_schema_map(const struct orch_yaml_key *keys);
json_t *orch_key_schema_value(const struct orch_yaml_key *key);
/** A reference to a type of $defs. New reference. */
json_t *orch_key_schema_type(const char *type);
/** Completes the schema of a file: its $schema, title and $defs. Takes over `schema`. */
json_t *orch_key_schema_file(json_t *schema, const char *title);

/** The schema of NAME.plugin. New reference. */
json_t *orch_manifest_schema(void);

#endif
