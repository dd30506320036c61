/* SPDX-License-Identifier: GPL-3.0-or-later */
/* orch-host on plugins and commands that do everything wrong: one row a trial, all started at once,
 * then each one's journal is looked at. Also describe and batch. */
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/wire/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

extern char **environ;

enum { CACHE_LIMIT = 1 << 20 }; /* of the cache of digests, in bytes */

static const char *host_program;   /* build/orch-host */
static const char *scratch;        /* folder of all trials */
static json_t *misbehave_manifest; /* as orch-host describes it */

/* ---- running a trial --------------------------------------------------------------------------
 */

enum poke {
    LEAVE_ALONE,
    CANCEL,
    CANCEL_TWICE,
    BABBLE,
    RUNNER_DIES,
    HOST_TERM,
    HOST_HUP,
    HOST_INT,
    HOST_KILL
};

struct trial_case {
    const char *name;
    const char *how;     /* misdeed of the compiled plugin, or NULL: */
    const char *script;  /* a command, run by sh -c */
    const char *from;    /* its metrics_from */
    const char *extra;   /* members of trial.json besides, as JSON */
    const char *feed;    /* of a followed program: its events, after which the input ends */
    const char *join;    /* written to the pipe for further processes of a followed program */
    const char *blocker; /* a file that is there before the trial's folder is used */
    const char *points;  /* all points of the journal in order, "NAME@STEP=VALUE ..." */
    enum poke poke;      /* once its journal shows the phase 'waiting' */
    const char *verdict; /* NULL: no end event */
    const char *reason;  /* part of it; NULL: there is none */
    void (*check)(const struct trial_case *row);
    const char *early; /* of a followed program: an event that it sends at once */
    /* filled while running: */
    char *dir;
    pid_t pid;
    int stdin_fd, exit_status;
    GPtrArray *events; /* json_t * */
};

static json_t *wrapped_manifest(const struct trial_case *row)
{
    return json_pack("{s:s s:s s:s s:[s,s,s] s:s s:[{s:s s:s}] s:[{s:s s:s s:s},{s:s},{s:s s:s}] "
                     "s:[{s:s s:s}]}",
                     "kind", "wrapped", "name", "script", "version", "1.0.0", "argv", "sh", "-c",
                     row->script, "metrics_from", row->from, "params", "name", "lr", "type", "real",
                     "metrics", "name", "loss", "step_unit", "epoch", "pattern",
                     "loss is ([-+.0-9einfa]+)", "name", "final", "name", "acc", "step_unit",
                     "epoch", "artifacts", "name", "model", "path", "model.bin");
}

/* More than 31 bits, of which the lower 31 are 7. */
#define SEED "1099511627783"

static void write_trial(const struct trial_case *row)
{
    g_autofree char *checkpoint = g_build_filename(row->dir, "checkpoint", NULL);
    char key[ORCH_KEY_CHARS];
    orch_key_make(key);
    g_autoptr(json_t) trial =
        json_pack("{s:i s:s s:s s:s s:o s:o s:s s:[s] s:f}", "format", 1, "key", key, "experiment",
                  "e", "seed", "7", "manifest",
                  row->how ? json_deep_copy(misbehave_manifest) : wrapped_manifest(row), "params",
                  row->how ? json_pack("{s:s s:s s:[i,i,i]}", "how", row->how, "path", key,
                                       "numbers", 10, 20, 30)
                           : json_pack("{s:f}", "lr", 0.5),
                  "checkpoint_dir", checkpoint, "env", "HELLO=you", "grace_s", 0.2);
    g_autoptr(json_t) extra = json_loads(row->extra ? row->extra : "{}", 0, NULL);
    assert_non_null(extra);
    json_object_update(trial, extra);
    g_autofree char *path = g_build_filename(row->dir, "trial.json", NULL);
    assert_int_equal(json_dump_file(trial, path, 0), 0);
}

static void say(const struct trial_case *row, const char *text)
{
    assert_true(write(row->stdin_fd, text, strlen(text)) == (ssize_t)strlen(text));
}

static void block(const struct trial_case *row)
{
    g_autofree char *path = g_build_filename(row->dir, row->blocker, NULL);
    assert_true(orch_file_write(path, "", 0, false, NULL));
}

static void start_trial(struct trial_case *row)
{
    row->dir = g_build_filename(scratch, row->name, NULL);
    assert_int_equal(mkdir(row->dir, 0700), 0);
    write_trial(row);
    if (row->blocker)
        block(row);
    int pipe_fds[2];
    assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipe_fds[0], 0);
    char *argv[] = {(char *)(uintptr_t)host_program, row->dir, NULL};
    assert_int_equal(posix_spawn(&row->pid, host_program, &actions, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(pipe_fds[0]);
    row->stdin_fd = pipe_fds[1];
    if (row->early)
        say(row, row->early);
}

static char *journal_text(const struct trial_case *row)
{
    g_autofree char *path = g_build_filename(row->dir, "journal", NULL);
    char *text = NULL;
    return orch_file_read(path, 256 << 20, &text, NULL, NULL) ? text : g_strdup("");
}

static void wait_ms(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

#define CANCEL_LINE "{\"do\":\"cancel\"}\n"

/* What no runner says, a line without an end among it, and then what one does. */
static void babble(const struct trial_case *row)
{
    g_autofree char *long_line = g_strnfill(70000, 'x');
    say(row, "nonsense\n{\"do\":\"sing\"}\n[]\n");
    say(row, long_line);
    wait_ms(100);
    say(row, "\n" CANCEL_LINE);
}

static void write_join(const struct trial_case *row)
{
    g_autofree char *path = g_build_filename(row->dir, "join", NULL);
    int fd = -1;
    for (int i = 0; i < 1000 && fd < 0; i++, wait_ms(5))
        fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || write(fd, row->join, strlen(row->join)) != (ssize_t)strlen(row->join))
        fail_msg("%s: nobody reads '%s'", row->name, path);
    wait_ms(20);
    close(fd);
}

/* Plays the followed program. */
static void feed(struct trial_case *row)
{
    if (row->join)
        write_join(row);
    say(row, row->feed);
    close(row->stdin_fd);
    row->stdin_fd = -1;
}

static void poke(struct trial_case *row)
{
    bool is_waiting = false;
    for (int i = 0; i < 1000 && !is_waiting; i++) {
        g_autofree char *text = journal_text(row);
        is_waiting = strstr(text, "\"waiting\"") != NULL;
        wait_ms(5);
    }
    if (!is_waiting)
        fail_msg("%s: never waited", row->name);
    static const int signals[] = {
        [HOST_TERM] = SIGTERM, [HOST_HUP] = SIGHUP, [HOST_INT] = SIGINT, [HOST_KILL] = SIGKILL};
    if (row->poke == CANCEL || row->poke == CANCEL_TWICE)
        say(row, CANCEL_LINE);
    if (row->poke == CANCEL_TWICE) {
        wait_ms(50);
        say(row, CANCEL_LINE);
    } else if (row->poke == BABBLE) {
        babble(row);
    } else if (row->poke == RUNNER_DIES) {
        close(row->stdin_fd);
    } else if (row->poke >= HOST_TERM) {
        kill(row->pid, signals[row->poke]);
    }
}

static void read_events(struct trial_case *row)
{
    g_autofree char *text = journal_text(row);
    row->events = g_ptr_array_new();
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++) {
        if (!**line)
            continue;
        json_t *event = json_loads(*line, 0, NULL);
        if (!event)
            fail_msg("%s: not JSON: %s", row->name, *line);
        g_ptr_array_add(row->events, event);
    }
}

