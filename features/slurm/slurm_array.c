/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Submits one array. Its trials are claimed and their folders made before sbatch is called, because
 * a job may start at once; when sbatch refuses, all of it is taken back. The claims belong to this
 * process until sbatch has named the job, and then to the job. */
#include "features/slurm/slurm_jobs.h"
#include "features/slurm/slurm_private.h"

#include "core/record/trialdir.h"
#include "features/slurm/slurm_answers.h"
#include "features/slurm/slurm_command.h"
#include "features/slurm/slurm_grade.h"
#include "features/slurm/slurm_status.h"
#include "features/slurm/slurm_stop.h"
#include "store/handle/store_dir.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* ---- claiming ---------------------------------------------------------------------------------
 */

void orch_slurm_give_up(struct slurm_submitter *s, unsigned index, const char *why)
{
    g_autofree char *label = orch_cell_label(s->plan->items[index].cell);
    s->fates[index] = SLURM_GIVEN_UP;
    s->planned_s -= s->expected_s[index];
    s->expected_s[index] = 0;
    g_ptr_array_add(s->out->problems, g_strdup_printf("%s was not submitted: %s", label, why));
}

/* What is recorded of a trial's submission besides what Slurm says later. */
static json_t *submission_facts(const struct slurm_submitter *s, const struct slurm_batch *batch,
                                const struct slurm_element *element, const char *submission)
{
    const struct orch_plan_item *item = &s->plan->items[element->item];
    const struct orch_slurm_settings *settings = orch_slurm_settings_of(s->plan->expansion);
    g_ptr_array_add(batch->options, NULL);
    g_autofree char *options = g_strjoinv(" ", (char **)batch->options->pdata);
    g_ptr_array_set_size(batch->options, (int)batch->options->len - 1);
    return json_pack(
        "{s:s s:I s:s s:s s:o s:o s:I s:o}", "submission", submission, "index",
        (json_int_t)element->index, "place", item->device_key, "options", options, "time_s",
        orch_json_finite(batch->request.time_s), "margin_s",
        orch_json_finite(orch_slurm_margin_s(settings, batch->request.time_s)), "memory_bytes",
        (json_int_t)batch->request.memory_bytes, "forecast",
        orch_slurm_forecast_json(element->expected.time_s, element->expected.p95_bytes));
}

static bool choose_refs(struct orch_plan *plan, const struct orch_plan_item *item, unsigned *chosen,
                        GError **error)
{
    for (guint i = 0; i < item->cell->refs->len; i++) {
        g_autofree char *why = NULL;
        if (!orch_plan_choose(plan, item->cell->refs->pdata[i], &chosen[i], &why, error)) {
            if (why)
                orch_error_set(error, ORCH_ERROR_TRIAL, NULL, "%s", why);
            return false;
        }
    }
    return true;
}

static void keep_forecast(const struct slurm_submitter *s, const struct orch_plan_item *item,
                          const char *key)
{
    const struct orch_forecaster *forecaster = s->options->forecaster;
    struct orch_forecast forecast;
    if (forecaster && forecaster->forecast(forecaster->ctx, item, &forecast))
        orch_forecast_store(s->plan, item, key, &forecast, orch_now_ns(), false, NULL);
}

static void take_back(struct slurm_submitter *s, const char *key)
{
    orch_store_dir_remove(s->plan->store, ORCH_STORE_DIR_TRIAL, key, NULL);
    orch_store_forget(s->plan->store, key, NULL);
}

/* Handles a trial that another process has run or claimed since the plan was made. */
static void drop(struct slurm_submitter *s, struct slurm_element *element, enum orch_begin begin,
                 const char *other)
{
    struct orch_plan_item *item = &s->plan->items[element->item];
    element->is_dropped = true;
    g_free(item->run_key);
    item->run_key = g_strdup(other);
    item->state = begin == ORCH_BEGIN_DONE ? ORCH_PLAN_DONE : ORCH_PLAN_HELD;
    *(begin == ORCH_BEGIN_DONE ? &s->out->reused : &s->out->held) += 1;
}

/* Trials claimed in one transaction: enough that its cost does not show, few enough that other
 * commands do not wait. */
enum { CLAIMED_AT_ONCE = 200 };

