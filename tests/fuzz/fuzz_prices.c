/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a CSV table, each field read in every way, and as the table of 'orch gpu prices
 * --update'. A crash, a leak, a hang, a result beside an error, or prices that are others after
 * they were written and read again is a fault. Built with -fsanitize=fuzzer it fuzzes; with
 * replay.c it runs the committed corpus as a test. */
#include "lib/devices/price_updates.h"
#include "tests/fuzz/scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void must_agree(bool ok, GError **error)
{
    if (ok != (*error == NULL))
        fuzz_die("a result beside an error, or neither");
    if (*error && !g_utf8_validate((*error)->message, -1, NULL))
        fuzz_die("a message that is not UTF-8");
    g_clear_error(error);
}

static void read_fields(const struct orch_csv *csv)
{
    GError *error = NULL;
    for (size_t row = 0; row < orch_csv_rows(csv); row++)
        for (int column = 0; column < orch_csv_columns(csv); column++) {
            double real;
            int64_t whole;
            if (!orch_csv_text(csv, row, column) || !orch_csv_name(csv, column))
                fuzz_die("a field without a text");
            must_agree(orch_csv_real(csv, row, column, &real, &error), &error);
            must_agree(orch_csv_int(csv, row, column, &whole, &error), &error);
        }
}

/* Written and read again they are the same text. */
static void check_round_trip(const GPtrArray *prices)
{
    GString *text = orch_prices_text(prices);
    struct orch_csv *csv = orch_csv_parse("again", text->str, text->len, NULL);
    GPtrArray *again = csv ? orch_prices_read(csv, NULL) : NULL;
    GString *twice = again ? orch_prices_text(again) : NULL;
    if (!twice || !g_string_equal(text, twice))
        fuzz_die("prices change when they are written and read");
    g_string_free(text, TRUE);
    g_string_free(twice, TRUE);
    g_ptr_array_unref(again);
    orch_csv_free(csv);
}

static void read_table(const char *bytes, size_t length)
{
    GError *error = NULL;
    struct orch_csv *csv = orch_csv_parse("fuzz", bytes, length, &error);
    must_agree(csv != NULL, &error);
    if (!csv)
        return;
    read_fields(csv);
    GPtrArray *prices = orch_prices_read(csv, &error);
    must_agree(prices != NULL, &error);
    if (prices) {
        check_round_trip(prices);
        g_ptr_array_unref(prices);
    }
    orch_csv_free(csv);
}

/* What was added is there at the next start, and adds nothing again. */
static void update(const char *path)
{
    struct orch_price_change change;
    unsigned removed;
    GError *error = NULL;
    struct orch_hardware *hardware = orch_hardware_load(&error);
    if (!hardware)
        fuzz_die(error->message);
    bool added = orch_price_updates_add(hardware, path, &change, &error);
    must_agree(added, &error);
    orch_hardware_free(hardware);
    hardware = orch_hardware_load(&error);
    if (!hardware)
        fuzz_die(error->message);
    if (added && (!orch_price_updates_add(hardware, path, &change, &error) || change.added ||
                  change.replaced))
        fuzz_die("the same table again adds prices");
    if (!orch_price_updates_remove(NULL, &removed, &error))
        fuzz_die(error->message);
    orch_hardware_free(hardware);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static bool is_set;
    if (!is_set) {
        g_setenv("XDG_DATA_HOME", scratch_folder(), TRUE);
        g_setenv("XDG_CONFIG_HOME", scratch_folder(), TRUE);
        is_set = true;
    }
    g_autofree char *path = scratch_write("prices.csv", bytes, length);
    read_table((const char *)bytes, length);
    update(path);
    return 0;
}
