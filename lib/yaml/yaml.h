/* SPDX-License-Identifier: GPL-3.0-or-later */
/* YAML as a plain tree with positions, for recipes, manifests and users' GPU files. Limits: 1 MiB,
 * 64 levels, no tags, one document, no anchors or aliases (the error suggests `with`). Duplicate
 * keys are errors with both positions. A syntax error is reported alone; all other errors are found
 * in one pass. */
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
    char *text;       /* SCALAR: its text ("" if empty) */
    bool quoted;      /* SCALAR: quoted or a block: never a null, number or bool */
    bool flow;        /* LIST, MAP: written as [..] or {..} */
    GPtrArray *items; /* LIST: struct orch_yaml *; MAP: the values, in order */
    GPtrArray *keys;  /* MAP: struct orch_yaml * (scalars), one per value */
};

/** Parses a text; `name` is the file name in messages. NULL if there is an error. */
struct orch_yaml *orch_yaml_parse(const char *name, const char *text, size_t length,
                                  struct orch_diags *diags);
/** Parses a file. A missing or too large file is reported without a line. */
struct orch_yaml *orch_yaml_parse_file(const char *path, struct orch_diags *diags);
void orch_yaml_free(struct orch_yaml *node);

/** Value of `key`, NULL if absent (or the node is not a map). Borrowed. */
const struct orch_yaml *orch_yaml_get(const struct orch_yaml *map, const char *key);
/** The node of the key itself, for its position. */
const struct orch_yaml *orch_yaml_get_key(const struct orch_yaml *map, const char *key);
/** True for an empty unquoted scalar, '~' or 'null'. */
bool orch_yaml_is_null(const struct orch_yaml *node);

/** A key of a map, and what its value may be. The row is read by the check of names, and by the
 * JSON Schema of the file (core/plugin/key_schema.h). A value fits one of type, words and keys. */
struct orch_yaml_key {
    const char *name;                   /* NULL ends a table */
    const char *type;                   /* a name of key_schema.c, such as "text" or "duration" */
    int min, max;                       /* of a number; max 0: no limit */
    const char *const *words;           /* one of these */
    const char *const *(*listed)(void); /* the same, where a function gives them */
    const struct orch_yaml_key *keys;   /* a map with these keys */
    const char *named; /* the value is a map from names, of this form, to such values; NULL: not */
    const char *instead; /* a word that may stand in place of the map from names; NULL: none */
    bool is_required;
};
/** Forms of names (orch_name_is_valid, orch_setting_name_is_valid). */
#define ORCH_YAML_DASHED "^[a-z][a-z0-9_-]{0,62}$"
#define ORCH_YAML_PLAIN "^[a-z][a-z0-9_]{0,62}$"
#define ORCH_YAML_ANY "^[^0-9]"

/** As orch_yaml_check_keys, for a table of keys. */
void orch_yaml_check_table(const struct orch_yaml *map, const char *name, const char *where,
                           const struct orch_yaml_key *known, struct orch_diags *diags);

/** Adds an error "unknown key 'x' in WHERE", with the nearest known name, for every key of `map`
 * that is not in the NULL-terminated list `known`. */
void orch_yaml_check_keys(const struct orch_yaml *map, const char *name, const char *where,
                          const char *const *known, struct orch_diags *diags);

#endif
