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
    {"gpu", ORCH_COLUMN_TEXT, AT(gpu), ORCH_COLUMN_FULL, 0, 0, NULL},
    {"cloud", ORCH_COLUMN_TEXT, AT(cloud), ORCH_COLUMN_FULL, 0, 0, NULL},
    {"instance", ORCH_COLUMN_TEXT, AT(instance), ORCH_COLUMN_FULL, 0, 0, NULL},
    {"region", ORCH_COLUMN_TEXT, AT(region), ORCH_COLUMN_FULL, 0, 0, NULL},
    {"gpus", ORCH_COLUMN_COUNT, AT(count), ORCH_COLUMN_FULL, 1, 1024, NULL},
    {"usd_per_hour", ORCH_COLUMN_REAL, AT(usd_per_hour), ORCH_COLUMN_FULL, 1e-4, 1e5, NULL},
    {"spot_usd_per_hour", ORCH_COLUMN_REAL, AT(spot_usd_per_hour), ORCH_COLUMN_SPARSE, 0, 1e5,
     NULL},
    {"as_of", ORCH_COLUMN_DATE, AT(as_of), ORCH_COLUMN_FULL, 0, 0, NULL},
    {"host", ORCH_COLUMN_FLAG, AT(is_fee), ORCH_COLUMN_SPARSE, 0, 0, HOSTS},
    {"source", ORCH_COLUMN_TEXT, AT(source), ORCH_COLUMN_FULL, 0, 0, NULL},
    {"ended", ORCH_COLUMN_DATE, AT(ended), ORCH_COLUMN_MAY_LACK, 0, 0, NULL},
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
