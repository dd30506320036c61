/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cache contains NAME/... and weights/... as plugins read them; archives/ (only those that
 * several entries share are kept); and .orch/ with, for each download, its lock, its partial file
 * and its SHA-256 at the first download (in the format of sha256sum). If the publisher gives no
 * complete SHA-256, later downloads are checked against that record: trust on first use. */
#include "features/datasets/data.h"

#include "features/datasets/download.h"
#include "features/datasets/tar_unpack.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* A download in progress. */
struct fetch {
    const struct orch_data_entry *entry;
    const struct orch_data_file *file;
    const struct orch_data_options *options;
    char *kept;  /* final location: a file, or the folder of an archive */
    char *path;  /* the file or archive itself */
    char *state; /* .orch/NAME, without a suffix */
    char *part, *record, *base;
    bool by_hand; /* the user placed the file, so it is not removed */
};

static bool report(struct fetch *f, const char *stage, int64_t done, int64_t total)
{
    struct orch_data_progress progress = {stage, f->base, done, total};
    return !f->options->progress || f->options->progress(f->options->ctx, &progress);
}

static bool on_download(void *ctx, int64_t done, int64_t total)
{
    return report(ctx, "downloading", done, total);
}

static bool on_unpack(void *ctx, int64_t done)
{
    return report(ctx, "unpacking", done, 0);
}

static bool stopped(const struct fetch *f, GError **error)
{
    orch_error_set(error, ORCH_ERROR_INTERRUPTED, "run the same command again to continue",
                   "the download of '%s' was stopped", f->entry->name);
    return false;
}

/* ---- digests ----------------------------------------------------------------------------------
 */

struct digests {
    char sha256[ORCH_SHA256_CHARS], md5[33];
    int64_t bytes;
    uint8_t start[64]; /* first bytes of the file, with a NUL */
};

static bool digest_file(struct fetch *f, const char *path, struct digests *out, GError **error)
{
    g_autoptr(GChecksum) sha256 = g_checksum_new(G_CHECKSUM_SHA256);
    g_autoptr(GChecksum) md5 = g_checksum_new(G_CHECKSUM_MD5);
    FILE *file = orch_file_open_stream(path, error);
    g_autofree uint8_t *buffer = g_malloc(1 << 20);
    size_t n;
    bool go_on = true;
    memset(out, 0, sizeof *out);
    while (file && go_on && (n = fread(buffer, 1, 1 << 20, file)) > 0) {
        if (out->bytes == 0)
            memcpy(out->start, buffer, MIN(n, sizeof out->start - 1));
        g_checksum_update(sha256, buffer, (gssize)n);
        g_checksum_update(md5, buffer, (gssize)n);
        out->bytes += (int64_t)n;
        go_on = report(f, "checking", out->bytes, f->file->bytes);
    }
    bool ok = file && !ferror(file);
    if (file && !ok)
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot read '%s'", path);
    if (file)
        fclose(file);
    g_strlcpy(out->sha256, g_checksum_get_string(sha256), sizeof out->sha256);
    g_strlcpy(out->md5, g_checksum_get_string(md5), sizeof out->md5);
    return ok && (go_on || stopped(f, error));
}

/* SHA-256 recorded at the first download, or NULL. Caller frees. */
static char *recorded(const struct fetch *f)
{
    g_autofree char *text = NULL;
    if (!orch_file_read(f->record, 65536, &text, NULL, NULL) || strlen(text) < 64)
        return NULL;
    text[64] = '\0';
    return orch_sha256_is_valid(text) ? g_steal_pointer(&text) : NULL;
}

static bool write_record(const struct fetch *f, const struct digests *found, GError **error)
{
    g_autofree char *line = g_strdup_printf("%s  %s\n", found->sha256, f->file->path);
    return orch_file_write(f->record, line, strlen(line), false, error);
}

