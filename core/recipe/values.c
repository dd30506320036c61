/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks values against their parameters. The parameter's type decides how a text is read; the type
 * is never guessed from the text. So quotes make no difference, and 1e-3 is a real for a real
 * parameter. */
#include "core/recipe/internal.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/value.h"

#include <string.h>

/* Names that other tools use to generate search spaces. */
static const char *const GENERATORS[] = {
    "choice(", "uniform(",  "loguniform(", "normal(",  "randint(", "quniform(",   "int(", "glob(",
    "grid(",   "logspace(", "linspace(",   "uniform[", "choice[",  "loguniform[", NULL};
static const char VALUES_HINT[] =
    "write the values, such as [0.001, 0.01], or for integers range(1, 8)";

static const char *generator_of(const char *text)
{
    for (unsigned i = 0; GENERATORS[i]; i++)
        if (g_str_has_prefix(text, GENERATORS[i]))
            return GENERATORS[i];
    return NULL;
}

/* Adds the error, with a better hint than the type's own when the text shows what was meant. */
static void complain_value(struct recipe_draft *draft, const struct recipe_setting *setting,
                           const struct orch_yaml *node, const char *text, const GError *error)
{
    struct recipe_place place = orch_recipe_value_place(setting, node);
    g_autofree char *what = orch_error_what(error);
    bool is_option = g_str_has_prefix(setting->file, "-s ");
    if (generator_of(text) || g_str_has_prefix(text, "range(")) {
        orch_recipe_error(draft, place, VALUES_HINT, "%s", what);
    } else if (is_option && strchr(text, ',')) {
        g_autofree char *sweep = g_strdup_printf("to run each value, use -x %s", setting->file + 3);
        orch_recipe_error(draft, place, sweep, "%s", what);
    } else {
        orch_recipe_error_from(draft, place, error);
    }
}

/* Rejects a secret written into a recipe, because recipes are committed, stored and shared. */
static bool secret_is_hidden(struct recipe_draft *draft, const struct orch_param_spec *spec,
                             const struct recipe_setting *setting, const struct orch_yaml *node)
{
    if (!orch_param_is_secret(spec) || setting->file != draft->path || strstr(node->text, "${env:"))
        return true;
    g_autofree char *upper = g_ascii_strup(spec->name, -1);
    g_autofree char *hint = g_strdup_printf("write %s: \"${env:%s}\"", spec->name, upper);
    orch_recipe_error(draft, orch_recipe_value_place(setting, node), hint,
                      "parameter '%s' is a secret, and may not be written into a recipe",
                      spec->name);
    return false;
}

/* Reads one text by the parameter's type, or by its element type inside a list. */
static bool read_scalar(struct recipe_draft *draft, const struct recipe_experiment *experiment,
                        const struct orch_param_spec *spec, const struct recipe_setting *setting,
                        const struct orch_yaml *node, bool is_element, struct recipe_value *out)
{
    struct recipe_place place = orch_recipe_value_place(setting, node);
    struct recipe_reference *reference = NULL;
    g_autofree char *text = draft->options->is_ad_hoc
                                ? g_strdup(node->text) /* the shell has expanded its variables */
                                : orch_recipe_expand_variables(draft, place, node->text, NULL,
                                                               is_element ? NULL : &reference);
    if (reference) {
        out->reference = reference;
        return orch_recipe_reference_check(draft, experiment, spec, reference);
    }
    if (!text || !secret_is_hidden(draft, spec, setting, node))
        return false;
    g_autoptr(GError) error = NULL;
    out->json = is_element ? orch_value_parse_scalar(spec, text, &error)
                           : orch_value_parse(spec, text, &error);
    if (!out->json)
        complain_value(draft, setting, node, text, error);
    return out->json != NULL;
}

static bool read_list(struct recipe_draft *draft, const struct recipe_experiment *experiment,
                      const struct orch_param_spec *spec, const struct recipe_setting *setting,
                      const struct orch_yaml *node, struct recipe_value *out)
{
    bool is_well = true;
    out->json = json_array();
    for (guint i = 0; i < node->items->len; i++) {
        const struct orch_yaml *item = node->items->pdata[i];
        struct recipe_value element = {0};
        if (item->kind != ORCH_YAML_SCALAR || orch_yaml_is_null(item)) {
            orch_recipe_error(draft, orch_recipe_value_place(setting, item), NULL,
                              "parameter '%s': each element must be one value, found %s",
                              spec->name, orch_recipe_node_kind(item));
            is_well = false;
        } else if (read_scalar(draft, experiment, spec, setting, item, true, &element)) {
            json_array_append(out->json, element.json);
        } else {
            is_well = false;
        }
        orch_recipe_value_clear(&element);
    }
    return is_well;
}

