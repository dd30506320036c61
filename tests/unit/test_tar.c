/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Archives made by hand: sizes and names in each of tar's forms, heads that lie, and disks that are
 * full. */
#include "lib/tar/tar_head.h"
#include "lib/tar/tar_read.h"
#include "lib/tar/tar_write.h"

#include "features/datasets/tar_unpack.h"
#include "lib/base/error.h"
#include "lib/base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static char *folder;

static char *in_folder(const char *name)
{
    return g_build_filename(folder, name, NULL);
}

/* ---- archives by hand -------------------------------------------------------------------------
 */

static void sign(struct orch_tar_head *head)
{
    unsigned sum = 0;
    memset(head->checksum, ' ', sizeof head->checksum);
    for (size_t i = 0; i < sizeof *head; i++)
        sum += ((const uint8_t *)head)[i];
    snprintf(head->checksum, sizeof head->checksum, "%06o", sum);
}

static struct orch_tar_head head_of(const char *name, char type, int64_t size)
{
    struct orch_tar_head head = {.type = type, .magic = "ustar", .version = {'0', '0'}};
    char digits[32];
    memcpy(head.name, name, MIN(strlen(name), sizeof head.name));
    snprintf(digits, sizeof digits, "%011llo", (unsigned long long)size);
    memcpy(head.size, digits, sizeof head.size);
    sign(&head);
    return head;
}

/* Appends a head with its data, padded. */
static void put(GByteArray *archive, struct orch_tar_head head, const char *data)
{
    static const uint8_t zeros[ORCH_TAR_BLOCK];
    g_byte_array_append(archive, (const uint8_t *)&head, sizeof head);
    g_byte_array_append(archive, (const uint8_t *)data, (guint)strlen(data));
    g_byte_array_append(archive, zeros, (guint)orch_tar_padding((int64_t)strlen(data)));
}

static void put_entry(GByteArray *archive, const char *name, char type, const char *data)
{
    put(archive, head_of(name, type, (int64_t)strlen(data)), data);
}

/* Writes the archive with its end and opens it; it is freed. */
static struct orch_tar *opened(GByteArray *archive)
{
    static const uint8_t zeros[2 * ORCH_TAR_BLOCK];
    GError *error = NULL;
    g_autofree char *path = in_folder("hand.tar");
    g_byte_array_append(archive, zeros, sizeof zeros);
    assert_true(orch_file_write(path, archive->data, archive->len, false, NULL));
    g_byte_array_unref(archive);
    struct orch_tar *tar = orch_tar_open(path, 0, &error);
    assert_non_null(tar);
    return tar;
}

static void expect_entry(struct orch_tar *tar, const char *name, const char *data)
{
    const struct orch_tar_entry *entry = NULL;
    GError *error = NULL;
    if (!orch_tar_next(tar, &entry, &error))
        fail_msg("%s", error->message);
    assert_non_null(entry);
    assert_string_equal(entry->name, name);
    assert_int_equal(entry->size, strlen(data));
    g_autofree char *read = g_malloc0(strlen(data) + 1);
    assert_true(orch_tar_read(tar, read, strlen(data), &error));
    assert_string_equal(read, data);
}

static void expect_end(struct orch_tar *tar)
{
    const struct orch_tar_entry *entry = NULL;
    assert_true(orch_tar_next(tar, &entry, NULL));
    assert_null(entry);
    orch_tar_close(tar);
}

static void expect_refusal(struct orch_tar *tar, const char *what)
{
    const struct orch_tar_entry *entry = NULL;
    GError *error = NULL;
    while (orch_tar_next(tar, &entry, &error))
        if (!entry)
            fail_msg("read to its end, without '%s'", what);
    assert_int_equal(error->code, ORCH_ERROR_IO);
    assert_non_null(strstr(error->message, "hand.tar', byte "));
    if (!strstr(error->message, what))
        fail_msg("'%s' lacks '%s'", error->message, what);
    g_error_free(error);
    orch_tar_close(tar);
}

/* ---- reading ----------------------------------------------------------------------------------
 */

