/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where trials of the user's programs run. In the user's folder, as by hand, while their inputs are
 * as captured, so that the record is true. Once inputs have changed, the remaining trials run from
 * the captured tree in a folder apart, or (ORCH_ON_CHANGE_LIVE) from the new files, which are
 * captured first. */
#include "core/schedule/schedule_private.h"

#include "core/record/start_folder.h"
#include "core/record/work_copy.h"
#include "core/record/work_copy_paths.h"

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <string.h>

/* A trial may change its own inputs: then repeating it does not help. */
enum { SPOILED_MAX = 3 };

static bool has_tree(const struct run *run)
{
    const struct orch_source *source = run->plan->workspace->source;
    return source && source->tree;
}

/* Ends the run, because nothing captured the files before they changed. */
static void refuse(const char *changed, GError **error)
{
    orch_error_set(
        error, ORCH_ERROR_TRIAL,
        "run the same command again: finished trials are kept, the others use the new files",
        "'%s' changed while the sweep was running", changed);
}

static void move_apart(struct run *run, const char *changed)
{
    if (run->is_apart)
        return;
    run->is_apart = true;
    orch_schedule_emit(run,
                       "inputs changed while the sweep was running: %s; the remaining trials use a "
                       "copy of the old files (with --live: the new files)",
                       changed);
}

/* Looks at the inputs of the trials that run or that have not been recorded yet. */
static void look_at_others(struct run *run)
{
    for (guint i = 0; i < run->hosts->len; i++)
        orch_schedule_look_after(run, run->hosts->pdata[i], ORCH_TRIAL_RUNS);
    for (guint i = 0; i < run->ended->len; i++)
        orch_schedule_look_after(run, run->ended->pdata[i], ORCH_TRIAL_RUNS);
}

/* Captures the files again for all trials that have not started. Those that run notice beforehand
 * what has changed for them. */
static bool renew(struct run *run, const char *changed, GError **error)
{
    look_at_others(run);
    orch_schedule_emit(run, "inputs changed: %s; the remaining trials use the new files", changed);
    if (!orch_plan_recapture(run->plan, error))
        return false;
    orch_input_watch_free(run->inputs);
    run->inputs = orch_input_watch_new(run->plan->inputs);
    for (unsigned i = 0; i < run->order_count; i++) {
        const struct job *job = &run->jobs[run->order[i]];
        if ((job->status == JOB_TODO || job->status == JOB_HELD) &&
            !orch_plan_renew(run->plan, job->index, error))
            return false;
    }
    for (unsigned i = 0; i < run->plan->count;
         i++) /* those that were stopped are of the old files */
        if (run->jobs[i].status == JOB_PRUNED) {
            run->plan->items[i].stays_pruned = true;
            orch_schedule_set_job(&run->jobs[i], JOB_ENDED);
        }
    run->moved = true;
    return true;
}

bool orch_schedule_take_new(struct run *run, const struct orch_plan_item *item, const char *changed,
                            GError **error)
{
    orch_schedule_emit(run,
                       "%s changed while the sweep was running; the remaining trials use the new "
                       "file, and the next command runs the earlier trials again",
                       changed);
    orch_input_watch_take_new(run->inputs, &item->inputs);
    orch_inputs_forget_uncaptured(run->plan->inputs);
    for (unsigned i = 0; i < run->order_count; i++) {
        const struct job *job = &run->jobs[run->order[i]];
        if ((job->status == JOB_TODO || job->status == JOB_HELD) &&
            !orch_plan_renew(run->plan, job->index, error))
            return false;
    }
    run->moved = true;
    return true;
}

/* Says once for each experiment what uses the work tree although the trial runs apart. */
static void say_what_leads_back(struct run *run, const struct orch_experiment *experiment)
{
    gpointer key = (gpointer)(uintptr_t)experiment;
    if (!run->apart_experiments)
        run->apart_experiments = g_hash_table_new(NULL, NULL);
    if (!has_tree(run) || !orch_trial_may_run_in_place(run->plan, experiment) ||
        !g_hash_table_add(run->apart_experiments, key))
        return;
    g_autoptr(GPtrArray) faults = orch_redirect_faults(run->plan, experiment);
    for (guint i = 0; i < faults->len; i++)
        orch_schedule_emit(
            run, "%s: by this path a trial uses your folder, although it runs in a copy of it",
            (char *)faults->pdata[i]);
}

/* Notes what a trial would keep, and of the experiments that would keep one file where it lies. */
static void note_artifacts(struct run *run, const struct orch_plan_item *item, GHashTable *keepers)
{
    const struct orch_experiment *experiment = item->cell->experiment;
    const GPtrArray *artifacts = experiment->manifest->artifacts;
    if (!artifacts || !artifacts->len || !orch_trial_may_run_in_place(run->plan, experiment))
        return;
    g_autofree char *folder = orch_experiment_folder(run->plan->expansion, experiment);
    for (guint i = 0; i < artifacts->len; i++) {
        g_autofree char *path = orch_artifact_path(item, artifacts->pdata[i]);
        if (!path)
            continue;
        char *absolute = orch_path_absolute(path, folder);
        gpointer both[] = {g_hash_table_lookup(keepers, absolute), (gpointer)(uintptr_t)experiment};
        for (size_t k = 0; both[0] && k < G_N_ELEMENTS(both); k++)
            if (!g_hash_table_contains(run->own_folders, both[k]))
                g_hash_table_insert(run->own_folders, both[k], g_strdup(path));
        g_hash_table_insert(keepers, absolute, (gpointer)(uintptr_t)experiment);
    }
}

