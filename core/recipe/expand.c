/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the cells. Every experiment is first expanded completely, even if only a part of it is
 * wanted, because the index of a cell and the targets of its references must not depend on targets,
 * --part or --smoke. Then the wanted cells and the cells they refer to are marked, and the rest is
 * dropped. */
#include "core/recipe/internal.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/space/repeat_rule.h"

#include <string.h>

/* ---- making ------------------------------------------------------------------------------------
 */

static void ref_free(void *pointer)
{
    struct orch_ref *ref = pointer;
    g_free(ref->param);
    g_free(ref->artifact);
    g_free(ref->text);
    g_free(ref->best_metric);
    if (ref->cells)
        g_array_unref(ref->cells);
    g_free(ref);
}

static void cell_free(void *pointer)
{
    struct orch_cell *cell = pointer;
    json_decref(cell->params);
    json_decref(cell->coords);
    g_ptr_array_unref(cell->refs);
    g_free(cell);
}

static void add_ref(GArray *joins, struct recipe_experiment *experiment, struct orch_cell *cell,
                    const char *param, struct recipe_reference *reference)
{
    struct orch_ref *ref = g_new0(struct orch_ref, 1);
    ref->param = g_strdup(param);
    ref->artifact = g_strdup(reference->artifact);
    ref->is_result = reference->is_result;
    ref->text = g_strdup(reference->text);
    ref->best_metric = g_strdup(reference->metric);
    ref->best_is_max = reference->best_is_max;
    g_ptr_array_add(cell->refs, ref);
    struct recipe_join join = {experiment, cell, ref, reference};
    g_array_append_val(joins, join);
}

/* Sets the swept values of a cell. `at`: the index in each dimension. */
static void set_swept(GArray *joins, struct recipe_experiment *experiment, struct orch_cell *cell,
                      const unsigned *at)
{
    for (guint i = 0; i < experiment->dimensions->len; i++) {
        const struct recipe_dimension *dimension = experiment->dimensions->pdata[i];
        for (guint j = 0; j < dimension->members->len; j++) {
            const struct recipe_swept *swept =
                &g_array_index(dimension->members, struct recipe_swept, j);
            const struct recipe_value *value =
                &g_array_index(swept->values, struct recipe_value, at[i]);
            const char *name = swept->spec->name;
            if (value->json) {
                json_object_set(cell->params, name, value->json);
                json_object_set(cell->coords, name, value->json);
            } else {
                json_object_set_new(cell->coords, name, json_string(value->reference->text));
                add_ref(joins, experiment, cell, name, value->reference);
            }
        }
    }
}

static struct orch_cell *make_cell(struct recipe_draft *draft, GArray *joins,
                                   struct recipe_experiment *experiment, json_t *base,
                                   const unsigned *at, int repeat)
{
    struct orch_cell *cell = g_new0(struct orch_cell, 1);
    cell->index = draft->out->cells->len;
    cell->experiment = experiment->made;
    cell->params = json_copy(base);
    cell->coords = json_object();
    cell->repeat = repeat;
    cell->seed = orch_recipe_seed(draft->out->seed, repeat);
    cell->refs = g_ptr_array_new_with_free_func(ref_free);
    for (guint i = 0; i < experiment->fixed->len; i++) {
        const struct recipe_fixed *fixed =
            &g_array_index(experiment->fixed, struct recipe_fixed, i);
        if (fixed->value.reference)
            add_ref(joins, experiment, cell, fixed->spec->name, fixed->value.reference);
    }
    set_swept(joins, experiment, cell, at);
    g_ptr_array_add(draft->out->cells, cell);
    return cell;
}

/* A point of a search that is chosen later. */
static struct orch_search_point *make_point(struct recipe_draft *draft,
                                            const struct orch_search *search, unsigned group,
                                            unsigned number)
{
    struct orch_search_point *point = g_new0(struct orch_search_point, 1);
    point->search = search;
    point->group = group;
    point->number = number;
    g_ptr_array_add(draft->out->points, point);
    return point;
}

