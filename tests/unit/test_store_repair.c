/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Salvage: a store of 120 runs, damaged at many places. Which pages a run lies on is learned by
 * watching what SQLite reads for its digest; a run of whose pages none was touched must come back.
 */
#include "store/repair/repair.h"
#include "store/repair/salvage.h"
#include "tests/fault/fault_vfs.h"
#include "tests/store/fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

enum { RUNS = 120, PAGE = 4096, PAGES_MAX = 1024 };

static char *folder, *path;
static char keys[RUNS][ORCH_KEY_CHARS], digests[RUNS][ORCH_SHA256_CHARS];
static bool lies_on[RUNS][PAGES_MAX];
static char *whole; /* the undamaged file's bytes */
static size_t length;
static uint32_t seed, rounds = 6, step = 17; /* more and each page with an argument */

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
}

/* ---- the store --------------------------------------------------------------------------------
 */

struct stream {
    int count, at;
};

static bool next_point(void *ctx, struct orch_point *out, GError **error)
{
    (void)error;
    struct stream *s = ctx;
    if (s->at >= s->count)
        return false;
    *out = (struct orch_point){s->at % 2 ? "loss" : "speed", s->at / 2, s->at * 1.5, s->at / 7.0};
    s->at++;
    return true;
}

static void put_run(struct orch_store *store, int i)
{
    struct fixture_points unused;
    struct orch_record r;
    struct stream points = {.count = (i * 37) % 150};
    g_autofree char *lr = g_strdup_printf("0.%d", i), *machine = g_strdup_printf("{\"n\":%d}", i);
    struct orch_named_text params[] = {{"lr", "real", lr}, {"net", "string", "\"resnet20\""}};
    orch_key_make(keys[i]);
    fixture_record(&r, keys[i], &unused);
    r.params = params;
    r.param_count = G_N_ELEMENTS(params);
    r.repeat = i;
    r.machine_facts = i % 10 ? r.machine_facts : machine;
    r.next_point = next_point;
    r.next_ctx = &points;
    assert_ok(orch_store_record(store, &r, error));
}

static int watched;

static void watch(sqlite3_int64 at, int n)
{
    if (at / PAGE < PAGES_MAX && n > 0)
        lies_on[watched][at / PAGE] = true;
}

/* A fresh handle for each run: nothing is in a cache. */
static void learn_pages(void)
{
    for (watched = 0; watched < RUNS; watched++) {
        struct orch_store *store;
        int64_t id;
        assert_ok(store = orch_store_open_raw(path, error));
        assert_ok(orch_store_get_int(store, &id, 0, error, "SELECT id FROM run WHERE key = ?", "t",
                                     keys[watched]));
        orch_store_close(store);
        assert_ok(store = orch_store_open_raw(path, error));
        fault.on_read = watch;
        assert_ok(orch_store_digest(store, id, digests[watched], error));
        fault.on_read = NULL;
        orch_store_close(store);
    }
}

static int make_whole(void **state)
{
    (void)state;
    fault_vfs_register();
    fault.no_sync = true;
    folder = fixture_folder();
    path = g_build_filename(folder, "results.db", NULL);
    const struct store_options options = {.migrations = &store_migrations, .never_wal = true};
    struct orch_store *store;
    assert_ok(store = orch_store_open_with(path, ORCH_STORE_CREATE, &options, error));
    for (int i = 0; i < RUNS; i++)
        put_run(store, i);
    for (int i = 0; i < 50; i++)
        assert_ok(orch_store_note(store, keys[i], i % 2 ? "note" : "tag", false, "said", error));
    char key[ORCH_SHA256_CHARS];
    orch_sha256("{}", 2, key);
    assert_ok(orch_store_put_recipe(store, key, "hw4", "{}", "# nothing", error));
    orch_store_close(store);
    assert_ok(orch_file_read(path, 64 << 20, &whole, &length, error));
    assert_true(length / PAGE < PAGES_MAX && length / PAGE > 100);
    learn_pages();
    return 0;
}

static int drop_whole(void **state)
{
    (void)state;
    g_free(whole);
    g_free(path);
    fixture_remove(folder);
    return 0;
}

