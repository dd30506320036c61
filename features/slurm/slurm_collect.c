/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/slurm/slurm_collect.h"

#include "features/slurm/slurm_jobs.h"
#include "features/slurm/slurm_record.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/wire/journal.h"
#include "lib/wire/trial.h"
#include "store/handle/store_dir.h"
#include "store/write/active.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

/* ---- what is known of a trial -------------------------------------------------------------------
 */

enum { OUTPUT_BYTES_MAX = 1 << 20, ALERTS_BYTES_MAX = 1 << 20, JOURNAL_TAIL_BYTES = 1 << 20 };

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
    g_autofree char *folder = orch_store_dir_path(store, ORCH_STORE_DIR_JOBS, row->submission);
    g_autofree char *name = g_strdup_printf("%" G_GINT64_FORMAT ".out", row->index);
    g_autofree char *path = folder ? g_build_filename(folder, name, NULL) : NULL;
    char *text = NULL;
    if (!path || !orch_file_read(path, OUTPUT_BYTES_MAX, &text, NULL, NULL))
        return g_strdup("");
    return text;
}

/* The alerts that fired, a line each. Caller frees. */
static char *read_alerts(const struct orch_slurm_trial *row)
{
    g_autofree char *path = g_build_filename(row->row->trial_dir, ORCH_TRIAL_ALERTS, NULL);
    char *text = NULL;
    if (!orch_file_read(path, ALERTS_BYTES_MAX, &text, NULL, NULL))
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

/* Reads the files of a trial whose job is known, and fills in `row->said`, `row->report` and
 * `row->output`. */
static void slurm_evidence_gather(struct orch_store *store, const struct orch_slurm_status *status,
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

/* ---- collecting ---------------------------------------------------------------------------------
 */

static void free_run(void *pointer)
{
    struct orch_slurm_run *run = pointer;
    g_free(run->recipe);
    g_free(run->experiment);
    g_free(run->reason);
    g_free(run->alerts);
    g_free(run);
}

void orch_slurm_collected_clear(struct orch_slurm_collected *collected)
{
    if (collected->runs)
        g_ptr_array_unref(collected->runs);
    g_free(collected->problem);
    g_free(collected->waits_for);
    *collected = (struct orch_slurm_collected){0};
}

/* Marks trials whose artifacts a trial that has not begun will link when it begins. */
static void mark_needed(const GPtrArray *rows)
{
    g_autoptr(GHashTable) by_key = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < rows->len; i++) {
        struct orch_slurm_trial *row = rows->pdata[i];
        g_hash_table_insert(by_key, row->row->key, row);
    }
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_slurm_trial *row = rows->pdata[i];
        const json_t *inputs = json_object_get(row->record, "inputs");
        bool has_begun = row->report || row->judgement.action == ORCH_SLURM_FORGET;
        for (size_t j = 0; !has_begun && j < json_array_size(inputs); j++) {
            const char *run = json_string_value(json_array_get(json_array_get(inputs, j), 1));
            struct orch_slurm_trial *other = run ? g_hash_table_lookup(by_key, run) : NULL;
            if (other)
                other->is_needed = true;
        }
    }
}

/* ---- one trial --------------------------------------------------------------------------------
 */

struct collector {
    struct orch_store *store;
    struct orch_slurm_status status;
    bool trusts_journals;
    struct orch_slurm_collected *out;
    struct orch_file_digests *digests;
};

static bool forget(struct collector *c, struct orch_slurm_trial *row, GError **error)
{
    orch_store_dir_remove(c->store, ORCH_STORE_DIR_TRIAL, row->row->key, NULL);
    row->is_gone = true;
    c->out->forgotten++;
    return orch_store_forget(c->store, row->row->key, error);
}

