/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Equal processes that work for this one: started with inherited descriptors, watched, and gone at
 * the end. A worker's program is called 'PROGRAM INDEX PARENT'; its descriptors are 3, 4, ... It
 * must end with its parent (orch_worker_begin). */
#ifndef ORCH_PLUGINS_REPLAY_ACTOR_WORKER_POOL_H
#define ORCH_PLUGINS_REPLAY_ACTOR_WORKER_POOL_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum { ORCH_WORKER_FD = 3, ORCH_WORKER_FDS_MOST = 4 };

struct orch_worker_options {
    const char *program; /* of the plugins' folder 'common' */
    const char *what;    /* "actor": for messages */
    int64_t count;
    int fds[ORCH_WORKER_FDS_MOST], fds_count;
};

struct orch_worker_pool;

/** Starts the workers. Fails with ORCH_ERROR_PLUGIN where their program was not built, and with
 * ORCH_ERROR_IO where one cannot be started. */
struct orch_worker_pool *orch_worker_pool_new(const struct orch_worker_options *options,
                                              GError **error);
/** Waits up to two seconds for the workers, which were told to end, and kills those that are left.
 */
void orch_worker_pool_free(struct orch_worker_pool *pool);

int64_t orch_worker_pool_alive(const struct orch_worker_pool *pool);
bool orch_worker_pool_is_alive(const struct orch_worker_pool *pool, int64_t index);
/** A worker that has ended since the last call: its index, and in `*out_how` ("ended with status
 * 1"), which the caller frees. -1: none. */
int64_t orch_worker_pool_next_death(struct orch_worker_pool *pool, char **out_how);
/** Ends a worker that is no longer needed. It does not count as a death. */
void orch_worker_pool_kill(struct orch_worker_pool *pool, int64_t index);

/** In a worker's main: from now on it ends when its parent does. Returns its index, or -1 when it
 * was not started by orch_worker_pool_new or its parent has ended already. */
int64_t orch_worker_begin(int argc, char **argv);

#endif