static void test_names(void **state)
{
    (void)state;
    GByteArray *archive = g_byte_array_new();
    struct orch_tar_head long_head = head_of("leaf", '0', 2);
    memcpy(long_head.prefix, "some/deep/folder", 16);
    sign(&long_head);
    put(archive, long_head, "ab"); /* ustar's prefix */
    struct orch_tar_head old = head_of("old", '\0', 1);
    memcpy(old.magic, "ustar ", 6); /* GNU's, whose prefix field means other things */
    memcpy(old.prefix, "not a folder", 12);
    sign(&old);
    put(archive, old, "c");
    put_entry(archive, "pax", 'g', "19 comment=for all\n"); /* skipped */
    put_entry(archive, "pax", 'x', "12 mtime=1.\n19 path=from pax/x\n");
    put_entry(archive, "ignored", '0', "d");
    put_entry(archive, "././@LongLink", 'L', "from/GNU");
    put_entry(archive, "ignored", '0', "e");
    struct orch_tar *tar = opened(archive);
    expect_entry(tar, "some/deep/folder/leaf", "ab");
    expect_entry(tar, "old", "c");
    expect_entry(tar, "from pax/x", "d");
    expect_entry(tar, "from/GNU", "e");
    expect_end(tar);
}

/* In octal digits after spaces, in binary, and from a pax head. */
static void test_sizes(void **state)
{
    (void)state;
    GByteArray *archive = g_byte_array_new();
    struct orch_tar_head head = head_of("spaces", '0', 0);
    memcpy(head.size, "         3 x", 12);
    sign(&head);
    put(archive, head, "abc");
    head = head_of("binary", '0', 0);
    memcpy(head.size, "\x80\0\0\0\0\0\0\0\0\0\0\4", 12);
    sign(&head);
    put(archive, head, "defg");
    put_entry(archive, "pax", 'x', "10 size=5\n");
    head = head_of("pax", '0', 1);
    put(archive, head, "hijkl");
    put_entry(archive, "after", '0', "m");
    struct orch_tar *tar = opened(archive);
    expect_entry(tar, "spaces", "abc");
    expect_entry(tar, "binary", "defg");
    expect_entry(tar, "pax", "hijkl");
    expect_entry(tar, "after", "m"); /* the size was that of one entry alone */
    expect_end(tar);
}

static void refused_size(const char *bytes, const char *what)
{
    GByteArray *archive = g_byte_array_new();
    struct orch_tar_head head = head_of("odd", '0', 0);
    memcpy(head.size, bytes, 12);
    sign(&head);
    put(archive, head, "");
    expect_refusal(opened(archive), what);
}

static void refused_pax(const char *records)
{
    GByteArray *archive = g_byte_array_new();
    put_entry(archive, "pax", 'x', records);
    put_entry(archive, "x", '0', "");
    expect_refusal(opened(archive), "an extended header is damaged");
}

static void test_heads_that_lie(void **state)
{
    (void)state;
    refused_size("0000000009\0\0", "not a tar header");               /* no octal digit */
    refused_size("\x80\0\0\1\0\0\0\0\0\0\0\0", "not a tar header");   /* 2^64 */
    refused_size("\x80\0\0\0\0\x7f\0\0\0\0\0\0", "not a tar header"); /* over 64 GiB */
    refused_size("\x80\0\0\0\0\0\0\0\0\1\0\0", "the archive is truncated");
    refused_pax("what=ever\n");
    refused_pax("99 path=x\n");
    refused_pax("1 path=x\n");
    refused_pax("9path=x\n");
    GByteArray *archive = g_byte_array_new();
    put(archive, head_of("pax", 'x', 0), "");
    expect_refusal(opened(archive), "an extended header of this size is not supported");
    archive = g_byte_array_new();
    put(archive, head_of("pax", 'L', 2 << 20), "");
    expect_refusal(opened(archive), "an extended header of this size is not supported");
    archive = g_byte_array_new();
    put(archive, head_of("pax", 'x', 100000), "10 path=ab\n");
    expect_refusal(opened(archive), "the archive is truncated");
    archive = g_byte_array_new();
    struct orch_tar_head head = head_of("x", '0', 0);
    head.name[0] = 'y'; /* after it was signed */
    put(archive, head, "");
    expect_refusal(opened(archive), "its checksum is wrong");
}

