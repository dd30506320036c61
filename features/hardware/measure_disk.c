/* SPDX-License-Identifier: MIT */
#include "features/hardware/measure.h"

#include "lib/base/error.h"
#include "lib/base/ident.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DISK_BYTES ((size_t)256 << 20)
#define CHUNK_BYTES ((size_t)4 << 20)

static bool failed(const char *path, const char *what, GError **error)
{
    orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot %s '%s': %s", what, path, g_strerror(errno));
    return false;
}

static bool write_file(int file, const char *path, char *chunk, GError **error)
{
    for (size_t done = 0; done < DISK_BYTES; done += CHUNK_BYTES) {
        memcpy(chunk, &done, sizeof done); /* makes each chunk unique */
        if (write(file, chunk, CHUNK_BYTES) != (ssize_t)CHUNK_BYTES)
            return failed(path, "write", error);
    }
    return fdatasync(file) == 0 || failed(path, "sync", error);
}

static bool read_file(int file, const char *path, char *chunk, GError **error)
{
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    if (lseek(file, 0, SEEK_SET) != 0)
        return failed(path, "read", error);
    for (size_t done = 0; done < DISK_BYTES; done += CHUNK_BYTES)
        if (read(file, chunk, CHUNK_BYTES) != (ssize_t)CHUNK_BYTES)
            return failed(path, "read", error);
    return true;
}

bool orch_measure_disk(const char *folder, struct orch_disk_rates *out, GError **error)
{
    g_autofree char *path = g_build_filename(folder, "orch-disk-XXXXXX", NULL);
    g_autofree char *chunk = g_malloc(CHUNK_BYTES);
    memset(chunk, 0x5a, CHUNK_BYTES);
    int file = mkstemp(path);
    if (file < 0)
        return failed(path, "make", error);
    unlink(path);
    int64_t begin = orch_mono_ns();
    bool ok = write_file(file, path, chunk, error);
    int64_t middle = orch_mono_ns();
    ok = ok && read_file(file, path, chunk, error);
    int64_t end = orch_mono_ns();
    close(file);
    if (ok)
        *out = (struct orch_disk_rates){(double)DISK_BYTES / ((double)(middle - begin) / 1e9),
                                        (double)DISK_BYTES / ((double)(end - middle) / 1e9)};
    return ok;
}
