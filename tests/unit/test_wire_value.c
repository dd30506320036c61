/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values: every type from text and JSON, bounds and choices, lists, texts for people and programs,
 * and a plugin's struct. */
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/wire/value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct orch_param_spec spec_of(uint32_t type)
{
    return (struct orch_param_spec){.name = (char *)"x", .type = type};
}

/* The canonical text of what `text` means, or "!" and the message. */
static char *parsed(const struct orch_param_spec *spec, const char *text)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(json_t) value = orch_value_parse(spec, text, &error);
    if (value) {
        assert_null(error);
        return orch_json_canonical(value);
    }
    assert_int_equal(error->code, ORCH_ERROR_RECIPE);
    return g_strconcat("!", error->message, NULL);
}

static void expect(uint32_t type, const char *text, const char *expected)
{
    struct orch_param_spec spec = spec_of(type);
    g_autofree char *found = parsed(&spec, text);
    if (expected)
        assert_string_equal(found, expected);
    else if (found[0] != '!')
        fail_msg("'%s' was read as %s", text, found);
}

static void test_scalars(void **state)
{
    (void)state;
    expect(ORCH_BOOL, "yes", "true");
    expect(ORCH_BOOL, "Off", "false");
    expect(ORCH_BOOL, "1", NULL);
    expect(ORCH_INT, "1e6", "1000000");
    expect(ORCH_INT, "50_000", "50000");
    expect(ORCH_INT, "1.5", "!parameter 'x': '1.5' is not an integer");
    expect(ORCH_REAL, "1e-3", "0.001");
    expect(ORCH_REAL, "2", "2.0");
    expect(ORCH_REAL, "fast", "!parameter 'x': 'fast' is not a real number");
    expect(ORCH_REAL, "nan", NULL);
    expect(ORCH_STRING, "", "\"\"");
    expect(ORCH_MONEY, "$0.90", "0.9");
    expect(ORCH_MONEY, "0.90 USD", "0.9");
    expect(ORCH_MONEY, "0.90 EUR", NULL);
}

static void test_durations(void **state)
{
    (void)state;
    expect(ORCH_DURATION, "90", "90.0");
    expect(ORCH_DURATION, "1e3", "1000.0");
    expect(ORCH_DURATION, "250ms", "0.25");
    expect(ORCH_DURATION, "1h30min", "5400.0");
    expect(ORCH_DURATION, "1 h 30 min", "5400.0");
    expect(ORCH_DURATION, "1d", "86400.0");
    expect(ORCH_DURATION, "30min1h", NULL); /* parts go from large to small */
    expect(ORCH_DURATION, "1h30", NULL);
    expect(ORCH_DURATION, "5 parsecs", NULL);
    expect(ORCH_DURATION, "-1s", NULL);
    expect(ORCH_DURATION, "", NULL);
}

static void test_bytes(void **state)
{
    (void)state;
    expect(ORCH_BYTES, "4096", "4096");
    expect(ORCH_BYTES, "64KiB", "65536");
    expect(ORCH_BYTES, "1.5 MiB", "1572864");
    expect(ORCH_BYTES, "2GB", "2000000000");
    expect(ORCH_BYTES, "16G", "17179869184");
    expect(ORCH_BYTES, "0.3B", NULL);
    expect(ORCH_BYTES, "-1", NULL);
    expect(ORCH_BYTES, "1e30P", NULL);
}

static void test_bounds_and_choices(void **state)
{
    (void)state;
    struct orch_param_spec lr = spec_of(ORCH_REAL);
    lr.name = (char *)"lr";
    lr.min = (char *)"0";
    lr.max = (char *)"1";
    g_autofree char *above = parsed(&lr, "2");
    assert_string_equal(above, "!parameter 'lr': 2 is above its maximum 1");
    g_autofree char *below = parsed(&lr, "-0.5");
    assert_string_equal(below, "!parameter 'lr': -0.5 is below its minimum 0");
    g_autofree char *edge = parsed(&lr, "1");
    assert_string_equal(edge, "1.0");

    char *choices[] = {(char *)"full", (char *)"last", NULL};
    struct orch_param_spec mode = spec_of(ORCH_ENUM);
    mode.choices = choices;
    g_autofree char *near = parsed(&mode, "ful");
    assert_string_equal(near, "!parameter 'x': 'ful' is not one of 'full', 'last'\n"
                              "  hint: did you mean 'full'?");
    g_autofree char *good = parsed(&mode, "last");
    assert_string_equal(good, "\"last\"");
}

