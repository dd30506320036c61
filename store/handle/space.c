/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Failures for want of disk space: how they are recognised, and which of the store's files are
 * large. */
#include "store/handle/space.h"
#include "store/handle/sql.h"

#include "lib/base/error.h"
#include "lib/base/files_below.h"
#include "lib/base/text.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* At most this many of the large parts are named. */
enum { NAMED_MAX = 3 };

struct part {
    char *name;
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

static void free_part(gpointer part)
{
    g_free(((struct part *)part)->name);
}

static void add_part(GArray *parts, const char *name, int64_t bytes)
{
    struct part part = {g_strdup(name), bytes};
    g_array_append_val(parts, part);
}

/* Returns "the database 1.2 GiB, objects 300 MiB": the largest parts of the store. */
static char *largest(const struct orch_store *store)
{
    g_autoptr(GArray) parts = g_array_new(FALSE, FALSE, sizeof(struct part));
    g_array_set_clear_func(parts, free_part);
    add_part(parts, "the database", file_bytes(store));
    int root = orch_below_root(store->folder);
    g_autoptr(GPtrArray) names = root < 0 ? g_ptr_array_new() : orch_below_list(root, "");
    for (guint i = 0; i < names->len; i++)
        add_part(parts, names->pdata[i], orch_below_bytes(root, names->pdata[i]));
    if (root >= 0)
        close(root);
    g_array_sort(parts, by_size);
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < MIN(parts->len, NAMED_MAX); i++) {
        const struct part *part = &g_array_index(parts, struct part, i);
        g_autofree char *size = orch_bytes_format(part->bytes);
        if (part->bytes > 0)
            g_string_append_printf(text, "%s%s %s", i ? ", " : "", part->name, size);
    }
    return g_string_free(text, FALSE);
}

bool orch_store_fail_space(const struct orch_store *store, GError **error, const char *doing)
{
    g_autofree char *parts = error ? largest(store) : g_strdup("");
    g_autofree char *hint = g_strdup_printf(
        "free some space, for example with 'orch gc'; the largest parts of this store: %s", parts);
    orch_error_set(error, ORCH_ERROR_STORE, hint, "cannot %s store '%s': the disk is full", doing,
                   store->path);
    return false;
}
