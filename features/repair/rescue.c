/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/repair/rescue.h"

#include "core/record/collect.h"
#include "lib/base/error.h"
#include "lib/base/temporary.h"
#include "lib/base/text.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* A database, and the files that SQLite keeps next to it. */
static const char *const ENDINGS[] = {"", "-wal", "-shm", "-journal"};

/* Adds a folder's files whose names begin with `begin` and contain `word` after it. */
static void add_files(GPtrArray *files, const char *folder, const char *begin, const char *word)
{
    g_autoptr(GPtrArray) found = g_ptr_array_new();
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));)
        if (g_str_has_prefix(name, begin) && strstr(name + strlen(begin), word) &&
            !strstr(name, ".salvage-") && !g_str_has_suffix(name, "-wal") &&
            !g_str_has_suffix(name, "-shm") && !g_str_has_suffix(name, "-journal"))
            g_ptr_array_add(found, g_build_filename(folder, name, NULL));
    g_ptr_array_sort(found, orch_compare_texts);
    for (guint i = 0; i < found->len; i++)
        g_ptr_array_add(files, found->pdata[i]);
}

/* Returns the damaged file, then the files that may have what it lost. */
static GPtrArray *find_files(const struct orch_rescue *r)
{
    GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *folder = g_path_get_dirname(r->path);
    g_autofree char *name = g_path_get_basename(r->path);
    g_autofree char *beside = orch_store_folder_of(r->path);
    g_autofree char *shards = g_build_filename(beside, "shards", NULL);
    g_autofree char *begin = g_strconcat(name, ".", NULL);
    if (access(r->path, F_OK) == 0)
        g_ptr_array_add(files, g_strdup(r->path));
    add_files(files, folder, begin, "backup");
    add_files(files, shards, "", ".db");
    return files;
}

static bool read_files(struct orch_rescue *r, struct orch_store *into, GError **error)
{
    g_autoptr(GPtrArray) files = find_files(r);
    /* The other files have the same runs, and a loss whose key is unknown may be present in another
     * file, so only losses of the damaged file are counted. */
    for (guint i = 0; i < files->len; i++)
        if (!orch_salvage_file(into, files->pdata[i], strcmp(files->pdata[i], r->path) == 0,
                               &r->salvage, error))
            return false;
    if (files->len && !r->salvage.runs && access(r->path, F_OK) != 0)
        g_ptr_array_add(r->lost, g_strdup("all: no run can be read of any of these files"));
    if (files->len)
        return true;
    orch_error_set(error, ORCH_ERROR_STORE, "name it with --db", "there is no store '%s'", r->path);
    return false;
}

static void list_lost(struct orch_rescue *r, const GPtrArray *missing)
{
    for (guint i = 0; i < missing->len; i++)
        g_ptr_array_add(r->lost, g_strdup_printf("run %s", (char *)missing->pdata[i]));
    if (r->salvage.nameless)
        g_ptr_array_add(r->lost,
                        g_strdup_printf("%" G_GINT64_FORMAT " run%s whose keys cannot be read",
                                        r->salvage.nameless, orch_plural(r->salvage.nameless)));
    for (guint i = 0; i < r->salvage.lost->len; i++)
        g_ptr_array_add(r->lost, g_strdup(r->salvage.lost->pdata[i]));
}

static bool salvage_into(struct orch_rescue *r, struct orch_store *into, GError **error)
{
    if (!read_files(r, into, error) || !orch_recover_folders(into, &r->trials, r->lost, error))
        return false;
    g_autoptr(GPtrArray) missing = orch_salvage_missing(into, &r->salvage, error);
    if (!missing)
        return false;
    list_lost(r, missing);
    return true;
}

static void remove_store(const char *path)
{
    for (size_t i = 0; i < G_N_ELEMENTS(ENDINGS); i++) {
        g_autofree char *name = g_strconcat(path, ENDINGS[i], NULL);
        unlink(name);
    }
}

/* Writes a temporary file and renames it, so a file with the final name is complete. */
static bool write_new(struct orch_rescue *r, GError **error)
{
    if (access(r->to, F_OK) == 0) {
        orch_error_set(error, ORCH_ERROR_IO, "choose another name with --to",
                       "cannot repair into '%s': it exists already", r->to);
        return false;
    }
    g_autofree char *temporary = orch_temporary_name(r->to);
    struct orch_store *into = orch_salvage_open(temporary, r->path, error);
    bool ok = into && salvage_into(r, into, error);
    orch_store_close(into);
    if (ok && rename(temporary, r->to) != 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot write '%s'", r->to);
        ok = false;
    }
    remove_store(temporary);
    return ok;
}

bool orch_rescue_store(const char *path, const char *to, struct orch_rescue *out, GError **error)
{
    *out = (struct orch_rescue){.path = g_strdup(path),
                                .to = to ? g_strdup(to) : g_strconcat(path, ".repaired", NULL),
                                .lost = g_ptr_array_new_with_free_func(g_free)};
    orch_salvage_init(&out->salvage);
    return write_new(out, error);
}

void orch_rescue_clear(struct orch_rescue *rescue)
{
    orch_salvage_clear(&rescue->salvage);
    g_ptr_array_unref(rescue->lost);
    g_free(rescue->path);
    g_free(rescue->to);
    *rescue = (struct orch_rescue){0};
}

GPtrArray *orch_rescue_old_files(const struct orch_rescue *rescue)
{
    GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
    for (size_t i = 0; i < G_N_ELEMENTS(ENDINGS); i++) {
        char *name = g_strconcat(rescue->path, ENDINGS[i], NULL);
        if (access(name, F_OK) == 0)
            g_ptr_array_add(files, name);
        else
            g_free(name);
    }
    return files;
}