/* The n-th event of a kind (0: the first); NULL: there are not so many. */
static json_t *find_event(const struct trial_case *row, const char *word, int n)
{
    for (guint i = 0; i < row->events->len; i++)
        if (strcmp(orch_json_text(row->events->pdata[i], "event", ""), word) == 0 && n-- == 0)
            return row->events->pdata[i];
    return NULL;
}

static int64_t fact(const struct trial_case *row, const char *name)
{
    return orch_json_int(json_object_get(find_event(row, "end", 0), "facts"), name, 0);
}

static char *file_text(const struct trial_case *row, const char *name)
{
    g_autofree char *path = g_build_filename(row->dir, name, NULL);
    char *text = NULL;
    return orch_file_read(path, 256 << 20, &text, NULL, NULL) ? text : NULL;
}

/* Points of all metrics events: how many, and the last value of a name. */
static int count_points(const struct trial_case *row, const char *name, json_t **out_last)
{
    int count = 0;
    json_t *event;
    for (int n = 0; (event = find_event(row, "metrics", n)); n++) {
        json_t *points = json_object_get(event, "points");
        for (size_t i = 0; i < json_array_size(points); i++) {
            json_t *point = json_array_get(points, i);
            if (strcmp(json_string_value(json_array_get(point, 0)), name) != 0)
                continue;
            count++;
            if (out_last)
                *out_last = json_array_get(point, 3);
        }
    }
    return count;
}

/* All points as text: "loss@1=0.5 acc@2=0.75". The caller frees. */
static char *all_points(const struct trial_case *row)
{
    GString *out = g_string_new(NULL);
    json_t *event;
    for (int n = 0; (event = find_event(row, "metrics", n)); n++) {
        size_t i;
        json_t *point;
        json_array_foreach(json_object_get(event, "points"), i, point)
        {
            json_t *value = json_array_get(point, 3);
            g_autofree char *number = json_is_string(value)
                                          ? g_strdup(json_string_value(value))
                                          : g_strdup_printf("%.6g", json_number_value(value));
            g_string_append_printf(out, "%s%s@%d=%s", out->len ? " " : "",
                                   json_string_value(json_array_get(point, 0)),
                                   (int)json_integer_value(json_array_get(point, 1)), number);
        }
    }
    return g_string_free(out, FALSE);
}

/* ---- what single rows are looked at for -------------------------------------------------------
 */

static void check_118_points(const struct trial_case *row)
{
    assert_int_equal(count_points(row, "value", NULL), 118);
    assert_int_equal(fact(row, "points"), 118);
    assert_int_equal(orch_json_int(find_event(row, "end", 0), "signal", 0), SIGSEGV);
    assert_string_equal(orch_json_text(find_event(row, "end", 0), "stderr_tail", ""),
                        "last words\n");
}

static void check_dead(const struct trial_case *row, const char *name)
{
    g_autofree char *path = g_build_filename("work", name, NULL);
    g_autofree char *text = file_text(row, path);
    assert_non_null(text);
    pid_t pid = (pid_t)strtol(text, NULL, 10);
    assert_true(pid > 1);
    struct orch_process process;
    /* a zombie is dead: who reaps it, and when, is not the host's to say once that was killed */
    for (int i = 0; i < 200 && orch_process_get(pid, &process) && orch_process_is_alive(&process);
         i++)
        wait_ms(5);
    if (orch_process_get(pid, &process) && orch_process_is_alive(&process))
        fail_msg("%s: process %d lives on", row->name, (int)pid);
}

static void check_pid_dead(const struct trial_case *row)
{
    check_dead(row, "pid");
}

static void check_family_dead(const struct trial_case *row)
{
    check_dead(row, "pid");
    check_dead(row, "grandchild");
}

static void check_stray(const struct trial_case *row)
{
    check_dead(row, "pid");
    assert_int_equal(fact(row, "stray_count"), 1);
    const char *text = orch_json_text(find_event(row, "log", 0), "text", "");
    assert_true(g_str_has_prefix(text, "1 process outlived the trial and was ended: "));
}

static void check_nan(const struct trial_case *row)
{
    json_t *last = NULL;
    assert_int_equal(count_points(row, "value", &last), 2);
    assert_string_equal(json_string_value(last), "-inf");
    assert_string_equal(orch_json_text(find_event(row, "result", 0), "value", ""), "nan");
}

static void check_output_bounded(const struct trial_case *row)
{
    g_autofree char *text = file_text(row, "stdout");
    assert_in_range(strlen(text), 65536 / 2, 65536 + 200);
    assert_true(g_str_has_prefix(text, "line 0 of"));
    assert_non_null(strstr(text, " bytes were dropped here]\nline "));
    assert_true(g_str_has_suffix(text, "of a log without end\nthe last line\n"));
    assert_true(fact(row, "stdout_dropped_bytes") > 0);
}

static void check_log_bounded(const struct trial_case *row)
{
    g_autofree char *text = journal_text(row);
    assert_in_range(strlen(text), 1000, 80000);
    assert_true(fact(row, "log_dropped_lines") > 0);
}

