/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The catalogue, downloads from a local server that misbehaves (tests/data_server.py), and archives
 * that want out of their folder. */
#include "features/datasets/data.h"
#include "features/datasets/tar_unpack.h"

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

enum { FILE_BYTES = 300000 };

static char *program; /* of this test, to run it again as a second process */
static char *folder, *served, *cache;
static char *base; /* http://127.0.0.1:PORT */
static char sha256[ORCH_SHA256_CHARS];
static GPid server;
static int server_in = -1;

/* ---- the server and what it serves ------------------------------------------------------------
 */

static void write_served(const char *name, const void *bytes, size_t length)
{
    g_autofree char *path = g_build_filename(served, name, NULL);
    assert_true(orch_file_write(path, bytes, length, false, NULL));
}

static bool start_server(void)
{
    g_autofree char *script =
        g_build_filename(g_getenv("ORCH_SOURCE_DIR"), "tests", "data_server.py", NULL);
    char *argv[] = {(char *)"python3", script, served, NULL};
    int out = -1;
    if (!g_spawn_async_with_pipes(NULL, argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD,
                                  NULL, NULL, &server, &server_in, &out, NULL, NULL))
        return false;
    char line[32];
    FILE *stream = fdopen(out, "r");
    bool ok = stream && fgets(line, sizeof line, stream);
    base = ok ? g_strdup_printf("http://127.0.0.1:%s", g_strchomp(line)) : NULL;
    if (stream)
        fclose(stream);
    return ok;
}

static int set_up(void **state)
{
    (void)state;
    folder = g_dir_make_tmp("orch-get-XXXXXX", NULL);
    served = g_build_filename(folder, "served", NULL);
    g_autofree uint8_t *bytes = g_malloc(FILE_BYTES);
    for (int i = 0; i < FILE_BYTES; i++)
        bytes[i] = (uint8_t)((unsigned)i * (unsigned)i / 7 + (unsigned)i);
    if (!orch_dir_make(served, NULL))
        return 1;
    write_served("file.bin", bytes, FILE_BYTES);
    orch_sha256(bytes, FILE_BYTES, sha256);
    return start_server() ? 0 : 1;
}

static int tear_down(void **state)
{
    (void)state;
    if (server_in >= 0)
        close(server_in); /* it ends with its input */
    if (server)
        waitpid(server, NULL, 0);
    orch_tree_remove(folder, NULL);
    g_free(folder);
    g_free(served);
    g_free(base);
    return 0;
}

/* Every test has a cache of its own. */
static int new_cache(void **state)
{
    static int serial;
    (void)state;
    g_autofree char *name = g_strdup_printf("cache%d", serial++);
    cache = g_build_filename(folder, name, NULL);
    return 0;
}

static int drop_cache(void **state)
{
    (void)state;
    g_clear_pointer(&cache, g_free);
    return 0;
}

/* An entry of one file, served as `mode` says. */
static struct orch_data_entry entry_of(const char *url, const char *digest)
{
    return (struct orch_data_entry){
        .name = "thing",
        .kind = ORCH_DATA_WEIGHTS,
        .files = {{.urls = {url}, .path = "weights/thing.bin", .sha256 = digest}}};
}

static char *get(const char *mode, const char *digest, GError **error)
{
    g_autofree char *url = g_strdup_printf("%s/%s/file.bin", base, mode);
    struct orch_data_entry entry = entry_of(url, digest);
    struct orch_data_options options = {.cache = cache, .wait_s = 0.01};
    return orch_data_get_entry(&entry, &options, error);
}

static void assert_got(const char *path, const GError *error)
{
    char found[ORCH_SHA256_CHARS];
    if (!path)
        fail_msg("%s", error->message);
    assert_true(orch_file_sha256(path, found, NULL, NULL));
    assert_string_equal(found, sha256);
}

