/* SPDX-License-Identifier: MIT */
#include "core/host/ending.h"

#include "core/host/crash/crash_trace.h"
#include "core/host/crash/signal_text.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/files_below.h"
#include "lib/base/json.h"
#include "lib/base/sha256.h"
#include "lib/base/text.h"
#include "lib/wire/foreign_cpu_fact.h"
#include "lib/wire/verdict.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    REASON_BYTES_MAX = 2000,
    LAST_OUTPUT_BYTES_MAX = 300,
    LEFTOVERS_NAMED = 20,
    COPY_BYTES = 1 << 18
};

/* ---- artifacts ------------------------------------------------------------------------ */

static bool copy_hashed(int in, int out, char sha256[ORCH_SHA256_CHARS], int64_t *out_bytes)
{
    struct orch_hash hash;
    g_autofree uint8_t *buffer = g_malloc(COPY_BYTES);
    ssize_t n;
    *out_bytes = 0;
    orch_hash_begin(&hash);
    while ((n = read(in, buffer, COPY_BYTES)) > 0 && write(out, buffer, (size_t)n) == n) {
        orch_hash_add(&hash, buffer, (size_t)n);
        *out_bytes += n;
    }
    if (n == 0)
        orch_hash_end_text(&hash, sha256);
    else
        orch_hash_free(&hash);
    return n == 0;
}

/* Copies an artifact from outside into the trial's folder, because it may be changed or removed
 * before the runner collects it. */
static bool copy_in(int folder, const char *from, const char *to, char sha256[ORCH_SHA256_CHARS],
                    int64_t *out_bytes, GError **error)
{
    struct stat info;
    int in = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (in < 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot read '%s'", from);
        return false;
    }
    if (fstat(in, &info) != 0 || !S_ISREG(info.st_mode)) {
        orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot read '%s': not a regular file", from);
        close(in);
        return false;
    }
    int out = orch_below_open(folder, to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    bool ok = out >= 0 && copy_hashed(in, out, sha256, out_bytes);
    if (!ok)
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot copy '%s' to the trial's folder",
                             from);
    close(in);
    if (out >= 0)
        close(out);
    return ok;
}

/* Finds the artifact in the trial's folder or copies it there. `*out_path` is relative to the
 * folder. */
static bool find_artifact(const struct ending *ending, const char *name, const char *path,
                          char **out_path, char sha256[ORCH_SHA256_CHARS], int64_t *out_bytes,
                          GError **error)
{
    const char *trial_dir = ending->setup->trial_dir;
    const char *inner = orch_path_below(path, trial_dir);
    int folder = orch_below_root(trial_dir);
    int fd = inner ? orch_below_open_file(folder, inner) : -1;
    bool ok;
    if (fd >= 0) {
        *out_path = g_strdup(inner);
        ok = orch_file_sha256_fd(fd, path, sha256, out_bytes, error);
        close(fd);
    } else {
        *out_path = g_strconcat("artifact.", name, NULL);
        ok = copy_in(folder, path, *out_path, sha256, out_bytes, error);
    }
    if (folder >= 0)
        close(folder);
    return ok;
}

/* Adds an artifact to the journal. Returns NULL, or why it failed; caller frees. */
static char *take_artifact(const struct ending *ending, struct journal_out *out, const char *name,
                           const char *given_path)
{
    g_autofree char *named = orch_path_absolute(given_path, ending->setup->work_dir);
    g_autofree char *absolute = orch_apart_outside(ending->setup->apart, named);
    g_autofree char *path = NULL;
    char sha256[ORCH_SHA256_CHARS];
    int64_t bytes;
    g_autoptr(GError) error = NULL;
    if (!find_artifact(ending, name, absolute, &path, sha256, &bytes, &error))
        return g_strdup_printf("artifact '%s': %s", name, error->message);
    g_autoptr(json_t) object =
        json_pack("{s:s s:s s:s s:s s:I}", "event", "artifact", "name", name, "path", path,
                  "sha256", sha256, "bytes", (json_int_t)bytes);
    orch_journal_out_add(out, object);
    return NULL;
}

