/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/record/recording.h"

#include "core/record/recorded_fields.h"
#include "core/record/trialdir.h"
#include "store/handle/store_dir.h"
#include "store/write/trial_record.h"

#include "core/plugin/host_start.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/program_path.h"
#include "lib/base/text.h"
#include "lib/wire/secret.h"
#include "lib/wire/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void orch_recording_free(struct orch_recording *recording)
{
    if (!recording)
        return;
    g_free(recording->trial_dir);
    g_free(recording->checkpoint_dir);
    g_free(recording->join_path);
    g_free(recording->record);
    g_free(recording);
}

/* ---- the record -------------------------------------------------------------------------------
 */

/* The executable of the recorded program: the interpreter that it names, else the file of its
 * process. NULL: unknown. The caller frees. */
static char *program_of(const struct orch_recording_spec *spec)
{
    const char *interpreter = orch_json_text(spec->facts, "interpreter", NULL);
    g_autofree char *exe = g_strdup_printf("/proc/%" G_GINT64_FORMAT "/exe", spec->pid);
    if (interpreter && g_path_is_absolute(interpreter))
        return g_strdup(interpreter);
    return spec->pid > 0 ? g_file_read_link(exe, NULL) : NULL;
}

static json_t *record_facts(struct orch_workspace *workspace,
                            const struct orch_recording_spec *spec, const json_t *params)
{
    json_t *facts =
        json_is_object(spec->facts) ? json_copy((json_t *)(uintptr_t)spec->facts) : json_object();
    g_autoptr(json_t) own = json_pack("{s:b s:o s:i s:O}", "recorded", true, "load",
                                      orch_json_finite(orch_machine_load()), "threads",
                                      orch_workspace_machine(workspace)->threads, "coords", params);
    json_object_update(facts, own);
    g_autofree char *program = program_of(spec);
    g_autoptr(json_t) environment =
        orch_environment_of_program(workspace, program, orch_store_local_folder(workspace->store));
    if (json_object_size(environment))
        json_object_set(facts, "environment", environment);
    g_autoptr(json_t) left_out = json_array();
    const GPtrArray *files = workspace->source->left_out;
    for (guint i = 0; i < MIN(files->len, 20u); i++) {
        const struct orch_left_out *file = files->pdata[i];
        json_array_append_new(left_out, json_pack("[ss]", file->path, file->why));
    }
    if (json_array_size(left_out))
        json_object_set(facts, "left_out", left_out);
    return facts;
}

/* The device key with all GPUs visible to the program, because it has no slot. */
static char *recording_device(struct orch_workspace *workspace)
{
    const struct orch_machine *machine = orch_workspace_machine(workspace);
    unsigned gpus[64], count = MIN(machine->gpus->len, (guint)G_N_ELEMENTS(gpus));
    for (unsigned i = 0; i < count; i++)
        gpus[i] = i;
    return orch_machine_device_key(machine, gpus, count, 1, machine->threads);
}

static json_t *make_record(struct orch_workspace *workspace, const struct orch_recording_spec *spec,
                           const char *experiment, uint64_t seed, GError **error)
{
    g_autoptr(json_t) params =
        spec->params ? json_copy((json_t *)(uintptr_t)spec->params) : json_object();
    guint64 ignored;
    if (orch_json_get_u64(json_object_get(params, "seed"), &ignored))
        json_object_del(params, "seed"); /* the run's own seed, and no setting that varies */
    json_t *rows = orch_recorded_params(params, error);
    if (!rows)
        return NULL;
    g_autofree char *print = orch_recorded_fingerprint(experiment, params);
    g_autofree char *device_key = recording_device(workspace);
    g_autofree char *argv = orch_recorded_command(spec->argv);
    const struct orch_source *source = workspace->source;
    json_t *record = orch_record_to_trial(&(struct orch_record){
        .recipe = ORCH_RECORDED_RECIPE,
        .experiment = experiment,
        .plugin = ORCH_RECORDED_RECIPE,
        .plugin_version = ORCH_RECORDED_VERSION,
        .source_tree = source->tree,
        .source_commit = source->commit,
        .source_branch = source->branch,
        .source_remote = source->remote,
        .source_dirty = source->dirty,
        .fingerprint = print,
        .device_key = device_key,
        .seed = seed,
        .repeat = 1,
        .attempt = 1,
        .machine_key = orch_workspace_machine_key(workspace),
        .who = orch_user_name(),
        .argv = argv,
    });
    json_object_set_new(record, "params", rows);
    json_object_set_new(record, "inputs", json_array());
    json_object_set_new(record, "metrics", json_array());
    json_object_set_new(record, "facts", record_facts(workspace, spec, params));
    json_object_set(record, "machine_facts", orch_workspace_machine_facts(workspace));
    if (json_array_size(spec->tags))
        json_object_set(record, "tags", (json_t *)(uintptr_t)spec->tags);
    if (spec->name)
        json_object_set_new(record, "name", json_string(spec->name));
    return record;
}