static json_t *base_params(const struct recipe_experiment *experiment)
{
    json_t *base = json_object();
    for (guint i = 0; i < experiment->fixed->len; i++) {
        const struct recipe_fixed *fixed =
            &g_array_index(experiment->fixed, struct recipe_fixed, i);
        if (fixed->value.json)
            json_object_set(base, fixed->spec->name, fixed->value.json);
    }
    return base;
}

/* Advances to the next combination, the last dimension fastest. False after the last one. */
static bool next(const struct recipe_experiment *experiment, unsigned *at)
{
    for (guint i = experiment->dimensions->len; i-- > 0;) {
        const struct recipe_dimension *dimension = experiment->dimensions->pdata[i];
        if (++at[i] < dimension->count)
            return true;
        at[i] = 0;
    }
    return false;
}

/* --smoke keeps the first repeat of the first and last value of every dimension. */
static bool is_smoke_cell(const struct recipe_experiment *experiment, const unsigned *at,
                          int repeat)
{
    for (guint i = 0; i < experiment->dimensions->len; i++) {
        const struct recipe_dimension *dimension = experiment->dimensions->pdata[i];
        if (at[i] != 0 && at[i] + 1 != dimension->count)
            return false;
    }
    return repeat == 1;
}

static void make_experiment(struct recipe_draft *draft, GArray *joins,
                            struct recipe_experiment *experiment)
{
    experiment->first_cell = draft->out->cells->len;
    g_autofree unsigned *at = g_new0(unsigned, experiment->dimensions->len + 1);
    json_t *base = base_params(experiment);
    const struct orch_search *search = experiment->made->search;
    unsigned group = 0, trials = search ? search->trials : 1;
    do {
        for (unsigned number = 1; number <= trials; number++) {
            struct orch_search_point *point =
                search ? make_point(draft, search, group, number) : NULL;
            for (int repeat = 1; repeat <= experiment->made->repeat; repeat++) {
                struct orch_cell *cell = make_cell(draft, joins, experiment, base, at, repeat);
                cell->point = point;
                if (point)
                    orch_cell_open_point(cell, ORCH_SEARCH_MIDDLE);
                cell->wanted = !draft->options->smoke ||
                               (number == 1 && is_smoke_cell(experiment, at, repeat));
            }
        }
        group++;
    } while (next(experiment, at));
    json_decref(base);
    experiment->cell_count = draft->out->cells->len - experiment->first_cell;
}

/* Checks the number of cells before any is made. */
static bool count_fits(struct recipe_draft *draft)
{
    double total = 0;
    for (guint i = 0; i < draft->experiments->len; i++) {
        const struct recipe_experiment *experiment = draft->experiments->pdata[i];
        double count = experiment->made->skipped || experiment->is_broken ? 0 : 1;
        for (guint j = 0; j < experiment->dimensions->len; j++)
            count *= ((const struct recipe_dimension *)experiment->dimensions->pdata[j])->count;
        count *= experiment->made->repeat;
        count *= experiment->made->search ? experiment->made->search->trials : 1;
        total += count;
        if (total > ORCH_CELLS_MAX) {
            orch_recipe_error_at(draft, experiment->key, "sweep fewer values, or split the recipe",
                                 "experiment '%s' has %.0f trials and the recipe at least %.0f, "
                                 "but at most %d are allowed",
                                 experiment->name, count, total, ORCH_CELLS_MAX);
            return false;
        }
    }
    return true;
}

/* ---- choosing ----------------------------------------------------------------------------------
 */