/* A trial between the collection of its data and the writing of its folder. */
struct claim {
    struct slurm_element *element;
    json_t *facts;
    struct orch_run_slot slot;
    struct orch_trialdir dir;
};

static void clear_claim(struct claim *claim)
{
    orch_trialdir_clear(&claim->dir);
    json_decref(claim->facts);
    *claim = (struct claim){0};
}

/* Collects what a trial needs. A trial that refers to a missing result is dropped, and the others
 * go on; `claim->element` is NULL then. */
static bool prepare(struct slurm_submitter *s, const struct slurm_batch *batch,
                    const char *submission, struct claim *claim, GError **error)
{
    struct orch_plan_item *item = &s->plan->items[claim->element->item];
    const struct orch_experiment *experiment = item->cell->experiment;
    g_autofree unsigned *chosen = g_new0(unsigned, item->cell->refs->len + 1);
    claim->facts = submission_facts(s, batch, claim->element, submission);
    claim->slot = (struct orch_run_slot){.threads = (int)MAX(1u, experiment->cores),
                                         .gpu_count = orch_experiment_gpus(experiment),
                                         .is_apart = true,
                                         .submission = claim->facts};
    g_autoptr(GError) problem = NULL;
    if (choose_refs(s->plan, item, chosen, &problem) &&
        orch_trialdir_prepare(s->plan, item, chosen, &claim->slot, s->options->argv_json,
                              &claim->dir, &problem))
        return true;
    if (!g_error_matches(problem, ORCH_ERROR, ORCH_ERROR_TRIAL)) {
        g_propagate_error(error, g_steal_pointer(&problem));
        return false;
    }
    orch_slurm_give_up(s, claim->element->item, problem->message);
    claim->element->is_dropped = true;
    clear_claim(claim);
    return true;
}

static struct orch_beginning beginning_of(const struct slurm_submitter *s,
                                          const struct claim *claim)
{
    const struct orch_plan_item *item = &s->plan->items[claim->element->item];
    struct orch_beginning row = {.active = {.fingerprint = item->fingerprint,
                                            .device_key = item->device_key,
                                            .record = claim->dir.record,
                                            .runner = s->self,
                                            .started_ns = orch_now_ns(),
                                            .done_after_ns = item->passed_over_ns},
                                 .reuse = (enum orch_reuse)item->cell->experiment->reuse,
                                 .is_forced = item->forced};
    memcpy(row.active.key, claim->dir.key, sizeof row.active.key);
    return row;
}

/* Claims prepared trials in one transaction. */
static bool begin(struct slurm_submitter *s, struct claim *claims, unsigned count, GError **error)
{
    g_autofree struct orch_beginning *rows = g_new0(struct orch_beginning, count);
    for (unsigned i = 0; i < count; i++)
        rows[i] = beginning_of(s, &claims[i]);
    if (!orch_store_begin_all(s->plan->store, rows, count, error))
        return false;
    for (unsigned i = 0; i < count; i++)
        if (rows[i].outcome == ORCH_BEGIN_STARTED)
            memcpy(claims[i].element->key, claims[i].dir.key, ORCH_KEY_CHARS);
        else
            drop(s, claims[i].element, rows[i].outcome, rows[i].other);
    return true;
}

/* Whether a rule stopped the trial that is now to run to its end. */
static bool runs_to_its_end(const struct slurm_submitter *s, const struct orch_plan_item *item)
{
    const struct orch_chooser *chooser = s->options->chooser;
    return item->was_pruned && chooser && chooser->watched &&
           !chooser->watched(chooser->ctx, s->plan, (unsigned)(item - s->plan->items));
}

/* Makes the folder of a claimed trial. When that fails, orch_slurm_batch_submit takes it back. */
static bool write_folder(struct slurm_submitter *s, struct claim *claim, GError **error)
{
    const struct orch_plan_item *item = &s->plan->items[claim->element->item];
    if (claim->element->is_dropped)
        return true;
    if (!orch_trialdir_write(s->plan, item, &claim->slot, &claim->dir, error) ||
        (runs_to_its_end(s, item) && !orch_slurm_stop_never(claim->dir.path, error)))
        return false;
    keep_forecast(s, item, claim->dir.key);
    return true;
}

