/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which trial starts next, and what it takes to start it. */
#include "core/run/schedule_private.h"

#include "store/beside.h"

#include "lib/base/error.h"

#include <string.h>

/* A compiled plugin that was rebuilt since the run began would mix two versions in one sweep. */
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
            "run the same command again: what ended is kept, the rest runs with the new build",
            "plugin '%s' changed while its sweep was running", manifest->path);
        return false;
    }
    if (there) {
        struct plugin_file file = {manifest->path, now};
        g_array_append_val(run->plugin_files, file);
    }
    return true;
}

/* Another run of the trial is there. Where the files are not here that others want of it, it is
 * made again. */
static void spare(struct run *run, struct job *job, const char *key)
{
    struct orch_plan_item *item = &run->plan->items[job->index];
    g_free(item->run_key);
    item->run_key = g_strdup(key);
    item->state = ORCH_PLAN_DONE;
    run->moved = true;
    if (!orch_plan_check_files(run->plan, job->index)) {
        job->status = JOB_TODO;
        return;
    }
    job->status = JOB_ENDED;
    job->well = true;
    run->totals.spared++;
}

/* A run is worth more than a note about it: that this fails stops nothing. */
static void keep_forecast(struct run *run, struct host *host)
{
    struct orch_forecast forecast;
    g_autoptr(GError) problem = NULL;
    if (!schedule_forecast(run, host->running.item, &forecast))
        return;
    host->running.has_forecast = true;
    host->running.forecast_p5_s = forecast.p5_s;
    host->running.forecast_p50_s = forecast.p50_s;
    host->running.forecast_p95_s = forecast.p95_s;
    if (!orch_forecast_store(run->plan, host->running.item, host->running.key, &forecast, &problem))
        schedule_say(run, "the forecast of %s was not kept: %s", host->running.key,
                     problem->message);
}

/* Makes the folder of a trial that is claimed, and starts its host. */
static bool launch(struct run *run, struct job *job, const struct orch_slot *slot,
                   struct orch_trialdir *dir, int64_t started_ns, GError **error)
{
    struct orch_plan_item *item = &run->plan->items[job->index];
    struct host *host = g_new0(struct host, 1);
    host->running.item = item;
    host->running.slot = *slot;
    host->running.trial_dir = g_strdup(dir->path);
    host->running.started_ns = started_ns;
    host->running.started_mono_ns = orch_mono_ns();
    memcpy(host->running.key, dir->key, sizeof dir->key);
    host->record = g_strdup(dir->record);
    host->job = job;
    host->pidfd = host->stdin_fd = -1;
    if (!orch_trialdir_write(run->plan, item, slot, dir, error) ||
        !schedule_spawn(run, host, error)) {
        orch_beside_remove(run->plan->store, ORCH_BESIDE_TRIAL, host->running.key, NULL);
        orch_store_forget(run->plan->store, host->running.key, NULL);
        schedule_host_free(host);
        return false;
    }
    item->attempts++;
    job->status = JOB_RUNNING;
    job->ran = run->moved = true;
    g_ptr_array_add(run->hosts, host);
    keep_forecast(run, host);
    if (run->listener->started)
        run->listener->started(run->listener->ctx, &host->running);
    return true;
}

/* Claims the trial in the store, and starts its host if the claim is ours. */
static bool start(struct run *run, struct job *job, const unsigned *chosen,
                  const struct orch_slot *slot, GError **error)
{
    struct orch_plan_item *item = &run->plan->items[job->index];
    const struct orch_experiment *experiment = item->cell->experiment;
    struct orch_trialdir dir;
    if (!plugin_is_unchanged(run, experiment->manifest, error))
        return false;
    if (!schedule_claim(run, job))
        return true;
    if (!orch_trialdir_prepare(run->plan, item, chosen, slot, run->options->argv_json, &dir, error))
        return false;
    struct orch_active active = {.fingerprint = item->fingerprint,
                                 .where_key = item->where_key,
                                 .trial_dir = dir.path,
                                 .record = dir.record,
                                 .runner = run->self,
                                 .started_ns = orch_now_ns(),
                                 .done_after_ns = item->passed_over_ns};
    memcpy(active.key, dir.key, sizeof active.key);
    enum orch_begin begin;
    char other[ORCH_KEY_CHARS] = "";
    bool ok = orch_store_begin(run->plan->store, &active, (enum orch_reuse)experiment->reuse,
                               item->forced, &begin, other, error);
    if (ok && begin == ORCH_BEGIN_DONE)
        spare(run, job, other);
    else if (ok && begin == ORCH_BEGIN_HELD)
        job->status = JOB_HELD;
    else if (ok)
        ok = launch(run, job, slot, &dir, active.started_ns, error);
    if (job->status != JOB_RUNNING)
        schedule_unclaim(run, job);
    orch_trialdir_clear(&dir);
    return ok;
}

