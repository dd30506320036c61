/* SPDX-License-Identifier: GPL-3.0-or-later */
/* YAML as a plain tree with the place of every node: what recipes, manifests and users' GPU files
 * are read from. Bounded: at most 1 MiB, 64 levels, no anchors or aliases (an error that points to
 * `with`), no tags, one document. Duplicate keys are errors that name both places. A syntax error
 * comes alone; everything else is found in one pass. */
#ifndef ORCH_YAML_YAML_H
#define ORCH_YAML_YAML_H

#include "lib/base/diag.h"

#include <glib.h>
#include <stdbool.h>

#define ORCH_YAML_BYTES_MAX (1 << 20)
#define ORCH_YAML_DEPTH_MAX 64

enum orch_yaml_kind { ORCH_YAML_SCALAR, ORCH_YAML_LIST, ORCH_YAML_MAP };

struct orch_yaml {
    enum orch_yaml_kind kind;
    int line, column; /* 1-based, of its first character */
    char *text;       /* SCALAR: its text ("" for an empty one) */
    bool quoted;      /* SCALAR: written in quotes or as a block: never a null, number or bool */
    bool flow;        /* LIST, MAP: written as [..] or {..} */
    GPtrArray *items; /* LIST: struct orch_yaml *; MAP: the values, in order */
    GPtrArray *keys;  /* MAP: struct orch_yaml * (scalars), one for each value */
};

/** Reads a whole text; `name` is the file's name for the findings. NULL when there is an error. */
struct orch_yaml *orch_yaml_parse(const char *name, const char *text, size_t length,
                                  struct orch_diags *diags);
/** Reads a file. A missing or too large file is a finding without a line. */
struct orch_yaml *orch_yaml_parse_file(const char *path, struct orch_diags *diags);
void orch_yaml_free(struct orch_yaml *node);

/** Value under `key`, NULL when absent (or when the node is no map). Borrowed. */
const struct orch_yaml *orch_yaml_get(const struct orch_yaml *map, const char *key);
/** The key node itself, for its place. */
const struct orch_yaml *orch_yaml_get_key(const struct orch_yaml *map, const char *key);
/** True for an empty unquoted scalar, '~' or 'null'. */
bool orch_yaml_is_null(const struct orch_yaml *node);

/** Adds an error "unknown key 'x' in WHERE" with the nearest known name for every key of `map` that
 * is not in the NULL-terminated list. */
void orch_yaml_check_keys(const struct orch_yaml *map, const char *name, const char *where,
                          const char *const *known, struct orch_diags *diags);

#endif
