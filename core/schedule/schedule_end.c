/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handles exited hosts: records their journals and retries trials. */
#include "core/record/trial_processes.h"
#include "core/schedule/schedule_private.h"

#include "lib/base/json.h"
#include "store/handle/store_dir.h"

#include <unistd.h>

static void count_end(struct run *run, struct job *job, const struct orch_collected *collected)
{
    run->totals.ended[collected->verdict]++;
    orch_schedule_set_job(job, collected->verdict == ORCH_VERDICT_PRUNED ? JOB_PRUNED : JOB_ENDED);
    job->is_elsewhere = false;
    job->well = orch_verdict_facts(collected->verdict)->is_reused;
    if (run->options->fail_fast && orch_verdict_facts(collected->verdict)->fault)
        run->failed_fast = true;
    orch_schedule_note_end(run, job, collected);
}

/* How often a trial is retried after a verdict. A lost trial may end well the next time; a trial
 * that timed out would take as long again, so the recipe must request retries explicitly. */
static unsigned retries_after(const struct orch_experiment *experiment, enum orch_verdict verdict)
{
    return verdict == ORCH_VERDICT_TIMEOUT ? experiment->timeout_retries : experiment->retries;
}

/* Decides whether the trial gets another attempt. False on error. */
static bool may_try_again(struct run *run, struct host *host, enum orch_verdict verdict,
                          bool *out_again, GError **error)
{
    struct job *job = host->job;
    const struct orch_experiment *experiment = host->running.item->cell->experiment;
    if (host->spoiled)
        return orch_schedule_repeat(run, job, out_again, error);
    *out_again = orch_verdict_facts(verdict)->retried && !run->stop_level &&
                 job->attempts < retries_after(experiment, verdict);
    if (*out_again) {
        job->attempts++;
        orch_schedule_set_job(job, JOB_TODO);
    }
    return true;
}

/* Records an ended trial, after a look at what it opened and at its inputs. */
static bool record_host(struct run *run, struct host *host, struct orch_collected *out,
                        GError **error)
{
    struct orch_opened opened;
    int folder = orch_store_dir_open(run->plan->store, ORCH_STORE_DIR_TRIAL, host->running.key);
    orch_opened_read(folder, &opened);
    orch_schedule_look_after(run, host,
                             orch_opened_is_whole(&opened) ? ORCH_TRIAL_NOTED : ORCH_TRIAL_IN_PART);
    g_autofree char *others = orch_schedule_judge_inputs(run, host, &opened);
    g_autofree char *spoiled =
        host->spoiled ? g_strdup_printf("inputs changed while it ran: %s", host->spoiled) : NULL;
    const struct orch_outside outside = {
        .verdict = spoiled ? ORCH_VERDICT_LOST : ORCH_VERDICT_TIMEOUT,
        .reason = spoiled ? spoiled : host->overdue,
        .overrules = spoiled != NULL,
    };
    bool ok = orch_collect(run->plan->store, host->running.key, host->record,
                           host->running.started_ns, outside.reason ? &outside : NULL, &opened,
                           run->plan->inputs->digests, out, error);
    if (ok)
        orch_schedule_learn(run, host, &opened);
    if (ok && !spoiled)
        orch_schedule_tell_rewritten(run, host, out->facts);
    ok = ok && (!others || orch_schedule_take_new(run, host->running.item, others, error));
    orch_opened_clear(&opened);
    if (folder >= 0)
        close(folder);
    return ok;
}

static bool end_host(struct run *run, struct host *host, GError **error)
{
    struct job *job = host->job;
    struct orch_plan_item *item = &run->plan->items[job->index];
    struct orch_collected collected = {0};
    if (!record_host(run, host, &collected, error))
        return false;
    run->ended_device_s += collected.wall_ms / 1e3 * orch_plan_item_charged(item);
    if (collected.verdict == ORCH_VERDICT_LOST)
        orch_kill_leftovers(host->running.key);
    orch_schedule_unlease(run, &host->running.slot);
    const char *lost_gpu = orch_json_text(collected.facts, ORCH_FACT_LOST_GPU, NULL);
    if (lost_gpu)
        orch_schedule_lose_gpu(run, lost_gpu, collected.reason);
    run->unsynced = true;
    g_free(item->run_key);
    item->run_key = g_strdup(host->running.key);
    bool again;
    if (!may_try_again(run, host, collected.verdict, &again, error))
        return false;
    if (again) {
        run->totals.retried++;
    } else {
        count_end(run, job, &collected);
        orch_schedule_unclaim(run, job);
        if (job->well)
            item->state = ORCH_PLAN_DONE;
        if (collected.verdict == ORCH_VERDICT_PRUNED)
            orch_plan_set_pruned(item, host->running.key, collected.reason);
        orch_schedule_keep_wall(run, job, collected.wall_ms);
        const struct orch_forecaster *forecaster = run->options->forecaster;
        orch_schedule_note_search(run, job, &collected);
        /* one that went on may have begun in the middle */
        if (collected.verdict == ORCH_VERDICT_OK && !item->goes_on_from && forecaster &&
            forecaster->ended)
            forecaster->ended(forecaster->ctx, item, collected.wall_ms / 1e3);
    }
    if (run->listener->ended)
        run->listener->ended(run->listener->ctx, &host->running, &collected, again, &run->totals);
    orch_collected_clear(&collected);
    return true;
}

bool orch_schedule_collect(struct run *run, GError **error)
{
    while (run->ended->len) {
        bool ok = end_host(run, run->ended->pdata[0], error);
        g_ptr_array_remove_index(run->ended, 0);
        if (!ok)
            return false;
    }
    return true;
}
