/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranks the numbers of runs for the page. First come the numbers that recipes name: the objectives
 * of searches, then those by which reports select winners, then those that are plotted, then those
 * in tables, in the order of the report. Then come numbers of which it is known which values are
 * better; times and rates, which every run has, are last. */
#include "features/web/internal.h"

#include "lib/base/json.h"
#include "lib/base/unit.h"
#include "lib/wire/direction.h"
#include "lib/wire/system_metrics.h"
#include "store/read/names_of.h"

#include <string.h>

enum { RECIPES_MAX = 8, NAMES_MAX = 500 };
/* Ranks of numbers that no report uses. */
enum {
    RANK_EVALUATED = 1200,
    RANK_OTHER = 2000,
    RANK_TIME = 3000,
    RANK_TRAINING = 100,
    RANK_HELD_OUT = -100,
    RANK_SYSTEM = 4000
};

/* ---- numbers in reports ------------------------------------------------------------------------
 */

static const struct {
    const char *kind, *key;
} ASKED[] = {
    {"best", "value"},  {"converged", "value"},   {"plot", "y"},        {"plot", "z"},
    {"curve", "value"}, {"table", "value"},       {"compare", "value"}, {"correlate", "y"},
    {"gain", "value"},  {"speed_model", "value"},
};

/* Adds the name in "result final_accuracy" or "last loss". A name keeps its first rank. */
static void add_name(GHashTable *ranks, const char *text)
{
    const char *space = text ? strrchr(text, ' ') : NULL;
    const char *name = space ? space + 1 : text;
    const guint count = g_hash_table_size(ranks);
    if (name && *name && count < NAMES_MAX && !g_hash_table_contains(ranks, name))
        g_hash_table_insert(ranks, g_strdup(name), GINT_TO_POINTER((int)count + 1));
}

static void add_names(GHashTable *ranks, const json_t *value)
{
    add_name(ranks, json_string_value(value));
    for (size_t i = 0; i < json_array_size(value); i++)
        add_name(ranks, json_string_value(json_array_get(value, i)));
}

static void add_objectives(GHashTable *ranks, const json_t *recipe)
{
    const char *name;
    json_t *experiment;
    json_object_foreach(json_object_get(recipe, "experiments"), name, experiment)
    {
        add_names(ranks, json_object_get(json_object_get(experiment, "objective"), "metric"));
        add_names(ranks, json_object_get(json_object_get(experiment, "objective"), "metrics"));
    }
}

static bool add_recipe(void *ctx, const char *canonical)
{
    GHashTable *ranks = ctx;
    g_autoptr(json_t) recipe = orch_json_parse(canonical, strlen(canonical), 4 << 20, NULL);
    const json_t *report = json_object_get(recipe, "report");
    add_objectives(ranks, recipe);
    for (size_t k = 0; k < G_N_ELEMENTS(ASKED); k++)
        for (size_t i = 0; i < json_array_size(report); i++) {
            const json_t *item = json_object_get(json_array_get(report, i), ASKED[k].kind);
            add_names(ranks, json_object_get(item, ASKED[k].key));
        }
    return true;
}

GHashTable *orch_web_importance_new(struct orch_store *store, GError **error)
{
    GHashTable *ranks = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    if (orch_store_recent_recipes(store, RECIPES_MAX, add_recipe, ranks, error))
        return ranks;
    g_hash_table_unref(ranks);
    return NULL;
}

GHashTable *orch_web_importance_of(struct orch_store *store, const int64_t *ids, size_t count,
                                   GError **error)
{
    GHashTable *ranks = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    if (orch_store_recipes_of(store, ids, count, RECIPES_MAX, add_recipe, ranks, error))
        return ranks;
    g_hash_table_unref(ranks);
    return NULL;
}

/* ---- other numbers -----------------------------------------------------------------------------
 */

/* What was measured on held-out data matters more than what was measured in training. */
static int rank_of_data(const char *name)
{
    static const char *const held_out[] = {"val", "test", "eval"};
    for (size_t i = 0; i < G_N_ELEMENTS(held_out); i++)
        if (g_str_has_prefix(name, held_out[i]))
            return RANK_HELD_OUT;
    return g_str_has_prefix(name, "train") ? RANK_TRAINING : 0;
}

int orch_web_importance_rank(GHashTable *ranks, const struct orch_known_name *name)
{
    const int asked = GPOINTER_TO_INT(g_hash_table_lookup(ranks, name->name));
    const enum orch_better declared = orch_better_parse(name->better);
    const bool is_judged =
        orch_direction_of(name->name, name->unit, declared).better != ORCH_BETTER_NONE;
    if (asked)
        return asked;
    if (orch_metric_is_system(name->name))
        return RANK_SYSTEM;
    if (orch_unit_is_timing(name->unit, NULL))
        return RANK_TIME;
    return (is_judged ? RANK_EVALUATED : RANK_OTHER) + rank_of_data(name->name);
}
