/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of keys by which NAME.plugin is read (manifest_yaml.c). */
#ifndef ORCH_PLUGIN_MANIFEST_KEYS_H
#define ORCH_PLUGIN_MANIFEST_KEYS_H

#include "lib/yaml/yaml.h"

extern const struct orch_yaml_key ORCH_METRIC_KEYS[]; /* of a metric in its long form */
/** `metrics: any`, or a map from names to a direction or to a map. */
#define ORCH_METRICS_VALUE                                                                         \
    .type = "nothing", .listed = orch_better_words, .keys = ORCH_METRIC_KEYS,                      \
    .named = ORCH_YAML_PLAIN, .instead = "any"

/** The keys of NAME.plugin (struct orch_yaml_key, ended by a row without a name). The caller
 * unrefs. */
GArray *orch_manifest_keys(void);

#endif
