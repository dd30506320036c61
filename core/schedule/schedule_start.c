/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the next trial and starts it. */
#include "core/schedule/schedule_private.h"

#include "core/plan/cell_runs.h"
#include "store/handle/store_dir.h"
#include "store/read/find_runs.h"

#include "lib/base/error.h"

#include <string.h>

/* Checks that a compiled plugin was not rebuilt since the run began, which would mix two versions
 * in one sweep. */
static bool plugin_is_unchanged(struct run *run, const struct orch_manifest *manifest,
                                GError **error)
{
    struct stat now;
    if (manifest->kind != ORCH_PLUGIN_COMPILED || !manifest->path)
        return true;
    bool there = stat(manifest->path, &now) == 0;
    for (guint i = 0; i < run->plugin_files->len; i++) {
        const struct plugin_file *file = &g_array_index(run->plugin_files, struct plugin_file, i);
        if (strcmp(file->path, manifest->path) != 0)
            continue;
        if (there && now.st_size == file->info.st_size && now.st_ino == file->info.st_ino &&
            now.st_mtim.tv_sec == file->info.st_mtim.tv_sec &&
            now.st_mtim.tv_nsec == file->info.st_mtim.tv_nsec)
            return true;
        orch_error_set(
            error, ORCH_ERROR_PLUGIN,
            "run the same command again: finished trials are kept, the others use the new build",
            "plugin '%s' changed while the sweep was running", manifest->path);
        return false;
    }
    if (there) {
        struct plugin_file file = {manifest->path, now};
        g_array_append_val(run->plugin_files, file);
    }
    return true;
}

/* Reuses another run of the trial. The trial is run again when files of that run are missing here
 * that other trials need. */
static void reuse(struct run *run, struct job *job, const char *key)
{
    struct orch_plan_item *item = &run->plan->items[job->index];
    g_free(item->run_key);
    item->run_key = g_strdup(key);
    item->state = ORCH_PLAN_DONE;
    run->moved = true;
    if (!orch_plan_check_files(run->plan, job->index))
        return;
    orch_schedule_set_job(job, JOB_ENDED);
    job->well = true;
    orch_schedule_end_pruned(run, job);
    run->totals.reused++;
    orch_plan_note_counted(run->plan, job->index);
    orch_schedule_note_search(run, job, NULL);
}

/* Stores a forecast. Failures are ignored, because the run matters more than its forecast. */
static void store_forecast(struct run *run, const struct orch_running *running,
                           const struct orch_forecast *forecast, int64_t made_ns, bool is_renewed)
{
    g_autoptr(GError) problem = NULL;
    if (!orch_forecast_store(run->plan, running->item, running->key, forecast, made_ns, is_renewed,
                             &problem))
        orch_schedule_emit(run, "the forecast of %s was not stored: %s", running->key,
                           problem->message);
}

/* Stores the planned forecast and, where it differs, the current one. */
static void keep_forecast(struct run *run, struct host *host)
{
    struct orch_running *running = &host->running;
    const struct orch_forecaster *forecaster = run->options->forecaster;
    struct orch_forecast now, planned;
    int64_t made_ns = 0;
    if (!orch_schedule_forecast(run, running->item, &now))
        return;
    running->has_forecast = running->is_renewed = true;
    running->forecast_s = now.time_s;
    if (forecaster->planned &&
        forecaster->planned(forecaster->ctx, running->item, &planned, &made_ns)) {
        running->has_planned = true;
        running->planned_s = planned.time_s;
        running->is_renewed = planned.time_s.low != now.time_s.low ||
                              planned.time_s.mid != now.time_s.mid ||
                              planned.time_s.high != now.time_s.high;
        store_forecast(run, running, &planned, made_ns, false);
    }
    if (running->is_renewed)
        store_forecast(run, running, &now, orch_now_ns(), forecaster->planned != NULL);
}