/* Adds a warning to the trial's log, whatever its verdict. */
static void warn(struct journal_out *out, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    g_autoptr(json_t) object =
        json_pack("{s:s s:s s:s}", "event", "log", "level", "warning", "text", valid);
    orch_journal_out_add(out, object);
}

/* Logs a problem; the first one may also become the reason. Takes ownership of `problem`, may be
 * NULL. */
static void note_problem(struct journal_out *out, char *problem, char **first)
{
    if (!problem)
        return;
    warn(out, problem);
    if (*first)
        g_free(problem);
    else
        *first = problem;
}

static bool was_reported(const struct intake *intake, const struct orch_artifact_spec *spec)
{
    for (guint i = 0; i < intake->artifacts->len; i++)
        if (g_array_index(intake->artifacts, struct intake_artifact, i).spec == spec)
            return true;
    return false;
}

/* Collects an artifact that the manifest declares with a path, if the trial made the file, else
 * adds its name to `unmade`. */
static char *take_left_artifact(const struct ending *ending, struct journal_out *out,
                                const struct orch_artifact_spec *spec, const json_t *values,
                                json_t *unmade)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = orch_declared_path(ending->setup, spec, values, &error);
    if (!path)
        return g_strdup_printf("artifact '%s': %s", spec->name, error->message);
    if ((access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)) ||
        orch_old_files_has(ending->old_files, spec)) {
        json_array_append_new(unmade, json_string(spec->name));
        return NULL;
    }
    return take_artifact(ending, out, spec->name, path);
}

static void take_left_artifacts(const struct ending *ending, struct journal_out *out,
                                json_t *unmade, char **first)
{
    const struct orch_manifest *manifest = ending->setup->trial->manifest;
    g_autoptr(json_t) values = NULL;
    for (guint i = 0; i < manifest->artifacts->len; i++) {
        const struct orch_artifact_spec *spec = manifest->artifacts->pdata[i];
        if (!spec->path || was_reported(ending->intake, spec))
            continue;
        if (!values)
            values = orch_wrapped_values(ending->setup->trial, ending->setup->trial_dir);
        note_problem(out, take_left_artifact(ending, out, spec, values, unmade), first);
    }
}

/* Returns the first problem with an artifact, or NULL. Caller frees. */
static char *take_artifacts(const struct ending *ending, struct journal_out *out, json_t *unmade)
{
    const GArray *artifacts = ending->intake->artifacts;
    char *first = NULL;
    for (guint i = 0; i < artifacts->len; i++) {
        const struct intake_artifact *artifact =
            &g_array_index(artifacts, struct intake_artifact, i);
        char *ignored = NULL; /* a file that nothing declares is no condition of the trial */
        note_problem(out, take_artifact(ending, out, artifact->spec->name, artifact->path),
                     artifact->is_adopted ? &ignored : &first);
        g_free(ignored);
    }
    take_left_artifacts(ending, out, unmade, &first);
    return first;
}

/* ---- stray processes ------------------------------------------------------------------- */

static void warn_of_leftovers(const struct ending *ending, struct journal_out *out)
{
    const GPtrArray *strays = ending->strays;
    if (!strays->len)
        return;
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%u process%s outlived the trial and %s ended: ", strays->len,
                           strays->len == 1 ? "" : "es", strays->len == 1 ? "was" : "were");
    for (guint i = 0; i < MIN(strays->len, (guint)LEFTOVERS_NAMED); i++)
        g_string_append_printf(text, "%s%s", i ? ", " : "", (const char *)strays->pdata[i]);
    if (strays->len > LEFTOVERS_NAMED)
        g_string_append(text, ", ...");
    warn(out, text->str);
    g_string_free(text, TRUE);
}

/* ---- verdict and reason --------------------------------------------------------------- */

static struct orch_ending facts_of(const struct ending *ending)
{
    const struct intake *intake = ending->intake;
    const struct orch_manifest *manifest = ending->setup->trial->manifest;
    bool is_signal = WIFSIGNALED(ending->wait_status);
    return (struct orch_ending){
        .stopped = ending->stopping->why,
        .has_done = intake->has_done,
        .done_first = ending->done_first,
        .done = intake->done,
        .needs_done = manifest->kind == ORCH_PLUGIN_COMPILED ||
                      manifest->metrics_from == ORCH_METRICS_PROTOCOL,
        .has_error = intake->error_text != NULL,
        .exit_code = is_signal ? 0 : WEXITSTATUS(ending->wait_status),
        .signal = is_signal ? WTERMSIG(ending->wait_status) : 0,
    };
}

