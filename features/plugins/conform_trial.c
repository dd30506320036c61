/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/plugins/conform_trial.h"

#include "core/plugin/host_start.h"
#include "core/plugin/plugins.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/wire/journal.h"
#include "lib/wire/trial.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COPY_BYTES_MAX = 1 << 20, POLL_MS = 2 };

/* ---- the folder --------------------------------------------------------------------------- */

static bool is_artifact(const struct orch_manifest *manifest, const char *name)
{
    for (guint i = 0; i < manifest->artifacts->len; i++) {
        const struct orch_artifact_spec *spec = manifest->artifacts->pdata[i];
        g_autofree char *first = spec->path ? g_strdup(spec->path) : g_strdup("");
        first[strcspn(first, "/")] = 0;
        if (strcmp(first, name) == 0)
            return true;
    }
    return false;
}

/* Adds one entry of the program's folder to the scratch folder: small files as copies, so that a
 * program that writes beside itself does not change the user's files, and other entries as links.
 */
static bool mirror_entry(const char *source, const char *target, GError **error)
{
    struct stat st;
    g_autofree char *text = NULL;
    size_t length = 0;
    if (stat(source, &st) != 0)
        return true; /* a dangling link */
    if (S_ISREG(st.st_mode) && st.st_size <= COPY_BYTES_MAX) {
        if (!orch_file_read(source, COPY_BYTES_MAX, &text, &length, error) ||
            !orch_file_write(target, text, length, false, error))
            return false;
        chmod(target, st.st_mode & 0777);
        return true;
    }
    if ((S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)) && symlink(source, target) != 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot make '%s'", target);
        return false;
    }
    return true;
}

/* Recreates the files beside a wrapped program's manifest, without the output of earlier runs, as
 * the folder in which it starts. */
static bool mirror_program(const struct orch_manifest *manifest, const char *work, GError **error)
{
    g_autofree char *home = g_path_get_dirname(manifest->path);
    g_autoptr(GDir) dir = g_dir_open(home, 0, error);
    const char *name;
    while (dir && (name = g_dir_read_name(dir))) {
        g_autofree char *source = g_build_filename(home, name, NULL);
        g_autofree char *target = g_build_filename(work, name, NULL);
        if (name[0] != '.' && !is_artifact(manifest, name) && !mirror_entry(source, target, error))
            return false;
    }
    return dir != NULL;
}

static char **make_environment(const struct orch_manifest *manifest)
{
    GPtrArray *env = g_ptr_array_new();
    g_autofree char *helper = orch_plugins_python_path();
    if (manifest->kind == ORCH_PLUGIN_WRAPPED && helper) {
        const char *before = g_getenv("PYTHONPATH");
        g_ptr_array_add(env, g_strconcat("PYTHONPATH=", helper, before && *before ? ":" : "",
                                         before ? before : "", NULL));
        g_ptr_array_add(env, g_strdup("PYTHONDONTWRITEBYTECODE=1"));
    }
    g_ptr_array_add(env, g_strdup("ORCH_REPEAT=1"));
    g_ptr_array_add(env, NULL);
    return (char **)g_ptr_array_free(env, FALSE);
}

static bool write_trial(const struct conform_request *request, char *key, const char *folder,
                        GError **error)
{
    g_autofree char *work = g_build_filename(folder, "work", NULL);
    g_autofree char *checkpoint = g_build_filename(folder, "checkpoint", NULL);
    const bool is_wrapped = request->manifest->kind == ORCH_PLUGIN_WRAPPED;
    if (!orch_dir_make(work, error) || !orch_dir_make(checkpoint, error) ||
        (is_wrapped && !mirror_program(request->manifest, work, error)))
        return false;
    g_auto(GStrv) env = make_environment(request->manifest);
    const struct orch_trial_spec trial = {
        .key = key,
        .experiment = request->manifest->name,
        .seed = request->seed,
        .repeat = 1,
        .smoke = request->smoke,
        .manifest = (struct orch_manifest *)(uintptr_t)request->manifest,
        .plugin_sha256 = request->manifest->sha256,
        .params = (json_t *)(uintptr_t)request->params,
        .cwd = is_wrapped ? work : NULL,
        .checkpoint_dir = checkpoint,
        .env = env,
        .ranks = !is_wrapped && request->manifest->needs.mpi == 1 ? request->ranks : 0,
        .limit_s = request->limit_s,
        .grace_s = request->grace_s,
    };
    g_autoptr(json_t) json = orch_trial_encode(&trial);
    g_autofree char *text = orch_json_canonical(json);
    g_autofree char *path = g_build_filename(folder, "trial.json", NULL);
    return orch_file_write(path, text, strlen(text), false, error);
}

/* ---- the host ----------------------------------------------------------------------------- */

struct host_process {
    pid_t pid;
    int commands; /* its stdin */
};

static bool start_host(const char *host, const char *folder, struct host_process *out,
                       GError **error)
{
    int pair[2];
    g_autofree char *log = g_build_filename(folder, "host.log", NULL);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot start '%s'", host);
        return false;
    }
    bool ok = orch_host_start(host, folder, pair[1], log, &out->pid, error);
    close(pair[1]);
    out->commands = pair[0];
    if (!ok)
        close(pair[0]);
    return ok;
}