/* Makes the folder of a claimed trial and starts its host. */
static bool launch(struct run *run, struct job *job, const struct orch_run_slot *slot,
                   uint64_t inputs_stamp, struct orch_trialdir *dir, int64_t started_ns,
                   GError **error)
{
    struct orch_plan_item *item = &run->plan->items[job->index];
    struct host *host = g_new0(struct host, 1);
    host->running.item = item;
    host->running.slot = *slot;
    host->running.trial_dir = g_strdup(dir->path);
    host->running.started_ns = started_ns;
    host->running.started_mono_ns = orch_mono_ns();
    memcpy(host->running.key, dir->key, sizeof dir->key);
    host->job = job;
    host->pidfd = host->stdin_fd = -1;
    host->code = g_ptr_array_new_with_free_func(g_free);
    host->data = g_ptr_array_new_with_free_func(g_free);
    host->inputs_stamp = inputs_stamp;
    orch_schedule_note_promoted(run, job); /* before its program can write a checkpoint */
    orch_schedule_look_at_earlier(run, item);
    if (!orch_trialdir_write(run->plan, item, slot, dir, error) ||
        !orch_schedule_spawn(run, host, error)) {
        orch_store_dir_remove(run->plan->store, ORCH_STORE_DIR_TRIAL, host->running.key, NULL);
        orch_store_forget(run->plan->store, host->running.key, NULL);
        orch_schedule_host_free(host);
        return false;
    }
    host->record = g_steal_pointer(&dir->record);
    item->attempts++;
    orch_schedule_set_job(job, JOB_RUNNING);
    job->ran = run->moved = true;
    g_ptr_array_add(run->hosts, host);
    orch_schedule_note_start(run, job);
    keep_forecast(run, host);
    if (run->listener->started)
        run->listener->started(run->listener->ctx, &host->running);
    return true;
}

static bool is_submitted(struct orch_store *store, const char *key)
{
    struct orch_active_row *row = orch_store_find_active(store, key);
    bool is_away = row && orch_executor_has_submitted(&row->runner);
    orch_active_row_free(row);
    return is_away;
}

static void give_up(struct run *run, struct job *job, const char *why)
{
    struct orch_plan_item *item = &run->plan->items[job->index];
    g_free(item->reason);
    item->reason = g_strdup(why);
    orch_schedule_set_job(job, JOB_ENDED);
    orch_schedule_end_pruned(run, job);
    run->totals.not_run++;
    run->moved = true;
    orch_schedule_note_search(run, job, NULL);
    g_autofree char *label = orch_cell_label(item->cell);
    orch_schedule_emit(run, "%s was not run: %s", label, why);
}

/* Makes the trial's folder. A trial whose run is missing what it refers to is given up, and the
 * others go on; `*out_given_up` is then true. */
static bool prepare(struct run *run, struct job *job, const unsigned *chosen,
                    const struct orch_run_slot *slot, struct orch_trialdir *out, bool *out_given_up,
                    GError **error)
{
    GError *problem = NULL;
    struct orch_plan_item *item = &run->plan->items[job->index];
    *out_given_up = false;
    if (orch_trialdir_prepare(run->plan, item, chosen, slot, run->options->argv_json, out,
                              &problem))
        return true;
    orch_schedule_unclaim(run, job);
    if (!g_error_matches(problem, ORCH_ERROR, ORCH_ERROR_TRIAL)) {
        g_propagate_error(error, problem);
        return false;
    }
    give_up(run, job, problem->message);
    g_error_free(problem);
    *out_given_up = true;
    return true;
}

void orch_schedule_end_unrun(struct run *run, struct job *job)
{
    bool is_pruned = run->plan->items[job->index].state == ORCH_PLAN_PRUNED;
    orch_schedule_end_pruned(run, job);
    job->is_elsewhere = is_pruned;
    orch_schedule_set_job(job, is_pruned ? JOB_PRUNED : JOB_ENDED);
    *(is_pruned ? &run->totals.pruned_before : &run->totals.skipped) += 1;
    run->moved = true;
    orch_schedule_note_search(run, job, NULL);
}

/* Ends a trial that the search's rule has stopped in another run since this plan was made. */
static bool look_if_pruned(struct run *run, struct job *job, GError **error)
{
    struct orch_plan_item *item = &run->plan->items[job->index];
    if (!item->cell->point || !item->cell->point->search->stop || item->forced)
        return true;
    g_hash_table_remove(run->plan->active, item->fingerprint); /* the claim says who runs it now */
    bool ok = orch_plan_settle(run->plan, job->index, error);
    if (ok && item->state == ORCH_PLAN_PRUNED)
        orch_schedule_end_unrun(run, job);
    return ok;
}

