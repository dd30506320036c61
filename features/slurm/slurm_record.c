/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/slurm/slurm_record.h"

#include "features/slurm/slurm_grade.h"
#include "store/write/trial_record.h"

#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/wire/job_files.h"

#include <math.h>
#include <string.h>

enum { REPORT_BYTES_MAX = 4 << 20 };

const json_t *orch_slurm_record_facts(const json_t *record)
{
    const json_t *facts = json_object_get(json_object_get(record, "facts"), "slurm");
    return json_is_object(facts) ? facts : NULL;
}

json_t *orch_slurm_report_read(const char *trial_dir)
{
    g_autofree char *path = g_build_filename(trial_dir, ORCH_JOB_REPORT, NULL);
    g_autofree char *text = NULL;
    size_t length = 0;
    if (!orch_file_read(path, REPORT_BYTES_MAX, &text, &length, NULL))
        return NULL;
    return orch_json_parse(text, length, REPORT_BYTES_MAX, NULL);
}

static void take_text(json_t *to, const char *key, const json_t *from, const char *name)
{
    const char *text = orch_json_text(from, name, NULL);
    if (text && *text)
        json_object_set_new(to, key, json_string(text));
}

/* The digests of artifacts whose trials had not ended when this one was submitted. */
static void take_inputs(json_t *record, const json_t *report)
{
    json_t *inputs = json_object_get(record, "inputs");
    const json_t *resolved = json_object_get(report, "inputs");
    for (size_t i = 0; i < json_array_size(resolved); i++) {
        json_t *row = json_array_get(resolved, i);
        const char *param = json_string_value(json_array_get(row, 0));
        for (size_t j = 0; param && j < json_array_size(inputs); j++)
            if (g_strcmp0(json_string_value(json_array_get(json_array_get(inputs, j), 0)), param) ==
                0)
                json_array_set(inputs, j, row);
    }
}

static void take_report(json_t *record, json_t *slurm, const json_t *report)
{
    take_text(record, "machine_key", report, "machine_key");
    take_text(record, "device_key", report, "device_key");
    json_t *machine = json_object_get(report, "machine_facts");
    if (json_is_object(machine))
        json_object_set(record, "machine_facts", machine);
    take_inputs(record, report);
    take_text(slurm, "modules", report, "modules");
    json_t *environment = json_object_get(report, "environment");
    if (json_is_object(environment))
        json_object_set(slurm, "environment", environment);
    json_object_set_new(slurm, "restarts", json_integer(orch_json_int(report, "restarts", 0)));
}

void orch_slurm_record_complete(json_t *record, const json_t *report, int64_t job,
                                const struct orch_slurm_job *said,
                                const struct orch_slurm_state *state)
{
    json_t *slurm = json_object_get(json_object_get(record, "facts"), "slurm");
    json_object_set_new(slurm, "job", json_integer(job));
    json_object_set_new(slurm, "state", json_string(state ? state->name : "unknown"));
    if (*said->nodes)
        json_object_set_new(slurm, "nodes", json_string(said->nodes));
    if (*said->exit_status)
        json_object_set_new(slurm, "exit_status", json_string(said->exit_status));
    if (isfinite(said->elapsed_s))
        json_object_set_new(slurm, "elapsed_s", orch_json_finite(said->elapsed_s));
    if (said->max_rss_bytes)
        json_object_set_new(slurm, "max_rss_bytes", json_integer(said->max_rss_bytes));
    if (report)
        take_report(record, slurm, report);
    orch_slurm_grade_store(slurm);
}
