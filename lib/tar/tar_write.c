/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/tar/tar_write.h"

#include "lib/base/error.h"
#include "lib/base/temporary.h"
#include "lib/tar/tar_head.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define FILE_BYTES_MAX (INT64_C(8) << 30) /* limit of 11 octal digits */

struct orch_tar_writer {
    char *path, *temporary;
    int fd;
    gzFile file;
};

static bool fail(const struct orch_tar_writer *writer, GError **error)
{
    int code = Z_ERRNO;
    if (writer->file)
        gzerror(writer->file, &code);
    orch_error_set_errno(error, ORCH_ERROR_IO, code == Z_ERRNO && errno ? errno : EIO,
                         "cannot write '%s'", writer->path);
    return false;
}

struct orch_tar_writer *orch_tar_create(const char *path, GError **error)
{
    struct orch_tar_writer *writer = g_new0(struct orch_tar_writer, 1);
    writer->path = g_strdup(path);
    writer->temporary = orch_temporary_name(path);
    writer->fd = open(writer->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    int copy = writer->fd >= 0 ? fcntl(writer->fd, F_DUPFD_CLOEXEC, 0) : -1;
    writer->file = copy >= 0 ? gzdopen(copy, "wb6") : NULL; /* no name, no time in its header */
    if (writer->file)
        return writer;
    fail(writer, error);
    if (copy >= 0)
        close(copy);
    orch_tar_finish(writer, false, NULL, NULL);
    return NULL;
}

static bool write_bytes(struct orch_tar_writer *writer, const void *bytes, size_t length,
                        GError **error)
{
    const uint8_t *at = bytes;
    while (length) {
        unsigned part = (unsigned)MIN(length, (size_t)1 << 30);
        errno = 0;
        if (gzwrite(writer->file, at, part) != (int)part)
            return fail(writer, error);
        at += part;
        length -= part;
    }
    return true;
}

static bool write_padding(struct orch_tar_writer *writer, int64_t size, GError **error)
{
    static const char zeros[ORCH_TAR_BLOCK];
    return write_bytes(writer, zeros, (size_t)orch_tar_padding(size), error);
}

static bool write_head(struct orch_tar_writer *writer, const char *name, char type, int64_t size,
                       GError **error)
{
    struct orch_tar_head head = {.mode = "0000644",
                                 .uid = "0000000",
                                 .gid = "0000000",
                                 .mtime = "00000000000",
                                 .type = type,
                                 .magic = "ustar",
                                 .version = {'0', '0'},
                                 .major = "0000000",
                                 .minor = "0000000"};
    char digits[32];
    memcpy(head.name, name, MIN(strlen(name), sizeof head.name));
    snprintf(digits, sizeof digits, "%011llo", (unsigned long long)size);
    memcpy(head.size, digits, sizeof head.size);
    memset(head.checksum, ' ', sizeof head.checksum);
    unsigned sum = 0;
    for (size_t i = 0; i < sizeof head; i++)
        sum += ((const uint8_t *)&head)[i];
    snprintf(digits, sizeof digits, "%06o", sum);
    memcpy(head.checksum, digits, 7); /* digits, NUL, space */
    return write_bytes(writer, &head, sizeof head, error);
}

/* Writes a record "LENGTH path=NAME\n" before an entry whose name is too long for its header;
 * LENGTH counts its own digits. */
static bool write_long_name(struct orch_tar_writer *writer, const char *name, GError **error)
{
    size_t rest = strlen(" path=\n") + strlen(name), length = rest, last = 0;
    while (length != last) {
        last = length;
        length = rest + (size_t)snprintf(NULL, 0, "%zu", last);
    }
    g_autofree char *record = g_strdup_printf("%zu path=%s\n", length, name);
    return write_head(writer, "pax", 'x', (int64_t)length, error) &&
           write_bytes(writer, record, length, error) &&
           write_padding(writer, (int64_t)length, error);
}

static bool begin_file(struct orch_tar_writer *writer, const char *name, int64_t size,
                       GError **error)
{
    if (size >= FILE_BYTES_MAX) {
        orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot write '%s': '%s' is over 8 GiB",
                       writer->path, name);
        return false;
    }
    return (strlen(name) <= 100 || write_long_name(writer, name, error)) &&
           write_head(writer, name, '0', size, error);
}

bool orch_tar_add(struct orch_tar_writer *writer, const char *name, const void *bytes,
                  size_t length, GError **error)
{
    return begin_file(writer, name, (int64_t)length, error) &&
           write_bytes(writer, bytes, length, error) &&
           write_padding(writer, (int64_t)length, error);
}

static bool copy_file(struct orch_tar_writer *writer, int fd, const char *path, int64_t length,
                      GError **error)
{
    uint8_t buffer[1 << 16];
    while (length > 0) {
        ssize_t n = read(fd, buffer, (size_t)MIN(length, (int64_t)sizeof buffer));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            orch_error_set_errno(error, ORCH_ERROR_IO, n < 0 ? errno : EIO, "cannot read '%s'",
                                 path);
            return false;
        }
        if (!write_bytes(writer, buffer, (size_t)n, error))
            return false;
        length -= n;
    }
    return true;
}

bool orch_tar_add_file(struct orch_tar_writer *writer, const char *name, const char *path,
                       int64_t length, GError **error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot read '%s'", path);
        return false;
    }
    bool ok = begin_file(writer, name, length, error) &&
              copy_file(writer, fd, path, length, error) && write_padding(writer, length, error);
    close(fd);
    return ok;
}

static bool end_file(struct orch_tar_writer *writer, int64_t *out_bytes, GError **error)
{
    static const char zeros[2 * ORCH_TAR_BLOCK];
    struct stat info;
    if (!write_bytes(writer, zeros, sizeof zeros, error))
        return false;
    errno = 0;
    int code = gzclose(writer->file);
    writer->file = NULL;
    if (code != Z_OK || fsync(writer->fd) != 0 || fstat(writer->fd, &info) != 0 ||
        rename(writer->temporary, writer->path) != 0)
        return fail(writer, error);
    if (out_bytes)
        *out_bytes = info.st_size;
    return true;
}

bool orch_tar_finish(struct orch_tar_writer *writer, bool keep, int64_t *out_bytes, GError **error)
{
    bool kept = keep && end_file(writer, out_bytes, error);
    if (writer->file)
        gzclose(writer->file);
    if (writer->fd >= 0) {
        if (!kept)
            unlink(writer->temporary);
        close(writer->fd);
    }
    g_free(writer->temporary);
    g_free(writer->path);
    g_free(writer);
    return kept;
}