/* Claims the trial in the store and starts its host if the claim succeeded. */
static bool start(struct run *run, struct job *job, const unsigned *chosen,
                  struct orch_run_slot *slot, GError **error)
{
    struct orch_plan_item *item = &run->plan->items[job->index];
    const struct orch_experiment *experiment = item->cell->experiment;
    struct orch_trialdir dir;
    uint64_t stamp = 0;
    bool is_renewed, is_given_up;
    if (!plugin_is_unchanged(run, experiment->manifest, error) ||
        !orch_schedule_place(run, job, slot, &stamp, &is_renewed, error))
        return false;
    if (is_renewed || !orch_schedule_claim(run, job))
        return true;
    bool ok = look_if_pruned(run, job, error);
    if (!ok || job->status != JOB_TODO) {
        orch_schedule_unclaim(run, job);
        return ok;
    }
    if (!prepare(run, job, chosen, slot, &dir, &is_given_up, error) || is_given_up)
        return is_given_up;
    struct orch_active active = {.fingerprint = item->fingerprint,
                                 .device_key = item->device_key,
                                 .record = dir.record,
                                 .runner = run->self,
                                 .started_ns = orch_now_ns(),
                                 .done_after_ns = item->passed_over_ns};
    memcpy(active.key, dir.key, sizeof active.key);
    enum orch_begin begin;
    char other[ORCH_KEY_CHARS] = "";
    ok = orch_store_begin(run->plan->store, &active, (enum orch_reuse)experiment->reuse,
                          item->forced, &begin, other, error);
    if (ok && begin == ORCH_BEGIN_STARTED) /* another run may have ended it since the first look */
        ok = look_if_pruned(run, job, error) &&
             (job->status == JOB_TODO || orch_store_forget(run->plan->store, active.key, error));
    if (ok && begin == ORCH_BEGIN_DONE)
        reuse(run, job, other);
    else if (ok && begin == ORCH_BEGIN_HELD)
        orch_schedule_set_job(job, is_submitted(run->plan->store, other) ? JOB_AWAY : JOB_HELD);
    else if (ok && job->status == JOB_TODO)
        ok = launch(run, job, slot, stamp, &dir, active.started_ns, error);
    if (job->status != JOB_RUNNING)
        orch_schedule_unclaim(run, job);
    orch_trialdir_clear(&dir);
    return ok;
}

enum readiness { READY, NOT_YET, NEVER };

/* Ends a trial whose reference did not end well; one that refers to a repeat that is not needed is
 * not needed either. */
static void end_without(struct run *run, struct job *job, const struct orch_ref *ref,
                        const struct job *other)
{
    const struct orch_plan_item *item = &run->plan->items[other->index];
    bool is_unneeded = item->state == ORCH_PLAN_UNUSED && item->cell->experiment->repeats;
    g_autofree char *label = orch_cell_label(item->cell);
    g_autofree char *why = g_strdup_printf("it needs %s, and %s %s", ref->text, label,
                                           is_unneeded ? "is not needed" : "did not end well");
    (is_unneeded ? orch_schedule_leave_out : give_up)(run, job, why);
}

/* Checks whether all trials that this one refers to are done. Fills `chosen` with the selected
 * ones. */
static bool look_at_refs(struct run *run, struct job *job, unsigned *chosen, enum readiness *out,
                         GError **error)
{
    struct orch_plan_item *item = &run->plan->items[job->index];
    *out = READY;
    for (guint i = 0; i < item->cell->refs->len; i++) {
        const struct orch_ref *ref = item->cell->refs->pdata[i];
        for (guint j = 0; j < ref->cells->len; j++) {
            const struct job *other = &run->jobs[g_array_index(ref->cells, unsigned, j)];
            bool is_passed_over =
                ref->best_metric && orch_plan_is_passed_over(&run->plan->items[other->index]);
            if (orch_schedule_is_over(other) && !other->well && !is_passed_over) {
                end_without(run, job, ref, other);
                *out = NEVER;
                return true;
            }
            if (!orch_schedule_is_over(other))
                *out = NOT_YET;
        }
        if (*out == NOT_YET)
            return true;
        char *why = NULL;
        GError *problem = NULL;
        if (!orch_plan_choose(run->plan, ref, &chosen[i], &why, &problem)) {
            if (problem) {
                g_propagate_error(error, problem);
                return false;
            }
            give_up(run, job, why);
            g_free(why);
            *out = NEVER;
            return true;
        }
    }
    return true;
}

/* Finds out what happens with a trial whose values are known now: an earlier run may be reused. The
 * trial has then ended. */
