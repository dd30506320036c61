/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run as text: the golden text, there and back, and what is refused. */
#include "tests/store/fixture.h"

#include "store/join/run_text.h"
#include "store/write/forecast.h"

#define DIGEST "6773a9d392efe6220b804dde12d9f9fb5d8594f8dd98f90ad340e7b35b96fde4"

static const char GOLDEN[] =
    "{\"argv\":\"[\\\"orch\\\",\\\"run\\\",\\\"hw4.recipe\\\"]\",\"artifacts\":[{\"bytes\":3,"
    "\"name\":\"weights\",\"sha256\":"
    "\"2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae\"}],\"attempt\":1,"
    "\"build\":\"b1\",\"device_key\":\"2x Tesla V100-SXM2-16GB\",\"digest\":\"" DIGEST
    "\",\"ended_ns\":1763700012345678901,\"exit_code\":0,"
    "\"experiment\":\"finetune\",\"facts\":\"{\\\"load\\\":0.5}\",\"fingerprint\":\"" FIXTURE_PRINT
    "\",\"forecasts\":[{\"fingerprint\":\"" FIXTURE_PRINT "\",\"machine\":\"V100\","
    "\"made_ns\":1763699999000000000,\"model\":\"forest\",\"p5\":10.5,\"p50\":12.0,\"p95\":null,"
    "\"tier\":\"fitted\"}],\"format\":\"orch run 1\",\"inputs\":[{\"from_key\":null,\"name\":"
    "\"train\",\"sha256\":\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"},"
    "{\"from_key\":\"01890a5d-ac96-774b-bcce-b302099a8000\",\"name\":\"weights\",\"sha256\":"
    "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"}],\"key\":\"" FIXTURE_KEY
    "\",\"machine_facts\":\"{\\\"cpu_model\\\":\\\"Xeon\\\",\\\"gpus\\\":[{\\\"model\\\":\\\"Tesla "
    "V100\\\"},{\\\"model\\\":\\\"Tesla V100\\\"}],\\\"hostname\\\":\\\"node1\\\"}\","
    "\"machine_key\":\"0123456789abcdef0123456789abcdef\",\"params\":[{\"name\":\"epochs\","
    "\"type\":"
    "\"int\",\"value\":\"10\"},{\"name\":\"flip\",\"type\":\"bool\",\"value\":\"true\"},{\"name\":"
    "\"lr\",\"type\":\"real\",\"value\":\"0.1\"},{\"name\":\"milestones\",\"type\":\"list of "
    "string\",\"value\":\"[\\\"30%\\\",\\\"60%\\\"]\"},{\"name\":\"net\",\"type\":\"string\","
    "\"value\":\"\\\"resnet20\\\"\"}],\"plugin\":\"finetune\",\"plugin_version\":\"1.2.0\","
    "\"reason\":null,\"recipe\":\"hw4\",\"recipe_key\":"
    "\"a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447\",\"repeat\":2,"
    "\"results\":[{\"better\":\"max\",\"name\":\"accuracy\",\"unit\":\"%\",\"value\":0.9375},"
    "{\"better\":\"none\",\"name\":\"best_epoch\",\"unit\":\"\",\"value\":7.0}],\"seed\":"
    "\"18364758544493064720\",\"signal\":0,\"source_branch\":\"main\",\"source_commit\":"
    "\"83c3b1d4e6cba4bff1c4a7f6a4ee4dcd5bbd1e2f\",\"source_dirty\":true,\"source_remote\":"
    "\"git@example.org:lab/hw4.git\",\"source_tree\":\"4b825dc642cb6eb9a060e54bf8d69288fbee4904\","
    "\"started_ns\":1763700000000000000,\"state\":\"ok\",\"wall_ms\":12345.678901,\"who\":"
    "\"gr\xc3\xbc\xc3\x9f\"}\n"
    "{\"metric\":\"loss\",\"unit\":\"\",\"better\":\"min\",\"points\":3}\n"
    "[1,10.5,2.5]\n[2,20.25,null]\n[3,30,\"inf\"]\n"
    "{\"metric\":\"speed\",\"unit\":\"images/s\",\"better\":\"max\",\"points\":3}\n"
    "[1,10.5,1234]\n[2,20.25,1250.5]\n[3,null,0]\n";

