/* SPDX-License-Identifier: MIT */
/* Uses a sealed memfd. If the kernel does not allow executable memfds (sysctl vm.memfd_noexec=2),
 * uses an unlinked temporary file, which only this user can access. */
#include "core/host/private_copy.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PLUGIN_BYTES_MAX ((size_t)1 << 30)
#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

static int nameless_file(void)
{
    int fd = memfd_create("orch-plugin", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);
    if (fd < 0 && errno == EINVAL) /* before Linux 6.3 every memfd is executable */
        fd = memfd_create("orch-plugin", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0)
        return fd;
    g_autofree char *path = g_build_filename(g_get_tmp_dir(), "orch-plugin-XXXXXX", NULL);
    fd = g_mkstemp_full(path, O_RDWR | O_CLOEXEC, 0700);
    if (fd >= 0)
        unlink(path);
    return fd;
}

int orch_private_copy_open(const char *path, const char *sha256, GError **error)
{
    g_autofree char *bytes = NULL;
    size_t length = 0;
    char found[ORCH_SHA256_CHARS];
    if (!orch_file_read(path, PLUGIN_BYTES_MAX, &bytes, &length, error)) {
        (*error)->code = ORCH_ERROR_PLUGIN;
        return -1;
    }
    orch_sha256(bytes, length, found);
    if (strcmp(found, sha256) != 0) {
        orch_error_set(error, ORCH_ERROR_PLUGIN, "run the same command again",
                       "plugin '%s' changed since it was checked: expected SHA-256 %.12s..., found "
                       "%.12s...",
                       path, sha256, found);
        return -1;
    }
    int fd = nameless_file();
    if (fd < 0 || !orch_write_all(fd, bytes, length)) {
        orch_error_set_errno(error, ORCH_ERROR_PLUGIN, errno, "cannot copy plugin '%s'", path);
        if (fd >= 0)
            close(fd);
        return -1;
    }
    fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
    return fd;
}