static bool claim_some(struct slurm_submitter *s, const struct slurm_batch *batch, guint from,
                       guint count, const char *submission, GError **error)
{
    g_autofree struct claim *claims = g_new0(struct claim, count);
    unsigned prepared = 0;
    bool ok = true;
    for (guint i = 0; ok && i < count; i++) {
        struct claim *claim = &claims[prepared];
        claim->element = &g_array_index(batch->elements, struct slurm_element, from + i);
        ok = prepare(s, batch, submission, claim, error);
        prepared += claim->element != NULL;
    }
    ok = ok && begin(s, claims, prepared, error);
    for (unsigned i = 0; ok && i < prepared; i++)
        ok = write_folder(s, &claims[i], error);
    for (unsigned i = 0; i < prepared; i++)
        clear_claim(&claims[i]);
    return ok;
}

/* ---- the script -------------------------------------------------------------------------------
 */

static bool write_tasks(struct slurm_submitter *s, const struct slurm_batch *batch,
                        const char *folder, GError **error)
{
    g_autoptr(GString) tasks = g_string_new(NULL);
    for (guint i = 0; i < batch->elements->len; i++) {
        const struct slurm_element *element =
            &g_array_index(batch->elements, struct slurm_element, i);
        if (element->is_dropped)
            continue;
        g_autofree char *dir =
            orch_store_dir_path(s->plan->store, ORCH_STORE_DIR_TRIAL, element->key);
        g_string_append_printf(tasks, "%u %s\n", element->index, dir);
    }
    g_autofree char *path = g_build_filename(folder, "tasks", NULL);
    return orch_file_write(path, tasks->str, tasks->len, false, error);
}

/* A user's own lines may need 'module', which login shells define. The script becomes orch-host, so
 * that Slurm's signals reach it. */
static bool write_script(struct slurm_submitter *s, const char *folder, GError **error)
{
    const struct orch_expansion *expansion = s->plan->expansion;
    char *const *setup = orch_slurm_settings_of(expansion)->setup;
    g_autofree char *tasks = g_build_filename(folder, "tasks", NULL);
    g_autofree char *quoted_tasks = g_shell_quote(tasks);
    g_autofree char *quoted_host = g_shell_quote(s->host_program);
    g_autoptr(GString) text = g_string_new(setup ? "#!/bin/bash -l\n" : "#!/bin/sh\n");
    g_string_append_printf(
        text, "# Trials of recipe %s: the file 'tasks' has the folder of each.\n", expansion->name);
    for (char *const *line = setup; line && *line; line++)
        g_string_append_printf(text, "%s\n", *line);
    g_string_append_printf(
        text,
        "dir=$(sed -n \"s|^$SLURM_ARRAY_TASK_ID ||p\" %s)\n"
        "[ -d \"$dir\" ] || { echo \"orch-host: the trial's folder '$dir' is not "
        "there\" >&2; exit 1; }\n"
        "exec %s --job \"$dir\"\n",
        quoted_tasks, quoted_host);
    g_autofree char *path = g_build_filename(folder, "job.sh", NULL);
    return orch_file_write(path, text->str, text->len, false, error);
}

/* ---- sbatch -----------------------------------------------------------------------------------
 */