static char *folder, *other_folder;
static struct orch_store *store, *other;

static int set_up(void **state)
{
    (void)state;
    folder = fixture_folder();
    store = fixture_open(folder);
    other_folder = fixture_folder();
    other = fixture_open(other_folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    orch_store_close(store);
    orch_store_close(other);
    fixture_remove(folder);
    fixture_remove(other_folder);
    return 0;
}

static int64_t run_id(struct orch_store *s, const char *key)
{
    struct orch_run *run;
    assert_ok(run = orch_store_run(s, key, error));
    int64_t id = run->id;
    orch_run_free(run);
    return id;
}

static GString *encode(struct orch_store *s, const char *key)
{
    GString *text;
    assert_ok(text = orch_run_text_encode(s, run_id(s, key), error));
    return text;
}

static struct orch_run_text *decode(const char *text, size_t length)
{
    struct orch_run_text *run;
    assert_ok(run = orch_run_text_decode(text, length, error));
    return run;
}

/* Through text into the other store: the digest there is the one it had, and so is the text. */
static void assert_survives(const char *key)
{
    GString *text = encode(store, key);
    struct orch_run_text *run = decode(text->str, text->len);
    assert_ok(orch_store_record(other, &run->record, error));
    orch_run_text_free(run);
    char digest[ORCH_SHA256_CHARS];
    assert_ok(orch_store_digest(other, run_id(other, key), digest, error));
    run = decode(text->str, text->len);
    assert_string_equal(run->digest, digest);
    for (size_t i = 0; i < run->forecast_count; i++) {
        const struct orch_run_forecast *f = &run->forecasts[i];
        assert_string_equal(f->run, key);
        struct orch_forecast_row row = {f->fingerprint, f->machine, f->model, f->tier, f->run,
                                        f->made_ns,     f->time_s,  false,    false};
        assert_ok(orch_store_put_forecast(other, &row, error));
    }
    GString *again = encode(other, key);
    assert_string_equal(again->str, text->str);
    /* and as a record that no store has, but for the forecasts */
    if (!run->forecast_count) {
        GString *record;
        assert_ok(record = orch_run_text_of_record(&run->record, run->digest, error));
        assert_string_equal(record->str, text->str);
        g_string_free(record, TRUE);
    }
    orch_run_text_free(run);
    g_string_free(again, TRUE);
    g_string_free(text, TRUE);
}

static void test_golden_text(void **state)
{
    (void)state;
    fixture_put(store, FIXTURE_KEY);
    struct orch_forecast_row forecast = {.fingerprint = FIXTURE_PRINT,
                                         .machine = "V100",
                                         .model = "forest",
                                         .tier = "fitted",
                                         .run_key = FIXTURE_KEY,
                                         .made_ns = INT64_C(1763699999000000000),
                                         .time_s.low = 10.5,
                                         .time_s.mid = 12,
                                         .time_s.high = (double)NAN};
    assert_ok(orch_store_put_forecast(store, &forecast, error));
    GString *text = encode(store, FIXTURE_KEY);
    assert_string_equal(text->str, GOLDEN);
    g_string_free(text, TRUE);
    assert_survives(FIXTURE_KEY);
}

/* A record in any order gives the text that its rows give. */
static void test_record_is_brought_into_order(void **state)
{
    (void)state;
    struct fixture_points points;
    struct orch_record r;
    fixture_put(store, FIXTURE_KEY);
    fixture_record(&r, FIXTURE_KEY, &points);
    r.reason = "";
    GString *text;
    assert_ok(text = orch_run_text_of_record(&r, DIGEST, error));
    GString *stored = encode(store, FIXTURE_KEY);
    assert_string_equal(text->str, stored->str);
    g_string_free(text, TRUE);
    g_string_free(stored, TRUE);
}

static void test_odd_values_survive(void **state)
{
    (void)state;
    static const struct orch_point odd[] = {
        {"a\"b\n\\\x01 gr\xc3\xbc\xc3\x9f", INT64_MIN, -0.0, 5e-324},
        {"z", 7, 1.7976931348623157e308, 2.2250738585072011e-308},
        {"z", 5, 0.1, 1.0 / 3},
        {"z", 5, 0.2, (double)-INFINITY},
        {"z", INT64_MAX, 1e-300, 123456789012345678.0},
        {"z", -3, (double)NAN, -1e22},
        {"z", INT64_C(1000000000000000000), 1e15, 0.30000000000000004},
    };
    static const struct orch_named_text params[] = {{"q\"\n", "string", "\"\\u0001\\n\""},
                                                    {"", "", ""},
                                                    {"lr", "real", "1"},
                                                    {"lr", "real", "2"}};
    static const struct orch_named_real results[] = {
        {"r", 1}, {"r", (double)NAN}, {"inf", (double)INFINITY}, {"zero", -0.0}};
    static const struct orch_metric_row metrics[] = {{"r", "s", NULL}, {"r", "m", "min"}};
    struct fixture_points points = {odd, G_N_ELEMENTS(odd), 0};
    struct orch_record r = {
        .key = FIXTURE_KEY,
        .recipe = "", /* as NULL */
        .reason = "tab\there, \xf0\x9f\x98\x80, \x7f, broken \xff\xfe",
        .source_dirty = true,
        .machine_facts = "{}",
        .seed = UINT64_MAX,
        .repeat = INT32_MAX,
        .attempt = INT32_MIN,
        .state = "from-the-future",
        .exit_code = -1,
        .signal = 11,
        .started_ns = INT64_MIN,
        .ended_ns = INT64_MAX,
        .wall_ms = (double)NAN,
        .params = params,
        .param_count = G_N_ELEMENTS(params),
        .results = results,
        .result_count = G_N_ELEMENTS(results),
        .metrics = metrics,
        .metric_count = G_N_ELEMENTS(metrics),
        .next_point = fixture_next,
        .next_ctx = &points,
    };
    assert_ok(orch_store_record(store, &r, error));
    GString *stored = encode(store, FIXTURE_KEY), *text;
    struct orch_run_text *run = decode(stored->str, stored->len);
    points.at = 0;
    assert_ok(text = orch_run_text_of_record(&r, run->digest, error));
    assert_string_equal(text->str, stored->str);
    orch_run_text_free(run);
    g_string_free(text, TRUE);
    g_string_free(stored, TRUE);
    assert_survives(FIXTURE_KEY);
}

static void test_bare_run_survives(void **state)
{
    (void)state;
    struct orch_record r = {.key = FIXTURE_KEY, .state = "failed", .exit_code = 1};
    assert_ok(orch_store_record(store, &r, error));
    assert_survives(FIXTURE_KEY);
}

/* ---- what is refused --------------------------------------------------------------------------
 */

static void assert_refused(const char *text, size_t length, const char *words)
{
    assert_fails(orch_run_text_decode(text, length, error), ORCH_ERROR_RECIPE, words);
}

/* The golden text with one piece replaced. */
static void assert_refused_with(const char *piece, const char *other_piece, const char *words)
{
    const char *at = strstr(GOLDEN, piece);
    assert_non_null(at);
    g_autofree char *text =
        g_strdup_printf("%.*s%s%s", (int)(at - GOLDEN), GOLDEN, other_piece, at + strlen(piece));
    assert_refused(text, strlen(text), words);
}

static void test_refused(void **state)
{
    (void)state;
    assert_refused("", 0, "line 1: the text is truncated");
    assert_refused(GOLDEN, 100, "line 1: the text is truncated");
    assert_refused(GOLDEN, strlen(GOLDEN) - 1, "line 9: expected a point");
    assert_refused(GOLDEN, strlen(GOLDEN) - strlen("[3,null,0]\n"), "line 9: expected a point");
    assert_refused("[]\n", 3, "line 1: the format");
    assert_refused_with("orch run 1", "orch run 2", "the format is not 'orch run 1'");
    assert_refused_with("{\"argv\":", "{\"argv\":\"x\",\"argv\":", "duplicate");
    assert_refused_with("\"argv\":", "\"argx\":", "no 'argv'");
    assert_refused_with("\"attempt\":1", "\"attempt\":1,\"more\":[]", "does not know");
    assert_refused_with("\"attempt\":1", "\"attempt\":2147483648", "'attempt' is of the wrong");
    assert_refused_with("\"attempt\":1", "\"attempt\":\"1\"", "'attempt' is of the wrong");
    assert_refused_with("\"attempt\":1", "\"attempt\":null", "'attempt' is of the wrong");
    assert_refused_with("\"state\":\"ok\"", "\"state\":null", "'state' is of the wrong");
    assert_refused_with("\"source_dirty\":true", "\"source_dirty\":1", "'source_dirty'");
    assert_refused_with("\"seed\":\"", "\"seed\":\"9", "'seed'");
    assert_refused_with("\"bytes\":3", "\"bytes\":3.5", "'bytes'");
    assert_refused_with("\"digest\":\"6", "\"digest\":\"G", "the digest is missing");
    assert_refused_with("\"name\":\"epochs\"", "\"name\":\"zz\"",
                        "'params' are not in ascending order");
    assert_refused_with("\"reason\":null", "\"reason\":\"a\\u0000b\"", "line 1");
    assert_refused_with("\"wall_ms\":12345.678901", "\"wall_ms\":\"nan\"", "'wall_ms'");
    assert_refused_with("gr\xc3\xbc\xc3\x9f", "gr\xff", "line 1: not valid JSON");
    assert_refused_with("\"metric\":\"loss\"", "\"metric\":\"zoss\"", "line 6: the names");
    assert_refused_with("\"points\":3}\n[1,10.5,2.5]", "\"points\":0}\n[1,10.5,2.5]",
                        "line 2: expected the first line");
    assert_refused_with("\"points\":3}\n[1,10.5,2.5]", "\"points\":2}\n[1,10.5,2.5]", "line 5");
    assert_refused_with("\"points\":3}\n[1,10.5,2.5]", "\"points\":9999999999}\n[1,10.5,2.5]",
                        "line 2: expected the first line");
    assert_refused_with("[2,20.25,null]", "[1,20.25,null]", "line 4: the steps of metric 'loss'");
    assert_refused_with("[2,20.25,null]", "[02,20.25,null]", "line 4: expected a point");
    assert_refused_with("[2,20.25,null]", "[2, 20.25,null]", "line 4: expected a point");
    assert_refused_with("[2,20.25,null]", "[2,1e999,null]", "line 4: expected a point");
    assert_refused_with("[2,20.25,null]", "[2,20.25,nan]", "line 4: expected a point");
    assert_refused_with("[2,20.25,null]", "[9223372036854775808,1,1]", "line 4: expected a point");
    assert_refused_with("[2,20.25,null]", "[2,20.25,null]\r", "line 4: expected a point");
    assert_refused_with("{\"metric\":\"speed\",\"unit\":\"images/s\"",
                        "{\"metric\":\"best_epoch\",\"unit\":\"images/s\"", "line 6: the names");
    assert_refused_with("{\"metric\":\"loss\",\"unit\":\"\"",
                        "{\"metric\":\"best_epoch\",\"unit\":\"x\"", "'best_epoch' has two units");
}

/* Too deep, too long: judged before a tree is made of it. */
static void test_bounds(void **state)
{
    (void)state;
    g_autoptr(GString) deep = g_string_new("{\"argv\":");
    for (int i = 0; i < 100; i++)
        g_string_append_c(deep, '[');
    g_string_append_c(deep, '\n');
    assert_refused(deep->str, deep->len, "line 1: JSON nested deeper");
    g_autoptr(GString) wide = g_string_new("\"");
    g_string_set_size(wide, (16 << 20) + 10);
    memset(wide->str + 1, 'a', wide->len - 1);
    g_string_append(wide, "\"\n");
    assert_refused(wide->str, wide->len, "line 1: JSON text of");
    g_autofree char *big = g_malloc(ORCH_RUN_TEXT_MAX + 1);
    assert_refused(big, ORCH_RUN_TEXT_MAX + (size_t)1, "over 256 MiB");
}

static void test_purged_does_not_travel(void **state)
{
    (void)state;
    fixture_put(store, FIXTURE_KEY);
    assert_ok(orch_store_purge(store, FIXTURE_KEY, error));
    assert_fails(orch_run_text_encode(store, run_id(store, FIXTURE_KEY), error), ORCH_ERROR_STORE,
                 "orch purge");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_golden_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_record_is_brought_into_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_odd_values_survive, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bare_run_survives, set_up, tear_down),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test_setup_teardown(test_purged_does_not_travel, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
