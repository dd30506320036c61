/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Subsets: rows, and labels, targets and weights of their own. */
#include "lib/base/file.h"
#include "tests/unit/image_fixture.h"

static void test_subsets(void **state)
{
    (void)state;
    struct orch_image_set *d = synthetic_set(100, 1);
    GError *error = NULL;
    const int64_t chosen[] = {4, 2};
    struct orch_subset *s = orch_subset_new(d, chosen, 2, 7, 11, &error);
    assert_int_equal(s->count, 14);
    assert_int_equal(s->classes, 2);
    for (int64_t i = 0; i < s->count; i++)
        assert_int_equal(chosen[orch_subset_label(s, i)], d->labels[s->rows[i]]);
    struct orch_subset *again = orch_subset_new(d, chosen, 2, 7, 11, &error);
    assert_memory_equal(s->rows, again->rows, 14 * sizeof *s->rows);
    struct orch_subset *other = orch_subset_new(d, chosen, 2, 7, 12, &error);
    assert_memory_not_equal(s->rows, other->rows, 14 * sizeof *s->rows);
    const int64_t twice[] = {1, 1}, far[] = {5};
    assert_null(orch_subset_new(d, twice, 2, 0, 1, &error));
    g_clear_error(&error);
    assert_null(orch_subset_new(d, far, 1, 0, 1, &error));
    assert_non_null(strstr(error->message, "class 5"));
    g_clear_error(&error);
    /* a class that no image of the set has */
    for (int64_t i = 0; i < d->count; i++)
        d->labels[i] = d->labels[i] == 3 ? 2 : d->labels[i];
    const int64_t with_empty[] = {1, 3};
    assert_null(orch_subset_new(d, with_empty, 2, 0, 1, &error));
    assert_non_null(strstr(error->message, "of 'synthetic' has no images"));
    g_autofree char *name = g_strdup_printf("class '%s'", d->class_names[3]);
    assert_non_null(strstr(error->message, name));
    g_clear_error(&error);
    assert_null(orch_subset_new(d, NULL, 0, 0, 1, &error));
    assert_non_null(strstr(error->message, name));
    g_clear_error(&error);
    orch_subset_free(s);
    orch_subset_free(again);
    orch_subset_free(other);
    orch_image_set_free(d);
}

/* Rows in a given order, some of them twice, with what belongs to them; the origin is untouched. */
static void test_picked_rows(void **state)
{
    (void)state;
    struct orch_image_set *d = synthetic_set(40, 1);
    const int64_t chosen[] = {4, 2}, positions[] = {5, 0, 5, 3};
    struct orch_subset *s = orch_subset_new(d, chosen, 2, 5, 11, NULL);
    assert_int_equal(s->count, 10);
    struct orch_subset *picked = orch_subset_pick(s, positions, 4);
    assert_int_equal(picked->count, 4);
    assert_int_equal(s->count, 10);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(picked->rows[i], s->rows[positions[i]]);
        assert_int_equal(orch_subset_label(picked, i), orch_subset_label(s, positions[i]));
    }
    struct orch_subset *none = orch_subset_pick(s, positions, 0);
    assert_int_equal(none->count, 0);
    orch_subset_free(none);
    orch_subset_free(picked);
    orch_subset_free(s);
    orch_image_set_free(d);
}

static void assert_rows(const struct orch_subset *s, int64_t count, const char *digest)
{
    char found[65];
    orch_sha256(s->rows, sizeof *s->rows * (size_t)s->count, found);
    assert_int_equal(s->count, count);
    assert_string_equal(found, digest);
}

/* The rows that a seed selects are the same in every version of orch. */
static void test_rows_are_the_same_in_every_version(void **state)
{
    (void)state;
    struct orch_image_set *d = synthetic_set(1000, 1);
    const int64_t chosen[] = {4, 0, 2};
    struct orch_subset *s = orch_subset_new(d, chosen, 3, 150, 11, NULL);
    assert_rows(s, 450, "d89fd062eb9043de2c785d633adbce9d4395ee00aa6edf2171ac99d4dfac930d");
    orch_subset_limit(s, 40, 9);
    assert_rows(s, 40, "d140e566bc5b99d7aca416edf65254cee5c42ca707e640aebe35a0d315268d02");
    orch_subset_free(s);
    orch_image_set_free(d);
}

/* Values of a row that can be computed from its number in the data set. */
static int32_t label_of_row(int64_t row)
{
    return (int32_t)((row * 7 + row / 5) % 5);
}

static void give_labels(struct orch_subset *s)
{
    g_autofree int32_t *labels = g_new(int32_t, s->count);
    for (int64_t i = 0; i < s->count; i++)
        labels[i] = label_of_row(s->rows[i]);
    assert_true(orch_subset_set_labels(s, labels, s->count, NULL));
}

static void assert_labels(const struct orch_subset *s)
{
    for (int64_t i = 0; i < s->count; i++)
        assert_int_equal(orch_subset_label(s, i), label_of_row(s->rows[i]));
}

/* A limit carries the labels of the rows that it keeps. */
static void test_labels_go_with_the_rows(void **state)
{
    (void)state;
    struct orch_image_set *d = noise_set(1, 2, 2);
    struct orch_subset *s = orch_subset_new(d, NULL, 0, 0, 1, NULL);
    give_labels(s);
    assert_labels(s);
    orch_subset_limit(s, 9, 5);
    assert_int_equal(s->count, 9);
    assert_labels(s);
    orch_subset_free(s);
    orch_image_set_free(d);
}