static GPtrArray *make_command(const struct slurm_submitter *s, const struct slurm_batch *batch,
                               const char *submission, const char *folder)
{
    GPtrArray *argv = g_ptr_array_new_with_free_func(g_free);
    g_autofree unsigned *indices = g_new(unsigned, batch->elements->len);
    unsigned count = 0;
    for (guint i = 0; i < batch->elements->len; i++) {
        const struct slurm_element *element =
            &g_array_index(batch->elements, struct slurm_element, i);
        if (!element->is_dropped)
            indices[count++] = element->index;
    }
    g_autofree char *ranges = orch_slurm_ranges(indices, count, s->options->at_once);
    g_autofree char *comment = orch_slurm_comment(submission);
    g_ptr_array_add(argv, g_strdup("sbatch"));
    g_ptr_array_add(argv, g_strdup("--parsable"));
    g_ptr_array_add(argv, g_strdup_printf("--job-name=orch-%s", s->plan->expansion->name));
    g_ptr_array_add(argv, g_strdup_printf("--comment=%s", comment));
    g_ptr_array_add(argv, g_strdup_printf("--chdir=%s", folder));
    g_autoptr(GString) literal = g_string_new(folder); /* sbatch takes %a and others as patterns */
    g_string_replace(literal, "%", "%%", 0);
    g_ptr_array_add(argv, g_strdup_printf("--output=%s/%%a.out", literal->str));
    g_ptr_array_add(argv, g_strdup("--open-mode=append"));
    for (guint i = 0; i < batch->options->len; i++)
        g_ptr_array_add(argv, g_strdup(batch->options->pdata[i]));
    if (batch->dependency) {
        g_ptr_array_add(argv, g_strdup_printf("--dependency=%s", batch->dependency));
        g_ptr_array_add(argv, g_strdup("--kill-on-invalid-dep=yes"));
    }
    g_ptr_array_add(argv, g_strdup_printf("--array=%s", ranges));
    g_ptr_array_add(argv, g_build_filename(folder, "job.sh", NULL));
    g_ptr_array_add(argv, NULL);
    return argv;
}

/* The number on the last line that is just that, or that and a cluster ("123;name"): sites print
 * banners before and after it. 0: there is none. */
static int64_t last_number(const char *text)
{
    int64_t last = 0, job;
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++) {
        char *word = g_strstrip(*line);
        size_t digits = strspn(word, "0123456789");
        bool is_id = digits && (!word[digits] || word[digits] == ';');
        if (!is_id)
            continue;
        word[digits] = 0;
        if (orch_int_parse(word, &job) && job > 0)
            last = job;
    }
    return last;
}

/* Asks squeue for the job with the submission's comment or folder. 0: it does not show one.
 * `*out_answers`: whether squeue answered. */
static int64_t find_job(const char *submission, const char *folder, bool *out_answers)
{
    g_autoptr(json_t) answer = json_pack("{s:{} s:{}}", "jobs", "submissions");
    g_autofree char *problem = orch_slurm_queue_ask(answer);
    *out_answers = !problem;
    int64_t job = orch_json_int(json_object_get(answer, "submissions"), submission, 0);
    return job || problem ? job : orch_slurm_queue_find_folder(folder);
}

/* Returns the job's number; 0 with an error. `*out_may_exist`: with an error, whether Slurm may
 * have accepted the job all the same. */
static int64_t call_sbatch(const GPtrArray *argv, const char *submission, const char *folder,
                           bool *out_may_exist, GError **error)
{
    g_autofree char *out = NULL, *err = NULL;
    g_autoptr(GError) problem = NULL;
    bool answers;
    *out_may_exist = false;
    int status = orch_slurm_run((const char *const *)argv->pdata, &out, &err, &problem);
    if (g_error_matches(problem, ORCH_ERROR, ORCH_ERROR_NOT_FOUND)) {
        g_propagate_error(error, g_steal_pointer(&problem));
        return 0;
    }
    int64_t job = status == 0 ? last_number(out) : 0;
    job = job ? job : find_job(submission, folder, &answers);
    if (job)
        return job;
    g_autofree char *complaint = problem ? orch_error_what(problem) : orch_slurm_complaint(err);
    g_autofree char *command = g_strjoinv(" ", (char **)argv->pdata);
    g_autofree char *hint = g_strdup_printf("the command was: %s", command);
    if (status > 0 && answers) {
        orch_error_set(error, ORCH_ERROR_IO, hint, "sbatch refused the trials: %s", complaint);
        return 0;
    }
    *out_may_exist = true;
    orch_error_set(error, ORCH_ERROR_IO,
                   "run 'orch collect' later: it finds the job, or lets the trials run again",
                   "it is not known whether Slurm accepted the job: %s",
                   status == 0 ? "sbatch printed no job number, and squeue shows no such job"
                               : complaint);
    return 0;
}

/* The claims belong to the job from now on. The number is kept in a file, too, so that it is not
 * lost if this process dies before the store knows it. */
