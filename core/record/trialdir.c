/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/record/trialdir.h"

#include "core/plan/fingerprint.h"
#include "core/plan/run_spans.h"
#include "core/record/apart.h"
#include "core/record/collect.h"
#include "core/record/read_files.h"
#include "lib/hw/topology.h"
#include "store/store_dir.h"
#include "store/trial_record.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/wire/job_files.h"
#include "lib/wire/secret.h"
#include "lib/wire/trial.h"
#include "lib/wire/value.h"
#include "lib/wire/verdict.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

/* ---- where a program starts -------------------------------------------------------------------
 */

bool orch_trial_may_run_in_place(const struct orch_plan *plan,
                                 const struct orch_experiment *experiment)
{
    if (experiment->manifest->kind != ORCH_PLUGIN_WRAPPED)
        return false;
    g_autofree char *home = orch_experiment_folder(plan->expansion, experiment);
    return orch_path_within(home, plan->workspace->root) &&
           !orch_plugin_is_ours(experiment->manifest);
}

/* Finds or makes the folder in which the trial starts. `*out_cwd`: absolute, or relative to the
 * trial's folder, so that this can be moved; NULL for a compiled plugin. `*out_apart`: NULL in the
 * user's folder. The caller frees both. */
static bool start_folder(struct orch_plan *plan, const struct orch_plan_item *item,
                         const struct orch_run_slot *slot, const char *trial_dir, char **out_cwd,
                         json_t **out_apart, GError **error)
{
    const struct orch_experiment *experiment = item->cell->experiment;
    const struct orch_source *source = plan->workspace->source;
    if (experiment->manifest->kind != ORCH_PLUGIN_WRAPPED)
        return true;
    g_autofree char *home = orch_experiment_folder(plan->expansion, experiment);
    bool is_of_workspace = orch_trial_may_run_in_place(plan, experiment);
    if (!slot->is_apart && is_of_workspace) {
        *out_cwd = g_steal_pointer(&home);
        return true;
    }
    if (is_of_workspace && source && source->tree) {
        *out_apart = orch_apart_make(plan, item, home, trial_dir, out_cwd, error);
        return *out_apart != NULL;
    }
    *out_cwd = g_strdup("work");
    return orch_apart_copy_folder(home, trial_dir, error);
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

/* ---- the record -------------------------------------------------------------------------------
 */

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
    static const char *const better[] = {"none", "min", "max"};
    json_t *rows = json_array();
    for (guint i = 0; i < manifest->metrics->len; i++) {
        const struct orch_metric_spec *spec = manifest->metrics->pdata[i];
        json_array_append_new(rows, json_pack("[ss?s]", spec->name, spec->unit,
                                              better[spec->better <= 2 ? spec->better : 0]));
    }
    return rows;
}

/* The cost that the plugin declares for the item's parameters; NULL when there is none. The caller
 * releases. */
static json_t *declared_cost(struct orch_plan *plan, const struct orch_plan_item *item)
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

static bool is_shared(const struct orch_run_slot *slot)
{
    return slot->gpu_millionths > 0 && slot->gpu_millionths < ORCH_GPU_WHOLE;
}

/* What the trial got of this machine: its GPUs by UUID, and the CPUs that it was pinned to. NULL
 * when it was neither pinned nor given a GPU. */
