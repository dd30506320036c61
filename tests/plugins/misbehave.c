/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plugin that does wrong what `how` says, for the tests of orch-host. */
#include <orch/plugin.h>

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Where orch-host listens; a plugin has no business there. */
enum { EVENTS_FD = 3 };

struct params {
    const char *how;
    const char *path;
    struct orch_list numbers;
};

static const struct orch_param PARAMS[] = {
    ORCH_PARAM(struct params, how, ORCH_STRING, .help = "what to do wrong"),
    ORCH_PARAM(struct params, path, ORCH_PATH, .flags = ORCH_PARAM_OPTIONAL),
    ORCH_PARAM(struct params, numbers, ORCH_INT | ORCH_LIST, .def = "[]"),
};

static const struct orch_metric METRICS[] = {
    {.name = "value", .step_unit = "step"},
    {.name = "answer", .help = "a result"},
};

static const struct orch_artifact ARTIFACTS[] = {{.name = "file"}};

static void crash(void)
{
    raise(SIGSEGV);
}

static void wait_ms(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static void write_raw(const char *text, size_t length)
{
    while (length) {
        ssize_t n = write(EVENTS_FD, text, length);
        if (n <= 0)
            _exit(9);
        text += n;
        length -= (size_t)n;
    }
}

static void write_line(const char *text)
{
    write_raw(text, strlen(text));
}

/* The number of a process goes to the file work/NAME, so that the test can see whether it lives. */
static void leave_pid(const char *name, pid_t pid)
{
    FILE *file = fopen(name, "w");
    if (file) {
        fprintf(file, "%d\n", (int)pid);
        fclose(file);
    }
}

/* A process that outlives this one, with all of its descriptors and deaf to SIGTERM. */
static void leave_grandchild(bool with_session)
{
    pid_t pid = fork();
    if (pid == 0) {
        if (with_session)
            setsid();
        signal(SIGTERM, SIG_IGN);
        for (;;)
            pause();
    }
    leave_pid("pid", pid);
}

/* ---- one function a misdeed -------------------------------------------------------------------
 */

static int do_nothing(const struct params *params, const struct orch_host *host)
{
    (void)params, (void)host;
    return ORCH_OK;
}

static int do_crash(const struct params *params, const struct orch_host *host)
{
    (void)params;
    for (int i = 0; i < 118; i++)
        host->metric(host, "value", i, i);
    host->note(host, "soon"); /* and what came before is on its way */
    fputs("last words\n", stderr);
    crash();
    return ORCH_OK;
}

static int do_hang(const struct params *params, const struct orch_host *host)
{
    (void)params, (void)host;
    signal(SIGTERM, SIG_IGN);
    leave_pid("pid", getpid());
    for (;;)
        wait_ms(1000);
    return ORCH_OK;
}

static int do_hang_with_family(const struct params *params, const struct orch_host *host)
{
    leave_grandchild(true);
    rename("pid", "grandchild");
    return do_hang(params, host);
}

static int do_wait(const struct params *params, const struct orch_host *host)
{
    (void)params;
    host->phase(host, "waiting");
    for (int i = 0; i < 5000 && !host->cancelled(host); i++)
        wait_ms(2);
    return ORCH_OK; /* as simple plugins do, though they were cancelled */
}

static int do_wait_a_little(const struct params *params, const struct orch_host *host)
{
    (void)params;
    host->phase(host, "waiting");
    for (int i = 0; i < 5000 && access("poked", F_OK) != 0; i++)
        wait_ms(2);
    wait_ms(100); /* whatever its host does about it */
    return ORCH_OK;
}

static int do_exit(const struct params *params, const struct orch_host *host)
{
    (void)params, (void)host;
    _exit(0);
}

static int do_exit_3(const struct params *params, const struct orch_host *host)
{
    (void)params, (void)host;
    _exit(3);
}

static int do_huge_line(const struct params *params, const struct orch_host *host)
{
    (void)host, (void)params;
    static char line[1 << 20];
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\n';
    write_raw(line, sizeof line);
    wait_ms(60000);
    return ORCH_OK;
}

static int do_bad_utf8(const struct params *params, const struct orch_host *host)
{
    (void)params, (void)host;
    write_line("{\"event\":\"note\",\"text\":\"\xc3\x28\"}\n");
    return ORCH_OK;
}

static int do_partial_line(const struct params *params, const struct orch_host *host)
{
    (void)params, (void)host;
    write_line("{\"event\":\"done\",\"status\":\"ok\"}\n{\"event\":\"no");
    _exit(0);
}

static int do_partial_crash(const struct params *params, const struct orch_host *host)
{
    (void)params, (void)host;
    write_line("{\"event\":\"no");
    crash();
    return ORCH_OK;
}

static int do_done_twice(const struct params *params, const struct orch_host *host)
{
    (void)params, (void)host;
    write_line("{\"event\":\"done\",\"status\":\"ok\"}\n");
    return ORCH_OK;
}

static int do_forge(const struct params *params, const struct orch_host *host)
{
    (void)params, (void)host;
    write_line("{\"event\":\"end\",\"verdict\":\"ok\"}\n");
    return ORCH_OK;
}

static int do_nan(const struct params *params, const struct orch_host *host)
{
    (void)params;
    host->metric(host, "value", 0, (double)NAN);
    host->metric(host, "value", 1, -(double)INFINITY);
    host->result(host, "answer", (double)NAN);
    return ORCH_OK;
}

static int do_undeclared(const struct params *params, const struct orch_host *host)
{
    (void)params;
    host->metric(host, "valu", 0, 1);
    return ORCH_OK;
}

static int do_undeclared_result(const struct params *params, const struct orch_host *host)
{
    (void)params;
    host->result(host, "question", 1);
    return ORCH_OK;
}

static int do_negative_step(const struct params *params, const struct orch_host *host)
{
    (void)params;
    host->metric(host, "value", -1, 1);
    return ORCH_OK;
}

static int do_grandchild(const struct params *params, const struct orch_host *host)
{
    (void)params, (void)host;
    leave_grandchild(false);
    return ORCH_OK;
}

static int do_grandchild_session(const struct params *params, const struct orch_host *host)
{
    (void)params, (void)host;
    leave_grandchild(true);
    return ORCH_OK;
}

static int do_memory(const struct params *params, const struct orch_host *host)
{
    (void)params, (void)host;
    enum { BYTES = 200 << 20, PAGE = 4096 };
    volatile char *bytes = malloc(BYTES);
    for (int i = 0; bytes && i < BYTES; i += PAGE)
        bytes[i] = 1;
    wait_ms(60000);
    return ORCH_OK;
}

static int do_endless_output(const struct params *params, const struct orch_host *host)
{
    (void)params;
    for (long i = 0; !host->cancelled(host); i++)
        printf("line %ld of a log without end\n", i);
    printf("the last line\n");
    return ORCH_CANCELLED;
}

static int do_endless_log(const struct params *params, const struct orch_host *host)
{
    (void)params;
    while (!host->cancelled(host))
        host->log(host, ORCH_LOG_INFO, "a line of a log without end");
    return ORCH_CANCELLED;
}

static int do_artifact(const struct params *params, const struct orch_host *host)
{
    (void)params;
    FILE *file = fopen("out.txt", "w");
    if (file) {
        fputs("abc", file);
        fclose(file);
    }
    host->artifact(host, "file", "out.txt");
    return ORCH_OK;
}

static int do_missing_artifact(const struct params *params, const struct orch_host *host)
{
    (void)params;
    host->artifact(host, "file", "nowhere.txt");
    return ORCH_OK;
}

static int do_fail(const struct params *params, const struct orch_host *host)
{
    (void)params;
    host->fail(host, "first");
    host->fail(host, "the roof is on fire");
    return ORCH_FAILED;
}

static int do_skip(const struct params *params, const struct orch_host *host)
{
    (void)params;
    host->fail(host, "no CUDA device");
    return ORCH_SKIPPED;
}

static int do_diverge(const struct params *params, const struct orch_host *host)
{
    (void)params, (void)host;
    return ORCH_DIVERGED;
}

static int do_odd_status(const struct params *params, const struct orch_host *host)
{
    (void)params, (void)host;
    return 99;
}

static int do_negative_status(const struct params *params, const struct orch_host *host)
{
    (void)params, (void)host;
    return -1;
}

/* Where a text is missing it is empty; a metric without a name is none. */
static int do_null_texts(const struct params *params, const struct orch_host *host)
{
    (void)params;
    host->note(host, NULL);
    host->metric(host, NULL, 1, 1);
    host->log(host, -5, "below");
    host->log(host, 99, "above");
    if (host->derive_seed(host, NULL) != host->derive_seed(host, "") ||
        host->file_digest(host, NULL))
        return ORCH_SKIPPED;
    host->fail(host, NULL);
    host->input(host, NULL, NULL);
    return ORCH_FAILED;
}

static int do_null_result(const struct params *params, const struct orch_host *host)
{
    (void)params;
    host->result(host, NULL, 1);
    return ORCH_OK;
}

static int do_null_artifact(const struct params *params, const struct orch_host *host)
{
    (void)params;
    host->artifact(host, NULL, NULL);
    return ORCH_OK;
}

static int do_undeclared_artifact(const struct params *params, const struct orch_host *host)
{
    (void)params;
    host->artifact(host, "fil", "out.txt");
    return ORCH_OK;
}

static int do_artifact_twice(const struct params *params, const struct orch_host *host)
{
    host->artifact(host, "file", "nowhere.txt");
    return do_artifact(params, host);
}

static int do_bad_input(const struct params *params, const struct orch_host *host)
{
    (void)params;
    host->input(host, "data", "not a digest");
    return ORCH_FAILED;
}

/* 200,000 bytes, of two a character. */
static int do_long_note(const struct params *params, const struct orch_host *host)
{
    (void)params;
    static char text[200001];
    for (int i = 0; i < 200000; i += 2)
        memcpy(text + i, "\xc3\xa9", 2);
    host->note(host, text);
    return ORCH_OK;
}

/* The point is sent before the process ends without a word. */
static int do_late_point(const struct params *params, const struct orch_host *host)
{
    (void)params;
    host->metric(host, "value", 1, 0.5);
    wait_ms(200);
    _exit(0);
}

static int do_progress(const struct params *params, const struct orch_host *host)
{
    (void)params;
    host->progress(host, (double)NAN, 10);
    host->progress(host, 1, (double)INFINITY);
    host->progress(host, 1, 10);
    host->progress(host, 2, 10); /* too soon */
    host->progress(host, 3, 0);  /* too soon, of an unknown total */
    host->progress(host, 10, 10);
    return ORCH_OK;
}

static void on_alarm(int number)
{
    (void)number;
}

/* Interrupts system calls a thousand times a second. */
static void set_alarms(void)
{
    struct sigaction action = {.sa_handler = on_alarm}; /* without SA_RESTART */
    struct itimerval every = {{0, 1000}, {0, 1000}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
}

static int do_alarms(const struct params *params, const struct orch_host *host)
{
    (void)params;
    set_alarms();
    for (int i = 0; i < 20000; i++)
        host->metric(host, "value", i, i);
    return ORCH_OK;
}

static int do_no_checkpoint(const struct params *params, const struct orch_host *host)
{
    (void)params;
    return host->checkpoint_dir(host) ? ORCH_OK : ORCH_SKIPPED;
}

/* No descriptor of orch-host's parent is open here. */
static int do_descriptors(const struct params *params, const struct orch_host *host)
{
    (void)params;
    for (int fd = 8; fd < 10; fd++)
        if (fcntl(fd, F_GETFD) >= 0) {
            host->fail(host, "an inherited descriptor is open");
            return ORCH_FAILED;
        }
    return ORCH_OK;
}

static bool file_holds(const char *path, const char *word)
{
    static char text[65536];
    int fd = open(path, O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    for (ssize_t i = 0; i < n; i += (ssize_t)strlen(text + i) + 1)
        if (strcmp(text + i, word) == 0)
            return true;
    return false;
}

/* What the outside may rely on: our name, our mark, our seeds, our folders, our CPU. */
static int do_look_around(const struct params *params, const struct orch_host *host)
{
    const char *key = getenv("ORCH_RUN");
    char text[200];
    snprintf(text, sizeof text, "ORCH_RUN=%s", key ? key : "");
    if (!key || !params->path || strcmp(key, params->path) != 0)
        host->fail(host, "no ORCH_RUN");
    else if (!file_holds("/proc/self/environ", text))
        host->fail(host, "no ORCH_RUN in /proc/self/environ");
    else if (!file_holds("/proc/self/cmdline", "orch-plugin misbehave"))
        host->fail(host, "not renamed in /proc/self/cmdline");
    else if (!getenv("HELLO") || strcmp(getenv("HELLO"), "you") != 0)
        host->fail(host, "environment");
    else if (params->numbers.count != 3 || ((const int64_t *)params->numbers.items)[2] != 30)
        host->fail(host, "parameters");
    else if (access(host->checkpoint_dir(host), W_OK) != 0)
        host->fail(host, "no checkpoint folder");
    else if (!host->smoke(host) || getpgrp() != getpid() || getchar() != EOF)
        host->fail(host, "smoke, group or standard input");
    else {
        snprintf(text, sizeof text, "seed %llx",
                 (unsigned long long)host->derive_seed(host, "init"));
        host->note(host, text);
        return ORCH_OK;
    }
    return ORCH_FAILED;
}

static const struct misdeed {
    const char *how;
    int (*run)(const struct params *params, const struct orch_host *host);
} MISDEEDS[] = {
    {"nothing", do_nothing},
    {"crash_open", do_nothing},
    {"crash_close", do_nothing},
    {"crash_run", do_crash},
    {"hang", do_hang},
    {"hang_with_family", do_hang_with_family},
    {"wait", do_wait},
    {"wait_a_little", do_wait_a_little},
    {"exit", do_exit},
    {"exit_3", do_exit_3},
    {"huge_line", do_huge_line},
    {"bad_utf8", do_bad_utf8},
    {"partial_line", do_partial_line},
    {"partial_crash", do_partial_crash},
    {"done_twice", do_done_twice},
    {"forge", do_forge},
    {"nan", do_nan},
    {"undeclared", do_undeclared},
    {"undeclared_result", do_undeclared_result},
    {"negative_step", do_negative_step},
    {"grandchild", do_grandchild},
    {"grandchild_session", do_grandchild_session},
    {"memory", do_memory},
    {"endless_output", do_endless_output},
    {"endless_log", do_endless_log},
    {"artifact", do_artifact},
    {"missing_artifact", do_missing_artifact},
    {"fail", do_fail},
    {"skip", do_skip},
    {"diverge", do_diverge},
    {"look_around", do_look_around},
    {"odd_status", do_odd_status},
    {"negative_status", do_negative_status},
    {"null_texts", do_null_texts},
    {"null_result", do_null_result},
    {"null_artifact", do_null_artifact},
    {"undeclared_artifact", do_undeclared_artifact},
    {"artifact_twice", do_artifact_twice},
    {"bad_input", do_bad_input},
    {"long_note", do_long_note},
    {"late_point", do_late_point},
    {"progress", do_progress},
    {"alarms", do_alarms},
    {"no_checkpoint", do_no_checkpoint},
    {"descriptors", do_descriptors},
};

/* ---- hooks ------------------------------------------------------------------------------------
 */

static int check(const void *pointer, const struct orch_host *host)
{
    const struct params *params = pointer;
    puts("a plugin that prints in check");
    fflush(stdout);
    if (strcmp(params->how, "crash_check") == 0)
        crash();
    if (strcmp(params->how, "refuse") == 0) {
        host->fail(host, host->smoke(host) ? "not even as smoke" : "not this way");
        return ORCH_FAILED;
    }
    if (strcmp(params->how, "alarms") == 0)
        set_alarms();
    if (strcmp(params->how, "talk") == 0) { /* there is no trial yet */
        host->note(host, "hello");
        host->metric(host, "value", 1, 1);
        if (host->cancelled(host) || host->checkpoint_dir(host))
            return ORCH_FAILED;
    }
    if (strcmp(params->how, "digest") == 0) {
        const char *digest = host->file_digest(host, params->path);
        if (!digest)
            return ORCH_FAILED;
        host->input(host, "data", digest);
    }
    return ORCH_OK;
}

static int cost(const void *pointer, struct orch_cost *out)
{
    const struct params *params = pointer;
    if (strcmp(params->how, "crash_cost") == 0)
        crash();
    if (strcmp(params->how, "no_cost") == 0)
        return ORCH_FAILED;
    out->network = "resnet20";
    out->images = 50000;
    out->epochs = 2.5;
    return ORCH_OK;
}

static int open_it(const void *pointer, const struct orch_host *host, void **out_state)
{
    const struct params *params = pointer;
    (void)host;
    if (strcmp(params->how, "crash_open") == 0)
        crash();
    if (strcmp(params->how, "skip_open") == 0)
        return ORCH_SKIPPED;
    *out_state = (void *)(uintptr_t)pointer;
    return ORCH_OK;
}

static int run(void *state, const void *pointer, const struct orch_host *host)
{
    const struct params *params = pointer;
    (void)state;
    for (size_t i = 0; i < sizeof MISDEEDS / sizeof MISDEEDS[0]; i++)
        if (strcmp(MISDEEDS[i].how, params->how) == 0)
            return MISDEEDS[i].run(params, host);
    host->fail(host, "an unknown misdeed");
    return ORCH_FAILED;
}

static void close_it(void *state)
{
    const struct params *params = state;
    if (strcmp(params->how, "crash_close") == 0)
        crash();
}

static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD,
    .name = "misbehave",
    .version = "1.0.0",
    .summary = "does wrong what it is told",
    .licence = "GPL-3.0-or-later",
    .params_bytes = sizeof(struct params),
    ORCH_TABLE(params, PARAMS),
    ORCH_TABLE(metrics, METRICS),
    ORCH_TABLE(artifacts, ARTIFACTS),
    .check = check,
    .cost = cost,
    .open = open_it,
    .run = run,
    .close = close_it,
};

ORCH_PLUGIN_EXPORT(PLUGIN)
