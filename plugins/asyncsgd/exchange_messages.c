/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/asyncsgd/exchange_messages.h"

#include "lib/base/ident.h"

#include <glib.h>

enum { REQUEST_TAG = 1, PUSHED_TAG, ANSWER_TAG, PULLED_TAG };
enum { POLL_US = 50, SLEEP_US = 10000 };

/* Waits for a transfer. On false it is abandoned; the rank then leaves MPI. */
static bool finish(const struct orch_host *host, MPI_Request *request, MPI_Status *out_status)
{
    for (int is_done = 0;;) {
        MPI_Test(request, &is_done, out_status);
        if (is_done)
            return true;
        if (host->cancelled(host))
            return false;
        g_usleep(POLL_US);
    }
}

static bool send(const struct orch_host *host, int to, int tag, const void *data, int64_t count,
                 MPI_Datatype type)
{
    MPI_Request request;
    MPI_Isend(data, (int)count, type, to, tag, MPI_COMM_WORLD, &request);
    return finish(host, &request, MPI_STATUS_IGNORE);
}

static bool receive(const struct orch_host *host, int from, int tag, void *out, int64_t count,
                    MPI_Datatype type, MPI_Status *out_status)
{
    MPI_Request request;
    MPI_Irecv(out, (int)count, type, from, tag, MPI_COMM_WORLD, &request);
    return finish(host, &request, out_status);
}

bool orch_messages_request(const struct orch_host *host, int server,
                           const struct orch_request *request, const float *values, int64_t count)
{
    return send(host, server, REQUEST_TAG, request, sizeof *request, MPI_BYTE) &&
           (!values || send(host, server, PUSHED_TAG, values, count, MPI_FLOAT));
}

bool orch_messages_next(const struct orch_host *host, struct orch_request *out, int *out_from)
{
    MPI_Status status;
    if (!receive(host, MPI_ANY_SOURCE, REQUEST_TAG, out, sizeof *out, MPI_BYTE, &status))
        return false;
    *out_from = status.MPI_SOURCE;
    return true;
}

bool orch_messages_values(const struct orch_host *host, int from, float *out, int64_t count)
{
    return receive(host, from, PUSHED_TAG, out, count, MPI_FLOAT, MPI_STATUS_IGNORE);
}

bool orch_messages_answer(const struct orch_host *host, int to,
                          const struct orch_server_answer *answer, const float *values,
                          int64_t count)
{
    return send(host, to, ANSWER_TAG, answer, sizeof *answer, MPI_BYTE) &&
           send(host, to, PULLED_TAG, values, count, MPI_FLOAT);
}

void orch_messages_await(int server, struct orch_awaited *out, float *out_values, int64_t count)
{
    MPI_Irecv(&out->answer, (int)sizeof out->answer, MPI_BYTE, server, ANSWER_TAG, MPI_COMM_WORLD,
              &out->transfers[0]);
    MPI_Irecv(out_values, (int)count, MPI_FLOAT, server, PULLED_TAG, MPI_COMM_WORLD,
              &out->transfers[1]);
}

bool orch_messages_answered(const struct orch_host *host, struct orch_awaited *awaited)
{
    return finish(host, &awaited->transfers[0], MPI_STATUS_IGNORE) &&
           finish(host, &awaited->transfers[1], MPI_STATUS_IGNORE);
}

bool orch_messages_sleep(const struct orch_host *host, double seconds)
{
    const int64_t end_ns = orch_mono_ns() + (int64_t)(seconds * 1e9);
    for (int64_t left_ns; (left_ns = end_ns - orch_mono_ns()) > 0;) {
        if (host->cancelled(host))
            return false;
        g_usleep((gulong)MIN(left_ns / 1000 + 1, SLEEP_US));
    }
    return true;
}