static bool read_node(struct recipe_draft *draft, const struct recipe_experiment *experiment,
                      const struct orch_param_spec *spec, const struct recipe_setting *setting,
                      const struct orch_yaml *node, struct recipe_value *out)
{
    bool is_list = spec->type & ORCH_LIST;
    struct recipe_place place = orch_recipe_value_place(setting, node);
    g_autofree char *type = orch_type_format(spec->type);
    if (orch_yaml_is_null(node)) {
        if (spec->flags & ORCH_PARAM_OPTIONAL) {
            out->json = json_null();
            return true;
        }
        orch_recipe_error(draft, place, "write a value, or remove the line to use the default",
                          "parameter '%s' (%s) has no value here", spec->name, type);
        return false;
    }
    if (node->kind == ORCH_YAML_SCALAR)
        return read_scalar(draft, experiment, spec, setting, node, false, out);
    if (node->kind == ORCH_YAML_LIST && is_list)
        return read_list(draft, experiment, spec, setting, node, out);
    orch_recipe_error(
        draft, place,
        node->kind == ORCH_YAML_LIST ? "to run every value, put the list under 'sweep:'" : NULL,
        "parameter '%s' (%s) must be %s, found %s", spec->name, type,
        is_list ? "a list" : "one value", orch_recipe_node_kind(node));
    return false;
}

/* Clears a partly read value on failure. */
static bool finish(bool is_well, struct recipe_value *out)
{
    if (!is_well)
        orch_recipe_value_clear(out);
    return is_well;
}

bool orch_recipe_read_value(struct recipe_draft *draft, const struct recipe_experiment *experiment,
                            const struct orch_param_spec *spec,
                            const struct recipe_setting *setting, struct recipe_value *out)
{
    *out = (struct recipe_value){0};
    return finish(read_node(draft, experiment, spec, setting, setting->value, out), out);
}

/* ---- sweeps ------------------------------------------------------------------------------------
 */

/* "range(0, 5)" and "range(0, 10, 2)": integers from the first up to, not including, the end. */
static bool append_range(struct recipe_draft *draft, const struct orch_param_spec *spec,
                         const struct recipe_setting *setting, const struct orch_yaml *node,
                         GArray *values)
{
    struct recipe_place place = orch_recipe_value_place(setting, node);
    g_autofree char *inside = g_strdup(node->text + strlen("range("));
    char *end = strrchr(inside, ')');
    int64_t bound[3] = {0, 0, 1};
    bool is_well = end && !end[1] && spec->type == ORCH_INT;
    if (is_well) {
        *end = 0;
        g_autoptr(GPtrArray) parts = orch_recipe_split(inside);
        is_well = parts->len == 2 || parts->len == 3;
        for (guint i = 0; is_well && i < parts->len; i++)
            is_well = orch_int_parse(parts->pdata[i], &bound[i]);
    }
    double count = bound[2] ? ((double)bound[1] - (double)bound[0]) / (double)bound[2] : -1;
    if (!is_well || count <= 0 || count > ORCH_CELLS_MAX) {
        if (is_well && count > ORCH_CELLS_MAX)
            orch_recipe_error(draft, place, "sweep fewer values, or use larger steps",
                              "parameter '%s': '%s' has %.0f values, at most %d are allowed",
                              spec->name, node->text, count, ORCH_CELLS_MAX);
        else
            orch_recipe_error(draft, place, VALUES_HINT,
                              "parameter '%s': '%s' is not a range of integers that can be swept",
                              spec->name, node->text);
        return false;
    }
    for (int64_t i = bound[0]; bound[2] > 0 ? i < bound[1] : i > bound[1]; i += bound[2]) {
        g_autoptr(GError) error = NULL;
        char text[32];
        g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, i);
        struct recipe_value value = {.json = orch_value_parse_scalar(spec, text, &error)};
        if (!value.json) {
            orch_recipe_error_from(draft, place, error);
            return false;
        }
        g_array_append_val(values, value);
    }
    return true;
}

static bool append_item(struct recipe_draft *draft, const struct recipe_experiment *experiment,
                        const struct orch_param_spec *spec, const struct recipe_setting *setting,
                        const struct orch_yaml *node, GArray *values)
{
    if (node->kind == ORCH_YAML_SCALAR && g_str_has_prefix(node->text, "range(") &&
        (spec->type & ~ORCH_LIST) != ORCH_STRING)
        return append_range(draft, spec, setting, node, values);
    struct recipe_value value = {0};
    if (!finish(read_node(draft, experiment, spec, setting, node, &value), &value))
        return false;
    g_array_append_val(values, value);
    return true;
}

/* Accepts -x lr=[0.1,0.01], as other tools write it, as a list of values when the parameter is not
 * a list. */
