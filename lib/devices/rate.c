/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/devices/rate.h"

#include <glib.h>
#include <string.h>

const char *const ORCH_PRICED_CLOUDS[] = {"aws", "azure", "gcp", "lambda", "runpod", "verda", NULL};

char *orch_price_text(const struct orch_price *price, bool spot)
{
    g_autofree char *gpus =
        price->count > 1 ? g_strdup_printf(" with %d GPUs", price->count) : g_strdup("");
    g_autofree char *ended = orch_price_has_ended(price)
                                 ? g_strdup_printf(", not rented out since %s", price->ended)
                                 : g_strdup("");
    return g_strdup_printf("%s %s%s, %s, as of %s%s%s%s", price->cloud, price->instance, gpus,
                           price->region, price->as_of, ended, spot ? ", spot" : "",
                           price->is_fee ? ", the host billed apart" : "");
}

static bool is_board(const char *gpu)
{
    return g_str_has_suffix(gpu, "-board");
}

struct orch_rate orch_rate_of(const struct orch_hardware *hardware, const char *gpu,
                              const char *cloud, bool spot, double own_usd)
{
    if (own_usd > 0)
        return (struct orch_rate){.usd_per_hour = own_usd, .from = g_strdup("--price")};
    int devices = is_board(gpu) ? 2 : 1;
    g_autofree char *die = g_strndup(gpu, strlen(gpu) - (devices > 1 ? strlen("-board") : 0));
    struct orch_price_query query = {.gpu = die, .cloud = cloud, .spot = spot};
    const struct orch_price *price = orch_hardware_price(hardware, query);
    if (!price)
        return (struct orch_rate){0};
    g_autofree char *text = orch_price_text(price, spot);
    struct orch_rate rate = {.usd_per_hour = devices * orch_price_per_gpu(price, spot),
                             .from =
                                 g_strdup_printf("%s%s", devices > 1 ? "two GPUs at " : "", text)};
    struct orch_price_range range = orch_price_range(hardware->offers, query);
    if (range.count < 2 || range.cheapest == range.dearest)
        return rate;
    rate.low_usd = devices * orch_price_per_gpu(range.cheapest, spot);
    rate.high_usd = devices * orch_price_per_gpu(range.dearest, spot);
    rate.low_from = orch_price_text(range.cheapest, spot);
    rate.high_from = orch_price_text(range.dearest, spot);
    return rate;
}

void orch_rate_release(struct orch_rate *rate)
{
    g_clear_pointer(&rate->from, g_free);
    g_clear_pointer(&rate->low_from, g_free);
    g_clear_pointer(&rate->high_from, g_free);
}

bool orch_pareto_step(double usd, double *inout_cheapest)
{
    bool is_cheaper = usd < *inout_cheapest;
    if (is_cheaper)
        *inout_cheapest = usd;
    return is_cheaper;
}