static bool differs(const struct fetch *f, const char *path, const char *what, const char *expected,
                    const struct digests *found, const char *value, GError **error)
{
    const char *start = (const char *)found->start;
    bool page = *start == '<' || g_ascii_strncasecmp(start, "http", 4) == 0;
    const char *hint = page ? "a web page came instead of the file (a login page of the network?)"
                       : f->by_hand ? "remove it and run the same command again"
                                    : "nothing was kept: run the same command again";
    orch_error_set(error, ORCH_ERROR_CHECK, hint, "'%s' of '%s' has %s %s, expected %s", path,
                   f->entry->name, what, value, expected);
    return false;
}

/* Verifies a file against all known digests, and records its SHA-256 if it is the first
 * download. */
static bool verify(struct fetch *f, const char *path, GError **error)
{
    struct digests found;
    g_autofree char *first = recorded(f);
    char expected[32], bytes[32];
    if (!digest_file(f, path, &found, error))
        return false;
    g_snprintf(bytes, sizeof bytes, "%" G_GINT64_FORMAT, found.bytes);
    g_snprintf(expected, sizeof expected, "%" G_GINT64_FORMAT, f->file->bytes);
    if (f->file->bytes > 0 && found.bytes != f->file->bytes)
        return differs(f, path, "bytes:", expected, &found, bytes, error);
    if (f->file->sha256 && !g_str_has_prefix(found.sha256, f->file->sha256))
        return differs(f, path, "SHA-256", f->file->sha256, &found, found.sha256, error);
    if (f->file->md5 && strcmp(found.md5, f->file->md5) != 0)
        return differs(f, path, "MD5", f->file->md5, &found, found.md5, error);
    if (first && strcmp(first, found.sha256) != 0)
        return differs(f, path, "SHA-256", first, &found, found.sha256, error);
    /* records may be missing in a read-only shared cache with the user's files */
    return first || write_record(f, &found, f->by_hand ? NULL : error) || f->by_hand;
}

/* Verifies a file that is already in place: a kept archive, or one placed by the user. */
static bool verify_in_place(struct fetch *f, GError **error)
{
    g_autofree char *first = recorded(f);
    f->by_hand = true;
    return first || access(f->path, F_OK) != 0 || verify(f, f->path, error);
}

/* ---- one file ---------------------------------------------------------------------------------
 */

/* The URL with scheme and host replaced by the mirror. Caller frees. */
static char *mirrored(const struct fetch *f, const char *url)
{
    const char *mirror = f->options->mirror ? f->options->mirror : g_getenv("ORCH_DATA_MIRROR");
    const char *host = strstr(url, "://");
    const char *path = host ? strchr(host + 3, '/') : NULL;
    if (!mirror || !*mirror || !path)
        return g_strdup(url);
    size_t length = strlen(mirror);
    while (length && mirror[length - 1] == '/')
        length--;
    return g_strdup_printf("%.*s%s", (int)length, mirror, path);
}

static bool download(struct fetch *f, const char *url, GError **error)
{
    const struct orch_data_options *o = f->options;
    const struct orch_download want = {
        .url = url,
        .part = f->part,
        .by_hand = f->path,
        .bytes = f->file->bytes,
        .retries = o->retries < 0 ? 0
                   : o->retries   ? o->retries
                                  : 5,
        .wait_s = o->wait_s > 0 ? o->wait_s : 1.0,
        .connect_s = o->connect_s > 0 ? o->connect_s : 30,
        .stall_s = o->stall_s > 0 ? o->stall_s : 60,
        .progress = on_download,
        .ctx = f,
    };
    return orch_download_run(&want, error);
}

/* Downloads and verifies. If a resumed download has a wrong digest, it is downloaded again from the
 * beginning; a wrong file is not kept. */
static bool fetch_url(struct fetch *f, const char *url, GError **error)
{
    for (int round = 0;; round++) {
        struct stat info;
        bool resumed = stat(f->part, &info) == 0 && info.st_size > 0;
        GError *why = NULL;
        if (!download(f, url, error))
            return false;
        if (verify(f, f->part, &why))
            return true;
        bool wrong = g_error_matches(why, ORCH_ERROR, ORCH_ERROR_CHECK);
        if (wrong)
            unlink(f->part);
        if (!wrong || !resumed || round) {
            g_propagate_error(error, why);
            return false;
        }
        g_clear_error(&why);
    }
}

