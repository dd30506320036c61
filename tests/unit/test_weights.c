/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weights from files that PyTorch made (tests/weights/make_weights.py), from $ORCH_WEIGHTS_DIR or
 * those committed in tests/data/weights: every element, refusals by name, files cut at each byte,
 * and each byte changed. */
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/weights/weights.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char *path_of(const char *name)
{
    const char *folder = g_getenv("ORCH_WEIGHTS_DIR");
    if (folder)
        return g_build_filename(folder, name, NULL);
    return g_build_filename(g_getenv("ORCH_SOURCE_DIR"), "tests/data/weights", name, NULL);
}

static struct orch_weights *load(const char *name)
{
    g_autofree char *path = path_of(name);
    GError *error = NULL;
    struct orch_weights *weights = orch_weights_load(path, &error);
    if (!weights)
        fail_msg("%s: %s", name, error->message);
    return weights;
}

/* Fails unless the tensor has this type, shape and these elements. */
static void expect(const struct orch_weights *weights, const char *name, enum orch_dtype dtype,
                   const char *shape, const float *elements)
{
    const struct orch_weight *weight = orch_weights_find(weights, name);
    if (!weight)
        fail_msg("no tensor '%s'", name);
    g_autofree char *found = orch_weight_shape_format(weight->rank, weight->shape);
    assert_string_equal(found, shape);
    assert_int_equal(weight->dtype, dtype);
    assert_int_equal(weight->bytes, (size_t)weight->count * orch_dtype_bytes(dtype));
    assert_int_equal((uintptr_t)weight->data % orch_dtype_bytes(dtype), 0);
    float values[64];
    assert_true(weight->count <= 64);
    orch_weight_to_float(weight, values);
    for (int64_t i = 0; i < weight->count; i++)
        if (values[i] != elements[i])
            fail_msg("%s[%d] is %g, expected %g", name, (int)i, (double)values[i],
                     (double)elements[i]);
}

/* Element i of a ramp, as make_weights.py has it. */
static float ramp(int i)
{
    return (float)i / 2 - 1;
}

static void expect_types(const struct orch_weights *weights)
{
    static const struct {
        const char *name;
        enum orch_dtype dtype;
    } reals[] = {{"float64", ORCH_DTYPE_FLOAT64},
                 {"float32", ORCH_DTYPE_FLOAT32},
                 {"float16", ORCH_DTYPE_FLOAT16},
                 {"bfloat16", ORCH_DTYPE_BFLOAT16}},
      integers[] = {{"int64", ORCH_DTYPE_INT64},
                    {"int32", ORCH_DTYPE_INT32},
                    {"int16", ORCH_DTYPE_INT16},
                    {"int8", ORCH_DTYPE_INT8},
                    {"uint8", ORCH_DTYPE_UINT8}};
    static const float halves[] = {-1, -0.5f, 0, 0.5f, 1, 1.5f}, whole[] = {0, 1, 2, 3, 4, 5},
                       odd[] = {0, 1, 0, 1, 0, 1};
    for (unsigned i = 0; i < G_N_ELEMENTS(reals); i++)
        expect(weights, reals[i].name, reals[i].dtype, "[2, 3]", halves);
    for (unsigned i = 0; i < G_N_ELEMENTS(integers); i++)
        expect(weights, integers[i].name, integers[i].dtype, "[2, 3]", whole);
    expect(weights, "bool", ORCH_DTYPE_BOOL, "[2, 3]", odd);
}

