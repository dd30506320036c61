/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Top-level keys of a recipe that features read, such as `slurm:`: their values are stored in the
 * expansion, where the feature that reads them finds them again. Core knows their names alone. */
#ifndef ORCH_CORE_RECIPE_RECIPE_KEY_H
#define ORCH_CORE_RECIPE_RECIPE_KEY_H

#include "core/recipe/recipe.h"

#include "lib/yaml/yaml.h"

struct recipe_draft;

/** A key, in the list `recipe_keys` of a feature. */
struct orch_recipe_key {
    const char *name;
    const struct orch_yaml_key *value; /* what may be written: a row for the JSON Schema */
    bool in_profiles;                  /* a profile may have it, too */
    /** Reads and checks the value of the key in `map`, the recipe or a profile, which has the key.
     * Findings go to `draft`. `earlier` is NULL, or for the chosen profile the recipe's value: it
     * is changed and returned, so that what the profile does not name stays. */
    void *(*read)(struct recipe_draft *draft, const struct orch_yaml *map, void *earlier);
    void (*free)(void *value); /* accepts NULL */
};

/** Returns the value of a key, borrowed; NULL when the recipe does not have it. */
const void *orch_expansion_value(const struct orch_expansion *expansion,
                                 const struct orch_recipe_key *key);

/* ---- findings (draft.c) ------------------------------------------------------------------------
 */

/** Adds an error at a node of the recipe. */
void orch_recipe_error_at(struct recipe_draft *draft, const struct orch_yaml *node,
                          const char *hint, const char *format, ...) G_GNUC_PRINTF(4, 5);
/** "a text", "a list", "a map". */
const char *orch_recipe_node_kind(const struct orch_yaml *node);
/** Adds an error for each unknown key of a map, with a hint for keys of other tools. `where` names
 * the map in the error. */
void orch_recipe_check_keys(struct recipe_draft *draft, const struct orch_yaml *map,
                            const char *where, const struct orch_yaml_key *known);

/* ---- fields of the format (fields.c): each complains and gives false when it does not fit -------
 */

bool orch_recipe_get_text(struct recipe_draft *draft, const struct orch_yaml *map, const char *key,
                          char **out);
bool orch_recipe_get_bool(struct recipe_draft *draft, const struct orch_yaml *map, const char *key,
                          bool *out);
bool orch_recipe_get_count(struct recipe_draft *draft, const struct orch_yaml *map, const char *key,
                           const char *min, const char *max, int64_t *out);
bool orch_recipe_get_duration(struct recipe_draft *draft, const struct orch_yaml *map,
                              const char *key, double *out);
bool orch_recipe_get_bytes(struct recipe_draft *draft, const struct orch_yaml *map, const char *key,
                           int64_t *out);
/** Index of the word in the NULL-terminated list. */
bool orch_recipe_get_choice(struct recipe_draft *draft, const struct orch_yaml *map,
                            const char *key, const char *const *words, unsigned *out);
/** The value under `key` when it is a map; NULL when it is absent or, after a finding, not a map.
 */
const struct orch_yaml *orch_recipe_get_map(struct recipe_draft *draft, const struct orch_yaml *map,
                                            const char *key);
/** One text or a list of texts, as the nodes themselves. NULL: absent or wrong. The caller unrefs.
 */
GPtrArray *orch_recipe_get_texts(struct recipe_draft *draft, const struct orch_yaml *map,
                                 const char *key);
/** The same for a given node; `key` is its name in findings. */
GPtrArray *orch_recipe_texts_of(struct recipe_draft *draft, const struct orch_yaml *node,
                                const char *key);

#endif