static void test_limits(void **state)
{
    (void)state;
    GError *error = NULL;
    const struct orch_tar_entry *entry = NULL;
    g_autofree char *path = in_folder("hand.tar"), *none = in_folder("none.tar");
    GByteArray *archive = g_byte_array_new();
    put_entry(archive, "a", '0', "0123456789");
    put_entry(archive, "b", '0', "0123456789");
    orch_tar_close(opened(archive));
    struct orch_tar *tar = orch_tar_open(path, 1500, NULL);
    assert_true(orch_tar_next(tar, &entry, NULL));
    assert_false(orch_tar_next(tar, &entry, &error));
    assert_non_null(
        strstr(error->message, "byte 1536: the archive's files are larger than allowed"));
    g_clear_error(&error);
    orch_tar_close(tar);
    assert_null(orch_tar_open(none, 0, &error));
    assert_non_null(strstr(error->message, none));
    g_clear_error(&error);
    orch_tar_close(NULL);
}

/* ---- unpacking --------------------------------------------------------------------------------
 */

static bool stop_at_once(void *ctx, int64_t done_bytes)
{
    assert_int_equal(done_bytes, 10);
    ++*(int *)ctx;
    return false;
}

static void expect_unpack_error(const struct orch_tar_options *options, int code, const char *what)
{
    GError *error = NULL;
    g_autofree char *path = in_folder("hand.tar"), *into = in_folder("into");
    assert_true(orch_tree_remove(into, NULL));
    assert_false(orch_tar_unpack(path, into, options, &error));
    if (error->code != code || !strstr(error->message, what))
        fail_msg("'%s' (%d) lacks '%s'", error->message, error->code, what);
    g_error_free(error);
}

static void test_unpacking(void **state)
{
    (void)state;
    int calls = 0;
    g_autofree char *into = in_folder("into"), *blocked = in_folder("into/a");
    GByteArray *archive = g_byte_array_new();
    put_entry(archive, "a", '0', "0123456789");
    put_entry(archive, "pipe", '6', "");
    orch_tar_close(opened(archive));
    struct orch_tar_options small = {.bytes_max = 9};
    struct orch_tar_options stops = {.progress = stop_at_once, .ctx = &calls};
    struct orch_tar_options other = {.only = "b"};
    expect_unpack_error(&small, ORCH_ERROR_IO, "the archive's files are larger than allowed");
    expect_unpack_error(&stops, ORCH_ERROR_INTERRUPTED, "was stopped");
    assert_int_equal(calls, 1);
    expect_unpack_error(NULL, ORCH_ERROR_IO,
                        "'pipe' is a link or a device (type '6'), which is not unpacked");
    archive = g_byte_array_new();
    put_entry(archive, "folder/", '5', "");
    put_entry(archive, "a", '0', "0123456789");
    orch_tar_close(opened(archive));
    expect_unpack_error(&other, ORCH_ERROR_IO, "it ends without 'b'");
    /* a folder is where the file should go */
    GError *error = NULL;
    g_autofree char *path = in_folder("hand.tar");
    assert_true(orch_dir_make(blocked, NULL));
    assert_false(orch_tar_unpack(path, into, NULL, &error));
    assert_non_null(strstr(error->message, "cannot write '"));
    assert_non_null(strstr(error->message, "Is a directory"));
    g_clear_error(&error);
    /* a file is where the folder should go */
    g_autofree char *taken = in_folder("taken");
    assert_true(orch_file_write(taken, "", 0, false, NULL));
    assert_false(orch_tar_unpack(path, taken, NULL, &error));
    g_clear_error(&error);
}

/* ---- writing ----------------------------------------------------------------------------------
 */

static struct orch_tar_writer *created(const char *path)
{
    GError *error = NULL;
    struct orch_tar_writer *writer = orch_tar_create(path, &error);
    if (!writer)
        fail_msg("%s", error->message);
    return writer;
}