static void expect_views(const struct orch_weights *weights)
{
    float all[64], transposed[24], slice[6];
    for (int i = 0; i < 64; i++)
        all[i] = ramp(i);
    for (int i = 0; i < 24; i++)
        transposed[i] = ramp(i % 4 * 6 + i / 4);
    for (int i = 0; i < 6; i++)
        slice[i] = ramp((1 + i / 3) * 6 + 2 + i % 3);
    static const float sevens[] = {7, 7, 7}, five[] = {5};
    expect(weights, "base", ORCH_DTYPE_FLOAT32, "[4, 6]", all);
    expect(weights, "column_slice", ORCH_DTYPE_FLOAT32, "[2, 3]", slice);
    expect(weights, "transposed", ORCH_DTYPE_FLOAT32, "[6, 4]", transposed);
    expect(weights, "row", ORCH_DTYPE_FLOAT32, "[6]", all + 12);
    expect(weights, "channels_last", ORCH_DTYPE_FLOAT32, "[2, 3, 2, 4]", all);
    expect(weights, "expanded", ORCH_DTYPE_FLOAT32, "[3]", sevens);
    expect(weights, "scalar", ORCH_DTYPE_INT64, "[]", five);
    expect(weights, "empty", ORCH_DTYPE_FLOAT32, "[0, 3]", NULL);
    expect(weights, "parameter", ORCH_DTYPE_FLOAT32, "[3, 2]", all);
}

static void test_every_form(void **state)
{
    (void)state;
    static const char *const names[] = {"zip.pth",      "legacy.pth", "protocol4.pth", "nested.pth",
                                        "parallel.pth", "zip64.pth",  "deflated.pth"};
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        struct orch_weights *weights = load(names[i]);
        assert_int_equal(weights->items->len, 19);
        expect_types(weights);
        expect_views(weights);
        orch_weights_free(weights);
    }
}

static void test_shared_storage_is_not_copied(void **state)
{
    (void)state;
    struct orch_weights *weights = load("zip.pth");
    const float *base = orch_weights_find(weights, "base")->data;
    assert_ptr_equal(orch_weights_find(weights, "row")->data, base + 12);
    orch_weights_free(weights);
}

static void test_python2(void **state)
{
    (void)state;
    struct orch_weights *weights = load("python2.pth");
    static const float weight[] = {0, 0.5f, 1, 1.5f}, part[] = {1, 1.5f, 2, 2.5f};
    assert_int_equal(weights->items->len, 2);
    expect(weights, "weight", ORCH_DTYPE_FLOAT32, "[2, 2]", weight);
    expect(weights, "part", ORCH_DTYPE_FLOAT32, "[2, 2]", part);
    orch_weights_free(weights);
}

static void test_module(void **state)
{
    (void)state;
    struct orch_weights *weights = load("module.pth");
    static const float zero[] = {0, 0}, one[] = {1, 1};
    assert_int_equal(weights->items->len, 7);
    expect(weights, "1.running_mean", ORCH_DTYPE_FLOAT32, "[2]", zero);
    expect(weights, "1.running_var", ORCH_DTYPE_FLOAT32, "[2]", one);
    expect(weights, "1.num_batches_tracked", ORCH_DTYPE_INT64, "[]", zero);
    orch_weights_free(weights);
}

static void test_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *name, *words;
    } cases[] = {
        {"whole.pth", "torch.nn.modules.container.Sequential"},
        {"evil.pth", "posix.system"},
        {"evil4.pth", "posix.system"},
        {"complex.pth", "torch.ComplexFloatStorage"},
        {"list.pth", "not a dictionary of tensors"},
        {"no-tensors.pth", "'epoch', 'name'"},
        {"nothing.pth", "No such file"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = path_of(cases[i].name);
        GError *error = NULL;
        assert_null(orch_weights_load(path, &error));
        if (!strstr(error->message, cases[i].words) || !strstr(error->message, path))
            fail_msg("%s: '%s' lacks '%s'", cases[i].name, error->message, cases[i].words);
        g_clear_error(&error);
    }
    assert_int_equal(access("/tmp/orch-was-here", F_OK), -1);
}

static void read_file(const char *name, char **out, size_t *out_length)
{
    g_autofree char *path = path_of(name);
    assert_true(orch_file_read(path, 1 << 20, out, out_length, NULL));
}

