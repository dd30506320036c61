/* SPDX-License-Identifier: MIT */
/*
 * The host's connections to the ranks of an MPI trial. A launcher passes on no descriptors, so each
 * rank connects to a socket of its host, twice: the plugin's process for its events and for the
 * message to cancel, and its guard (rank_process.c), which reports how that process ended. A
 * connection also tells both sides that the other one is gone.
 *
 * The first line of a connection is {"rank":2,"role":"plugin"} or {"rank":2,"role":"guard"}. The
 * host answers {"do":"go"}. A guard ends with {"status":S,"t_ns":T}: waitpid's status, and when.
 */
#ifndef ORCH_HOST_RANK_LINKS_H
#define ORCH_HOST_RANK_LINKS_H

#include "core/host/intake.h"

struct rank_links;

/** How a rank ended the trial. */
struct rank_failure {
    enum orch_verdict verdict;
    char *text;      /* "rank 2 was killed by signal 9 (SIGKILL)" */
    int wait_status; /* of its process; 0: it reported the failure itself */
};

/** Opens the socket for `count` ranks. NULL on error. */
struct rank_links *orch_rank_links_open(unsigned count, GError **error);
void orch_rank_links_free(struct rank_links *links);

/** The socket's name, for orch_rank_link_connect. Borrowed. */
const char *orch_rank_links_address(const struct rank_links *links);
/** A descriptor that becomes readable when orch_rank_links_read has something to do. */
int orch_rank_links_fd(const struct rank_links *links);
/** Accepts connections and reads what has arrived. What ranks other than 0 log and note goes to
 * `intake`. */
void orch_rank_links_read(struct rank_links *links, struct intake *intake);
/** Returns the connection of rank 0's plugin once, when it has been made, else -1. The caller
 * owns it. */
int orch_rank_links_take_first(struct rank_links *links);
/** Number of ranks that have connected. */
unsigned orch_rank_links_joined(const struct rank_links *links);
/** Sends a line to all ranks, also to those that connect later. Returns false if none is
 * connected. */
bool orch_rank_links_send(struct rank_links *links, const char *line, size_t length);

/** When the host is to end the trial (monotonic ns): 2 s after the first rank failed, because the
 * launcher then ends the others itself. INT64_MAX: none failed. */
int64_t orch_rank_links_due(const struct rank_links *links);
/** The failure that came first; NULL: none. Borrowed. */
const struct rank_failure *orch_rank_links_failure(const struct rank_links *links);

/** In a rank: connects, introduces itself, and waits for the answer. -1 on error, with the reason
 * in errno. */
int orch_rank_link_connect(const char *address, unsigned rank, const char *role);

#endif