static bool hand_over(struct slurm_submitter *s, const struct slurm_batch *batch, int64_t job,
                      const char *folder, GError **error)
{
    g_autofree char *path = g_build_filename(folder, "job", NULL);
    g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT "\n", job);
    g_autofree struct orch_handover *rows = g_new0(struct orch_handover, batch->elements->len);
    unsigned count = 0;
    if (!orch_file_write(path, number, strlen(number), false, error))
        return false;
    for (guint i = 0; i < batch->elements->len; i++) {
        const struct slurm_element *element =
            &g_array_index(batch->elements, struct slurm_element, i);
        if (element->is_dropped)
            continue;
        rows[count] = (struct orch_handover){.key = element->key, .to = {.pid = job}};
        rows[count].to.start = element->index;
        g_strlcpy(rows[count].to.boot_id, ORCH_SLURM_RUNNER, ORCH_KEY_CHARS);
        count++;
    }
    return orch_store_hand_over(s->plan->store, rows, count, error);
}

static void note_array(struct slurm_submitter *s, const struct slurm_batch *batch, int64_t job,
                       const char *submission)
{
    struct orch_slurm_array *array = g_new0(struct orch_slurm_array, 1);
    g_ptr_array_add(batch->options, NULL);
    array->options = g_strjoinv(" ", (char **)batch->options->pdata);
    g_ptr_array_set_size(batch->options, (int)batch->options->len - 1);
    g_strlcpy(array->submission, submission, ORCH_KEY_CHARS);
    array->job = job;
    array->dependency = g_strdup(batch->dependency);
    array->request = batch->request;
    for (guint i = 0; i < batch->elements->len; i++) {
        const struct slurm_element *element =
            &g_array_index(batch->elements, struct slurm_element, i);
        if (element->is_dropped)
            continue;
        struct orch_plan_item *item = &s->plan->items[element->item];
        s->places[element->item] = (struct slurm_place){job, element->index};
        g_free(item->run_key);
        item->run_key = g_strdup(element->key);
        item->state = ORCH_PLAN_HELD;
        array->trials++;
    }
    s->out->submitted += array->trials;
    g_ptr_array_add(s->out->arrays, array);
}

static unsigned count_claimed(const struct slurm_batch *batch)
{
    unsigned count = 0;
    for (guint i = 0; i < batch->elements->len; i++)
        count += !g_array_index(batch->elements, struct slurm_element, i).is_dropped;
    return count;
}

static bool submit_in(struct slurm_submitter *s, struct slurm_batch *batch, const char *submission,
                      const char *folder, bool *out_may_exist, GError **error)
{
    for (guint i = 0; i < batch->elements->len; i += CLAIMED_AT_ONCE)
        if (!claim_some(s, batch, i, MIN(CLAIMED_AT_ONCE, batch->elements->len - i), submission,
                        error))
            return false;
    if (count_claimed(batch) == 0)
        return true;
    if (!write_tasks(s, batch, folder, error) || !write_script(s, folder, error))
        return false;
    g_autoptr(GPtrArray) argv = make_command(s, batch, submission, folder);
    int64_t job = call_sbatch(argv, submission, folder, out_may_exist, error);
    if (!job)
        return false;
    note_array(s, batch, job, submission);
    return hand_over(s, batch, job, folder, error);
}

bool orch_slurm_batch_submit(struct slurm_submitter *s, struct slurm_batch *batch, GError **error)
{
    char submission[ORCH_KEY_CHARS];
    orch_key_make(submission);
    if (!orch_store_dir_make(s->plan->store, ORCH_STORE_DIR_JOBS, submission, 0700, error))
        return false;
    g_autofree char *folder = orch_store_dir_path(s->plan->store, ORCH_STORE_DIR_JOBS, submission);
    unsigned before = s->out->submitted;
    bool may_exist = false, ok = submit_in(s, batch, submission, folder, &may_exist, error);
    if (s->out->submitted > before || may_exist)
        return ok; /* the claims stay: they are those of the jobs */
    for (guint i = 0; i < batch->elements->len; i++) {
        const char *key = g_array_index(batch->elements, struct slurm_element, i).key;
        if (*key)
            take_back(s, key);
    }
    orch_store_dir_remove(s->plan->store, ORCH_STORE_DIR_JOBS, submission, NULL);
    return ok;
}