static const char *const WHOLE[] = {"zip.pth",   "legacy.pth",  "deflated.pth",
                                    "zip64.pth", "python2.pth", "plain.safetensors"};

/* No file that lacks its end is taken for a whole one. */
static void test_cut_short(void **state)
{
    (void)state;
    for (unsigned i = 0; i < G_N_ELEMENTS(WHOLE); i++) {
        g_autofree char *bytes = NULL;
        size_t length = 0;
        read_file(WHOLE[i], &bytes, &length);
        for (size_t cut = 0; cut < length; cut++) {
            g_autoptr(GError) error = NULL;
            struct orch_weights *weights =
                orch_weights_load_bytes(g_memdup2(bytes, cut + !cut), cut, &error);
            if (weights)
                fail_msg("%s cut to %zu bytes was read", WHOLE[i], cut);
            assert_non_null(error);
        }
    }
}

/* A changed byte is refused or changes a value; it does nothing worse (run under ASan). */
static void test_changed_byte(void **state)
{
    (void)state;
    static const uint8_t masks[] = {1, 0x80, 0xff};
    for (unsigned i = 0; i < G_N_ELEMENTS(WHOLE); i++) {
        g_autofree char *bytes = NULL;
        size_t length = 0;
        read_file(WHOLE[i], &bytes, &length);
        for (size_t at = 0; at < length * G_N_ELEMENTS(masks); at++) {
            char *changed = g_memdup2(bytes, length);
            changed[at % length] = (char)(changed[at % length] ^ masks[at / length]);
            g_autoptr(GError) error = NULL;
            struct orch_weights *weights = orch_weights_load_bytes(changed, length, &error);
            assert_true((weights != NULL) == (error == NULL));
            orch_weights_free(weights);
        }
    }
}

static void test_safetensors(void **state)
{
    (void)state;
    struct orch_weights *weights = load("plain.safetensors");
    static const float halves[] = {-1, -0.5f, 0, 0.5f, 1, 1.5f}, whole[] = {0, 1, 2}, three[] = {3};
    assert_int_equal(weights->items->len, 4);
    expect(weights, "weight", ORCH_DTYPE_FLOAT32, "[2, 3]", halves);
    expect(weights, "unaligned", ORCH_DTYPE_INT64, "[3]", whole);
    expect(weights, "byte", ORCH_DTYPE_UINT8, "[]", three);
    expect(weights, "empty", ORCH_DTYPE_FLOAT16, "[0, 4]", NULL);
    assert_string_equal(g_hash_table_lookup(weights->metadata, "about"), "täst");
    orch_weights_free(weights);
}

/* Writes what was read, reads it again, writes that: equal in every element and byte. */
static void test_round_trip(void **state)
{
    (void)state;
    g_autofree char *folder = g_dir_make_tmp("orch-weights-XXXXXX", NULL);
    g_autofree char *first = g_build_filename(folder, "first.safetensors", NULL);
    g_autofree char *second = g_build_filename(folder, "second.safetensors", NULL);
    struct orch_weights *weights = load("zip.pth");
    g_hash_table_insert(weights->metadata, g_strdup("net"), g_strdup("resnet20"));
    assert_true(orch_weights_save(weights, first, true, NULL));
    orch_weights_free(weights);
    weights = orch_weights_load(first, NULL);
    assert_non_null(weights);
    expect_types(weights);
    expect_views(weights);
    assert_string_equal(g_hash_table_lookup(weights->metadata, "net"), "resnet20");
    assert_true(orch_weights_save(weights, second, false, NULL));
    orch_weights_free(weights);
    char digests[2][ORCH_SHA256_CHARS];
    assert_true(orch_file_sha256(first, digests[0], NULL, NULL));
    assert_true(orch_file_sha256(second, digests[1], NULL, NULL));
    assert_string_equal(digests[0], digests[1]);
    struct stat info;
    assert_int_equal(stat(first, &info), 0);
    mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(info.st_mode & 0777, 0666 & ~mask);
    assert_true(orch_tree_remove(folder, NULL));
}

