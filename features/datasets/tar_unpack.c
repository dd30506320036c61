/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/datasets/tar_unpack.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/write_all.h"
#include "lib/tar/tar_read.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define BYTES_MAX (INT64_C(64) << 30)

struct reader {
    const char *path, *folder;
    const struct orch_tar_options *options;
    struct orch_tar *tar;
    int64_t unpacked; /* bytes of files */
    bool found;       /* options->only */
};

static bool copy_out(struct reader *r, int fd, const char *path, int64_t size, GError **error)
{
    uint8_t buffer[1 << 15];
    while (size > 0) {
        size_t part = (size_t)MIN(size, (int64_t)sizeof buffer);
        if (!orch_tar_read(r->tar, buffer, part, error))
            return false;
        if (!orch_write_all(fd, (const char *)buffer, part)) {
            orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot write '%s'", path);
            return false;
        }
        size -= (int64_t)part;
        r->unpacked += (int64_t)part;
    }
    if (r->options->progress && !r->options->progress(r->options->ctx, r->unpacked)) {
        orch_error_set(error, ORCH_ERROR_INTERRUPTED, NULL, "unpacking '%s' was stopped", r->path);
        return false;
    }
    return true;
}

static bool take_file(struct reader *r, const char *name, int64_t size, GError **error)
{
    g_autofree char *path = g_build_filename(r->folder, name, NULL);
    g_autofree char *parent = g_path_get_dirname(path);
    int64_t most = r->options->bytes_max ? r->options->bytes_max : BYTES_MAX;
    if (size > most - r->unpacked)
        return orch_tar_refuse(r->tar, error, "the archive's files are larger than allowed");
    if (!orch_dir_make(parent, error))
        return false;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot write '%s'", path);
        return false;
    }
    bool ok = copy_out(r, fd, path, size, error);
    if (close(fd) != 0 && ok) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot write '%s'", path);
        ok = false;
    }
    return ok;
}

static bool take_folder(struct reader *r, const char *name, GError **error)
{
    g_autofree char *path = g_build_filename(r->folder, name, NULL);
    return r->options->only || orch_dir_make(path, error);
}

static bool take_entry(struct reader *r, const struct orch_tar_entry *entry, GError **error)
{
    g_autofree char *name = orch_tar_safe_name(entry->name);
    g_autofree char *what = NULL;
    bool wanted = name && (!r->options->only || strcmp(name, r->options->only) == 0);
    if (!name) {
        what = g_strdup_printf("'%.200s' would be outside the folder", entry->name);
        return orch_tar_refuse(r->tar, error, what);
    }
    switch (entry->kind) {
    case ORCH_TAR_FOLDER:
        return take_folder(r, name, error);
    case ORCH_TAR_FILE:
        r->found = r->found || wanted;
        return !wanted || take_file(r, name, entry->size, error);
    default:
        what = g_strdup_printf("'%.200s' is a link or a device (type '%c'), which is not unpacked",
                               entry->name, g_ascii_isprint(entry->type) ? entry->type : '?');
        return orch_tar_refuse(r->tar, error, what);
    }
}

bool orch_tar_unpack(const char *path, const char *folder, const struct orch_tar_options *options,
                     GError **error)
{
    static const struct orch_tar_options none;
    struct reader r = {.path = path, .folder = folder, .options = options ? options : &none};
    const struct orch_tar_entry *entry = NULL;
    bool ok = (r.tar = orch_tar_open(path, 0, error)) != NULL;
    while (ok && (ok = orch_tar_next(r.tar, &entry, error)) && entry)
        ok = take_entry(&r, entry, error);
    if (ok && r.options->only && !r.found) {
        g_autofree char *what = g_strdup_printf("it ends without '%s'", r.options->only);
        ok = orch_tar_refuse(r.tar, error, what);
    }
    orch_tar_close(r.tar);
    return ok;
}