static bool fetch_any(struct fetch *f, GError **error)
{
    GError *why = NULL;
    for (int i = 0; f->file->urls[i]; i++) {
        g_autofree char *url = mirrored(f, f->file->urls[i]);
        g_clear_error(&why);
        if (fetch_url(f, url, &why))
            return true;
        if (g_error_matches(why, ORCH_ERROR, ORCH_ERROR_INTERRUPTED))
            break;
    }
    g_propagate_error(error, why);
    return false;
}

static bool make_parent(const char *path, GError **error)
{
    g_autofree char *parent = g_path_get_dirname(path);
    return orch_dir_make(parent, error);
}

static bool move(const char *from, const char *to, GError **error)
{
    if (!make_parent(to, error))
        return false;
    if (rename(from, to) == 0)
        return true;
    orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot move '%s' to '%s'", from, to);
    return false;
}

/* Syncs before the rename, so that a power failure cannot leave an incomplete file in place. */
static bool flush(const char *path, GError **error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;
    if (!ok)
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot write '%s'", path);
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool fetch_file(struct fetch *f, GError **error)
{
    if (access(f->path, F_OK) == 0)
        return verify_in_place(f, error);
    return fetch_any(f, error) && flush(f->part, error) && move(f->part, f->path, error);
}

/* Extracts the inner archive to `folder` and returns its path. */
static char *inner_archive(struct fetch *f, const char *folder, GError **error)
{
    const struct orch_tar_options outer = {
        .only = f->file->member, .progress = on_unpack, .ctx = f};
    if (!orch_tar_unpack(f->path, folder, &outer, error))
        return NULL;
    return g_build_filename(folder, f->file->member, NULL);
}

static bool unpack_into(struct fetch *f, const char *scratch, GError **error)
{
    const struct orch_tar_options all = {.progress = on_unpack, .ctx = f};
    g_autofree char *folder = g_build_filename(scratch, "all", NULL);
    g_autofree char *top = g_build_filename(folder, f->file->top, NULL);
    g_autofree char *inner = f->file->member ? inner_archive(f, scratch, error) : NULL;
    if ((f->file->member && !inner) || !orch_dir_make(folder, error) ||
        !orch_tar_unpack(inner ? inner : f->path, folder, &all, error))
        return false;
    if (!g_file_test(top, G_FILE_TEST_IS_DIR)) {
        orch_error_set(error, ORCH_ERROR_IO, NULL, "archive '%s' has no folder '%s'", f->path,
                       f->file->top);
        return false;
    }
    return move(top, f->kept, error);
}

static bool unpack(struct fetch *f, GError **error)
{
    g_autofree char *scratch = g_strconcat(f->state, ".unpack", NULL);
    bool ok = orch_tree_remove(scratch, error) && orch_dir_make(scratch, error) &&
              unpack_into(f, scratch, error);
    orch_tree_remove(scratch, NULL);
    if (ok && !f->file->shared)
        unlink(f->path);
    return ok;
}

/* Takes a lock that is released when the process ends in any way. */
static int lock(struct fetch *f, GError **error)
{
    g_autofree char *path = g_strconcat(f->state, ".lock", NULL);
    int fd = orch_shared_open(AT_FDCWD, path, path, O_RDWR | O_CREAT, 0666, ORCH_SHARED_ANY_OWNER,
                              error);
    if (fd < 0)
        return -1;
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        bool held = errno == EWOULDBLOCK || errno == EINTR;
        if (!held)
            orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot lock '%s'", path);
        if (!held || (!report(f, "waiting", 0, 0) && !stopped(f, error))) {
            close(fd);
            return -1;
        }
        g_usleep(100000);
    }
    return fd;
}