/* Finds the experiments of which trials at once would write one artifact over each other in the
 * user's folder, so that one would be kept as another's. */
static void find_shared_artifacts(struct run *run)
{
    g_autoptr(GHashTable) keepers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    run->own_folders = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    for (unsigned i = 0; run->options->slots > 1 && i < run->order_count; i++)
        if (run->jobs[run->order[i]].status != JOB_ENDED)
            note_artifacts(run, &run->plan->items[run->jobs[run->order[i]].index], keepers);
}

/* True when trials at once must not share the user's folder; says so once for each experiment. */
static bool needs_own_folder(struct run *run, const struct orch_experiment *experiment)
{
    gpointer key = (gpointer)(uintptr_t)experiment;
    if (!has_tree(run))
        return false;
    if (!run->own_folders)
        find_shared_artifacts(run);
    char *path = g_hash_table_lookup(run->own_folders, key);
    if (!path)
        return false;
    if (*path)
        orch_schedule_emit(run,
                           "trials of '%s' run in copies of your folder, because several at once "
                           "write the artifact '%s'",
                           experiment->name, path);
    *path = 0;
    return true;
}

/* Looks at the inputs of a trial that may run in the user's folder. */
static bool look_before(struct run *run, const struct orch_plan_item *item, uint64_t *out_stamp,
                        struct orch_input_change *out, GError **error)
{
    if (!run->inputs)
        run->inputs = orch_input_watch_new(run->plan->inputs);
    if (!orch_input_watch_before(run->inputs, &item->inputs, out_stamp, out, error))
        return false;
    if (!out->names || !run->hosts->len || out->is_captured)
        return true;
    g_free(out->names); /* those that run may have written it */
    look_at_others(run);
    return orch_input_watch_before(run->inputs, &item->inputs, out_stamp, out, error);
}

/* True when a change may be the work of another trial: of one that has ended, which is known once
 * that is recorded, or of one that runs, during which this one runs apart. */
static bool may_be_output(struct run *run, const struct orch_input_change *change,
                          struct orch_run_slot *slot, bool *out_renewed)
{
    if (run->ended->len) {
        run->collects_now = *out_renewed = true;
        return true;
    }
    if (run->options->on_change == ORCH_ON_CHANGE_LIVE || !change->is_captured || change->is_code ||
        !run->hosts->len || !has_tree(run))
        return false;
    slot->is_apart = true;
    return true;
}

bool orch_schedule_place(struct run *run, struct job *job, struct orch_run_slot *slot,
                         uint64_t *out_stamp, bool *out_renewed, GError **error)
{
    const struct orch_plan_item *item = &run->plan->items[job->index];
    struct orch_input_change change = {0};
    *out_renewed = false;
    slot->is_apart = run->is_apart || run->options->on_change == ORCH_ON_CHANGE_FROZEN ||
                     !orch_trial_may_run_in_place(run->plan, item->cell->experiment) ||
                     needs_own_folder(run, item->cell->experiment);
    if (!slot->is_apart && !look_before(run, item, out_stamp, &change, error))
        return false;
    g_autofree char *changed = change.names;
    if (changed && !may_be_output(run, &change, slot, out_renewed)) {
        if (run->options->on_change == ORCH_ON_CHANGE_LIVE || !change.is_captured) {
            *out_renewed = true;
            return change.is_captured ? renew(run, changed, error)
                                      : orch_schedule_take_new(run, item, changed, error);
        }
        if (!has_tree(run)) {
            refuse(changed, error);
            return false;
        }
        move_apart(run, changed);
        slot->is_apart = true;
    }
    if (slot->is_apart)
        say_what_leads_back(run, item->cell->experiment);
    return true;
}

void orch_schedule_places_clear(struct run *run)
{
    orch_input_watch_free(run->inputs);
    orch_written_files_free(run->written);
    g_clear_pointer(&run->apart_experiments, g_hash_table_unref);
    g_clear_pointer(&run->own_folders, g_hash_table_unref);
}

void orch_schedule_look_after(struct run *run, struct host *host, enum orch_trial_stage stage)
{
    if (!host->running.slot.is_apart && run->inputs)
        orch_input_watch_after(run->inputs, &host->running.item->inputs, host->inputs_stamp, stage,
                               host->code, host->data);
}

void orch_schedule_learn(struct run *run, const struct host *host, const struct orch_opened *opened)
{
    if (!host->running.slot.is_apart && run->inputs && opened->folder && !host->spoiled)
        orch_input_watch_learn(run->inputs, &host->running.item->inputs, opened,
                               host->running.started_ns);
}

bool orch_schedule_repeat(struct run *run, struct job *job, bool *out_again, GError **error)
{
    *out_again = ++job->spoiled < SPOILED_MAX && !run->stop_level && !run->failed_fast;
    if (!*out_again)
        return true;
    orch_schedule_set_job(job, JOB_TODO);
    return run->options->on_change != ORCH_ON_CHANGE_LIVE ||
           orch_plan_renew(run->plan, job->index, error);
}
