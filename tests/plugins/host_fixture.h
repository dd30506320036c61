/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trials of orch-host for tests: a table of rows, all started at once; then each one's journal is
 * looked at. */
#ifndef ORCH_TESTS_HOST_FIXTURE_H
#define ORCH_TESTS_HOST_FIXTURE_H

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

static const char *host_program;   /* build/orch-host */
static const char *scratch;        /* folder of all trials */
static json_t *misbehave_manifest; /* as orch-host describes it */

/* ---- running a trial --------------------------------------------------------------------------
 */

enum poke {
    LEAVE_ALONE,
    CANCEL,
    CANCEL_TWICE,
    PRUNE,
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
    const char *blocker; /* files, by commas, that are there before the trial's folder is used */
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

static inline json_t *wrapped_manifest(const struct trial_case *row)
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

static inline void write_trial(const struct trial_case *row)
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

static inline void say(const struct trial_case *row, const char *text)
{
    assert_true(write(row->stdin_fd, text, strlen(text)) == (ssize_t)strlen(text));
}

static inline void block(const struct trial_case *row)
{
    g_auto(GStrv) names = g_strsplit(row->blocker, ",", -1);
    for (char **name = names; *name; name++) {
        g_autofree char *path = g_build_filename(row->dir, *name, NULL);
        g_autofree char *folder = g_path_get_dirname(path);
        assert_true(orch_dir_make(folder, NULL));
        assert_true(orch_file_write(path, "", 0, false, NULL));
    }
}

static inline void start_trial(struct trial_case *row)
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

static inline char *journal_text(const struct trial_case *row)
{
    g_autofree char *path = g_build_filename(row->dir, "journal", NULL);
    char *text = NULL;
    return orch_file_read(path, 256 << 20, &text, NULL, NULL) ? text : g_strdup("");
}

static inline void wait_ms(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

#define CANCEL_LINE "{\"do\":\"cancel\"}\n"

/* What no runner says, a line without an end among it, and then what one does. */
static inline void babble(const struct trial_case *row)
{
    g_autofree char *long_line = g_strnfill(70000, 'x');
    say(row, "nonsense\n{\"do\":\"sing\"}\n[]\n");
    say(row, long_line);
    wait_ms(100);
    say(row, "\n" CANCEL_LINE);
}

static inline void write_join(const struct trial_case *row)
{
    g_autofree char *path = g_build_filename(row->dir, "join", NULL);
    int fd = -1;
    for (int i = 0; i < 1000 && fd < 0; i++, wait_ms(5))
        fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    size_t length = strlen(row->join), done = 0;
    for (int i = 0; i < 1000 && fd >= 0 && done < length; i++) {
        ssize_t n = write(fd, row->join + done, MIN(length - done, 4096)); /* PIPE_BUF */
        if (n < 0)
            wait_ms(5);
        done += n > 0 ? (size_t)n : 0;
    }
    if (done < length)
        fail_msg("%s: nobody reads '%s'", row->name, path);
    close(fd);
    bool is_read = false; /* before the program's own events arrive */
    for (int i = 0; i < 2000 && !is_read; i++, wait_ms(5)) {
        g_autofree char *text = journal_text(row);
        is_read = strstr(text, "\"loss\"") != NULL;
    }
    if (!is_read)
        fail_msg("%s: nothing of '%s' was recorded", row->name, path);
}

/* Plays the followed program. */
static inline void feed(struct trial_case *row)
{
    if (row->join)
        write_join(row);
    say(row, row->feed);
    close(row->stdin_fd);
    row->stdin_fd = -1;
}

static inline void poke(struct trial_case *row)
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
    if (row->poke == PRUNE)
        say(row, "{\"do\":\"prune\",\"why\":\"0.6 is worse than \\\"0.7\\\"\"}\n");
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
    g_autofree char *poked = g_build_filename(row->dir, "work", "poked", NULL);
    orch_file_write(poked, "", 0, false, NULL); /* misbehave.c: wait_a_little */
}

static inline void read_events(struct trial_case *row)
{
    g_autofree char *text = journal_text(row);
    row->events = g_ptr_array_new_with_free_func((GDestroyNotify)json_decref);
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
static inline json_t *find_event(const struct trial_case *row, const char *word, int n)
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

static inline char *file_text(const struct trial_case *row, const char *name)
{
    g_autofree char *path = g_build_filename(row->dir, name, NULL);
    char *text = NULL;
    return orch_file_read(path, 256 << 20, &text, NULL, NULL) ? text : NULL;
}

/* Points of all metrics events: how many, and the last value of a name. */
static inline int count_points(const struct trial_case *row, const char *name, json_t **out_last)
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
static inline char *all_points(const struct trial_case *row)
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

static inline void check_dead(const struct trial_case *row, const char *name)
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

/* "manifest" in `extra` is merged into the manifest instead of replacing it. */
static inline void merge_manifest(struct trial_case *row)
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

static inline void end_trial(struct trial_case *row, int64_t until_ns)
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

static inline void test_row(void **state)
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
        assert_true(json_number_value(json_object_get(end, "wall_ms")) < 20000);
    }
    assert_true(row->events->len > 0 && find_event(row, "start", 0) == row->events->pdata[0]);
    g_autofree char *points = all_points(row);
    if (row->points && strcmp(points, row->points) != 0)
        fail_msg("%s: points\n  %s, expected\n  %s", row->name, points, row->points);
    if (row->check)
        row->check(row);
}

