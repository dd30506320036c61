/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the maximum cost of a recipe: `allowance: 20 usd`, `allowance: 5 h`, or a map with `usd`,
 * `hours` and `per`. */
#include "core/recipe/internal.h"

#include "lib/base/text.h"

#include <string.h>

#define MOST 1e9

static const char *const KEYS[] = {"usd", "hours", "per", NULL};
static const char *const PER_WORDS[] = {"group", "person", NULL};

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

static void read_map(struct recipe_draft *draft, const struct orch_yaml *node,
                     struct orch_allowance *out)
{
    unsigned word = 0;
    orch_yaml_check_keys(node, draft->path, "the allowance", KEYS, draft->diags);
    out->has_usd = read_amount(draft, node, "usd", &out->usd);
    out->has_hours = read_amount(draft, node, "hours", &out->hours);
    orch_recipe_get_choice(draft, node, "per", PER_WORDS, &word);
    out->per_person = word == 1;
    if (!orch_yaml_get(node, "usd") && !orch_yaml_get(node, "hours"))
        orch_recipe_error_at(draft, node, "for example { usd: 20, hours: 5, per: person }",
                             "'allowance' has neither 'usd' nor 'hours'");
}

void orch_recipe_read_allowance(struct recipe_draft *draft)
{
    const struct orch_yaml *node = orch_yaml_get(draft->root, "allowance");
    struct orch_allowance *out = &draft->out->allowance;
    if (!node)
        return;
    *out = (struct orch_allowance){.line = node->line, .column = node->column};
    if (node->kind == ORCH_YAML_SCALAR)
        read_short(draft, node, out);
    else if (node->kind == ORCH_YAML_MAP)
        read_map(draft, node, out);
    else
        orch_recipe_error_at(draft, node, "for example 20 usd, or { usd: 20, per: person }",
                             "'allowance' takes an amount or a map, found %s",
                             orch_recipe_node_kind(node));
    out->is_set = out->has_usd || out->has_hours;
}
