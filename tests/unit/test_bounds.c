/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bounds of numbers that come from elsewhere: each row refuses what is just beyond it. */
#include "lib/base/json.h"
#include "lib/wire/bounds.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void assert_fault(char *fault, const char *words)
{
    if (!words && fault)
        fail_msg("refused: %s", fault);
    else if (words && (!fault || !strstr(fault, words)))
        fail_msg("'%s' lacks '%s'", fault ? fault : "", words);
    g_free(fault);
}

static void test_every_row(void **state)
{
    (void)state;
    for (int i = 0; i < ORCH_BOUNDED_NAMES; i++) {
        const struct orch_bound *row = &ORCH_BOUNDS[i];
        enum orch_bounded which = (enum orch_bounded)i;
        assert_non_null(row->name);
        assert_true(row->lowest < row->highest);
        assert_fault(orch_bound_fault(which, row->lowest), NULL);
        assert_fault(orch_bound_fault(which, row->highest), NULL);
        assert_fault(orch_bound_fault(which, nextafter(row->lowest, -INFINITY)), row->name);
        assert_fault(orch_bound_fault(which, nextafter(row->highest, INFINITY)), row->name);
        assert_fault(orch_bound_fault(which, NAN), "is nan");
        assert_fault(orch_bound_fault(which, INFINITY), "is inf");
        assert_fault(orch_bound_fault(which, -INFINITY), "is -inf");
    }
}

static const struct {
    const char *facts, *fault; /* NULL: none */
} FACTS[] = {
    {"{}", NULL},
    {"[1,2]", NULL},
    {"7", NULL},
    {"{\"load\":1.5,\"co_runners\":3,\"max_rss_bytes\":1000000,\"user_s\":12.5}", NULL},
    {"{\"load\":\"many\",\"co_runners\":null}", NULL},
    {"{\"mood\":-1e300}", NULL},
    {"{\"load\":\"nan\"}", "load is nan"},
    {"{\"load\":\"inf\"}", "load is inf"},
    {"{\"load\":-1}", "load is -1"},
    {"{\"max_rss_bytes\":1e300}",
     "max_rss_bytes is 1e+300, beyond 0 to 1.152921504606847e+18 bytes"},
    {"{\"price_usd\":-0.5}", "price_usd is -0.5, beyond 0 to 1000000000000 USD"},
    {"{\"anything_ms\":1e300}", "anything_ms"},
    {"{\"gpus\":[{\"memory_bytes\":1},{\"memory_bytes\":-7}]}", "memory_bytes is -7"},
    {"{\"cost\":{\"flops\":1e15,\"log_bytes\":-3}}", NULL},
    {"{\"cost\":{\"flops\":1e300}}", "flops is 1e+300"},
    {"{\"coords\":{\"size_bytes\":-1},\"imported\":{\"labels\":{\"x_s\":-1}}}", NULL},
};

static void test_facts(void **state)
{
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(FACTS); i++) {
        g_autoptr(json_t) facts =
            orch_json_parse(FACTS[i].facts, strlen(FACTS[i].facts), 10000, NULL);
        assert_non_null(facts);
        assert_fault(orch_bound_facts_fault(facts), FACTS[i].fault);
    }
    assert_fault(orch_bound_facts_fault(NULL), NULL);
}

static void test_points(void **state)
{
    (void)state;
    const struct orch_point fine = {"loss", 3, 1.5, INFINITY}, untimed = {"loss", 3, NAN, NAN},
                            back = {"loss", -1, 1.5, 0}, far = {"loss", INT64_MAX, NAN, 0},
                            endless = {"loss", 3, INFINITY, 0};
    assert_fault(orch_bound_point_fault(&fine), NULL);
    assert_fault(orch_bound_point_fault(&untimed), NULL);
    assert_fault(orch_bound_point_fault(&back), "metric 'loss': its step is -1, beyond 0 to");
    assert_fault(orch_bound_point_fault(&far), "its step is 9.2");
    assert_fault(orch_bound_point_fault(&endless), "its t_ms is inf");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row),
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