/* ---- repair and look --------------------------------------------------------------------------
 */

struct repaired {
    struct orch_salvage salvage;
    GPtrArray *missing;
    bool here[RUNS];
    int count;
};

static void look(struct orch_store *store, struct repaired *out)
{
    g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func(g_free);
    int64_t runs;
    assert_ok(orch_store_check(store, findings, &runs, error));
    if (findings->len)
        fail_msg("seed %u: %s", seed, (char *)findings->pdata[0]);
    out->count = 0;
    for (int i = 0; i < RUNS; i++) {
        int64_t there;
        assert_ok(orch_store_get_int(store, &there, 0, error,
                                     "SELECT 1 FROM run WHERE key = ? AND digest = ?", "tt",
                                     keys[i], digests[i]));
        out->here[i] = there;
        out->count += there != 0;
    }
    assert_true(runs == (int64_t)out->count); /* and no run that never was */
}

/* Writes `bytes` as the damaged file and salvages it, which must not change it. */
static void repair(const char *bytes, size_t count, struct repaired *out)
{
    g_autofree char *to = g_build_filename(folder, "new.db", NULL);
    char before[ORCH_SHA256_CHARS], after[ORCH_SHA256_CHARS];
    assert_ok(orch_file_write(path, bytes, count, false, error));
    assert_ok(orch_file_sha256(path, before, NULL, error));
    orch_salvage_init(&out->salvage);
    struct orch_store *store;
    assert_ok(store = orch_salvage_open(to, path, error));
    g_autofree char *beside = g_strconcat(path, ".d", NULL);
    assert_string_equal(orch_store_folder(store), beside);
    assert_ok(orch_salvage_file(store, path, true, &out->salvage, error));
    assert_ok(out->missing = orch_salvage_missing(store, &out->salvage, error));
    look(store, out);
    orch_store_close(store);
    assert_ok(orch_file_sha256(path, after, NULL, error));
    assert_string_equal(before, after);
    assert_ok(orch_tree_remove(to, error));
}

static void done(struct repaired *r)
{
    orch_salvage_clear(&r->salvage);
    g_ptr_array_unref(r->missing);
}

/* Every run of whose pages none is bad is there. Returns how many had a bad one. */
static int assert_whole_ones(const struct repaired *r, const bool *bad)
{
    int hurt = 0;
    for (int i = 0; i < RUNS; i++) {
        bool is_hurt = false;
        for (size_t page = 0; page < PAGES_MAX; page++)
            is_hurt = is_hurt || (bad[page] && lies_on[i][page]);
        hurt += is_hurt;
        if (!is_hurt && !r->here[i])
            fail_msg("run %d (%s) lies on whole pages and is lost", i, keys[i]);
    }
    return hurt;
}

static void test_nothing_lost(void **state)
{
    (void)state;
    struct repaired r;
    repair(whole, length, &r);
    assert_int_equal(r.count, RUNS);
    assert_int_equal(r.missing->len, 0);
    assert_int_equal(r.salvage.lost->len, 0);
    assert_int_equal(r.salvage.nameless, 0);
    assert_int_equal(r.salvage.notes, 50);
    assert_int_equal(r.salvage.recipes, 1);
    done(&r);
}

static void test_random_damage(void **state)
{
    (void)state;
    int lost = 0, hurt = 0, told = 0;
    for (uint32_t round = 1; round <= rounds; round++) {
        g_autofree char *bytes = g_memdup2(whole, length);
        bool bad[PAGES_MAX] = {false};
        seed = round;
        for (uint32_t places = 1 + draw(6); places > 0; places--) {
            size_t at = PAGE + draw((uint32_t)(length - 2 * PAGE)), n = 1 + draw(2 * PAGE);
            bool zero = draw(3) == 0;
            for (size_t i = at; i < at + n && i < length; i++) {
                bytes[i] = zero ? 0 : (char)draw(256);
                bad[i / PAGE] = true;
            }
        }
        struct repaired r;
        repair(bytes, length, &r);
        hurt += assert_whole_ones(&r, bad);
        lost += RUNS - r.count;
        told += (int)(r.missing->len + (guint)r.salvage.nameless);
        if (r.count < RUNS && !r.missing->len && !r.salvage.nameless)
            fail_msg("round %u: %d runs lost, none told", round, RUNS - r.count);
        done(&r);
    }
    print_message("%u damaged stores of %d runs: %d runs lay on a damaged page, %d lost, %d told\n",
                  rounds, RUNS, hurt, lost, told);
    assert_true(lost > 0 && lost <= hurt);
}

