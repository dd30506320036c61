/* SPDX-License-Identifier: MIT */
/* The key lies in the user's state folder and not beside the store, because folders with stores are
 * copied, archived and handed in. */
#include "lib/base/local_key.h"

#include "lib/base/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_BYTES = 32 };

/* Reads the key from a file that only the user can read. */
static bool read_key(const char *path, uint8_t out[KEY_BYTES])
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool is_private = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                      info.st_uid == geteuid() && !(info.st_mode & (S_IRWXG | S_IRWXO)) &&
                      info.st_size == KEY_BYTES;
    bool ok = is_private && read(fd, out, KEY_BYTES) == KEY_BYTES;
    if (fd >= 0)
        close(fd);
    return ok;
}

/* Writes a new key. It appears whole or not at all, and never replaces one that another process has
 * written meanwhile. */
static void write_key(const char *path, const uint8_t key[KEY_BYTES])
{
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *temporary = g_strconcat(path, ".XXXXXX", NULL);
    if (g_mkdir_with_parents(folder, 0700) != 0)
        return;
    int fd = g_mkstemp_full(temporary, O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    if (orch_write_all(fd, (const char *)key, KEY_BYTES) && fsync(fd) == 0)
        (void)!link(temporary, path);
    close(fd);
    unlink(temporary);
}

static void find_key(uint8_t out[KEY_BYTES])
{
    g_autofree char *path = g_build_filename(g_get_user_state_dir(), "orch", "secret-key", NULL);
    bool has_place = g_path_is_absolute(path);
    if (has_place && read_key(path, out))
        return;
    while (getrandom(out, KEY_BYTES, 0) != KEY_BYTES)
        if (errno != EINTR)
            g_error("the system gives no random bytes: %s", g_strerror(errno));
    if (!has_place)
        return;
    write_key(path, out);
    uint8_t kept[KEY_BYTES];
    if (read_key(path, kept)) /* this one, or that of a process that was faster */
        memcpy(out, kept, KEY_BYTES);
}

char *orch_local_key_digest(const char *text)
{
    static uint8_t key[KEY_BYTES]; /* the same for the whole process, even if it cannot be kept */
    static gsize is_found;
    if (g_once_init_enter(&is_found)) {
        find_key(key);
        g_once_init_leave(&is_found, 1);
    }
    return g_compute_hmac_for_string(G_CHECKSUM_SHA256, key, KEY_BYTES, text, -1);
}
