/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages between learners and parameter servers. Every wait lets other processes run and watches
 * for the end of the trial, which MPI's own waits do not: they occupy a core. */
#ifndef ORCH_PLUGINS_ASYNCSGD_EXCHANGE_MESSAGES_H
#define ORCH_PLUGINS_ASYNCSGD_EXCHANGE_MESSAGES_H

#include <orch/plugin.h>

#include <mpi.h>

#include <stdbool.h>
#include <stdint.h>

enum orch_request_kind {
    ORCH_REQUEST_PULL = 1, /* a learner asks for its first weights */
    ORCH_REQUEST_PUSH,     /* a learner's gradient; values follow. Asks for the new weights */
    ORCH_REQUEST_PEEK,     /* server 0 asks for the weights of version `version` or later */
    ORCH_REQUEST_DONE,     /* a learner has ended; no answer */
};

/** What a learner, or server 0, sends to a server. */
struct orch_request {
    int64_t kind;
    int64_t version;         /* PUSH: version that was read from this server; PEEK: see above */
    int64_t images, correct; /* PUSH: of the batch */
    double loss;             /* PUSH: summed over the images */
};

/** What a server answers; its values follow. */
struct orch_server_answer {
    int64_t version; /* of the values */
    int64_t goes_on; /* 0: the learner computes no further gradient */
};

/** Returned by what waits: false means that the trial is to end (host->cancelled). */
bool orch_messages_request(const struct orch_host *host, int server,
                           const struct orch_request *request, const float *values, int64_t count);
/** Waits for a request from any rank. */
bool orch_messages_next(const struct orch_host *host, struct orch_request *out, int *out_from);
/** Receives the values of a PUSH. */
bool orch_messages_values(const struct orch_host *host, int from, float *out, int64_t count);
bool orch_messages_answer(const struct orch_host *host, int to,
                          const struct orch_server_answer *answer, const float *values,
                          int64_t count);
/** The answer of a server that is on its way. */
struct orch_awaited {
    struct orch_server_answer answer;
    MPI_Request transfers[2];
};

/** Prepares for the answer of a server before it is asked, so that no two ranks wait for each other
 * with a message that the other one does not take. `out_values` is written until
 * orch_messages_answered. */
void orch_messages_await(int server, struct orch_awaited *out, float *out_values, int64_t count);
/** Waits for the answer. */
bool orch_messages_answered(const struct orch_host *host, struct orch_awaited *awaited);
/** Sleeps, in parts; false as above. */
bool orch_messages_sleep(const struct orch_host *host, double seconds);

#endif