static GPtrArray *unwrap(const struct orch_param_spec *spec, const struct recipe_setting *setting)
{
    const struct orch_yaml *list = setting->value;
    if (list->line != 0 || list->items->len != 1 || spec->type & ORCH_LIST)
        return NULL;
    const char *text = ((const struct orch_yaml *)list->items->pdata[0])->text;
    size_t length = strlen(text);
    if (length < 2 || text[0] != '[' || text[length - 1] != ']')
        return NULL;
    g_autofree char *inside = g_strndup(text + 1, length - 2);
    return orch_recipe_split(inside);
}

/* Rejects duplicate values, because two cells with equal values would count one trial twice. */
static bool values_differ(struct recipe_draft *draft, const struct recipe_setting *setting,
                          const GArray *values)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < values->len; i++) {
        const struct recipe_value *value = &g_array_index(values, struct recipe_value, i);
        char *text =
            value->json ? orch_json_canonical(value->json) : g_strdup(value->reference->text);
        if (g_hash_table_contains(seen, text)) {
            const struct orch_yaml *list = setting->value;
            bool has_item = list->kind == ORCH_YAML_LIST && list->items->len == values->len;
            const struct orch_yaml *node = has_item ? list->items->pdata[i] : list;
            orch_recipe_error(draft, orch_recipe_value_place(setting, node),
                              node->text && strcmp(node->text, "0") == 0
                                  ? "write decimal numbers with a point, not a comma: 0.001"
                                  : "for more trials of equal values, use 'repeat'",
                              "sweep '%s' has the value %s twice", setting->name, text);
            g_free(text);
            return false;
        }
        g_hash_table_add(seen, text);
    }
    return true;
}

/* Checks that a sweep is a list or the single text range(..). */
static bool sweep_is_list(struct recipe_draft *draft, const struct recipe_setting *setting,
                          const char *under)
{
    const struct orch_yaml *node = setting->value;
    struct recipe_place place = orch_recipe_value_place(setting, node);
    bool is_text = node->kind == ORCH_YAML_SCALAR && !orch_yaml_is_null(node);
    if (node->kind == ORCH_YAML_LIST && node->items->len > 0)
        return true;
    if (is_text && g_str_has_prefix(node->text, "range("))
        return true;
    if (node->kind == ORCH_YAML_LIST)
        orch_recipe_error(draft, place, VALUES_HINT, "%s '%s' is empty", under, setting->name);
    else if (node->kind == ORCH_YAML_MAP || (is_text && generator_of(node->text)))
        orch_recipe_error(draft, place, VALUES_HINT, "%s '%s' needs a list of values", under,
                          setting->name);
    else
        orch_recipe_error(
            draft, place,
            is_text ? "write one value under 'with:', several as a list: [a, b]" : VALUES_HINT,
            "%s '%s' must be a list, found %s", under, setting->name, orch_recipe_node_kind(node));
    return false;
}

GArray *orch_recipe_read_sweep(struct recipe_draft *draft,
                               const struct recipe_experiment *experiment,
                               const struct orch_param_spec *spec,
                               const struct recipe_setting *setting, bool is_zip)
{
    const struct orch_yaml *node = setting->value;
    if (orch_param_is_secret(spec)) {
        orch_recipe_error(draft, orch_recipe_key_place(setting), "set it under 'with:'",
                          "parameter '%s' is a secret and cannot be swept", spec->name);
        return NULL;
    }
    if (!sweep_is_list(draft, setting, is_zip ? "zip" : "sweep"))
        return NULL;
    GArray *values = g_array_new(FALSE, TRUE, sizeof(struct recipe_value));
    g_array_set_clear_func(values, (GDestroyNotify)orch_recipe_value_clear);
    bool is_well = true;
    g_autoptr(GPtrArray) unwrapped = node->kind == ORCH_YAML_LIST ? unwrap(spec, setting) : NULL;
    for (guint i = 0; unwrapped && i < unwrapped->len; i++) {
        struct orch_yaml item = {.kind = ORCH_YAML_SCALAR, .quoted = true};
        item.text = unwrapped->pdata[i];
        is_well = append_item(draft, experiment, spec, setting, &item, values) && is_well;
    }
    guint count = unwrapped ? 0 : node->kind == ORCH_YAML_LIST ? node->items->len : 1;
    for (guint i = 0; i < count; i++) {
        const struct orch_yaml *item = node->kind == ORCH_YAML_LIST ? node->items->pdata[i] : node;
        is_well = append_item(draft, experiment, spec, setting, item, values) && is_well;
    }
    if (is_well && !is_zip)
        is_well = values_differ(draft, setting, values);
    if (is_well)
        return values;
    g_array_unref(values);
    return NULL;
}
