/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plugin that crashes in the way that `how` says, for the tests of backtraces. Its functions are
 * not inlined, so that each has a frame of its own. */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include <link.h>
#include <orch/plugin.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct params {
    const char *how;
};
static const struct orch_param PARAMS[] = {
    ORCH_PARAM(struct params, how, ORCH_STRING, .def = "null")};
static const struct orch_metric METRICS[] = {{.name = "value", .step_unit = "step"}};
static volatile int zero;
static int *volatile nowhere;
__attribute__((noinline)) static int poke(int n)
{
    return *nowhere + n;
}
__attribute__((noinline)) static int step(int n)
{
    return poke(n + 1) + 1;
}
__attribute__((noinline)) static int deep(volatile char *before)
{
    char room[4096];
    memset(room, *before, sizeof room);
    return deep(room) + room[7];
}
static int (*volatile no_function)(int);
static void *in_thread(void *how)
{
    char c = 1;
    return (void *)(long)(strcmp(how, "thread-deep") == 0 ? deep(&c) : step(1));
}
static int hold(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)info, (void)size, (void)data;
    for (;;)
        pause();
    return 0;
}

/* Holds a lock that an unwinder may need. */
static void *hold_loader(void *nothing)
{
    dl_iterate_phdr(hold, NULL);
    return nothing;
}

static int run_one(const char *how)
{
    char c = 1;
    pthread_t thread;
    if (!strcmp(how, "null"))
        return step(1);
    if (!strcmp(how, "deep"))
        return deep(&c);
    if (!strcmp(how, "abort")) {
        fprintf(stderr, "it ends here\n");
        abort();
    }
    if (!strcmp(how, "fpe"))
        return 5 / zero;
    if (!strcmp(how, "jump"))
        return no_function(3) + 1;
    if (!strcmp(how, "raise"))
        raise(SIGBUS);
    if (!strcmp(how, "fork")) {
        if (fork() == 0)
            step(1);
        sleep(1);
        return 0;
    }
    if (!strcmp(how, "locked")) {
        pthread_create(&thread, NULL, hold_loader, NULL);
        usleep(100000);
        return step(1);
    }
    if (!strncmp(how, "thread", 6)) {
        pthread_create(&thread, NULL, in_thread, (void *)how);
        pthread_join(thread, NULL);
    }
    if (!strcmp(how, "free")) {
        char *volatile pointer = malloc(10);
        pointer += 3;
        free(pointer);
    }
    return 0;
}
static int run(void *state, const void *p, const struct orch_host *host)
{
    (void)state;
    host->metric(host, "value", 1, 2.0);
    const struct params *params = p;
    return run_one(params->how) == 12345 ? ORCH_FAILED : ORCH_OK;
}
static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD,
    .name = NAME,
    .version = "1.0.0",
    .summary = "crashes as it is told",
    .licence = "GPL-3.0-or-later",
    .params_bytes = sizeof(struct params),
    ORCH_TABLE(params, PARAMS),
    ORCH_TABLE(metrics, METRICS),
    .run = run,
};

ORCH_PLUGIN_EXPORT(PLUGIN)
