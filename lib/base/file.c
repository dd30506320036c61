/* SPDX-License-Identifier: MIT */
#include "lib/base/file.h"

#include "lib/base/error.h"
#include "lib/base/sha256.h"
#include "lib/base/walk.h"
#include "lib/base/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* For larger files it pays off to load the fast SHA-256. */
enum { PRELOAD_BYTES = 1 << 20 };

static const char *kind_of(mode_t mode)
{
    static const struct {
        mode_t type;
        const char *kind;
    } kinds[] = {{S_IFDIR, "a folder"},
                 {S_IFIFO, "a pipe"},
                 {S_IFSOCK, "a socket"},
                 {S_IFCHR, "a device"},
                 {S_IFBLK, "a device"}};
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
        if ((mode & S_IFMT) == kinds[i].type)
            return kinds[i].kind;
    return "something else";
}

static bool is_regular(int fd, const char *name, struct stat *info, GError **error)
{
    if (fstat(fd, info) != 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot read '%s'", name);
        return false;
    }
    if (!S_ISREG(info->st_mode))
        orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot read '%s': it is %s, not a regular file",
                       name, kind_of(info->st_mode));
    return S_ISREG(info->st_mode);
}

int orch_file_open(const char *path, GError **error)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot read '%s'", path);
    if (fd < 0 || is_regular(fd, path, &info, error))
        return fd;
    close(fd);
    return -1;
}

FILE *orch_file_open_stream(const char *path, GError **error)
{
    int fd = orch_file_open(path, error);
    return fd < 0 ? NULL : fdopen(fd, "rb");
}

GMappedFile *orch_file_map(const char *path, GError **error)
{
    int fd = orch_file_open(path, error);
    if (fd < 0)
        return NULL;
    g_autoptr(GError) problem = NULL;
    GMappedFile *file = g_mapped_file_new_from_fd(fd, FALSE, &problem);
    if (!file)
        orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot read '%s': %s", path, problem->message);
    close(fd);
    return file;
}

bool orch_file_read_fd(int fd, const char *name, size_t max_bytes, char **out, size_t *out_length,
                       GError **error)
{
    struct stat info;
    if (!is_regular(fd, name, &info, error))
        return false;
    /* files in /proc report size 0, so read until the end or one byte over the limit */
    GByteArray *bytes = g_byte_array_sized_new((guint)MIN((size_t)info.st_size, max_bytes) + 1);
    uint8_t buffer[65536];
    ssize_t n;
    bool ok = false;
    while ((n = read(fd, buffer, sizeof buffer)) > 0 && bytes->len <= max_bytes)
        g_byte_array_append(bytes, buffer, (guint)n);
    if (n < 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot read '%s'", name);
    } else if (bytes->len > max_bytes) {
        orch_error_set(error, ORCH_ERROR_IO, NULL,
                       "cannot read '%s': larger than %" G_GSIZE_FORMAT " bytes", name, max_bytes);
    } else {
        size_t length = bytes->len;
        g_byte_array_append(bytes, (const uint8_t *)"", 1);
        *out = (char *)g_byte_array_free(bytes, FALSE);
        bytes = NULL;
        if (out_length)
            *out_length = length;
        ok = true;
    }
    if (bytes)
        g_byte_array_unref(bytes);
    return ok;
}

bool orch_file_read(const char *path, size_t max_bytes, char **out, size_t *out_length,
                    GError **error)
{
    int fd = orch_file_open(path, error);
    if (fd < 0)
        return false;
    bool ok = orch_file_read_fd(fd, path, max_bytes, out, out_length, error);
    close(fd);
    return ok;
}

bool orch_file_write_parts(const char *path, const struct iovec *parts, size_t count, bool durable,
                           GError **error)
{
    static unsigned serial;
    g_autofree char *temporary = g_strdup_printf("%s.tmp%d.%u", path, (int)getpid(), serial++);
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0664);
    bool ok = fd >= 0;
    for (size_t i = 0; ok && i < count; i++)
        ok = orch_write_all(fd, parts[i].iov_base, parts[i].iov_len);
    ok = ok && (!durable || fsync(fd) == 0);
    int saved = errno;
    if (fd >= 0 && close(fd) != 0 && ok) {
        ok = false;
        saved = errno;
    }
    if (ok && rename(temporary, path) != 0) {
        ok = false;
        saved = errno;
    }
    if (!ok) {
        if (fd >= 0)
            unlink(temporary);
        orch_error_set_errno(error, ORCH_ERROR_IO, saved, "cannot write '%s'", path);
    }
    return ok;
}

bool orch_file_write(const char *path, const void *bytes, size_t length, bool durable,
                     GError **error)
{
    const struct iovec whole = {(void *)(uintptr_t)bytes, length};
    return orch_file_write_parts(path, &whole, 1, durable, error);
}

static bool is_hole(const char *bytes, ssize_t length)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, (size_t)length - 1) == 0;
}

