/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/gorila/gorila_server.h"

#include "plugins/replay/gorila/gorila_rules.h"

enum { STALENESS_MOST = 9999 };

struct orch_gorila_server {
    struct orch_gorila_server_options options;
    struct orch_weight_shard *shards;
    GArray *ranges, *by_staleness;
    struct orch_gorila_server_counts counts;
};

static void publish(const struct orch_gorila_server *s)
{
    for (int64_t i = 0; i < s->options.shards; i++)
        orch_actor_share_publish_shard(s->options.share, i, s->shards[i].values, s->counts.updates);
}

struct orch_gorila_server *orch_gorila_server_new(const struct orch_gorila_server_options *options,
                                                  const float *parameters)
{
    const struct orch_weight_rule rule = {.optimizer = options->optimizer};
    const struct orch_weight_range all = {
        .begin = 0, .count = options->parameters, .is_trained = true};
    struct orch_gorila_server *s = g_new0(struct orch_gorila_server, 1);
    s->options = *options;
    s->ranges = g_array_new(FALSE, FALSE, sizeof all);
    g_array_append_val(s->ranges, all);
    s->counts.by_staleness = s->by_staleness = g_array_new(FALSE, TRUE, sizeof(int64_t));
    s->shards = g_new0(struct orch_weight_shard, options->shards);
    for (int64_t i = 0; i < options->shards; i++)
        orch_weight_shard_init(&s->shards[i], s->ranges, parameters, (int)i, (int)options->shards,
                               &rule);
    publish(s);
    return s;
}

void orch_gorila_server_free(struct orch_gorila_server *s)
{
    if (!s)
        return;
    for (int64_t i = 0; i < s->options.shards; i++)
        orch_weight_shard_clear(&s->shards[i]);
    g_free(s->shards);
    g_array_unref(s->ranges);
    g_array_unref(s->by_staleness);
    g_free(s);
}

static void count_staleness(struct orch_gorila_server *s, int64_t staleness)
{
    const guint place = (guint)MIN(staleness, STALENESS_MOST);
    if (place >= s->by_staleness->len)
        g_array_set_size(s->by_staleness, place + 1);
    g_array_index(s->by_staleness, int64_t, place)++;
    s->counts.stale_sum += (double)staleness;
    s->counts.stale_most = MAX(s->counts.stale_most, staleness);
}

bool orch_gorila_server_take(struct orch_gorila_server *s, const float *gradient, int64_t version,
                             double rate)
{
    count_staleness(s, s->counts.updates - version);
    if (orch_gorila_is_stale(version, s->counts.updates, s->options.stale_most)) {
        s->counts.dropped++;
        return false;
    }
    for (int64_t i = 0; i < s->options.shards; i++) {
        orch_weight_shard_add(&s->shards[i], gradient + s->shards[i].begin);
        orch_weight_shard_update(&s->shards[i], rate);
    }
    s->counts.updates++;
    publish(s);
    return true;
}

struct orch_gorila_server_counts orch_gorila_server_counts(const struct orch_gorila_server *s)
{
    return s->counts;
}