static void test_lists(void **state)
{
    (void)state;
    uint32_t ints = ORCH_INT | ORCH_LIST, texts = ORCH_STRING | ORCH_LIST;
    expect(ints, "[1, 2,3]", "[1,2,3]");
    expect(ints, "[]", "[]");
    expect(ints, "7", "[7]");
    expect(ints, "[1,]", NULL);
    expect(ints, "[1, x]", "!parameter 'x': 'x' is not an integer");
    expect(texts, "['a, b', \"c\", d e]", "[\"a, b\",\"c\",\"d e\"]");
    expect(texts, "['a]", NULL);
}

static void from_json(uint32_t type, const char *text, const char *expected)
{
    struct orch_param_spec spec = spec_of(type);
    g_autoptr(json_t) given = json_loads(text, JSON_DECODE_ANY, NULL);
    g_autoptr(json_t) value = orch_value_from_json(&spec, given, NULL);
    g_autofree char *found = value ? orch_json_canonical(value) : g_strdup("!");
    assert_string_equal(found, expected);
}

static void test_from_json(void **state)
{
    (void)state;
    from_json(ORCH_REAL, "3", "3.0");
    from_json(ORCH_INT, "3.0", "3");
    from_json(ORCH_INT, "3.5", "!");
    from_json(ORCH_DURATION, "\"5min\"", "300.0");
    from_json(ORCH_BOOL, "true", "true");
    from_json(ORCH_BOOL, "1", "!");
    from_json(ORCH_STRING, "1", "!");
    from_json(ORCH_INT | ORCH_LIST, "4", "[4]");
    from_json(ORCH_REAL | ORCH_LIST, "[1,\"2\"]", "[1.0,2.0]");
    from_json(ORCH_INT, "null", "!");
    from_json(ORCH_INT, "{}", "!");
}

static void test_default(void **state)
{
    (void)state;
    struct orch_param_spec spec = spec_of(ORCH_INT);
    assert_null(orch_value_default(&spec));
    spec.flags = ORCH_PARAM_OPTIONAL;
    g_autoptr(json_t) nothing = orch_value_default(&spec);
    assert_true(json_is_null(nothing));
    spec.def = (char *)"5";
    g_autoptr(json_t) five = orch_value_default(&spec);
    assert_int_equal(json_integer_value(five), 5);
}

static void shows(uint32_t type, const char *text, const char *expected)
{
    struct orch_param_spec spec = spec_of(type);
    g_autoptr(json_t) value = orch_value_parse(&spec, text, NULL);
    g_autofree char *found = orch_value_format(&spec, value);
    assert_string_equal(found, expected);
}

static void test_format(void **state)
{
    (void)state;
    shows(ORCH_REAL, "1e-3", "0.001");
    shows(ORCH_DURATION, "300", "5 min");
    shows(ORCH_DURATION, "5400", "1 h 30 min");
    shows(ORCH_DURATION, "0.25", "250 ms");
    shows(ORCH_BYTES, "4MiB", "4.0 MiB");
    shows(ORCH_MONEY, "0.9", "$0.90");
    shows(ORCH_SECRET, "hunter2", "(secret)");
    shows(ORCH_STRING | ORCH_LIST, "[30%, 60%]", "[30%, 60%]");
}

static void test_expand(void **state)
{
    (void)state;
    g_autoptr(json_t) params = json_pack("{s:f s:s s:[i,i] s:b s:n}", "lr", 0.1, "net", "resnet20",
                                         "steps", 1, 2, "fast", 1, "none");
    g_autofree char *text =
        orch_value_expand("--lr=${lr} ${net} ${steps} ${fast} <${none}> $$ $x", params, NULL);
    assert_string_equal(text, "--lr=0.1 resnet20 1,2 true <> $ $x");
    g_autoptr(GError) error = NULL;
    assert_null(orch_value_expand("${nett}", params, &error));
    assert_non_null(strstr(error->message, "did you mean 'net'?"));
    assert_null(orch_value_expand("${net", params, NULL));
}

