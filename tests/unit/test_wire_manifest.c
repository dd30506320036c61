/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Manifests and trials through JSON and back, what may be wrong with them, and the verdicts. */
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/wire/trial.h"
#include "lib/wire/verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct orch_manifest *make_manifest(void)
{
    struct orch_manifest *manifest = orch_manifest_new();
    manifest->kind = ORCH_PLUGIN_WRAPPED;
    manifest->path = g_strdup("/p/train.plugin");
    manifest->name = g_strdup("train");
    manifest->version = g_strdup("1.2.3");
    manifest->flags = ORCH_PLUGIN_TIMING;
    manifest->needs = (struct orch_needs){.gpus = 1, .memory_bytes = 5};
    manifest->argv = g_strsplit("python3 train.py ${lr}", " ", -1);
    manifest->metrics_from = ORCH_METRICS_REGEX;
    manifest->cost = json_pack("{s:s}", "network", "${net}");
    struct orch_param_spec *lr = orch_manifest_add_param(manifest, "lr", ORCH_REAL | ORCH_LIST);
    lr->flags = ORCH_PARAM_NEUTRAL | ORCH_PARAM_OPTIONAL;
    lr->min = g_strdup("0");
    lr->max = g_strdup("1");
    lr->def = g_strdup("[0.1, 0.2]");
    lr->help = g_strdup("rate");
    struct orch_param_spec *mode = orch_manifest_add_param(manifest, "mode", ORCH_ENUM);
    mode->choices = g_strsplit("full last", " ", -1);
    struct orch_metric_spec *loss = orch_manifest_add_metric(manifest, "loss");
    loss->better = ORCH_BETTER_MIN;
    loss->step_unit = g_strdup("epoch");
    loss->pattern = g_strdup("loss ([0-9.]+)");
    orch_manifest_add_artifact(manifest, "weights")->path = g_strdup("out/w.bin");
    return manifest;
}

static void test_round_trip(void **state)
{
    (void)state;
    struct orch_manifest *manifest = make_manifest();
    assert_null(orch_manifest_problem(manifest));
    g_autoptr(json_t) json = orch_manifest_encode(manifest);
    struct orch_manifest *again = orch_manifest_decode(json, NULL);
    assert_non_null(again);
    g_autoptr(json_t) json_again = orch_manifest_encode(again);
    assert_true(json_equal(json, json_again));
    const struct orch_param_spec *lr = orch_manifest_param(again, "lr");
    assert_int_equal(lr->type, ORCH_REAL | ORCH_LIST);
    assert_int_equal(lr->flags, ORCH_PARAM_NEUTRAL | ORCH_PARAM_OPTIONAL);
    assert_string_equal(lr->def, "[0.1, 0.2]");
    assert_string_equal(orch_manifest_param(again, "mode")->choices[1], "last");
    assert_int_equal(orch_manifest_metric(again, "loss")->better, ORCH_BETTER_MIN);
    assert_string_equal(orch_manifest_artifact(again, "weights")->path, "out/w.bin");
    assert_null(orch_manifest_metric(again, "weights"));
    assert_int_equal(again->needs.gpus, 1);
    assert_int_equal(again->flags, ORCH_PLUGIN_TIMING);
    assert_int_equal(again->metrics_from, ORCH_METRICS_REGEX);
    orch_manifest_free(manifest);
    orch_manifest_free(again);
}

static void test_types(void **state)
{
    (void)state;
    for (uint32_t type = ORCH_BOOL; type <= ORCH_SECRET; type++) {
        for (uint32_t list = 0; list <= ORCH_LIST; list += ORCH_LIST) {
            g_autofree char *text = orch_type_format(type | list);
            assert_int_equal(orch_type_parse(text), type | list);
        }
    }
    assert_int_equal(orch_type_parse("[int]"), ORCH_INT | ORCH_LIST);
    assert_int_equal(orch_type_parse("list of list of int"), 0);
    assert_int_equal(orch_type_parse("in"), 0);
    assert_int_equal(orch_type_parse(""), 0);
}

static void expect_problem(const struct orch_manifest *manifest, const char *expected)
{
    g_autofree char *problem = orch_manifest_problem(manifest);
    assert_non_null(problem);
    assert_string_equal(problem, expected);
}