static void complain_target(struct recipe_draft *draft, const char *target)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; i < draft->out->problems->len; i++)
        g_ptr_array_add(names, draft->out->problems->pdata[i]);
    for (guint i = 0; i < draft->out->experiments->len; i++)
        g_ptr_array_add(names, ((struct orch_experiment *)draft->out->experiments->pdata[i])->name);
    g_ptr_array_add(names, NULL);
    g_autofree char *hint =
        g_str_has_suffix(target, ".recipe")
            ? g_strdup("give one recipe at a time")
            : orch_recipe_hint_names(draft, target, (const char *const *)names->pdata);
    orch_recipe_error(draft, (struct recipe_place){.file = draft->path}, hint,
                      "'%s' is neither an experiment nor a name under 'problems' in recipe '%s'",
                      target, draft->out->name ? draft->out->name : draft->path);
}

/* Names of the experiments selected by the targets; NULL: all. */
static GHashTable *read_targets(struct recipe_draft *draft)
{
    const char *const *targets = draft->options->targets;
    if (!targets || !*targets)
        return NULL;
    GHashTable *wanted = g_hash_table_new(g_str_hash, g_str_equal);
    for (; *targets; targets++) {
        const GPtrArray *members = g_hash_table_lookup(draft->problems, *targets);
        const struct recipe_experiment *experiment = g_hash_table_lookup(draft->by_name, *targets);
        for (guint i = 0; members && i < members->len; i++)
            g_hash_table_add(wanted, members->pdata[i]);
        if (experiment) {
            g_hash_table_add(wanted, (char *)(uintptr_t)experiment->name);
            if (experiment->made->skipped && !experiment->made->is_unavailable)
                orch_diags_add(draft->diags, true, draft->path, experiment->key->line,
                               experiment->key->column, "choose another with --profile",
                               "experiment '%s' is skipped by profile '%s'", experiment->name,
                               draft->profile->name);
        } else if (!members) {
            complain_target(draft, *targets);
        }
    }
    return wanted;
}

static bool is_skipped_by_profile(const struct recipe_draft *draft,
                                  const struct recipe_experiment *experiment)
{
    const struct recipe_part *part =
        draft->profile ? g_hash_table_lookup(draft->profile->parts, experiment->name) : NULL;
    return part && part->skip;
}

static bool is_meant(const struct recipe_draft *draft, GHashTable *targets,
                     const struct recipe_experiment *experiment)
{
    bool is_unnamed = experiment->made->only_when_named && draft->options->leaves_out_unnamed;
    return !is_skipped_by_profile(draft, experiment) &&
           (targets ? g_hash_table_contains(targets, experiment->name) : !is_unnamed);
}

/* Whether something is wanted, and no experiment of it is available for want of plugins. */
static bool nothing_is_left(const struct recipe_draft *draft, GHashTable *targets)
{
    bool lacks_plugin = false;
    for (guint i = 0; i < draft->experiments->len; i++) {
        const struct recipe_experiment *experiment = draft->experiments->pdata[i];
        if (is_meant(draft, targets, experiment) && !experiment->made->is_unavailable)
            return false;
        lacks_plugin =
            lacks_plugin || (is_meant(draft, targets, experiment) && experiment->lacks_plugin);
    }
    return lacks_plugin;
}

/* The names of the experiments that are meant and skipped for the same reason as the first. */
static char *names_skipped(const struct recipe_draft *draft, GHashTable *targets, guint first,
                           unsigned *out_count)
{
    const struct recipe_experiment *one = draft->experiments->pdata[first];
    GString *names = g_string_new(NULL);
    *out_count = 0;
    for (guint i = first; i < draft->experiments->len; i++) {
        const struct recipe_experiment *experiment = draft->experiments->pdata[i];
        if (experiment->made->is_unavailable && is_meant(draft, targets, experiment) &&
            g_strcmp0(experiment->made->skip_reason, one->made->skip_reason) == 0)
            g_string_append_printf(names, "%s'%s'", (*out_count)++ ? ", " : "", experiment->name);
    }
    return g_string_free(names, FALSE);
}

/* Says which of the experiments that are meant are unavailable, once for each reason: a warning, or
 * an error when no other is left. */
