/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/report/scale.h"

#include "core/report/trials.h"
#include "lib/base/text.h"

#include <string.h>

/* Number of settings, and of values of one setting, that are listed. */
#define SETTINGS_MAX 3
#define VALUES_MAX 5

struct orch_scale {
    const struct orch_plan *plan;
    struct orch_expansion *full;
};

struct orch_scale *orch_scale_new(const struct orch_plan *plan)
{
    const struct orch_expansion *here = plan->expansion;
    struct orch_recipe_options options = {
        .profile = ORCH_SCALE_FULL_PROFILE, .part = here->part, .part_count = here->part_count};
    struct orch_diags *diags = orch_diags_new();
    struct orch_expansion *full =
        here->verbatim ? orch_recipe_expand_text(here->path, here->verbatim, strlen(here->verbatim),
                                                 plan->plugins, &options, diags)
                       : NULL;
    orch_diags_free(diags); /* the profile does not exist, or cannot be expanded on this machine */
    if (!full)
        return NULL;
    struct orch_scale *scale = g_new0(struct orch_scale, 1);
    *scale = (struct orch_scale){plan, full};
    return scale;
}

void orch_scale_free(struct orch_scale *scale)
{
    if (!scale)
        return;
    orch_expansion_free(scale->full);
    g_free(scale);
}

/* ---- the trials that an item is about -------------------------------------------------------- */

/* Keys under which items list experiments. */
static const char *const EXPERIMENT_KEYS[] = {"experiments", "held_out", "speed", "simulated",
                                              "predicted",   "measured", NULL};

static bool has_experiment(const struct orch_expansion *expansion, const char *name)
{
    for (guint i = 0; i < expansion->experiments->len; i++)
        if (strcmp(((struct orch_experiment *)expansion->experiments->pdata[i])->name, name) == 0)
            return true;
    return false;
}

/* Returns the names of the experiments that an item lists; empty when it lists none and is about
 * all. The caller unrefs. */
static GPtrArray *experiments_of(const struct orch_expansion *expansion,
                                 const struct orch_report_item *item)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (int k = 0; json_is_object(item->spec) && EXPERIMENT_KEYS[k]; k++) {
        g_autoptr(GPtrArray) listed =
            orch_texts_from_json(json_object_get(item->spec, EXPERIMENT_KEYS[k]));
        for (guint i = 0; i < listed->len; i++)
            if (has_experiment(expansion, listed->pdata[i]))
                g_ptr_array_add(names, g_strdup(listed->pdata[i]));
    }
    return names;
}

/* The trials and settings of an item under one profile. */
struct side {
    unsigned trials;
    bool uses_gpus;
    GHashTable *settings; /* parameter -> GPtrArray of its distinct values as text */
    GPtrArray *order;     /* parameters in the plugins' order; borrowed from their manifests */
};

static void side_clear(struct side *side)
{
    g_hash_table_unref(side->settings);
    g_ptr_array_unref(side->order);
}

static void add_value(struct side *side, const char *name, char *value)
{
    GPtrArray *values = g_hash_table_lookup(side->settings, name);
    if (!values) {
        values = g_ptr_array_new_with_free_func(g_free);
        g_hash_table_insert(side->settings, (char *)(uintptr_t)name, values);
        g_ptr_array_add(side->order, (char *)(uintptr_t)name);
    }
    if (orch_texts_have(values, value))
        g_free(value);
    else
        g_ptr_array_add(values, value);
}

static void add_cell(struct side *side, const struct orch_cell *cell, unsigned devices)
{
    bool uses_gpus = orch_experiment_gpus(cell->experiment) > 0;
    const GPtrArray *params = cell->experiment->manifest->params;
    side->trials += uses_gpus && devices ? devices : 1;
    side->uses_gpus = side->uses_gpus || uses_gpus;
    for (guint i = 0; i < params->len; i++) {
        const char *name = ((const struct orch_param_spec *)params->pdata[i])->name;
        char *value = orch_cell_value_text(cell, name);
        if (value)
            add_value(side, name, value);
    }
}

/* Collects the trials of an item in an expansion; with a plan, only those that the plan includes.
 */