struct filled {
    bool flag;
    int64_t count;
    double rate;
    const char *name;
    struct orch_list sizes, names;
    double optional;
};

static struct orch_manifest *filled_manifest(void)
{
    struct orch_manifest *manifest = orch_manifest_new();
    manifest->name = g_strdup("p");
    orch_manifest_add_param(manifest, "flag", ORCH_BOOL)->offset = offsetof(struct filled, flag);
    orch_manifest_add_param(manifest, "count", ORCH_INT)->offset = offsetof(struct filled, count);
    struct orch_param_spec *rate = orch_manifest_add_param(manifest, "rate", ORCH_DURATION);
    rate->offset = offsetof(struct filled, rate);
    rate->def = g_strdup("2min");
    orch_manifest_add_param(manifest, "name", ORCH_STRING)->offset = offsetof(struct filled, name);
    orch_manifest_add_param(manifest, "sizes", ORCH_BYTES | ORCH_LIST)->offset =
        offsetof(struct filled, sizes);
    orch_manifest_add_param(manifest, "names", ORCH_STRING | ORCH_LIST)->offset =
        offsetof(struct filled, names);
    struct orch_param_spec *optional = orch_manifest_add_param(manifest, "optional", ORCH_REAL);
    optional->offset = offsetof(struct filled, optional);
    optional->flags = ORCH_PARAM_OPTIONAL;
    return manifest;
}

static void test_fill(void **state)
{
    (void)state;
    struct orch_manifest *manifest = filled_manifest();
    g_autoptr(GPtrArray) arena = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(json_t) params =
        json_pack("{s:b s:I s:s s:[i,i] s:[s,s]}", "flag", 1, "count", (json_int_t)1 << 40, "name",
                  "net", "sizes", 3, 4, "names", "a", "b");
    struct filled out = {0};
    assert_true(orch_value_fill(manifest, params, &out, sizeof out, arena, NULL));
    assert_true(out.flag);
    assert_int_equal(out.count, (int64_t)1 << 40);
    assert_true(out.rate == 120.0); /* the default; exact in binary */
    assert_string_equal(out.name, "net");
    assert_int_equal(out.sizes.count, 2);
    assert_int_equal(((const int64_t *)out.sizes.items)[1], 4);
    assert_string_equal(((const char *const *)out.names.items)[1], "b");
    assert_true(out.optional == 0.0);

    g_autoptr(GError) unknown = NULL;
    json_object_set_new(params, "color", json_string("red"));
    assert_false(orch_value_fill(manifest, params, &out, sizeof out, arena, &unknown));
    assert_int_equal(unknown->code, ORCH_ERROR_PROTOCOL);
    assert_string_equal(unknown->message, "plugin 'p' has no parameter 'color'");
    json_object_del(params, "color");

    g_autoptr(GError) missing = NULL;
    json_object_del(params, "count");
    assert_false(orch_value_fill(manifest, params, &out, sizeof out, arena, &missing));
    assert_string_equal(missing->message, "parameter 'count' is missing");
    json_object_set_new(params, "count", json_integer(1));

    g_autoptr(GError) outside = NULL;
    assert_false(orch_value_fill(manifest, params, &out, offsetof(struct filled, optional), arena,
                                 &outside));
    assert_non_null(strstr(outside->message, "'optional' is outside"));
    orch_manifest_free(manifest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalars), cmocka_unit_test(test_durations),
        cmocka_unit_test(test_bytes),   cmocka_unit_test(test_bounds_and_choices),
        cmocka_unit_test(test_lists),   cmocka_unit_test(test_from_json),
        cmocka_unit_test(test_default), cmocka_unit_test(test_format),
        cmocka_unit_test(test_expand),  cmocka_unit_test(test_fill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