/* Each page in turn: nothing else may be lost than what lies on it. */
static void test_each_page(void **state)
{
    (void)state;
    int intact = 0, count = 0;
    for (size_t page = 0; page < length / PAGE; page += step) {
        g_autofree char *bytes = g_memdup2(whole, length);
        bool bad[PAGES_MAX] = {false};
        bad[page] = true;
        memset(bytes + page * PAGE, 0xff, PAGE);
        struct repaired r;
        repair(bytes, length, &r);
        assert_whole_ones(&r, bad);
        intact += r.count == RUNS;
        count++;
        done(&r);
    }
    print_message("%d of %d pages cost no run\n", intact, count);
    assert_true(intact > count / 10); /* indexes cost nothing */
}

static void test_truncated(void **state)
{
    (void)state;
    int last = -1;
    for (size_t size = 1; size < length; size += size / (step > 1 ? 1 : 5) + 1000) {
        bool bad[PAGES_MAX] = {false};
        for (size_t page = size / PAGE; page < PAGES_MAX; page++)
            bad[page] = true;
        struct repaired r;
        repair(whole, size, &r);
        assert_whole_ones(&r, bad);
        assert_true(r.missing->len + r.salvage.lost->len + (guint)r.salvage.nameless > 0);
        last = r.count;
        done(&r);
    }
    assert_true(last > (step > 1 ? 0 : RUNS / 2));
    struct repaired r;
    repair("", 0, &r);
    assert_int_equal(r.count, 0);
    done(&r);
}

/* The header alone, page 1, and the pages that name the tables. */
static void test_no_begin(void **state)
{
    (void)state;
    for (size_t n = 1; n <= PAGE; n *= 4) {
        g_autofree char *bytes = g_memdup2(whole, length);
        memset(bytes, 0, n);
        struct repaired r;
        repair(bytes, length, &r);
        assert_int_equal(r.count, RUNS);
        assert_int_equal(r.missing->len, 0);
        done(&r);
    }
}

static void test_not_a_database(void **state)
{
    (void)state;
    g_autofree char *text = g_strnfill(100000, 'x');
    struct repaired r;
    repair(text, 100000, &r);
    assert_int_equal(r.count, 0);
    assert_true(r.salvage.lost->len > 0);
    done(&r);
    g_autofree char *to = g_build_filename(folder, "new.db", NULL);
    assert_ok(orch_file_write(to, "x", 1, false, error));
    assert_fails(orch_salvage_open(to, path, error), ORCH_ERROR_IO, "already exists");
    assert_ok(orch_tree_remove(to, error));
}

/* What a second file adds: the lost runs of the first are there again. */
static void test_second_file(void **state)
{
    (void)state;
    g_autofree char *to = g_build_filename(folder, "new.db", NULL);
    g_autofree char *backup = g_build_filename(folder, "old.backup", NULL);
    assert_ok(orch_file_write(path, whole, length / 2, false, error));
    assert_ok(orch_file_write(backup, whole, length, false, error));
    struct orch_salvage salvage;
    orch_salvage_init(&salvage);
    struct orch_store *store;
    assert_ok(store = orch_salvage_open(to, path, error));
    assert_ok(orch_salvage_file(store, path, true, &salvage, error));
    assert_true(salvage.runs < RUNS);
    assert_ok(orch_salvage_file(store, backup, false, &salvage, error));
    assert_int_equal(salvage.runs, RUNS);
    g_autoptr(GPtrArray) missing = NULL;
    assert_ok(missing = orch_salvage_missing(store, &salvage, error));
    assert_int_equal(missing->len, 0);
    orch_salvage_clear(&salvage);
    orch_store_close(store);
    assert_ok(orch_tree_remove(to, error));
    assert_ok(orch_tree_remove(backup, error));
}

