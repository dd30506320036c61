/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/record/further_runs.h"

#include "core/inputs/opened.h"
#include "core/plugin/host_start.h"
#include "core/record/collect_folder.h"
#include "core/record/recorded_fields.h"
#include "store/handle/store_dir.h"

#include "lib/base/error.h"
#include "lib/base/files_below.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/base/program_path.h"
#include "lib/base/text.h"
#include "lib/wire/journal.h"
#include "lib/wire/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS_MAX = 10000, BEGIN_BYTES_MAX = 4 << 20 };
static const char DONE[] = "\"event\": \"done\""; /* as the Python module writes it */

/* One further run. */
struct further {
    const json_t *trial; /* record of the trial */
    const char *trial_key;
    char *folder_path;     /* TRIALDIR/runs/NUMBER */
    int folder, events_fd; /* the latter behind the first line */
    json_t *begin;         /* the first line */
    char key[ORCH_KEY_CHARS];
    int64_t started_ns, ended_ns;
    bool has_done;
};

/* ---- what it wrote ----------------------------------------------------------------------------
 */

static bool read_begin(struct further *run, GError **error)
{
    g_autofree char *text = g_malloc(BEGIN_BYTES_MAX);
    ssize_t length = pread(run->events_fd, text, BEGIN_BYTES_MAX, 0);
    const char *newline = length > 0 ? memchr(text, '\n', (size_t)length) : NULL;
    size_t bytes = newline ? (size_t)(newline - text) : 0;
    run->begin = newline ? orch_json_parse(text, bytes, BEGIN_BYTES_MAX, error) : NULL;
    if (run->begin && json_is_object(run->begin))
        return lseek(run->events_fd, (off_t)bytes + 1, SEEK_SET) >= 0;
    if (error && !*error)
        orch_error_set(error, ORCH_ERROR_PROTOCOL, NULL,
                       "the first event of the run is incomplete");
    return false;
}

/* Whether its last event is 'done'. */
static bool ends_with_done(int fd, int64_t bytes)
{
    char tail[4096];
    ssize_t length =
        pread(fd, tail, sizeof tail - 1, (off_t)MAX(bytes - (int64_t)sizeof tail + 1, 0));
    tail[MAX(length, 0)] = 0;
    g_strchomp(tail);
    const char *line = strrchr(tail, '\n');
    return strstr(line ? line : tail, DONE) != NULL;
}

static bool open_run(struct further *run, int trial_folder, const char *name, GError **error)
{
    g_autofree char *path = g_build_filename(ORCH_TRIAL_RUNS, name, NULL);
    struct stat info;
    run->folder = orch_below_open(trial_folder, path, O_DIRECTORY, 0);
    run->events_fd = run->folder >= 0 ? orch_below_open_file(run->folder, "events") : -1;
    if (run->events_fd < 0 || fstat(run->events_fd, &info) != 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot read the run's events");
        return false;
    }
    if (!read_begin(run, error))
        return false;
    const char *key = orch_json_text(run->begin, "key", "");
    g_strlcpy(run->key, key, sizeof run->key);
    run->ended_ns = orch_timespec_ns(info.st_mtim);
    run->started_ns = orch_json_int(run->begin, "t_ns", run->ended_ns);
    run->ended_ns = MAX(run->ended_ns, run->started_ns);
    run->has_done = ends_with_done(run->events_fd, info.st_size);
    if (orch_key_is_valid(run->key) && strcmp(run->key, run->trial_key) != 0)
        return true;
    orch_error_set(error, ORCH_ERROR_PROTOCOL, NULL, "the run's key is not valid");
    return false;
}