static struct side side_of(const struct orch_expansion *expansion, const struct orch_plan *plan,
                           const struct orch_report_item *item, unsigned devices)
{
    struct side side = {.settings = g_hash_table_new_full(g_str_hash, g_str_equal, NULL,
                                                          (GDestroyNotify)g_ptr_array_unref),
                        .order = g_ptr_array_new()};
    g_autoptr(GPtrArray) names = experiments_of(expansion, item);
    for (guint i = 0; i < expansion->cells->len; i++) {
        const struct orch_cell *cell = expansion->cells->pdata[i];
        if ((!names->len || orch_texts_have(names, cell->experiment->name)) &&
            !cell->experiment->skipped && !(plan && plan->items[i].state == ORCH_PLAN_UNUSED))
            add_cell(&side, cell, devices);
    }
    return side;
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* Finds the range of some values; false when one of them is not a number. */
static bool range_of(const GPtrArray *values, double *out_low, double *out_high)
{
    for (guint i = 0; i < values->len; i++) {
        double value;
        if (!orch_real_parse(values->pdata[i], &value))
            return false;
        *out_low = i ? MIN(*out_low, value) : value;
        *out_high = i ? MAX(*out_high, value) : value;
    }
    return values->len > 0;
}

/* Returns whether `here` has all values of `full`, or only numbers that are at least as large. 0
 * means "all" in many parameters, so no number counts as larger than 0. */
static bool covers(const GPtrArray *here, const GPtrArray *full)
{
    double here_low, here_high, full_low, full_high;
    guint common = 0;
    while (common < full->len && orch_texts_have(here, full->pdata[common]))
        common++;
    return common == full->len ||
           (range_of(here, &here_low, &here_high) && range_of(full, &full_low, &full_high) &&
            full_low > 0 && here_low >= full_high);
}

static void append_values(GString *out, const GPtrArray *values)
{
    for (guint i = 0; i < values->len && i < VALUES_MAX; i++)
        g_string_append_printf(out, "%s%s", i ? ", " : "",
                               *(char *)values->pdata[i] ? (char *)values->pdata[i] : "none");
    if (values->len > VALUES_MAX)
        g_string_append_printf(out, " and %u more", values->len - VALUES_MAX);
}

/* Appends the first settings that differ, and returns how many others differ: also those whose
 * value may stand for all or none, which a reader cannot know, and flags with both values. */
static unsigned append_settings(GString *out, const struct side *here, const struct side *full)
{
    unsigned differing = 0, listed = 0;
    for (guint i = 0; i < full->order->len; i++) {
        const char *name = full->order->pdata[i];
        const GPtrArray *theirs = g_hash_table_lookup(full->settings, name);
        const GPtrArray *ours = g_hash_table_lookup(here->settings, name);
        if (!ours || covers(ours, theirs))
            continue;
        differing++;
        if (listed == SETTINGS_MAX || orch_texts_have(theirs, "") || orch_texts_have(theirs, "0") ||
            orch_texts_have(theirs, "[]") || orch_texts_have(theirs, "none") ||
            (theirs->len > 1 && orch_texts_have(theirs, "true")))
            continue;
        listed++;
        g_string_append_printf(out, "%s%s ", out->len ? "; " : "", name);
        append_values(out, theirs);
        g_string_append(out, " instead of ");
        append_values(out, ours);
    }
    return differing - listed;
}

char *orch_scale_why_small(const struct orch_scale *scale, const struct orch_report_item *item)
{
    g_autoptr(GPtrArray) devices = orch_texts_from_json(
        json_is_object(item->spec) ? json_object_get(item->spec, "devices") : NULL);
    struct side here = side_of(scale->plan->expansion, scale->plan, item, devices->len);
    struct side full = side_of(scale->full, NULL, item, devices->len);
    g_autoptr(GString) why = g_string_new(NULL);
    if (full.trials > here.trials) {
        g_string_append_printf(why, "%u trial%s", full.trials, orch_plural(full.trials));
        g_ptr_array_add(devices, NULL);
        g_autofree char *names = g_strjoinv(", ", (char **)devices->pdata);
        if (full.uses_gpus && *names)
            g_string_append_printf(why, " on %s", names);
        g_string_append_printf(why, " instead of %u", here.trials);
    }
    unsigned others = append_settings(why, &here, &full);
    if (others)
        g_string_append_printf(why, "%sother values of %u parameter%s", why->len ? "; and " : "",
                               others, orch_plural(others));
    side_clear(&here);
    side_clear(&full);
    return why->len ? g_strdup_printf(ORCH_SCALE_ASKS " %s", why->str) : NULL;
}
