/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data sets: put once, read back, exported, removed, damaged. */
#include "tests/store/fixture.h"

#include "lib/base/json.h"
#include "store/write/dataset.h"

static char *folder;
static struct orch_store *store;

static int set_up(void **state)
{
    (void)state;
    folder = fixture_folder();
    store = fixture_open(folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    orch_store_close(store);
    fixture_remove(folder);
    return 0;
}

/* Three rows with whatever is awkward: missing values, quotes, umlauts, long fractions. */
static struct orch_dataset *make_set(const char *name)
{
    struct orch_dataset *set = orch_dataset_new(name, "step_ms", "ms", 3);
    const char **gpu = orch_dataset_add_texts(set, "gpu");
    double *batch = orch_dataset_add_numbers(set, "batch");
    const char **odd = orch_dataset_add_texts(set, "odd, \"name\"");
    double *rate = orch_dataset_add_numbers(set, "img_per_s");
    static const double targets[] = {0.1, 450.704, 1e-7};
    for (size_t i = 0; i < 3; i++) {
        set->targets[i] = targets[i];
        gpu[i] = orch_dataset_keep(set, i == 1 ? "V100" : "GTX 1080 Ti");
        batch[i] = i == 2 ? (double)NAN : 64;
        rate[i] = 1000.0 / 3.0 * (double)i - 1e10;
    }
    odd[0] = orch_dataset_keep(set, "a \"b\" \\ \n gr\xc3\xbc\xc3\x9f");
    g_array_index(set->columns, struct orch_dataset_column, 3).left_out = true;
    set->source = g_strdup("github.com/x/y, commit 123");
    json_object_set_new(set->about, "file", json_string("a.csv"));
    return set;
}

static void put(struct orch_dataset *set, enum orch_dataset_put wanted, const char *wanted_name)
{
    enum orch_dataset_put did;
    g_autofree char *name = NULL;
    assert_ok(orch_store_put_dataset(store, set, &did, &name, error));
    assert_int_equal(did, wanted);
    assert_string_equal(name, wanted_name);
}

static void assert_same(const struct orch_dataset *a, const struct orch_dataset *b)
{
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->target, b->target);
    assert_string_equal(a->unit, b->unit);
    assert_string_equal(a->sha256, b->sha256);
    assert_string_equal(a->source, b->source);
    assert_true((a->licence == NULL) == (b->licence == NULL));
    assert_true(json_equal(a->about, b->about));
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->columns->len, b->columns->len);
    assert_memory_equal(a->targets, b->targets, a->rows * sizeof(double));
    for (guint c = 0; c < a->columns->len; c++) {
        const struct orch_dataset_column *x = orch_dataset_column(a, c);
        const struct orch_dataset_column *y = orch_dataset_column(b, c);
        assert_string_equal(x->name, y->name);
        assert_int_equal(x->is_text, y->is_text);
        assert_int_equal(x->left_out, y->left_out);
        for (size_t i = 0; i < a->rows; i++) {
            if (x->is_text)
                assert_int_equal(g_strcmp0(x->texts[i], y->texts[i]), 0);
            else
                assert_true(x->numbers[i] == y->numbers[i] ||
                            (isnan(x->numbers[i]) && isnan(y->numbers[i])));
        }
    }
}

static void test_round_trip(void **state)
{
    (void)state;
    struct orch_dataset *set = make_set("a-set"), *read;
    put(set, ORCH_DATASET_ADDED, "a-set");
    assert_ok(read = orch_store_dataset(store, "a-set", error));
    assert_same(set, read);
    orch_dataset_free(read);
    char prefix[7] = {0};
    memcpy(prefix, set->sha256, 6);
    assert_ok(read = orch_store_dataset(store, prefix, error));
    assert_same(set, read);
    orch_dataset_free(read);
    g_autoptr(GPtrArray) all = NULL;
    assert_ok(all = orch_store_datasets(store, error));
    assert_int_equal(all->len, 1);
    const struct orch_dataset *heading = all->pdata[0];
    assert_int_equal(heading->rows, 3);
    assert_null(heading->targets);
    assert_string_equal(orch_dataset_column(heading, 1)->name, "batch");
    orch_dataset_free(set);
}