static void check_artifact(const struct trial_case *row)
{
    json_t *event = find_event(row, "artifact", 0);
    assert_string_equal(orch_json_text(event, "sha256", ""),
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_int_equal(orch_json_int(event, "bytes", 0), 3);
    /* in the trial's folder, where the runner looks for it */
    assert_string_equal(orch_json_text(event, "path", ""),
                        row->how ? "work/out.txt" : "work/model.bin");
}

static void check_seed(const struct trial_case *row)
{
    /* the first 8 bytes of SHA-256(07 00 00 00 00 00 00 00 "init"), little endian */
    assert_string_equal(orch_json_text(find_event(row, "note", 0), "text", ""),
                        "seed 308da4122b850cc7");
}

static void check_memory(const struct trial_case *row)
{
    assert_true(fact(row, "max_pss_bytes") > 64 << 20);
}

static void check_three_losses(const struct trial_case *row)
{
    json_t *last = NULL;
    assert_int_equal(count_points(row, "loss", &last), 3);
    assert_true(json_number_value(last) == 0.25);
}

/* Whatever else was printed, the one value was found, and stdout is kept. */
static void check_one_loss(const struct trial_case *row)
{
    json_t *last = NULL;
    assert_int_equal(count_points(row, "loss", &last), 1);
    assert_true(json_number_value(last) == 0.25);
    g_autofree char *text = file_text(row, "stdout");
    assert_true(g_str_has_suffix(text, "loss 0.25\n"));
}

static void check_lines(const struct trial_case *row)
{
    json_t *last = NULL;
    assert_int_equal(count_points(row, "loss", &last), 4);
    assert_string_equal(json_string_value(last), "nan");
    assert_int_equal(count_points(row, "acc", &last), 2);
    assert_true(json_number_value(last) == 0.9);
    assert_true(json_number_value(json_object_get(find_event(row, "result", 0), "value")) == 42);
    json_t *points = json_object_get(find_event(row, "metrics", 0), "points");
    static const int steps[] = {0, 1, 5, 5, 7}; /* counted, said, and said again */
    for (size_t i = 0; i < G_N_ELEMENTS(steps); i++)
        assert_int_equal(json_integer_value(json_array_get(json_array_get(points, i), 1)),
                         steps[i]);
}

static void check_model(const struct trial_case *row)
{
    check_artifact(row);
    assert_string_equal(orch_json_text(find_event(row, "artifact", 0), "name", ""), "model");
}

/* What went wrong with an artifact stands in the log, whatever the verdict. */
static void check_artifact_log(const struct trial_case *row)
{
    json_t *event = find_event(row, "log", 0);
    assert_string_equal(orch_json_text(event, "level", ""), "warning");
    const char *text = orch_json_text(event, "text", "");
    if (!strstr(text, "artifact 'model'") || !strstr(text, "not a regular file"))
        fail_msg("%s: the log says '%s'", row->name, text);
    assert_null(find_event(row, "artifact", 0));
}

static void check_no_artifact(const struct trial_case *row)
{
    assert_null(find_event(row, "artifact", 0));
    assert_null(find_event(row, "log", 0));
}

static void check_replaced(const struct trial_case *row)
{
    assert_true(fact(row, "replaced_points") == 1);
}

static void check_unread(const struct trial_case *row)
{
    assert_true(fact(row, "unread_lines") == 1);
    assert_int_equal(count_points(row, "loss", NULL), 1);
}

/* One artifact was copied; what is no name, or no file, is a warning. */
static void check_followed(const struct trial_case *row)
{
    assert_string_equal(orch_json_text(find_event(row, "artifact", 0), "name", ""), "w");
    assert_null(find_event(row, "artifact", 1));
    static const char *const says[] = {"artifact 'a/b': not a name", "artifact '.w': not a name",
                                       "artifact 'none': cannot"};
    for (int i = 0; i < 3; i++) {
        const char *text = orch_json_text(find_event(row, "log", i), "text", "");
        if (!strstr(text, says[i]))
            fail_msg("%s: warning %d is '%s'", row->name, i, text);
    }
}

static void check_left_out(const struct trial_case *row)
{
    assert_int_equal(fact(row, "bad_events"), 2);
    const char *text = orch_json_text(find_event(row, "log", 0), "text", "");
    if (!strstr(text, "2 of its events were left out; the first: not valid JSON"))
        fail_msg("%s: the log says '%s'", row->name, text);
}

static void check_no_host(const struct trial_case *row)
{
    check_dead(row, "pid");
    assert_null(find_event(row, "end", 0));
}

/* ---- the rows ---------------------------------------------------------------------------------
 */

/* Says what it is told, and does not wait: a hundred milliseconds are enough to be asked. */
#define SAY(text) "echo '" text "' >&$ORCH_EVENTS; "
#define DONE SAY("{\"event\":\"done\",\"status\":\"ok\"}")
#define WAITING SAY("{\"event\":\"phase\",\"name\":\"waiting\"}")
#define LIMIT "{\"limit_s\":0.4,\"limit_log_bytes\":65536}"

#define ANY "{\"manifest\":{\"metrics\":[],\"any_metric\":true,\"artifacts\":[]}}"
#define FOLLOWED                                                                                   \
    "{\"follow\":{},\"manifest\":{\"metrics\":[],\"any_metric\":true,\"artifacts\":[]}}"
#define METRIC(step) "{\"event\":\"metric\",\"name\":\"loss\",\"step\":" step ",\"value\":0.5}\n"
#define ARTIFACT(name, path)                                                                       \
    "{\"event\":\"artifact\",\"name\":\"" name "\",\"path\":\"" path "\"}\n"
#define DONE_LINE "{\"event\":\"done\",\"status\":\"ok\"}\n"
#define PHASE_LINE "{\"event\":\"phase\",\"name\":\"waiting\"}\n"

static struct trial_case CASES[] = {
    {"nothing", .how = "nothing", .verdict = "ok"},
    {"crash_open", .how = "crash_open", .verdict = "crashed", .reason = "signal 11 (SIGSEGV)"},
    {"crash_run", .how = "crash_run", .verdict = "crashed", .reason = "signal 11 (SIGSEGV)",
     .check = check_118_points},
    {"crash_close", .how = "crash_close", .verdict = "crashed", .reason = "signal 11 (SIGSEGV)"},
    {"hang", .how = "hang", .extra = LIMIT, .verdict = "timeout",
     .reason =
         "ran past its limit of 400 ms; it did not end within 200 ms of SIGTERM and was killed",
     .check = check_pid_dead},
    {"hang_with_family", .how = "hang_with_family", .extra = LIMIT, .verdict = "timeout",
     .reason = "was killed", .check = check_family_dead},
    {"exit", .how = "exit", .verdict = "protocol-error", .reason = "without a 'done'"},
    {"exit_3", .how = "exit_3", .verdict = "failed", .reason = "exit status 3"},
    {"huge_line", .how = "huge_line", .verdict = "protocol-error", .reason = "longer than 65536"},
    {"bad_utf8", .how = "bad_utf8", .verdict = "protocol-error", .reason = "UTF-8"},
    {"partial_line", .how = "partial_line", .verdict = "protocol-error", .reason = "no line end"},
    {"partial_crash", .how = "partial_crash", .verdict = "crashed", .reason = "SIGSEGV"},
    {"done_twice", .how = "done_twice", .verdict = "protocol-error", .reason = "came twice"},
    {"forge", .how = "forge", .verdict = "protocol-error", .reason = "'end' is the host's own"},
    {"nan", .how = "nan", .verdict = "ok", .check = check_nan},
    {"undeclared", .how = "undeclared", .verdict = "protocol-error",
     .reason = "undeclared metric 'valu' (did you mean 'value'?)"},
    {"undeclared_result", .how = "undeclared_result", .verdict = "protocol-error",
     .reason = "undeclared result 'question'"},
    {"negative_step", .how = "negative_step", .verdict = "protocol-error",
     .reason = "metric 'value': its step is -1, beyond 0 to"},
    {"grandchild", .how = "grandchild", .verdict = "ok", .check = check_stray},
    {"grandchild_session", .how = "grandchild_session", .verdict = "ok", .check = check_stray},
    {"memory", .how = "memory", .extra = "{\"limit_memory_bytes\":67108864}", .verdict = "failed",
     .reason = "memory over the limit: ", .check = check_memory},
    {"endless_output", .how = "endless_output", .extra = LIMIT, .verdict = "timeout",
     .reason = "limit", .check = check_output_bounded},
    {"endless_log", .how = "endless_log", .extra = LIMIT, .verdict = "timeout", .reason = "limit",
     .check = check_log_bounded},
    {"artifact", .how = "artifact", .verdict = "ok", .check = check_artifact},
    {"missing_artifact", .how = "missing_artifact", .verdict = "protocol-error",
     .reason = "artifact 'file': cannot read"},
    {"fail", .how = "fail", .verdict = "failed", .reason = "the roof is on fire"},
    {"skip", .how = "skip", .verdict = "skipped", .reason = "no CUDA device"},
    {"diverge", .how = "diverge", .verdict = "diverged", .reason = "gave no reason"},
    {"look_around", .how = "look_around", .extra = "{\"smoke\":true,\"cpus\":[0]}", .verdict = "ok",
     .check = check_seed},
    {"cancel", .how = "wait", .poke = CANCEL, .verdict = "cancelled", .reason = "its runner asked"},
    {"runner_dies", .how = "wait", .poke = RUNNER_DIES, .verdict = "cancelled",
     .reason = "its runner is gone"},
    {"detached", .how = "wait_a_little", .extra = "{\"detached\":true}", .poke = RUNNER_DIES,
     .verdict = "ok"},
    {"preempted", .how = "wait", .poke = HOST_TERM, .verdict = "preempted", .reason = "SIGTERM"},
    {"host_killed", .script = "echo $$$$ > pid; " WAITING "exec sleep 100", .from = "protocol",
     .poke = HOST_KILL, .check = check_no_host},
    {"bad_version", .how = "nothing", .extra = "{\"manifest\":{\"version\":\"2.0.0\"}}",
     .verdict = "failed", .reason = "changed since this trial was planned"},
    {"bad_params", .how = "nothing", .extra = "{\"params\":{\"how\":\"nothing\",\"colour\":1}}",
     .verdict = "failed", .reason = "has no parameter 'colour'"},

    {"sh_protocol", .from = "protocol", .verdict = "ok", .check = check_three_losses,
     .script = "read line; case $line in *'\"do\":\"run\"'*) ;; *) exit 5;; esac; " SAY(
         "{\"event\":\"metric\",\"name\":\"loss\",\"step\":0,\"value\":1}")
         SAY("{\"event\": \"metrics\", \"points\": [[\"loss\",1,null,0.5],[\"loss\",2,9.5,0.25]]}")
             DONE},
    {"sh_environment", .from = "protocol", .extra = "{\"smoke\":true,\"seed\":\"" SEED "\"}",
     .verdict = "ok",
     .script = "test \"$ORCH_PARAMS\" = '{\"lr\":0.5}' && test $ORCH_SEED = 7 && "
               "test $ORCH_SEED64 = " SEED " && test ${seed64} = " SEED " && "
               "test -d \"$ORCH_CHECKPOINT_DIR\" && test $ORCH_SMOKE = 1 && "
               "test \"$PWD\" = \"$ORCH_TRIAL_DIR/work\" && grep -q \"$ORCH_RUN\" ../trial.json && "
               "test $HELLO = you && test ${lr} = 0.5 && test ${seed} = 7 || exit 4; " DONE},
    {"sh_no_done", .from = "protocol", .script = "true", .verdict = "protocol-error",
     .reason = "without a 'done'"},
    {"sh_bad_line", .from = "protocol", .script = SAY("hello") "sleep 60",
     .verdict = "protocol-error", .reason = "not valid JSON"},
    {"sh_done_and_status", .from = "protocol", .script = DONE "exit 3", .verdict = "failed",
     .reason = "exit status 3 after 'done' reported ok"},
    {"sh_cancel", .from = "protocol", .poke = CANCEL, .verdict = "cancelled", .reason = "asked",
     .script =
         "read run; " WAITING "read line; case $line in *cancel*) ;; *) sleep 60;; esac; " SAY(
             "{\"event\":\"done\",\"status\":\"cancelled\"}")},
    {"sh_done_text", .from = "protocol", .verdict = "skipped", .reason = "no data set",
     .script = SAY("{\"event\":\"done\",\"status\":\"skipped\",\"text\":\"no data set\"}")},
    {"sh_unknown_event", .from = "protocol", .verdict = "ok",
     .script = SAY("{\"event\":\"sing\",\"key\":\"c\"}") DONE},
    {"sh_lines", .from = "lines", .verdict = "ok", .check = check_lines,
     .script = "echo 'starting up, 3 files read'; echo 'loss 1.5'; echo loss: 0.5 lr 0.1; "
               "echo step=5 loss=0.25, acc: 0.8; echo '{\"step\": 7, \"acc\": 0.9, \"x\": 1}'; "
               "echo 'final = 42'; printf 'loss nan'"},
    {"sh_lines_status", .from = "lines", .script = "echo loss 1; exit 2", .verdict = "failed",
     .reason = "exit status 2"},
    {"sh_last_words", .from = "lines", .verdict = "failed",
     .script = "echo Traceback >&2; printf 'ValueError: no \\033[31mfile\\n\\n' >&2; exit 1",
     .reason = "exit status 1: ValueError: no ?[31mfile"},
    {"sh_killed_words", .from = "lines", .script = "echo out of luck >&2; kill -9 $$$$",
     .verdict = "crashed", .reason = "signal 9 (SIGKILL): out of luck"},
    {"sh_long_line", .from = "lines", .verdict = "ok", .check = check_one_loss,
     .script = "head -c 1048576 /dev/zero | tr '\\0' x; echo; echo loss 0.25"},
    {"sh_bad_utf8", .from = "lines", .verdict = "ok", .check = check_one_loss,
     .script = "printf 'caf\\351 \\303( loss \\377\\n'; printf '{\"loss\": \"\\377\"}\\n'; "
               "echo loss 0.25"},
    {"sh_regex", .from = "regex", .verdict = "ok", .check = check_three_losses,
     .script = "echo 'epoch 1: loss is 1.0'; echo 'loss is 0.5 now'; echo 'loss is bad'; "
               "echo 'loss is 0.25'"},
    {"sh_artifact", .from = "lines", .script = "printf abc > model.bin", .verdict = "ok",
     .check = check_model},
    {"sh_artifact_folder", .from = "lines", .script = "mkdir model.bin",
     .verdict = "protocol-error", .reason = "artifact 'model': cannot read",
     .check = check_artifact_log},
    {"sh_artifact_failed", .from = "lines", .script = "mkdir model.bin; exit 3",
     .verdict = "failed", .reason = "exit status 3", .check = check_artifact_log},
    {"sh_no_artifact", .from = "lines", .script = "true", .verdict = "ok",
     .check = check_no_artifact},
    {"sh_no_program", .from = "lines", .script = "exec /nowhere/at/all", .verdict = "failed",
     .reason = "exit status 127"},
    {"no_program", .from = "lines", .script = "", .verdict = "failed",
     .extra = "{\"manifest\":{\"argv\":[\"/nowhere/at/all\"]}}",
     .reason = "cannot start '/nowhere/at/all'"},
    {"no_folder", .from = "lines", .script = "", .extra = "{\"cwd\":\"/nowhere\"}",
     .verdict = "failed", .reason = "cannot enter folder '/nowhere'"},
    {"sh_killed", .from = "lines", .script = "kill -9 $$$$", .verdict = "crashed",
     .reason = "signal 9 (SIGKILL)"},
    /* what runners, terminals and disks do */
    {"cancelled_twice", .from = "protocol", .poke = CANCEL_TWICE, .verdict = "cancelled",
     .extra = "{\"grace_s\":30}", .reason = "its runner asked",
     .script = WAITING "while :; do sleep 1; done"},
    {"babble", .how = "wait", .poke = BABBLE, .verdict = "cancelled", .reason = "its runner asked"},
    {"hangup", .how = "wait", .poke = HOST_HUP, .verdict = "cancelled",
     .reason = "its host's terminal is gone (SIGHUP)"},
    {"hangup_detached", .how = "wait_a_little", .extra = "{\"detached\":true}", .poke = HOST_HUP,
     .verdict = "ok"},
    {"interrupted", .how = "wait_a_little", .poke = HOST_INT, .verdict = "ok"}, /* no terminal */
    {"no_work_folder", .how = "nothing", .blocker = "work", .verdict = "failed",
     .reason = "cannot enter folder"},
    {"no_artifact_folder", .how = "artifact", .blocker = "artifacts", .verdict = "ok"},

    /* what programs print */
    {"steps_of_epochs", .from = "lines", .extra = ANY, .verdict = "ok",
     .script = "echo 'Epoch 1 step 1/3 loss 3'; echo 'Epoch 1 step 3/3 loss 2'; "
               "echo 'Epoch 2 step 1/3 loss 1'",
     .points = "loss@1=3 loss@3=2 loss@4=1"},
    {"steps_without_total", .from = "lines", .extra = ANY, .verdict = "ok",
     .script = "echo 'epoch 1 step 1 loss 3'; echo 'epoch 1 step 2 loss 2'; "
               "echo 'epoch 2 step 1 loss 1'",
     .points = "loss@1=3 loss@2=2 loss@3=1"},
    {"steps_of_a_resume", .from = "lines", .extra = ANY, .verdict = "ok",
     .script = "echo 'Epoch 3 step 1/10 loss 1'; echo 'Epoch 3 step 2/10 loss 2'",
     .points = "loss@21=1 loss@22=2"},
    {"steps_through", .from = "lines", .extra = ANY, .verdict = "ok",
     .script = "echo 'Epoch 3/5 step 21/50 loss 1'", .points = "loss@21=1"},
    {"steps_too_large", .from = "lines", .extra = ANY, .verdict = "ok",
     .script = "echo 'Epoch 900000000000 step 5/100000000 loss 1'", .points = "loss@5=1"},
    {"part_of_an_epoch", .from = "lines", .extra = ANY, .verdict = "ok",
     .script = "echo \"{'loss': 0.5, 'epoch': 0.25}\"; echo \"{'loss': 0.25, 'epoch': 0.5}\"",
     .points = "loss@0=0.5 epoch@0=0.25 loss@1=0.25 epoch@1=0.5"},
    {"units", .from = "lines", .extra = ANY, .verdict = "ok",
     .script = "echo 'wait: 5 ms'; echo 'wait: 1 s'; echo 'wait: 2 GB'",
     .points = "wait@0=0.005 wait@1=1"},
    {"percents", .from = "lines",
     .extra =
         "{\"manifest\":{\"metrics\":[{\"name\":\"acc\",\"unit\":\"%\",\"step_unit\":\"step\"},"
         "{\"name\":\"part\",\"step_unit\":\"step\"}]}}",
     .verdict = "ok", .script = "echo 'acc: 85%, part: 85%'", .points = "acc@0=85 part@0=0.85"},
    {"replaced", .from = "lines", .extra = ANY, .verdict = "ok",
     .script = "echo 'epoch 1'; echo 'loss 3'; echo 'loss 2'", .points = "loss@1=3 loss@1=2",
     .check = check_replaced},
    {"unread", .from = "lines", .extra = ANY, .verdict = "ok", .check = check_unread,
     .script = "echo 'loss: 1e'; echo 'loss 0.25'"},
    {"long_first_line", .from = "lines", .extra = ANY, .verdict = "ok",
     .script = "printf 'loss 1\\rloss 2\\bloss 3'", .points = "loss@0=1 loss@1=2 loss@2=3"},

    /* programs that orch did not start */
    {"followed", .script = "", .from = "protocol", .extra = FOLLOWED, .verdict = "ok",
     .feed = METRIC("1") ARTIFACT("w", "/etc/passwd") ARTIFACT("a/b", "x") ARTIFACT(".w", "x")
         ARTIFACT("none", "missing") DONE_LINE,
     .points = "loss@1=0.5", .check = check_followed},
    {"followed_join", .script = "", .from = "protocol", .extra = FOLLOWED, .verdict = "ok",
     .join = METRIC("1") METRIC("2"), .feed = METRIC("3") DONE_LINE,
     .points = "loss@1=0.5 loss@2=0.5 loss@3=0.5"},
    {"followed_end", .script = "", .from = "protocol", .extra = FOLLOWED, .verdict = "crashed",
     .feed = METRIC("1"), .reason = "its events ended without 'done'"},
    {"followed_failed", .script = "", .from = "protocol", .extra = FOLLOWED, .verdict = "failed",
     .feed = "{\"event\":\"done\",\"status\":\"failed\"}\n", .reason = "it gave no reason"},
    {"followed_text", .script = "", .from = "protocol", .extra = FOLLOWED, .verdict = "failed",
     .feed = "{\"event\":\"error\",\"text\":\"no memory\"}\n", .reason = "no memory"},
    {"followed_ok_after_all", .script = "", .from = "protocol", .extra = FOLLOWED, .verdict = "ok",
     .feed = "{\"event\":\"error\",\"text\":\"no memory\"}\n" DONE_LINE},
    {"followed_bad", .script = "", .from = "protocol", .extra = FOLLOWED, .verdict = "ok",
     .feed = "nonsense\n{\"event\":\"metric\",\"name\":\"a b\",\"step\":1,\"value\":1}\n" DONE_LINE,
     .check = check_left_out},
    {"followed_term", .script = "", .from = "protocol", .extra = FOLLOWED, .poke = HOST_TERM,
     .verdict = "preempted", .reason = "its recorder received Terminated", .early = PHASE_LINE},
    {"followed_hup", .script = "", .from = "protocol", .extra = FOLLOWED, .poke = HOST_HUP,
     .verdict = "cancelled", .reason = "its recorder received Hangup", .early = PHASE_LINE},
    {"followed_int", .script = "", .from = "protocol", .extra = FOLLOWED, .poke = HOST_INT,
     .verdict = "cancelled", .reason = "interrupted from the keyboard", .early = PHASE_LINE},
    {"followed_dead", .script = "", .from = "protocol",
     .extra = "{\"follow\":{\"boot_id\":\"x\",\"pid\":99999999,\"start\":1}}", .verdict = "crashed",
     .reason = "process 99999999 ended without 'done'"},
    {"sh_deaf", .from = "lines", .script = "trap '' TERM; while :; do sleep 1; done",
     .extra = LIMIT, .verdict = "timeout", .reason = "was killed"},
};

/* "manifest" in `extra` is merged into the manifest instead of replacing it. */
static void merge_manifest(struct trial_case *row)
{
    g_autoptr(json_t) extra = json_loads(row->extra ? row->extra : "{}", 0, NULL);
    json_t *part = json_object_get(extra, "manifest");
    if (!part)
        return;
    g_autoptr(json_t) whole = row->how ? json_deep_copy(misbehave_manifest) : wrapped_manifest(row);
    json_object_update(whole, part);
    json_object_set(extra, "manifest", whole);
    row->extra = json_dumps(extra, 0);
}

static void end_trial(struct trial_case *row, int64_t until_ns)
{
    int status = 0;
    pid_t pid;
    while ((pid = waitpid(row->pid, &status, WNOHANG)) == 0 && orch_mono_ns() < until_ns)
        wait_ms(5);
    if (pid == 0) {
        kill(row->pid, SIGKILL);
        waitpid(row->pid, &status, 0);
    }
    row->exit_status = pid == 0 ? -1 : status;
    if (row->poke != RUNNER_DIES && row->stdin_fd >= 0)
        close(row->stdin_fd);
    read_events(row);
}

static void test_row(void **state)
{
    struct trial_case *row = *state;
    json_t *end = find_event(row, "end", 0);
    if (row->verdict) {
        assert_int_equal(row->exit_status, 0);
        assert_non_null(end);
        assert_true(end == row->events->pdata[row->events->len - 1]);
        assert_null(find_event(row, "end", 1));
        const char *reason = orch_json_text(end, "reason", NULL);
        if (strcmp(orch_json_text(end, "verdict", ""), row->verdict) != 0)
            fail_msg("%s: expected %s, found %s (%s)", row->name, row->verdict,
                     orch_json_text(end, "verdict", ""), reason ? reason : "no reason");
        if (row->reason ? !reason || !strstr(reason, row->reason) : reason != NULL)
            fail_msg("%s: the reason is '%s'", row->name, reason ? reason : "none");
        assert_true(json_number_value(json_object_get(end, "wall_ms")) < 5000);
    }
    assert_true(row->events->len > 0 && find_event(row, "start", 0) == row->events->pdata[0]);
    g_autofree char *points = all_points(row);
    if (row->points && strcmp(points, row->points) != 0)
        fail_msg("%s: points\n  %s, expected\n  %s", row->name, points, row->points);
    if (row->check)
        row->check(row);
}

/* ---- describe and batch -----------------------------------------------------------------------
 */

struct answer {
    char *output, *errors;
    int status;
};

/* Runs orch-host with an option, `input` on its standard input. */
static struct answer ask(const char *option, const char *plugin, const char *input)
{
    g_autofree char *path =
        g_strdup_printf("%s/tests/plugins/%s.so", g_getenv("ORCH_BUILD_DIR"), plugin);
    g_autofree char *questions = g_build_filename(scratch, "questions", NULL);
    assert_true(orch_file_write(questions, input, strlen(input), false, NULL));
    g_autofree char *command =
        g_strdup_printf("'%s' %s '%s' <'%s'", host_program, option, path, questions);
    char *argv[] = {(char *)"/bin/sh", (char *)"-c", command, NULL};
    struct answer answer = {0};
    assert_true(g_spawn_sync(NULL, argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &answer.output,
                             &answer.errors, &answer.status, NULL));
    return answer;
}

static void answer_clear(struct answer *answer)
{
    g_free(answer->output);
    g_free(answer->errors);
}

static void test_unloadable(void **state)
{
    (void)state;
    static const struct {
        const char *plugin, *says[3];
    } rows[] = {
        {"bad_abi", {"bad_abi.so'", "built for ABI 2, this orch accepts 1", "hint: rebuild"}},
        {"bad_magic", {"'magic'", "expected 0x47554c504843524f", "found 0x0000000000000000"}},
        {"short_struct", {"'struct_bytes'", "expected at least", "hint: begin the descriptor"}},
        {"short_stride", {"'param_stride'", ", found 8", "hint: "}},
        {"no_symbol", {"no symbol 'orch_plugin_v1'", "ORCH_PLUGIN_EXPORT", "hint: "}},
        {"next_major", {"built for ABI 2", "accepts 1", "hint: rebuild"}},
        {"undefined_symbol", {"undefined symbol", "this_symbol_is_nowhere", "hint: link"}},
        {"no_run", {"'run'", "expected a function, found NULL", "hint: "}},
        {"late_param", {"parameter 'late'", "8 bytes at offset 12", "16 bytes"}},
        {"not_there", {"not_there.so'", "No such file", "cannot load"}},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct answer answer = ask("--describe", rows[i].plugin, "");
        assert_int_not_equal(answer.status, 0);
        assert_string_equal(answer.output, "");
        for (size_t j = 0; j < 3; j++)
            if (!strstr(answer.errors, rows[i].says[j]))
                fail_msg("%s: no '%s' in: %s", rows[i].plugin, rows[i].says[j], answer.errors);
        answer_clear(&answer);
    }
}

#define CHECK(id, how, more)                                                                       \
    "{\"do\":\"check\",\"id\":" id ",\"params\":{\"how\":\"" how "\"" more "}}\n"

static void test_batch(void **state)
{
    (void)state;
    struct answer answer =
        ask("--batch", "misbehave",
            "{\"do\":\"hello\",\"protocol\":1}\n" CHECK("1", "nothing", "")
                CHECK("2", "refuse",
                      "") "{\"do\":\"check\",\"id\":3,\"smoke\":true,\"params\":{"
                          "\"how\":\"refuse\"}}\n"
                          "{\"do\":\"cost\",\"id\":4,\"params\":{\"how\":\"x\"}}\n"
                          "{\"do\":\"cost\",\"id\":5,\"params\":{\"how\":\"no_cost\"}}\n" CHECK(
                              "6", "nothing", ",\"colour\":1") "nonsense\n{\"do\":\"sing\"}\n");
    assert_int_equal(answer.status, 0);
    g_auto(GStrv) lines = g_strsplit(answer.output, "\n", -1);
    static const char *const says[] = {
        "\"event\":\"manifest\"",
        "\"id\":1",
        "\"text\":\"not this way\"",
        "\"text\":\"not even as smoke\"",
        "\"cost\":{\"network\":\"resnet20\",\"images\":50000,\"epochs\":2.5}",
        "\"cost\":null,\"text\":",
        "has no parameter 'colour'",
        "\"event\":\"error\"",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(says); i++)
        if (!lines[i] || !strstr(lines[i], says[i]))
            fail_msg("line %zu: no '%s' in: %s", i, says[i], lines[i] ? lines[i] : "nothing");
    assert_string_equal(lines[G_N_ELEMENTS(says)], "");
    assert_non_null(strstr(answer.errors, "a plugin that prints in check"));
    answer_clear(&answer);
}

static void test_batch_crashes(void **state)
{
    (void)state;
    static const char *const questions[] = {
        CHECK("1", "crash_check", ""),
        "{\"do\":\"cost\",\"id\":1,\"params\":{\"how\":\"crash_cost\"}}\n"};
    for (size_t i = 0; i < G_N_ELEMENTS(questions); i++) {
        struct answer answer = ask("--batch", "misbehave", questions[i]);
        assert_string_equal(answer.output, "");
        assert_true(WIFEXITED(answer.status) && WEXITSTATUS(answer.status) == 128 + SIGSEGV);
        answer_clear(&answer);
    }
}

/* Asks for the digest of a file; the answer's digest, or "" when it is refused. */
static char *digest_answer(const char *path)
{
    g_autofree char *question = g_strdup_printf(CHECK("1", "digest", ",\"path\":\"%s\""), path);
    struct answer answer = ask("--batch", "misbehave", question);
    g_autoptr(json_t) json = json_loads(answer.output, 0, NULL);
    json_t *input = json_array_get(json_object_get(json, "inputs"), 0);
    char *digest = g_strdup(orch_json_text(input, "sha256", ""));
    if (!*digest && json_is_true(json_object_get(json, "ok")))
        fail_msg("ok without a digest");
    answer_clear(&answer);
    return digest;
}

static void test_digests(void **state)
{
    (void)state;
    g_autofree char *cache = g_build_filename(scratch, "cache", "orch", "digests", NULL);
    g_autofree char *file = g_build_filename(scratch, "data", NULL);
    assert_true(orch_file_write(file, "abc", 3, false, NULL));
    struct timespec old[2] = {{1000000000, 5}, {1000000000, 5}};
    assert_int_equal(utimensat(AT_FDCWD, file, old, 0), 0);
    const char *abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    g_autofree char *first = digest_answer(file);
    assert_string_equal(first, abc);

    /* what the cache holds is believed, as long as the file has not changed */
    g_autofree char *kept = NULL;
    assert_true(orch_file_read(cache, 1 << 20, &kept, NULL, NULL));
    char *at = strstr(kept, abc);
    assert_non_null(at);
    memcpy(at, "0000", 4);
    g_autofree char *corrupt = g_strconcat("junk\n\xff\xfe\n", kept, "half a li", NULL);
    assert_true(orch_file_write(cache, corrupt, strlen(corrupt), false, NULL));
    g_autofree char *second = digest_answer(file);
    assert_true(g_str_has_prefix(second, "0000"));
    old[1].tv_nsec = 6;
    assert_int_equal(utimensat(AT_FDCWD, file, old, 0), 0);
    g_autofree char *third = digest_answer(file);
    assert_string_equal(third, abc);

    g_autofree char *missing = g_strconcat(file, "-missing", NULL);
    g_autofree char *none = digest_answer(missing);
    assert_string_equal(none, "");
}

/* A question without an end is refused, and the plugin's side ends. */
static void test_long_question(void **state)
{
    (void)state;
    g_autofree char *long_text = g_strnfill(1200000, 'x');
    struct answer answer = ask("--batch", "misbehave", long_text);
    assert_int_not_equal(answer.status, 0);
    assert_string_equal(answer.output, "");
    if (!strstr(answer.errors, "a question longer than 1048576 bytes"))
        fail_msg("the error is '%s'", answer.errors);
    answer_clear(&answer);
    answer = ask("--batch", "bad_abi", "");
    assert_int_not_equal(answer.status, 0);
    assert_non_null(strstr(answer.output, "\"event\":\"error\""));
    assert_non_null(strstr(answer.output, "built for ABI 2"));
    answer_clear(&answer);
}

/* A cache of digests that has grown too long loses its older half; one that is far too long begins
 * anew; one that cannot be written is done without. */
static void test_long_cache(void **state)
{
    (void)state;
    g_autofree char *cache = g_build_filename(scratch, "cache", "orch", "digests", NULL);
    g_autofree char *file = g_build_filename(scratch, "data2", NULL);
    const char *abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    struct timespec old[2] = {{1000000000, 5}, {1000000000, 5}};
    static const size_t sizes[] = {CACHE_LIMIT + 1000, 5 * CACHE_LIMIT};
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autofree char *lines = g_malloc(sizes[i]);
        struct stat info;
        memset(lines, 'x', sizes[i]);
        for (size_t at = 99; at < sizes[i]; at += 100)
            lines[at] = '\n';
        assert_true(orch_file_write(cache, lines, sizes[i], false, NULL));
        assert_true(orch_file_write(file, "abc", 3, false, NULL));
        old[1].tv_nsec++;
        assert_int_equal(utimensat(AT_FDCWD, file, old, 0), 0);
        g_autofree char *digest = digest_answer(file);
        assert_string_equal(digest, abc);
        if (i == 0) {
            assert_int_equal(stat(cache, &info), 0);
            assert_in_range(info.st_size, CACHE_LIMIT / 3, CACHE_LIMIT);
        } else {
            assert_int_equal(access(cache, F_OK), -1);
        }
    }
    assert_int_equal(mkdir(cache, 0700), 0);
    old[1].tv_nsec++;
    assert_int_equal(utimensat(AT_FDCWD, file, old, 0), 0);
    g_autofree char *digest = digest_answer(file);
    assert_string_equal(digest, abc);
    assert_int_equal(rmdir(cache), 0);
}

