/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Selects the runs for a report item about curves. A run belongs to a cell of the plan when its
 * fingerprint matches, on any machine, so the runs of several users fill one table. When the plan
 * has no fingerprint (this machine lacks the GPU), recipe, experiment, repeat and parameters must
 * match. */
#include "features/curve/curve_items.h"

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <math.h>
#include <string.h>

/* ---- networks -------------------------------------------------------------------------------- */

static int net_of(struct orch_curve_set *set, struct orch_plan *plan, const struct orch_cell *cell)
{
    g_autoptr(json_t) cost =
        orch_plugins_cost(plan->plugins, cell->experiment->manifest, cell->params, NULL);
    g_autofree char *param = orch_cell_value_text(cell, "net");
    const char *name = cost ? orch_json_text(cost, "network", param) : param;
    return orch_curve_set_net_of(set, name ? name : cell->experiment->name, cost);
}

/* Returns the index of a cell's swept values without the network. */
static int variant_of(struct orch_curve_set *set, const struct orch_cell *cell)
{
    g_autoptr(GString) text = g_string_new(NULL);
    const char *name;
    json_t *value;
    json_object_foreach(cell->coords, name, value)
    {
        g_autofree char *shown = orch_cell_value_text(cell, name);
        if (strcmp(name, "net") != 0)
            g_string_append_printf(text, "%s%s=%s", text->len ? " " : "", name, shown);
    }
    for (guint i = 0; i < set->variants->len; i++)
        if (strcmp(set->variants->pdata[i], text->str) == 0)
            return (int)i;
    g_ptr_array_add(set->variants, g_strdup(text->str));
    return (int)set->variants->len - 1;
}

/* ---- devices --------------------------------------------------------------------------------- */

static bool holds(const char *text, const char *part)
{
    g_autofree char *a = g_ascii_strdown(text, -1), *b = g_ascii_strdown(part, -1);
    return strstr(a, b);
}

/* Returns the index of a device, and adds it when it is new. When the item names the device by a
 * part of its name ("K80" for "1x Tesla K80"), the full name replaces that entry. */
static int device_of(struct orch_curve_set *set, const char *where)
{
    for (guint i = 0; i < set->devices->len; i++)
        if (strcmp(set->devices->pdata[i], where) == 0)
            return (int)i;
    for (guint i = 0; i < set->devices->len; i++)
        if (holds(where, set->devices->pdata[i])) {
            g_free(set->devices->pdata[i]);
            set->devices->pdata[i] = g_strdup(where);
            return (int)i;
        }
    g_ptr_array_add(set->devices, g_strdup(where));
    return (int)set->devices->len - 1;
}

/* Adds the names of the item's `devices`. They are GPUs, so the caller does this only once a trial
 * uses GPUs. */
static void name_devices(struct orch_curve_set *set, const struct orch_report_item *item)
{
    const json_t *names = json_object_get(item->spec, "devices");
    if (set->devices->len)
        return;
    if (json_is_string(names))
        g_ptr_array_add(set->devices, g_strdup(json_string_value(names)));
    for (size_t i = 0; i < json_array_size(names); i++)
        g_ptr_array_add(set->devices, g_strdup(json_string_value(json_array_get(names, i))));
}

/* ---- runs ------------------------------------------------------------------------------------ */

static struct orch_curve_set_cell *cell_at(struct orch_curve_set *set, int net, int variant,
                                           int device, int repeat)
{
    for (guint i = 0; i < set->cells->len; i++) {
        struct orch_curve_set_cell *cell = set->cells->pdata[i];
        if (cell->net == net && cell->variant == variant && cell->device == device &&
            cell->repeat == repeat)
            return cell;
    }
    struct orch_curve_set_cell *cell = g_new0(struct orch_curve_set_cell, 1);
    cell->net = net;
    cell->variant = variant;
    cell->device = device;
    cell->repeat = repeat;
    g_ptr_array_add(set->cells, cell);
    return cell;
}

/* Reads and fits a run, unless the cell already has a newer one. */
static void fill_cell(struct orch_plan *plan, const struct orch_report_item *item,
                      struct orch_curve_set_cell *cell, const struct orch_run *run)
{
    struct orch_curve_request request = {.loss = orch_json_text(item->spec, "value", NULL)};
    GError *problem = NULL;
    if (cell->curve)
        return;
    const char *space = request.loss ? strrchr(request.loss, ' ') : NULL;
    request.loss = space ? space + 1 : request.loss;
    cell->curve = orch_run_curve_read(plan->plugins, plan->store, run, &request, &problem);
    if (cell->curve)
        orch_run_curve_fit(cell->curve, ORCH_CURVE_ALWAYS_OPTIMUS, NULL, &cell->fit, &problem);
    if (problem) {
        char *end = strchr(problem->message, '\n');
        g_free(cell->why_not);
        cell->why_not = g_strndup(problem->message,
                                  end ? (gsize)(end - problem->message) : strlen(problem->message));
    }
    g_clear_error(&problem);
}

/* ---- gathering ------------------------------------------------------------------------------- */

static bool names(const json_t *list, const char *name)
{
    if (json_is_string(list))
        return strcmp(json_string_value(list), name) == 0;
    for (size_t i = 0; i < json_array_size(list); i++)
        if (g_strcmp0(json_string_value(json_array_get(list, i)), name) == 0)
            return true;
    return false;
}

/* Returns whether a trial belongs to `key`. Without a list, "experiments" means all experiments
 * whose plugin has the item's metric and that no other key names. */
