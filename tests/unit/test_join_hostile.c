/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that nobody vouches for: whatever they hold, the store stays sound, no run is in it that is
 * not what but the run declares, and what is good is joined. */
#include "store/handle/foreign.h"
#include "store/handle/open.h"
#include "store/handle/schema.h"
#include "store/handle/sql.h"
#include "tests/store/join_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/** A file of tests/fuzz/corpus/merge (make_merge_corpus.py says what is wrong with each; all have
 * an unreadable run set apart), and what a join of it says. */
static const struct {
    const char *name, *whole; /* why all of it is refused, or NULL */
    int added, refused;
    const char *line;
} FILES[] = {
    {"whole", NULL, 2, 1, "conflicting version of run"},
    {"view", "its table 'run' differs from orch's schema", 0, 0, NULL},
    {"virtual", "its table 'sample' differs from orch's schema", 0, 0, NULL},
    {"no_table", "its table 'metric' differs from orch's schema", 0, 0, NULL},
    {"column", "its table 'param' differs from orch's schema", 0, 0, NULL},
    {"newer", "schema version 99 is newer", 0, 0, NULL},
    {"foreign", "another program", 0, 0, NULL},
    {"trigger", NULL, 2, 1, "conflicting version of run"},
    {"index", NULL, 2, 1, "conflicting version of run"},
    {"digest", NULL, 0, 3, "but the run declares"},
    {"claims", NULL, 0, 3, "its key or digest is not valid"},
    {"version", NULL, 0, 3, "update orch"},
    {"negative", NULL, 0, 3, "beyond 0 to"},
    {"points", NULL, 1, 2, "one of its metrics has no name"},
    {"orphans", NULL, 1, 2, "but the run declares"},
    {"twin", NULL, 1, 2, "but the run declares"},
    {"text_number", NULL, 0, 3, "one of its numbers is not a number"},
    {"null_text", NULL, 1, 2, "not UTF-8"},
    {"blob_text", NULL, 1, 2, "not UTF-8"},
    {"bad_utf8", NULL, 0, 3, "not UTF-8"},
    {"huge", NULL, 0, 3, "not UTF-8"},
    {"key", NULL, 0, 3, "its key or digest is not valid"},
    {"kinds", NULL, 2, 1, "conflicting version of run"},
    {"set", NULL, 2, 2, "more rows than the file can hold"},
};

static bool has_line(const struct orch_receipt *receipt, const char *words)
{
    for (guint i = 0; i < receipt->problems->len; i++)
        if (strstr(receipt->problems->pdata[i], words))
            return true;
    return false;
}

static void test_corpus(void **state)
{
    (void)state;
    const char *source = g_getenv("ORCH_SOURCE_DIR");
    assert_non_null(source);
    for (size_t i = 0; i < G_N_ELEMENTS(FILES); i++) {
        char *folder = fixture_folder();
        g_autofree char *file = g_strconcat(FILES[i].name, ".db", NULL);
        g_autofree char *path =
            g_build_filename(source, "tests", "fuzz", "corpus", "merge", file, NULL);
        struct orch_store *store = fixture_open(folder);
        GError *problem = NULL;
        struct orch_receipt *receipt = join_file(store, path, &problem);
        if (FILES[i].whole) {
            assert_null(receipt);
            assert_non_null(strstr(problem->message, FILES[i].whole));
        } else if (!receipt || receipt->added != FILES[i].added ||
                   receipt->refused != FILES[i].refused || !has_line(receipt, FILES[i].line)) {
            fail_msg("%s: %s", file,
                     receipt ? (char *)receipt->problems->pdata[0] : problem->message);
        }
        assert_sound(store);
        orch_receipt_free(receipt);
        g_clear_error(&problem);
        orch_store_close(store);
        fixture_remove(folder);
    }
}

/* A real store with a page's worth of bytes changed, page by page, and cut short. */
static void test_damage(void **state)
{
    (void)state;
    static const int numbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 0};
    char *folder = fixture_folder();
    g_autofree char *path = store_of(folder, "a", numbers, 0), *bytes = NULL;
    g_autofree char *bad = g_build_filename(folder, "bad.db", NULL);
    gsize length;
    assert_true(g_file_get_contents(path, &bytes, &length, NULL));
    struct orch_store *store = fixture_open(folder);
    int joined = 0, refused = 0, failed = 0;
    for (gsize at = 0; at < length; at += 4096) {
        char kept[64];
        memcpy(kept, bytes + at, sizeof kept);
        for (size_t i = 0; i < sizeof kept; i++)
            bytes[at + i] = (char)(bytes[at + i] ^ (int)(at / 4096 * 37 + i * 11 + 1));
        assert_true(g_file_set_contents(bad, bytes, (gssize)(at % 3 ? length : length - at), NULL));
        memcpy(bytes + at, kept, sizeof kept);
        GError *problem = NULL;
        struct orch_receipt *receipt = join_file(store, bad, &problem);
        failed += receipt == NULL;
        joined += receipt && !receipt->refused;
        refused += receipt && receipt->refused;
        orch_receipt_free(receipt);
        g_clear_error(&problem);
    }
    assert_sound(store);
    if (!joined || !refused || !failed) /* unused pages, pages of runs, the first */
        fail_msg("joined %d, refused in part %d, as a whole %d", joined, refused, failed);
    orch_store_close(store);
    fixture_remove(folder);
}

