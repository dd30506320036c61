/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A learner: pulls the weights of all servers, computes a gradient, pushes its parts to them, and
 * gets the new weights as the answer. */
#include "plugins/asyncsgd/learner_rank.h"

#include "lib/base/ident.h"
#include "plugins/asyncsgd/exchange_messages.h"
#include "plugins/common/shard/weight_shard.h"
#include "plugins/common/training/feed.h"
#include "plugins/common/training/work.h"

struct learner {
    const struct asyncsgd_params *params;
    const struct orch_flat_model *flat;
    const struct orch_host *host;
    struct orch_feed *feed;
    int64_t epoch;                /* of the feed, from 0 */
    double slowdown;              /* computing and sleep over computing, >= 1 */
    float *weights;               /* flat->elements, as read from the servers */
    float *push;                  /* flat->elements */
    struct orch_awaited *awaited; /* by server: the answer on its way */
    int64_t *versions;            /* that were read, by server */
    bool goes_on;
};

/* ---- batches ----------------------------------------------------------------------------------
 */

static struct orch_feed *shard_feed(const struct learner *l, int learner, GError **error)
{
    const struct orch_session *s = l->flat->session;
    const struct orch_training *t = s->training;
    struct orch_loader_options options = {.batch = (int)t->batch,
                                          .threads = (int)t->loader_threads,
                                          .shuffle = true,
                                          .shard = learner,
                                          .shards = (int)l->params->learners,
                                          .seed = s->host->derive_seed(s->host, "shuffle")};
    return orch_work_transforms(t, &options.transforms, error)
               ? orch_feed_images(s->train, &options, error)
               : NULL;
}

/* The next batch of the shard that has images. Its loss is the mean over its own images. */
static bool next_batch(struct learner *l, struct orch_torch_batch *out, GError **error)
{
    struct orch_feed_batch batch = {0};
    GError *problem = NULL;
    while (!problem && !batch.input.count)
        if (!l->feed->next(l->feed->ctx, &batch, &problem) && !problem)
            l->feed->start(l->feed->ctx, ++l->epoch);
    if (problem) {
        g_propagate_error(error, problem);
        return false;
    }
    *out = batch.input;
    out->total_count = 0;
    return true;
}

/* ---- weights and gradients --------------------------------------------------------------------
 */

/* Sends a request to every server, with its part of `values` (may be NULL), and gets its part of
 * the new weights. */
static bool ask(struct learner *l, struct orch_request *request, const float *values)
{
    const int servers = (int)l->params->servers;
    int64_t begin, count;
    for (int i = 0; i < servers; i++) {
        orch_weight_shard_bounds(l->flat->elements, i, servers, &begin, &count);
        orch_messages_await(i, &l->awaited[i], l->weights + begin, count);
    }
    for (int i = 0; i < servers; i++) {
        orch_weight_shard_bounds(l->flat->elements, i, servers, &begin, &count);
        request->version = l->versions[i];
        if (!orch_messages_request(l->host, i, request, values ? values + begin : NULL, count))
            return false;
    }
    for (int i = 0; i < servers; i++) {
        if (!orch_messages_answered(l->host, &l->awaited[i]))
            return false;
        l->versions[i] = l->awaited[i].answer.version;
    }
    l->goes_on = l->awaited[0].answer.goes_on;
    return true;
}

static bool say_done(const struct learner *l)
{
    const struct orch_request done = {.kind = ORCH_REQUEST_DONE};
    for (int i = 0; i < l->params->servers; i++)
        if (!orch_messages_request(l->host, i, &done, NULL, 0))
            return false;
    return true;
}

/* One gradient, from reading the batch to the new weights. False: cancelled, or `error` is set. */
static bool learn_once(struct learner *l, GError **error)
{
    const struct orch_session *s = l->flat->session;
    const int64_t begin_ns = orch_mono_ns();
    struct orch_torch_batch batch;
    struct orch_torch_totals totals;
    if (!next_batch(l, &batch, error) ||
        !orch_flat_model_learn(l->flat, l->weights, &batch, l->push, error) ||
        !s->torch->totals_take(s->model, &totals, error))
        return false;
    const double computing_s = (double)(orch_mono_ns() - begin_ns) / 1e9;
    struct orch_request push = {.kind = ORCH_REQUEST_PUSH,
                                .images = totals.images,
                                .correct = totals.correct,
                                .loss = totals.loss};
    return orch_messages_sleep(l->host, computing_s * (l->slowdown - 1)) && ask(l, &push, l->push);
}

static int learn(struct learner *l, GError **error)
{
    struct orch_request pull = {.kind = ORCH_REQUEST_PULL};
    GError *problem = NULL;
    bool ok = ask(l, &pull, NULL);
    l->feed->start(l->feed->ctx, 0);
    while (ok && l->goes_on)
        ok = learn_once(l, &problem);
    if (problem) {
        g_propagate_error(error, problem);
        return -1;
    }
    return ok && say_done(l) ? ORCH_OK : ORCH_CANCELLED;
}

int orch_asyncsgd_learn(const struct asyncsgd_params *p, const struct orch_flat_model *flat,
                        int learner, GError **error)
{
    const double *slowdown = p->slowdown.items;
    struct learner l = {.params = p,
                        .flat = flat,
                        .host = flat->session->host,
                        .slowdown = p->slowdown.count ? slowdown[learner] : 1,
                        .weights = g_new(float, flat->elements),
                        .push = g_new(float, flat->elements),
                        .awaited = g_new0(struct orch_awaited, p->servers),
                        .versions = g_new0(int64_t, p->servers)};
    l.feed = shard_feed(&l, learner, error);
    const int status = l.feed && orch_flat_model_prepare(flat, error) ? learn(&l, error) : -1;
    orch_feed_free(l.feed);
    g_free(l.weights);
    g_free(l.push);
    g_free(l.awaited);
    g_free(l.versions);
    return status;
}