static bool is_meant(const struct orch_report_item *item, const char *key,
                     const struct orch_plan_item *trial)
{
    const struct orch_experiment *experiment = trial->cell->experiment;
    const json_t *list = json_object_get(item->spec, key);
    if (experiment->skipped || trial->state == ORCH_PLAN_UNUSED)
        return false;
    if (list)
        return names(list, experiment->name);
    const char *metric = orch_json_text(item->spec, "value", "step_loss");
    return strcmp(key, "experiments") == 0 && orch_manifest_metric(experiment->manifest, metric) &&
           !names(json_object_get(item->spec, "held_out"), experiment->name) &&
           !names(json_object_get(item->spec, "speed"), experiment->name);
}

static int compare_cells(const void *a, const void *b)
{
    const struct orch_curve_set_cell *x = *(struct orch_curve_set_cell *const *)a;
    const struct orch_curve_set_cell *y = *(struct orch_curve_set_cell *const *)b;
    if (x->net != y->net)
        return x->net - y->net;
    if (x->variant != y->variant)
        return x->variant - y->variant;
    return x->device != y->device ? x->device - y->device : x->repeat - y->repeat;
}

/* The indices of a planned trial. */
struct wanted {
    int net, variant, repeat;
};

/* Creates the missing cells of each planned trial on every device, without a curve. */
static void fill_gaps(struct orch_curve_set *set, const GArray *wanted)
{
    for (guint i = 0; i < wanted->len; i++) {
        const struct wanted *w = &g_array_index(wanted, struct wanted, i);
        for (int device = 0; device < (int)set->devices->len; device++)
            cell_at(set, w->net, w->variant, device, w->repeat);
    }
    g_ptr_array_sort(set->cells, compare_cells);
    orch_curve_set_find_copies(set);
}

struct orch_curve_set *orch_curve_set_gather(struct orch_plan *plan,
                                             const struct orch_report_item *item, const char *key)
{
    struct orch_curve_set *set = orch_curve_set_new(true);
    struct orch_run_query query = {.recipe = plan->expansion->name, .with_counted = true};
    g_autoptr(GPtrArray) runs =
        plan->store ? orch_store_runs(plan->store, &query, NULL, NULL) : NULL;
    g_autoptr(GArray) wanted = g_array_new(FALSE, FALSE, sizeof(struct wanted));
    for (unsigned i = 0; i < plan->count; i++) {
        const struct orch_plan_item *trial = &plan->items[i];
        if (!is_meant(item, key, trial))
            continue;
        if (orch_experiment_gpus(trial->cell->experiment))
            name_devices(set, item);
        struct wanted w = {net_of(set, plan, trial->cell), variant_of(set, trial->cell),
                           trial->cell->repeat};
        g_array_append_val(wanted, w);
        if (trial->state != ORCH_PLAN_SKIPPED)
            device_of(set, trial->device_key);
        for (guint j = 0; runs && j < runs->len; j++) {
            const struct orch_run *run = runs->pdata[j];
            if (orch_verdict_facts(orch_verdict_parse(run->state))->is_reused && run->device_key &&
                orch_run_is_of(plan->store, run, trial))
                fill_cell(plan, item,
                          cell_at(set, w.net, w.variant, device_of(set, run->device_key), w.repeat),
                          run);
        }
    }
    fill_gaps(set, wanted);
    return set;
}

/* ---- in a section ---------------------------------------------------------------------------- */

static void note_run(const struct orch_curve_set *set, const struct orch_curve_set_cell *cell,
                     struct orch_section_context *a)
{
    const struct orch_run_curve *c = cell->curve;
    const char *variant = set->variants->pdata[cell->variant], *who = a->options->who;
    g_autofree char *label = g_strdup_printf(
        "%s%s%s on %s #%d", orch_curve_set_net(set, cell->net)->name, *variant ? " " : "", variant,
        orch_curve_set_device(set, cell->device), cell->repeat);
    struct orch_section_run run = {c->key,
                                   c->experiment,
                                   label,
                                   c->who,
                                   c->where,
                                   c->commit,
                                   !who || orch_who_is_same(who, c->who)};
    orch_section_run_add(a->section, &run);
}

/* Reports missing curves, and whether this machine can run any of them. */
static void add_gaps(struct orch_section_context *a, const char *key, unsigned gaps, unsigned count)
{
    g_autofree char *hint = orch_section_command(a, "run", NULL);
    struct orch_trials *trials = orch_section_trials(a, key, NULL);
    unsigned skipped = 0;
    const char *why = trials ? orch_trials_skip_reason(trials, &skipped) : NULL;
    bool is_able = !trials || !trials->all->len || skipped < trials->all->len;
    orch_section_missing(a->section, is_able ? hint : NULL,
                         "%u of %u curves are missing: nobody has run them%s%s", gaps, count,
                         is_able ? "" : "; on this machine: ", is_able ? "" : why);
    if (!is_able && !a->section->done)
        a->section->state = ORCH_SECTION_SKIPPED;
    orch_trials_free(trials);
}

void orch_curve_set_note(const struct orch_curve_set *set, struct orch_section_context *a,
                         const char *key)
{
    unsigned done = 0, count = set->cells->len;
    for (guint i = 0; i < count; i++) {
        const struct orch_curve_set_cell *cell = set->cells->pdata[i];
        if (cell->curve)
            note_run(set, cell, a);
        done += cell->curve != NULL;
    }
    a->section->planned += count;
    a->section->done += done;
    if (done < count)
        add_gaps(a, key, count - done, count);
    if (a->section->done && a->section->state == ORCH_SECTION_MISSING)
        a->section->state = ORCH_SECTION_PARTIAL;
}