static void close_run(struct further *run)
{
    const int fds[] = {run->folder, run->events_fd};
    for (unsigned i = 0; i < G_N_ELEMENTS(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    json_decref(run->begin);
    g_free(run->folder_path);
}

/* ---- its record -------------------------------------------------------------------------------
 */

static json_t *make_facts(const struct further *run, const json_t *params)
{
    static const char *const shared[] = {"load", "co_runners",  "threads",
                                         "slot", "environment", "left_out"};
    const json_t *own = json_object_get(run->begin, "facts");
    const json_t *trial = json_object_get(run->trial, "facts");
    json_t *facts = json_is_object(own) ? json_copy((json_t *)(uintptr_t)own) : json_object();
    for (unsigned i = 0; i < G_N_ELEMENTS(shared); i++)
        if (json_object_get(trial, shared[i]))
            json_object_set(facts, shared[i], json_object_get(trial, shared[i]));
    json_object_set_new(facts, "recorded", json_true());
    json_object_set_new(facts, ORCH_FACT_TRIAL, json_string(run->trial_key));
    json_object_set(facts, "coords", (json_t *)(uintptr_t)params);
    return facts;
}

static void set_text(json_t *object, const char *key, const char *text)
{
    if (text)
        json_object_set_new(object, key, json_string(text));
    else
        json_object_del(object, key);
}

/* The record of the trial with what the run says of itself. NULL with an error when that cannot be
 * recorded. */
static json_t *make_record(const struct further *run, const char **out_experiment, GError **error)
{
    static const char *const of_trial[] = {"recipe_key", "build", ORCH_RECORD_KEEP,
                                           ORCH_RECORD_IN_PLACE, ORCH_RECORD_OBJECTIVE};
    const json_t *given = json_object_get(run->begin, "params");
    const json_t *tags = json_object_get(run->begin, "tags");
    const char *name = orch_json_text(run->begin, "name", NULL);
    const char *experiment = orch_json_text(run->begin, "experiment", NULL);
    experiment = experiment ? experiment : orch_json_text(run->trial, "experiment", "run");
    if (!orch_recorded_names_check(experiment, tags, name, error))
        return NULL;
    g_autoptr(json_t) params =
        json_is_object(given) ? json_copy((json_t *)(uintptr_t)given) : json_object();
    guint64 seed;
    json_t *own_seed = json_incref(json_object_get(params, "seed"));
    bool has_seed = orch_json_get_u64(own_seed, &seed);
    if (has_seed)
        json_object_del(params, "seed"); /* the run's own seed, and no setting that varies */
    json_t *rows = orch_recorded_params(params, error);
    if (!rows) {
        json_decref(own_seed);
        return NULL;
    }
    json_t *record = json_copy((json_t *)(uintptr_t)run->trial);
    for (unsigned i = 0; i < G_N_ELEMENTS(of_trial); i++)
        json_object_del(record, of_trial[i]);
    g_autofree char *fingerprint = orch_recorded_fingerprint(experiment, params);
    g_autofree char *argv = orch_recorded_command(json_object_get(run->begin, "argv"));
    set_text(record, "recipe", ORCH_RECORDED_RECIPE);
    set_text(record, "plugin", ORCH_RECORDED_RECIPE);
    set_text(record, "plugin_version", ORCH_RECORDED_VERSION);
    set_text(record, "experiment", experiment);
    set_text(record, "fingerprint", fingerprint);
    set_text(record, "argv", argv);
    set_text(record, "name", name);
    if (has_seed)
        json_object_set_new(record, "seed", orch_json_u64(seed));
    json_decref(own_seed);
    json_object_set_new(record, "attempt", json_integer(1));
    json_object_set_new(record, "params", rows);
    json_object_set_new(record, "inputs", json_array());
    json_object_set_new(record, "metrics", json_array());
    json_object_set_new(record, "facts", make_facts(run, params));
    if (json_array_size(tags))
        json_object_set(record, "tags", (json_t *)(uintptr_t)tags);
    *out_experiment = experiment;
    return record;
}

/* ---- its journal ------------------------------------------------------------------------------
 */

static bool write_trial(const struct further *run, const char *experiment, GError **error)
{
    struct orch_manifest *manifest = orch_manifest_new();
    manifest->kind = ORCH_PLUGIN_WRAPPED;
    manifest->name = g_strdup(ORCH_RECORDED_RECIPE);
    manifest->version = g_strdup(ORCH_RECORDED_VERSION);
    manifest->any_metric = true;
    g_autoptr(json_t) none = json_object();
    const struct orch_trial_spec trial = {
        .key = (char *)(uintptr_t)run->key,
        .recipe = (char *)(uintptr_t)ORCH_RECORDED_RECIPE,
        .experiment = (char *)(uintptr_t)experiment,
        .repeat = 1,
        .manifest = manifest,
        .params = none,
        .cwd = run->folder_path,
        .is_followed = true,
        .past_started_ns = run->started_ns,
        .past_ended_ns = run->ended_ns,
    };
    g_autoptr(json_t) json = orch_trial_encode(&trial);
    orch_manifest_free(manifest);
    g_autofree char *text = orch_json_canonical(json);
    /* of an earlier attempt to collect it */
    static const char *const old[] = {"journal", "artifacts", "stdout", "stderr"};
    for (unsigned i = 0; i < G_N_ELEMENTS(old); i++)
        if (!orch_below_remove(run->folder, old[i], error))
            return false;
    return orch_below_write(run->folder, "trial.json", text, strlen(text), false, error);
}

/* Runs orch-host over the events. */
static bool make_journal(const struct further *run, GError **error)
{
    g_autofree char *program = orch_program_path("orch-host", error);
    g_autofree char *errors = g_build_filename(run->folder_path, "host.stderr", NULL);
    pid_t pid;
    int status;
    if (!program ||
        !orch_host_start(program, run->folder_path, run->events_fd, errors, &pid, error))
        return false;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return true;
}

/* ---- the whole --------------------------------------------------------------------------------
 */

/* How a run ended that did not say so: with its trial. The texts are borrowed from `event`. */
static struct orch_outside end_of_trial(int folder, const struct orch_outside *outside,
                                        struct orch_event *event)
{
    struct orch_outside end = {ORCH_VERDICT_LOST, "its trial was lost", true, false};
    struct orch_journal *journal = orch_journal_open_at(folder, "journal", NULL);
    if (journal)
        orch_journal_skip_metrics(journal);
    while (journal && orch_journal_next(journal, event, NULL) && event->kind != ORCH_EVENT_END)
        orch_event_clear(event);
    orch_journal_close(journal);
    if (event->kind == ORCH_EVENT_END && event->json)
        end = (struct orch_outside){event->verdict, event->text, true, false};
    if (outside && (outside->overrules || event->kind != ORCH_EVENT_END || !event->json))
        end = (struct orch_outside){outside->verdict, outside->reason, true, false};
    return end;
}

/* Takes over `record`. */
static bool store_run(struct orch_store *store, struct further *run, json_t *record,
                      const char *experiment, const struct orch_outside *trial_end,
                      struct orch_file_digests *digests, GError **error)
{
    if (!write_trial(run, experiment, error) || !make_journal(run, error)) {
        json_decref(record);
        return false;
    }
    bool ends_with_trial =
        !run->has_done && !orch_verdict_facts(trial_end->verdict)->is_reused; /* else it crashed */
    struct orch_collected collected = {0};
    bool ok =
        orch_collect_folder(store, run->key, record, run->folder, NULL, run->started_ns,
                            ends_with_trial ? trial_end : NULL, NULL, digests, &collected, error);
    orch_collected_clear(&collected);
    return ok;
}

static bool is_stored(struct orch_store *store, const char *key)
{
    struct orch_run *run = orch_store_run(store, key, NULL);
    orch_run_free(run);
    return run != NULL;
}

/* Notes in the trial's record what is wrong with what its program wrote. */
static void note_fault(json_t *record, const char *name, const GError *error)
{
    json_t *facts = json_object_get(record, "facts");
    json_t *notes = json_object_get(facts, "notes");
    g_autofree char *what = orch_error_what(error);
    g_autofree char *text =
        g_strdup_printf("run %s of its program is not recorded: %s", name, what);
    if (!notes)
        json_object_set_new(facts, "notes", notes = json_array());
    json_array_append_new(notes, json_string(text));
}

/* Records one run and adds its key to `keys`. */
static bool take_run(struct orch_store *store, struct further *run, int trial_folder,
                     const char *name, json_t *trial, const struct orch_outside *trial_end,
                     struct orch_file_digests *digests, json_t *keys, GError **error)
{
    g_autoptr(GError) problem = NULL;
    const char *experiment;
    json_t *record = open_run(run, trial_folder, name, &problem)
                         ? make_record(run, &experiment, &problem)
                         : NULL;
    bool is_there = record && is_stored(store, run->key), ok = true;
    if (!record)
        note_fault(trial, name, problem);
    else if (is_there)
        json_decref(record);
    else
        ok = store_run(store, run, record, experiment, trial_end, digests, error);
    if (record && ok && json_array_size(keys) < ORCH_FURTHER_MAX)
        json_array_append_new(keys, json_string(run->key));
    return ok;
}

bool orch_further_runs_collect(struct orch_store *store, const char *key, json_t *record,
                               int folder, const struct orch_outside *outside,
                               struct orch_file_digests *digests, GError **error)
{
    g_autoptr(GPtrArray) names =
        folder >= 0 ? orch_below_list(folder, ORCH_TRIAL_RUNS) : g_ptr_array_new();
    g_autofree char *trial_dir = orch_store_dir_path(store, ORCH_STORE_DIR_TRIAL, key);
    json_t *facts = json_object_get(record, "facts");
    if (!names->len || !trial_dir || !facts)
        return true;
    struct orch_event event = {.kind = ORCH_EVENT_UNKNOWN};
    const struct orch_outside end = end_of_trial(folder, outside, &event);
    g_autoptr(json_t) keys = json_array();
    bool ok = true;
    for (guint i = 0; ok && i < MIN(names->len, (guint)RUNS_MAX); i++) {
        const char *name = names->pdata[i];
        struct stat info;
        g_autofree char *path = g_build_filename(ORCH_TRIAL_RUNS, name, "events", NULL);
        if (!orch_below_stat(folder, path, &info))
            continue; /* the trial's own number */
        struct further run = {.trial = record, .trial_key = key, .folder = -1, .events_fd = -1};
        run.folder_path = g_build_filename(trial_dir, ORCH_TRIAL_RUNS, name, NULL);
        ok = take_run(store, &run, folder, name, record, &end, digests, keys, error);
        close_run(&run);
    }
    orch_event_clear(&event);
    if (json_array_size(keys))
        json_object_set(facts, ORCH_FACT_FURTHER_RUNS, keys);
    return ok;
}
