/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of a recipe have in common when they are read: keys, names, settings. Used by the
 * files parse*.c, and by the JSON Schema of recipes. */
#ifndef ORCH_CORE_RECIPE_PARSE_PARTS_H
#define ORCH_CORE_RECIPE_PARSE_PARTS_H

#include "core/recipe/internal.h"

static inline const struct orch_yaml *orch_recipe_key_at(const struct orch_yaml *map, guint i)
{
    return map->keys->pdata[i];
}

static inline const struct orch_yaml *orch_recipe_value_at(const struct orch_yaml *map, guint i)
{
    return map->items->pdata[i];
}

/* ---- tables of keys ----------------------------------------------------------------------------
 */

extern const struct orch_yaml_key ORCH_RECIPE_KEYS[];     /* of the recipe (parse.c) */
extern const struct orch_yaml_key ORCH_EXPERIMENT_KEYS[]; /* parse_experiments.c */
extern const struct orch_yaml_key ORCH_PROFILE_KEYS[];    /* parse_profiles.c */
extern const struct orch_yaml_key ORCH_OBJECTIVE_KEYS[];  /* recipe_search.c */
extern const struct orch_yaml_key
    ORCH_REPORT_COMMON_KEYS[]; /* of every report item (report_items.c) */
extern const char *const ORCH_RECIPE_SHARE_WORDS[];

/** Whether a key can be a name; adds an error if not. `kind`: "an experiment". */
bool orch_recipe_check_name(struct recipe_draft *draft, const struct orch_yaml *key,
                            const char *kind);
/** Appends the entries of the map under `key`, if there is one (struct recipe_setting). */
void orch_recipe_read_settings(struct recipe_draft *draft, const struct orch_yaml *map,
                               const char *key, GArray *out);
/** Reads what an experiment and its part of a profile share: with, sweep, zip, repeat, timeout. */
void orch_recipe_read_part(struct recipe_draft *draft, const struct orch_yaml *map,
                           struct recipe_part *part);
/** Reads `jobs` of the recipe or of a profile; `*out` stays when there is none. */
void orch_recipe_read_jobs(struct recipe_draft *draft, const struct orch_yaml *map, unsigned *out);
/** Reads `share` of the recipe or of an experiment; `*out` stays when there is none. */
void orch_recipe_read_share(struct recipe_draft *draft, const struct orch_yaml *map, bool *out);

/** Returns the rows of `own` and those of keys that features read (struct orch_yaml_key), ended by
 * a row without a name. The caller unrefs. */
GArray *orch_recipe_keys_with_features(const struct orch_yaml_key *own, bool is_profile);
/** Like orch_recipe_check_keys for the recipe or a profile, which may also have keys that features
 * read. */
void orch_recipe_check_top_keys(struct recipe_draft *draft, const struct orch_yaml *map,
                                const char *where, const struct orch_yaml_key *own,
                                bool is_profile);
/** Reads the keys of features (feature_keys.c): of the recipe, and then of the chosen profile,
 * whose settings replace the recipe's. */
void orch_recipe_read_feature_keys(struct recipe_draft *draft, const struct orch_yaml *map,
                                   bool is_profile);
/** Checks the keys of features in a profile. */
void orch_recipe_check_feature_keys(struct recipe_draft *draft, const struct orch_yaml *profile);

/** Reads `experiments`. */
void orch_recipe_read_experiments(struct recipe_draft *draft);
/** Reads `profiles`, and chooses the one that the options or the recipe name. */
void orch_recipe_read_profiles(struct recipe_draft *draft);

#endif
