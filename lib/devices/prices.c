/* SPDX-License-Identifier: MIT */
#include "lib/devices/prices.h"

#include <glib.h>
#include <string.h>

double orch_price_per_gpu(const struct orch_price *price, bool spot)
{
    return (spot ? price->spot_usd_per_hour : price->usd_per_hour) / price->count;
}

static int rank_of_cloud(const struct orch_price *price)
{
    static const char *const order[] = {"aws", "azure", "gcp"};
    int rank = 0;
    while (rank < 3 && strcmp(order[rank], price->cloud) != 0)
        rank++;
    return rank;
}

bool orch_price_has_ended(const struct orch_price *price)
{
    return price->ended && *price->ended;
}

/* Negative if `a` is preferred. */
static int compare(const struct orch_price *a, const struct orch_price *b,
                   struct orch_price_query query)
{
    int ends = query.on ? 0 : orch_price_has_ended(a) - orch_price_has_ended(b);
    int fees = a->is_fee - b->is_fee, years = strncmp(b->as_of, a->as_of, 4);
    int clouds = rank_of_cloud(a) - rank_of_cloud(b);
    if (fees || ends || years || clouds)
        return fees ? fees : ends ? ends : years ? years : clouds;
    double difference = orch_price_per_gpu(a, query.spot) - orch_price_per_gpu(b, query.spot);
    return difference < 0 ? -1 : difference > 0;
}

bool orch_price_was_known(const struct orch_price *price, const char *on)
{
    bool has_date = price->as_of[0] >= '0' && price->as_of[0] <= '9';
    return !on || !has_date || strncmp(price->as_of, on, strlen(price->as_of)) <= 0;
}

/* Date of the GPU's first price; NULL if it has none. */
static const char *oldest(const GPtrArray *prices, const char *gpu)
{
    const char *first = NULL;
    for (guint i = 0; i < prices->len; i++) {
        const struct orch_price *p = prices->pdata[i];
        if (strcmp(p->gpu, gpu) == 0 && (!first || strcmp(p->as_of, first) < 0))
            first = p->as_of;
    }
    return first;
}

static bool is_same_offer(const struct orch_price *a, const struct orch_price *b)
{
    return strcmp(a->gpu, b->gpu) == 0 && strcmp(a->instance, b->instance) == 0 &&
           strcmp(a->region, b->region) == 0 && a->count == b->count && a->is_fee == b->is_fee &&
           g_ascii_strcasecmp(a->cloud, b->cloud) == 0;
}

/* True if `a` supersedes `b`: it is newer, or of the same date and the user's own. */
static bool is_later(const struct orch_price *a, const struct orch_price *b)
{
    int order = strcmp(a->as_of, b->as_of);
    return order > 0 || (order == 0 && a->is_own && !b->is_own);
}

/* True if the same offer has a newer price that was valid on that day. */
static bool is_outdated(const GPtrArray *prices, const struct orch_price *price, const char *on)
{
    for (guint i = 0; i < prices->len; i++) {
        const struct orch_price *other = prices->pdata[i];
        if (is_later(other, price) && orch_price_was_known(other, on) &&
            is_same_offer(other, price))
            return true;
    }
    return false;
}

static bool meets(const struct orch_price *p, struct orch_price_query query)
{
    return strcmp(p->gpu, query.gpu) == 0 &&
           (!query.cloud || g_ascii_strcasecmp(p->cloud, query.cloud) == 0) &&
           (!query.spot || p->spot_usd_per_hour > 0) && orch_price_was_known(p, query.on);
}

struct orch_price_range orch_price_range(const GPtrArray *prices, struct orch_price_query query)
{
    struct orch_price_range range = {0};
    for (guint i = 0; i < prices->len; i++) {
        const struct orch_price *p = prices->pdata[i];
        if (!meets(p, query) || p->is_fee || orch_price_has_ended(p) ||
            is_outdated(prices, p, query.on))
            continue;
        double usd = orch_price_per_gpu(p, query.spot);
        if (!range.count || usd < orch_price_per_gpu(range.cheapest, query.spot))
            range.cheapest = p;
        if (!range.count || usd > orch_price_per_gpu(range.dearest, query.spot))
            range.dearest = p;
        range.count++;
    }
    return range;
}

static const struct orch_price *choose(const GPtrArray *prices, struct orch_price_query query)
{
    const struct orch_price *best = NULL;
    for (guint i = 0; i < prices->len; i++) {
        const struct orch_price *p = prices->pdata[i];
        if (meets(p, query) && (!best || compare(p, best, query) < 0) &&
            !is_outdated(prices, p, query.on))
            best = p;
    }
    return best;
}

const struct orch_price *orch_price_choose(const GPtrArray *prices, struct orch_price_query query)
{
    const struct orch_price *best = choose(prices, query);
    if (!best && query.on) {
        query.on = oldest(prices, query.gpu);
        best = query.on ? choose(prices, query) : NULL;
    }
    return best;
}
