/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/cost/device_prices.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/devices/rate.h"
#include "lib/hw/machine.h"
#include "lib/wire/verdict.h"

#include <math.h>
#include <string.h>

#define USD_MOST 1e6
#define ANY_PROCESSOR "cpu"

struct given {
    double usd;
    bool is_used;
};

struct found {
    double usd; /* NaN: not known */
    char *from;
};

struct orch_device_prices {
    struct orch_hardware *hardware;
    GHashTable *given; /* name -> struct given * */
    GHashTable *found; /* "device\nday" -> struct found * */
    GHashTable *used, *unknown;
    char *device; /* of the latest run passed to orch_device_prices_run */
};

static void free_found(gpointer pointer)
{
    struct found *found = pointer;
    g_free(found->from);
    g_free(found);
}

/* The GPU's name in the hardware tables, or the given name when no table has it. */
static const char *table_name(const struct orch_device_prices *prices, const char *name)
{
    const struct orch_gpu_spec *spec = orch_hardware_gpu(prices->hardware, name, NULL);
    return spec ? spec->name : name;
}

void orch_device_prices_set(struct orch_device_prices *prices, const char *device,
                            double usd_per_hour)
{
    struct given *given = g_new0(struct given, 1);
    given->usd = usd_per_hour;
    g_hash_table_insert(prices->given, g_strdup(table_name(prices, device)), given);
}

static bool read_given(struct orch_device_prices *prices, const char *text, GError **error)
{
    const char *equals = strrchr(text, '=');
    g_autofree char *name = equals ? g_strstrip(g_strndup(text, (gsize)(equals - text))) : NULL;
    double usd;
    if (!name || !*name || !orch_real_parse(equals + 1, &usd) || !(usd > 0 && usd <= USD_MOST)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "for example --price V100=0.50",
                       "option '--price': '%s' is not of the form GPU=USD", text);
        return false;
    }
    orch_device_prices_set(prices, name, usd);
    return true;
}

struct orch_device_prices *orch_device_prices_new(const char *const *given, GError **error)
{
    struct orch_hardware *hardware = orch_hardware_load(error);
    if (!hardware)
        return NULL;
    struct orch_device_prices *prices = g_new0(struct orch_device_prices, 1);
    prices->hardware = hardware;
    prices->given = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    prices->found = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_found);
    prices->used = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    prices->unknown = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (; given && *given; given++)
        if (!read_given(prices, *given, error)) {
            orch_device_prices_free(prices);
            return NULL;
        }
    return prices;
}

void orch_device_prices_free(struct orch_device_prices *prices)
{
    if (!prices)
        return;
    orch_hardware_free(prices->hardware);
    GHashTable *tables[] = {prices->given, prices->found, prices->used, prices->unknown};
    for (unsigned i = 0; i < G_N_ELEMENTS(tables); i++)
        g_hash_table_unref(tables[i]);
    g_free(prices->device);
    g_free(prices);
}

static struct given *given_of(const struct orch_device_prices *prices, const char *device,
                              const char *name, bool is_processor)
{
    struct given *given = g_hash_table_lookup(prices->given, name);
    if (!given)
        given = g_hash_table_lookup(prices->given, device);
    return given || !is_processor ? given : g_hash_table_lookup(prices->given, ANY_PROCESSOR);
}

static struct found *look_up(struct orch_device_prices *prices, const char *device,
                             bool is_processor, const char *day)
{
    struct found *found = g_new0(struct found, 1);
    const char *name = table_name(prices, device);
    struct given *given = given_of(prices, device, name, is_processor);
    struct orch_price_query query = {.gpu = name, .on = day};
    const struct orch_price *price = given ? NULL : orch_hardware_price(prices->hardware, query);
    query.gpu = device;
    if (!given && !price)
        price = orch_hardware_price(prices->hardware, query);
    found->usd = given ? given->usd : price ? orch_price_per_gpu(price, false) : (double)NAN;
    if (given) {
        given->is_used = true;
        found->from = g_strdup_printf("%s $%.4g (--price)", name, found->usd);
    } else if (price) {
        g_autofree char *text = orch_price_text(price, false);
        found->from = g_strdup_printf("%s $%.4g (%s)", name, found->usd, text);
    }
    return found;
}

double orch_device_prices_find(struct orch_device_prices *prices, const char *device,
                               bool is_processor, const char *day, const char **out_from)
{
    g_autofree char *key = g_strdup_printf("%s\n%d\n%s", device, is_processor, day ? day : "");
    struct found *found = g_hash_table_lookup(prices->found, key);
    if (!found) {
        found = look_up(prices, device, is_processor, day);
        g_hash_table_insert(prices->found, g_steal_pointer(&key), found);
        if (found->from)
            g_hash_table_add(prices->used, g_strdup(found->from));
        else
            g_hash_table_add(prices->unknown, g_strdup(*device ? device : "-"));
    }
    if (out_from)
        *out_from = found->from;
    return found->usd;
}

struct orch_ledger_run orch_device_prices_run(struct orch_device_prices *prices,
                                              const struct orch_run *run)
{
    struct orch_device_parts parts = orch_device_key_parse(run->device_key);
    enum orch_verdict verdict = orch_verdict_parse(run->state);
    g_autofree char *day = orch_utc_day(run->ended_ns);
    g_free(prices->device);
    prices->device = parts.device;
    return (struct orch_ledger_run){
        .who = run->who,
        .recipe = run->recipe,
        .experiment = run->experiment,
        .device = prices->device,
        .machine = run->machine_key,
        .devices = MAX(parts.gpus, 1) * parts.gpu_share,
        .wall_s = run->wall_ms / 1e3,
        .ended_ns = run->ended_ns,
        .is_lost = !orch_verdict_facts(verdict)->is_reused && verdict != ORCH_VERDICT_PRUNED,
        .usd_per_hour = orch_device_prices_find(prices, prices->device, !parts.gpus, day, NULL),
    };
}

static GPtrArray *sorted(GHashTable *set)
{
    GPtrArray *texts = g_ptr_array_new_with_free_func(g_free);
    GHashTableIter iter;
    void *text;
    g_hash_table_iter_init(&iter, set);
    while (g_hash_table_iter_next(&iter, &text, NULL))
        g_ptr_array_add(texts, g_strdup(text));
    g_ptr_array_sort(texts, orch_compare_texts);
    return texts;
}

GPtrArray *orch_device_prices_used(const struct orch_device_prices *prices)
{
    return sorted(prices->used);
}

GPtrArray *orch_device_prices_unknown(const struct orch_device_prices *prices)
{
    return sorted(prices->unknown);
}

GPtrArray *orch_device_prices_idle(const struct orch_device_prices *prices)
{
    g_autoptr(GHashTable) idle = g_hash_table_new(g_str_hash, g_str_equal);
    GHashTableIter iter;
    void *name, *given;
    g_hash_table_iter_init(&iter, prices->given);
    while (g_hash_table_iter_next(&iter, &name, &given))
        if (!((struct given *)given)->is_used)
            g_hash_table_add(idle, name);
    return sorted(idle);
}