static bool settle(struct run *run, struct job *job, GError **error)
{
    struct orch_plan_item *item = &run->plan->items[job->index];
    bool is_decided = item->state == ORCH_PLAN_DONE || item->state == ORCH_PLAN_PRUNED ||
                      item->state == ORCH_PLAN_SKIPPED;
    if (item->state != ORCH_PLAN_WAITING && item->fingerprint[0] &&
        !(item->cell->point && is_decided))
        return true;
    if (!orch_plan_settle(run->plan, job->index, error))
        return false;
    if (item->state == ORCH_PLAN_DONE) {
        g_autofree char *key = g_strdup(item->run_key);
        reuse(run, job, key);
    } else if (item->state == ORCH_PLAN_SKIPPED || item->state == ORCH_PLAN_PRUNED) {
        orch_schedule_end_unrun(run, job);
    }
    return true;
}

/* Gives a trial of a search its values. `*out_may`: it may start. */
static bool choose_values(struct run *run, struct job *job, bool *out_may, GError **error)
{
    const struct orch_plan_item *item = &run->plan->items[job->index];
    *out_may = false;
    if (!orch_schedule_choose(run, job, error))
        return false;
    if (job->status != JOB_TODO)
        return true;
    if (!settle(run, job, error))
        return false;
    *out_may = job->status == JOB_TODO && !orch_schedule_is_refused(run, item);
    return true;
}

/* Starts a trial in its slot. */
static bool start_in(struct run *run, struct job *job, const unsigned *chosen,
                     struct orch_run_slot *slot, GError **error)
{
    bool may = true;
    bool ok = !orch_cell_is_open(run->plan->items[job->index].cell) ||
              choose_values(run, job, &may, error);
    if (ok && may)
        ok = start(run, job, chosen, slot, error);
    if (job->status == JOB_RUNNING)
        run->turn_ns = 0;
    else
        orch_schedule_unlease(run, slot);
    return ok;
}

/* Starts the trial if a slot is free. Otherwise it keeps its place: later trials do not overtake.
 */
static bool try_slot(struct run *run, struct job *job, const unsigned *chosen, bool *out_blocked,
                     GError **error)
{
    struct orch_run_slot slot;
    const struct orch_experiment *experiment = run->plan->items[job->index].cell->experiment;
    if (!orch_schedule_may_ask(run)) {
        *out_blocked = run->was_held = true;
        return true;
    }
    enum orch_slot_answer answer = orch_schedule_take_slot(run, experiment, &slot);
    if (answer == ORCH_SLOT_TAKEN)
        return start_in(run, job, chosen, &slot, error);
    *out_blocked = true;
    run->was_held = answer == ORCH_SLOT_HELD;
    return true;
}

static bool try_start(struct run *run, struct job *job, bool *out_blocked, GError **error)
{
    struct orch_plan_item *item = &run->plan->items[job->index];
    g_autofree unsigned *chosen = g_new0(unsigned, item->cell->refs->len + 1);
    enum readiness readiness;
    bool may = true;
    if (!look_at_refs(run, job, chosen, &readiness, error))
        return false;
    if (readiness != READY)
        return true;
    if (!orch_cell_is_open(item->cell) && !settle(run, job, error))
        return false;
    if ((item->cell->point || item->cell->experiment->repeats) && job->status == JOB_TODO &&
        !orch_schedule_may_try(run, job, &may, error))
        return false;
    if (!may || job->status != JOB_TODO || orch_schedule_is_refused(run, item))
        return true;
    g_autofree char *shortage = orch_schedule_gpu_shortage(run, item->cell->experiment);
    if (shortage) {
        give_up(run, job, shortage);
        return true;
    }
    return try_slot(run, job, chosen, out_blocked, error);
}

bool orch_schedule_start(struct run *run, GError **error)
{
    bool blocked = false;
    run->refused = 0;
    run->moved = run->was_held = false;
    for (unsigned i = 0; i < run->order_count && !blocked && !run->collects_now &&
                         run->hosts->len < run->options->slots;
         i++) {
        struct job *job = &run->jobs[run->order[i]];
        if (job->status == JOB_TODO && !orch_schedule_is_stopped(run, job) &&
            !try_start(run, job, &blocked, error))
            return false;
    }
    orch_schedule_skip_over(run);
    if (!run->was_held)
        orch_schedule_leave_queue(run);
    return true;
}