static void test_has_shape(void **state)
{
    (void)state;
    const int64_t shape[] = {2, 3}, turned[] = {3, 2}, longer[] = {2, 3, 1};
    const float values[6] = {0};
    struct orch_weights *weights = orch_weights_new();
    assert_true(orch_weights_add(weights, "a", ORCH_DTYPE_FLOAT32, 2, shape, values, NULL));
    const struct orch_weight *a = orch_weights_find(weights, "a");
    assert_true(orch_weight_has_shape(a, 2, shape));
    assert_false(orch_weight_has_shape(a, 2, turned));
    assert_false(orch_weight_has_shape(a, 1, shape));
    assert_false(orch_weight_has_shape(a, 3, longer));
    orch_weights_free(weights);
}

/* What a wrapper puts before the names goes, but only where every name has it. */
static void test_wrapped_names(void **state)
{
    (void)state;
    g_autofree char *folder = g_dir_make_tmp("orch-weights-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "a.safetensors", NULL);
    static const struct {
        const char *first, *second, *first_read;
    } cases[] = {{"module._orig_mod.module.a", "module._orig_mod.module.b", "a"},
                 {"module.a", "b", "module.a"},
                 {"module.", "module.a", "module."}};
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct orch_weights *weights = orch_weights_new();
        const uint8_t one = 1;
        assert_true(
            orch_weights_add(weights, cases[i].first, ORCH_DTYPE_UINT8, 0, NULL, &one, NULL));
        assert_true(
            orch_weights_add(weights, cases[i].second, ORCH_DTYPE_UINT8, 0, NULL, &one, NULL));
        assert_true(orch_weights_save(weights, path, false, NULL));
        orch_weights_free(weights);
        weights = orch_weights_load(path, NULL);
        assert_non_null(weights);
        assert_non_null(orch_weights_find(weights, cases[i].first_read));
        orch_weights_free(weights);
    }
    assert_true(orch_tree_remove(folder, NULL));
}

static void test_save_into_nowhere(void **state)
{
    (void)state;
    struct orch_weights *weights = orch_weights_new();
    g_autoptr(GError) error = NULL;
    assert_false(orch_weights_save(weights, "/nowhere/at/all.safetensors", false, &error));
    assert_non_null(strstr(error->message, "/nowhere/at/all.safetensors"));
    orch_weights_free(weights);
}

/* A safetensors file in memory. */
static struct orch_weights *load_header(const char *header, size_t data_bytes, GError **error)
{
    size_t header_bytes = strlen(header), length = 8 + header_bytes + data_bytes;
    uint8_t *bytes = g_malloc0(length);
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(header_bytes >> 8 * i);
    memcpy(bytes + 8, header, header_bytes);
    return orch_weights_load_bytes(bytes, length, error);
}