static void add_32(GByteArray *out, uint32_t value)
{
    const uint8_t bytes[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                              (uint8_t)value};
    g_byte_array_append(out, bytes, sizeof bytes);
}

/* A journal that names another file as the one that its transaction hangs on (SQLite, file format,
 * "the rollback journal"; pager.c, writeSuperJournal). */
static GByteArray *with_super_journal(const char *journal, size_t length, const char *name)
{
    GByteArray *out = g_byte_array_new();
    uint32_t sum = 0;
    g_byte_array_append(out, (const guint8 *)journal, (guint)length);
    add_32(out, (1 << 30) / 4096 + 1); /* the page that is never written */
    for (const char *at = name; *at; at++)
        sum += (uint32_t)*at;
    g_byte_array_append(out, (const guint8 *)name, (guint)strlen(name));
    add_32(out, (uint32_t)strlen(name));
    add_32(out, sum);
    g_byte_array_append(out, (const guint8 *)"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
    return out;
}

/* A writer was killed: its journal is played back in a copy, the file stays as it is. With the name
 * of another file at its end, as of a transaction over several, it is refused: that file would be
 * deleted. */
static void test_journal(void **state)
{
    (void)state;
    static const int numbers[] = {1, 2, 0};
    char *folder = fixture_folder();
    g_autofree char *path = g_build_filename(folder, "a.db", NULL);
    g_autofree char *copy = g_build_filename(folder, "copy.db", NULL);
    const struct store_options plain = {.migrations = &store_migrations, .never_wal = true};
    struct orch_store *there, *store = fixture_open(folder);
    assert_ok(there = orch_store_open_with(path, ORCH_STORE_CREATE, &plain, error));
    for (int i = 0; numbers[i]; i++)
        put_variant(there, numbers[i], 0);
    assert_ok(orch_store_exec(there,
                              "PRAGMA cache_size = 5; PRAGMA cache_spill = 1; BEGIN;"
                              "INSERT INTO recipe SELECT value, value, printf('%2000d', value),"
                              " NULL FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]')",
                              "fill", error));
    static const char *const endings[] = {"", "-journal"};
    for (int i = 0; i < 2; i++) {
        g_autofree char *from = g_strconcat(path, endings[i], NULL), *bytes = NULL;
        g_autofree char *to = g_strconcat(copy, endings[i], NULL);
        gsize length;
        assert_true(g_file_get_contents(from, &bytes, &length, NULL));
        assert_true(length > 0);
        assert_true(g_file_set_contents(to, bytes, (gssize)length, NULL));
    }
    char before[ORCH_SHA256_CHARS], after[ORCH_SHA256_CHARS];
    assert_ok(orch_file_sha256(copy, before, NULL, error));
    struct orch_receipt *receipt = join_well(store, copy);
    assert_int_equal(receipt->added, 2);
    assert_int_equal(receipt->recipes + receipt->refused, 0);
    orch_receipt_free(receipt);
    assert_ok(orch_file_sha256(copy, after, NULL, error));
    assert_string_equal(before, after);
    g_autofree char *journal = g_strconcat(copy, "-journal", NULL), *bytes = NULL;
    gsize length;
    assert_true(g_file_get_contents(journal, &bytes, &length, NULL));
    g_autofree char *victim = g_build_filename(folder, "thesis.tex", NULL);
    assert_ok(orch_file_write(victim, "all of it", 9, false, error));
    g_autoptr(GByteArray) more = with_super_journal(bytes, length, victim);
    assert_true(g_file_set_contents(journal, (char *)more->data, more->len, NULL));
    GError *problem = NULL;
    assert_null(join_file(store, copy, &problem));
    assert_non_null(strstr(problem->message, "over several files"));
    g_clear_error(&problem);
    for (int mode = ORCH_STORE_READ; mode <= ORCH_STORE_CREATE;
         mode++) { /* as a store of one's own */
        struct orch_store *opened = orch_store_open(copy, (enum orch_store_mode)mode, &problem);
        assert_null(opened);
        g_clear_error(&problem);
    }
    assert_true(g_file_test(victim, G_FILE_TEST_EXISTS));
    assert_ok(orch_store_exec(there, "ROLLBACK", "end", error));
    orch_store_close(there);
    orch_store_close(store);
    fixture_remove(folder);
}

/* Artifact bytes that are not what their name says, and a link to somebody's file. */
static void test_objects(void **state)
{
    (void)state;
    static const int numbers[] = {1, 0};
    char *folder = fixture_folder();
    g_autofree char *path = store_of(folder, "a", numbers, 0);
    const char *sha256 = FIXTURE_ARTIFACTS[0].sha256;
    g_autofree char *objects = g_strdup_printf("%s.d/objects/%.2s", path, sha256);
    g_autofree char *object = g_build_filename(objects, sha256 + 2, NULL);
    assert_ok(orch_dir_make(objects, error) && orch_file_write(object, "bar", 3, false, error));
    struct orch_store *store = fixture_open(folder);
    struct orch_receipt *receipt = join_well(store, path);
    assert_int_equal(receipt->added, 1);
    assert_int_equal(receipt->artifacts, 0);
    assert_true(has_line(receipt, "its contents do not match its digest"));
    orch_receipt_free(receipt);
    assert_int_equal(unlink(object), 0);
    assert_int_equal(symlink("/etc/passwd", object), 0);
    receipt = join_well(store, path);
    assert_int_equal(receipt->artifacts + receipt->refused, 0);
    orch_receipt_free(receipt);
    assert_null(orch_store_object_path(store, sha256));
    orch_store_close(store);
    fixture_remove(folder);
}

/* A pipe in the place of the file or of one beside it is not waited for, nor is a link followed. */
static void test_pipes(void **state)
{
    (void)state;
    static const int numbers[] = {1, 0};
    static const char *const endings[] = {"-journal", "-wal", "-shm", ""};
    char *folder = fixture_folder();
    g_autofree char *path = store_of(folder, "a", numbers, 0);
    struct orch_store *store = fixture_open(folder);
    alarm(20);
    for (size_t i = 0; i < 2 * G_N_ELEMENTS(endings); i++) {
        bool is_link = i >= G_N_ELEMENTS(endings);
        g_autofree char *name = g_strconcat(path, endings[i % G_N_ELEMENTS(endings)], NULL);
        GError *problem = NULL;
        unlink(name);
        assert_int_equal(is_link ? symlink("/dev/null", name) : mkfifo(name, 0600), 0);
        assert_null(join_file(store, path, &problem));
        assert_non_null(strstr(problem->message, "not a regular file"));
        g_clear_error(&problem);
        unlink(name);
        if (!*endings[i % G_N_ELEMENTS(endings)])
            g_free(store_of(folder, "a", numbers, 0));
    }
    alarm(0);
    struct orch_receipt *receipt = join_well(store, path);
    assert_int_equal(receipt->added, 1);
    orch_receipt_free(receipt);
    orch_store_close(store);
    fixture_remove(folder);
}

/* A file that says it is a tebibyte large, most of it holes: they count for nothing, and it is not
 * copied to play back what lies beside it. */
static void test_holes(void **state)
{
    (void)state;
    static const int numbers[] = {1, 0};
    static const uint8_t pages[4] = {0x10, 0, 0, 0}; /* 2^28 of 4 KiB */
    char *folder = fixture_folder();
    g_autofree char *path = store_of(folder, "a", numbers, 0);
    g_autofree char *journal = g_strconcat(path, "-journal", NULL);
    struct orch_store *store = fixture_open(folder);
    struct store_foreign foreign;
    GError *problem = NULL;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, pages, sizeof pages, 28), sizeof pages);
    if (ftruncate(fd, INT64_C(1) << 40) == 0) {
        assert_ok(orch_store_foreign_open(store, path, &foreign, error));
        assert_true(foreign.bytes < 64 << 20);
        orch_store_foreign_close(&foreign);
        char head[512] = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7\0\0\0\1";
        head[24 - 1] = 1; /* sector size, page size: enough to be taken for a hot journal */
        assert_true(g_file_set_contents(journal, head, sizeof head, NULL));
        alarm(20);
        assert_null(join_file(store, path, &problem));
        assert_non_null(strstr(problem->message, "no space"));
        alarm(0);
        g_clear_error(&problem);
    }
    close(fd);
    orch_store_close(store);
    fixture_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corpus),  cmocka_unit_test(test_damage),
        cmocka_unit_test(test_journal), cmocka_unit_test(test_objects),
        cmocka_unit_test(test_pipes),   cmocka_unit_test(test_holes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