static void test_twice(void **state)
{
    (void)state;
    struct orch_dataset *set = make_set("one"), *same = make_set("two"), *other = make_set("one");
    put(set, ORCH_DATASET_ADDED, "one");
    put(set, ORCH_DATASET_KNOWN, "one");
    put(same, ORCH_DATASET_KNOWN, "one"); /* the rows decide, not the name */
    other->targets[2] = 2e-7;
    enum orch_dataset_put did;
    assert_fails(orch_store_put_dataset(store, other, &did, NULL, error), ORCH_ERROR_USAGE,
                 "measurements 'one' already exist with other rows");
    struct orch_store_info info;
    assert_ok(orch_store_info(store, &info, error));
    assert_int_equal(info.datasets, 1);
    assert_int_equal(info.samples, 3);
    orch_store_info_clear(&info);
    orch_dataset_free(set);
    orch_dataset_free(same);
    orch_dataset_free(other);
}

static void test_remove(void **state)
{
    (void)state;
    struct orch_dataset *set = make_set("gone"), *removed = NULL;
    put(set, ORCH_DATASET_ADDED, "gone");
    assert_fails(orch_store_remove_dataset(store, "gome", NULL, error), ORCH_ERROR_NOT_FOUND,
                 "did you mean 'gone'?");
    assert_ok(orch_store_remove_dataset(store, "gone", &removed, error));
    assert_int_equal(removed->rows, 3);
    assert_fails(orch_store_dataset(store, "gone", error), ORCH_ERROR_NOT_FOUND, "no measurements");
    put(set, ORCH_DATASET_ADDED, "gone");
    orch_dataset_free(set);
    orch_dataset_free(removed);
}

static void test_refused(void **state)
{
    (void)state;
    enum orch_dataset_put did;
    struct orch_dataset *bad = make_set("Bad name");
    assert_fails(orch_store_put_dataset(store, bad, &did, NULL, error), ORCH_ERROR_USAGE,
                 "name is not valid");
    orch_dataset_free(bad);
    bad = make_set("bad");
    bad->targets[1] = (double)NAN;
    assert_fails(orch_store_put_dataset(store, bad, &did, NULL, error), ORCH_ERROR_USAGE,
                 "has no target");
    orch_dataset_free(bad);
    bad = make_set("bad");
    orch_dataset_column(bad, 0)->texts[0] = "\xff";
    assert_fails(orch_store_put_dataset(store, bad, &did, NULL, error), ORCH_ERROR_USAGE,
                 "not UTF-8");
    orch_dataset_free(bad);
    bad = orch_dataset_new("bad", "ms", NULL, 0);
    assert_fails(orch_store_put_dataset(store, bad, &did, NULL, error), ORCH_ERROR_USAGE,
                 "has no rows");
    orch_dataset_free(bad);
}

/* ---- export -----------------------------------------------------------------------------------
 */

static void test_export(void **state)
{
    (void)state;
    struct orch_dataset *set = make_set("travels"), *read;
    GString *text = orch_dataset_encode(set);
    assert_ok(read = orch_dataset_decode("f", text->str, text->len, error));
    assert_same(set, read);
    GString *again = orch_dataset_encode(read);
    assert_string_equal(text->str, again->str);
    g_string_free(again, TRUE);
    put(read, ORCH_DATASET_ADDED, "travels");
    put(set, ORCH_DATASET_KNOWN, "travels");
    orch_dataset_free(read);
    orch_dataset_free(set);
    g_string_free(text, TRUE);
}

/* Every cut and every changed byte of an export is refused, or is the same set: a label changed
 * that the digest does not hold. */
static void test_export_damaged(void **state)
{
    (void)state;
    struct orch_dataset *set = make_set("travels");
    GString *text = orch_dataset_encode(set);
    for (size_t cut = 0; cut < text->len; cut++) {
        g_autofree char *part = g_strndup(text->str, cut); /* so that a sanitizer sees its end */
        assert_fails(orch_dataset_decode("f", part, cut, error), ORCH_ERROR_RECIPE, "at: f:");
    }
    for (size_t i = 0; i < text->len; i++) {
        g_autofree char *part = g_strndup(text->str, text->len);
        part[i] = part[i] == '7' ? '3' : '7';
        g_autoptr(GError) problem = NULL;
        struct orch_dataset *read = orch_dataset_decode("f", part, text->len, &problem);
        assert_true((read == NULL) == (problem != NULL));
        if (read)
            assert_string_equal(read->sha256, set->sha256);
        orch_dataset_free(read);
    }
    orch_dataset_free(set);
    g_string_free(text, TRUE);
}

