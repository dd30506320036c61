/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a trial has written is its output, although its command names it or git has it. Known from
 * the files that its processes opened (core/inputs/opened.h); without these, data that changed may
 * be the trial's output or somebody's edit. */
#include "core/inputs/inputs.h"
#include "core/schedule/schedule_private.h"

#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/wire/verdict.h"

#include <string.h>

/* Writes the item's inputs and fingerprint to the trial's record, without its outputs. */
static void renew_record(json_t *record, const struct orch_plan_item *item, GHashTable *outputs)
{
    const json_t *before = json_object_get(record, "inputs");
    json_t *inputs = json_array();
    for (size_t i = 0; i < json_array_size(before); i++) {
        json_t *row = json_array_get(before, i);
        const char *name = json_string_value(json_array_get(row, 0));
        if (!name || !g_hash_table_contains(outputs, name))
            json_array_append(inputs, row);
    }
    json_object_set_new(record, "inputs", inputs);
    json_object_set_new(record, "fingerprint", json_string(item->fingerprint));
    json_t *facts = json_object_get(record, "facts");
    json_object_set_new(facts, "inputs_id", json_string(item->inputs.id ? item->inputs.id : ""));
    json_object_set_new(facts, ORCH_FACT_CODE_FINGERPRINT, json_string(item->code_fingerprint));
}

/* Removes the trial's outputs from the inputs of the trials of its experiment that have not
 * started: they read what this one has written, as a program that the first trial builds, and the
 * next plan takes it for an output of the experiment. Files that were captured keep their content
 * there. */
static void drop_from_rest(struct run *run, const struct host *host, GHashTable *outputs)
{
    g_autoptr(GHashTable) made = g_hash_table_new(g_str_hash, g_str_equal);
    GHashTable *captured = run->plan->inputs->files.tree_files;
    GHashTableIter iter;
    gpointer name;
    g_hash_table_iter_init(&iter, outputs);
    while (g_hash_table_iter_next(&iter, &name, NULL))
        if (!captured || !g_hash_table_contains(captured, name))
            g_hash_table_add(made, name);
    for (unsigned i = 0; g_hash_table_size(made) && i < run->plan->count; i++) {
        const struct orch_cell *cell = run->plan->items[i].cell;
        if (run->jobs[i].status == JOB_TODO && !run->jobs[i].attempts &&
            cell->experiment == host->running.item->cell->experiment)
            orch_plan_drop_inputs(run->plan, i, made);
    }
}

static json_t *names_json(const GPtrArray *names)
{
    json_t *list = json_array();
    for (guint i = 0; i < names->len; i++)
        json_array_append_new(list, orch_json_text_or_null(names->pdata[i]));
    return list;
}

void orch_schedule_tell_rewritten(struct run *run, const struct host *host, const json_t *facts)
{
    const json_t *names = json_object_get(facts, ORCH_FACT_REWRITTEN);
    const char *first = json_string_value(json_array_get(names, 0));
    if (!first || run->has_named_rewritten)
        return;
    run->has_named_rewritten = true;
    if (json_object_get(facts, ORCH_FACT_WATCHED))
        orch_schedule_emit(
            run,
            "'%s' was changed or removed after run %s had read it; the run is kept but not reused",
            first, orch_run_short_key(host->running.key));
    else
        orch_schedule_emit(run,
                           "'%s', which the command names, was written while a trial ran; the run "
                           "is kept but not reused",
                           first);
}

/* Names a file of the last commit that the trial has overwritten; NULL for none. Borrowed. */
static const char *overwritten(struct run *run, const struct orch_opened *opened)
{
    struct orch_vcs *vcs = run->plan->workspace->vcs;
    GHashTable *captured = run->plan->inputs->files.tree_files;
    g_autofree char *commit = NULL, *tree = NULL;
    for (guint i = 0; vcs && captured && i < opened->wrote->len; i++) {
        const struct orch_opened_file *file = opened->wrote->pdata[i];
        const char *const paths[] = {file->name, NULL};
        if (!g_hash_table_contains(captured, paths[0]) ||
            (!tree && !orch_vcs_resolve(vcs, "HEAD", &commit, &tree, NULL)))
            continue;
        g_autofree char *there = orch_vcs_subtree(vcs, tree, paths, NULL);
        if (there)
            return paths[0];
    }
    return NULL;
}

static void tell_overwritten(struct run *run, const struct host *host,
                             const struct orch_opened *opened)
{
    if (run->has_named_overwritten || host->running.slot.is_apart)
        return;
    const char *name = overwritten(run, opened);
    run->has_named_overwritten = name != NULL;
    if (name)
        orch_schedule_emit(run, "'%s', which is committed, was overwritten by run %s", name,
                           orch_run_short_key(host->running.key));
}