/* What stands in the log alone comes too; a log of junk costs nothing. */
static void test_log(void **state)
{
    (void)state;
    struct orch_store *store;
    g_autofree char *log = g_strconcat(path, "-wal", NULL);
    char key[ORCH_KEY_CHARS];
    assert_ok(orch_file_write(path, whole, length, false, error));
    assert_ok(store = orch_store_open(path, ORCH_STORE_WRITE, error)); /* WAL, where it may be */
    bool wal = store->wal;
    orch_key_make(key);
    fixture_put(store, key);
    g_autofree char *copy = g_build_filename(folder, "copy.db", NULL);
    g_autofree char *copy_log = g_strconcat(copy, "-wal", NULL);
    g_autofree char *bytes = NULL, *log_bytes = NULL;
    size_t n = 0, log_n = 0;
    assert_ok(orch_file_read(path, 64 << 20, &bytes, &n, error));
    if (wal)
        assert_ok(orch_file_read(log, 64 << 20, &log_bytes, &log_n, error));
    orch_store_close(store);
    assert_ok(orch_file_write(copy, bytes, n, false, error));
    for (int junk = 0; wal && junk < 2; junk++) {
        if (junk)
            memset(log_bytes, 0x5a, log_n);
        assert_ok(orch_file_write(copy_log, log_bytes, log_n, false, error));
        g_autofree char *to = g_build_filename(folder, "new.db", NULL);
        struct orch_salvage salvage;
        orch_salvage_init(&salvage);
        assert_ok(store = orch_salvage_open(to, copy, error));
        assert_ok(orch_salvage_file(store, copy, true, &salvage, error));
        assert_int_equal(salvage.runs, RUNS + !junk);
        orch_salvage_clear(&salvage);
        orch_store_close(store);
        assert_ok(orch_tree_remove(to, error));
    }
}

/* ---- circles ----------------------------------------------------------------------------------
 */

/* A file of 3 pages with the table t(x), whose root is page 2. */
static void make_small(const char *name)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(name, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "PRAGMA page_size = 4096; CREATE TABLE t(x);"
                                  "CREATE TABLE other(x)",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
}

static void put_16(uint8_t *at, unsigned value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

/* An interior page: `cells` times the same child. */
static void forge_shared(uint8_t *page, unsigned cells, uint8_t child)
{
    memset(page, 0, PAGE);
    page[0] = 5;
    put_16(page + 3, cells);
    page[11] = child; /* the last */
    for (unsigned i = 0; i < cells; i++) {
        unsigned at = PAGE - 5 * (i + 1);
        put_16(page + 12 + 2 * i, at);
        page[at + 3] = child;
        page[at + 4] = 1;
    }
    put_16(page + 5, PAGE - 5 * cells);
}

/* A leaf of CHAINS texts of TEXT bytes, all in the circle of one overflow page, `next`. */
enum {
    CHAINS = 6,
    LOCAL = (PAGE - 12) * 32 / 255 - 23, /* bytes of each that are in the leaf */
    PAYLOAD = LOCAL + 4000 * (PAGE - 4) + 3600,
    TEXT = PAYLOAD - 5,
    CHAIN_PAGES = 5000, /* the file has so many, because SQLite refuses a longer value than it */
};

static void put_varint_4(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)((value >> (21 - 7 * i) & 0x7f) | (i < 3 ? 0x80 : 0));
}

static void forge_chains(uint8_t *page, uint8_t next)
{
    const unsigned cell = 5 + LOCAL + 4;
    memset(page, 0, PAGE);
    page[0] = 13;
    put_16(page + 3, CHAINS);
    put_16(page + 5, PAGE - CHAINS * cell);
    for (unsigned i = 0; i < CHAINS; i++) {
        unsigned at = PAGE - (i + 1) * cell;
        put_16(page + 8 + 2 * i, at);
        memset(page + at, 'x', 5 + LOCAL);
        put_varint_4(page + at, PAYLOAD);
        page[at + 4] = (uint8_t)(i + 1); /* row */
        page[at + 5] = 5;                /* bytes of the record's header */
        put_varint_4(page + at + 6, 2 * TEXT + 13);
        page[at + cell - 1] = next;
    }
}

