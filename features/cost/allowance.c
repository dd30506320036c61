/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the maximum cost of a recipe: `allowance: 20 usd`, `allowance: 5 h`, a map with `usd`,
 * `hours` and `per`, or a map with `group` and `person`, each an amount or a map with `usd` and
 * `hours`. */
#include "features/cost/allowance.h"

#include "lib/base/text.h"

#include <string.h>

#define MOST 1e9

static const char *const SCOPES[] = {"group", "person", NULL}; /* enum orch_allowance_scope */
static const struct orch_yaml_key AMOUNT_KEYS[] = {
    {"usd", .type = "number"}, {"hours", .type = "number"}, {0}};
static const struct orch_yaml_key KEYS[] = {{"usd", .type = "number"},
                                            {"hours", .type = "number"},
                                            {"per", .words = SCOPES},
                                            {"group", .type = "text", .keys = AMOUNT_KEYS},
                                            {"person", .type = "text", .keys = AMOUNT_KEYS},
                                            {0}};
static const struct orch_yaml_key VALUE = {.type = "text", .keys = KEYS};

static bool read_amount(struct recipe_draft *draft, const struct orch_yaml *map, const char *key,
                        double *out)
{
    g_autofree char *text = NULL;
    double value;
    if (!orch_recipe_get_text(draft, map, key, &text))
        return false;
    if (!orch_real_parse(text, &value) || !(value > 0 && value <= MOST)) {
        orch_recipe_error_at(draft, orch_yaml_get(map, key), "write a plain number, without a unit",
                             "'%s': '%s' is not a number above 0", key, text);
        return false;
    }
    *out = value;
    return true;
}

/* Reads a number with a unit: "20 usd", "5 h". */
static void read_short(struct recipe_draft *draft, const struct orch_yaml *node,
                       struct orch_allowance *out)
{
    static const struct {
        const char *unit;
        bool is_hours;
    } units[] = {{"usd", false}, {"h", true}, {"hours", true}};
    g_autofree char *text = g_ascii_strdown(node->text, -1);
    size_t digits = strspn(text, "0123456789.");
    g_autofree char *number = g_strndup(text, digits);
    const char *unit = text + digits + strspn(text + digits, " ");
    double value;
    for (unsigned i = 0; i < G_N_ELEMENTS(units); i++) {
        if (strcmp(unit, units[i].unit) != 0 || !orch_real_parse(number, &value) ||
            !(value > 0 && value <= MOST))
            continue;
        out->has_usd = !units[i].is_hours;
        out->has_hours = units[i].is_hours;
        *(units[i].is_hours ? &out->hours : &out->usd) = value;
        return;
    }
    orch_recipe_error_at(draft, node, "for example 20 usd, 5 h, or { usd: 20, per: person }",
                         "'allowance': '%s' is not an amount above 0 with a unit", node->text);
}

static void read_amounts(struct recipe_draft *draft, const struct orch_yaml *node,
                         struct orch_allowance *out)
{
    out->has_usd = read_amount(draft, node, "usd", &out->usd);
    out->has_hours = read_amount(draft, node, "hours", &out->hours);
    if (!orch_yaml_get(node, "usd") && !orch_yaml_get(node, "hours"))
        orch_recipe_error_at(draft, node, "for example { usd: 20, hours: 5 }",
                             "'allowance' has neither 'usd' nor 'hours'");
}

/* Reads the value of `group` or `person`. */
static void read_scope(struct recipe_draft *draft, const struct orch_yaml *node, const char *scope,
                       struct orch_allowance *out)
{
    if (node->kind == ORCH_YAML_SCALAR) {
        read_short(draft, node, out);
    } else if (node->kind == ORCH_YAML_MAP) {
        orch_recipe_check_keys(draft, node, "the allowance", AMOUNT_KEYS);
        read_amounts(draft, node, out);
    } else {
        orch_recipe_error_at(draft, node, "for example 20 usd, or { usd: 20, hours: 5 }",
                             "'%s' takes an amount or a map, found %s", scope,
                             orch_recipe_node_kind(node));
    }
}

/* Reads `{ group: AMOUNT, person: AMOUNT }`. False when the map has neither of them. */
static bool read_scopes(struct recipe_draft *draft, const struct orch_yaml *map,
                        struct orch_allowance *out)
{
    bool has_scope = false;
    for (unsigned i = 0; i < ORCH_ALLOWANCE_SCOPES; i++) {
        const struct orch_yaml *node = orch_yaml_get(map, SCOPES[i]);
        if (node)
            read_scope(draft, node, SCOPES[i], &out[i]);
        has_scope = has_scope || node;
    }
    const struct orch_yaml *other = orch_yaml_get(map, "usd");
    other = other ? other : orch_yaml_get(map, "hours");
    other = other ? other : orch_yaml_get(map, "per");
    if (has_scope && other)
        orch_recipe_error_at(draft, other, "for example { group: 20 usd, person: { hours: 5 } }",
                             "write each amount under 'group' or 'person'");
    return has_scope;
}

static void read_map(struct recipe_draft *draft, const struct orch_yaml *node,
                     struct orch_allowance *out)
{
    unsigned scope = ORCH_ALLOWANCE_GROUP;
    orch_recipe_check_keys(draft, node, "the allowance", KEYS);
    if (read_scopes(draft, node, out))
        return;
    orch_recipe_get_choice(draft, node, "per", SCOPES, &scope);
    read_amounts(draft, node, &out[scope]);
}

/* Returns the allowances of the recipe, one of each scope. */
static void *read_allowances(struct recipe_draft *draft, const struct orch_yaml *recipe,
                             void *earlier)
{
    const struct orch_yaml *node = orch_yaml_get(recipe, ORCH_RECIPE_KEY_ALLOWANCE.name);
    struct orch_allowance *out = g_new0(struct orch_allowance, ORCH_ALLOWANCE_SCOPES);
    (void)earlier;
    if (node->kind == ORCH_YAML_SCALAR)
        read_short(draft, node, &out[ORCH_ALLOWANCE_GROUP]);
    else if (node->kind == ORCH_YAML_MAP)
        read_map(draft, node, out);
    else
        orch_recipe_error_at(draft, node, "for example 20 usd, or { usd: 20, per: person }",
                             "'allowance' takes an amount or a map, found %s",
                             orch_recipe_node_kind(node));
    return out;
}

const struct orch_recipe_key ORCH_RECIPE_KEY_ALLOWANCE = {
    .name = "allowance", .value = &VALUE, .read = read_allowances, .free = g_free};

const struct orch_allowance *orch_allowance_of(const struct orch_expansion *expansion,
                                               enum orch_allowance_scope scope)
{
    const struct orch_allowance *all = orch_expansion_value(expansion, &ORCH_RECIPE_KEY_ALLOWANCE);
    return all && (all[scope].has_usd || all[scope].has_hours) ? &all[scope] : NULL;
}

bool orch_expansion_has_allowance(const struct orch_expansion *expansion)
{
    for (unsigned i = 0; i < ORCH_ALLOWANCE_SCOPES; i++)
        if (orch_allowance_of(expansion, (enum orch_allowance_scope)i))
            return true;
    return false;
}
