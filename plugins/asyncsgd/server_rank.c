/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A parameter server. Server 0 decides how many gradients are computed: each of its answers allows
 * one more, until as many were allowed as the epochs have. So every gradient that is computed is
 * applied, by all servers, though perhaps in another order by each. */
#include "plugins/asyncsgd/server_rank.h"

#include "lib/base/error.h"
#include "plugins/asyncsgd/exchange_messages.h"
#include "plugins/asyncsgd/server_report.h"
#include "plugins/common/shard/weight_shard.h"

#include <math.h>
#include <string.h>

struct server {
    const struct asyncsgd_params *params;
    const struct orch_flat_model *flat;
    const struct orch_host *host;
    int index;
    struct orch_weight_shard shard;
    struct orch_server_report report; /* of server 0 */
    float *push;                      /* shard.count */
    float *all;                       /* server 0: flat->elements */
    int64_t total;                    /* gradients of the training */
    int64_t allowed, applied;         /* gradients so far */
    int64_t epochs;                   /* complete */
    int64_t peek_version;             /* server 0 waits for this version; -1: it does not */
    int done;                         /* ranks that have ended */
    int *waiting, waiting_count;      /* synchronous: learners whose gradients were added */
    bool has_diverged;
};

static int learner_of(const struct server *s, int rank)
{
    return rank - (int)s->params->servers;
}

/* Epochs that `gradients` gradients are. */
static double epochs_of(const struct server *s, int64_t gradients)
{
    const struct orch_session *session = s->flat->session;
    return (double)(gradients * session->training->batch) / (double)session->train->count;
}

/* ---- answers ----------------------------------------------------------------------------------
 */

static bool answer(struct server *s, int rank)
{
    struct orch_server_answer answer = {.version = s->shard.version, .goes_on = 1};
    if (s->index == 0) {
        answer.goes_on = s->allowed < s->total && !s->has_diverged;
        s->allowed += answer.goes_on;
    }
    return orch_messages_answer(s->host, rank, &answer, s->shard.values, s->shard.count);
}

static bool answer_peek(struct server *s)
{
    if (s->peek_version < 0 || s->shard.version < s->peek_version)
        return true;
    s->peek_version = -1;
    const struct orch_server_answer answer = {.version = s->shard.version};
    return orch_messages_answer(s->host, 0, &answer, s->shard.values, s->shard.count);
}

/* ---- epochs, on server 0 ----------------------------------------------------------------------
 */

/* Sets the session's model to the weights of all servers. */
static bool gather(struct server *s, GError **error)
{
    struct orch_request peek = {.kind = ORCH_REQUEST_PEEK, .version = s->shard.version};
    memcpy(s->all, s->shard.values, sizeof(float) * (size_t)s->shard.count);
    for (int server = 1; server < s->params->servers; server++) {
        struct orch_awaited awaited;
        int64_t begin, count;
        orch_weight_shard_bounds(s->flat->elements, server, (int)s->params->servers, &begin,
                                 &count);
        orch_messages_await(server, &awaited, s->all + begin, count);
        if (!orch_messages_request(s->host, server, &peek, NULL, 0) ||
            !orch_messages_answered(s->host, &awaited))
            return false;
    }
    return orch_flat_model_set(s->flat, s->all, error);
}

static bool end_epochs(struct server *s, GError **error)
{
    const bool is_end = s->index == 0 && (epochs_of(s, s->applied) >= (double)(s->epochs + 1) ||
                                          s->applied == s->total);
    if (!is_end || s->has_diverged)
        return true;
    s->epochs = MAX(s->epochs + 1, (int64_t)epochs_of(s, s->applied));
    return gather(s, error) &&
           orch_server_report_epoch(&s->report, s->epochs, s->shard.version, error);
}

/* ---- gradients --------------------------------------------------------------------------------
 */

static double rate_of(const struct server *s, int64_t staleness)
{
    const double rate = orch_schedule_rate(&s->flat->session->schedule, epochs_of(s, s->applied));
    const bool is_lowered = strcmp(s->params->lr_rule, "by_staleness") == 0;
    return is_lowered ? rate / (double)MAX(1, staleness) : rate;
}

static void record(struct server *s, int rank, const struct orch_request *push, double rate)
{
    const struct orch_server_gradient gradient = {
        .learner = learner_of(s, rank),
        .version_read = push->version,
        .version_before = s->shard.version,
        .rate = rate,
        .totals = {.images = push->images, .correct = push->correct, .loss = push->loss}};
    s->has_diverged = s->has_diverged || !isfinite(push->loss);
    if (s->index == 0)
        orch_server_report_gradient(&s->report, &gradient);
}