/* Edits the record as the judgement wants it. `others` gets what somebody else has changed. */
static void judge(struct run *run, struct host *host, const struct orch_opened *opened,
                  GPtrArray *others)
{
    g_autoptr(GHashTable) outputs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    orch_input_watch_judge(run->inputs, &host->running.item->inputs, opened,
                           host->running.started_ns,
                           &(struct orch_input_judgement){host->code, host->data, outputs, others});
    if (host->code->len)
        host->spoiled = orch_input_names(host->code->pdata[0], host->code->len);
    if (!g_hash_table_size(outputs) && !host->data->len)
        return;
    g_autoptr(json_t) record = json_loads(host->record, 0, NULL);
    if (g_hash_table_size(outputs) && orch_plan_drop_inputs(run->plan, host->job->index, outputs))
        renew_record(record, host->running.item, outputs);
    drop_from_rest(run, host, outputs);
    if (!host->spoiled && host->data->len)
        json_object_set_new(json_object_get(record, "facts"), ORCH_FACT_REWRITTEN,
                            names_json(host->data));
    g_free(host->record);
    host->record = orch_json_canonical(record);
}

/* ---- files of other trials --------------------------------------------------------------------
 */

void orch_schedule_look_at_earlier(struct run *run, const struct orch_plan_item *item)
{
    if (!run->written)
        run->written = orch_written_files_new(run->plan->inputs);
    orch_written_files_begin(run->written, item->cell->experiment);
}

/* True for a file that each trial keeps as an artifact before the next one starts. `path`: relative
 * to the folder in which the trials start. */
static bool is_kept(const struct run *run, const struct orch_experiment *experiment,
                    const char *path)
{
    const GPtrArray *artifacts = experiment->manifest->artifacts;
    for (guint i = 0; i < artifacts->len && run->options->slots == 1; i++)
        if (g_strcmp0(((const struct orch_artifact_spec *)artifacts->pdata[i])->path, path) == 0)
            return true;
    return false;
}

static void tell_shared(struct run *run, const struct host *host, const char *name)
{
    const struct orch_experiment *experiment = host->running.item->cell->experiment;
    g_autofree char *folder = orch_experiment_folder(run->plan->expansion, experiment);
    g_autofree char *absolute = orch_path_absolute(name, run->plan->workspace->root);
    const char *below = orch_path_below(absolute, folder), *path = below ? below : absolute;
    if (is_kept(run, experiment, path))
        return;
    orch_schedule_emit(run,
                       "'%s' was written by more than one trial of this sweep\n  hint: use "
                       "{trial_dir} or a parameter in its name",
                       path);
}

static void tell_carried(struct run *run, const struct host *host,
                         const struct orch_written_note *note)
{
    const char *key = orch_json_text(note->carried, note->carried_first, "");
    const struct job *maker = note->maker;
    if (run->has_named_carried)
        return;
    run->has_named_carried = true;
    g_autofree char *label =
        maker ? orch_cell_label(run->plan->items[maker->index].cell) : g_strdup("");
    g_autofree char *whose =
        maker ? g_strdup_printf("another trial of this sweep (%s, run %s)", label,
                                orch_run_short_key(key))
              : g_strdup_printf("run %s of an earlier command", orch_run_short_key(key));
    orch_schedule_emit(
        run,
        "run %s may have continued from '%s', which %s had written; then its results depend on "
        "that trial\n  hint: use {trial_dir} or a parameter in its name",
        orch_run_short_key(host->running.key), note->carried_first, whose);
}

/* Notes in the run's facts whose files it went on from. */
static void record_carried(struct host *host, json_t *carried)
{
    g_autoptr(json_t) record = json_object_size(carried) ? json_loads(host->record, 0, NULL) : NULL;
    json_t *facts = json_object_get(record, "facts");
    if (!facts)
        return;
    json_object_set(facts, ORCH_FACT_CARRIED, carried);
    g_free(host->record);
    host->record = orch_json_canonical(record);
}

static void note_written(struct run *run, struct host *host, const struct orch_opened *opened)
{
    struct orch_written_note note;
    const struct orch_writer writer = {
        .trial = host->job,
        .key = host->running.key,
        .fingerprint = host->running.item->fingerprint,
        .is_apart = host->running.slot.is_apart,
    };
    orch_written_files_end(run->written, &writer, opened, &note);
    if (note.carried_first)
        tell_carried(run, host, &note);
    if (note.shared)
        tell_shared(run, host, note.shared);
    record_carried(host, note.carried);
    orch_written_note_clear(&note);
}

char *orch_schedule_judge_inputs(struct run *run, struct host *host,
                                 const struct orch_opened *opened)
{
    g_autoptr(GPtrArray) others = g_ptr_array_new_with_free_func(g_free);
    bool is_in_place = !host->running.slot.is_apart && run->inputs;
    if (is_in_place && (opened->folder || host->code->len + host->data->len))
        judge(run, host, opened, others);
    tell_overwritten(run, host, opened);
    note_written(run, host, opened);
    return others->len ? orch_input_names(others->pdata[0], others->len) : NULL;
}
