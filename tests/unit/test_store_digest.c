/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Digest v1: the golden vector (docs/store.md; computed independently by tests/store/digest_v1.py),
 * and the golden file of schema 1. */
#include "tests/store/fixture.h"

#define GOLDEN "6773a9d392efe6220b804dde12d9f9fb5d8594f8dd98f90ad340e7b35b96fde4"
#define GOLDEN_BARE "7f40f1e4ea125dcd363c847f0712aeec5fce77f0380a7576596513f80dcbdaa0"

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

/* The digest of a record, which is then undone. */
static void digest_of(const struct orch_record *record, char out[ORCH_SHA256_CHARS])
{
    assert_ok(orch_store_record(store, record, error));
    struct orch_run *run;
    assert_ok(run = orch_store_run(store, record->key, error));
    g_strlcpy(out, run->digest, ORCH_SHA256_CHARS);
    orch_run_free(run);
    orch_store_close(store);
    orch_tree_remove(folder, NULL);
    store = fixture_open(folder);
}

static void test_golden_vector(void **state)
{
    (void)state;
    struct fixture_points points;
    struct orch_record r;
    char digest[ORCH_SHA256_CHARS];
    fixture_record(&r, FIXTURE_KEY, &points);
    digest_of(&r, digest);
    assert_string_equal(digest, GOLDEN);
}

/* Local ids, declared order and another run in between change nothing. */
static void test_local_ids_do_not_enter(void **state)
{
    (void)state;
    char key[ORCH_KEY_CHARS];
    orch_key_make(key);
    struct fixture_points points;
    struct orch_record r;
    fixture_record(&r, key, &points);
    static const struct orch_point other[] = {{"zeta", 1, 1, 1}, {"speed", 1, 1, 1}};
    points = (struct fixture_points){other, 2, 0};
    r.source_commit = "another";
    assert_ok(orch_store_record(store, &r, error));
    char digest[ORCH_SHA256_CHARS];
    fixture_record(&r, FIXTURE_KEY, &points);
    digest_of(&r, digest);
    assert_string_equal(digest, GOLDEN);
}

static void assert_sensitive(const char *what, const struct orch_record *changed)
{
    struct orch_record r = *changed;
    struct fixture_points points = {FIXTURE_POINTS, G_N_ELEMENTS(FIXTURE_POINTS), 0};
    char digest[ORCH_SHA256_CHARS];
    if (r.next_point)
        r.next_ctx = &points;
    digest_of(&r, digest);
    if (strcmp(digest, GOLDEN) == 0)
        fail_msg("the digest does not notice a change of %s", what);
}