/* ---- damage -----------------------------------------------------------------------------------
 */

static void assert_found(const char *sql, const char *words)
{
    struct orch_dataset *set = make_set("victim");
    put(set, ORCH_DATASET_ADDED, "victim");
    g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func(g_free);
    assert_ok(orch_store_check(store, findings, NULL, error));
    assert_int_equal(findings->len, 0);
    assert_ok(orch_store_exec(store, sql, "change", error));
    assert_ok(orch_store_check(store, findings, NULL, error));
    assert_int_equal(findings->len, 1);
    if (!strstr(findings->pdata[0], words))
        fail_msg("not '%s': %s", words, (char *)findings->pdata[0]);
    assert_ok(orch_store_remove_dataset(store, "victim", NULL, error));
    orch_dataset_free(set);
}

static void test_damage(void **state)
{
    (void)state;
    assert_found("UPDATE sample SET target = target * 2 WHERE row = 2", "its rows have digest");
    assert_found("UPDATE sample SET features = replace(features, '64', '65') WHERE row = 1",
                 "its rows have digest");
    assert_found("DELETE FROM sample WHERE row = 2", "rows are missing");
    assert_found("UPDATE sample SET row = 9 WHERE row = 3", "row 3 is damaged");
    assert_found("UPDATE sample SET features = '[1]' WHERE row = 3", "row 3 is damaged");
    assert_found("UPDATE sample SET features = '[' WHERE row = 3", "row 3 is damaged");
    assert_found("UPDATE sample SET target = NULL WHERE row = 3", "row 3 is damaged");
    assert_found("UPDATE sample SET features = '{}' WHERE row = 0", "its header is damaged");
    assert_found("DELETE FROM sample WHERE row = 0", "its header is damaged");
}

/* A second process that reads or removes: nothing is half there. */
static void test_read_only(void **state)
{
    (void)state;
    struct orch_dataset *set = make_set("kept"), *read;
    put(set, ORCH_DATASET_ADDED, "kept");
    struct orch_store *reader;
    assert_ok(reader = orch_store_open(orch_store_path(store), ORCH_STORE_READ, error));
    assert_ok(read = orch_store_dataset(reader, "kept", error));
    assert_same(set, read);
    enum orch_dataset_put did;
    assert_fails(orch_store_put_dataset(reader, set, &did, NULL, error), ORCH_ERROR_STORE,
                 "reading only");
    assert_fails(orch_store_remove_dataset(reader, "kept", NULL, error), ORCH_ERROR_STORE,
                 "reading only");
    orch_store_close(reader);
    orch_dataset_free(read);
    orch_dataset_free(set);
}

/* As many rows as the largest set of measurements that we know. */
static void test_many(void **state)
{
    (void)state;
    struct orch_dataset *set = orch_dataset_new("many", "ms", "ms", 40000), *read;
    const char **gpu = orch_dataset_add_texts(set, "gpu");
    double *columns[10];
    for (int c = 0; c < 10; c++) {
        g_autofree char *name = g_strdup_printf("c%d", c);
        columns[c] = orch_dataset_add_numbers(set, name);
    }
    for (size_t i = 0; i < set->rows; i++) {
        set->targets[i] = 0.24 + (double)i / 7;
        gpu[i] = orch_dataset_keep(set, i % 2 ? "V100" : "K80");
        for (int c = 0; c < 10; c++)
            columns[c][i] = (double)(i * (size_t)(c + 1) % 513) / (c % 3 ? 1 : 8);
    }
    int64_t begin = orch_mono_ns();
    put(set, ORCH_DATASET_ADDED, "many");
    int64_t put_ns = orch_mono_ns() - begin;
    begin = orch_mono_ns();
    assert_ok(read = orch_store_dataset(store, "many", error));
    int64_t read_ns = orch_mono_ns() - begin;
    assert_int_equal(read->rows, 40000);
    assert_memory_equal(read->targets, set->targets, 40000 * sizeof(double));
    print_message("40,000 rows: put %.2f s, read %.2f s\n", (double)put_ns / 1e9,
                  (double)read_ns / 1e9);
    orch_dataset_free(read);
    orch_dataset_free(set);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_round_trip), TEST(test_twice),     TEST(test_remove),
        TEST(test_refused),    TEST(test_export),    TEST(test_export_damaged),
        TEST(test_damage),     TEST(test_read_only), TEST(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
