/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A store as items and as a bundle: there and back in any order, what stays at home, and what comes
 * from somebody who means harm. */
#include "tests/store/exchange_fixture.h"

#include "lib/tar/tar_head.h"
#include "lib/tar/tar_write.h"
#include "store/write/dataset.h"

#include <zlib.h>

static struct member a, b;
static char *folder, *path;

static int set_up(void **state)
{
    (void)state;
    a = member_new();
    b = member_new();
    folder = fixture_folder();
    path = g_build_filename(folder, "x.orch", NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    member_free(&a);
    member_free(&b);
    g_free(path);
    fixture_remove(folder);
    return 0;
}

static const struct orch_item_choice EVERYTHING = {.artifact_bytes = ORCH_ARTIFACT_BYTES_DEFAULT};

static void write_bundle(struct orch_store *store, const struct orch_item_choice *choice)
{
    assert_ok(orch_bundle_write(store, choice, NULL, 0, path, NULL, NULL, error));
}

static struct orch_receipt *join_bundle(struct orch_store *store)
{
    struct orch_join *join;
    struct orch_receipt *receipt;
    assert_ok(join = orch_join_begin(store, path, error));
    assert_ok(orch_bundle_join(join, store, path, NULL, NULL, error));
    assert_ok(receipt = orch_join_commit(join, error));
    return receipt;
}

/* It cannot be read at all, and the store is as it was. */
static void assert_unreadable(const char *words)
{
    struct orch_join *join;
    assert_ok(join = orch_join_begin(b.store, path, error));
    assert_fails(orch_bundle_join(join, b.store, path, NULL, NULL, error), ORCH_ERROR_IO, words);
    orch_join_rollback(join);
    assert_int_equal(count_rows(b.store, "run"), 0);
}

static struct orch_dataset *small_set(void)
{
    struct orch_dataset *set = orch_dataset_new("speeds", "step_ms", "ms", 2);
    set->targets[0] = 1.5;
    set->targets[1] = 2.5;
    orch_dataset_add_numbers(set, "batch")[0] = 64;
    return set;
}

/* Gives the fixture's artifact bytes of 3: they are "foo". */
static void put_artifact(struct orch_store *store)
{
    char sha256[ORCH_SHA256_CHARS];
    assert_ok(orch_store_put_object_bytes(store, "foo", 3, sha256, error));
    assert_string_equal(sha256, FIXTURE_ARTIFACTS[0].sha256);
}

static void test_everything_travels(void **state)
{
    (void)state;
    static const char *const sets[] = {"speeds", NULL};
    struct orch_item_choice choice = EVERYTHING;
    struct orch_dataset *set = small_set();
    enum orch_dataset_put put;
    choice.datasets = sets;
    for (unsigned i = 1; i <= 3; i++)
        put_run(a.store, i, 0);
    g_autofree char *key = numbered_key(2);
    put_artifact(a.store);
    assert_ok(orch_store_put_dataset(a.store, set, &put, NULL, error));
    assert_ok(orch_store_note(a.store, key, "note", true, "open to all", error));
    assert_ok(orch_store_note(a.store, key, "note", false, "SECRET-WORDS", error));
    write_bundle(a.store, &choice);
    struct orch_receipt *receipt = join_bundle(b.store);
    assert_int_equal(receipt->added, 3);
    assert_int_equal(receipt->refused, 0);
    assert_int_equal(receipt->recipes, 1);
    assert_int_equal(receipt->notes, 1);
    assert_int_equal(receipt->datasets, 1);
    assert_int_equal(receipt->artifacts, 1);
    orch_receipt_free(receipt);
    assert_same_stores(a.store, b.store);
    assert_sound(b.store);
    g_autofree char *object = orch_store_object_path(b.store, FIXTURE_ARTIFACTS[0].sha256);
    assert_non_null(object);
    assert_int_equal(count_rows(b.store, "note WHERE public = 0"), 0);
    receipt = join_bundle(b.store); /* again: nothing is new */
    assert_int_equal(receipt->added, 0);
    assert_int_equal(receipt->known, 3);
    assert_int_equal(receipt->artifacts, 0);
    orch_receipt_free(receipt);
    orch_dataset_free(set);
}

static char *read_file(const char *name, size_t *out_length)
{
    char *bytes;
    assert_ok(orch_file_read(name, 64 << 20, &bytes, out_length, error));
    return bytes;
}

/* Who has the same writes the same, whatever the local numbers. */
static void test_equal_stores_give_equal_bytes(void **state)
{
    (void)state;
    for (unsigned i = 1; i <= 4; i++) {
        put_run(a.store, i, 0);
        put_run(b.store, 5 - i, 0);
    }
    size_t lengths[2];
    write_bundle(a.store, &EVERYTHING);
    g_autofree char *first = read_file(path, &lengths[0]);
    write_bundle(b.store, &EVERYTHING);
    g_autofree char *second = read_file(path, &lengths[1]);
    assert_int_equal(lengths[0], lengths[1]);
    assert_memory_equal(first, second, lengths[0]);
}

static void test_private_stays(void **state)
{
    (void)state;
    put_run(a.store, 1, 0);
    g_autofree char *key = numbered_key(1);
    assert_ok(orch_store_note(a.store, key, "note", false, "SECRET-WORDS", error));
    write_bundle(a.store, &EVERYTHING);
    gzFile file = gzopen(path, "rb");
    g_autofree char *text = g_malloc(1 << 20);
    int length = gzread(file, text, 1 << 20);
    gzclose(file);
    assert_true(length > 2000);
    assert_null(memmem(text, (size_t)length, "SECRET-WORDS", 12));
    assert_non_null(memmem(text, (size_t)length, "finetune", 8));
}

static void test_choice(void **state)
{
    (void)state;
    put_run(a.store, 1, 0);
    put_run(a.store, 2, 1);
    put_artifact(a.store);
    struct orch_item_choice choice = {.artifact_bytes = 2}; /* it has 3 */
    assert_ok(choice.where = orch_where_parse("repeat = 1", error));
    int64_t items, runs;
    assert_ok(orch_bundle_write(a.store, &choice, NULL, 0, path, &items, &runs, error));
    assert_int_equal(runs, 1);
    assert_int_equal(items, 2); /* and its recipe */
    orch_where_free((struct orch_where *)(uintptr_t)choice.where);
    choice = (struct orch_item_choice){.after_run_id = 2};
    assert_ok(orch_bundle_write(a.store, &choice, NULL, 0, path, &items, &runs, error));
    assert_int_equal(items, 0);
}

/* Two runs of one key: each store keeps its own as the run and knows the other, and all are equal.
 */
static void test_conflicts_travel(void **state)
{
    (void)state;
    struct member c = member_new();
    put_run(a.store, 1, 0);
    put_run(b.store, 1, 7);
    write_bundle(a.store, &EVERYTHING);
    struct orch_receipt *receipt = join_bundle(b.store);
    assert_int_equal(receipt->conflicts, 1);
    orch_receipt_free(receipt);
    write_bundle(b.store, &EVERYTHING); /* both */
    orch_receipt_free(join_bundle(a.store));
    orch_receipt_free(join_bundle(c.store));
    assert_same_stores(a.store, b.store);
    assert_same_stores(a.store, c.store);
    assert_sound(c.store);
    member_free(&c);
}

/* ---- what is wrong ----------------------------------------------------------------------------
 */

static void test_damaged_files(void **state)
{
    (void)state;
    for (unsigned i = 1; i <= 5; i++)
        put_run(a.store, i, 0);
    write_bundle(a.store, &EVERYTHING);
    size_t length;
    g_autofree char *bytes = read_file(path, &length);
    assert_ok(orch_file_write(path, bytes, length / 2, false, error));
    assert_unreadable("is truncated");
    assert_ok(orch_file_write(path, bytes, length - 4, false, error)); /* of the length alone */
    assert_unreadable("is truncated");
    bytes[length - 6] ^= 1; /* in the checksum */
    assert_ok(orch_file_write(path, bytes, length, false, error));
    assert_unreadable("check");
    bytes[length - 6] ^= 1;
    bytes[length / 2] ^= 4;
    assert_ok(orch_file_write(path, bytes, length, false, error));
    assert_unreadable("archive");
    assert_ok(orch_file_write(path, "", 0, false, error));
    assert_unreadable("is not gzip-compressed");
    assert_ok(orch_file_write(path, "run,loss\n1,2\n", 13, false, error));
    assert_unreadable("is not gzip-compressed");
    unlink(path);
    assert_unreadable("it does not exist");
    assert_sound(b.store);
}

/* An archive of these files, NULL-terminated pairs of name and text. */
static void write_tar(const char *const *pairs)
{
    struct orch_tar_writer *tar;
    assert_ok(tar = orch_tar_create(path, error));
    for (int i = 0; pairs[i]; i += 2)
        assert_ok(orch_tar_add(tar, pairs[i], pairs[i + 1], strlen(pairs[i + 1]), error));
    assert_ok(orch_tar_finish(tar, true, NULL, error));
}

static void test_other_archives(void **state)
{
    (void)state;
    write_tar((const char *const[]){"README", "hello", NULL});
    assert_unreadable("is not a bundle written by orch");
    write_tar((const char *const[]){"format", "orch results 2\n", NULL});
    assert_unreadable("its format is newer");
    write_tar((const char *const[]){NULL});
    assert_unreadable("is not a bundle written by orch");
    gzFile file = gzopen(path, "wb");
    gzputs(file, "not a tar at all, but compressed");
    gzclose(file);
    assert_unreadable("is truncated");
}

/* Each is a line; the run beside them comes in; nothing is written outside. */
static void test_hostile_names(void **state)
{
    (void)state;
    put_run(a.store, 1, 0);
    g_autofree char *key = numbered_key(1);
    struct orch_run *run;
    assert_ok(run = orch_store_run(a.store, key, error));
    GString *text;
    assert_ok(text = orch_run_text_encode(a.store, run->id, error));
    g_autofree char *good = g_strdup_printf("runs/01890/01/%s-%.16s", key, run->digest);
    g_autofree char *other_key =
        g_strdup_printf("runs/01890/02/01890a5d-ac96-774b-bcce-000000000002-%.16s", run->digest);
    g_autofree char *other_digest = g_strdup_printf("runs/01890/01/%s-0123456789abcdef", key);
    const char *const pairs[] = {
        "format",
        ORCH_ITEM_FORMAT,
        "format",
        ORCH_ITEM_FORMAT,
        "/tmp/evil",
        "x",
        "../evil",
        "x",
        "runs/../../evil",
        "x",
        "a\\b",
        "x",
        "\033[2Jclear",
        "x",
        "runs/01890/01/nothing",
        "x",
        "artifacts/2c/2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
        "bar",
        "recipes/2c/2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
        "{\"key\":\"2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae\","
        "\"canonical\":\"{}\",\"name\":null,\"verbatim\":null}",
        "notes/01890/01890a5d-ac96-774b-bcce-000000000009",
        "{\"key\":\"other\"}",
        "datasets/2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
        "{}\n",
        other_key,
        text->str,
        other_digest,
        text->str,
        good,
        text->str,
        NULL,
    };
    write_tar(pairs);
    struct orch_receipt *receipt = join_bundle(b.store);
    assert_int_equal(receipt->added, 1);
    assert_int_equal(receipt->refused, 13);
    assert_problem(receipt, "'/tmp/evil' is not a valid name");
    assert_problem(receipt, "'../evil' is not a valid name");
    assert_problem(receipt, "'a\\b' is not a valid name");
    assert_problem(receipt, "'?[2Jclear' is not a valid name");
    assert_problem(receipt, "'runs/01890/01/nothing' is not a file that belongs in a bundle");
    assert_problem(receipt, "the contents do not match the digest");
    assert_problem(receipt, "the text does not match the digest");
    assert_problem(receipt, "the contents do not match the path");
    assert_problem(receipt, "the path names another run");
    orch_receipt_free(receipt);
    assert_same_stores(a.store, b.store);
    g_string_free(text, TRUE);
    orch_run_free(run);
}

/* A head of our own making. */
static void write_head(gzFile file, const char *name, char type, const char *size)
{
    struct orch_tar_head head = {.mode = "0000644", .type = type, .magic = "ustar"};
    g_strlcpy(head.name, name, sizeof head.name);
    g_strlcpy(head.size, size, sizeof head.size);
    g_strlcpy(head.link, "/etc/passwd", sizeof head.link);
    memset(head.checksum, ' ', sizeof head.checksum);
    unsigned sum = 0;
    for (size_t i = 0; i < sizeof head; i++)
        sum += ((const uint8_t *)&head)[i];
    snprintf(head.checksum, sizeof head.checksum, "%06o", sum);
    assert_int_equal(gzwrite(file, &head, sizeof head), sizeof head);
}

static gzFile begin_raw(void)
{
    char block[ORCH_TAR_BLOCK] = ORCH_ITEM_FORMAT;
    gzFile file = gzopen(path, "wb");
    write_head(file, "format", '0', "00000000017");
    assert_int_equal(gzwrite(file, block, sizeof block), sizeof block);
    return file;
}

static void end_raw(gzFile file)
{
    static const char zeros[2 * ORCH_TAR_BLOCK];
    gzwrite(file, zeros, sizeof zeros);
    assert_int_equal(gzclose(file), Z_OK);
}

static void test_links_and_devices(void **state)
{
    (void)state;
    gzFile file = begin_raw();
    write_head(file, "link", '2', "00000000000");
    write_head(file, "hard", '1', "00000000000");
    write_head(file, "device", '3', "00000000000");
    write_head(file, "pipe", '6', "00000000000");
    write_head(file, "runs", '5', "00000000000"); /* a folder: nothing is made of it */
    end_raw(file);
    struct orch_receipt *receipt = join_bundle(b.store);
    assert_int_equal(receipt->refused, 4);
    assert_problem(receipt, "'link' is a link or a device");
    orch_receipt_free(receipt);
}

/* What a head claims costs nothing; what it unpacks to is bounded. */
static void test_bombs(void **state)
{
    (void)state;
    gzFile file = begin_raw();
    write_head(file, "runs/01890/01/01890a5d-ac96-774b-bcce-000000000001-0123456789abcdef", '0',
               "77777777777");
    end_raw(file);
    assert_unreadable("is truncated");
    file = begin_raw();
    write_head(file, "runs/01890/01/01890a5d-ac96-774b-bcce-000000000001-0123456789abcdef", '0',
               "16000000000"); /* 1.75 GiB of zeros in 2 MB: over 1 GiB and a hundred times that */
    g_autofree char *zeros = g_malloc0(8 << 20);
    gzsetparams(file, 1, Z_RLE); /* as small, in a third of the time */
    for (int i = 0; i < 224; i++)
        assert_true(gzwrite(file, zeros, 8 << 20) > 0);
    end_raw(file);
    assert_unreadable("larger than allowed");
}

static bool tell_extra(void *ctx, const char *name, const char *bytes, size_t length,
                       GError **error)
{
    (void)error;
    g_string_append_printf(ctx, "%s=%.*s;", name, (int)length, bytes);
    return true;
}

static void test_extras(void **state)
{
    (void)state;
    g_autofree char *long_name = g_strnfill(400, 'n');
    const struct orch_bundle_extra extras[] = {
        {"report/z.html", "zz", 2}, {"report/a.csv", "a\n", 2}, {long_name, "l", 1}};
    static const struct orch_bundle_extra bad = {"../x", "", 0};
    assert_fails(orch_bundle_write(a.store, &EVERYTHING, &bad, 1, path, NULL, NULL, error),
                 ORCH_ERROR_USAGE, "cannot put '../x'");
    assert_ok(orch_bundle_write(a.store, &EVERYTHING, extras, 3, path, NULL, NULL, error));
    struct orch_join *join;
    g_autoptr(GString) told = g_string_new(NULL);
    g_autofree char *wanted = g_strdup_printf("%s=l;report/a.csv=a\n;report/z.html=zz;", long_name);
    assert_ok(join = orch_join_begin(b.store, path, error));
    assert_ok(orch_bundle_join(join, b.store, path, tell_extra, told, error));
    orch_join_rollback(join);
    assert_string_equal(told->str, wanted);
    struct orch_receipt *receipt = join_bundle(b.store); /* nobody asked for them */
    assert_int_equal(receipt->refused, 3);
    orch_receipt_free(receipt);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(test_everything_travels),
        T(test_equal_stores_give_equal_bytes),
        T(test_private_stays),
        T(test_choice),
        T(test_conflicts_travel),
        T(test_damaged_files),
        T(test_other_archives),
        T(test_hostile_names),
        T(test_links_and_devices),
        T(test_bombs),
        T(test_extras),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
