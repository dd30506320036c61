/* SPDX-License-Identifier: MIT */
/* A plugin for the tests of core/plugin: does in check, cost and run what its parameters say. */
#include <orch/plugin.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct params {
    const char *mood;
    int64_t number;
    bool late; /* show the mood in run, and not in check */
};

static const char *const MOODS[] = {"fine",       "refuse", "crash", "hang",    "leave", "noise",
                                    "undeclared", "random", "deaf",  "worried", NULL};

static const struct orch_param PARAMS[] = {
    ORCH_PARAM(struct params, mood, ORCH_ENUM, .def = "fine", .choices = MOODS),
    ORCH_PARAM(struct params, number, ORCH_INT, .def = "1", .min = "0"),
    ORCH_PARAM(struct params, late, ORCH_BOOL, .def = "false"),
};

static const struct orch_metric METRICS[] = {
    {.name = "loss", .better = ORCH_BETTER_MIN, .step_unit = "step"},
    {.name = "time", .unit = "s"},
};

static void sulk(const char *mood)
{
    if (strcmp(mood, "crash") == 0) {
        fputs("about to crash\n", stderr);
        signal(SIGSEGV, SIG_DFL); /* a sanitizer would take it */
        raise(SIGSEGV);
    }
    if (strcmp(mood, "leave") == 0)
        _exit(3);
    while (strcmp(mood, "hang") == 0)
        pause();
}

static int check(const void *params, const struct orch_host *host)
{
    const struct params *p = params;
    if (p->late)
        return ORCH_OK;
    if (strcmp(p->mood, "refuse") == 0) {
        host->fail(host, "not in the mood");
        return ORCH_FAILED;
    }
    if (strcmp(p->mood, "noise") == 0) {
        puts("a line on stdout");
        puts("{\"event\":\"checked\"}");
        fflush(stdout);
    }
    if (strcmp(p->mood, "worried") == 0) {
        host->log(host, ORCH_LOG_INFO, "all is well");
        host->log(host, ORCH_LOG_WARNING, "this could take a while");
    }
    sulk(p->mood);
    host->input(host, "data", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    return ORCH_OK;
}

static int cost(const void *params, struct orch_cost *out)
{
    const struct params *p = params;
    sulk(p->mood);
    out->network = "lenet5";
    out->images = 1000 * p->number;
    out->batch = 10;
    out->epochs = 2;
    out->training = 1;
    return ORCH_OK;
}

static int run(void *state, const void *params, const struct orch_host *host)
{
    const struct params *p = params;
    (void)state;
    sulk(p->mood);
    if (strcmp(p->mood, "deaf") == 0 && !host->smoke(host)) {
        signal(SIGTERM, SIG_IGN);
        for (;;)
            pause();
    }
    const char *name = strcmp(p->mood, "undeclared") == 0 ? "lots" : "loss";
    double value = strcmp(p->mood, "random") == 0 ? (double)getpid()
                                                  : (double)(host->derive_seed(host, "x") % 1000);
    host->metric(host, name, 0, value);
    host->result(host, "time", (double)getpid()); /* never the same: a time */
    while (!host->smoke(host) && !host->cancelled(host))
        usleep(1000);
    return host->smoke(host) ? ORCH_OK : ORCH_CANCELLED;
}

static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD,
    .name = "moody",
    .version = "1.2.3",
    .summary = "does what its parameters say",
    .licence = "MIT",
    .params_bytes = sizeof(struct params),
    ORCH_TABLE(params, PARAMS),
    ORCH_TABLE(metrics, METRICS),
    .check = check,
    .cost = cost,
    .run = run,
};
ORCH_PLUGIN_EXPORT(PLUGIN)