static void say_unavailable(struct recipe_draft *draft, GHashTable *targets)
{
    bool is_error = nothing_is_left(draft, targets);
    g_autoptr(GHashTable) said = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < draft->experiments->len; i++) {
        const struct recipe_experiment *experiment = draft->experiments->pdata[i];
        const struct orch_experiment *made = experiment->made;
        const struct orch_yaml *node =
            experiment->plugin_node ? experiment->plugin_node : experiment->key;
        if (!made->is_unavailable || !is_meant(draft, targets, experiment) ||
            !g_hash_table_add(said, made->skip_reason))
            continue;
        unsigned count;
        g_autofree char *names = names_skipped(draft, targets, i, &count);
        g_autofree char *text =
            is_error && experiment->lacks_plugin
                ? g_strdup(experiment->lacks_plugin)
                : g_strdup_printf("experiment%s %s %s skipped: %s", orch_plural(count), names,
                                  count == 1 ? "is" : "are", made->skip_reason);
        orch_diags_add(draft->diags, !is_error, draft->path, node->line, node->column,
                       made->skip_hint, "%s", text);
        if (is_error)
            orch_diags_set_code(draft->diags, ORCH_ERROR_PLUGIN);
    }
}

/* Applies the number of repeats from the command line. */
static void set_repeats(struct recipe_draft *draft, GHashTable *targets)
{
    for (guint i = 0; draft->options->repeat && i < draft->experiments->len; i++) {
        const struct recipe_experiment *experiment = draft->experiments->pdata[i];
        if (!targets || g_hash_table_contains(targets, experiment->name)) {
            experiment->made->repeat = draft->options->repeat;
            g_clear_pointer(&experiment->made->repeats, orch_repeat_rule_free);
        }
    }
}

/* A smoke run tests the whole recipe, so that it includes what must be named otherwise. */
static void choose_targets(struct recipe_draft *draft, GHashTable *targets)
{
    const struct orch_recipe_options *options = draft->options;
    const GPtrArray *cells = draft->out->cells;
    const bool needs_name = (options->leaves_out_unnamed || options->part_count) && !options->smoke;
    for (guint i = 0; i < cells->len; i++) {
        struct orch_cell *cell = cells->pdata[i];
        const bool is_chosen = targets ? g_hash_table_contains(targets, cell->experiment->name)
                                       : !needs_name || !cell->experiment->only_when_named;
        cell->wanted = cell->wanted && is_chosen;
    }
}

/* --part 2/5 keeps the second, the seventh, ... of the wanted cells. */
static void choose_part(struct recipe_draft *draft)
{
    const struct orch_recipe_options *options = draft->options;
    if (!options->part_count)
        return;
    unsigned position = 0;
    for (guint i = 0; i < draft->out->cells->len; i++) {
        struct orch_cell *cell = draft->out->cells->pdata[i];
        if (cell->wanted)
            cell->wanted = position++ % options->part_count + 1 == options->part;
    }
}

static void check_part(struct recipe_draft *draft)
{
    unsigned part = draft->options->part, count = draft->options->part_count;
    g_autofree char *file = g_strdup_printf("--part %u/%u", part, count);
    if ((count || part) && (part < 1 || part > count))
        orch_recipe_error(draft, (struct recipe_place){.file = file},
                          "write --part 2/5 for every fifth trial, beginning with the second",
                          "there is no part %u of %u", part, count);
}

/* The distinct lists of referenced cells; cells that refer to the same trials share a list. */
static GPtrArray *distinct_lists(const GPtrArray *cells)
{
    GPtrArray *lists = g_ptr_array_new();
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < cells->len; i++) {
        const struct orch_cell *cell = cells->pdata[i];
        for (guint j = 0; j < cell->refs->len; j++) {
            GArray *list = ((struct orch_ref *)cell->refs->pdata[j])->cells;
            if (g_hash_table_add(seen, list))
                g_ptr_array_add(lists, list);
        }
    }
    return lists;
}

