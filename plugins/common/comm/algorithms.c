/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/comm/algorithms.h"

#include <math.h>
#include <string.h>

/* ceil(log2(n)), n > 0. */
static double rounds(int n)
{
    int count = 0;
    for (long reached = 1; reached < n; reached *= 2)
        count++;
    return count;
}

static struct orch_comm_cost cost_linear(struct orch_comm_shape s)
{
    return (struct orch_comm_cost){2.0 * (s.workers - 1), 2.0 * (s.workers - 1)};
}

static struct orch_comm_cost cost_tree(struct orch_comm_shape s)
{
    return (struct orch_comm_cost){2 * rounds(s.workers), 2 * rounds(s.workers)};
}

static struct orch_comm_cost cost_doubling(struct orch_comm_shape s)
{
    return (struct orch_comm_cost){rounds(s.workers), rounds(s.workers)};
}

static struct orch_comm_cost cost_ring(struct orch_comm_shape s)
{
    return (struct orch_comm_cost){2.0 * (s.workers - 1), orch_comm_bus_factor(s.workers)};
}

static struct orch_comm_cost cost_rabenseifner(struct orch_comm_shape s)
{
    return (struct orch_comm_cost){2 * rounds(s.workers), orch_comm_bus_factor(s.workers)};
}

/* A tree to the leader of the node, a ring of the leaders, a tree back. */
static struct orch_comm_cost cost_hierarchical(struct orch_comm_shape s)
{
    const int local = s.workers < s.per_node ? s.workers : s.per_node;
    const struct orch_comm_shape leaders = {(s.workers + local - 1) / local, 1};
    struct orch_comm_cost cost = cost_ring(leaders);
    cost.messages += 2 * rounds(local);
    cost.volume += 2 * rounds(local);
    return cost;
}

/* NCCL reduces and broadcasts along a chain of the node's GPUs, in pieces that follow each other.
 */
static struct orch_comm_cost cost_chains(struct orch_comm_shape s)
{
    const int local = s.workers < s.per_node ? s.workers : s.per_node;
    const struct orch_comm_shape leaders = {(s.workers + local - 1) / local, 1};
    struct orch_comm_cost cost = cost_ring(leaders);
    cost.messages += 2.0 * (local - 1);
    cost.volume += local > 1 ? 2 : 0;
    return cost;
}

const struct orch_comm_algorithm orch_comm_algorithms[] = {
    {.name = "auto", .assignment = "AUTO", .nccl = ""},
    {.name = "linear",
     .assignment = "one-to-all",
     .open_mpi = 1,
     .smpi = "redbcast",
     .smpi_reduce = "flat_tree",
     .smpi_bcast = "flattree",
     .formula = "2 (n-1) (a + S/B)",
     .cost = cost_linear},
    {.name = "reduce_broadcast",
     .assignment = "ReductionToOneDevice",
     .open_mpi = 2,
     .smpi = "redbcast",
     .smpi_reduce = "binomial",
     .smpi_bcast = "binomial_tree",
     .nccl = "Tree",
     .formula = "2 ceil(log2 n) (a + S/B)",
     .cost = cost_tree,
     .nccl_formula = "2 ceil(log2 n) a + 2 (n-1)/n S/B",
     .nccl_cost = cost_rabenseifner},
    {.name = "recursive_doubling",
     .assignment = "butterfly",
     .open_mpi = 3,
     .smpi = "rdb",
     .formula = "ceil(log2 n) (a + S/B)",
     .cost = cost_doubling},
    {.name = "ring",
     .assignment = "RING",
     .open_mpi = 4,
     .smpi = "lr",
     .nccl = "Ring",
     .formula = "2 (n-1) a + 2 (n-1)/n S/B",
     .cost = cost_ring},
    {.name = "segmented_ring",
     .assignment = "NcclAllReduce",
     .open_mpi = 5,
     .smpi = "ompi_ring_segmented",
     .nccl = "Ring",
     .formula = "2 (n-1) a + 2 (n-1)/n S/B",
     .cost = cost_ring},
    {.name = "rabenseifner",
     .assignment = "recursive halving and doubling",
     .open_mpi = 6,
     .smpi = "rab",
     .formula = "2 ceil(log2 n) a + 2 (n-1)/n S/B",
     .cost = cost_rabenseifner},
    {.name = "hierarchical",
     .assignment = "HierarchicalCopyAllReduce",
     .is_hierarchical = true,
     .formula =
         "2 ceil(log2 k) (a + S/B) + 2 (m-1) a + 2 (m-1)/m S/B, k workers on each of m nodes",
     .cost = cost_hierarchical,
     .nccl_formula = "2 (k-1) a + 2 S/B + 2 (m-1) a + 2 (m-1)/m S/B, k workers on each of m nodes",
     .nccl_cost = cost_chains},
};
const size_t orch_comm_algorithm_count =
    sizeof orch_comm_algorithms / sizeof orch_comm_algorithms[0];

const char *const orch_comm_algorithm_names[] = {
    "auto", "linear",         "reduce_broadcast", "recursive_doubling",
    "ring", "segmented_ring", "rabenseifner",     "hierarchical",
    NULL};

const struct orch_comm_algorithm *orch_comm_algorithm_find(const char *name)
{
    for (size_t i = 0; i < orch_comm_algorithm_count; i++)
        if (strcmp(orch_comm_algorithms[i].name, name) == 0)
            return &orch_comm_algorithms[i];
    return NULL;
}

double orch_comm_seconds(const struct orch_comm_algorithm *algorithm, struct orch_comm_shape shape,
                         double bytes, double alpha_s, double beta_s)
{
    if (!algorithm->cost)
        return (double)NAN;
    const struct orch_comm_cost cost = algorithm->cost(shape);
    return cost.messages * alpha_s + cost.volume * bytes * beta_s;
}

double orch_comm_bus_factor(int workers)
{
    return 2.0 * (workers - 1) / workers;
}