/* ---- the trial --------------------------------------------------------------------------------
 */

static bool write_trial(const struct orch_recording *recording,
                        const struct orch_recording_spec *spec, const char *experiment,
                        GError **error)
{
    g_autofree char *cwd = g_get_current_dir();
    struct orch_manifest *manifest = orch_manifest_new();
    manifest->kind = ORCH_PLUGIN_WRAPPED;
    manifest->name = g_strdup(ORCH_RECORDED_RECIPE);
    manifest->version = g_strdup(ORCH_RECORDED_VERSION);
    manifest->any_metric = true;
    g_autoptr(json_t) params =
        spec->params ? json_copy((json_t *)(uintptr_t)spec->params) : json_object();
    struct orch_trial_spec trial = {
        .key = (char *)(uintptr_t)recording->key,
        .recipe = (char *)(uintptr_t)ORCH_RECORDED_RECIPE,
        .experiment = (char *)(uintptr_t)experiment,
        .seed = recording->seed,
        .repeat = 1,
        .manifest = manifest,
        .params = params,
        .cwd = cwd,
        .checkpoint_dir = recording->checkpoint_dir,
        .is_followed = true,
    };
    if (spec->pid > 0 && !orch_process_get((pid_t)spec->pid, &trial.follow)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "give the ID of a running process",
                       "there is no process %" G_GINT64_FORMAT, spec->pid);
        orch_manifest_free(manifest);
        return false;
    }
    g_autoptr(json_t) json = orch_trial_encode(&trial);
    orch_manifest_free(manifest);
    g_autofree char *text = orch_json_canonical(json);
    g_autofree char *path = g_build_filename(recording->trial_dir, "trial.json", NULL);
    g_autofree char *record = g_build_filename(recording->trial_dir, ORCH_TRIAL_RECORD, NULL);
    return orch_file_write(record, recording->record, strlen(recording->record), false, error) &&
           orch_file_write(path, text, strlen(text), false, error);
}

/* The host inherits standard input with the program's events. */
static bool spawn_host(struct orch_recording *recording, GError **error)
{
    g_autofree char *program = orch_program_path("orch-host", error);
    if (!program)
        return false;
    g_autofree char *errors = g_build_filename(recording->trial_dir, "host.stderr", NULL);
    return orch_host_start(program, recording->trial_dir, -1, errors, &recording->host_pid, error);
}

/* Whether the host has ended; it stays to be waited for. */
static bool has_ended(pid_t host)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)host, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid;
}

/* Waits for the journal, which exists as soon as the host reads; TRIALDIR/join is made before it.
 * A short program's host may have read everything and ended between two looks. */
static bool await_host(const struct orch_recording *recording, GError **error)
{
    enum { PATIENCE_S = 20 };
    g_autofree char *journal = g_build_filename(recording->trial_dir, "journal", NULL);
    g_autofree char *errors = g_build_filename(recording->trial_dir, "host.stderr", NULL);
    g_autofree char *said = NULL;
    int64_t until = orch_mono_ns() + PATIENCE_S * INT64_C(1000000000);
    while (true) {
        bool is_last = has_ended(recording->host_pid) || orch_mono_ns() > until;
        if (access(journal, F_OK) == 0)
            return true;
        if (is_last)
            break;
        const struct timespec moment = {0, 500000};
        nanosleep(&moment, NULL);
    }
    orch_file_read(errors, 65536, &said, NULL, NULL);
    kill(recording->host_pid, SIGKILL);
    orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot start recording: %s",
                   said && *g_strstrip(said) ? said : "orch-host did not start");
    return false;
}

/* Closes this process's copy of standard input, so that the program's next write fails if the host
 * dies. */
