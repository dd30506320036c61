/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/slurm/slurm_evidence.h"

#include "features/slurm/slurm_record.h"
#include "store/store_dir.h"

#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/wire/journal.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { OUTPUT_BYTES_MAX = 1 << 20, JOURNAL_TAIL_BYTES = 1 << 20 };

/* A shell reports a child that a signal ended by 128 and the signal's number as its own status. */
static bool is_killed(enum orch_verdict verdict, const json_t *end)
{
    enum { SHELL_SIGNAL = 128 };
    int64_t number = orch_json_int(end, "signal", 0);
    if (verdict == ORCH_VERDICT_FAILED)
        number = orch_json_int(end, "exit_code", 0) - SHELL_SIGNAL;
    else if (verdict != ORCH_VERDICT_CRASHED)
        return false;
    return number == SIGTERM || number == SIGKILL;
}

/* Reads how the journal ends, from its last part. */
static void look_at_journal(const struct orch_slurm_trial *row, struct orch_slurm_evidence *e)
{
    g_autofree char *path = g_build_filename(row->row->trial_dir, "journal", NULL);
    struct orch_event event;
    e->has_journal = access(path, F_OK) == 0;
    struct orch_journal *journal = e->has_journal ? orch_journal_open(path, NULL) : NULL;
    if (!journal)
        return;
    orch_journal_seek_tail(journal, JOURNAL_TAIL_BYTES);
    orch_journal_skip_metrics(journal);
    while (orch_journal_next(journal, &event, NULL)) {
        if (event.kind == ORCH_EVENT_END) {
            e->has_end = true;
            e->end = event.verdict;
            e->is_killed = is_killed(e->end, event.json);
        }
        orch_event_clear(&event);
    }
    orch_journal_close(journal);
}

/* What the job wrote outside of its trial: Slurm's own lines, and why orch-host did not start.
 * Caller frees. */
static char *read_output(struct orch_store *store, const struct orch_slurm_trial *row)
{
    g_autofree char *folder = orch_store_dir_path(store, ORCH_STORE_DIR_SLURM, row->submission);
    g_autofree char *name = g_strdup_printf("%" G_GINT64_FORMAT ".out", row->index);
    g_autofree char *path = folder ? g_build_filename(folder, name, NULL) : NULL;
    char *text = NULL;
    if (!path || !orch_file_read(path, OUTPUT_BYTES_MAX, &text, NULL, NULL))
        return g_strdup("");
    return text;
}

/* True when the trial ran until SIGTERM came, the margin before its time limit. */
static bool is_near_limit(const struct orch_slurm_trial *row, const json_t *report)
{
    /* Slurm sends the signal up to a minute early */
    enum { EARLY_S = 60 };
    const json_t *facts = orch_slurm_record_facts(row->record);
    double time_s = 0, margin_s = 0;
    orch_json_get_real(json_object_get(facts, "time_s"), &time_s);
    orch_json_get_real(json_object_get(facts, "margin_s"), &margin_s);
    g_autofree char *path = g_build_filename(row->row->trial_dir, "journal", NULL);
    int64_t started_ns = orch_json_int(report, "started_ns", 0), ended_ns = 0;
    struct orch_journal *journal = started_ns && time_s > 0 ? orch_journal_open(path, NULL) : NULL;
    struct orch_event event;
    if (!journal)
        return false;
    orch_journal_seek_tail(journal, JOURNAL_TAIL_BYTES);
    orch_journal_skip_metrics(journal);
    while (orch_journal_next(journal, &event, NULL)) {
        if (event.kind == ORCH_EVENT_END)
            ended_ns = orch_json_int(event.json, "ended_ns", 0);
        orch_event_clear(&event);
    }
    orch_journal_close(journal);
    return (double)(ended_ns - started_ns) / 1e9 >= MAX(time_s - margin_s - EARLY_S, time_s / 4);
}

void orch_slurm_evidence_gather(struct orch_store *store, const struct orch_slurm_status *status,
                                struct orch_slurm_trial *row, struct orch_slurm_evidence *e)
{
    *e = (struct orch_slurm_evidence){.has_accounting = status->has_accounting};
    orch_slurm_status_job(status, row->job, row->index, &row->said);
    e->state = orch_slurm_state_find(row->said.state);
    e->is_absent = row->said.is_absent;
    e->is_unaccounted = row->said.is_unaccounted;
    e->absent_s = row->said.absent_s;
    look_at_journal(row, e);
    row->report = orch_slurm_report_read(row->row->trial_dir);
    bool is_over = e->is_absent || (e->state && e->state->is_ended);
    row->output = is_over ? read_output(store, row) : g_strdup("");
    e->output = orch_slurm_state_in_output(row->output);
    e->is_near_limit = is_over && e->has_end &&
                       (e->end == ORCH_VERDICT_PREEMPTED || e->is_killed) &&
                       is_near_limit(row, row->report);
}
