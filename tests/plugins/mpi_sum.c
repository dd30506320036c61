/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plugin of W ranks: the sum of their numbers by MPI_Allreduce, reported by rank 0. One of them
 * can be told to end in a wrong way. */
#include <orch/plugin.h>

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct params {
    int64_t workers;
    const char *end; /* how rank `who` ends */
    int64_t who;
    int64_t number; /* of the signal, or exit status */
};

static const char *const ENDS[] = {"well", "signal", "exit",       "hang",     "deaf",
                                   "fail", "skip",   "abort",      "diverged", "silent",
                                   "late", "babble", "unfinished", NULL};

static const struct orch_param PARAMS[] = {
    ORCH_PARAM(struct params, workers, ORCH_INT, .def = "2", .min = "1", .help = "ranks"),
    ORCH_PARAM(struct params, end, ORCH_ENUM, .def = "well", .choices = ENDS, .help = "how"),
    ORCH_PARAM(struct params, who, ORCH_INT, .def = "0", .min = "0", .help = "which rank"),
    ORCH_PARAM(struct params, number, ORCH_INT, .def = "9", .min = "0", .help = "signal or status"),
};

static const struct orch_metric METRICS[] = {
    {.name = "sum", .better = ORCH_BETTER_MAX, .help = "of the ranks' numbers"},
    {.name = "ranks", .help = "that the slot says"},
    {.name = "threads", .help = "of a rank"},
    {.name = "by_step", .step_unit = "step", .help = "the sum again"},
};

static const struct orch_artifact ARTIFACTS[] = {{.name = "ranks", .help = "its file"}};

static int cost(const void *pointer, struct orch_cost *out)
{
    const struct params *params = pointer;
    out->workers = (uint32_t)params->workers;
    return ORCH_OK;
}

static void keep_pid(uint32_t rank)
{
    char name[64];
    snprintf(name, sizeof name, "pid.%u", rank);
    FILE *file = fopen(name, "w");
    if (file) {
        fprintf(file, "%d %d\n", (int)getpid(), (int)getppid());
        fclose(file);
    }
}

static int end_wrongly(const struct params *params, const struct orch_host *host)
{
    if (strcmp(params->end, "signal") == 0)
        kill(getpid(), (int)params->number);
    if (strcmp(params->end, "exit") == 0)
        _exit((int)params->number);
    if (strcmp(params->end, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, (int)params->number);
    if (strcmp(params->end, "deaf") == 0)
        signal(SIGTERM, SIG_IGN);
    while (strcmp(params->end, "deaf") == 0)
        pause();
    if (strcmp(params->end, "silent") == 0)
        return ORCH_FAILED;
    host->fail(host, "told to end this way");
    return strcmp(params->end, "skip") == 0       ? ORCH_SKIPPED
           : strcmp(params->end, "diverged") == 0 ? ORCH_DIVERGED
                                                  : ORCH_FAILED;
}

/* True if one rank is to end before it adds. */
static bool is_wrong(const char *end)
{
    static const char *const others[] = {"well", "babble", "unfinished", "late", "hang"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(others[i], end) == 0)
            return false;
    return true;
}

static int hang(const struct orch_host *host)
{
    host->phase(host, "waiting");
    while (!host->cancelled(host))
        usleep(10000);
    return ORCH_CANCELLED;
}

/* All ranks speak; only rank 0's numbers count. */
static void report(const struct orch_host *host, const struct orch_slot *slot, int sum)
{
    char text[64];
    host->result(host, "sum", sum + (slot->rank ? 1000 : 0));
    host->result(host, "ranks", slot->ranks);
    host->result(host, "threads", slot->threads);
    host->metric(host, "by_step", slot->rank, sum);
    host->phase(host, slot->rank ? "a phase of another rank" : "added");
    host->progress(host, slot->rank + 1, 100);
    host->artifact(host, "ranks", "pid.0");
    snprintf(text, sizeof text, "noted, local %u", slot->local_rank);
    host->note(host, text);
    host->log(host, ORCH_LOG_INFO, "logged");
}

static int run(void *state, const void *pointer, const struct orch_host *host)
{
    const struct params *params = pointer;
    struct orch_slot slot = {.struct_bytes = sizeof slot};
    int rank, sum = 0, status = ORCH_OK;
    (void)state;
    host->slot(host, &slot);
    keep_pid(slot.rank);
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != (int)slot.rank) {
        host->fail(host, "MPI and the host number this rank differently");
        return ORCH_FAILED;
    }
    if (strcmp(params->end, "hang") == 0)
        status = hang(host);
    bool is_who = rank == params->who;
    if (strcmp(params->end, "babble") == 0)
        host->metric(host, "undeclared", 0, 1);
    if (is_who && is_wrong(params->end))
        status = end_wrongly(params, host);
    if (strcmp(params->end, "hang") != 0) {
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        report(host, &slot, sum);
    }
    if (strcmp(params->end, "unfinished") == 0)
        return status;
    MPI_Finalize();
    if (is_who && strcmp(params->end, "late") == 0)
        kill(getpid(), (int)params->number);
    return status;
}

static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD,
    .name = "mpi_sum",
    .version = "1.0.0",
    .summary = "adds the numbers of its ranks",
    .licence = "GPL-3.0-or-later",
    .needs = {.mpi = 1},
    .params_bytes = sizeof(struct params),
    ORCH_TABLE(params, PARAMS),
    ORCH_TABLE(metrics, METRICS),
    ORCH_TABLE(artifacts, ARTIFACTS),
    .cost = cost,
    .run = run,
};
ORCH_PLUGIN_EXPORT(PLUGIN)