static json_t *slot_facts(const struct orch_plan *plan, const struct orch_run_slot *slot)
{
    const GPtrArray *gpus = orch_workspace_machine(plan->workspace)->gpus;
    if (slot->submission || (!slot->gpu_count && !slot->cpu_count))
        return NULL;
    json_t *facts = json_object(), *names = json_array();
    for (unsigned i = 0; i < slot->gpu_count; i++) {
        g_autofree char *name = orch_gpu_device_id(gpus->pdata[slot->gpus[i]]);
        json_array_append_new(names, json_string(name));
    }
    json_object_set_new(facts, slot->only_sees_gpus ? "gpus_seen" : "gpus", names);
    if (is_shared(slot))
        json_object_set_new(facts, "gpu_share",
                            orch_json_finite(slot->gpu_millionths / (double)ORCH_GPU_WHOLE));
    if (!slot->cpu_count)
        return facts;
    g_autofree char *list = orch_cpu_list_format(slot->cpus, slot->cpu_count);
    json_object_set_new(facts, "pinned_to", json_string(list));
    json_object_set_new(facts, "topology", json_string(slot->topology));
    if (slot->node >= 0)
        json_object_set_new(facts, "numa_node", json_integer(slot->node));
    return facts;
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
                              item->inputs_id ? item->inputs_id : "", "coords", item->cell->coords);
    g_autofree char *command_id = orch_command_id(item->cell->experiment, plan->workspace->root);
    if (command_id)
        json_object_set_new(facts, "command_id", json_string(command_id));
    json_object_set_new(facts, ORCH_FACT_CODE_FINGERPRINT, json_string(item->code_fingerprint));
    if (slot->submission) { /* the load of this machine says nothing of the node's */
        json_object_set(facts, plan->options.executor->name, (json_t *)(uintptr_t)slot->submission);
        json_object_del(facts, "load");
    }
    g_autoptr(json_t) on = slot_facts(plan, slot);
    if (on)
        json_object_set(facts, "slot", on);
    const json_t *environment = orch_environments_facts(plan->environments, item->cell->experiment);
    if (json_object_size(environment))
        json_object_set(facts, "environment", (json_t *)(uintptr_t)environment);
    if (json_array_size(left_out))
        json_object_set(facts, "left_out", left_out);
    g_autoptr(json_t) cost = declared_cost(plan, item);
    if (cost)
        json_object_set(facts, "cost", cost);
    unsigned ranks = orch_experiment_ranks(item->cell->experiment, cost);
    if (ranks)
        json_object_set_new(facts, "ranks", json_integer(ranks));
    return facts;
}

static char *make_record(struct orch_plan *plan, const struct orch_plan_item *item, json_t *inputs,
                         const struct orch_run_slot *slot, const char *key, const char *argv_json)
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
        json_object_set_new(record, ORCH_RECORD_OBJECTIVE,
                            json_pack("[ss]", cell->point->search->metric,
                                      cell->point->search->is_max ? "max" : "min"));
    json_t *facts = record_facts(plan, item, slot);
    const char *unwatched = orch_reads_are_off(plan, cell->experiment);
    g_autoptr(json_t) elsewhere = orch_reads_elsewhere(plan, item);
    if (json_array_size(elsewhere))
        json_object_set(facts, ORCH_FACT_ELSEWHERE, elsewhere);
    if (unwatched)
        json_object_set_new(facts, ORCH_FACT_UNWATCHED, json_string(unwatched));
    json_object_set_new(record, "facts", facts);
    return orch_json_canonical(record);
}

/* ---- trial.json -------------------------------------------------------------------------------
 */