static void let_go_of_input(void)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        close(null);
    }
}

static void passed_signals(sigset_t *out)
{
    sigemptyset(out);
    sigaddset(out, SIGCHLD);
    sigaddset(out, SIGINT);
    sigaddset(out, SIGTERM);
    sigaddset(out, SIGHUP);
}

static bool launch(struct orch_workspace *workspace, struct orch_recording *recording,
                   const struct orch_recording_spec *spec, const char *experiment, GError **error)
{
    sigset_t set;
    passed_signals(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    if (orch_store_dir_make(workspace->store, ORCH_STORE_DIR_TRIAL, recording->key, 0700, error) &&
        orch_store_dir_make_parent(workspace->store, ORCH_STORE_DIR_CHECKPOINT, error) &&
        write_trial(recording, spec, experiment, error) && spawn_host(recording, error) &&
        await_host(recording, error)) {
        let_go_of_input();
        return true;
    }
    orch_store_dir_remove(workspace->store, ORCH_STORE_DIR_TRIAL, recording->key, NULL);
    orch_store_forget(workspace->store, recording->key, NULL);
    return false;
}

static bool claim(struct orch_workspace *workspace, struct orch_recording *recording,
                  const json_t *record, GError **error)
{
    struct orch_active active = {
        .fingerprint = orch_json_text(record, "fingerprint", NULL),
        .device_key = orch_json_text(record, "device_key", NULL),
        .record = recording->record,
        .started_ns = recording->started_ns,
    };
    memcpy(active.key, recording->key, sizeof active.key);
    enum orch_begin begin;
    char other[ORCH_KEY_CHARS] = "";
    if (!orch_process_get(getpid(), &active.runner)) {
        orch_error_set(error, ORCH_ERROR_IO, "mount /proc", "cannot read '/proc/%d/stat'",
                       (int)getpid());
        return false;
    }
    return orch_store_begin(workspace->store, &active, ORCH_REUSE_NEVER, true, &begin, other,
                            error);
}

struct orch_recording *orch_recording_begin(struct orch_workspace *workspace,
                                            const struct orch_recording_spec *spec, GError **error)
{
    unsigned closed, pending;
    const char *experiment = spec->experiment ? spec->experiment : "run";
    if (!orch_recorded_names_check(spec->experiment, spec->tags, spec->name, error) ||
        !orch_workspace_source(workspace, error) ||
        !orch_recover(workspace->store, &closed, &pending, error))
        return NULL;
    orch_workspace_hold_source(workspace);
    struct orch_recording *recording = g_new0(struct orch_recording, 1);
    guint64 seed = 0;
    if (orch_json_get_u64(json_object_get(spec->params, "seed"), &seed))
        recording->seed = seed;
    g_autoptr(json_t) record = make_record(workspace, spec, experiment, recording->seed, error);
    orch_key_make(recording->key);
    recording->started_ns = orch_now_ns();
    recording->record = record ? orch_json_canonical(record) : NULL;
    recording->trial_dir =
        orch_store_dir_path(workspace->store, ORCH_STORE_DIR_TRIAL, recording->key);
    recording->join_path = g_build_filename(recording->trial_dir, "join", NULL);
    recording->checkpoint_dir = orch_checkpoint_path(workspace->store, recording->key);
    if (record && claim(workspace, recording, record, error) &&
        launch(workspace, recording, spec, experiment, error))
        return recording;
    orch_recording_free(recording);
    return NULL;
}

/* ---- the end ----------------------------------------------------------------------------------
 */

static void wait_for_host(const struct orch_recording *recording)
{
    sigset_t set;
    siginfo_t info;
    int status;
    passed_signals(&set);
    while (waitpid(recording->host_pid, &status, WNOHANG) == 0) {
        int number = sigwaitinfo(&set, &info);
        if (number > 0 && number != SIGCHLD)
            kill(recording->host_pid, number);
    }
}

bool orch_recording_finish(struct orch_workspace *workspace, struct orch_recording *recording,
                           struct orch_collected *out, GError **error)
{
    struct orch_file_digests *digests = orch_file_digests_open();
    wait_for_host(recording);
    bool ok = orch_collect(workspace->store, recording->key, recording->record,
                           recording->started_ns, NULL, NULL, digests, out, error) &&
              orch_store_sync(workspace->store, error);
    orch_file_digests_close(digests);
    return ok;
}