/* A trial runs once, and one that cannot be read is an error of the host. */
static void test_refused_trials(void **state)
{
    (void)state;
    g_autofree char *again =
        g_strdup_printf("'%s' '%s/nothing' </dev/null 2>&1", host_program, scratch);
    g_autofree char *nowhere =
        g_strdup_printf("'%s' '%s/nowhere' </dev/null 2>&1", host_program, scratch);
    const char *commands[] = {again, nowhere};
    const char *says[] = {"cannot create journal", "cannot read"};
    for (int i = 0; i < 2; i++) {
        char *argv[] = {(char *)"/bin/sh", (char *)"-c", (char *)(uintptr_t)commands[i], NULL};
        g_autofree char *output = NULL;
        int status = 0;
        assert_true(g_spawn_sync(NULL, argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &output, NULL,
                                 &status, NULL));
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
        assert_non_null(strstr(output, says[i]));
    }
}

/* ---- all --------------------------------------------------------------------------------------
 */

static int run_all(void **state)
{
    (void)state;
    struct answer answer = ask("--describe", "misbehave", "");
    misbehave_manifest = json_loads(answer.output, 0, NULL);
    if (!misbehave_manifest)
        return -1;
    answer_clear(&answer);
    for (size_t i = 0; i < G_N_ELEMENTS(CASES); i++) {
        merge_manifest(&CASES[i]);
        start_trial(&CASES[i]);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(CASES); i++)
        if (CASES[i].poke != LEAVE_ALONE)
            poke(&CASES[i]);
    for (size_t i = 0; i < G_N_ELEMENTS(CASES); i++)
        if (CASES[i].feed)
            feed(&CASES[i]);
    int64_t until_ns = orch_mono_ns() + INT64_C(30000000000);
    for (size_t i = 0; i < G_N_ELEMENTS(CASES); i++)
        end_trial(&CASES[i], until_ns);
    return 0;
}

