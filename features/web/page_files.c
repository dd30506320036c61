/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/web/page_files.h"

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <stdbool.h>

enum { DEPTH_MAX = 3 };

static const struct {
    const char *ending, *type;
} TYPES[] = {
    {".html", "text/html; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".svg", "image/svg+xml"},
    {".json", "application/json"},
    {".txt", "text/plain; charset=utf-8"},
};

static void free_file(gpointer data)
{
    struct web_file *file = data;
    g_bytes_unref(file->bytes);
    g_free(file->tag);
    g_free(file);
}

static const char *type_of(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(TYPES); i++)
        if (g_str_has_suffix(name, TYPES[i].ending))
            return TYPES[i].type;
    return NULL;
}

static bool read_file(GHashTable *files, const char *path, const char *url, GError **error)
{
    char *bytes, digest[ORCH_SHA256_CHARS];
    gsize length;
    if (!g_file_get_contents(path, &bytes, &length, error))
        return false;
    orch_sha256(bytes, length, digest);
    struct web_file *file = g_new0(struct web_file, 1);
    file->type = type_of(url);
    file->bytes = g_bytes_new_take(bytes, length);
    file->tag = g_strdup_printf("\"%.16s\"", digest);
    g_hash_table_insert(files, g_strdup(url), file);
    return true;
}

static bool read_folder(GHashTable *files, const char *folder, const char *url, int depth,
                        GError **error)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, error);
    const char *name;
    bool ok = dir != NULL;
    while (ok && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_autofree char *below = g_strdup_printf("%s/%s", url, name);
        if (g_file_test(path, G_FILE_TEST_IS_DIR))
            ok = depth == DEPTH_MAX || read_folder(files, path, below, depth + 1, error);
        else if (type_of(name))
            ok = read_file(files, path, below, error);
    }
    return ok;
}

GHashTable *orch_web_files_read(const char *folder, GError **error)
{
    GHashTable *files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_file);
    if (read_folder(files, folder, "", 0, error)) {
        if (g_hash_table_contains(files, "/index.html"))
            return files;
        orch_error_set(error, ORCH_ERROR_IO, "install orch again",
                       "the files of the page are missing in '%s'", folder);
    }
    g_hash_table_unref(files);
    return NULL;
}
