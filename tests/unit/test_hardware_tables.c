/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of share/hardware: every row has its source and date, in its unit and range; and what
 * is said of a row that is wrong. */
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/devices/gpus.h"
#include "lib/devices/links.h"
#include "lib/devices/prices.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

static char *file_of(const char *name)
{
    GError *error = NULL;
    char *text;
    g_autofree char *path =
        g_build_filename(g_getenv("ORCH_SOURCE_DIR"), "share", "hardware", name, NULL);
    if (!orch_file_read(path, 1 << 20, &text, NULL, &error))
        fail_msg("%s", error->message);
    return text;
}

static unsigned lines_of(const char *text)
{
    unsigned count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

/* What is built in is the file: no row is lost or added. */
static void test_built_in_is_the_file(void **state)
{
    (void)state;
    g_autofree char *gpus = file_of("gpus.csv"), *prices = file_of("prices.csv");
    unsigned count = 0;
    while (orch_gpu_specs()[count].name)
        count++;
    assert_int_equal(count, lines_of(gpus) - 1);
    assert_int_equal(orch_prices()->len, lines_of(prices) - 1);
    GString *again = orch_prices_text(orch_prices());
    assert_string_equal(again->str, prices); /* every field, through numbers and back */
    g_string_free(again, TRUE);
}

/* Ranges that any data centre's device is in; a number in another unit is outside. */
static void check_units(const struct orch_gpu_spec *s)
{
    const struct {
        const char *name;
        double value, min, max;
    } numbers[] = {{"year", s->year, 2012, 2026},
                   {"boost MHz", s->boost_mhz, 500, 3500},
                   {"fp32 TFLOP/s", s->fp32_tflops, 1, 200},
                   {"memory GB", s->memory_gb, 2, 400},
                   {"bandwidth GB/s", s->bandwidth_gbs, 100, 10000},
                   {"watts", s->watts, 50, 1500}};
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
        if (numbers[i].value != 0 && /* not known */
            !(numbers[i].value >= numbers[i].min && numbers[i].value <= numbers[i].max))
            fail_msg("%s: %g %s", s->name, numbers[i].value, numbers[i].name);
    assert_true(s->memory_gb > 0 && s->bandwidth_gbs > 0 &&
                (s->fp32_tflops > 0 || s->bf16_tflops > 0));
    assert_true(s->base_mhz <= s->boost_mhz && s->fp32_base_tflops <= s->fp32_tflops);
    assert_true(s->fp64_tflops <= s->fp32_tflops);
    assert_true(s->tensor16_tflops == 0 || s->tensor16_tflops > s->fp32_tflops);
    assert_true(s->fp8_tflops == 0 || s->fp8_tflops > s->tensor16_tflops);
    assert_true(s->fp4_tflops == 0 || s->fp4_tflops > s->fp8_tflops);
}

static void test_gpus(void **state)
{
    (void)state;
    g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
    for (const struct orch_gpu_spec *s = orch_gpu_specs(); s->name; s++) {
        assert_true(g_hash_table_add(names, (gpointer)(uintptr_t)s->name));
        assert_ptr_equal(orch_gpu_find(s->name), s);
        check_units(s);
        assert_true(s->chip && *s->chip);
        assert_true(strlen(s->source) > 10 && strlen(s->date) == strlen("2026-11-21"));
        assert_true(strcmp(s->date, "2026-01-01") > 0);
    }
}

/* Boards of one chip have one name of it, and other chips do not. */
static void test_chips(void **state)
{
    (void)state;
    assert_string_equal(orch_gpu_chip("A100 80GB PCIe"), orch_gpu_chip("A100-SXM4-40GB"));
    assert_string_equal(orch_gpu_chip("RTX 3090"), orch_gpu_chip("NVIDIA A10"));
    assert_string_not_equal(orch_gpu_chip("P100"), orch_gpu_chip("GTX 1080 Ti"));
    assert_string_equal(orch_gpu_chip("no such GPU"), "no such GPU");
    for (const struct orch_gpu_spec *s = orch_gpu_specs(); s->name; s++)
        for (const struct orch_gpu_spec *t = s + 1; t->name; t++)
            if (strcmp(s->chip, t->chip) == 0 &&
                (strcmp(s->arch, t->arch) != 0 ||
                 strcmp(s->compute_capability, t->compute_capability) != 0))
                fail_msg("%s and %s are one chip of two architectures", s->name, t->name);
}

static void test_prices(void **state)
{
    (void)state;
    for (guint i = 0; i < orch_prices()->len; i++) {
        const struct orch_price *p = orch_prices()->pdata[i];
        assert_non_null(orch_gpu_find(p->gpu));
        assert_string_equal(orch_gpu_find(p->gpu)->name, p->gpu);
        double each = orch_price_per_gpu(p, false);
        if (!(each >= 0.05 && each <= 20) || p->spot_usd_per_hour > p->usd_per_hour)
            fail_msg("%s %s: $%g a GPU, spot $%g", p->gpu, p->instance, each,
                     orch_price_per_gpu(p, true));
        /* "v5@3f5f697": a folder and a commit; "cloud.com/prices@2026-09-20": a list and a day */
        if (!g_regex_match_simple(
                "^(v[0-9]+@[0-9a-f]{7}|[a-z0-9./]+@20[0-9]{2}-[0-9]{2}-[0-9]{2})$", p->source, 0,
                0))
            fail_msg("%s %s: source '%s'", p->gpu, p->instance, p->source);
        assert_true(strcmp(p->as_of, "2020") > 0 && strcmp(p->as_of, "2027") < 0);
        assert_false(p->is_own);
    }
}

static void test_links(void **state)
{
    (void)state;
    g_autofree char *file = file_of("links.csv");
    unsigned count = 0;
    for (const struct orch_link *link = orch_links(); link->name; link++, count++) {
        assert_ptr_equal(orch_link_find(link->name), link); /* no name is taken twice */
        if (!(link->gbit_s >= 1 && link->gbit_s <= 10000 && link->latency_us >= 0.5 &&
              link->latency_us <= 200 && strlen(link->source) > 10))
            fail_msg("%s: %g Gbit/s, %g us, '%s'", link->name, link->gbit_s, link->latency_us,
                     link->source);
        assert_true(!*link->between || (link->gpus > 1 && orch_link_find(link->between)));
    }
    for (const struct orch_gpu_spec *g = orch_gpu_specs(); g->name; g++)
        assert_true(orch_link_within(g)->gpus > 1);
    assert_int_equal(orch_link_within(orch_gpu_find("GB300"))->gpus, 72);
    assert_int_equal(count, lines_of(file) - 1);
    assert_string_equal(orch_link_find("10GbE")->name, "ethernet10"); /* an alias, in any case */
    assert_string_equal(orch_link_find("fdr")->name, "infiniband-fdr");
    assert_null(orch_link_find("token ring"));
    assert_string_equal(orch_link_within(orch_gpu_find("H100 SXM"))->name, "nvlink4");
    assert_string_equal(orch_link_within(orch_gpu_find("K80"))->name, "pcie3");
}

/* ---- rows that are wrong -----------------------------------------------------------------------
 */

#define HEAD "gpu,cloud,instance,region,gpus,usd_per_hour,spot_usd_per_hour,as_of,host,source\n"
#define GOOD "K80,aws,p2,us,1,0.9,0.3,2026-11,included,me\n"

static void test_bad_prices(void **state)
{
    (void)state;
    static const struct {
        const char *text, *what, *place;
    } bad[] = {
        {HEAD "K80,aws,p2,us,one,0.9,,2026,included,me\n", "'one' in column 'gpus'", "t:2:15"},
        {HEAD GOOD "K80,aws,p2,us,1.5,0.9,,2026,included,me\n", "not a whole number", "t:3:15"},
        {HEAD "K80,aws,p2,us,0,0.9,,2026,included,me\n", "not between 1 and 1024", "t:2:15"},
        {HEAD "K80,aws,p2,us,1,0,,2026,included,me\n", "'usd_per_hour' is not between", "t:2:17"},
        {HEAD "K80,aws,p2,us,1,nan,,2026,included,me\n", "is not a number", "t:2:17"},
        {HEAD "K80,aws,p2,us,1,1,-1,2026,included,me\n", "'spot_usd_per_hour'", "t:2:19"},
        {HEAD "K80,aws,p2,us,1,1,,2026-13,included,me\n", "'2026-13'", "t:2:20"},
        {HEAD "K80,aws,p2,us,1,1,,2026-02-30,included,me\n", "is not a date", "t:2:20"},
        {HEAD "K80,aws,p2,us,1,1,,26,included,me\n", "is not a date", "t:2:20"},
        {HEAD "K80,aws,p2,us,1,1,,0000,included,me\n", "is not a date", "t:2:20"},
        {HEAD "K80,aws,p2,us,1,1,,2026,own,me\n", "unknown 'own' in column 'host'", "t:2:25"},
        {HEAD "K80,aws,p2,us,1,1,,2026,,\n", "'source' is missing", "t:2:26"},
        {HEAD ",aws,p2,us,1,1,,2026,,me\n", "'gpu' is missing", "t:2:1"},
        {HEAD "K80,aws,\"p\n2\",us,1,1,,2026,,me\n", "line break", "t:2:9"},
        {HEAD "K80,aws,p\x1b[2J,us,1,1,,2026,,me\n", "control character", "t:2:9"},
        {HEAD "K80,aws\n", "record has 2 fields", "t:2:5"},
        {"gpu,cloud\nK80,aws\n", "no column 'instance'", "t:1:1"},
        {"x" HEAD GOOD, "no column 'gpu'", "t:1:1"},
        {"colour," HEAD "red," GOOD, "unknown column 'colour'", "t:1:1"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        GError *error = NULL;
        struct orch_csv *csv = orch_csv_parse("t", bad[i].text, strlen(bad[i].text), &error);
        GPtrArray *prices = csv ? orch_prices_read(csv, &error) : NULL;
        assert_null(prices);
        assert_int_equal(error->code, ORCH_ERROR_RECIPE);
        if (!strstr(error->message, bad[i].what) || !strstr(error->message, bad[i].place) ||
            !strstr(error->message, "hint: "))
            fail_msg("wanted '%s' at %s: %s", bad[i].what, bad[i].place, error->message);
        g_error_free(error);
        orch_csv_free(csv);
    }
}

static void refuse_gpus(const char *from, const char *to, const char *what)
{
    g_autofree char *text = file_of("gpus.csv");
    GString *changed = g_string_new(text);
    assert_true(g_string_replace(changed, from, to, 1) == 1);
    GError *error = NULL;
    struct orch_csv *csv = orch_csv_parse("t", changed->str, changed->len, &error);
    struct orch_gpu_spec *specs = csv ? orch_gpu_specs_read(csv, &error) : NULL;
    if (specs || !strstr(error->message, what))
        fail_msg("wanted '%s': %s", what, specs ? "taken" : error->message);
    g_error_free(error);
    orch_csv_free(csv);
    g_string_free(changed, TRUE);
}

static void test_bad_gpus(void **state)
{
    (void)state;
    refuse_gpus("K20X,K20Xm,card", "K20,K20Xm,card", "'K20' is already a name of 'K20'");
    refuse_gpus("K20X,K20Xm,card", "K20c,K20Xm,card", "'K20c' is already a name of 'K20'");
    refuse_gpus("K20X,K20Xm,card", "K20X,K20Xm,pcb", "unknown 'pcb' in column 'unit'");
    refuse_gpus("high,", "sure,", "unknown 'sure' in column 'confidence'");
    refuse_gpus("K20X,K20Xm,card,Kepler,GK110,2012", "K20X,K20Xm,card,Kepler,GK110,12",
                "between 2000 and 2100");
}

/* ---- choosing ----------------------------------------------------------------------------------
 */

static void test_newest_of_an_offer(void **state)
{
    (void)state;
    static const struct orch_price rows[] = {
        {"K80", "aws", "p2", "us", 1, 0.5, 0, "2026", "me", NULL, false, false},
        {"K80", "aws", "p2", "us", 1, 0.9, 0, "2026-11", "me", NULL, false, false},
        {"K80", "aws", "p2", "eu", 1, 0.8, 0, "2026-03", "me", NULL, false, false},
        {"K80", "aws", "p2", "eu", 1, 0.85, 0, "2026-03", "me", NULL, false, true},
    };
    g_autoptr(GPtrArray) prices = g_ptr_array_new();
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        g_ptr_array_add(prices, (gpointer)(uintptr_t)&rows[i]);
    struct orch_price_query query = {.gpu = "K80"};
    /* 0.5 has gone up to 0.9, and the user's own word of 2026-03 goes before 0.8 */
    assert_ptr_equal(orch_price_choose(prices, query), &rows[3]);
    query.on = "2026-02-01";
    assert_ptr_equal(orch_price_choose(prices, query), &rows[0]);
    query.on = "2026-12-01";
    assert_ptr_equal(orch_price_choose(prices, query), &rows[3]);
}

/* An offer that has ended is the default only where there is no other, and for a day when it held.
 */
static void test_ended_offers(void **state)
{
    (void)state;
    static const struct orch_price rows[] = {
        {"K80", "azure", "NC6", "us", 1, 0.5, 0, "2024", "me", "2025-08", false, false},
        {"K80", "aws", "p2", "us", 8, 7.2, 0, "2023", "me", "", false, false},
        {"K80", "verda", "k", "fi", 1, 0.2, 0, "2023", "me", NULL, false, false},
        {"K80", "gcp", "gpu", "us", 1, 0.1, 0, "2026", "me", NULL, true, false},
        {"M60", "azure", "NV6", "us", 1, 0.5, 0, "2024", "me", "2025-08", false, false},
    };
    g_autoptr(GPtrArray) prices = g_ptr_array_new();
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        g_ptr_array_add(prices, (gpointer)(uintptr_t)&rows[i]);
    struct orch_price_query query = {.gpu = "K80"};
    assert_ptr_equal(orch_price_choose(prices, query), &rows[1]);
    struct orch_price_range range = orch_price_range(prices, query);
    assert_int_equal(range.count, 2);
    assert_ptr_equal(range.cheapest, &rows[2]);
    assert_ptr_equal(range.dearest, &rows[1]);
    query.on = "2024-06-01";
    assert_ptr_equal(orch_price_choose(prices, query), &rows[0]);
    query = (struct orch_price_query){.gpu = "M60"};
    assert_ptr_equal(orch_price_choose(prices, query), &rows[4]);
    assert_int_equal(orch_price_range(prices, query).count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_built_in_is_the_file),
        cmocka_unit_test(test_gpus),
        cmocka_unit_test(test_chips),
        cmocka_unit_test(test_prices),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_bad_prices),
        cmocka_unit_test(test_bad_gpus),
        cmocka_unit_test(test_newest_of_an_offer),
        cmocka_unit_test(test_ended_offers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