/* Reads t; the last code, and in `out` how many rows (at most 10000) and bytes came. */
static int read_small(const char *name, int *rows, int64_t *bytes)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    int code = SQLITE_ROW;
    assert_int_equal(sqlite3_open_v2(name, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT x FROM t", -1, &s, NULL), SQLITE_OK);
    for (*rows = 0, *bytes = 0; *rows < 10000 && (code = sqlite3_step(s)) == SQLITE_ROW; ++*rows) {
        sqlite3_column_text(s, 0);
        *bytes += sqlite3_column_bytes(s, 0);
    }
    sqlite3_finalize(s);
    sqlite3_close(db);
    return code;
}

/* Cuts the forged pages 2 and 3 of a file of `count` pages; before, it reads as it was meant. */
static void check_cut(uint8_t *bytes, size_t count, int rows_before, int64_t read_before,
                      int rows_after)
{
    g_autofree char *name = g_build_filename(folder, "small.db", NULL);
    g_autoptr(GArray) roots = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    const uint32_t root = 2;
    int rows;
    int64_t read;
    g_array_append_val(roots, root);
    bytes[30] = (uint8_t)(count >> 8); /* the number of pages, which the header has too */
    bytes[31] = (uint8_t)count;
    assert_ok(orch_file_write(name, bytes, count * PAGE, false, error));
    assert_int_equal(read_small(name, &rows, &read), SQLITE_DONE);
    assert_int_equal(rows, rows_before);
    assert_true(read == read_before);
    assert_ok(orch_store_salvage_cut(name, roots, error));
    assert_int_equal(read_small(name, &rows, &read), SQLITE_CORRUPT);
    assert_int_equal(rows, rows_after);
    assert_ok(orch_tree_remove(name, error));
}

static void test_circles(void **state)
{
    (void)state;
    static const uint8_t leaf[] = {13, 0, 0, 0, 1, 0x0f, 0xfc, 0, 0x0f, 0xfc};
    g_autofree char *name = g_build_filename(folder, "small.db", NULL), *small = NULL;
    size_t n;
    make_small(name);
    assert_ok(orch_file_read(name, 1 << 20, &small, &n, error));
    assert_int_equal(n, 3 * PAGE);
    g_autofree uint8_t *bytes = g_malloc0(CHAIN_PAGES * PAGE);
    memcpy(bytes, small, n);
    uint8_t *second = bytes + PAGE, *third = second + PAGE;
    forge_shared(second, 500, 3);
    memset(third, 0, PAGE);
    memcpy(third, leaf, sizeof leaf);
    memcpy(third + PAGE - 4, "\2\1\2\11", 4); /* the row 1: the number 1 */
    check_cut(bytes, 3, 501, 501, 1);
    forge_chains(second, 3);
    memset(third, 0, PAGE);
    third[3] = 3; /* the next is page 3 */
    check_cut(bytes, CHAIN_PAGES, CHAINS, (int64_t)CHAINS * TEXT, 0);
}

/* A store without circles stays as it is, to the last byte. */
static void test_nothing_cut(void **state)
{
    (void)state;
    g_autofree char *name = g_build_filename(folder, "uncut.db", NULL), *bytes = NULL;
    g_autoptr(GArray) roots = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    size_t n;
    for (uint32_t root = 1; root <= length / PAGE; root++)
        g_array_append_val(roots, root);
    assert_ok(orch_file_write(name, whole, length, false, error));
    assert_ok(orch_store_salvage_cut(name, roots, error));
    assert_ok(orch_file_read(name, 64 << 20, &bytes, &n, error));
    assert_memory_equal(bytes, whole, length);
    assert_ok(orch_tree_remove(name, error));
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        rounds = 40;
        step = 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_lost), cmocka_unit_test(test_random_damage),
        cmocka_unit_test(test_each_page),    cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_no_begin),     cmocka_unit_test(test_not_a_database),
        cmocka_unit_test(test_second_file),  cmocka_unit_test(test_log),
        cmocka_unit_test(test_circles),      cmocka_unit_test(test_nothing_cut),
    };
    return cmocka_run_group_tests(tests, make_whole, drop_whole);
}