/* ---- asking orch-host -----------------------------------------------------------------------
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

static inline void answer_clear(struct answer *answer)
{
    g_free(answer->output);
    g_free(answer->errors);
}

/* ---- all --------------------------------------------------------------------------------------
 */

static struct {
    struct trial_case *rows;
    size_t count;
} host_cases;

static inline int host_run_all(void **state)
{
    (void)state;
    struct answer answer = ask("--describe", "misbehave", "");
    misbehave_manifest = json_loads(answer.output, 0, NULL);
    if (!misbehave_manifest)
        return -1;
    answer_clear(&answer);
    struct trial_case *end = host_cases.rows + host_cases.count;
    for (struct trial_case *row = host_cases.rows; row < end; row++) {
        merge_manifest(row);
        start_trial(row);
    }
    for (struct trial_case *row = host_cases.rows; row < end; row++)
        if (row->poke != LEAVE_ALONE)
            poke(row);
    for (struct trial_case *row = host_cases.rows; row < end; row++)
        if (row->feed)
            feed(row);
    int64_t until_ns = orch_mono_ns() + INT64_C(30000000000);
    for (struct trial_case *row = host_cases.rows; row < end; row++)
        end_trial(row, until_ns);
    return 0;
}

static inline int host_clean_up(void **state)
{
    (void)state;
    return orch_tree_remove(scratch, NULL) ? 0 : -1;
}

/** Runs a test for each row, and then `tests`. Returns the exit status of the program. */
static inline int host_test(struct trial_case *rows, size_t row_count,
                            const struct CMUnitTest *tests, size_t test_count)
{
    signal(SIGPIPE, SIG_IGN);
    g_autofree char *program = g_build_filename(g_getenv("ORCH_BUILD_DIR"), "orch-host", NULL);
    g_autofree char *folder = g_dir_make_tmp("orch-host-XXXXXX", NULL);
    g_autofree char *cache = g_build_filename(folder, "cache", NULL);
    g_setenv("XDG_CACHE_HOME", cache, TRUE);
    g_setenv("ASAN_OPTIONS", "handle_segv=0", TRUE); /* in a sanitizer's build a crash is a crash */
    host_program = program;
    scratch = folder;
    host_cases.rows = rows;
    host_cases.count = row_count;
    struct CMUnitTest *all = g_new0(struct CMUnitTest, row_count + test_count);
    for (size_t i = 0; i < row_count; i++)
        all[i] = (struct CMUnitTest){
            .name = rows[i].name, .test_func = test_row, .initial_state = &rows[i]};
    for (size_t i = 0; i < test_count; i++)
        all[row_count + i] = tests[i];
    int failed =
        _cmocka_run_group_tests("host", all, row_count + test_count, host_run_all, host_clean_up);
    g_free(all);
    return failed;
}

#endif
