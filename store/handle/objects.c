/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Artifact bytes, stored by content in objects/ab/cdef... beside the store.
 *
 * They are hashed while they are copied to a temporary file, so name and content agree even if the
 * source changes meanwhile. The file is synced before it is renamed, and any number of writers may
 * store the same bytes at once.
 */
#include "store/handle/sql.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/files_below.h"
#include "lib/base/sha256.h"
#include "lib/base/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Relative to the store's folder. */
static char *object_path(const char *sha256)
{
    char prefix[3] = {sha256[0], sha256[1], 0};
    return g_build_filename("objects", prefix, sha256 + 2, NULL);
}

int64_t orch_store_object_bytes(struct orch_store *store, const char *sha256)
{
    struct stat info;
    if (!orch_sha256_is_valid(sha256) || store->folder_fd < 0)
        return -1;
    g_autofree char *path = object_path(sha256);
    if (!orch_below_stat(store->folder_fd, path, &info) || !S_ISREG(info.st_mode))
        return -1;
    return info.st_size;
}

char *orch_store_object_path(struct orch_store *store, const char *sha256)
{
    if (orch_store_object_bytes(store, sha256) < 0)
        return NULL;
    g_autofree char *path = object_path(sha256);
    return g_build_filename(store->folder, path, NULL);
}

/* Copies and hashes; `*out_reading` says on failure whether the source or the target failed. */
static bool copy_hashed(int from, int to, char out_sha256[ORCH_SHA256_CHARS], int64_t *out_bytes,
                        bool *out_reading)
{
    enum { BUFFER = 1 << 18 };
    struct orch_hash hash;
    orch_hash_begin(&hash);
    uint8_t *buffer = g_malloc(BUFFER);
    ssize_t n;
    int64_t total = 0;
    bool ok = true;
    *out_reading = true;
    while (ok && (n = read(from, buffer, BUFFER)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        ok = n > 0;
        if (!ok)
            break;
        orch_hash_add(&hash, buffer, (size_t)n);
        total += n;
        ok = orch_write_all(to, (const char *)buffer, (size_t)n);
        *out_reading = ok;
    }
    if (ok) {
        *out_reading = false;
        ok = fsync(to) == 0;
    }
    int saved = errno;
    if (ok) {
        orch_hash_end_text(&hash, out_sha256);
        *out_bytes = total;
    } else {
        orch_hash_free(&hash);
    }
    g_free(buffer);
    errno = saved;
    return ok;
}

/* An object that is being written: a temporary file in objects/. */
struct temporary {
    int folder; /* objects/ */
    int fd;
    char name[64];
};

static bool temporary_open(struct orch_store *store, struct temporary *t, GError **error)
{
    static unsigned serial;
    t->folder = t->fd = -1;
    g_snprintf(t->name, sizeof t->name, "tmp.%d.%u", (int)getpid(), serial++);
    if (!orch_store_is_writable(store, error))
        return false;
    t->folder = orch_below_make_folder(store->folder_fd, "objects", 0777);
    if (t->folder >= 0) {
        unlinkat(t->folder, t->name, 0); /* left by a dead process with the same pid */
        t->fd = orch_below_open(t->folder, t->name, O_WRONLY | O_CREAT | O_EXCL, 0666);
    }
    if (t->fd >= 0)
        return true;
    orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot write artifact '%s/objects/%s'",
                         store->folder, t->name);
    if (t->folder >= 0)
        close(t->folder);
    return false;
}

/* Renames the temporary file to its final name. When a complete object exists already, its
 * modification time is updated instead, so that a concurrent gc keeps it. */
static bool place(struct temporary *t, const char *sha256, int64_t bytes)
{
    struct stat info;
    char prefix[3] = {sha256[0], sha256[1], 0};
    const char *rest = sha256 + 2;
    int to = orch_below_make_folder(t->folder, prefix, 0777);
    bool ok = to >= 0;
    if (ok && fstatat(to, rest, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode) &&
        info.st_size == bytes) {
        utimensat(to, rest, NULL, AT_SYMLINK_NOFOLLOW);
        unlinkat(t->folder, t->name, 0);
    } else {
        /* a rename is durable only after its folder is synced */
        ok = ok && fchmod(t->fd, 0444) == 0 && renameat(t->folder, t->name, to, rest) == 0 &&
             (fsync(to) == 0 || errno == EINVAL);
    }
    int saved = errno;
    if (to >= 0)
        close(to);
    errno = saved;
    return ok;
}

