/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/record/trialdir.h"

#include "core/inputs/opened.h"
#include "core/recipe/trial_environment.h"
#include "core/record/collect.h"
#include "core/record/new_record.h"
#include "core/record/start_folder.h"
#include "core/record/trial_slot.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/wire/job_files.h"
#include "lib/wire/trial.h"
#include "store/handle/store_dir.h"

#include <string.h>

char *orch_checkpoint_path(struct orch_store *store, const char *name)
{
    return orch_store_dir_path(store, ORCH_STORE_DIR_CHECKPOINT, name);
}

void orch_trialdir_clear(struct orch_trialdir *trialdir)
{
    g_free(trialdir->path);
    g_free(trialdir->record);
    json_decref(trialdir->params);
    json_decref(trialdir->refs);
    memset(trialdir, 0, sizeof *trialdir);
}

/* ---- parameters -------------------------------------------------------------------------------
 */

/* The value of a reference: the path of an artifact, or a result. */
static json_t *ref_value(struct orch_plan *plan, const struct orch_ref *ref,
                         const struct orch_plan_item *other, char *out_sha256, GError **error)
{
    struct orch_run *run = orch_store_run(plan->store, other->run_key, error);
    if (!run)
        return NULL;
    json_t *value = NULL;
    if (ref->is_result) {
        g_autoptr(json_t) results = orch_store_results(plan->store, run->id, NULL);
        json_t *found = results ? json_object_get(results, ref->artifact) : NULL;
        if (found) {
            value = json_incref(found);
        } else {
            struct orch_series *series =
                orch_store_series(plan->store, run->id, ref->artifact, NULL);
            if (series && series->count)
                value = orch_json_real(series->value[series->count - 1]);
            orch_series_free(series);
        }
    } else {
        g_autoptr(GPtrArray) artifacts = orch_store_artifacts(plan->store, run->id, NULL);
        for (guint i = 0; !value && artifacts && i < artifacts->len; i++) {
            const struct orch_stored_artifact *artifact = artifacts->pdata[i];
            if (strcmp(artifact->name, ref->artifact) != 0)
                continue;
            g_autofree char *path = orch_store_object_path(plan->store, artifact->sha256);
            if (path)
                value = json_string(path);
            g_strlcpy(out_sha256, artifact->sha256, 65);
        }
    }
    orch_run_free(run);
    if (!value)
        orch_error_set(error, ORCH_ERROR_TRIAL, NULL,
                       "run %s has no artifact or result '%s', which %s needs", other->run_key,
                       ref->artifact, ref->text);
    return value;
}

static bool is_type(const struct orch_param_spec *spec, enum orch_type type)
{
    return spec && (spec->type & ~(uint32_t)ORCH_LIST) == (uint32_t)type;
}

/* Makes paths, which recipes write relative to their folder, absolute for the trial. */
static void make_absolute(const struct orch_manifest *manifest, const char *folder, json_t *params)
{
    const char *name;
    json_t *value;
    void *next;
    json_object_foreach_safe(params, next, name, value)
    {
        const struct orch_param_spec *spec = orch_manifest_param(manifest, name);
        if ((!is_type(spec, ORCH_PATH) && !is_type(spec, ORCH_ARTIFACT)) ||
            !json_is_string(value) || !*json_string_value(value))
            continue;
        g_autofree char *absolute = orch_path_absolute(json_string_value(value), folder);
        json_object_set_new(params, name, json_string(absolute));
    }
}

/* ---- trial.json -------------------------------------------------------------------------------
 */

/* True when another trial of this fingerprint is running, which happens with `reuse: never` or
 * --force. The two must neither share a checkpoint nor start from each other's. Both have their
 * active rows by now, so of two that start at once at least one sees the other. */
static bool has_twin(struct orch_plan *plan, const struct orch_plan_item *item, const char *key)
{
    if (item->cell->experiment->reuse == ORCH_RECIPE_REUSE_ANY && !item->forced)
        return false;
    return orch_store_has_twin(plan->store, key, item->fingerprint);
}

/* Seconds between samples of processor and GPUs: the recipe's, unless the environment switches them
 * off, as other trackers allow. */
static double system_interval_s(const struct orch_experiment *experiment)
{
    static const char *const off[] = {"off", "0", "false", "no", NULL};
    const char *setting = g_getenv("ORCH_SYSTEM_METRICS");
    return setting && g_strv_contains(off, setting) ? 0 : experiment->system_interval_s;
}

