/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Artifact bytes, by content: objects/ab/cdef... beside the store.
 *
 * Copied into a temporary file while they are hashed, so name and bytes agree even if the source
 * changes meanwhile; on disk before they get their name; then renamed, so any number of writers may
 * bring the same bytes at once.
 */
#include "store/internal.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *object_path(const struct orch_store *store, const char *sha256)
{
    char prefix[3] = {sha256[0], sha256[1], 0};
    return g_build_filename(store->folder, "objects", prefix, sha256 + 2, NULL);
}

char *orch_store_object_path(struct orch_store *store, const char *sha256)
{
    if (!orch_sha256_is_valid(sha256))
        return NULL;
    char *path = object_path(store, sha256);
    if (access(path, F_OK) == 0)
        return path;
    g_free(path);
    return NULL;
}

static bool write_whole(int fd, const uint8_t *bytes, size_t length)
{
    while (length) {
        ssize_t n = write(fd, bytes, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        bytes += n;
        length -= (size_t)n;
    }
    return true;
}

/* Copies and hashes; says on failure which of the two files it was. */
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
        ok = write_whole(to, buffer, (size_t)n);
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
        orch_hash_drop(&hash);
    }
    g_free(buffer);
    errno = saved;
    return ok;
}

/* A rename is on disk when its folder is. */
static bool sync_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool ok = fsync(fd) == 0 || errno == EINVAL;
    int saved = errno;
    close(fd);
    errno = saved;
    return ok;
}

/* Gives the temporary file its name, unless the object is there already and whole: then its time
 * is renewed, so that a gc that looks meanwhile sees that somebody is about to name it. */
static bool place(struct orch_store *store, const char *temporary, const char *sha256,
                  int64_t bytes, GError **error)
{
    g_autofree char *path = object_path(store, sha256);
    g_autofree char *folder = g_path_get_dirname(path);
    struct stat info;
    if (stat(path, &info) == 0 && info.st_size == bytes) {
        utimensat(AT_FDCWD, path, NULL, 0);
        unlink(temporary);
        return true;
    }
    if (!orch_dir_make(folder, error))
        return false;
    if (chmod(temporary, 0444) == 0 && rename(temporary, path) == 0 && sync_folder(folder))
        return true;
    orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot keep artifact as '%s'", path);
    return false;
}

/* A temporary file in objects/, open for writing; -1 on failure. */
static int open_temporary(struct orch_store *store, char **out_path, GError **error)
{
    static unsigned serial;
    g_autofree char *objects = g_build_filename(store->folder, "objects", NULL);
    g_autofree char *path = g_strdup_printf("%s/tmp.%d.%u", objects, (int)getpid(), serial++);
    if (!store_is_writable(store, error) || !orch_dir_make(objects, error))
        return -1;
    unlink(path); /* a process of this number may have died here */
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot write artifact '%s'", path);
    else
        *out_path = g_steal_pointer(&path);
    return fd;
}

/* Closes a temporary file that was written, and gives it its name. */
static bool finish(struct orch_store *store, int fd, const char *temporary, bool written,
                   const char *sha256, int64_t bytes, GError **error)
{
    close(fd);
    if (written && place(store, temporary, sha256, bytes, error))
        return true;
    unlink(temporary);
    return false;
}

/* `expected`: the only digest that is taken, or NULL. `*out_fits` false, without error: it has
 * another. */
static bool put(struct orch_store *store, const char *path, const char *expected,
                char out_sha256[ORCH_SHA256_CHARS], int64_t *out_bytes, bool *out_fits,
                GError **error)
{
    g_autofree char *temporary = NULL;
    int from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;
    if (from < 0 || fstat(from, &info) != 0 || !S_ISREG(info.st_mode)) {
        int saved = from < 0 ? errno : EINVAL;
        if (from >= 0)
            close(from);
        orch_error_set_errno(error, ORCH_ERROR_IO, saved, "cannot read artifact '%s'", path);
        return false;
    }
    int to = open_temporary(store, &temporary, error);
    char sha256[ORCH_SHA256_CHARS];
    int64_t bytes = 0;
    bool reading = false;
    bool ok = to >= 0 && copy_hashed(from, to, sha256, &bytes, &reading);
    if (to >= 0 && !ok)
        orch_error_set_errno(error, ORCH_ERROR_IO, errno,
                             reading ? "cannot read artifact '%s'" : "cannot write artifact '%s'",
                             reading ? path : temporary);
    close(from);
    if (to < 0)
        return false;
    *out_fits = ok && (!expected || strcmp(sha256, expected) == 0);
    if (!finish(store, to, temporary, *out_fits, sha256, bytes, error))
        return ok && !*out_fits;
    g_strlcpy(out_sha256, sha256, ORCH_SHA256_CHARS);
    *out_bytes = bytes;
    return true;
}

bool orch_store_put_object(struct orch_store *store, const char *path, char *out_sha256,
                           int64_t *out_bytes, GError **error)
{
    bool fits;
    return put(store, path, NULL, out_sha256, out_bytes, &fits, error);
}

bool store_put_object_as(struct orch_store *store, const char *path, const char *sha256,
                         int64_t *out_bytes, bool *out_fits, GError **error)
{
    char digest[ORCH_SHA256_CHARS];
    return put(store, path, sha256, digest, out_bytes, out_fits, error);
}

bool orch_store_put_object_bytes(struct orch_store *store, const void *bytes, size_t length,
                                 char *out_sha256, GError **error)
{
    g_autofree char *temporary = NULL;
    char sha256[ORCH_SHA256_CHARS];
    orch_sha256(bytes, length, sha256);
    int fd = open_temporary(store, &temporary, error);
    if (fd < 0)
        return false;
    bool ok = write_whole(fd, bytes, length) && fsync(fd) == 0;
    if (!ok)
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot write artifact '%s'", temporary);
    if (!finish(store, fd, temporary, ok, sha256, (int64_t)length, error))
        return false;
    g_strlcpy(out_sha256, sha256, ORCH_SHA256_CHARS);
    return true;
}
