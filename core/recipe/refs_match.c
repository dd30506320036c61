/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Resolves references to trials, like a hash join. The trials of the other experiment that pass the
 * selectors are hashed by the values that must be equal (the repeat, and the swept names that both
 * experiments share), and each cell looks its match up. So the work grows with the sum of the
 * cells, not with their product. */
#include "core/recipe/internal.h"

#include "lib/base/text.h"
#include "lib/wire/value.h"

#include <string.h>

#define NAMED_MAX 4 /* maximum number of candidates named in a message */

/* Numbers of equal value match: the two plugins may declare different types, and a program's
 * number keeps the spelling that a compiled plugin's loses. */
static void append_value(GString *key, const json_t *value)
{
    char text_of_number[ORCH_REAL_CHARS];
    double number;
    g_string_append_c(key, '\x1f');
    if (orch_value_number(value, &number)) {
        g_string_append(key, orch_real_format(number, text_of_number));
        return;
    }
    g_autofree char *text = orch_value_format_json(value);
    g_string_append(key, text);
}

static bool values_equal(const json_t *a, const json_t *b)
{
    g_autoptr(GString) x = g_string_new(NULL), y = g_string_new(NULL);
    append_value(x, a);
    append_value(y, b);
    return g_string_equal(x, y);
}

static bool has_selector(const struct recipe_reference *reference, const char *name)
{
    for (guint i = 0; i < reference->selector_names->len; i++)
        if (strcmp(reference->selector_names->pdata[i], name) == 0)
            return true;
    return false;
}

static bool repeat_is_free(const struct recipe_reference *reference)
{
    return reference->target->made->repeat > 1 && !has_selector(reference, "repeat");
}

static char *key_of(const struct recipe_reference *reference, const struct orch_cell *cell)
{
    GString *key = g_string_new(NULL);
    if (repeat_is_free(reference))
        g_string_append_printf(key, "%d", cell->repeat);
    for (guint i = 0; i < reference->shared->len; i++)
        append_value(key, json_object_get(cell->coords, reference->shared->pdata[i]));
    return g_string_free(key, FALSE);
}

static bool is_selected(const struct recipe_reference *reference, const struct orch_cell *cell)
{
    const struct orch_manifest *manifest = reference->target->manifest;
    for (guint i = 0; i < reference->selector_names->len; i++) {
        const char *name = reference->selector_names->pdata[i];
        const json_t *wanted = json_array_get(reference->selected, i);
        const json_t *has = json_object_get(cell->params, name);
        bool is_repeat = !orch_manifest_param(manifest, name);
        if (is_repeat ? json_integer_value(wanted) != cell->repeat
                      : !has || !values_equal(wanted, has))
            return false;
    }
    return true;
}

/* Names that both experiments sweep and no selector chooses, in the target's order. */
static GPtrArray *shared_names(const struct recipe_reference *reference,
                               const struct orch_cell *source, const struct orch_cell *target)
{
    GPtrArray *names = g_ptr_array_new();
    const char *name;
    json_t *value;
    json_object_foreach(target->coords, name, value)
    {
        if (json_object_get(source->coords, name) && !has_selector(reference, name)) {
            g_ptr_array_add(names, (char *)(uintptr_t)name);
        }
    }
    return names;
}

static void build_index(struct recipe_draft *draft, struct recipe_reference *reference,
                        const struct orch_cell *source)
{
    const struct recipe_experiment *target = reference->target;
    GPtrArray *cells = draft->out->cells;
    reference->index =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_array_unref);
    reference->shared = shared_names(reference, source, cells->pdata[target->first_cell]);
    for (guint i = target->first_cell; i < target->first_cell + target->cell_count; i++) {
        const struct orch_cell *cell = cells->pdata[i];
        if (!is_selected(reference, cell))
            continue;
        char *key = key_of(reference, cell);
        GArray *same = g_hash_table_lookup(reference->index, key);
        if (same) {
            g_free(key);
        } else {
            same = g_array_new(FALSE, FALSE, sizeof(unsigned));
            g_hash_table_insert(reference->index, key, same);
        }
        g_array_append_val(same, i);
    }
}

/* ---- what to say when it is not one ------------------------------------------------------------
 */

/* "net=resnet20, lr=0.1 #2": the values that distinguish a trial within its experiment. */
static char *coords_text(const struct orch_cell *cell)
{
    g_autofree char *label = orch_cell_label(cell);
    const char *space = strchr(label, ' ');
    return g_strdup(space ? space + 1 : label);
}