static bool write_trial(struct orch_plan *plan, const struct orch_plan_item *item, json_t *params,
                        const struct orch_run_slot *slot, const struct orch_trialdir *dir,
                        GError **error)
{
    const struct orch_cell *cell = item->cell;
    const struct orch_experiment *experiment = cell->experiment;
    bool alone = !has_twin(plan, item, dir->key);
    g_autofree char *checkpoint =
        orch_checkpoint_path(plan->store, alone ? item->fingerprint : dir->key);
    g_autofree char *cwd = NULL;
    g_autoptr(json_t) apart = NULL;
    if (!orch_start_folder(plan, item, slot, dir->path, &cwd, &apart, error))
        return false;
    g_auto(GStrv) env = orch_slot_environment(plan, cell, slot);
    g_autoptr(json_t) cost = experiment->manifest->needs.mpi ? orch_item_cost(plan, item) : NULL;
    g_autoptr(json_t) elsewhere = orch_opened_elsewhere(plan->inputs, &item->inputs);
    g_autoptr(json_t) watch = orch_opened_watch(plan->inputs, &item->inputs, elsewhere);
    struct orch_trial_spec trial = {
        .key = (char *)(uintptr_t)dir->key,
        .recipe = plan->expansion->name,
        .experiment = experiment->name,
        .seed = item->seed,
        .repeat = cell->repeat,
        .smoke = plan->expansion->smoke,
        .manifest = (struct orch_manifest *)(uintptr_t)experiment->manifest,
        .plugin_sha256 = experiment->manifest->sha256,
        .params = params,
        .cwd = cwd,
        .apart = apart,
        .watch = watch,
        .alerts = plan->expansion->alerts,
        .checkpoint_dir = checkpoint,
        .env = env,
        .launcher = experiment->environment ? experiment->environment->launcher : NULL,
        .cpus = (int *)(uintptr_t)slot->cpus,
        .cpu_count = slot->cpu_count,
        .threads = (unsigned)slot->threads,
        /* the loss of a GPU ends a trial that has it; of several seen ones it may use another */
        .gpus = slot->only_sees_gpus && slot->gpu_count > 1 ? 0 : slot->gpu_count,
        .usd_per_hour = slot->price.usd_per_hour,
        .price_from = (char *)(uintptr_t)slot->price.from,
        .ranks = orch_experiment_ranks(experiment, cost),
        .detached = slot->submission != NULL,
        .grace_s = orch_slot_grace_s(slot),
        .limit_s = experiment->timeout_s,
        .system_interval_s = system_interval_s(experiment),
        .limit_memory_bytes = experiment->memory_bytes,
    };
    g_autoptr(json_t) json = orch_trial_encode(&trial);
    g_autofree char *text = orch_json_canonical(json);
    g_autofree char *path = g_build_filename(dir->path, "trial.json", NULL);
    return orch_file_write(path, text, strlen(text), false, error);
}

/* Leaves a reference to a trial that was submitted but has not ended to the host. */
static void defer_ref(struct orch_plan *plan, const struct orch_ref *ref, const char *run_key,
                      json_t *params, json_t *inputs, json_t *refs)
{
    g_autofree char *dir = orch_store_dir_path(plan->store, ORCH_STORE_DIR_TRIAL, run_key);
    json_object_set_new(params, ref->param, json_string(ref->text));
    json_array_append_new(inputs, json_pack("[sss]", ref->param, run_key, ""));
    json_array_append_new(refs, json_pack("{s:s s:s s:s s:s s:b}", "param", ref->param, "run",
                                          run_key, "trial_dir", dir, "name", ref->artifact,
                                          "is_result", ref->is_result));
}

bool orch_trialdir_prepare(struct orch_plan *plan, const struct orch_plan_item *item,
                           const unsigned *chosen, const struct orch_run_slot *slot,
                           const char *argv_json, struct orch_trialdir *out, GError **error)
{
    const struct orch_cell *cell = item->cell;
    g_autoptr(json_t) params = json_copy(cell->params);
    g_autoptr(json_t) inputs = json_array();
    g_autoptr(json_t) refs = json_array();
    make_absolute(cell->experiment->manifest, plan->expansion->folder, params);
    for (guint i = 0; i < cell->refs->len; i++) {
        const struct orch_ref *ref = cell->refs->pdata[i];
        const struct orch_plan_item *other = &plan->items[chosen[i]];
        char sha256[65] = "";
        if (slot->submission && other->state != ORCH_PLAN_DONE) {
            defer_ref(plan, ref, other->run_key, params, inputs, refs);
            continue;
        }
        json_t *value = ref_value(plan, ref, other, sha256, error);
        if (!value)
            return false;
        json_object_set_new(params, ref->param, value);
        json_array_append_new(inputs, json_pack("[sss]", ref->param, other->run_key, sha256));
    }
    for (guint i = 0; item->inputs.list && i < item->inputs.list->len; i++) {
        const struct orch_checked_input *input = item->inputs.list->pdata[i];
        json_array_append_new(inputs,
                              json_pack("[snsb]", input->name, input->sha256, (int)input->is_word));
    }
    memset(out, 0, sizeof *out);
    if (*slot->key)
        memcpy(out->key, slot->key, sizeof out->key);
    else
        orch_key_make(out->key);
    out->path = orch_store_dir_path(plan->store, ORCH_STORE_DIR_TRIAL, out->key);
    out->params = json_incref(params);
    out->refs = json_array_size(refs) ? json_incref(refs) : NULL;
    orch_environments_keep(plan->environments, item->cell->experiment,
                           orch_store_folder(plan->store));
    out->record = orch_new_record_make(plan, item, inputs, slot, out->key, argv_json, error);
    if (!out->record)
        orch_trialdir_clear(out);
    return out->record != NULL;
}

static bool write_refs(const struct orch_trialdir *trialdir, GError **error)
{
    if (!trialdir->refs)
        return true;
    g_autofree char *text = orch_json_canonical(trialdir->refs);
    g_autofree char *path = g_build_filename(trialdir->path, ORCH_JOB_REFS, NULL);
    return orch_file_write(path, text, strlen(text), false, error);
}

bool orch_trialdir_write(struct orch_plan *plan, const struct orch_plan_item *item,
                         const struct orch_run_slot *slot, const struct orch_trialdir *trialdir,
                         GError **error)
{
    struct orch_store *store = plan->store;
    if (!orch_store_dir_make(store, ORCH_STORE_DIR_TRIAL, trialdir->key, 0700, error))
        return false;
    g_autofree char *record = g_build_filename(trialdir->path, ORCH_TRIAL_RECORD, NULL);
    if (orch_store_dir_make_parent(store, ORCH_STORE_DIR_CHECKPOINT, error) &&
        orch_file_write(record, trialdir->record, strlen(trialdir->record), false, error) &&
        write_refs(trialdir, error) &&
        write_trial(plan, item, trialdir->params, slot, trialdir, error))
        return true;
    orch_store_dir_remove(store, ORCH_STORE_DIR_TRIAL, trialdir->key, NULL);
    return false;
}
