/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/record/new_record.h"

#include "core/inputs/opened.h"
#include "core/inputs/own_outputs.h"
#include "core/plan/fingerprint.h"
#include "core/plan/plan_forecast.h"
#include "core/plan/setting_limits.h"
#include "core/recipe/trial_environment.h"
#include "core/record/collect.h"
#include "core/record/kept_files.h"
#include "core/record/start_folder.h"
#include "core/record/trial_slot.h"
#include "lib/base/json.h"
#include "lib/wire/direction.h"
#include "lib/wire/secret.h"
#include "lib/wire/verdict.h"
#include "store/write/trial_record.h"

static json_t *record_params(const struct orch_cell *cell, const char *run_key)
{
    json_t *rows = json_array();
    const char *name;
    json_t *value;
    json_object_foreach(cell->params, name, value)
    {
        const struct orch_param_spec *spec = orch_manifest_param(cell->experiment->manifest, name);
        g_autofree char *type = spec ? orch_type_format(spec->type) : g_strdup("string");
        g_autoptr(json_t) shown =
            orch_param_is_secret(spec) ? orch_secret_record(value, run_key) : json_incref(value);
        g_autofree char *text = orch_json_canonical(shown);
        json_array_append_new(rows, json_pack("[sss]", name, type, text));
    }
    for (guint i = 0; i < cell->refs->len; i++) {
        const struct orch_ref *ref = cell->refs->pdata[i];
        g_autoptr(json_t) written = json_string(ref->text);
        g_autofree char *text = orch_json_canonical(written);
        json_array_append_new(rows, json_pack("[sss]", ref->param, "reference", text));
    }
    return rows;
}

static json_t *record_metrics(const struct orch_manifest *manifest)
{
    json_t *rows = json_array();
    for (guint i = 0; i < manifest->metrics->len; i++) {
        const struct orch_metric_spec *spec = manifest->metrics->pdata[i];
        json_array_append_new(
            rows, json_pack("[ss?s]", spec->name, spec->unit, orch_better_word(spec->better)));
    }
    return rows;
}

json_t *orch_item_cost(struct orch_plan *plan, const struct orch_plan_item *item)
{
    const struct orch_manifest *manifest = item->cell->experiment->manifest;
    bool may = item->cell->refs->len == 0 || manifest->has_cost || manifest->cost;
    json_t *cost =
        may ? orch_plugins_cost(plan->plugins, manifest, item->cell->params, NULL) : NULL;
    if (json_is_object(cost))
        return cost;
    json_decref(cost);
    return NULL;
}

static json_t *record_facts(struct orch_plan *plan, const struct orch_plan_item *item,
                            const struct orch_run_slot *slot)
{
    const struct orch_source *source = plan->workspace->source;
    g_autoptr(json_t) left_out = json_array();
    for (guint i = 0; source && i < MIN(source->left_out->len, 20u); i++) {
        const struct orch_left_out *file = source->left_out->pdata[i];
        json_array_append_new(left_out, json_pack("[ss]", file->path, file->why));
    }
    json_t *facts = json_pack("{s:f s:i s:i s:s s:O}", "load", orch_machine_load(), "co_runners",
                              (int)slot->co_runners, "threads", slot->threads, "inputs_id",
                              item->inputs.id ? item->inputs.id : "", "coords", item->cell->coords);
    g_autofree char *command_id = orch_command_id(item->cell->experiment, plan->workspace->root);
    if (command_id)
        json_object_set_new(facts, "command_id", json_string(command_id));
    json_object_set_new(facts, ORCH_FACT_CODE_FINGERPRINT, json_string(item->code_fingerprint));
    if (slot->submission) { /* the load of this machine says nothing of the node's */
        json_object_set(facts, plan->options.executor->name, (json_t *)(uintptr_t)slot->submission);
        json_object_del(facts, "load");
    }
    g_autoptr(json_t) on = orch_slot_facts(plan, slot);
    if (on)
        json_object_set(facts, "slot", on);
    const json_t *environment = orch_environments_facts(plan->environments, item->cell->experiment);
    if (json_object_size(environment))
        json_object_set(facts, "environment", (json_t *)(uintptr_t)environment);
    const struct orch_trial_environment *declared = item->cell->experiment->environment;
    if (declared)
        json_object_set_new(facts, "declared_environment",
                            json_pack("{s:s s:s s:s}", "kind",
                                      ORCH_ENVIRONMENT_NAMES[declared->kind], "from",
                                      declared->text, "digest", declared->digest));
    if (json_array_size(left_out))
        json_object_set(facts, "left_out", left_out);
    g_autoptr(json_t) cost = orch_item_cost(plan, item);
    if (cost)
        json_object_set(facts, "cost", cost);
    const double devices = slot->gpu_millionths ? slot->gpu_count : orch_plan_item_charged(item);
    if (slot->price.usd_per_hour > 0)
        json_object_set_new(facts, ORCH_FACT_USD_PER_HOUR,
                            json_real(slot->price.usd_per_hour * devices));
    unsigned ranks = orch_experiment_ranks(item->cell->experiment, cost);
    if (ranks)
        json_object_set_new(facts, "ranks", json_integer(ranks));
    return facts;
}

