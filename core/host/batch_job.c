/* SPDX-License-Identifier: MIT */
#include "core/host/batch_job.h"

#include "core/host/job_refs.h"
#include "core/host/read_trial.h"
#include "core/host/supervise.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/hw/machine.h"
#include "lib/wire/job_files.h"
#include "lib/wire/journal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Reads how the journal ends. False when it has no end. */
static bool read_end(const char *journal_path, enum orch_verdict *out)
{
    struct orch_journal *journal = orch_journal_open(journal_path, NULL);
    struct orch_event event;
    bool found = false;
    if (!journal)
        return false;
    orch_journal_skip_metrics(journal);
    while (orch_journal_next(journal, &event, NULL)) {
        if (event.kind == ORCH_EVENT_END) {
            found = true;
            *out = event.verdict;
        }
        orch_event_clear(&event);
    }
    orch_journal_close(journal);
    return found;
}

/* Renames the journal of an earlier start to journal.1, journal.2, ... Counts the earlier starts.
 */
static bool set_aside(const char *journal, unsigned *out_restarts, GError **error)
{
    *out_restarts = 0;
    for (;;) {
        g_autofree char *aside = g_strdup_printf("%s.%u", journal, *out_restarts + 1);
        if (access(aside, F_OK) == 0) {
            (*out_restarts)++;
            continue;
        }
        if (access(journal, F_OK) != 0)
            return true;
        if (rename(journal, aside) == 0) {
            (*out_restarts)++;
            return true;
        }
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot rename '%s'", journal);
        return false;
    }
}

/* The variables that describe the job. */
static json_t *slurm_environment(void)
{
    json_t *variables = json_object();
    for (char **entry = environ; *entry; entry++) {
        const char *equals = strchr(*entry, '=');
        if (!equals || !g_str_has_prefix(*entry, "SLURM_"))
            continue;
        g_autofree char *name = g_strndup(*entry, (gsize)(equals - *entry));
        g_autofree char *value = g_utf8_make_valid(equals + 1, -1);
        json_object_set_new(variables, name, json_string(value));
    }
    return variables;
}

/* Describes the node, because the runner that submitted the trial is on another machine. */
static bool write_report(const char *trial_dir, const struct orch_trial_spec *trial,
                         unsigned restarts, json_t *inputs, GError **error)
{
    struct orch_machine *machine = orch_machine_probe();
    unsigned gpus[64], gpu_count = MIN(MIN(trial->gpus, machine->gpus->len), G_N_ELEMENTS(gpus));
    for (unsigned i = 0; i < gpu_count; i++)
        gpus[i] = i;
    g_autofree char *key = orch_machine_key(machine);
    g_autofree char *device_key =
        orch_machine_device_key(machine, gpus, gpu_count, 1, (int)trial->threads);
    const char *modules = g_getenv("LOADEDMODULES");
    g_autoptr(json_t) report =
        json_pack("{s:I s:s s:s s:o s:o s:s s:I s:O}", "started_ns", (json_int_t)orch_now_ns(),
                  "machine_key", key, "device_key", device_key, "machine_facts",
                  orch_machine_facts(machine), "environment", slurm_environment(), "modules",
                  modules && g_utf8_validate(modules, -1, NULL) ? modules : "", "restarts",
                  (json_int_t)restarts, "inputs", inputs);
    g_autofree char *text = orch_json_canonical(report);
    g_autofree char *path = g_build_filename(trial_dir, ORCH_JOB_REPORT, NULL);
    orch_machine_free(machine);
    return orch_file_write(path, text, strlen(text), false, error);
}

static bool prepare(const char *trial_dir, unsigned restarts, GError **error)
{
    g_autoptr(json_t) inputs = json_array();
    if (!orch_job_refs_resolve(trial_dir, inputs, error))
        return false;
    struct orch_trial_spec *trial = orch_read_trial(trial_dir, error);
    if (!trial)
        return false;
    bool ok = write_report(trial_dir, trial, restarts, inputs, error);
    orch_trial_free(trial);
    return ok;
}

int orch_host_job(const char *trial_dir, int argc, char **argv, GError **error)
{
    g_autofree char *dir = orch_path_absolute(trial_dir, NULL);
    g_autofree char *journal = g_build_filename(dir, "journal", NULL);
    enum orch_verdict verdict;
    unsigned restarts = 0;
    if (read_end(journal, &verdict) && orch_verdict_facts(verdict)->is_reused)
        return 0; /* started again after its end, because its node failed before Slurm knew of it */
    if (!set_aside(journal, &restarts, error) || !prepare(dir, restarts, error) ||
        !orch_host_supervise(dir, argc, argv, error))
        return 1;
    if (!read_end(journal, &verdict)) {
        orch_error_set(error, ORCH_ERROR_IO, NULL, "the journal '%s' has no end", journal);
        return 1;
    }
    return orch_verdict_facts(verdict)->is_reused ? 0 : ORCH_JOB_EXIT_BADLY;
}
