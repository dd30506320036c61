/* SPDX-License-Identifier: MIT */
#include "lib/hw/prices.h"

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

/* Below 0 when `a` is the better row. */
static int compare(const struct orch_price *a, const struct orch_price *b, bool spot)
{
    int fees = a->is_fee - b->is_fee, years = strncmp(b->as_of, a->as_of, 4);
    int clouds = rank_of_cloud(a) - rank_of_cloud(b);
    if (fees || years || clouds)
        return fees ? fees : years ? years : clouds;
    double difference = orch_price_per_gpu(a, spot) - orch_price_per_gpu(b, spot);
    return difference < 0 ? -1 : difference > 0;
}

bool orch_price_held(const struct orch_price *price, const char *on)
{
    bool has_date = price->as_of[0] >= '0' && price->as_of[0] <= '9';
    return !on || !has_date || strncmp(price->as_of, on, strlen(price->as_of)) <= 0;
}

/* When the GPU's prices begin; NULL: it has none. */
static const char *oldest(const char *gpu)
{
    const char *first = NULL;
    for (const struct orch_price *p = orch_prices(); p->gpu; p++)
        if (strcmp(p->gpu, gpu) == 0 && (!first || strcmp(p->as_of, first) < 0))
            first = p->as_of;
    return first;
}

static const struct orch_price *choose(struct orch_price_wish wish)
{
    const struct orch_price *best = NULL;
    for (const struct orch_price *p = orch_prices(); p->gpu; p++) {
        if (strcmp(p->gpu, wish.gpu) != 0 ||
            (wish.cloud && g_ascii_strcasecmp(p->cloud, wish.cloud) != 0))
            continue;
        if ((wish.spot && p->spot_usd_per_hour <= 0) || !orch_price_held(p, wish.on))
            continue;
        if (!best || compare(p, best, wish.spot) < 0)
            best = p;
    }
    return best;
}

const struct orch_price *orch_price_choose(struct orch_price_wish wish)
{
    const struct orch_price *best = choose(wish);
    if (!best && wish.on) {
        wish.on = oldest(wish.gpu);
        best = wish.on ? choose(wish) : NULL;
    }
    return best;
}
