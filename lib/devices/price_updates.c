/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/devices/price_updates.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

char *orch_price_updates_file(void)
{
    return g_build_filename(g_get_user_data_dir(), "orch", "prices.csv", NULL);
}

/* ---- reading -----------------------------------------------------------------------------------
 */

/* A table, and the prices that borrow their texts from it; both NULL when there is no file. */
struct table {
    struct orch_csv *csv;
    GPtrArray *prices; /* struct orch_price *, freed with it */
};

static void release_table(struct table *table)
{
    g_clear_pointer(&table->prices, g_ptr_array_unref);
    g_clear_pointer(&table->csv, orch_csv_free);
}

static bool read_table(const char *path, struct table *out, GError **error)
{
    struct table table = {.csv = orch_csv_read(path, error)};
    if (!table.csv)
        return false;
    if (orch_csv_rows(table.csv) > ORCH_PRICE_UPDATES_MAX)
        orch_csv_fail(table.csv, ORCH_PRICE_UPDATES_MAX, 0,
                      "remove the prices that you do not need", error,
                      "the table has more than %d prices", ORCH_PRICE_UPDATES_MAX);
    else
        table.prices = orch_prices_read(table.csv, error);
    if (!table.prices) {
        release_table(&table);
        return false;
    }
    for (guint i = 0; i < table.prices->len; i++)
        ((struct orch_price *)table.prices->pdata[i])->is_own = true;
    *out = table;
    return true;
}

static bool read_own(struct table *out, GError **error)
{
    g_autofree char *path = orch_price_updates_file();
    *out = (struct table){0};
    return access(path, F_OK) != 0 || read_table(path, out, error);
}

bool orch_price_updates_load(struct orch_hardware *hardware, GError **error)
{
    struct table table;
    if (!read_own(&table, error))
        return false;
    hardware->updates_text = table.csv;
    hardware->updates = table.prices;
    for (guint i = 0; table.prices && i < table.prices->len; i++) {
        struct orch_price *price = table.prices->pdata[i];
        const struct orch_gpu_spec *spec = orch_hardware_gpu(hardware, price->gpu, NULL);
        price->gpu = spec ? spec->name : price->gpu;
        g_ptr_array_insert(hardware->offers, (gint)i, price);
    }
    return true;
}

/* ---- changing ----------------------------------------------------------------------------------
 */

/* A key that is equal for prices of the same offer and date. */
static char *offer_key(const struct orch_price *price)
{
    g_autofree char *cloud = g_ascii_strdown(price->cloud, -1);
    return g_strdup_printf("%s\n%s\n%s\n%s\n%d\n%d\n%s", price->gpu, cloud, price->instance,
                           price->region, price->count, price->is_fee, price->as_of);
}

static bool is_same_price(const struct orch_price *a, const struct orch_price *b)
{
    return a->usd_per_hour == b->usd_per_hour && a->spot_usd_per_hour == b->spot_usd_per_hour;
}

static GHashTable *index_offers(const GPtrArray *prices)
{
    GHashTable *index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; prices && i < prices->len; i++)
        g_hash_table_insert(index, offer_key(prices->pdata[i]), prices->pdata[i]);
    return index;
}

/* Replaces every GPU name by its name in the tables, and rejects duplicate offers. */
static bool check_table(const struct orch_hardware *hardware, struct table *table, GError **error)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    const int column = orch_csv_find(table->csv, "gpu");
    for (guint i = 0; i < table->prices->len; i++) {
        struct orch_price *price = table->prices->pdata[i];
        const struct orch_gpu_spec *spec = orch_hardware_gpu(hardware, price->gpu, NULL);
        if (!spec)
            return orch_csv_fail(
                table->csv, i, column,
                "'orch gpu ls' lists them; 'orch gpu ls --help' shows how to add one", error,
                "unknown GPU '%s'", price->gpu);
        price->gpu = spec->name;
        if (!g_hash_table_add(seen, offer_key(price)))
            return orch_csv_fail(table->csv, i, column, "remove one of the two records", error,
                                 "another record has the price of this instance as of %s, too",
                                 price->as_of);
    }
    return true;
}