static void give_up(struct run *run, struct job *job, const char *why)
{
    struct orch_plan_item *item = &run->plan->items[job->index];
    g_free(item->reason);
    item->reason = g_strdup(why);
    job->status = JOB_ENDED;
    run->totals.not_run++;
    run->moved = true;
    g_autofree char *label = orch_cell_label(item->cell);
    schedule_say(run, "%s was not run: %s", label, why);
}

enum readiness { READY, NOT_YET, NEVER };

/* Are all the trials that this one refers to done? Fills `chosen` with those it means. */
static bool look_at_refs(struct run *run, struct job *job, unsigned *chosen, enum readiness *out,
                         GError **error)
{
    struct orch_plan_item *item = &run->plan->items[job->index];
    *out = READY;
    for (guint i = 0; i < item->cell->refs->len; i++) {
        const struct orch_ref *ref = item->cell->refs->pdata[i];
        for (guint j = 0; j < ref->cells->len; j++) {
            const struct job *other = &run->jobs[g_array_index(ref->cells, unsigned, j)];
            if (other->status == JOB_ENDED && !other->well) {
                g_autofree char *label = orch_cell_label(run->plan->items[other->index].cell);
                g_autofree char *why =
                    g_strdup_printf("it needs %s, and %s did not end well", ref->text, label);
                give_up(run, job, why);
                *out = NEVER;
                return true;
            }
            if (other->status != JOB_ENDED)
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

static bool try_start(struct run *run, struct job *job, bool *out_blocked, GError **error)
{
    struct orch_plan_item *item = &run->plan->items[job->index];
    g_autofree unsigned *chosen = g_new0(unsigned, item->cell->refs->len + 1);
    enum readiness readiness;
    if (!look_at_refs(run, job, chosen, &readiness, error))
        return false;
    if (readiness != READY)
        return true;
    if (item->state == ORCH_PLAN_WAITING || !item->fingerprint[0]) {
        if (!orch_plan_settle(run->plan, job->index, error))
            return false;
        if (item->state == ORCH_PLAN_DONE) {
            g_autofree char *key = g_strdup(item->run_key);
            spare(run, job, key);
            return true;
        }
        if (item->state == ORCH_PLAN_SKIPPED) {
            job->status = JOB_ENDED;
            run->totals.skipped++;
            run->moved = true;
            return true;
        }
    }
    if (schedule_is_refused(run, item))
        return true;
    struct orch_slot slot;
    if (!schedule_take_slot(run, item->cell->experiment, &slot)) {
        *out_blocked = true; /* keep the order: what comes later does not overtake */
        return true;
    }
    return start(run, job, chosen, &slot, error);
}

bool schedule_start(struct run *run, GError **error)
{
    bool blocked = false;
    run->refused = 0;
    run->moved = false;
    for (unsigned i = 0; i < run->order_count && !blocked && run->hosts->len < run->options->slots;
         i++) {
        struct job *job = &run->jobs[run->order[i]];
        if (job->status == JOB_TODO && !try_start(run, job, &blocked, error))
            return false;
    }
    /* jobs at the front that have ended need not be looked at again */
    unsigned ended = 0;
    while (ended < run->order_count && run->jobs[run->order[ended]].status == JOB_ENDED)
        ended++;
    run->order += ended;
    run->order_count -= ended;
    return true;
}