/* Appends the last line of stderr that tells something, because it usually says more than an exit
 * status or a signal
 * ("ValueError: ..."). Takes ownership of `what`. */
static char *with_last_output(const struct ending *ending, char *what)
{
    g_autofree char *tail = orch_capture_tail(ending->errors);
    g_autofree char *line = orch_text_telling_line(tail, LAST_OUTPUT_BYTES_MAX);
    if (!line)
        return what;
    char *whole = g_strdup_printf("%s: %s", what, line);
    g_free(what);
    return whole;
}

/* Appends where a plugin crashed; `top` may be NULL. Takes ownership of `what`. */
static char *with_top(char *what, const char *top)
{
    if (!top)
        return what;
    char *whole = g_strdup_printf("%s in %s", what, top);
    g_free(what);
    return whole;
}

/* The reason for a verdict other than ok, else NULL. `top` is the frame of a crash, or NULL. Caller
 * frees. */
static char *reason_of(const struct ending *ending, enum orch_verdict verdict,
                       const struct orch_ending *facts, const char *top)
{
    const struct intake *intake = ending->intake;
    if (verdict == ORCH_VERDICT_OK)
        return NULL;
    if (facts->stopped == verdict && ending->stopping->reason)
        return with_top(g_strdup(ending->stopping->reason), top);
    if (verdict == ORCH_VERDICT_CRASHED)
        return with_last_output(ending, with_top(orch_signal_text(facts->signal), top));
    if (verdict == ORCH_VERDICT_PROTOCOL)
        return intake->problem ? g_strdup(intake->problem)
                               : g_strdup("it exited with status 0 without a 'done' event");
    if (intake->error_text)
        return g_strdup(intake->error_text);
    if (facts->exit_code && facts->has_done && facts->done == ORCH_VERDICT_OK)
        return g_strdup_printf("exit status %d after 'done' reported ok", facts->exit_code);
    if (facts->exit_code)
        return with_last_output(ending, g_strdup_printf("exit status %d", facts->exit_code));
    return g_strdup("the program gave no reason");
}

/* Makes a reason valid UTF-8 and limits its length. Caller frees. */
static char *presentable(const char *text)
{
    if (!text)
        return NULL;
    g_autofree char *cut = g_strndup(text, REASON_BYTES_MAX);
    return g_utf8_make_valid(cut, -1);
}

/* ---- the end event -------------------------------------------------------------------- */

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void put_count(json_t *facts, const char *key, int64_t count)
{
    if (count > 0)
        json_object_set_new(facts, key, json_integer(count));
}

/* Adds units found in the output for metrics that the manifest does not declare. */
static void put_units(json_t *facts, const struct intake *intake)
{
    const GPtrArray *metrics = intake->manifest->metrics;
    g_autoptr(json_t) units = json_object();
    for (guint i = intake->declared_count; i < metrics->len; i++) {
        const struct orch_metric_spec *spec = metrics->pdata[i];
        if (spec->unit && *spec->unit)
            json_object_set_new(units, spec->name, json_string(spec->unit));
    }
    if (json_object_size(units))
        json_object_set(facts, "metric_units", units);
}