static bool write_own(const GPtrArray *prices, GError **error)
{
    g_autofree char *path = orch_price_updates_file(), *folder = g_path_get_dirname(path);
    if (prices->len > ORCH_PRICE_UPDATES_MAX) {
        orch_error_set(
            error, ORCH_ERROR_RECIPE, "remove your own prices with 'orch gpu prices --remove'",
            "cannot keep %u prices in '%s': at most %d", prices->len, path, ORCH_PRICE_UPDATES_MAX);
        return false;
    }
    GString *text = orch_prices_text(prices);
    bool ok =
        orch_dir_make(folder, error) && orch_file_write(path, text->str, text->len, true, error);
    g_string_free(text, TRUE);
    return ok;
}

/* Merges the rows of `table` into the user's rows; borrows from both. */
static GPtrArray *join(const struct table *own, const struct table *table,
                       struct orch_price_change *change)
{
    g_autoptr(GHashTable) built_in = index_offers(orch_prices());
    g_autoptr(GHashTable) mine = index_offers(own->prices), new = index_offers(table->prices);
    GPtrArray *joined = g_ptr_array_new();
    for (guint i = 0; own->prices && i < own->prices->len; i++) {
        g_autofree char *key = offer_key(own->prices->pdata[i]);
        if (!g_hash_table_contains(new, key))
            g_ptr_array_add(joined, own->prices->pdata[i]);
    }
    for (guint i = 0; i < table->prices->len; i++) {
        struct orch_price *price = table->prices->pdata[i];
        g_autofree char *key = offer_key(price);
        const struct orch_price *before = g_hash_table_lookup(mine, key);
        const struct orch_price *known = before ? before : g_hash_table_lookup(built_in, key);
        bool is_known = known && is_same_price(known, price);
        change->known += is_known;
        change->replaced += before && !is_known;
        change->added += !before && !is_known;
        if (before || !is_known)
            g_ptr_array_add(joined, price);
    }
    return joined;
}

bool orch_price_updates_add(const struct orch_hardware *hardware, const char *path,
                            struct orch_price_change *out, GError **error)
{
    struct table own = {0}, table = {0};
    struct orch_price_change change = {0};
    bool ok = read_own(&own, error) && read_table(path, &table, error) &&
              check_table(hardware, &table, error);
    if (ok) {
        g_autoptr(GPtrArray) joined = join(&own, &table, &change);
        ok = (!change.added && !change.replaced) || write_own(joined, error);
    }
    release_table(&own);
    release_table(&table);
    if (ok)
        *out = change;
    return ok;
}

static bool remove_file(GError **error)
{
    g_autofree char *path = orch_price_updates_file();
    if (unlink(path) == 0 || errno == ENOENT)
        return true;
    orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot remove '%s'", path);
    return false;
}

bool orch_price_updates_remove(const char *gpu, unsigned *out_removed, GError **error)
{
    struct table own;
    if (!gpu) { /* removing all rows also works when the file is unreadable */
        *out_removed = read_own(&own, NULL) && own.prices ? own.prices->len : 0;
        release_table(&own);
        return remove_file(error);
    }
    if (!read_own(&own, error))
        return false;
    g_autoptr(GPtrArray) left = g_ptr_array_new();
    for (guint i = 0; own.prices && i < own.prices->len; i++) {
        struct orch_price *price = own.prices->pdata[i];
        if (strcmp(price->gpu, gpu) != 0)
            g_ptr_array_add(left, price);
    }
    unsigned removed = own.prices ? own.prices->len - left->len : 0;
    bool ok = !removed || (left->len ? write_own(left, error) : remove_file(error));
    release_table(&own);
    if (ok)
        *out_removed = removed;
    return ok;
}