static void test_round_trip(void **state)
{
    (void)state;
    GError *error = NULL;
    int64_t bytes = 0;
    g_autofree char *path = in_folder("made.tar.gz"), *from = in_folder("from");
    g_autofree char *deep = g_strnfill(180, 'd'), *name = g_strdup_printf("%s/leaf", deep);
    assert_true(orch_file_write(from, "of a file", 9, false, NULL));
    struct orch_tar_writer *writer = created(path);
    assert_true(orch_tar_add(writer, name, "long", 4, &error));
    assert_true(orch_tar_add_file(writer, "short", from, 9, &error));
    assert_true(orch_tar_finish(writer, true, &bytes, &error));
    assert_true(bytes > 100);
    struct orch_tar *tar = orch_tar_open(path, 0, &error);
    expect_entry(tar, name, "long");
    expect_entry(tar, "short", "of a file");
    expect_end(tar);
}

static void test_files_that_cannot_be_added(void **state)
{
    (void)state;
    GError *error = NULL;
    g_autofree char *path = in_folder("bad.tar.gz"), *none = in_folder("none");
    g_autofree char *from = in_folder("from");
    assert_true(orch_file_write(from, "short", 5, false, NULL));
    struct orch_tar_writer *writer = created(path);
    assert_false(orch_tar_add_file(writer, "x", none, 1, &error));
    assert_non_null(strstr(error->message, "cannot read '"));
    g_clear_error(&error);
    assert_false(orch_tar_add_file(writer, "x", from, INT64_C(8) << 30, &error));
    assert_non_null(strstr(error->message, "'x' is over 8 GiB"));
    g_clear_error(&error);
    /* it has become shorter since its size was asked for */
    assert_false(orch_tar_add_file(writer, "x", from, 6, &error));
    assert_non_null(strstr(error->message, "cannot read '"));
    g_clear_error(&error);
    assert_false(orch_tar_finish(writer, false, NULL, NULL));
    assert_int_not_equal(access(path, F_OK), 0); /* nor is a temporary file left */
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    for (const char *name; (name = g_dir_read_name(dir));)
        if (strstr(name, "bad.tar.gz"))
            fail_msg("'%s' was left", name);
    g_autofree char *nowhere = in_folder("no/such/folder.tar");
    assert_null(orch_tar_create(nowhere, &error));
    assert_non_null(strstr(error->message, "cannot write '"));
    g_clear_error(&error);
}

/* No file may grow beyond `bytes`, as on a disk that is full. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = MIN(bytes, limit.rlim_max);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void test_full_disk(void **state)
{
    (void)state;
    GError *error = NULL;
    g_autofree char *path = in_folder("full.tar.gz"), *source = in_folder("hand.tar");
    g_autofree char *into = in_folder("into"), *noise = g_malloc(1 << 20);
    uint32_t random = 1;
    for (size_t i = 0; i < 1 << 20; i++) /* nothing that gzip makes small */
        noise[i] = (char)((random = random * 1664525 + 1013904223) >> 24);
    limit_files(100000);
    struct orch_tar_writer *writer = created(path);
    bool ok = orch_tar_add(writer, "noise", noise, 1 << 20, &error);
    assert_false(orch_tar_finish(writer, ok, NULL, ok ? &error : NULL));
    assert_non_null(strstr(error->message, "full.tar.gz': File too large"));
    g_clear_error(&error);
    limit_files(RLIM_INFINITY);
    assert_int_not_equal(access(path, F_OK), 0);

    GByteArray *archive = g_byte_array_new();
    g_autofree char *text = g_strnfill(200000, 'x');
    put_entry(archive, "large", '0', text);
    orch_tar_close(opened(archive));
    assert_true(orch_tree_remove(into, NULL));
    limit_files(100000);
    assert_false(orch_tar_unpack(source, into, NULL, &error));
    limit_files(RLIM_INFINITY);
    assert_non_null(strstr(error->message, "large': File too large"));
    g_clear_error(&error);
}

static int begin(void **state)
{
    (void)state;
    folder = g_dir_make_tmp("orch-tar-XXXXXX", NULL);
    return folder == NULL;
}

static int end(void **state)
{
    (void)state;
    orch_tree_remove(folder, NULL);
    g_free(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_heads_that_lie),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_unpacking),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_files_that_cannot_be_added),
        cmocka_unit_test(test_full_disk),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