/* "its Slurm job 12_3 was killed at its time limit (on node n1, exit status 0:15): LAST LINE" */
static char *make_reason(const struct orch_slurm_trial *row)
{
    const struct orch_slurm_judgement *judgement = &row->judgement;
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "its Slurm job %" G_GINT64_FORMAT "_%" G_GINT64_FORMAT " %s",
                           row->job, row->index, judgement->why);
    if (*row->said.nodes)
        g_string_append_printf(text, " (on %s)", row->said.nodes);
    g_auto(GStrv) lines = g_strsplit(row->output, "\n", -1);
    const char *last = NULL;
    for (char **line = lines; *line; line++)
        if (*g_strstrip(*line))
            last = *line;
    const char *own = last ? strstr(last, "orch-host: ") : NULL;
    if (judgement->verdict == ORCH_VERDICT_FAILED && !judgement->overrules && last)
        g_string_append_printf(text, ": %s", own ? own + strlen("orch-host: ") : last);
    g_autofree char *cut = g_strndup(text->str, 1000);
    g_string_free(text, TRUE);
    return g_utf8_make_valid(cut, -1);
}

static void note_run(struct collector *c, const struct orch_slurm_trial *row,
                     const struct orch_collected *collected, const char *alerts)
{
    struct orch_slurm_run *run = g_new0(struct orch_slurm_run, 1);
    g_strlcpy(run->key, row->row->key, ORCH_KEY_CHARS);
    run->recipe = g_strdup(orch_json_text(row->record, "recipe", "?"));
    run->experiment = g_strdup(orch_json_text(row->record, "experiment", "?"));
    run->job = row->job;
    run->index = row->index;
    run->verdict = collected->verdict;
    run->reason = g_strdup(collected->reason);
    run->alerts = g_strdup(alerts);
    g_ptr_array_add(c->out->runs, run);
}

static bool collect(struct collector *c, struct orch_slurm_trial *row, GError **error)
{
    const struct orch_slurm_judgement *judgement = &row->judgement;
    orch_slurm_record_complete(row->record, row->report, row->job, &row->said, judgement->decided);
    g_autofree char *text = orch_json_canonical(row->record);
    g_autofree char *reason = judgement->has_verdict ? make_reason(row) : NULL;
    g_autofree char *alerts = read_alerts(row); /* the folder is removed with the journal */
    const struct orch_outside outside = {
        .verdict = judgement->verdict, .reason = reason, .overrules = judgement->overrules};
    int64_t started_ns = orch_json_int(row->report, "started_ns", row->row->started_ns);
    struct orch_collected collected = {0};
    bool ok =
        orch_collect(c->store, row->row->key, text, started_ns,
                     judgement->has_verdict ? &outside : NULL, NULL, c->digests, &collected, error);
    if (ok) {
        row->is_gone = true;
        note_run(c, row, &collected, alerts);
    }
    orch_collected_clear(&collected);
    return ok;
}

static void count_waiting(struct collector *c, const struct orch_slurm_evidence *e,
                          const struct orch_slurm_job *job)
{
    if (e->has_journal) {
        c->out->running++;
        return;
    }
    c->out->queued++;
    if (!c->out->waits_for && *job->reason && strcmp(job->reason, "None") != 0)
        c->out->waits_for = g_strdup(job->reason);
}

/* A trial whose runner died around sbatch, and whose job nobody knows. It is forgotten once Slurm,
 * asked later, shows no job of its submission. */
static void judge_unknown(struct collector *c, struct orch_slurm_trial *row)
{
    enum { PATIENCE_S = 120 };
    int64_t since_ns = c->status.asked_ns - row->row->started_ns;
    bool is_over = !c->status.problem && since_ns > PATIENCE_S * INT64_C(1000000000);
    row->judgement.action = is_over ? ORCH_SLURM_FORGET : ORCH_SLURM_WAIT;
    c->out->queued += !is_over;
}

static void judge(struct collector *c, struct orch_slurm_trial *row)
{
    struct orch_slurm_evidence e;
    if (!row->job && !(row->job = orch_slurm_status_submission(&c->status, row->submission))) {
        judge_unknown(c, row);
        return;
    }
    slurm_evidence_gather(c->store, &c->status, row, &e);
    row->judgement = orch_slurm_judge(&e);
    if (row->judgement.action == ORCH_SLURM_WAIT && c->trusts_journals && e.has_end)
        row->judgement = (struct orch_slurm_judgement){.action = ORCH_SLURM_COLLECT};
    if (row->judgement.action == ORCH_SLURM_WAIT)
        count_waiting(c, &e, &row->said);
}