static bool copy_bytes(int in, int out)
{
    enum { CHUNK_BYTES = 1 << 20 };
    g_autofree char *chunk = g_malloc(CHUNK_BYTES);
    ssize_t got = 0;
    bool ok = true;
    while (ok && (got = read(in, chunk, CHUNK_BYTES)) > 0)
        ok = is_hole(chunk, got) ? lseek(out, got, SEEK_CUR) >= 0
                                 : orch_write_all(out, chunk, (size_t)got);
    return ok && got == 0 && ftruncate(out, lseek(out, 0, SEEK_CUR)) == 0;
}

bool orch_file_copy(const char *from, const char *to, GError **error)
{
    int in = orch_file_open(from, error);
    if (in < 0)
        return false;
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool ok = out >= 0 && copy_bytes(in, out);
    if (!ok)
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot copy '%s' to '%s'", from, to);
    close(in);
    if (out >= 0)
        close(out);
    return ok;
}

bool orch_dir_make(const char *path, GError **error)
{
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && g_file_test(path, G_FILE_TEST_IS_DIR)))
        return true; /* the common cases, without walking the path */
    if (g_mkdir_with_parents(path, 0777) == 0)
        return true;
    const int saved = errno;
    orch_error_set_errno(error, ORCH_ERROR_IO, saved, "cannot make folder '%s'", path);
    errno = saved;
    return false;
}

bool orch_tree_remove(const char *path, GError **error)
{
    g_autofree char *failed = NULL;
    if (orch_walk_remove(AT_FDCWD, path, &failed))
        return true;
    orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot remove '%s'", failed ? failed : path);
    return false;
}

bool orch_file_sha256_fd(int fd, const char *name, char out[ORCH_SHA256_CHARS], int64_t *out_bytes,
                         GError **error)
{
    struct stat info;
    if (!is_regular(fd, name, &info, error))
        return false;
    struct orch_hash hash;
    if (info.st_size > PRELOAD_BYTES)
        orch_hash_preload();
    orch_hash_begin(&hash);
    uint8_t *buffer = g_malloc(1 << 18);
    int64_t total = 0;
    ssize_t n;
    while ((n = read(fd, buffer, 1 << 18)) > 0) {
        orch_hash_add(&hash, buffer, (size_t)n);
        total += n;
    }
    int saved = errno;
    g_free(buffer);
    if (n == 0) {
        orch_hash_end_text(&hash, out);
        if (out_bytes)
            *out_bytes = total;
    } else {
        orch_hash_free(&hash);
        orch_error_set_errno(error, ORCH_ERROR_IO, saved, "cannot read '%s'", name);
    }
    return n == 0;
}

bool orch_file_sha256(const char *path, char out[ORCH_SHA256_CHARS], int64_t *out_bytes,
                      GError **error)
{
    int fd = orch_file_open(path, error);
    if (fd < 0)
        return false;
    bool ok = orch_file_sha256_fd(fd, path, out, out_bytes, error);
    close(fd);
    return ok;
}

bool orch_sha256_is_valid(const char *text)
{
    return text && strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64;
}

const char *orch_path_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    length -= length && folder[length - 1] == '/';
    bool is_below = strncmp(path, folder, length) == 0 && path[length] == '/' && path[length + 1];
    return is_below ? path + length + 1 : NULL;
}

const char *orch_path_within(const char *path, const char *folder)
{
    return strcmp(path, folder) == 0 ? "" : orch_path_below(path, folder);
}

char *orch_path_absolute(const char *path, const char *base)
{
    return g_canonicalize_filename(path, base);
}

char *orch_path_folder(const char *path)
{
    g_autofree char *absolute = orch_path_absolute(path, NULL);
    g_autofree char *folder = g_path_get_dirname(absolute);
    char *found = realpath(folder, NULL);
    char *real = g_strdup(found && g_utf8_validate(found, -1, NULL) ? found : folder);
    free(found);
    return real;
}

char *orch_path_utf8(const char *folder, GError **error)
{
    if (g_utf8_validate(folder, -1, NULL))
        return g_strdup(folder);
    char digest[ORCH_SHA256_CHARS];
    orch_sha256(folder, strlen(folder), digest);
    digest[16] = 0;
    g_autofree char *links = g_build_filename(g_get_user_cache_dir(), "orch", "paths", NULL);
    g_autofree char *link = g_build_filename(links, digest, NULL);
    g_autofree char *target = g_file_read_link(link, NULL);
    if (g_strcmp0(target, folder) == 0)
        return g_steal_pointer(&link);
    bool ok = orch_dir_make(links, NULL) && (symlink(folder, link) == 0 || errno == EEXIST);
    g_autofree char *now = ok ? g_file_read_link(link, NULL) : NULL;
    if (g_strcmp0(now, folder) == 0)
        return g_steal_pointer(&link);
    g_autofree char *shown = g_utf8_make_valid(folder, -1);
    orch_error_set(error, ORCH_ERROR_IO, "give the folder a name in UTF-8",
                   "the path '%s' is not UTF-8, and no link to it can be made in '%s'", shown,
                   links);
    return NULL;
}
