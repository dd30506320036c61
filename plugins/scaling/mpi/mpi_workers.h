/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The workers of a trial: MPI's ranks, what they agree on, and the host as a training sees it. */
#ifndef ORCH_PLUGINS_SCALING_MPI_WORKERS_H
#define ORCH_PLUGINS_SCALING_MPI_WORKERS_H

#include "plugins/common/comm/collective.h"

#include <orch/plugin.h>

#include <glib.h>
#include <stdbool.h>

struct orch_torch;
struct orch_torch_model;

struct workers {
    /* The trial's host with three differences: the workers agree whether the trial is cancelled,
     * dropout has a stream of each worker, and nothing is saved for a later attempt. First member.
     */
    struct orch_host host;
    const struct orch_host *real;
    struct orch_comm comm;
    struct orch_slot slot;
    int cpus;        /* that the workers of this machine may use */
    char *fail_text; /* the last one that was passed to host.fail */
};

/** Starts MPI, with this all-reduce. Workers other than 0 go on in a folder of their own.
 * Collective. Returns an enum orch_status, having said why to `host`. */
int orch_workers_open(struct workers *w, const struct orch_host *host,
                      const struct orch_comm_algorithm *algorithm, int per_node);
/** Ends MPI if `status`, what the trial returns, is ORCH_OK: a worker that failed alone leaves the
 * others in an all-reduce, which the launcher then ends. Zeroed memory is allowed. */
void orch_workers_close(struct workers *w, int status);

/** Returns `status` if it is ORCH_OK in all workers; else the status of the first that failed,
 * whose reason all workers then have given to the host. Collective. */
int orch_workers_agree(struct workers *w, int status);

/** Replaces the running statistics of batch norms by their means over the workers. Collective. */
bool orch_workers_average_norms(const struct workers *w, const struct orch_torch *torch,
                                struct orch_torch_model *model, GError **error);
/** Fails if the tensors of a worker's model differ from those of worker 0 in any bit. Writes the
 * digest, 64 hex digits. Collective. */
bool orch_workers_check_weights(const struct workers *w, const struct orch_torch *torch,
                                const struct orch_torch_model *model, char out_digest[65],
                                GError **error);

#endif