static void assert_says(GError **error, int code, const char *const *words)
{
    assert_non_null(*error);
    assert_int_equal((*error)->code, code);
    for (int i = 0; words[i]; i++)
        if (!strstr((*error)->message, words[i]))
            fail_msg("'%s' lacks '%s'", (*error)->message, words[i]);
    g_clear_error(error);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static bool in_cache(const char *name)
{
    g_autofree char *path = g_build_filename(cache, name, NULL);
    return access(path, F_OK) == 0;
}

/* The server's log, only lines that begin with `start`. */
static char *requests(const char *start)
{
    g_autofree char *path = g_build_filename(folder, "log", NULL);
    g_autofree char *url = g_strconcat(base, "/log", NULL);
    char *argv[] = {(char *)"python3", (char *)"-c",
                    (char *)"import sys, urllib.request as u;"
                            "print(u.build_opener(u.ProxyHandler({})).open(sys.argv[1]).read()"
                            ".decode())",
                    url, NULL};
    g_autofree char *text = NULL;
    assert_true(
        g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &text, NULL, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    GString *out = g_string_new(NULL);
    for (int i = 0; lines[i]; i++)
        if (g_str_has_prefix(lines[i], start))
            g_string_append_printf(out, "%s\n", lines[i]);
    return g_string_free(out, FALSE);
}

static int count_lines(const char *text)
{
    int count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

/* ---- downloads --------------------------------------------------------------------------------
 */

static void test_plain_and_redirected(void **state)
{
    (void)state;
    GError *error = NULL;
    g_autofree char *path = get("move", sha256, &error);
    assert_got(path, error);
    g_autofree char *record = NULL;
    g_autofree char *name = g_build_filename(cache, ".orch/weights_thing.bin.sha256", NULL);
    assert_true(orch_file_read(name, 1000, &record, NULL, NULL));
    assert_true(g_str_has_prefix(record, sha256));
    assert_false(in_cache(".orch/weights_thing.bin.part"));
    /* a second call fetches nothing */
    g_autofree char *again = get("gone", sha256, &error);
    assert_string_equal(path, again);
}

static void test_cut_is_resumed(void **state)
{
    (void)state;
    GError *error = NULL;
    g_autofree char *path = get("cut", sha256, &error);
    assert_got(path, error);
    g_autofree char *log = requests("GET /cut/file.bin");
    assert_string_equal(log, "GET /cut/file.bin - 150000\n"
                             "GET /cut/file.bin bytes=150000- 150000\n");
}

/* What an earlier process left is gone on with, or thrown away where it is of no use. */
static void put_part(const void *bytes, size_t length)
{
    g_autofree char *state = g_build_filename(cache, ".orch", NULL);
    g_autofree char *part = g_build_filename(state, "weights_thing.bin.part", NULL);
    assert_true(orch_dir_make(state, NULL));
    assert_true(orch_file_write(part, bytes, length, false, NULL));
}

static void test_part_of_an_earlier_process(void **state)
{
    (void)state;
    g_autofree char *bytes = NULL;
    g_autofree char *source = g_build_filename(served, "file.bin", NULL);
    size_t length;
    GError *error = NULL;
    assert_true(orch_file_read(source, 1 << 20, &bytes, &length, NULL));
    put_part(bytes, 100000);
    g_autofree char *path = get("ok", sha256, &error);
    assert_got(path, error);
    g_autofree char *log = requests("GET /ok/file.bin bytes=100000-");
    assert_string_equal(log, "GET /ok/file.bin bytes=100000- 200000\n");
}

static void test_part_without_ranges(void **state)
{
    (void)state;
    GError *error = NULL;
    put_part("half", 4);
    g_autofree char *path = get("norange", sha256, &error);
    assert_got(path, error);
}

static void test_part_that_is_refused(void **state)
{
    (void)state;
    GError *error = NULL;
    put_part("half", 4);
    g_autofree char *path = get("range416", sha256, &error);
    assert_got(path, error);
}

static void test_part_of_another_file(void **state)
{
    (void)state;
    GError *error = NULL;
    put_part("this is no beginning of it", 26);
    g_autofree char *path = get("ok", sha256, &error);
    assert_got(path, error);
}

static void test_busy_server(void **state)
{
    (void)state;
    GError *error = NULL;
    g_autofree char *path = get("busy", sha256, &error);
    assert_got(path, error);
}

static void test_gone(void **state)
{
    (void)state;
    GError *error = NULL;
    assert_null(get("gone", sha256, &error));
    assert_says(&error, ORCH_ERROR_IO,
                WORDS("/gone/file.bin", "404", "may have moved", "weights/thing.bin"));
    assert_false(in_cache("weights/thing.bin"));
}

static void test_wrong_digest_keeps_nothing(void **state)
{
    (void)state;
    GError *error = NULL;
    assert_null(get("ok", "0123456789abcdef", &error));
    assert_says(&error, ORCH_ERROR_CHECK,
                WORDS("SHA-256", sha256, "0123456789abcdef", "nothing was kept"));
    assert_false(in_cache("weights/thing.bin"));
    assert_false(in_cache(".orch/weights_thing.bin.part"));
    assert_null(get("login", sha256, &error));
    assert_says(&error, ORCH_ERROR_CHECK, WORDS("a web page came"));
    assert_false(in_cache(".orch/weights_thing.bin.part"));
}

static void test_digest_prefix_and_first_use(void **state)
{
    (void)state;
    GError *error = NULL;
    g_autofree char *digits = g_strndup(sha256, 8);
    g_autofree char *path = get("ok", digits, &error);
    assert_got(path, error);
    /* another file under the same name, nothing published: the record of the first one speaks */
    assert_int_equal(unlink(path), 0);
    write_served("other.bin", "something else", 14);
    g_autofree char *url = g_strconcat(base, "/ok/other.bin", NULL);
    struct orch_data_entry entry = entry_of(url, NULL);
    struct orch_data_options options = {.cache = cache, .wait_s = 0.01};
    assert_null(orch_data_get_entry(&entry, &options, &error));
    assert_says(&error, ORCH_ERROR_CHECK, WORDS(sha256, "expected"));
}

/* A file put into place by hand is held against its digest, too, but it is not ours to remove. */
static void test_put_by_hand(void **state)
{
    (void)state;
    GError *error = NULL;
    g_autofree char *path = g_build_filename(cache, "weights/thing.bin", NULL);
    g_autofree char *parent = g_path_get_dirname(path);
    assert_true(orch_dir_make(parent, NULL) && orch_file_write(path, "wrong", 5, false, NULL));
    assert_null(get("gone", sha256, &error));
    assert_says(&error, ORCH_ERROR_CHECK, WORDS(path, sha256, "remove it"));
    assert_true(in_cache("weights/thing.bin"));
    g_autofree char *source = g_build_filename(served, "file.bin", NULL);
    assert_int_equal(unlink(path) | link(source, path), 0);
    g_autofree char *found = get("gone", sha256, &error);
    assert_got(found, error);
}

static void test_md5_and_size(void **state)
{
    (void)state;
    g_autofree char *url = g_strconcat(base, "/ok/file.bin", NULL);
    g_autofree char *longer = g_strconcat(base, "/long/file.bin", NULL);
    struct orch_data_entry entry = entry_of(url, NULL);
    struct orch_data_options options = {.cache = cache, .wait_s = 0.01, .retries = -1};
    GError *error = NULL;
    entry.files[0].md5 = "00000000000000000000000000000000";
    assert_null(orch_data_get_entry(&entry, &options, &error));
    assert_says(&error, ORCH_ERROR_CHECK, WORDS("MD5"));
    entry.files[0].md5 = NULL;
    entry.files[0].bytes = FILE_BYTES + 1;
    assert_null(orch_data_get_entry(&entry, &options, &error));
    assert_says(&error, ORCH_ERROR_IO, WORDS("less than the whole file"));
    entry.files[0].bytes = FILE_BYTES;
    entry.files[0].urls[0] = longer;
    g_autofree char *part = g_build_filename(cache, ".orch/weights_thing.bin.part", NULL);
    assert_int_equal(unlink(part), 0);
    assert_null(orch_data_get_entry(&entry, &options, &error));
    assert_says(&error, ORCH_ERROR_IO, WORDS("larger than the 300000 bytes expected"));
}

static void test_second_url(void **state)
{
    (void)state;
    g_autofree char *first = g_strconcat(base, "/gone/file.bin", NULL);
    g_autofree char *second = g_strconcat(base, "/ok/file.bin", NULL);
    struct orch_data_entry entry = entry_of(first, sha256);
    struct orch_data_options options = {.cache = cache, .wait_s = 0.01};
    GError *error = NULL;
    entry.files[0].urls[1] = second;
    g_autofree char *path = orch_data_get_entry(&entry, &options, &error);
    assert_got(path, error);
}

static void test_mirror(void **state)
{
    (void)state;
    struct orch_data_entry entry = entry_of("https://nowhere.invalid/file.bin", sha256);
    g_autofree char *mirror = g_strconcat(base, "/ok/", NULL);
    struct orch_data_options options = {.cache = cache, .wait_s = 0.01};
    GError *error = NULL;
    g_setenv("ORCH_DATA_MIRROR", mirror, TRUE);
    g_autofree char *path = orch_data_get_entry(&entry, &options, &error);
    g_unsetenv("ORCH_DATA_MIRROR");
    assert_got(path, error);
}

static void test_proxy(void **state)
{
    (void)state;
    struct orch_data_entry entry = entry_of("http://nowhere.invalid/ok/file.bin", sha256);
    struct orch_data_options options = {.cache = cache, .wait_s = 0.01};
    GError *error = NULL;
    g_setenv("http_proxy", base, TRUE);
    g_autofree char *path = orch_data_get_entry(&entry, &options, &error);
    g_unsetenv("http_proxy");
    assert_got(path, error);
}

static void test_no_network(void **state)
{
    (void)state;
    struct orch_data_entry entry = entry_of("http://127.0.0.1:1/file.bin", sha256);
    struct orch_data_options options = {.cache = cache, .wait_s = 0.01, .retries = 1};
    GError *error = NULL;
    assert_null(orch_data_get_entry(&entry, &options, &error));
    assert_says(&error, ORCH_ERROR_IO, WORDS("http://127.0.0.1:1/file.bin", "online", "by hand"));
    entry.files[0].urls[0] = "file:///etc/hostname"; /* no other protocol is spoken */
    assert_null(orch_data_get_entry(&entry, &options, &error));
    g_clear_error(&error);
}

static void test_cache_that_cannot_be_written(void **state)
{
    (void)state;
    struct orch_data_entry entry = entry_of("http://127.0.0.1:1/file.bin", sha256);
    struct orch_data_options options = {.cache = "/proc/orch-data"}; /* not even by root */
    GError *error = NULL;
    assert_null(orch_data_get_entry(&entry, &options, &error));
    assert_says(&error, ORCH_ERROR_IO, WORDS("/proc/orch-data", "set ORCH_DATA"));
}

struct watcher {
    int calls;
    int64_t done;
};

static bool stop_in_the_middle(void *ctx, const struct orch_data_progress *progress)
{
    struct watcher *watcher = ctx;
    watcher->calls++;
    watcher->done = progress->done_bytes;
    assert_string_equal(progress->file, "thing.bin");
    return progress->done_bytes < 60000;
}

static void test_stopped_and_gone_on_with(void **state)
{
    (void)state;
    g_autofree char *url = g_strconcat(base, "/slow/file.bin", NULL);
    struct watcher watcher = {0};
    struct orch_data_entry entry = entry_of(url, sha256);
    struct orch_data_options options = {
        .cache = cache, .progress = stop_in_the_middle, .ctx = &watcher};
    GError *error = NULL;
    assert_null(orch_data_get_entry(&entry, &options, &error));
    assert_says(&error, ORCH_ERROR_INTERRUPTED, WORDS("stopped"));
    assert_true(watcher.done >= 60000 && watcher.done < FILE_BYTES);
    assert_true(in_cache(".orch/weights_thing.bin.part"));
    g_autofree char *path = get("ok", sha256, &error);
    assert_got(path, error);
}

/* `test_data_get --get URL CACHE SHA256`: what the second process does. */
static int get_alone(char **argv)
{
    struct orch_data_entry entry = entry_of(argv[2], argv[4]);
    struct orch_data_options options = {.cache = argv[3], .wait_s = 0.01};
    g_autofree char *path = orch_data_get_entry(&entry, &options, NULL);
    return path == NULL;
}

static void test_two_processes(void **state)
{
    (void)state;
    g_autofree char *url = g_strconcat(base, "/slow/file.bin?two", NULL);
    g_autofree char *name = g_build_filename(served, "file.bin?two", NULL);
    g_autofree char *source = g_build_filename(served, "file.bin", NULL);
    assert_int_equal(link(source, name), 0);
    char *argv[] = {program, (char *)"--get", url, cache, sha256, NULL};
    GPid children[2];
    for (int i = 0; i < 2; i++)
        assert_true(g_spawn_async(NULL, argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL,
                                  &children[i], NULL));
    for (int i = 0; i < 2; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    g_autofree char *log = requests("GET /slow/file.bin?two");
    assert_int_equal(count_lines(log), 1);
}

/* ---- archives ---------------------------------------------------------------------------------
 */

/* Appends an entry to a tar archive in memory. */
static void tar_add(GByteArray *tar, const char *name, char type, const char *link,
                    const void *bytes, size_t length)
{
    char head[512] = {0};
    static const uint8_t zeros[512];
    g_strlcpy(head, name, 100);
    g_snprintf(head + 100, 8, "%07o", 0644);
    g_snprintf(head + 124, 12, "%011o", (unsigned)length);
    memset(head + 148, ' ', 8);
    head[156] = type;
    g_strlcpy(head + 157, link ? link : "", 100);
    memcpy(head + 257, "ustar\00000", 8);
    unsigned sum = 0;
    for (int i = 0; i < 512; i++)
        sum += (uint8_t)head[i];
    g_snprintf(head + 148, 8, "%06o", sum);
    g_byte_array_append(tar, (const guint8 *)head, 512);
    if (length)
        g_byte_array_append(tar, bytes, (guint)length);
    g_byte_array_append(tar, zeros, (guint)((512 - length % 512) % 512));
}

static GByteArray *tar_end(GByteArray *tar)
{
    static const uint8_t zeros[1024];
    return g_byte_array_append(tar, zeros, sizeof zeros);
}

/* Writes an archive below the test's folder and unpacks it. */
static bool unpack(const GByteArray *tar, const char *into, GError **error)
{
    g_autofree char *path = g_build_filename(folder, "try.tar", NULL);
    g_autofree char *target = g_build_filename(folder, into, NULL);
    assert_true(orch_tree_remove(target, NULL) && orch_dir_make(target, NULL));
    assert_true(orch_file_write(path, tar->data, tar->len, false, NULL));
    return orch_tar_unpack(path, target, NULL, error);
}

static void refused(const char *name, char type, const char *link, const char *what)
{
    g_autoptr(GByteArray) tar = g_byte_array_new();
    GError *error = NULL;
    tar_add(tar, "a/before", '0', NULL, "x", 1);
    tar_add(tar, name, type, link, "evil", type == '0' ? 4 : 0);
    assert_false(unpack(tar_end(tar), "unpacked", &error));
    assert_says(&error, ORCH_ERROR_IO, WORDS("try.tar", "byte 1536", what));
    g_autofree char *escaped = g_build_filename(folder, "evil", NULL);
    assert_int_not_equal(access(escaped, F_OK), 0);
}

static void test_tar_refusals(void **state)
{
    (void)state;
    refused("../evil", '0', NULL, "outside");
    refused("a/../../evil", '0', NULL, "outside");
    refused("/tmp/orch-evil", '0', NULL, "outside");
    refused("a/link", '2', "/etc/passwd", "link");
    refused("a/link", '1', "../../evil", "link");
    refused("a/device", '3', NULL, "device");
}

static void test_tar_long_name_and_damage(void **state)
{
    (void)state;
    g_autoptr(GByteArray) tar = g_byte_array_new();
    GError *error = NULL;
    g_autofree char *deep = g_strnfill(150, 'd');
    g_autofree char *name = g_strdup_printf("%s/%s", deep, "leaf");
    g_autofree char *pax = g_strdup_printf("%d path=%s\n", (int)strlen(name) + 10, name);
    assert_int_equal(strlen(pax), strlen(name) + 10);
    tar_add(tar, "pax", 'x', NULL, pax, strlen(pax));
    tar_add(tar, "short", '0', NULL, "leaf", 4);
    tar_add(tar, "././@LongLink", 'L', NULL, "gnu/name", 9);
    tar_add(tar, "short", '0', NULL, "gnu", 3);
    if (!unpack(tar_end(tar), "unpacked", &error))
        fail_msg("%s", error->message);
    g_autofree char *leaf = g_build_filename(folder, "unpacked", name, NULL);
    g_autofree char *gnu = g_build_filename(folder, "unpacked/gnu/name", NULL);
    assert_int_equal(access(leaf, F_OK) | access(gnu, F_OK), 0);
    g_byte_array_set_size(tar, 1024 + 512 + 100);
    assert_false(unpack(tar, "unpacked", &error));
    assert_says(&error, ORCH_ERROR_IO, WORDS("is truncated"));
    tar->data[3] ^= 1;
    assert_false(unpack(tar, "unpacked", &error));
    assert_says(&error, ORCH_ERROR_IO, WORDS("byte 512", "checksum"));
}

static void gz_served(const char *name, const GByteArray *tar)
{
    g_autofree char *path = g_build_filename(served, name, NULL);
    gzFile file = gzopen(path, "wb");
    assert_int_equal(gzwrite(file, tar->data, tar->len), (int)tar->len);
    gzclose(file);
}

/* As the Visual Decathlon comes: archives in one archive, of which a set is one. */
static void test_archive_in_archive(void **state)
{
    (void)state;
    g_autoptr(GByteArray) inner = g_byte_array_new();
    g_autoptr(GByteArray) outer = g_byte_array_new();
    tar_add(inner, "birds/", '5', NULL, NULL, 0);
    tar_add(inner, "birds/train/owl/1.jpg", '0', NULL, "picture", 7);
    tar_end(inner);
    tar_add(outer, "./fish.tar", '0', NULL, "no archive", 10);
    tar_add(outer, "./birds.tar", '0', NULL, inner->data, inner->len);
    gz_served("all.tar.gz", tar_end(outer));
    g_autofree char *url = g_strconcat(base, "/ok/all.tar.gz", NULL);
    struct orch_data_entry entry = {.name = "songbirds",
                                    .files = {{.urls = {url},
                                               .path = "archives/all.tar.gz",
                                               .member = "birds.tar",
                                               .top = "birds",
                                               .into = "songbirds",
                                               .shared = true}}};
    struct orch_data_options options = {.cache = cache, .wait_s = 0.01};
    GError *error = NULL;
    g_autofree char *path = orch_data_get_entry(&entry, &options, &error);
    if (!path)
        fail_msg("%s", error->message);
    assert_true(g_str_has_suffix(path, "/songbirds"));
    assert_true(in_cache("songbirds/train/owl/1.jpg"));
    assert_true(in_cache("archives/all.tar.gz"));
    assert_false(in_cache(".orch/archives_all.tar.gz.unpack"));
    entry.name = "fish";
    entry.files[0].member = "fish.tar";
    entry.files[0].top = entry.files[0].into = "fish";
    entry.files[0].urls[0] = "http://127.0.0.1:1/"; /* the kept archive is used */
    assert_null(orch_data_get_entry(&entry, &options, &error));
    assert_says(&error, ORCH_ERROR_IO, WORDS("fish.tar", "byte"));
    assert_false(in_cache("fish"));
}

/* As Pascal VOC comes: two archives, not compressed, with the same folder in both; a digest is an
 * MD5. */
static void test_two_archives_of_one_folder(void **state)
{
    (void)state;
    struct orch_data_entry entry = {.name = "photos"};
    static const char *const names[] = {"trainval", "test"};
    char *urls[2], *paths[2], *places[2], *sums[2];
    for (int i = 0; i < 2; i++) {
        g_autoptr(GByteArray) tar = g_byte_array_new();
        g_autofree char *name = g_strdup_printf("%s.tar", names[i]);
        tar_add(tar, "Devkit/", '5', NULL, NULL, 0);
        tar_add(tar, "Devkit/VOC/", '5', NULL, NULL, 0);
        tar_add(tar, "Devkit/VOC/Lists/main.txt", '0', NULL, names[i], strlen(names[i]));
        tar_end(tar);
        write_served(name, tar->data, tar->len);
        urls[i] = g_strdup_printf("%s/ok/%s", base, name);
        paths[i] = g_strdup_printf("archives/%s", name);
        places[i] = g_strdup_printf("photos/%s", names[i]);
        sums[i] = g_compute_checksum_for_data(G_CHECKSUM_MD5, tar->data, tar->len);
        entry.files[i] = (struct orch_data_file){.urls = {urls[i]},
                                                 .path = paths[i],
                                                 .bytes = tar->len,
                                                 .md5 = sums[i],
                                                 .top = "Devkit/VOC",
                                                 .into = places[i]};
    }
    const struct orch_data_options options = {.cache = cache, .wait_s = 0.01};
    GError *error = NULL;
    g_autofree char *path = orch_data_get_entry(&entry, &options, &error);
    if (!path)
        fail_msg("%s", error->message);
    assert_true(g_str_has_suffix(path, "/photos"));
    assert_true(in_cache("photos/trainval/Lists/main.txt"));
    assert_true(in_cache("photos/test/Lists/main.txt"));
    assert_false(in_cache("archives/test.tar"));
    for (int i = 0; i < 2; i++) {
        g_free(urls[i]);
        g_free(paths[i]);
        g_free(places[i]);
        g_free(sums[i]);
    }
}

/* ---- stops and full disks ---------------------------------------------------------------------
 */

struct stopper {
    const char *stage;
    bool reached;
};

static bool stop_at_stage(void *ctx, const struct orch_data_progress *progress)
{
    struct stopper *stopper = ctx;
    if (strcmp(progress->stage, stopper->stage) != 0)
        return true;
    stopper->reached = true;
    return false;
}

static bool make_archive(const char *name)
{
    g_autoptr(GByteArray) tar = g_byte_array_new();
    tar_add(tar, "top/", '5', NULL, NULL, 0);
    tar_add(tar, "top/file", '0', NULL, "picture", 7);
    gz_served(name, tar_end(tar));
    return true;
}

/* In each stage the user may stop; nothing is in place then, and the next call finishes. */
static void test_stopped_in_each_stage(void **state)
{
    (void)state;
    static const char *const stages[] = {"downloading", "checking", "unpacking"};
    assert_true(make_archive("stop.tar.gz"));
    g_autofree char *url = g_strconcat(base, "/ok/stop.tar.gz", NULL);
    struct orch_data_entry entry = {
        .name = "stopped",
        .files = {{.urls = {url}, .path = "archives/stop.tar.gz", .top = "top", .into = "here"}}};
    struct orch_data_options options = {.cache = cache, .wait_s = 0.01, .progress = stop_at_stage};
    GError *error = NULL;
    for (unsigned i = 0; i < G_N_ELEMENTS(stages); i++) {
        struct stopper stopper = {stages[i], false};
        options.ctx = &stopper;
        assert_null(orch_data_get_entry(&entry, &options, &error));
        if (!stopper.reached)
            fail_msg("%s was not reached", stages[i]);
        assert_says(&error, ORCH_ERROR_INTERRUPTED, WORDS("was stopped"));
        assert_false(in_cache("here"));
    }
    options.progress = NULL;
    g_autofree char *path = orch_data_get_entry(&entry, &options, &error);
    if (!path)
        fail_msg("%s", error->message);
    assert_true(in_cache("here/file"));
}

static bool stop_on_the_second_call(void *ctx, const struct orch_data_progress *progress)
{
    assert_string_equal(progress->stage, "downloading");
    return ++*(int *)ctx < 2;
}

/* While it waits for a server that is busy, too. */
static void test_stopped_between_attempts(void **state)
{
    (void)state;
    int calls = 0;
    g_autofree char *url = g_strconcat(base, "/busy/other.bin", NULL);
    write_served("other.bin", "something else", 14);
    struct orch_data_entry entry = entry_of(url, NULL);
    struct orch_data_options options = {
        .cache = cache, .wait_s = 20, .progress = stop_on_the_second_call, .ctx = &calls};
    GError *error = NULL;
    gint64 begin = g_get_monotonic_time();
    assert_null(orch_data_get_entry(&entry, &options, &error));
    assert_says(&error, ORCH_ERROR_INTERRUPTED, WORDS("was stopped"));
    assert_true(g_get_monotonic_time() - begin < 5000000);
}

/* A part that is already whole is not asked for; one that is too long is thrown away. */
static void test_parts_of_other_lengths(void **state)
{
    (void)state;
    g_autofree char *bytes = NULL;
    g_autofree char *source = g_build_filename(served, "file.bin", NULL);
    g_autofree char *gone = g_strconcat(base, "/gone/file.bin", NULL);
    g_autofree char *ok = g_strconcat(base, "/ok/file.bin", NULL);
    size_t length;
    GError *error = NULL;
    struct orch_data_options options = {.cache = cache, .wait_s = 0.01, .retries = -1};
    assert_true(orch_file_read(source, 1 << 20, &bytes, &length, NULL));
    put_part(bytes, length);
    struct orch_data_entry entry = entry_of(gone, sha256);
    entry.files[0].bytes = FILE_BYTES;
    g_autofree char *path = orch_data_get_entry(&entry, &options, &error);
    assert_got(path, error);
    assert_int_equal(unlink(path), 0);
    g_autofree char *longer = g_strconcat(bytes, "more", NULL);
    put_part(bytes, length);
    g_autofree char *part = g_build_filename(cache, ".orch/weights_thing.bin.part", NULL);
    assert_int_equal(truncate(part, FILE_BYTES + 1), 0);
    entry.files[0].urls[0] = ok;
    g_autofree char *again = orch_data_get_entry(&entry, &options, &error);
    assert_got(again, error);
    /* the length that is published is held against a file put there by hand, too */
    g_autofree char *record = g_build_filename(cache, ".orch/weights_thing.bin.sha256", NULL);
    assert_int_equal(unlink(record), 0);
    entry.files[0].bytes = FILE_BYTES - 1;
    assert_null(orch_data_get_entry(&entry, &options, &error));
    assert_says(&error, ORCH_ERROR_CHECK, WORDS("bytes: 300000, expected 299999"));
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

/* What came until the disk was full is gone on with. */
static void test_full_disk(void **state)
{
    (void)state;
    GError *error = NULL;
    limit_files(100000);
    assert_null(get("ok", sha256, &error));
    limit_files(RLIM_INFINITY);
    assert_says(&error, ORCH_ERROR_IO, WORDS("cannot write '", ".part': File too large"));
    g_autofree char *path = get("ok", sha256, &error);
    assert_got(path, error);
    g_autofree char *log = requests("GET /ok/file.bin bytes=100000-");
    assert_int_not_equal(count_lines(log), 0);
}

static void test_archive_without_its_folder(void **state)
{
    (void)state;
    assert_true(make_archive("other.tar.gz"));
    g_autofree char *url = g_strconcat(base, "/ok/other.tar.gz", NULL);
    struct orch_data_entry entry = {
        .name = "other",
        .files = {{.urls = {url}, .path = "archives/o.tar.gz", .top = "bottom", .into = "other"}}};
    struct orch_data_options options = {.cache = cache, .wait_s = 0.01};
    GError *error = NULL;
    assert_null(orch_data_get_entry(&entry, &options, &error));
    assert_says(&error, ORCH_ERROR_IO, WORDS("o.tar.gz' has no folder 'bottom'"));
    assert_false(in_cache("other"));
}

static void test_unknown_name(void **state)
{
    (void)state;
    struct orch_data_options options = {.cache = cache};
    GError *error = NULL;
    assert_null(orch_data_get("cifra10", &options, &error));
    assert_says(&error, ORCH_ERROR_NOT_FOUND, WORDS("'cifra10'", "cifar10"));
}

/* ---- the catalogue ----------------------------------------------------------------------------
 */

/* What has no digest comes through TLS at least. */
static void check_digests(const struct orch_data_entry *e, const struct orch_data_file *file)
{
    const char *digest = file->sha256 ? file->sha256 : file->md5;
    if (!digest) {
        assert_true(g_str_has_prefix(file->urls[0], "https://"));
        return;
    }
    assert_true(strspn(digest, "0123456789abcdef") == strlen(digest));
    assert_true(!file->sha256 || strlen(file->sha256) == (e->kind == ORCH_DATA_SET ? 64u : 8u));
    assert_true(!file->md5 || strlen(file->md5) == 32);
    assert_true(e->kind == ORCH_DATA_SET || (file->sha256 && strstr(file->urls[0], file->sha256)));
}

static void test_catalogue(void **state)
{
    (void)state;
    for (const struct orch_data_entry *e = orch_data_catalogue(); e->name; e++) {
        assert_ptr_equal(orch_data_find(e->name), e); /* no name twice */
        assert_true(e->about && e->licence && e->citation);
        assert_true(orch_data_bytes(e, NULL) > 0);
        for (const struct orch_data_file *file = e->files; file->path; file++) {
            assert_non_null(file->urls[0]);
            assert_false(g_path_is_absolute(file->path));
            check_digests(e, file);
        }
    }
    g_autofree char *near = orch_data_suggest("resnet5");
    assert_non_null(strstr(near, "resnet"));
    GError *error = NULL;
    assert_null(orch_data_get("fashion-mnits", NULL, &error));
    assert_says(&error, ORCH_ERROR_NOT_FOUND, WORDS("fashion-mnits", "did you mean"));
}

static void test_list_and_places(void **state)
{
    (void)state;
    g_autofree char *file = g_build_filename(cache, "weights/resnet18-f37072fd.pth", NULL);
    g_autofree char *parent = g_path_get_dirname(file);
    assert_true(orch_dir_make(parent, NULL) && orch_file_write(file, "x", 1, false, NULL));
    g_setenv("ORCH_DATA", cache, TRUE);
    g_autoptr(GPtrArray) places = orch_data_places(NULL);
    g_autoptr(GPtrArray) items = orch_data_list(NULL);
    g_unsetenv("ORCH_DATA");
    assert_string_equal(places->pdata[0], cache);
    assert_string_equal(places->pdata[places->len - 1], "/usr/share/datasets");
    int seen = 0;
    for (guint i = 0; i < items->len; i++) {
        const struct orch_data_item *item = items->pdata[i];
        bool here = strcmp(item->entry->name, "resnet18") == 0;
        if (here)
            assert_string_equal(item->path, file);
        if (strcmp(item->entry->name, "vgg19") == 0)
            assert_true(!item->path && !item->bytes_exact);
        seen += here;
    }
    assert_int_equal(seen, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, new_cache, drop_cache)

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "--get") == 0)
        return get_alone(argv);
    g_autofree char *python = g_find_program_in_path("python3");
    if (!python) {
        printf("skipped: no python3 for the test's server\n");
        return 77;
    }
    for (const char *const *name = WORDS("http_proxy", "https_proxy", "all_proxy", "ALL_PROXY",
                                         "ORCH_DATA", "ORCH_DATA_MIRROR");
         *name; name++)
        g_unsetenv(*name);
    signal(SIGPIPE, SIG_IGN);
    program = argv[0];
    const struct CMUnitTest tests[] = {
        TEST(test_plain_and_redirected),
        TEST(test_cut_is_resumed),
        TEST(test_part_of_an_earlier_process),
        TEST(test_part_without_ranges),
        TEST(test_part_that_is_refused),
        TEST(test_part_of_another_file),
        TEST(test_busy_server),
        TEST(test_gone),
        TEST(test_wrong_digest_keeps_nothing),
        TEST(test_digest_prefix_and_first_use),
        TEST(test_put_by_hand),
        TEST(test_md5_and_size),
        TEST(test_second_url),
        TEST(test_mirror),
        TEST(test_proxy),
        TEST(test_no_network),
        TEST(test_cache_that_cannot_be_written),
        TEST(test_stopped_and_gone_on_with),
        TEST(test_two_processes),
        TEST(test_tar_refusals),
        TEST(test_tar_long_name_and_damage),
        TEST(test_archive_in_archive),
        TEST(test_two_archives_of_one_folder),
        TEST(test_stopped_in_each_stage),
        TEST(test_stopped_between_attempts),
        TEST(test_parts_of_other_lengths),
        TEST(test_full_disk),
        TEST(test_archive_without_its_folder),
        TEST(test_unknown_name),
        TEST(test_catalogue),
        TEST(test_list_and_places),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