static void send_cancel(const struct host_process *process)
{
    static const char line[] = "{\"do\":\"cancel\"}\n";
    if (send(process->commands, line, sizeof line - 1, MSG_NOSIGNAL) < 0)
        kill(process->pid, SIGTERM);
}

static double since(int64_t start_ns)
{
    return (double)(orch_mono_ns() - start_ns) / 1e9;
}

/* Waits for the host to end, and cancels it on the way if requested. A host that exceeds every
 * limit is killed. */
static void supervise(const struct conform_request *request, const struct host_process *process,
                      struct conform_report *report)
{
    const int64_t start_ns = orch_mono_ns();
    const double last_s = request->cancel_after_s + request->limit_s + 4 * request->grace_s + 10;
    int64_t cancel_ns = 0;
    int status;
    while (waitpid(process->pid, &status, WNOHANG) == 0) {
        if (request->cancel_after_s > 0 && !cancel_ns &&
            since(start_ns) >= request->cancel_after_s) {
            send_cancel(process);
            cancel_ns = orch_mono_ns();
        }
        if (since(start_ns) > last_s) {
            kill(-process->pid, SIGKILL);
            kill(process->pid, SIGKILL);
        }
        g_usleep(POLL_MS * 1000);
    }
    report->wall_s = since(start_ns);
    report->was_cancelled = cancel_ns != 0;
    report->stop_s = cancel_ns ? since(cancel_ns) : 0;
}

/* ---- the journal -------------------------------------------------------------------------- */

static void put(GHashTable *table, char *key, double value)
{
    double *copy = g_new(double, 1);
    *copy = value;
    g_hash_table_replace(table, key, copy);
}

static void take_event(struct conform_report *report, const struct orch_event *event)
{
    if (event->kind == ORCH_EVENT_METRICS) {
        for (size_t i = 0; i < event->point_count; i++)
            put(report->points,
                g_strdup_printf("%s:%" G_GINT64_FORMAT, event->points[i].name,
                                event->points[i].step),
                event->points[i].value);
    } else if (event->kind == ORCH_EVENT_RESULT) {
        put(report->results, g_strdup(event->name), event->value);
    } else if (event->kind == ORCH_EVENT_ARTIFACT) {
        g_hash_table_add(report->artifacts, g_strdup(event->name));
    } else if (event->kind == ORCH_EVENT_END) {
        report->verdict = event->verdict;
        report->verdict_word = g_strdup(event->verdict_word);
        report->reason = g_strdup(event->text);
        report->stderr_tail = g_strdup(orch_json_text(event->json, "stderr_tail", NULL));
        report->signal = (int)orch_json_int(event->json, "signal", 0);
    }
}

static bool read_journal(const char *folder, struct conform_report *report, GError **error)
{
    g_autofree char *path = g_build_filename(folder, "journal", NULL);
    struct orch_journal *journal = orch_journal_open(path, error);
    if (!journal)
        return false;
    struct orch_event event;
    GError *problem = NULL;
    while (!report->verdict_word && orch_journal_next(journal, &event, &problem)) {
        take_event(report, &event);
        orch_event_clear(&event);
    }
    orch_journal_close(journal);
    if (problem) {
        g_propagate_error(error, problem);
        return false;
    }
    if (report->verdict_word)
        return true;
    g_autofree char *log = g_build_filename(folder, "host.log", NULL);
    g_autofree char *text = NULL;
    orch_file_read(log, 1 << 20, &text, NULL, NULL);
    orch_error_set(error, ORCH_ERROR_PROTOCOL, NULL, "orch-host did not record the trial's end%s%s",
                   text && *text ? ": " : "", text ? g_strchomp(text) : "");
    return false;
}

void orch_conform_report_free(struct conform_report *report)
{
    if (!report)
        return;
    g_hash_table_unref(report->points);
    g_hash_table_unref(report->results);
    g_hash_table_unref(report->artifacts);
    g_free(report->verdict_word);
    g_free(report->reason);
    g_free(report->stderr_tail);
    g_free(report);
}

static struct conform_report *report_new(void)
{
    struct conform_report *report = g_new0(struct conform_report, 1);
    report->points = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    report->results = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    report->artifacts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return report;
}

struct conform_report *orch_conform_trial_run(const struct conform_request *request, GError **error)
{
    char key[ORCH_KEY_CHARS];
    orch_key_make(key);
    g_autofree char *folder = g_build_filename(request->scratch, key, NULL);
    struct host_process process;
    if (!write_trial(request, key, folder, error) ||
        !start_host(request->host, folder, &process, error))
        return NULL;
    struct conform_report *report = report_new();
    supervise(request, &process, report);
    close(process.commands);
    if (!read_journal(folder, report, error))
        g_clear_pointer(&report, orch_conform_report_free);
    orch_tree_remove(folder, NULL);
    return report;
}