/* Each metric of a search with the direction that is better. */
static json_t *record_objective(const struct orch_search *search)
{
    json_t *objective =
        json_pack("[ss]", search->metric, orch_better_word(search->direction.better));
    for (unsigned i = 0; i < search->more_count; i++) {
        const struct orch_goal *goal = &search->more[i];
        json_array_append_new(objective, json_string(goal->metric));
        json_array_append_new(objective, json_string(orch_better_word(goal->direction.better)));
    }
    return objective;
}

char *orch_new_record_make(struct orch_plan *plan, const struct orch_plan_item *item,
                           json_t *inputs, const struct orch_run_slot *slot, const char *key,
                           const char *argv_json, GError **error)
{
    const struct orch_expansion *expansion = plan->expansion;
    const struct orch_cell *cell = item->cell;
    const struct orch_manifest *manifest = cell->experiment->manifest;
    const struct orch_source *source = plan->workspace->source;
    static const struct orch_source none = {0};
    const struct orch_source *code = source && source->tree ? source : &none;
    g_autoptr(json_t) record = orch_record_to_trial(&(struct orch_record){
        .recipe_key = expansion->key,
        .recipe = expansion->name,
        .experiment = cell->experiment->name,
        .plugin = manifest->name,
        .plugin_version = manifest->version,
        .build = manifest->code_id ? manifest->code_id : manifest->build,
        .source_tree = code->tree,
        .source_commit = code->commit,
        .source_branch = code->branch,
        .source_remote = code->remote,
        .source_dirty = code->dirty,
        .fingerprint = item->fingerprint,
        .device_key = item->device_key,
        .seed = item->seed,
        .repeat = cell->repeat,
        .attempt = item->attempts + 1,
        .machine_key = orch_workspace_machine_key(plan->workspace),
        .who = orch_user_name(),
        .argv = argv_json,
    });
    if (plan->options.keep_trials)
        json_object_set_new(record, ORCH_RECORD_KEEP, json_true());
    if (!slot->is_apart && orch_trial_may_run_in_place(plan, cell->experiment))
        json_object_set_new(record, ORCH_RECORD_IN_PLACE,
                            orch_json_text_or_null(plan->workspace->root));
    json_object_set(record, "machine_facts", orch_workspace_machine_facts(plan->workspace));
    json_object_set_new(record, "params", record_params(cell, key));
    json_object_set(record, "inputs", inputs);
    json_object_set_new(record, "metrics", record_metrics(manifest));
    if (cell->point)
        json_object_set_new(record, ORCH_RECORD_OBJECTIVE, record_objective(cell->point->search));
    json_t *facts = record_facts(plan, item, slot);
    const char *unwatched = orch_opened_are_off(plan->inputs, cell->experiment);
    g_autofree char *place = orch_opened_place(plan->inputs);
    g_autoptr(json_t) elsewhere = orch_opened_elsewhere(plan->inputs, &item->inputs);
    if (json_array_size(elsewhere))
        json_object_set(facts, ORCH_FACT_ELSEWHERE, elsewhere);
    if (unwatched)
        json_object_set_new(facts, ORCH_FACT_UNWATCHED, json_string(unwatched));
    else if (manifest->kind == ORCH_PLUGIN_WRAPPED && !orch_plugin_is_ours(manifest))
        json_object_set_new(facts, ORCH_FACT_PLACE, json_string(place));
    json_object_set_new(record, "facts", facts);
    return orch_kept_files_take(plan, cell->experiment, record, error) ? orch_json_canonical(record)
                                                                       : NULL;
}
