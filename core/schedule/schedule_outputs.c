/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a trial has written is its output, although its command names it or git has it. Known from
 * the files that its processes opened (read_files.h); without these, data that changed may be the
 * trial's output or somebody's edit. */
#include "core/inputs/cell_inputs.h"
#include "core/inputs/read_files.h"
#include "core/schedule/schedule_private.h"

#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/wire/verdict.h"
#include "store/store_dir.h"

#include <string.h>
#include <unistd.h>

/* Moves from `names` to `outputs` what the trial has written. */
static void take_outputs(struct run *run, GPtrArray *names, GHashTable *written,
                         GHashTable *outputs)
{
    for (guint i = names->len; i-- > 0;) {
        const char *name = names->pdata[i];
        if (!g_hash_table_contains(written, name))
            continue;
        orch_input_watch_accept(run->inputs, name);
        g_hash_table_add(outputs, g_strdup(name));
        g_ptr_array_remove_index(names, i);
    }
}

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

static void tell_rewritten(struct run *run, const struct host *host, bool is_noted)
{
    if (run->has_named_rewritten)
        return;
    run->has_named_rewritten = true;
    orch_schedule_emit(run,
                       "'%s', which the command names, was written while a trial ran%s; such runs "
                       "are kept but not reused, because the trial may have read it before",
                       (char *)host->data->pdata[0], is_noted ? ", but not by it" : "");
}

/* Names a file of the last commit that the trial has overwritten; NULL for none. Borrowed. */
static const char *overwritten(struct run *run, const struct orch_opened_files *opened)
{
    struct orch_vcs *vcs = run->plan->workspace->vcs;
    GHashTable *captured = run->plan->inputs->files.tree_files;
    g_autofree char *commit = NULL, *tree = NULL;
    for (guint i = 0; vcs && captured && i < opened->wrote->len; i++) {
        const char *const paths[] = {opened->wrote->pdata[i], NULL};
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
                             const struct orch_opened_files *opened)
{
    if (run->has_named_overwritten || host->running.slot.is_apart)
        return;
    const char *name = overwritten(run, opened);
    run->has_named_overwritten = name != NULL;
    if (name)
        orch_schedule_emit(run, "'%s', which is committed, was overwritten by run %s", name,
                           orch_run_short_key(host->running.key));
}

/* Edits the record as the judgement wants it. */
static void judge(struct run *run, struct host *host, const struct orch_opened_files *opened)
{
    g_autoptr(json_t) record = json_loads(host->record, 0, NULL);
    g_autoptr(GHashTable) outputs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    take_outputs(run, host->code, opened->written, outputs);
    take_outputs(run, host->data, opened->written, outputs);
    if (g_hash_table_size(outputs) && orch_plan_drop_inputs(run->plan, host->job->index, outputs))
        renew_record(record, host->running.item, outputs);
    drop_from_rest(run, host, outputs);
    if (host->code->len) {
        host->spoiled = orch_input_names(host->code->pdata[0], host->code->len);
    } else if (host->data->len) {
        json_object_set_new(json_object_get(record, "facts"), ORCH_FACT_REWRITTEN,
                            names_json(host->data));
        tell_rewritten(run, host, opened->folder != NULL);
    }
    g_free(host->record);
    host->record = orch_json_canonical(record);
}

void orch_schedule_judge_inputs(struct run *run, struct host *host)
{
    int folder = orch_store_dir_open(run->plan->store, ORCH_STORE_DIR_TRIAL, host->running.key);
    struct orch_opened_files opened;
    orch_opened_files_read(folder, &opened);
    if (host->code->len + host->data->len)
        judge(run, host, &opened);
    tell_overwritten(run, host, &opened);
    orch_schedule_note_carried(run, host, &opened);
    orch_opened_files_clear(&opened);
    if (folder >= 0)
        close(folder);
}