static void test_bad_safetensors(void **state)
{
    (void)state;
#define TENSOR(dtype, shape, begin, end)                                                           \
    "{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[" #begin "," #end "]}"
    static const struct {
        const char *header;
        size_t data_bytes;
        const char *words;
    } cases[] = {
        {"{\"a\":" TENSOR("F32", "[2]", 0, 8) ",\"b\":" TENSOR("F32", "[2]", 4, 12) "}", 12,
         "'b' overlaps"},
        {"{\"a\":" TENSOR("F32", "[2]", 0, 8) ",\"b\":" TENSOR("F32", "[2]", 12, 20) "}", 20,
         "'b' follows a gap"},
        {"{\"a\":" TENSOR("F32", "[2]", 0, 8) "}", 9, "take 8 bytes, the file has 9"},
        {"{\"a\":" TENSOR("F32", "[2]", 0, 8) "}", 4, "take 8 bytes, the file has 4"},
        {"{\"a\":" TENSOR("F32", "[3]", 0, 8) "}", 8, "but its shape needs another number"},
        {"{\"a\":" TENSOR("F32", "[4611686018427387904,4]", 0, 0) "}", 0,
         "but its shape needs another number"},
        {"{\"a\":" TENSOR("F32", "[-1]", 0, 8) "}", 8, "an impossible shape"},
        {"{\"a\":" TENSOR("F32", "[1,1,1,1,1,1,1,1,1]", 0, 4) "}", 4, "an impossible shape"},
        {"{\"a\":" TENSOR("F32", "[2]", 8, 0) "}", 8, "impossible offsets"},
        {"{\"a\":" TENSOR("F8_E4M3", "[2]", 0, 2) "}", 2, "'F8_E4M3'"},
        {"{\"a\":" TENSOR("U8", "[1]", 0, 1) ",\"a\":" TENSOR("U8", "[1]", 0, 1) "}", 1,
         "duplicate object key"},
        {"{\"\":" TENSOR("U8", "[1]", 0, 1) "}", 1, "not a valid tensor name"},
        {"{\"a\":3}", 0, "'a' has no type"},
        {"{\"__metadata__\":{\"a\":1}}", 0, "metadata 'a'"},
        {"{\"a\":", 0, "not a JSON object"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        GError *error = NULL;
        assert_null(load_header(cases[i].header, cases[i].data_bytes, &error));
        if (!strstr(error->message, cases[i].words))
            fail_msg("'%s' lacks '%s'", error->message, cases[i].words);
        g_clear_error(&error);
    }
}

static void test_half_precision(void **state)
{
    (void)state;
    static const uint16_t halves[] = {0x0001, 0x83ff, 0x7bff, 0x7c00, 0xfc00, 0x7e00};
    static const float expected[] = {0x1p-24f, -0x3ffp-24f, 65504, INFINITY, -INFINITY};
    struct orch_weights *weights = orch_weights_new();
    assert_true(
        orch_weights_add(weights, "h", ORCH_DTYPE_FLOAT16, 1, (int64_t[]){6}, halves, NULL));
    float values[6];
    orch_weight_to_float(orch_weights_find(weights, "h"), values);
    for (int i = 0; i < 5; i++)
        assert_true(values[i] == expected[i]);
    assert_true(isnan(values[5]));
    orch_weights_free(weights);
}

static void test_add_refuses(void **state)
{
    (void)state;
    struct orch_weights *weights = orch_weights_new();
    const float one = 1;
    static const int64_t scalar[] = {1}, bad[] = {-1};
    assert_true(orch_weights_add(weights, "a", ORCH_DTYPE_FLOAT32, 1, scalar, &one, NULL));
    assert_false(orch_weights_add(weights, "a", ORCH_DTYPE_FLOAT32, 1, scalar, &one, NULL));
    assert_false(orch_weights_add(weights, "b", ORCH_DTYPE_FLOAT32, 1, bad, &one, NULL));
    assert_false(orch_weights_add(weights, "c\n", ORCH_DTYPE_FLOAT32, 1, scalar, &one, NULL));
    assert_false(orch_weights_add(weights, "\xff", ORCH_DTYPE_FLOAT32, 1, scalar, &one, NULL));
    assert_int_equal(weights->items->len, 1);
    orch_weights_free(weights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_form),      cmocka_unit_test(test_shared_storage_is_not_copied),
        cmocka_unit_test(test_python2),         cmocka_unit_test(test_module),
        cmocka_unit_test(test_refused_by_name), cmocka_unit_test(test_cut_short),
        cmocka_unit_test(test_changed_byte),    cmocka_unit_test(test_safetensors),
        cmocka_unit_test(test_round_trip),      cmocka_unit_test(test_has_shape),
        cmocka_unit_test(test_wrapped_names),   cmocka_unit_test(test_save_into_nowhere),
        cmocka_unit_test(test_bad_safetensors), cmocka_unit_test(test_half_precision),
        cmocka_unit_test(test_add_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
