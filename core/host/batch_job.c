/* SPDX-License-Identifier: MIT */
#include "core/host/batch_job.h"

#include "core/host/supervise.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/hw/machine.h"
#include "lib/wire/job_files.h"
#include "lib/wire/journal.h"

#include <errno.h>
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- references to other trials of the job ------------------------------------------------------
 */

enum { JSON_BYTES_MAX = 16 << 20 };

static json_t *read_json(const char *dir, const char *name, GError **error)
{
    g_autofree char *path = g_build_filename(dir, name, NULL);
    g_autofree char *text = NULL;
    size_t length = 0;
    return orch_file_read(path, JSON_BYTES_MAX, &text, &length, error)
               ? orch_json_parse(text, length, JSON_BYTES_MAX, error)
               : NULL;
}

/* What a journal says of one name. */
struct found {
    char *path; /* of the artifact, relative to its trial's folder; NULL: none */
    char *sha256;
    double value; /* of the result, or the metric's last point */
    bool has_value, is_result;
};

static void take_event(const struct orch_event *event, const char *name, struct found *found)
{
    if (event->kind == ORCH_EVENT_ARTIFACT && strcmp(event->name, name) == 0 && event->sha256) {
        g_free(found->path);
        g_free(found->sha256);
        found->path = g_strdup(event->text);
        found->sha256 = g_strdup(event->sha256);
    } else if (event->kind == ORCH_EVENT_RESULT && strcmp(event->name, name) == 0) {
        found->value = event->value;
        found->has_value = found->is_result = true;
    } else if (event->kind == ORCH_EVENT_METRICS && !found->is_result) {
        for (size_t i = 0; i < event->point_count; i++)
            if (strcmp(event->points[i].name, name) == 0) {
                found->value = event->points[i].value;
                found->has_value = true;
            }
    }
}

static bool search(const char *trial_dir, const char *name, struct found *found, GError **error)
{
    g_autofree char *path = g_build_filename(trial_dir, "journal", NULL);
    struct orch_journal *journal = orch_journal_open(path, error);
    struct orch_event event;
    if (!journal)
        return false;
    while (orch_journal_next(journal, &event, NULL)) {
        take_event(&event, name, found);
        orch_event_clear(&event);
    }
    orch_journal_close(journal);
    return true;
}

/* Links, or copies, an artifact to TRIALDIR/inputs/PARAM/. Returns its new path; NULL with errno.
 * Caller frees. */
static char *bring(const char *from_dir, const char *path, const char *trial_dir, const char *param,
                   GError **error)
{
    g_autofree char *from = orch_path_absolute(path, from_dir);
    g_autofree char *folder = g_build_filename(trial_dir, "inputs", param, NULL);
    g_autofree char *base = g_path_get_basename(path);
    char *to = g_build_filename(folder, base, NULL);
    if (!orch_dir_make(folder, error)) {
        g_free(to);
        return NULL;
    }
    unlink(to); /* of an earlier start */
    if (link(from, to) == 0 || orch_file_copy(from, to, error))
        return to;
    g_free(to);
    return NULL;
}

/* The value of one reference; new reference, NULL with an error. */
static json_t *resolve(const json_t *ref, const char *trial_dir, char **out_sha256, GError **error)
{
    const char *name = orch_json_text(ref, "name", ""), *run = orch_json_text(ref, "run", "?");
    const char *from = orch_json_text(ref, "trial_dir", "");
    struct found found = {0};
    json_t *value = NULL;
    bool is_read = search(from, name, &found, error);
    bool is_result = json_is_true(json_object_get(ref, "is_result"));
    if (is_read && is_result && found.has_value) {
        value = orch_json_real(found.value);
    } else if (is_read && !is_result && found.path) {
        g_autofree char *path =
            bring(from, found.path, trial_dir, orch_json_text(ref, "param", "x"), error);
        value = path ? json_string(path) : NULL;
    } else if (is_read) {
        orch_error_set(error, ORCH_ERROR_TRIAL, NULL, "run %s has no %s '%s'", run,
                       is_result ? "result" : "artifact", name);
    }
    *out_sha256 = g_steal_pointer(&found.sha256);
    g_free(found.path);
    return value;
}

static bool write_json(const char *dir, const char *name, const json_t *json, GError **error)
{
    g_autofree char *path = g_build_filename(dir, name, NULL);
    g_autofree char *text = orch_json_canonical(json);
    return orch_file_write(path, text, strlen(text), false, error);
}

/* Puts the values of the references into TRIALDIR/trial.json: results as numbers, artifacts as
 * paths of links below TRIALDIR/inputs, so that they stay when the other trial is collected.
 * `*out_inputs` gets [param, run, sha256] of each; the caller unrefs it. True without references.
 */
static bool job_refs_resolve(const char *trial_dir, json_t *out_inputs, GError **error)
{
    g_autofree char *path = g_build_filename(trial_dir, ORCH_JOB_REFS, NULL);
    if (access(path, F_OK) != 0)
        return true;
    g_autoptr(json_t) refs = read_json(trial_dir, ORCH_JOB_REFS, error);
    g_autoptr(json_t) trial = refs ? read_json(trial_dir, "trial.json", error) : NULL;
    json_t *params = json_object_get(trial, "params");
    for (size_t i = 0; trial && i < json_array_size(refs); i++) {
        const json_t *ref = json_array_get(refs, i);
        g_autofree char *sha256 = NULL;
        json_t *value = resolve(ref, trial_dir, &sha256, error);
        if (!value)
            return false;
        const char *param = orch_json_text(ref, "param", "");
        json_object_set_new(params, param, value);
        json_array_append_new(out_inputs, json_pack("[sss]", param, orch_json_text(ref, "run", ""),
                                                    sha256 ? sha256 : ""));
    }
    return trial && write_json(trial_dir, "trial.json", trial, error);
}

/* ---- the job ------------------------------------------------------------------------------------
 */

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
    if (!job_refs_resolve(trial_dir, inputs, error))
        return false;
    struct orch_trial_spec *trial = orch_trial_read(trial_dir, error);
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
        orch_error_set(error, ORCH_ERROR_IO, NULL,
                       "the trial's journal '%s' does not record how the trial ended", journal);
        return 1;
    }
    return orch_verdict_facts(verdict)->is_reused ? 0 : ORCH_JOB_EXIT_BADLY;
}
