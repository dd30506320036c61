/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Failures for want of disk space: how they are recognised, and which of the store's files are
 * large. */
#include "store/handle/space.h"
#include "store/handle/sql.h"

#include "lib/base/below.h"
#include "lib/base/error.h"
#include "lib/base/text.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* At most this many of the large parts are named. */
enum { NAMED_MAX = 3 };

struct part {
    const char *name;
    int64_t bytes;
};

bool orch_store_is_space_fault(int code, int system_errno)
{
    return (code & 0xff) == SQLITE_FULL || code == SQLITE_IOERR_SHMSIZE || system_errno == ENOSPC ||
           system_errno == EDQUOT;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = ((const struct part *)a)->bytes, y = ((const struct part *)b)->bytes;
    return (x < y) - (x > y);
}

static int64_t file_bytes(const struct orch_store *store)
{
    static const char *const endings[] = {"", "-wal"};
    int64_t bytes = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++) {
        g_autofree char *path = g_strconcat(store->path, endings[i], NULL);
        struct stat info;
        bytes += stat(path, &info) == 0 ? info.st_size : 0;
    }
    return bytes;
}

/* Returns ": the database 1.2 GiB, objects 300 MiB": the largest parts of the store. */
static char *largest(const struct orch_store *store)
{
    struct part parts[] = {{"objects", 0}, {"trials", 0}, {"checkpoints", 0}, {"work", 0},
                           {"kept", 0},    {"left", 0},   {"slurm", 0},       {"the database", 0}};
    enum { FOLDERS = G_N_ELEMENTS(parts) - 1 };
    int root = orch_below_root(store->folder);
    for (size_t i = 0; root >= 0 && i < FOLDERS; i++)
        parts[i].bytes = orch_below_bytes(root, parts[i].name);
    parts[FOLDERS].bytes = file_bytes(store);
    if (root >= 0)
        close(root);
    qsort(parts, G_N_ELEMENTS(parts), sizeof *parts, by_size);
    GString *text = g_string_new(NULL);
    for (size_t i = 0; i < NAMED_MAX && parts[i].bytes > 0; i++) {
        g_autofree char *size = orch_bytes_format(parts[i].bytes);
        g_string_append_printf(text, "%s%s %s", i ? ", " : "", parts[i].name, size);
    }
    return g_string_free(text, FALSE);
}

bool orch_store_fail_space(const struct orch_store *store, GError **error, const char *doing)
{
    g_autofree char *parts = error ? largest(store) : g_strdup("");
    g_autofree char *hint =
        g_strdup_printf("free some space and run the same command again; 'orch gc' deletes what no "
                        "kept run needs (the largest parts of this store: %s)",
                        parts);
    orch_error_set(error, ORCH_ERROR_STORE, hint, "cannot %s store '%s': the disk is full", doing,
                   store->path);
    return false;
}