static bool fetch_locked(struct fetch *f, GError **error)
{
    int fd = lock(f, error);
    if (fd < 0)
        return false;
    bool ok = access(f->kept, F_OK) == 0 || /* another process has finished it meanwhile */
              (fetch_file(f, error) && (!f->file->top || unpack(f, error)));
    close(fd);
    return ok;
}

static struct fetch *fetch_new(const struct orch_data_entry *entry,
                               const struct orch_data_file *file,
                               const struct orch_data_options *options, const char *cache)
{
    struct fetch *f = g_new0(struct fetch, 1);
    g_autofree char *name = g_strdelimit(g_strdup(file->path), "/", '_');
    f->entry = entry;
    f->file = file;
    f->options = options;
    f->kept = g_build_filename(cache, orch_data_kept(file), NULL);
    f->path = g_build_filename(cache, file->path, NULL);
    f->state = g_build_filename(cache, ".orch", name, NULL);
    f->part = g_strconcat(f->state, ".part", NULL);
    f->record = g_strconcat(f->state, ".sha256", NULL);
    f->base = g_path_get_basename(file->path);
    return f;
}

static void fetch_free(struct fetch *f)
{
    g_free(f->kept);
    g_free(f->path);
    g_free(f->state);
    g_free(f->part);
    g_free(f->record);
    g_free(f->base);
    g_free(f);
}

/* ---- entries ----------------------------------------------------------------------------------
 */

static bool make_cache(const char *cache, GError **error)
{
    g_autofree char *state = g_build_filename(cache, ".orch", NULL);
    GError *why = NULL;
    if (orch_dir_make(state, &why) && access(state, W_OK) == 0)
        return true;
    g_autofree char *first =
        why ? g_strndup(why->message, strcspn(why->message, "\n"))
            : g_strdup_printf("cannot write into '%s': %s", state, g_strerror(errno));
    g_clear_error(&why);
    orch_error_set(error, ORCH_ERROR_IO, "set ORCH_DATA to a writable folder", "%s", first);
    return false;
}

char *orch_data_get_entry(const struct orch_data_entry *entry,
                          const struct orch_data_options *options, GError **error)
{
    static const struct orch_data_options usual;
    const struct orch_data_options *o = options ? options : &usual;
    g_autofree char *cache = o->cache ? g_strdup(o->cache) : orch_data_cache();
    g_autofree char *here = orch_data_locate(entry, cache);
    if (!here && !make_cache(cache, error))
        return NULL;
    for (const struct orch_data_file *file = entry->files; file->path; file++) {
        struct fetch *f = fetch_new(entry, file, o, cache);
        bool ok = access(f->kept, F_OK) == 0 ? f->file->top || verify_in_place(f, error)
                                             : here || fetch_locked(f, error);
        fetch_free(f);
        if (!ok)
            return NULL;
    }
    char *found = orch_data_locate(entry, cache);
    if (!found)
        orch_error_set(error, ORCH_ERROR_IO, NULL, "'%s' is not in '%s' after its download",
                       entry->name, cache);
    return found;
}

char *orch_data_get(const char *name, const struct orch_data_options *options, GError **error)
{
    const struct orch_data_entry *entry = orch_data_find(name);
    if (entry)
        return orch_data_get_entry(entry, options, error);
    g_autofree char *near = orch_data_suggest(name);
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, near ? near : "'orch dataset ls' lists them",
                   "unknown data set or weights '%s'", name);
    return NULL;
}

static void item_free(void *pointer)
{
    struct orch_data_item *item = pointer;
    g_free(item->path);
    g_free(item);
}

GPtrArray *orch_data_list(const char *cache)
{
    GPtrArray *items = g_ptr_array_new_with_free_func(item_free);
    for (const struct orch_data_entry *entry = orch_data_catalogue(); entry->name; entry++) {
        struct orch_data_item *item = g_new0(struct orch_data_item, 1);
        item->entry = entry;
        item->bytes = orch_data_bytes(entry, &item->bytes_exact);
        item->path = orch_data_locate(entry, cache);
        g_ptr_array_add(items, item);
    }
    return items;
}
