/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON Schema (2020-12) of the files that users write, made from the tables of keys by which these
 * are read. It judges a file after YAML has been parsed: a number may be a text, and a text a
 * number. What only the program can know (names of parameters and metrics) it accepts. */
#ifndef ORCH_PLUGIN_KEY_SCHEMA_H
#define ORCH_PLUGIN_KEY_SCHEMA_H

#include "lib/yaml/yaml.h"

#include <jansson.h>

extern const struct orch_yaml_key ORCH_METRIC_KEYS[]; /* of a metric in its long form */
/** `metrics: any`, or a map from names to a direction or to a map. */
#define ORCH_METRICS_VALUE                                                                         \
    .type = "nothing", .listed = orch_better_words, .keys = ORCH_METRIC_KEYS,                      \
    .named = ORCH_YAML_PLAIN, .instead = "any"

/** The schema of a map with these keys, and of the value of one of them. New references. */
json_t *orch_key_schema_map(const struct orch_yaml_key *keys);
json_t *orch_key_schema_value(const struct orch_yaml_key *key);
/** A reference to a type of $defs. New reference. */
json_t *orch_key_schema_type(const char *type);
/** Completes the schema of a file: its $schema, title and $defs. Takes over `schema`. */
json_t *orch_key_schema_file(json_t *schema, const char *title);

/** The keys of NAME.plugin (struct orch_yaml_key, ended by a row without a name). The caller
 * unrefs. */
GArray *orch_manifest_keys(void);
/** The schema of NAME.plugin. New reference. */
json_t *orch_manifest_schema(void);

#endif