static void test_problems(void **state)
{
    (void)state;
    struct orch_manifest *manifest = make_manifest();
    struct orch_param_spec *rate = orch_manifest_add_param(manifest, "rate", ORCH_REAL);
    rate->max = g_strdup("1");
    rate->def = g_strdup("2");
    expect_problem(manifest, "parameter 'rate': default '2' is above its maximum 1");
    g_free(rate->def);
    rate->def = g_strdup("fast");
    expect_problem(manifest, "parameter 'rate': default 'fast' is not a real number");
    g_clear_pointer(&rate->def, g_free);
    rate->min = g_strdup("3");
    expect_problem(manifest, "parameter 'rate': minimum 3 is above its maximum 1");
    g_free(rate->min);
    rate->min = g_strdup("low");
    expect_problem(manifest, "parameter 'rate': its minimum 'low' does not parse");
    g_clear_pointer(&rate->min, g_free);
    orch_manifest_add_metric(manifest, "loss");
    expect_problem(manifest, "metric 'loss' is declared twice");
    g_ptr_array_set_size(manifest->metrics, 1);
    orch_manifest_add_artifact(manifest, "My File");
    expect_problem(manifest,
                   "artifact name 'My File' is not [a-z][a-z0-9_]* of at most 63 characters");
    g_ptr_array_set_size(manifest->artifacts, 0);
    struct orch_metric_spec *bad = orch_manifest_add_metric(manifest, "bad");
    bad->pattern = g_strdup("no group");
    expect_problem(manifest, "metric 'bad': its pattern has no group for the value");
    g_ptr_array_set_size(manifest->metrics, 1);
    g_free(manifest->version);
    manifest->version = g_strdup("1.2");
    expect_problem(manifest, "version '1.2' is not of the form N.N.N");
    orch_manifest_free(manifest);
}

static void test_decode_refuses(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{}",
        "[]",
        "{\"kind\":\"magic\",\"name\":\"a\",\"version\":\"1.0.0\"}",
        "{\"kind\":\"compiled\",\"version\":\"1.0.0\"}",
        "{\"kind\":\"compiled\",\"name\":\"a\"}",
        "{\"kind\":\"compiled\",\"name\":\"a\",\"version\":\"1.0.0\",\"params\":{}}",
        "{\"kind\":\"compiled\",\"name\":\"a\",\"version\":\"1.0.0\",\"params\":[{}]}",
        "{\"kind\":\"compiled\",\"name\":\"a\",\"version\":\"1.0.0\","
        "\"params\":[{\"name\":\"x\",\"type\":\"colour\"}]}",
        "{\"kind\":\"compiled\",\"name\":\"a\",\"version\":\"1.0.0\","
        "\"metrics\":[{\"name\":\"x\",\"better\":\"most\"}]}",
        "{\"kind\":\"wrapped\",\"name\":\"a\",\"version\":\"1.0.0\",\"argv\":[1]}",
        "{\"kind\":\"wrapped\",\"name\":\"a\",\"version\":\"1.0.0\",\"metrics_from\":\"air\"}",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(json_t) json = json_loads(bad[i], 0, NULL);
        g_autoptr(GError) error = NULL;
        struct orch_manifest *manifest = orch_manifest_decode(json, &error);
        if (manifest)
            fail_msg("accepted: %s", bad[i]);
        assert_int_equal(error->code, ORCH_ERROR_PROTOCOL);
    }
}

static void test_trial(void **state)
{
    (void)state;
    struct orch_trial_spec *trial = orch_trial_new();
    trial->key = g_strdup("k");
    trial->experiment = g_strdup("e");
    trial->seed = G_MAXUINT64;
    trial->repeat = 3;
    trial->smoke = true;
    trial->manifest = make_manifest();
    trial->params = json_pack("{s:f}", "lr", 0.1);
    trial->cwd = g_strdup("/w");
    trial->env = g_strsplit("A=1 B=x=y", " ", -1);
    trial->cpus = g_new0(int, 2);
    trial->cpus[1] = 7;
    trial->cpu_count = 2;
    trial->threads = 4;
    trial->gpus = 1;
    trial->ranks = 3;
    trial->usd_per_hour = 0.9;
    trial->price_from = g_strdup("aws p2.xlarge");
    trial->limit_s = 2.5;
    trial->limit_memory_bytes = INT64_C(1) << 40;
    trial->grace_s = 0.25;
    trial->detached = true;
    g_autoptr(json_t) json = orch_trial_encode(trial);
    g_autofree char *text = orch_json_canonical(json);
    g_autoptr(json_t) parsed = orch_json_parse(text, strlen(text), 1 << 20, NULL);
    struct orch_trial_spec *again = orch_trial_decode(parsed, NULL);
    assert_non_null(again);
    assert_true(again->seed == G_MAXUINT64); /* not through a double */
    assert_int_equal(again->cpu_count, 2);
    assert_int_equal(again->cpus[1], 7);
    assert_true(again->threads == 4 && again->gpus == 1 && again->ranks == 3);
    assert_true(again->usd_per_hour == 0.9); /* JSON text keeps every digit */
    assert_string_equal(again->price_from, "aws p2.xlarge");
    assert_string_equal(again->env[1], "B=x=y");
    assert_null(again->recipe);
    assert_true(again->limit_s == 2.5 && again->detached && again->smoke);
    assert_int_equal(again->limit_memory_bytes, INT64_C(1) << 40);
    g_autoptr(json_t) json_again = orch_trial_encode(again);
    assert_true(json_equal(json, json_again));

    static const struct {
        const char *key, *value;
    } breaks[] = {{"format", "2"},
                  {"limit_s", "-1"},
                  {"seed", "\"x\""},
                  {"params", "[]"},
                  {"env", "[\"=1\"]"},
                  {"cpus", "[-1]"},
                  {"manifest", "{}"},
                  {"key", "\"\""},
                  {"price", "{\"usd_per_hour\":-1}"},
                  {"price", "{\"usd_per_hour\":\"x\"}"},
                  {"slot", "{\"threads\":-1}"},
                  {"slot", "{\"gpus\":\"x\"}"},
                  {"slot", "{\"ranks\":65537}"}};
    for (size_t i = 0; i < G_N_ELEMENTS(breaks); i++) {
        g_autoptr(json_t) broken = json_copy(json);
        json_object_set_new(broken, breaks[i].key,
                            json_loads(breaks[i].value, JSON_DECODE_ANY, NULL));
        g_autoptr(GError) error = NULL;
        if (orch_trial_decode(broken, &error))
            fail_msg("accepted %s: %s", breaks[i].key, breaks[i].value);
        assert_int_equal(error->code, ORCH_ERROR_PROTOCOL);
    }
    orch_trial_free(trial);
    orch_trial_free(again);
}