/* Closes the temporary file and renames it. */
static bool finish(const struct orch_store *store, struct temporary *t, bool written,
                   const char *sha256, int64_t bytes, GError **error)
{
    bool ok = written && place(t, sha256, bytes);
    if (written && !ok)
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot keep artifact %s in '%s/objects'",
                             sha256, store->folder);
    if (!ok)
        unlinkat(t->folder, t->name, 0);
    close(t->fd);
    close(t->folder);
    return ok;
}

/* Stores a file. `expected` is the only digest that is accepted, or NULL; `*out_fits` is false
 * without error when the bytes have another digest, and nothing is stored. */
static bool put(struct orch_store *store, int from, const char *name, const char *expected,
                char out_sha256[ORCH_SHA256_CHARS], int64_t *out_bytes, bool *out_fits,
                GError **error)
{
    struct temporary t;
    char sha256[ORCH_SHA256_CHARS];
    int64_t bytes = 0;
    bool reading = false;
    if (!temporary_open(store, &t, error))
        return false;
    bool ok = copy_hashed(from, t.fd, sha256, &bytes, &reading);
    if (!ok)
        orch_error_set_errno(error, ORCH_ERROR_IO, errno,
                             reading ? "cannot read artifact '%s'" : "cannot write artifact '%s'",
                             name);
    *out_fits = ok && (!expected || strcmp(sha256, expected) == 0);
    if (!finish(store, &t, *out_fits, sha256, bytes, error))
        return ok && !*out_fits;
    g_strlcpy(out_sha256, sha256, ORCH_SHA256_CHARS);
    *out_bytes = bytes;
    return true;
}

bool orch_store_put_object_fd(struct orch_store *store, int fd, const char *name, char *out_sha256,
                              int64_t *out_bytes, GError **error)
{
    bool fits;
    return put(store, fd, name, NULL, out_sha256, out_bytes, &fits, error);
}

bool orch_store_put_object(struct orch_store *store, const char *path, char *out_sha256,
                           int64_t *out_bytes, GError **error)
{
    int from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;
    if (from < 0 || fstat(from, &info) != 0 || !S_ISREG(info.st_mode)) {
        int saved = from < 0 ? errno : EINVAL;
        if (from >= 0)
            close(from);
        orch_error_set_errno(error, ORCH_ERROR_IO, saved, "cannot read artifact '%s'", path);
        return false;
    }
    bool ok = orch_store_put_object_fd(store, from, path, out_sha256, out_bytes, error);
    close(from);
    return ok;
}

bool orch_store_put_object_at(struct orch_store *store, int folder, const char *path,
                              const char *sha256, int64_t *out_bytes, bool *out_fits,
                              GError **error)
{
    char digest[ORCH_SHA256_CHARS];
    int from = orch_below_open_file(folder, path);
    if (from < 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot read artifact '%s'", path);
        return false;
    }
    bool ok = put(store, from, path, sha256, digest, out_bytes, out_fits, error);
    close(from);
    return ok;
}

bool orch_store_put_object_bytes(struct orch_store *store, const void *bytes, size_t length,
                                 char *out_sha256, GError **error)
{
    struct temporary t;
    char sha256[ORCH_SHA256_CHARS];
    orch_sha256(bytes, length, sha256);
    if (!temporary_open(store, &t, error))
        return false;
    bool ok = orch_write_all(t.fd, (const char *)bytes, length) && fsync(t.fd) == 0;
    if (!ok)
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot write artifact '%s/objects/%s'",
                             store->folder, t.name);
    if (!finish(store, &t, ok, sha256, (int64_t)length, error))
        return false;
    g_strlcpy(out_sha256, sha256, ORCH_SHA256_CHARS);
    return true;
}