static int clean_up(void **state)
{
    (void)state;
    return orch_tree_remove(scratch, NULL) ? 0 : -1;
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    g_autofree char *program = g_build_filename(g_getenv("ORCH_BUILD_DIR"), "orch-host", NULL);
    g_autofree char *folder = g_dir_make_tmp("orch-host-XXXXXX", NULL);
    g_autofree char *cache = g_build_filename(folder, "cache", NULL);
    g_setenv("XDG_CACHE_HOME", cache, TRUE);
    g_setenv("ASAN_OPTIONS", "handle_segv=0", TRUE); /* in a sanitizer's build a crash is a crash */
    host_program = program;
    scratch = folder;
    struct CMUnitTest tests[G_N_ELEMENTS(CASES) + 7] = {
        cmocka_unit_test(test_unloadable),     cmocka_unit_test(test_batch),
        cmocka_unit_test(test_batch_crashes),  cmocka_unit_test(test_digests),
        cmocka_unit_test(test_refused_trials), cmocka_unit_test(test_long_question),
        cmocka_unit_test(test_long_cache),
    };
    for (size_t i = 0; i < G_N_ELEMENTS(CASES); i++)
        tests[7 + i] = (struct CMUnitTest){
            .name = CASES[i].name, .test_func = test_row, .initial_state = &CASES[i]};
    return cmocka_run_group_tests(tests, run_all, clean_up);
}