/* Takes the rows that are decided away from whoever has them, so that of two commands one collects
 * a trial. Others are left as they are. */
static bool adopt(struct collector *c, const GPtrArray *rows, GError **error)
{
    g_autoptr(GPtrArray) decided = g_ptr_array_new(), actives = g_ptr_array_new();
    for (guint i = 0; i < rows->len; i++) {
        struct orch_slurm_trial *row = rows->pdata[i];
        if (row->judgement.action != ORCH_SLURM_WAIT && row->is_needed) {
            row->judgement.action = ORCH_SLURM_WAIT;
            c->out->kept++;
        }
        if (row->judgement.action == ORCH_SLURM_WAIT)
            continue;
        g_ptr_array_add(decided, row);
        g_ptr_array_add(actives, (gpointer)(uintptr_t)row->row);
    }
    g_autofree bool *taken = g_new0(bool, decided->len + 1);
    if (decided->len && !orch_store_adopt_all(c->store, actives, taken, error))
        return false;
    for (guint i = 0; i < decided->len; i++)
        if (!taken[i])
            ((struct orch_slurm_trial *)decided->pdata[i])->judgement.action = ORCH_SLURM_WAIT;
    return true;
}

static bool act(struct collector *c, struct orch_slurm_trial *row, GError **error)
{
    if (row->judgement.action == ORCH_SLURM_FORGET)
        return forget(c, row, error);
    return row->judgement.action == ORCH_SLURM_WAIT || collect(c, row, error);
}

/* ---- all --------------------------------------------------------------------------------------
 */

static bool ask(struct collector *c, const GPtrArray *rows, GError **error)
{
    g_autoptr(GHashTable) wanted = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_slurm_trial *row = rows->pdata[i];
        g_hash_table_add(wanted, row->job ? orch_slurm_element(row->job, row->index)
                                          : g_strdup(row->submission));
    }
    const struct orch_slurm_trial *first = rows->pdata[0];
    g_autofree char *any = orch_store_dir_path(c->store, ORCH_STORE_DIR_JOBS, first->submission);
    g_autofree char *folder = any ? g_path_get_dirname(any) : NULL;
    if (!folder || !orch_store_dir_make_parent(c->store, ORCH_STORE_DIR_JOBS, error) ||
        !orch_slurm_status_get(folder, wanted, &c->status, error))
        return false;
    c->out->problem = g_strdup(c->status.problem);
    return true;
}

/* Removes the folders of submissions all of whose trials are gone. */
static void remove_submissions(struct orch_store *store, const GPtrArray *rows)
{
    g_autoptr(GHashTable) left = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_slurm_trial *row = rows->pdata[i];
        if (!row->is_gone)
            g_hash_table_add(left, (char *)(uintptr_t)row->submission);
    }
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_slurm_trial *row = rows->pdata[i];
        if (g_hash_table_add(left, (char *)(uintptr_t)row->submission))
            orch_store_dir_remove(store, ORCH_STORE_DIR_JOBS, row->submission, NULL);
    }
}

bool orch_slurm_collect(struct orch_store *store, bool trusts_journals,
                        struct orch_slurm_collected *out, GError **error)
{
    *out = (struct orch_slurm_collected){.runs = g_ptr_array_new_with_free_func(free_run)};
    g_autoptr(GPtrArray) actives = orch_store_actives(store, error);
    if (!actives)
        return false;
    g_autoptr(GPtrArray) rows = orch_slurm_trials(store, actives);
    struct collector c = {.store = store, .trusts_journals = trusts_journals, .out = out};
    if (!rows->len)
        return true;
    c.digests = orch_file_digests_open();
    bool ok = ask(&c, rows, error);
    for (guint i = 0; ok && i < rows->len; i++)
        judge(&c, rows->pdata[i]);
    mark_needed(rows);
    ok = ok && adopt(&c, rows, error);
    for (guint i = rows->len; ok && i > 0; i--)
        ok = act(&c, rows->pdata[i - 1], error);
    ok = ok && (!out->runs->len || orch_store_sync(store, error));
    remove_submissions(store, rows);
    orch_slurm_status_clear(&c.status);
    orch_file_digests_close(c.digests);
    return ok;
}