/* Applies what was added, and answers the learners in `ranks`. */
static bool update(struct server *s, const int *ranks, int count, double rate, GError **error)
{
    orch_weight_shard_update(&s->shard, rate);
    s->applied += count;
    if (!end_epochs(s, error))
        return false;
    for (int i = 0; i < count; i++)
        if (!answer(s, ranks[i]))
            return false;
    return answer_peek(s);
}

static bool take_push(struct server *s, int rank, const struct orch_request *push, GError **error)
{
    const bool is_synchronous = orch_asyncsgd_is_synchronous(s->params);
    const double rate = rate_of(s, s->shard.version - push->version);
    if (!orch_messages_values(s->host, rank, s->push, s->shard.count))
        return false;
    orch_weight_shard_add(&s->shard, s->push);
    record(s, rank, push, rate);
    s->waiting[s->waiting_count++] = rank;
    if (is_synchronous && s->waiting_count < s->params->learners)
        return true;
    const int count = s->waiting_count;
    s->waiting_count = 0;
    return update(s, s->waiting, count, rate, error);
}

static bool take_request(struct server *s, int rank, const struct orch_request *request,
                         GError **error)
{
    switch (request->kind) {
    case ORCH_REQUEST_PULL:
        if (s->index == 0)
            orch_server_report_begin(&s->report);
        return answer(s, rank);
    case ORCH_REQUEST_PUSH:
        return take_push(s, rank, request, error);
    case ORCH_REQUEST_PEEK:
        s->peek_version = request->version;
        return answer_peek(s);
    default:
        s->done++;
        return true;
    }
}

/* ---- the whole --------------------------------------------------------------------------------
 */

/* Serves until the learners have ended; another server than 0 until server 0 has, too. False:
 * cancelled, or `error` is set. */
static bool serve(struct server *s, GError **error)
{
    const int last = (int)s->params->learners + (s->index > 0);
    struct orch_request request;
    int rank;
    bool ok = true;
    s->host->phase(s->host, "training");
    while (ok && s->done < last)
        ok = orch_messages_next(s->host, &request, &rank) && take_request(s, rank, &request, error);
    const struct orch_request done = {.kind = ORCH_REQUEST_DONE};
    for (int server = 1; ok && s->index == 0 && server < s->params->servers; server++)
        ok = orch_messages_request(s->host, server, &done, NULL, 0);
    return ok;
}

static int conclude(struct server *s, bool is_served, GError **error)
{
    if (!is_served)
        return error && *error ? -1 : ORCH_CANCELLED;
    if (s->index > 0)
        return ORCH_OK;
    if (s->has_diverged) {
        s->host->fail(s->host, "the loss is not finite");
        return ORCH_DIVERGED;
    }
    return orch_server_report_end(&s->report, s->shard.version, error) ? ORCH_OK : -1;
}

/* In synchronous training gradients come in rounds of one from each learner. */
static int64_t total_gradients(const struct asyncsgd_params *p, const struct orch_session *session)
{
    const int64_t images = session->epochs * session->train->count;
    const int64_t batch = session->training->batch, gradients = (images + batch - 1) / batch;
    if (!orch_asyncsgd_is_synchronous(p))
        return gradients;
    return (gradients + p->learners - 1) / p->learners * p->learners;
}

int orch_asyncsgd_serve(const struct asyncsgd_params *p, const struct orch_flat_model *flat,
                        int index, GError **error)
{
    const struct orch_session *session = flat->session;
    const struct orch_weight_rule rule = {.momentum = session->training->momentum,
                                          .weight_decay = session->training->weight_decay,
                                          .nesterov = session->training->nesterov};
    struct server s = {.params = p,
                       .flat = flat,
                       .host = session->host,
                       .index = index,
                       .all = g_new(float, flat->elements),
                       .total = total_gradients(p, session),
                       .peek_version = -1,
                       .waiting = g_new(int, p->learners)};
    GError *problem = NULL;
    bool ok = orch_flat_model_get(flat, s.all, &problem);
    orch_weight_shard_init(&s.shard, flat->ranges, s.all, index, (int)p->servers, &rule);
    orch_server_report_init(&s.report, session, (int)p->learners);
    s.push = g_new(float, s.shard.count);
    const int status = conclude(&s, ok && serve(&s, &problem), &problem);
    if (problem)
        g_propagate_error(error, problem);
    orch_server_report_clear(&s.report);
    orch_weight_shard_clear(&s.shard);
    g_free(s.push);
    g_free(s.all);
    g_free(s.waiting);
    return status;
}