static void test_verdict_names(void **state)
{
    (void)state;
    for (int i = 0; i < ORCH_VERDICT_UNKNOWN; i++)
        assert_int_equal(orch_verdict_parse(orch_verdict_name(i)), i);
    assert_int_equal(orch_verdict_parse("eaten"), ORCH_VERDICT_UNKNOWN);
    assert_int_equal(orch_verdict_parse(NULL), ORCH_VERDICT_UNKNOWN);
    assert_string_equal(orch_verdict_name(ORCH_VERDICT_PROTOCOL), "protocol-error");
    for (int i = 0; i <= ORCH_VERDICT_UNKNOWN; i++)
        assert_int_equal(orch_verdict_facts(i)->is_reused,
                         i == ORCH_VERDICT_OK || i == ORCH_VERDICT_DIVERGED);
}

static void test_judge(void **state)
{
    (void)state;
    static const struct {
        struct orch_ending ending;
        enum orch_verdict expected;
    } rows[] = {
        {{.has_done = true, .needs_done = true}, ORCH_VERDICT_OK},
        {{.needs_done = true}, ORCH_VERDICT_PROTOCOL},
        {{.needs_done = false}, ORCH_VERDICT_OK},
        {{.has_error = true}, ORCH_VERDICT_FAILED},
        {{.exit_code = 3}, ORCH_VERDICT_FAILED},
        {{.exit_code = 3, .has_done = true}, ORCH_VERDICT_FAILED},
        {{.exit_code = 3, .has_done = true, .done = ORCH_VERDICT_SKIPPED}, ORCH_VERDICT_SKIPPED},
        {{.has_done = true, .done = ORCH_VERDICT_DIVERGED}, ORCH_VERDICT_DIVERGED},
        {{.signal = 11, .has_done = true}, ORCH_VERDICT_CRASHED},
        /* told to stop, it says ok: what it did is not the whole */
        {{.stopped = ORCH_VERDICT_CANCELLED, .has_done = true}, ORCH_VERDICT_CANCELLED},
        /* it had said so before */
        {{.stopped = ORCH_VERDICT_CANCELLED, .has_done = true, .done_first = true},
         ORCH_VERDICT_OK},
        /* but then did not end by itself */
        {{.stopped = ORCH_VERDICT_TIMEOUT, .has_done = true, .done_first = true, .signal = 9},
         ORCH_VERDICT_TIMEOUT},
        {{.stopped = ORCH_VERDICT_PROTOCOL, .has_done = true, .done_first = true},
         ORCH_VERDICT_PROTOCOL},
        {{.stopped = ORCH_VERDICT_PREEMPTED, .signal = 15}, ORCH_VERDICT_PREEMPTED},
        /* it saved, and says that it was stopped */
        {{.stopped = ORCH_VERDICT_PRUNED, .has_done = true, .done = ORCH_VERDICT_CANCELLED},
         ORCH_VERDICT_PRUNED},
        /* it was done before the rule's answer came */
        {{.stopped = ORCH_VERDICT_PRUNED, .has_done = true, .done_first = true}, ORCH_VERDICT_OK},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        if (orch_verdict_judge(&rows[i].ending) != rows[i].expected)
            fail_msg("row %zu: %s", i, orch_verdict_name(orch_verdict_judge(&rows[i].ending)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_types),
        cmocka_unit_test(test_problems),   cmocka_unit_test(test_decode_refuses),
        cmocka_unit_test(test_trial),      cmocka_unit_test(test_verdict_names),
        cmocka_unit_test(test_judge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
