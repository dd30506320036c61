/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/slurm/slurm_stop.h"

#include "features/slurm/slurm_jobs.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/journal.h"
#include "lib/wire/trial_request.h"

#include <string.h>
#include <unistd.h>

/* In a trial's folder: the largest step whose value has been judged. */
#define JUDGED_FILE "judged"
#define RESTARTS_MAX 1000

struct point {
    int64_t step;
    double value;
};

/* A submitted trial that has begun. */
struct trial {
    unsigned index; /* of the plan's item */
    struct orch_running running;
    GArray *points; /* struct point, in the order of the journal */
    int64_t judged; /* steps up to this one were judged by an earlier command */
    bool is_over;   /* it has ended, or was asked to */
};

static void trial_free(void *pointer)
{
    struct trial *trial = pointer;
    g_free(trial->running.trial_dir);
    g_array_unref(trial->points);
    g_free(trial);
}

/* ---- what its folder says -----------------------------------------------------------------------
 */

static int64_t read_judged(const char *trial_dir)
{
    g_autofree char *path = g_build_filename(trial_dir, JUDGED_FILE, NULL);
    g_autofree char *text = NULL;
    int64_t judged = INT64_MIN;
    if (orch_file_read(path, 32, &text, NULL, NULL))
        orch_int_parse(text, &judged);
    return judged;
}

static bool write_judged(const char *trial_dir, int64_t judged, GError **error)
{
    g_autofree char *path = g_build_filename(trial_dir, JUDGED_FILE, NULL);
    g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, judged);
    return orch_file_write(path, text, strlen(text), false, error);
}

bool orch_slurm_stop_never(const char *trial_dir, GError **error)
{
    return write_judged(trial_dir, INT64_MAX, error);
}

/* A journal goes on from a checkpoint where its first step is: what is from there on in those
 * before it has been done again. */
static void drop_from(GArray *points, guint count, int64_t first)
{
    for (guint i = count; i-- > 0;)
        if (g_array_index(points, struct point, i).step >= first)
            g_array_remove_index(points, i);
}

static void read_journal(struct trial *trial, const char *path, const char *metric)
{
    struct orch_journal *journal = orch_journal_open(path, NULL);
    struct orch_event event;
    const guint before = trial->points->len;
    bool is_first = true;
    trial->is_over = false;
    while (journal && orch_journal_next(journal, &event, NULL)) {
        trial->is_over = trial->is_over || event.kind == ORCH_EVENT_END;
        for (size_t i = 0; event.kind == ORCH_EVENT_METRICS && i < event.point_count; i++) {
            const struct point point = {event.points[i].step, event.points[i].value};
            if (strcmp(event.points[i].name, metric) != 0)
                continue;
            if (is_first)
                drop_from(trial->points, before, point.step);
            is_first = false;
            g_array_append_val(trial->points, point);
        }
        orch_event_clear(&event);
    }
    orch_journal_close(journal);
}

/* Reads the journals of all starts of a trial's job, the first one first (core/host/batch_job.c).
 */
static void read_values(struct trial *trial, const char *metric)
{
    g_autofree char *last = g_build_filename(trial->running.trial_dir, "journal", NULL);
    for (unsigned n = 1; n <= RESTARTS_MAX; n++) {
        g_autofree char *path = g_strdup_printf("%s.%u", last, n);
        if (access(path, F_OK) != 0)
            break;
        read_journal(trial, path, metric);
    }
    read_journal(trial, last, metric);
    g_autofree char *why = orch_trial_request_read(trial->running.trial_dir, ORCH_REQUEST_PRUNE);
    trial->is_over = trial->is_over || why;
}

/* ---- judging ------------------------------------------------------------------------------------
 */

/* The submitted trials whose values their search wants. */
static GPtrArray *find_trials(struct orch_plan *plan, const struct orch_chooser *chooser)
{
    GPtrArray *trials = g_ptr_array_new_with_free_func(trial_free);
    for (unsigned i = 0; i < plan->count; i++) {
        struct orch_plan_item *item = &plan->items[i];
        const struct orch_active_row *row =
            item->state == ORCH_PLAN_HELD ? g_hash_table_lookup(plan->active, item->fingerprint)
                                          : NULL;
        const char *metric = row && item->cell->point && orch_slurm_is_runner(&row->runner)
                                 ? chooser->watched(chooser->ctx, plan, i)
                                 : NULL;
        if (!metric)
            continue;
        g_autoptr(json_t) record = row->record ? json_loads(row->record, 0, NULL) : NULL;
        item->attempts = (int)orch_json_int(record, "attempt", 1);
        struct trial *trial = g_new0(struct trial, 1);
        trial->index = i;
        trial->running.item = item;
        memcpy(trial->running.key, row->key, sizeof trial->running.key);
        trial->running.trial_dir = g_strdup(row->trial_dir);
        trial->points = g_array_new(FALSE, FALSE, sizeof(struct point));
        trial->judged = read_judged(row->trial_dir);
        read_values(trial, metric);
        g_ptr_array_add(trials, trial);
    }
    return trials;
}

/* Gives the search the values of a trial: those that were judged, or the others. Returns why it is
 * stopped by one of the others. */
static char *give(const struct orch_plan *plan, const struct orch_chooser *chooser,
                  const struct trial *trial, bool wants_new)
{
    char *why = NULL;
    for (guint i = 0; !why && i < trial->points->len; i++) {
        const struct point *point = &g_array_index(trial->points, struct point, i);
        bool is_new = point->step > trial->judged && !trial->is_over;
        if (is_new != wants_new)
            continue;
        char *answer =
            chooser->value(chooser->ctx, plan, &trial->running, point->step, point->value);
        if (is_new)
            why = answer;
        else
            g_free(answer);
    }
    return why;
}

/* Judges the new values of a trial. Returns what it is told, or NULL. */
static char *judge(const struct orch_plan *plan, const struct orch_chooser *chooser,
                   const struct trial *trial, GError **error)
{
    int64_t last = trial->judged;
    g_autofree char *why = give(plan, chooser, trial, true);
    for (guint i = 0; i < trial->points->len; i++)
        last = MAX(last, g_array_index(trial->points, struct point, i).step);
    if (trial->is_over ||
        (last != trial->judged && !write_judged(trial->running.trial_dir, last, error)) || !why ||
        !orch_trial_request_write(trial->running.trial_dir, ORCH_REQUEST_PRUNE, why, error))
        return NULL;
    g_autofree char *label = orch_cell_label(trial->running.item->cell);
    return g_strdup_printf("%s: %s", label, why);
}

GPtrArray *orch_slurm_stop_trials(struct orch_plan *plan, const struct orch_chooser *chooser)
{
    GPtrArray *told = g_ptr_array_new_with_free_func(g_free);
    if (!chooser || !chooser->watched || !chooser->value)
        return told;
    g_autoptr(GPtrArray) trials = find_trials(plan, chooser);
    for (guint i = 0; i < trials->len; i++)
        g_free(give(plan, chooser, trials->pdata[i], false));
    for (guint i = 0; i < trials->len; i++) {
        g_autoptr(GError) problem = NULL; /* as where another command takes the trial in */
        char *text = judge(plan, chooser, trials->pdata[i], &problem);
        if (text)
            g_ptr_array_add(told, text);
        if (problem)
            g_debug("a submitted trial cannot be judged: %s", problem->message);
    }
    return told;
}