static void add_environment(GPtrArray *env, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void add_environment(GPtrArray *env, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_ptr_array_add(env, g_strdup_vprintf(format, args));
    va_end(args);
}

/* What numeric libraries read. A program of the user's that has the whole machine, or whose
 * variables the user has set, chooses its threads as by hand: their number can change its numbers.
 */
static void add_threads(GPtrArray *env, const struct orch_plan *plan, const struct orch_cell *cell,
                        const struct orch_run_slot *slot)
{
    static const char *const names[] = {"OMP_NUM_THREADS", "MKL_NUM_THREADS",
                                        "OPENBLAS_NUM_THREADS"};
    const struct orch_experiment *experiment = cell->experiment;
    bool is_users = experiment->manifest->kind == ORCH_PLUGIN_WRAPPED;
    bool is_part = slot->submission || experiment->cores ||
                   slot->threads < orch_workspace_machine(plan->workspace)->threads;
    add_environment(env, "ORCH_THREADS=%d", slot->threads);
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
        if (!is_users || (is_part && !g_getenv(names[i])))
            add_environment(env, "%s=%d", names[i], slot->threads);
    if (plan->expansion->smoke && !g_getenv("OMP_WAIT_POLICY"))
        add_environment(env, "OMP_WAIT_POLICY=passive"); /* nothing is timed: spin for nobody */
}

/* The GPUs of the slot. Those that a program of the user's only sees are named where `--gpus` hides
 * others. An executor sets them where the trial runs. */
static void add_gpus(GPtrArray *env, const struct orch_plan *plan, const struct orch_run_slot *slot)
{
    const GPtrArray *gpus = orch_workspace_machine(plan->workspace)->gpus;
    if (!gpus->len || slot->submission || (slot->only_sees_gpus && slot->gpu_count == gpus->len))
        return;
    GString *list = g_string_new("CUDA_VISIBLE_DEVICES=");
    for (unsigned i = 0; i < slot->gpu_count; i++)
        g_string_append_printf(
            list, "%s%s", i ? "," : "",
            ((const struct orch_gpu_device *)gpus->pdata[slot->gpus[i]])->visible);
    g_ptr_array_add(env, g_string_free(list, FALSE));
    add_environment(env, "CUDA_DEVICE_ORDER=PCI_BUS_ID"); /* the order of these indices */
    if (is_shared(slot))
        add_environment(env, "ORCH_GPU_SHARE=%u.%06u", slot->gpu_millionths / ORCH_GPU_WHOLE,
                        slot->gpu_millionths % ORCH_GPU_WHOLE);
}

static char **environment(struct orch_plan *plan, const struct orch_cell *cell,
                          const struct orch_run_slot *slot)
{
    GPtrArray *env = g_ptr_array_new();
    add_threads(env, plan, cell, slot);
    add_gpus(env, plan, slot);
    if (cell->experiment->manifest->kind == ORCH_PLUGIN_WRAPPED) {
        g_autofree char *helper = orch_plugins_python_path();
        const char *before = g_getenv("PYTHONPATH");
        if (helper)
            add_environment(env, "PYTHONPATH=%s%s%s", helper, before && *before ? ":" : "",
                            before ? before : "");
        add_environment(env, "PYTHONDONTWRITEBYTECODE=1");
    }
    add_environment(env, "ORCH_REPEAT=%d", cell->repeat);
    g_ptr_array_add(env, NULL);
    return (char **)g_ptr_array_free(env, FALSE);
}

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

/* A submitted trial may use nearly all of the margin before its time limit to save: half of it
 * after the message, half after SIGTERM. 0: the host's own default. */
static double grace_of(const struct orch_run_slot *slot)
{
    static const double HOST_NEEDS_S = 5, SHORTEST_S = 1;
    double margin_s = 0;
    if (!slot->submission ||
        !orch_json_get_real(json_object_get(slot->submission, "margin_s"), &margin_s))
        return 0;
    return MAX((margin_s - HOST_NEEDS_S) / 2, SHORTEST_S);
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
    if (!start_folder(plan, item, slot, dir->path, &cwd, &apart, error))
        return false;
    g_auto(GStrv) env = environment(plan, cell, slot);
    g_autoptr(json_t) cost = experiment->manifest->needs.mpi ? declared_cost(plan, item) : NULL;
    g_autoptr(json_t) elsewhere = orch_reads_elsewhere(plan, item);
    g_autoptr(json_t) watch = orch_reads_watch(plan, item, elsewhere);
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
        .checkpoint_dir = checkpoint,
        .env = env,
        .cpus = (int *)(uintptr_t)slot->cpus,
        .cpu_count = slot->cpu_count,
        .threads = (unsigned)slot->threads,
        /* the loss of a GPU ends a trial that has it; of several seen ones it may use another */
        .gpus = slot->only_sees_gpus && slot->gpu_count > 1 ? 0 : slot->gpu_count,
        .usd_per_hour = slot->price.usd_per_hour,
        .price_from = (char *)(uintptr_t)slot->price.from,
        .ranks = orch_experiment_ranks(experiment, cost),
        .detached = slot->submission != NULL,
        .grace_s = grace_of(slot),
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
    for (guint i = 0; item->inputs && i < item->inputs->len; i++) {
        const struct orch_checked_input *input = item->inputs->pdata[i];
        json_array_append_new(inputs, json_pack("[sns]", input->name, input->sha256));
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
    out->record = make_record(plan, item, inputs, slot, out->key, argv_json);
    return true;
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
