/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of the reader of NAME.plugin files share: findings with the location of their
 * node, scalars, names and texts with ${name}. Private to core/plugin/manifest_*.c. */
#ifndef ORCH_PLUGIN_MANIFEST_READER_H
#define ORCH_PLUGIN_MANIFEST_READER_H

#include "core/plugin/plugins.h"
#include "lib/yaml/yaml.h"

struct orch_manifest_reader {
    const char *file;
    struct orch_diags *diags;
    struct orch_manifest *manifest; /* filled so far */
    const struct orch_yaml *root;
};

/** Adds a finding at `node` (NULL: of the whole file). `hint` may be NULL. */
void orch_manifest_finding(const struct orch_manifest_reader *reader, const struct orch_yaml *node,
                           bool warning, const char *hint, const char *format, ...)
    G_GNUC_PRINTF(5, 6);
/** Adds an error from a lower layer as a finding, with its hint line as the hint. Takes over
 * `error`. */
void orch_manifest_finding_take(const struct orch_manifest_reader *reader,
                                const struct orch_yaml *node, GError *error);

/** Text of a scalar, borrowed; NULL after a finding when the node is a list or a map. */
const char *orch_manifest_read_text(const struct orch_manifest_reader *reader,
                                    const struct orch_yaml *node, const char *what);
/** Replaces `*out` by a copy of the scalar's text, unless that is empty or null. */
void orch_manifest_read_text_into(const struct orch_manifest_reader *reader,
                                  const struct orch_yaml *node, const char *what, char **out);
/** True for a text that YAML may mean as a boolean: true, yes, on, false, ... */
bool orch_manifest_is_bool_word(const char *text);
/** The boolean of a scalar; false after a finding. */
bool orch_manifest_read_bool(const struct orch_manifest_reader *reader,
                             const struct orch_yaml *node, const char *what);
/** Reads a scalar by the rules of a recipe's values: `type` is ORCH_INT, ORCH_DURATION, ...; `min`
 * the smallest value as text. Zero after a finding. */
int64_t orch_manifest_read_number(const struct orch_manifest_reader *reader,
                                  const struct orch_yaml *node, const char *name, uint32_t type,
                                  const char *min);
/** Index of a scalar's text in a NULL-terminated table of words; `fallback` after a finding that
 * names the nearest word. */
unsigned orch_manifest_read_word(const struct orch_manifest_reader *reader,
                                 const struct orch_yaml *node, const char *what,
                                 const char *const *words, unsigned fallback);

/** Checks the name of a parameter, metric or artifact; false after a finding. */
bool orch_manifest_check_param_name(const struct orch_manifest_reader *reader,
                                    const struct orch_yaml *key);
bool orch_manifest_check_name(const struct orch_manifest_reader *reader,
                              const struct orch_yaml *key, const char *what);
/** True for a map; false after a finding, or without one for null. */
bool orch_manifest_check_is_map(const struct orch_manifest_reader *reader,
                                const struct orch_yaml *node, const char *what, const char *hint);
/** Checks every ${name} of `text` against the parameters read so far (and with `with_reserved` a
 * trial's own values), and adds the names to `used` (a set of owned texts; may be NULL). */
void orch_manifest_check_references(const struct orch_manifest_reader *reader,
                                    const struct orch_yaml *node, const char *text,
                                    const char *what, bool with_reserved, GHashTable *used);

extern const struct orch_yaml_key ORCH_PARAMETER_KEYS[]; /* of a parameter in its long form */
/** Reads the map of parameters into the manifest (manifest_params.c). */
void orch_manifest_read_parameters(struct orch_manifest_reader *reader,
                                   const struct orch_yaml *node);

#endif
