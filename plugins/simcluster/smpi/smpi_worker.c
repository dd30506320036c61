/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One worker of a simulated training step, built by SimGrid's smpicc and started by smpirun as W
 * simulated ranks in one process. Only communication is simulated. Computing passes simulated time
 * (smpi_usleep), and after the set-up SMPI is in the mode in which it replays traces: it sends and
 * reduces no data, so buffers that all ranks share are never touched.
 *
 * A worker computes forward and backward; the gradients of bucket i are ready at a known time. A
 * communication thread beside computing reduces the buckets one after another, so bucket i starts
 * at max(ready_i, end of bucket i-1) and the step ends, before its update, at max(end of computing,
 * end of the last bucket). A rank of SMPI is one thread, and computing is not slowed down by
 * communication, so the same times come from one thread that waits until each of these moments.
 *
 * Memory: the algorithms of SMPI allocate buffers of a bucket's size on each rank. The plan's
 * `scale` divides the bytes of every message; smpirun divides the bandwidths by the same factor.
 *
 * argv[1] is the plan, written by plugins/simcluster/smpirun.c. Each rank prints a line for each
 * step: "step NUMBER END_S COMMUNICATION_S EXPOSED_S", the end counted from the common start. */
#include "plugins/common/comm/collective.h"

#include <mpi.h>
#include <smpi/smpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BUCKETS_MAX 65536
#define STEPS_MAX 1000
#define VALUE_BYTES 4 /* SMPI's 'rab' crashes with MPI_BYTE */
#define START_S 1.0   /* simulated moment, after the set-up, at which all ranks start */

struct bucket {
    double ready_s;
    int64_t bytes;
};

struct plan {
    long steps, buckets, overlap, workers, scale;
    char algorithm[64];
    double compute_s, update_s;
    struct bucket *bucket; /* `buckets` of them, in the order of the backward pass */
    int *zone;             /* of each rank */
};

struct clocks { /* seconds, of one step on this rank */
    double end_s, busy_s, exposed_s;
};

static void die(const char *what)
{
    fprintf(stderr, "simulated worker: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static bool read_head(FILE *file, struct plan *p)
{
    return fscanf(file, "algorithm %63s steps %ld overlap %ld compute_s %lf update_s %lf\n",
                  p->algorithm, &p->steps, &p->overlap, &p->compute_s, &p->update_s) == 5 &&
           fscanf(file, "workers %ld buckets %ld scale %ld\n", &p->workers, &p->buckets,
                  &p->scale) == 3 &&
           p->scale >= 1 && p->steps >= 1 && p->steps <= STEPS_MAX && p->workers >= 1 &&
           p->buckets >= 0 && p->buckets <= BUCKETS_MAX;
}

static bool read_plan(const char *path, struct plan *p)
{
    FILE *file = fopen(path, "r");
    bool ok = file && read_head(file, p);
    if (ok) {
        p->bucket = calloc((size_t)p->buckets + 1, sizeof *p->bucket);
        p->zone = calloc((size_t)p->workers, sizeof *p->zone);
        ok = p->bucket && p->zone;
    }
    for (long i = 0; ok && i < p->workers; i++)
        ok = fscanf(file, "%d\n", &p->zone[i]) == 1;
    for (long i = 0; ok && i < p->buckets; i++)
        ok = fscanf(file, "%lf %ld\n", &p->bucket[i].ready_s, &p->bucket[i].bytes) == 2;
    if (file)
        fclose(file);
    return ok;
}

/* ---- communication -----------------------------------------------------------------------------
 */

static void add_nothing(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)count, (void)type;
}

struct reducer { /* the communication of measured trainings, with its own nodes */
    struct orch_comm comm;
    MPI_Op op; /* does nothing, whatever the mode */
    void *data;
};

/* Values of a message as simulated, a multiple of the number of ranks: rings would send what is
 * left over in an exchange of its own. */
static int count_of(const struct plan *p, int64_t bytes)
{
    const int64_t part = VALUE_BYTES * p->scale * p->workers;
    return (int)((bytes + part - 1) / part * p->workers);
}

/* A host of the platform is one GPU, so the workers of a node are those of a zone. */
static void reducer_open(struct reducer *r, const struct plan *p, int rank)
{
    int most = 1;
    for (long i = 0; i < p->buckets; i++)
        most = count_of(p, p->bucket[i].bytes) > most ? count_of(p, p->bucket[i].bytes) : most;
    const struct orch_comm_algorithm *algorithm = orch_comm_algorithm_find(p->algorithm);
    if (!algorithm || orch_comm_open(&r->comm, algorithm) != MPI_SUCCESS ||
        (algorithm->is_hierarchical && orch_comm_set_node(&r->comm, p->zone[rank]) != MPI_SUCCESS))
        die("its communicators cannot be made");
    r->data = SMPI_SHARED_MALLOC((size_t)most * VALUE_BYTES);
    MPI_Op_create(add_nothing, 1, &r->op);
}

static void reducer_close(struct reducer *r)
{
    SMPI_SHARED_FREE(r->data);
    MPI_Op_free(&r->op);
}

/* ---- steps -------------------------------------------------------------------------------------
 */

/* Passes simulated time until `when`; smpi_usleep counts whole microseconds. */
static void wait_until(double when)
{
    double left_us = (when - MPI_Wtime()) * 1e6;
    if (left_us >= 0.5)
        smpi_usleep((useconds_t)(left_us + 0.5));
}

static struct clocks step(const struct plan *p, const struct reducer *r)
{
    struct clocks clocks = {0};
    double begin = MPI_Wtime(), computed = begin + p->compute_s;
    for (long i = 0; i < p->buckets; i++) {
        wait_until(p->overlap ? begin + p->bucket[i].ready_s : computed);
        double start = MPI_Wtime();
        orch_comm_reduce(&r->comm, r->data, (size_t)count_of(p, p->bucket[i].bytes), MPI_FLOAT,
                         r->op);
        clocks.busy_s += MPI_Wtime() - start;
    }
    wait_until(computed);
    const double late = MPI_Wtime() - computed; /* below 0 by the rounding of smpi_usleep */
    clocks.exposed_s = late > 0 ? late : 0;
    wait_until(MPI_Wtime() + p->update_s);
    clocks.end_s = MPI_Wtime();
    return clocks;
}

/* Each rank prints its own clocks, because SMPI moves no data between ranks. */
static void print_steps(const struct clocks *clocks, const struct plan *p)
{
    for (long i = 0; i < p->steps; i++)
        printf("step %ld %.9f %.9f %.9f\n", i, clocks[i].end_s - START_S, clocks[i].busy_s,
               clocks[i].exposed_s);
}

int main(int argc, char **argv)
{
    struct plan plan = {0};
    struct reducer reducer;
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 2 || !read_plan(argv[1], &plan) || plan.workers != size)
        die("its plan cannot be read");
    struct clocks *clocks = calloc((size_t)plan.steps, sizeof *clocks);
    if (!clocks)
        die("out of memory");
    reducer_open(&reducer, &plan, rank);
    smpi_replay_init("workers", rank, 0); /* from here on no data is sent */
    wait_until(START_S);
    for (long i = 0; i < plan.steps; i++)
        clocks[i] = step(&plan, &reducer);
    print_steps(clocks, &plan);
    reducer_close(&reducer);
    free(clocks);
    free(plan.bucket);
    free(plan.zone);
    MPI_Finalize();
    return 0;
}