/* Reduces the candidates of best(..), because a smoke run does not need all of them. */
static void thin_best(const GPtrArray *cells)
{
    g_autoptr(GPtrArray) lists = distinct_lists(cells);
    for (guint i = 0; i < lists->len; i++) {
        GArray *list = lists->pdata[i];
        guint kept = 0;
        for (guint k = 0; k < list->len; k++) {
            unsigned index = g_array_index(list, unsigned, k);
            if (((struct orch_cell *)cells->pdata[index])->wanted)
                g_array_index(list, unsigned, kept++) = index;
        }
        g_array_set_size(list, MAX(kept, 1));
    }
}

/* Marks the cells that the wanted cells refer to, recursively. References have no cycles, and every
 * list is followed once. */
static GArray *mark_needed(const GPtrArray *cells)
{
    GArray *needed = g_array_sized_new(FALSE, TRUE, sizeof(bool), cells->len);
    g_array_set_size(needed, cells->len);
    g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(unsigned));
    g_autoptr(GHashTable) followed = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < cells->len; i++)
        if (((struct orch_cell *)cells->pdata[i])->wanted)
            g_array_append_val(stack, i);
    while (stack->len) {
        unsigned index = g_array_index(stack, unsigned, stack->len - 1);
        g_array_set_size(stack, stack->len - 1);
        if (g_array_index(needed, bool, index))
            continue;
        g_array_index(needed, bool, index) = true;
        const struct orch_cell *cell = cells->pdata[index];
        for (guint i = 0; i < cell->refs->len; i++) {
            GArray *list = ((struct orch_ref *)cell->refs->pdata[i])->cells;
            if (g_hash_table_add(followed, list))
                g_array_append_vals(stack, list->data, list->len);
        }
    }
    return needed;
}

/* Drops unneeded cells and renumbers references. */
static void keep_needed(struct recipe_draft *draft)
{
    GPtrArray *all = draft->out->cells;
    g_autoptr(GArray) needed = mark_needed(all);
    GPtrArray *kept = g_ptr_array_new_full(all->len, cell_free);
    g_autofree unsigned *position = g_new0(unsigned, all->len + 1);
    g_ptr_array_set_free_func(all, NULL);
    for (guint i = 0; i < all->len; i++) {
        position[i] = kept->len;
        if (g_array_index(needed, bool, i))
            g_ptr_array_add(kept, all->pdata[i]);
        else
            cell_free(all->pdata[i]);
    }
    g_ptr_array_unref(all);
    draft->out->cells = kept;
    g_autoptr(GPtrArray) lists = distinct_lists(kept);
    for (guint i = 0; i < lists->len; i++) {
        GArray *list = lists->pdata[i];
        for (guint k = 0; k < list->len; k++)
            g_array_index(list, unsigned, k) = position[g_array_index(list, unsigned, k)];
    }
}

void orch_recipe_make_cells(struct recipe_draft *draft)
{
    g_ptr_array_set_free_func(draft->out->cells, cell_free);
    check_part(draft);
    g_autoptr(GHashTable) targets = read_targets(draft);
    say_unavailable(draft, targets);
    set_repeats(draft, targets);
    if (!count_fits(draft))
        return;
    g_autoptr(GArray) joins = g_array_new(FALSE, FALSE, sizeof(struct recipe_join));
    for (guint i = 0; i < draft->experiments->len; i++) {
        struct recipe_experiment *experiment = draft->experiments->pdata[i];
        if (!experiment->is_broken && !experiment->made->skipped)
            make_experiment(draft, joins, experiment);
    }
    orch_recipe_join(draft, joins);
    if (draft->diags->error_count)
        return;
    if (draft->options->smoke)
        thin_best(draft->out->cells);
    choose_targets(draft, targets);
    choose_part(draft);
    keep_needed(draft);
}
