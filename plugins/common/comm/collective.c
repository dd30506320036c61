/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/comm/collective.h"

/** Values of one call of MPI, whose counts are int. */
enum { VALUES_MAX = 1 << 28 };

/* Finds the workers' places in their nodes, and the leaders. */
static int find_leaders(struct orch_comm *c)
{
    int local;
    int code = MPI_Comm_rank(c->node, &c->node_rank);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_size(c->node, &local);
    if (code == MPI_SUCCESS)
        code = MPI_Allreduce(&local, &c->shape.per_node, 1, MPI_INT, MPI_MAX, c->world);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_split(c->world, c->node_rank ? MPI_UNDEFINED : 0, c->rank, &c->leaders);
    return code;
}

static int split_by_machine(struct orch_comm *c)
{
    int code =
        MPI_Comm_split_type(c->world, MPI_COMM_TYPE_SHARED, c->rank, MPI_INFO_NULL, &c->node);
    if (code == MPI_SUCCESS)
        code = find_leaders(c);
    c->local = c->shape.per_node;
    return code;
}

int orch_comm_set_node(struct orch_comm *c, int node)
{
    int code = MPI_Comm_free(&c->node);
    if (code == MPI_SUCCESS && c->leaders != MPI_COMM_NULL)
        code = MPI_Comm_free(&c->leaders);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_split(c->world, node, c->rank, &c->node);
    return code == MPI_SUCCESS ? find_leaders(c) : code;
}

/* A node is named by the number of its first worker. */
int orch_comm_divide_nodes(struct orch_comm *c, int workers)
{
    int first = c->rank;
    MPI_Comm part;
    int code = MPI_Comm_split(c->node, c->node_rank / workers, c->rank, &part);
    if (code == MPI_SUCCESS)
        code = MPI_Bcast(&first, 1, MPI_INT, 0, part);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_free(&part);
    return code == MPI_SUCCESS ? orch_comm_set_node(c, first) : code;
}

int orch_comm_open(struct orch_comm *c, const struct orch_comm_algorithm *algorithm)
{
    *c = (struct orch_comm){.algorithm = algorithm,
                            .world = MPI_COMM_NULL,
                            .node = MPI_COMM_NULL,
                            .leaders = MPI_COMM_NULL};
    int code = MPI_Comm_dup(MPI_COMM_WORLD, &c->world);
    if (code == MPI_SUCCESS) /* communicators that are split from it inherit this */
        code = MPI_Comm_set_errhandler(c->world, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_rank(c->world, &c->rank);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_size(c->world, &c->ranks);
    c->shape.workers = c->ranks;
    return code == MPI_SUCCESS ? split_by_machine(c) : code;
}

void orch_comm_close(struct orch_comm *c)
{
    if (!c->algorithm)
        return;
    MPI_Comm *all[] = {&c->leaders, &c->node, &c->world};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (*all[i] != MPI_COMM_NULL)
            MPI_Comm_free(all[i]);
    *c = (struct orch_comm){0};
}

/* To the leader of each node, among the leaders, and back. */
static int reduce_by_nodes(const struct orch_comm *c, void *data, int count, MPI_Datatype type,
                           MPI_Op op)
{
    int code = c->node_rank ? MPI_Reduce(data, NULL, count, type, op, 0, c->node)
                            : MPI_Reduce(MPI_IN_PLACE, data, count, type, op, 0, c->node);
    if (code == MPI_SUCCESS && c->leaders != MPI_COMM_NULL)
        code = MPI_Allreduce(MPI_IN_PLACE, data, count, type, op, c->leaders);
    return code == MPI_SUCCESS ? MPI_Bcast(data, count, type, 0, c->node) : code;
}

int orch_comm_reduce(const struct orch_comm *c, void *data, size_t count, MPI_Datatype type,
                     MPI_Op op)
{
    int bytes;
    int code = MPI_Type_size(type, &bytes);
    for (char *at = data; code == MPI_SUCCESS && count > 0;) {
        const int part = count < VALUES_MAX ? (int)count : VALUES_MAX;
        code = c->algorithm->is_hierarchical
                   ? reduce_by_nodes(c, at, part, type, op)
                   : MPI_Allreduce(MPI_IN_PLACE, at, part, type, op, c->world);
        at += (size_t)part * (size_t)bytes;
        count -= (size_t)part;
    }
    return code;
}
