/* SPDX-License-Identifier: MIT */
/* What clouds asked for an hour, by instance and region: share/hardware/prices.csv, which is built
 * in, and files of the same columns. */
#include "lib/devices/columns.h"
#include "lib/devices/prices.h"

#include "lib/base/text.h"

#include <string.h>

extern const char ORCH_PRICES_CSV[]; /* CMakeLists.txt of this folder */

static const char *const HOSTS[] = {"included", "apart", NULL};

#define AT(member) offsetof(struct orch_price, member)

static const struct orch_column COLUMNS[] = {
    {.name = "gpu", .kind = ORCH_COLUMN_TEXT, .offset = AT(gpu)},
    {.name = "cloud", .kind = ORCH_COLUMN_TEXT, .offset = AT(cloud)},
    {.name = "instance", .kind = ORCH_COLUMN_TEXT, .offset = AT(instance)},
    {.name = "region", .kind = ORCH_COLUMN_TEXT, .offset = AT(region)},
    {.name = "gpus", .kind = ORCH_COLUMN_COUNT, .offset = AT(count), .min = 1, .max = 1024},
    {.name = "usd_per_hour",
     .kind = ORCH_COLUMN_REAL,
     .offset = AT(usd_per_hour),
     .min = 1e-4,
     .max = 1e5},
    {.name = "spot_usd_per_hour",
     .kind = ORCH_COLUMN_REAL,
     .offset = AT(spot_usd_per_hour),
     .presence = ORCH_COLUMN_SPARSE,
     .max = 1e5},
    {.name = "as_of", .kind = ORCH_COLUMN_DATE, .offset = AT(as_of)},
    {.name = "host",
     .kind = ORCH_COLUMN_FLAG,
     .offset = AT(is_fee),
     .presence = ORCH_COLUMN_SPARSE,
     .choices = HOSTS},
    {.name = "source", .kind = ORCH_COLUMN_TEXT, .offset = AT(source)},
    {.name = "ended",
     .kind = ORCH_COLUMN_DATE,
     .offset = AT(ended),
     .presence = ORCH_COLUMN_MAY_LACK},
    {0}};

GPtrArray *orch_prices_read(const struct orch_csv *csv, GError **error)
{
    return orch_columns_rows(COLUMNS, csv, sizeof(struct orch_price), error);
}

const GPtrArray *orch_prices(void)
{
    static GPtrArray *prices;
    static struct orch_csv *csv; /* the texts are borrowed: the table stays */
    if (g_once_init_enter(&prices)) {
        GError *error = NULL;
        csv = orch_csv_parse("share/hardware/prices.csv", ORCH_PRICES_CSV, strlen(ORCH_PRICES_CSV),
                             &error);
        GPtrArray *read = csv ? orch_prices_read(csv, &error) : NULL;
        if (!read)
            g_error("the table of prices that is built in is damaged: %s", error->message);
        g_once_init_leave(&prices, read);
    }
    return prices;
}

static void append_real(GString *out, double value)
{
    char digits[ORCH_REAL_CHARS];
    if (value != 0)
        g_string_append(out, orch_real_format(value, digits));
}

static void append_row(GString *out, const struct orch_price *price)
{
    const char *const texts[] = {price->gpu, price->cloud, price->instance, price->region};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        orch_csv_append(out, texts[i]);
        g_string_append_c(out, ',');
    }
    g_string_append_printf(out, "%d,", price->count);
    append_real(out, price->usd_per_hour);
    g_string_append_c(out, ',');
    append_real(out, price->spot_usd_per_hour);
    g_string_append_printf(out, ",%s,%s,", price->as_of, HOSTS[price->is_fee]);
    orch_csv_append(out, price->source);
    g_string_append_printf(out, ",%s\n", price->ended ? price->ended : "");
}

GString *orch_prices_text(const GPtrArray *prices)
{
    GString *out = g_string_new(NULL);
    for (const struct orch_column *column = COLUMNS; column->name; column++)
        g_string_append_printf(out, "%s%s", column == COLUMNS ? "" : ",", column->name);
    g_string_append_c(out, '\n');
    for (guint i = 0; i < prices->len; i++)
        append_row(out, prices->pdata[i]);
    return out;
}
