/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Explains why an existing run is stale by the first kind of change found. Kinds that cause others
 * come first (another version also has other code). */
#include "core/plan/plan_private.h"

#include "core/plan/fingerprint.h"
#include "lib/base/json.h"
#include "lib/wire/value.h"

#include <string.h>

/* An earlier run and the trial now. */
struct pair {
    struct orch_plan *plan;
    const struct orch_plan_item *item;
    const struct orch_history_row *row;
    const struct orch_run *run;
    const json_t *facts; /* the run's; NULL: it has none */
};

static const struct orch_manifest *manifest_of(const struct pair *pair)
{
    return pair->item->cell->experiment->manifest;
}

static char *version_change(const struct pair *pair)
{
    const struct orch_manifest *now = manifest_of(pair);
    return g_strcmp0(now->version, pair->row->plugin_version) == 0
               ? NULL
               : g_strdup_printf("plugin '%s' %s -> %s", now->name, pair->row->plugin_version,
                                 now->version);
}

static char *setting_change(const struct pair *pair)
{
    g_autoptr(json_t) old = orch_store_params(pair->plan->store, pair->run->id, NULL);
    const char *name;
    json_t *value;
    json_object_foreach(pair->item->cell->params, name, value)
    {
        const json_t *before = old ? json_object_get(old, name) : NULL;
        const struct orch_param_spec *spec = orch_manifest_param(manifest_of(pair), name);
        if (!before || !orch_fingerprint_has(pair->item->cell, pair->item->no_effect, spec) ||
            json_equal(before, value))
            continue;
        g_autofree char *a = orch_value_format_json(before);
        g_autofree char *b = orch_value_format_json(value);
        return g_strdup_printf("%s was %s, is %s", name, a, b);
    }
    return NULL;
}

static char *seed_change(const struct pair *pair)
{
    const struct orch_plan_item *item = pair->item;
    if (pair->run->seed == item->seed)
        return NULL;
    bool is_elsewhere = g_strcmp0(pair->run->device_key, item->device_key) != 0;
    return item->cell->experiment->seed_by_device && is_elsewhere
               ? g_strdup_printf("it was run on %s, whose seed differs", pair->run->device_key)
               : g_strdup("the seed changed");
}

/* Compares the words of a command given in the recipe. */
static char *command_change(const struct pair *pair)
{
    const char *before = pair->facts ? orch_json_text(pair->facts, "command_id", NULL) : NULL;
    g_autofree char *now =
        orch_command_id(pair->item->cell->experiment, pair->plan->workspace->root);
    return before && now && strcmp(before, now) != 0 ? g_strdup("its command changed") : NULL;
}

/* Chooses the file to report: edited files explain more than added or removed ones. */
static const struct orch_left_out *relevant_change(const GPtrArray *changes)
{
    static const char *const order[] = {"changed", "added", "removed"};
    for (size_t i = 0; i < G_N_ELEMENTS(order); i++)
        for (guint j = 0; j < changes->len; j++)
            if (strcmp(((const struct orch_left_out *)changes->pdata[j])->why, order[i]) == 0)
                return changes->pdata[j];
    return changes->pdata[0];
}

/* Names the files that differ between the trees of the inputs. */
static char *file_change(const struct pair *pair, const char *before)
{
    const struct orch_workspace *workspace = pair->plan->workspace;
    const char *now = pair->item->inputs.id;
    g_autoptr(GPtrArray) changes =
        workspace->vcs && *before && *now ? orch_vcs_diff(workspace->vcs, before, now, NULL) : NULL;
    if (!changes || !changes->len)
        return g_strdup("its code changed");
    const struct orch_left_out *first = relevant_change(changes);
    g_autofree char *path = g_build_filename(workspace->root, first->path, NULL);
    bool is_unused = strcmp(first->why, "removed") == 0 && g_file_test(path, G_FILE_TEST_EXISTS);
    g_autofree char *more =
        changes->len > 1 ? g_strdup_printf(", and %u more", changes->len - 1) : g_strdup("");
    return g_strdup_printf("%s %s%s", first->path, is_unused ? "is not used any more" : first->why,
                           more);
}

static char *code_change(const struct pair *pair)
{
    const char *before = pair->facts ? orch_json_text(pair->facts, "inputs_id", "") : NULL;
    const char *now = pair->item->inputs.id;
    if (!before || g_strcmp0(before, now) == 0)
        return NULL;
    if (manifest_of(pair)->kind != ORCH_PLUGIN_COMPILED)
        return file_change(pair, before);
    return g_strdup_printf("plugin '%s' was rebuilt (%.8s -> %.8s)", manifest_of(pair)->name,
                           *before ? before : "unknown", now);
}

/* Names a file that both read and whose content has changed. */
static char *input_change(const struct pair *pair)
{
    g_autoptr(GPtrArray) old = orch_store_inputs(pair->plan->store, pair->run->id, NULL);
    const GPtrArray *inputs = pair->item->inputs.list;
    for (guint i = 0; old && inputs && i < old->len; i++) {
        const struct orch_stored_input *before = old->pdata[i];
        for (guint j = 0; j < inputs->len; j++) {
            const struct orch_checked_input *now = inputs->pdata[j];
            if (g_strcmp0(before->name, now->name) == 0 &&
                g_strcmp0(before->sha256, now->sha256) != 0)
                return g_strdup_printf("%s changed", now->name);
        }
    }
    for (guint j = 0; old && inputs && j < inputs->len; j++) {
        const char *name = ((const struct orch_checked_input *)inputs->pdata[j])->name;
        bool is_there = false;
        for (guint i = 0; i < old->len && !is_there; i++)
            is_there =
                g_strcmp0(((const struct orch_stored_input *)old->pdata[i])->name, name) == 0;
        if (!is_there)
            return g_strdup_printf("%s is new, or was changed by another program", name);
    }
    return NULL;
}

/* Nothing recorded with the old run differs, so the change is in something that it does not record.
 */
static char *unsaid_change(const struct pair *pair)
{
    bool says_command = pair->facts && orch_json_text(pair->facts, "command_id", NULL);
    return pair->item->cell->experiment->program && !says_command ? g_strdup("its command changed")
                                                                  : NULL;
}

static const struct {
    char *(*find)(const struct pair *pair);
    bool is_requested; /* the user changed the request; other kinds are changes beneath the same
                        * request
                        */
} CHANGES[] = {
    {version_change, false}, {setting_change, true}, {seed_change, true},   {command_change, true},
    {code_change, false},    {input_change, false},  {unsaid_change, true},
};

char *orch_plan_change(struct orch_plan *plan, const struct orch_plan_item *item,
                       const struct orch_history_row *row)
{
    struct orch_run *run = orch_store_run(plan->store, row->key, NULL);
    g_autoptr(json_t) facts = run && run->facts ? json_loads(run->facts, 0, NULL) : NULL;
    struct pair pair = {plan, item, row, run, facts};
    char *why = NULL;
    bool is_requested = false;
    for (size_t i = 0; run && !why && i < G_N_ELEMENTS(CHANGES); i++) {
        why = CHANGES[i].find(&pair);
        is_requested = CHANGES[i].is_requested;
    }
    orch_run_free(run);
    if (why && is_requested && plan->expansion->is_ad_hoc)
        g_clear_pointer(&why, g_free);
    else if (!why)
        why = g_strdup("what it reads changed");
    return why;
}
