/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/slurm/slurm_jobs.h"

#include "features/slurm/slurm_collect.h"
#include "features/slurm/slurm_record.h"
#include "store/handle/store_dir.h"

#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>

static void free_job_row(void *pointer)
{
    struct orch_slurm_trial *row = pointer;
    json_decref(row->record);
    json_decref(row->report);
    g_free(row->output);
    g_free(row);
}

static int64_t read_job_file(struct orch_store *store, const char *submission)
{
    g_autofree char *folder = orch_store_dir_path(store, ORCH_STORE_DIR_JOBS, submission);
    g_autofree char *path = folder ? g_build_filename(folder, "job", NULL) : NULL;
    g_autofree char *text = NULL;
    int64_t job = 0;
    if (!path || !orch_file_read(path, 64, &text, NULL, NULL))
        return 0;
    return orch_int_parse(g_strstrip(text), &job) ? job : 0;
}

bool orch_slurm_is_runner(const struct orch_process *runner)
{
    return strcmp(runner->boot_id, ORCH_SLURM_RUNNER) == 0;
}

/* The row as a trial of a job; NULL when it is none, or a living process is just submitting it. A
 * runner that died before or after sbatch leaves rows that still name it. */
static struct orch_slurm_trial *make_row(struct orch_store *store,
                                         const struct orch_active_row *row)
{
    bool is_job = orch_slurm_is_runner(&row->runner);
    if (!is_job && orch_process_is_alive(&row->runner))
        return NULL;
    json_t *record = row->record ? json_loads(row->record, 0, NULL) : NULL;
    const json_t *facts = orch_slurm_record_facts(record);
    const char *submission = orch_json_text(facts, "submission", NULL);
    if (!submission) {
        json_decref(record);
        return NULL;
    }
    struct orch_slurm_trial *made = g_new0(struct orch_slurm_trial, 1);
    made->row = row;
    made->record = record;
    made->submission = submission;
    made->job = is_job ? row->runner.pid : read_job_file(store, submission);
    made->index = is_job ? row->runner.start : orch_json_int(facts, "index", 0);
    return made;
}

GPtrArray *orch_slurm_trials(struct orch_store *store, const GPtrArray *actives)
{
    GPtrArray *rows = g_ptr_array_new_with_free_func(free_job_row);
    for (guint i = 0; i < actives->len; i++) {
        struct orch_slurm_trial *row = make_row(store, actives->pdata[i]);
        if (row)
            g_ptr_array_add(rows, row);
    }
    return rows;
}

bool orch_slurm_has_jobs(struct orch_store *store)
{
    g_autoptr(GPtrArray) actives = orch_store_actives(store, NULL);
    for (guint i = 0; actives && i < actives->len; i++) {
        const struct orch_active_row *row = actives->pdata[i];
        if (orch_slurm_is_runner(&row->runner))
            return true;
        if (!orch_process_is_alive(&row->runner) && row->record &&
            strstr(row->record, "\"slurm\":{"))
            return true;
    }
    return false;
}