static json_t *end_facts(const struct ending *ending)
{
    const struct intake *intake = ending->intake;
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    json_t *facts =
        json_pack("{s:I s:f s:f}", "max_rss_bytes", (json_int_t)usage.ru_maxrss * 1024, "user_s",
                  seconds_of(usage.ru_utime), "system_s", seconds_of(usage.ru_stime));
    if (!isnan(ending->foreign_cpu)) /* three digits, the resolution of the kernel's counters */
        json_object_set_new(facts, ORCH_FACT_FOREIGN_CPU,
                            json_real(round(ending->foreign_cpu * 1e3) / 1e3));
    if (ending->sampling_cpu_s > 0)
        json_object_set_new(facts, "sampling_cpu_s",
                            json_real(round(ending->sampling_cpu_s * 1e6) / 1e6));
    if (ending->lost_gpu)
        json_object_set_new(facts, ORCH_FACT_LOST_GPU, json_string(ending->lost_gpu));
    if (ending->setup->apart)
        json_object_set_new(facts, "apart", json_string(orch_apart_kind(ending->setup->apart)));
    orch_text_losses_save(ending->losses, facts);
    put_units(facts, intake);
    orch_logged_files_facts(ending->logged, facts);
    put_count(facts, "points", intake->point_count);
    put_count(facts, "max_pss_bytes", ending->memory_bytes);
    put_count(facts, "stdout_dropped_bytes", orch_capture_finish(ending->output));
    put_count(facts, "stderr_dropped_bytes", orch_capture_finish(ending->errors));
    put_count(facts, "log_dropped_bytes", intake->dropped_bytes);
    put_count(facts, "log_dropped_lines", intake->dropped_count);
    put_count(facts, "unknown_events", intake->unknown_count);
    put_count(facts, "bad_events", intake->bad_count);
    put_count(facts, "stray_count", ending->strays->len);
    if (ending->strays->len) {
        json_t *names = json_array();
        for (guint i = 0; i < MIN(ending->strays->len, (guint)LEFTOVERS_NAMED); i++)
            json_array_append_new(names, json_string(ending->strays->pdata[i]));
        json_object_set_new(facts, "strays", names);
    }
    return facts;
}

static json_t *end_event(const struct ending *ending, enum orch_verdict verdict, const char *reason,
                         const struct orch_ending *facts)
{
    g_autofree char *shown = presentable(reason);
    g_autofree char *tail = orch_capture_tail(ending->errors);
    return json_pack("{s:s s:s s:s? s:o s:o s:I s:I s:f s:s s:o}", "event", "end", "verdict",
                     orch_verdict_name(verdict), "reason", shown, "exit_code",
                     facts->signal ? json_null() : json_integer(facts->exit_code), "signal",
                     facts->signal ? json_integer(facts->signal) : json_null(), "started_ns",
                     (json_int_t)ending->started_ns, "ended_ns", (json_int_t)ending->ended_ns,
                     "wall_ms", ending->wall_ms, "stderr_tail", tail, "facts", end_facts(ending));
}

/* The trace of a crash follows what the plugin wrote to standard error. */
static void add_trace(struct capture *errors, const char *text)
{
    g_autofree char *tail = errors->total_bytes ? orch_capture_tail(errors) : g_strdup("");
    if (*tail && !g_str_has_suffix(tail, "\n"))
        orch_capture_write(errors, "\n", 1);
    orch_capture_write(errors, text, strlen(text));
}

void orch_ending_write(const struct ending *ending, struct journal_out *out)
{
    g_autoptr(json_t) unmade = json_array();
    g_autofree char *missing = take_artifacts(ending, out, unmade);
    warn_of_leftovers(ending, out);
    g_autofree char *skipped = orch_intake_skipped_text(ending->intake);
    if (skipped)
        warn(out, skipped);
    struct orch_ending facts = facts_of(ending);
    if (facts.signal == 0 && ending->intake->problem && facts.stopped == ORCH_VERDICT_OK)
        facts.stopped = ORCH_VERDICT_PROTOCOL; /* found in its final output */
    enum orch_verdict verdict = orch_verdict_judge(&facts);
    struct crash_trace trace = {0};
    if (verdict == ORCH_VERDICT_CRASHED)
        orch_crash_trace_read(ending->setup->trial, ending->setup->trial_dir, &trace);
    g_autofree char *reason = NULL;
    if (verdict == ORCH_VERDICT_OK && missing) {
        verdict = ORCH_VERDICT_PROTOCOL;
        reason = g_strdup(missing);
    } else {
        reason = reason_of(ending, verdict, &facts, trace.top);
    }
    if (trace.text)
        add_trace(ending->errors, trace.text);
    orch_crash_trace_clear(&trace);
    g_autoptr(json_t) event = end_event(ending, verdict, reason, &facts);
    if (json_array_size(unmade))
        json_object_set(json_object_get(event, "facts"), ORCH_FACT_UNMADE, unmade);
    orch_journal_out_add(out, event);
}