/* An example selector that would choose the first candidate. */
static char *example(const struct recipe_reference *reference, const struct orch_cell *candidate)
{
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "${%s[", reference->experiment);
    const char *name, *comma = "";
    json_t *value;
    json_object_foreach(candidate->coords, name, value)
    {
        g_autofree char *formatted = orch_value_format_json(value);
        g_string_append_printf(text, "%s%s=%s", comma, name, formatted);
        comma = ", ";
    }
    if (!*comma)
        g_string_append_printf(text, "repeat=%d", candidate->repeat);
    g_string_append_printf(text, "].%s}", reference->artifact);
    return g_string_free(text, FALSE);
}

static char *choose_hint(const struct recipe_reference *reference,
                         const struct orch_cell *candidate)
{
    g_autofree char *selector = example(reference, candidate);
    const GPtrArray *metrics = reference->target->manifest->metrics;
    for (guint i = 0; i < metrics->len; i++) {
        const struct orch_metric_spec *metric = metrics->pdata[i];
        if (orch_metric_spec_better(metric) != ORCH_BETTER_NONE)
            return g_strdup_printf("choose one: %s or ${best(%s, %s).%s}", selector,
                                   reference->experiment, metric->name, reference->artifact);
    }
    return g_strdup_printf("choose one: %s", selector);
}

static char *candidates_text(struct recipe_draft *draft, const GArray *cells)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < MIN(cells->len, NAMED_MAX); i++) {
        g_autofree char *one =
            coords_text(draft->out->cells->pdata[g_array_index(cells, unsigned, i)]);
        g_string_append_printf(text, "%s%s", i ? "; " : "", one);
    }
    if (cells->len > NAMED_MAX)
        g_string_append_printf(text, "; and %u more", cells->len - NAMED_MAX);
    return g_string_free(text, FALSE);
}

static void complain_many(struct recipe_draft *draft, const struct recipe_join *join,
                          const GArray *found)
{
    struct recipe_reference *reference = join->reference;
    const struct orch_cell *first = draft->out->cells->pdata[g_array_index(found, unsigned, 0)];
    g_autofree char *label = orch_cell_label(join->cell);
    g_autofree char *candidates = candidates_text(draft, found);
    g_autofree char *hint = choose_hint(reference, first);
    orch_recipe_error(draft, reference->place, hint, "'%s' of %s matches %u trials: %s",
                      reference->text, label, found->len, candidates);
}

static void complain_none(struct recipe_draft *draft, const struct recipe_join *join)
{
    const struct recipe_reference *reference = join->reference;
    const struct recipe_experiment *target = reference->target;
    GArray *all = g_array_new(FALSE, FALSE, sizeof(unsigned));
    for (guint i = target->first_cell; i < target->first_cell + target->cell_count; i++)
        g_array_append_val(all, i);
    g_autofree char *label = orch_cell_label(join->cell);
    g_autofree char *candidates = candidates_text(draft, all);
    g_autofree char *hint = choose_hint(reference, draft->out->cells->pdata[target->first_cell]);
    if (repeat_is_free(reference) && join->cell->repeat > target->made->repeat) {
        g_free(hint);
        hint = g_strdup_printf("give both the same 'repeat', or none to '%s'", target->name);
    }
    orch_recipe_error(draft, reference->place, hint, "'%s' of %s matches no trial of '%s' (%s)",
                      reference->text, label, target->name, candidates);
    g_array_unref(all);
}

/* False, with an error unless it is reported elsewhere, when the target has no cells, for example
 * because the profile skips it. */
static bool target_has_cells(struct recipe_draft *draft, struct recipe_reference *reference)
{
    const struct recipe_experiment *target = reference->target;
    if (target->cell_count)
        return true;
    if (target->made->skipped && !target->made->is_unavailable && !reference->has_failed)
        orch_recipe_error(draft, reference->place, "skip both experiments, or neither",
                          "'%s' needs experiment '%s', which profile '%s' skips", reference->text,
                          target->name, draft->profile->name);
    reference->has_failed = true;
    return false;
}

static void join_one(struct recipe_draft *draft, const struct recipe_join *join)
{
    struct recipe_reference *reference = join->reference;
    if (reference->has_failed || !target_has_cells(draft, reference))
        return;
    if (!reference->index)
        build_index(draft, reference, join->cell);
    g_autofree char *key = key_of(reference, join->cell);
    const GArray *found = g_hash_table_lookup(reference->index, key);
    if (!found)
        complain_none(draft, join);
    else if (found->len > 1 && !reference->metric)
        complain_many(draft, join, found);
    else
        join->ref->cells = g_array_ref((GArray *)(uintptr_t)found);
    reference->has_failed = !join->ref->cells;
}

void orch_recipe_join(struct recipe_draft *draft, const GArray *joins)
{
    for (guint i = 0; i < joins->len; i++)
        join_one(draft, &g_array_index(joins, struct recipe_join, i));
}