/* Every batch has the labels of its rows, once for each copy. */
static void test_batches_have_the_labels(void **state)
{
    (void)state;
    struct orch_image_set *d = noise_set(1, 2, 2);
    struct orch_subset *s = orch_subset_new(d, NULL, 0, 0, 1, NULL);
    give_labels(s);
    struct orch_loader *loader = loader_of(
        s, (struct orch_loader_options){.batch = 8, .threads = 2, .shuffle = true, .copies = 3});
    struct orch_loader_batch b;
    int64_t seen = 0;
    for (orch_loader_start(loader, 0); orch_loader_next(loader, &b); seen += b.count)
        for (int64_t i = 0; i < b.count; i++)
            assert_int_equal(b.labels[i], label_of_row(b.rows[i]));
    assert_int_equal(seen, 3 * NOISE_COUNT);
    orch_loader_free(loader);
    orch_subset_free(s);
    orch_image_set_free(d);
}

/* Every shard has the number of images of the whole batch. */
static void test_total_of_shards(void **state)
{
    (void)state;
    struct orch_image_set *d = noise_set(1, 2, 2);
    struct orch_subset *s = orch_subset_new(d, NULL, 0, 0, 1, NULL);
    struct orch_loader_options options = {.batch = 10, .shuffle = true, .copies = 2, .shards = 2};
    struct orch_loader *shards[2];
    for (options.shard = 0; options.shard < 2; options.shard++) {
        shards[options.shard] = loader_of(s, options);
        orch_loader_start(shards[options.shard], 0);
    }
    struct orch_loader_batch a, b;
    while (orch_loader_next(shards[0], &a)) {
        assert_true(orch_loader_next(shards[1], &b));
        assert_int_equal(a.total, a.count + b.count);
        assert_int_equal(b.total, a.total);
    }
    orch_loader_free(shards[0]);
    orch_loader_free(shards[1]);
    orch_subset_free(s);
    orch_image_set_free(d);
}

static void test_refused_labels(void **state)
{
    (void)state;
    struct orch_image_set *d = noise_set(1, 2, 2);
    const int64_t chosen[] = {3, 1, 4};
    struct orch_subset *s = orch_subset_new(d, chosen, 3, 1, 1, NULL);
    g_autofree char *second =
        g_strdup_printf("row 1 of the subset (image %d of 'noise'): ", (int)s->rows[1]);
    GError *error = NULL;
    assert_false(orch_subset_set_labels(s, (int32_t[]){0, 3, 0}, 3, &error));
    assert_refused(&error, ORCH_ERROR_RECIPE, "label 3, expected 0 to 2");
    assert_false(orch_subset_set_labels(s, (int32_t[]){0, -1, 0}, 3, &error));
    assert_refused(&error, ORCH_ERROR_RECIPE, second);
    assert_false(orch_subset_set_labels(s, (int32_t[]){0, 0}, 2, &error));
    assert_refused(&error, ORCH_ERROR_RECIPE, "labels for 2 rows, but the subset of 'noise' has 3");
    assert_null(s->labels);
    orch_subset_free(s);
    orch_image_set_free(d);
}

static void test_labels_of_other_classes(void **state)
{
    (void)state;
    struct orch_image_set *d = noise_set(1, 4, 4);
    GError *error = NULL;
    const int64_t chosen[] = {4, 2};
    struct orch_subset *s = orch_subset_new(d, chosen, 2, 3, 1, &error);
    const char *const names[] = {"a", "b", "c"};
    const int64_t second = s->rows[1], last = s->rows[5];
    assert_false(orch_subset_relabel(s, (int32_t[]){0, 1, 2, 3, 0, 0}, 6, names, 3, &error));
    assert_refused(&error, ORCH_ERROR_RECIPE, "label 3, expected -1 to 2");
    assert_false(orch_subset_relabel(s, (int32_t[]){-1, -1, -1, -1, -1, -1}, 6, names, 3, &error));
    assert_refused(&error, ORCH_ERROR_RECIPE, "no image of 'noise' got a label");
    assert_int_equal(s->count, 6);
    assert_true(orch_subset_relabel(s, (int32_t[]){-1, 2, -1, 0, -1, 2}, 6, names, 3, &error));
    assert_int_equal(s->count, 3);
    assert_int_equal(s->classes, 3);
    assert_true(s->rows[0] == second && s->rows[2] == last);
    assert_int_equal(orch_subset_label(s, 0), 2);
    assert_string_equal(orch_subset_class_name(s, 2), "c");
    struct orch_subset *part = orch_subset_pick(s, NULL, 0); /* copies what it needs */
    orch_subset_free(s);
    assert_string_equal(orch_subset_class_name(part, 1), "b");
    orch_subset_free(part);
    orch_image_set_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_subsets),
        cmocka_unit_test(test_picked_rows),
        cmocka_unit_test(test_rows_are_the_same_in_every_version),
        cmocka_unit_test(test_labels_go_with_the_rows),
        cmocka_unit_test(test_batches_have_the_labels),
        cmocka_unit_test(test_total_of_shards),
        cmocka_unit_test(test_refused_labels),
        cmocka_unit_test(test_labels_of_other_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