static void test_every_field_enters(void **state)
{
    (void)state;
    struct fixture_points points;
    struct orch_record base, r;
    fixture_record(&base, FIXTURE_KEY, &points);
#define CHANGED(member, value)                                                                     \
    do {                                                                                           \
        r = base;                                                                                  \
        r.member = (value);                                                                        \
        assert_sensitive(#member, &r);                                                             \
    } while (0)
    CHANGED(key, "01890a5d-ac96-774b-bcce-b302099a8059");
    CHANGED(recipe_key, "x");
    CHANGED(recipe, NULL);
    CHANGED(experiment, "x");
    CHANGED(plugin, "x");
    CHANGED(plugin_version, "x");
    CHANGED(build, NULL);
    CHANGED(source_tree, "x");
    CHANGED(source_commit, "x");
    CHANGED(source_branch, "x");
    CHANGED(source_remote, NULL);
    CHANGED(source_dirty, false);
    CHANGED(fingerprint, "x");
    CHANGED(device_key, "x");
    CHANGED(seed, 1);
    CHANGED(repeat, 1);
    CHANGED(attempt, 2);
    CHANGED(state, "failed");
    CHANGED(reason, "x");
    CHANGED(exit_code, 1);
    CHANGED(exit_code, -1);
    CHANGED(signal, 9);
    CHANGED(machine_key, "x");
    CHANGED(machine_facts, "{}");
    CHANGED(who, "x");
    CHANGED(argv, "[]");
    CHANGED(started_ns, 1);
    CHANGED(ended_ns, 1);
    CHANGED(wall_ms, 1);
    CHANGED(facts, "{}");
    CHANGED(param_count, 1);
    CHANGED(input_count, 1);
    CHANGED(result_count, 1);
    CHANGED(artifact_count, 0);
    CHANGED(metric_count, 0); /* units and directions */
    CHANGED(next_point, NULL);
#undef CHANGED
}

static void test_one_nan_and_no_negative_zero(void **state)
{
    (void)state;
    uint64_t payload = UINT64_C(0xfff8000000001234);
    double odd_nan;
    memcpy(&odd_nan, &payload, sizeof odd_nan);
    const struct orch_point a[] = {{"loss", 1, 0.0, odd_nan}},
                            b[] = {{"loss", 1, -0.0, (double)NAN}};
    struct fixture_points points;
    struct orch_record r;
    char first[ORCH_SHA256_CHARS], second[ORCH_SHA256_CHARS];
    fixture_record(&r, FIXTURE_KEY, &points);
    points = (struct fixture_points){a, 1, 0};
    digest_of(&r, first);
    points = (struct fixture_points){b, 1, 0};
    digest_of(&r, second);
    assert_string_equal(first, second);
}

static void check_golden(const char *name, enum orch_store_mode mode)
{
    const char *source = g_getenv("ORCH_SOURCE_DIR");
    g_autofree char *golden = g_build_filename(source ? source : ".", "tests", "data", name, NULL);
    g_autofree char *copy = g_build_filename(folder, "copy.db", NULL);
    g_autofree char *bytes = NULL;
    size_t length;
    assert_ok(orch_file_read(golden, 1 << 24, &bytes, &length, error));
    assert_ok(orch_file_write(copy, bytes, length, false, error));
    struct orch_store *old;
    assert_ok(old = orch_store_open(copy, mode, error));
    g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func(g_free);
    int64_t runs;
    assert_ok(orch_store_check(old, findings, &runs, error));
    assert_int_equal(findings->len, 0);
    assert_true(runs == 2);
    static const char *const digests[][2] = {{FIXTURE_KEY, GOLDEN},
                                             {"01890a5d-ac96-774b-bcce-b302099a8058", GOLDEN_BARE}};
    for (size_t i = 0; i < 2; i++) {
        struct orch_run *run;
        assert_ok(run = orch_store_run(old, digests[i][0], error));
        assert_string_equal(run->digest, digests[i][1]);
        if (i == 0)
            assert_string_equal(run->device_key, "2x Tesla V100-SXM2-16GB");
        orch_run_free(run);
    }
    struct orch_store_info info;
    assert_ok(orch_store_info(old, &info, error));
    g_autofree char *list =
        g_strconcat(FIXTURE_KEY " " GOLDEN "\n", digests[1][0], " " GOLDEN_BARE "\n", NULL);
    char expected[ORCH_SHA256_CHARS];
    orch_sha256(list, strlen(list), expected);
    assert_string_equal(info.digest, expected);
    assert_int_equal(info.schema, 1);
    assert_true(info.runs == 2 && info.metrics == 6 && info.artifacts == 1);
    orch_store_info_clear(&info);
    orch_store_close(old);
}

static void test_golden_file(void **state)
{
    (void)state;
    check_golden("store-v1.db", ORCH_STORE_WRITE);
}

/* Names of columns changed before the first release: such a file is brought up to date by whoever
 * opens it first, a reader, too, with a backup beside it, and trials in progress keep their device.
 */
static void test_before_release(void **state)
{
    (void)state;
    g_autofree char *backup = g_build_filename(folder, "copy.db.schema-1.backup", NULL);
    check_golden("store-v1-before-release.db", ORCH_STORE_READ);
    assert_true(g_file_test(backup, G_FILE_TEST_EXISTS));
    check_golden("store-v1-before-release.db", ORCH_STORE_WRITE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_golden_vector),      TEST(test_local_ids_do_not_enter),
        TEST(test_every_field_enters), TEST(test_one_nan_and_no_negative_zero),
        TEST(test_golden_file),        TEST(test_before_release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
