/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files are read, and nothing is executed: dpkg's status, and the names of the files in conda-meta.
 * Those files themselves, which have a package's URL, are read only when a list is written. */
#include "core/workspace/package_lists.h"

#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>
#include <unistd.h>

enum { LIST_BYTES_MAX = 4 << 20, STATUS_BYTES_MAX = 64 << 20, META_BYTES_MAX = 32 << 20 };

const char *const ORCH_PACKAGE_LIST_FACTS[ORCH_PACKAGE_LISTS] = {"packages", "conda", "apt"};
static const char *const ENDINGS[ORCH_PACKAGE_LISTS] = {"txt", "conda", "apt"};

bool orch_package_list_is_fact(const char *name)
{
    for (unsigned i = 0; i < ORCH_PACKAGE_LISTS; i++)
        if (strcmp(name, ORCH_PACKAGE_LIST_FACTS[i]) == 0)
            return true;
    return false;
}

/* ---- what is installed ------------------------------------------------------------------------
 */

/* The value of a field of a paragraph, up to the end of its line. The caller frees. */
static char *field_of(const char *paragraph, const char *name)
{
    g_autofree char *begin = g_strdup_printf("\n%s: ", name);
    const char *at = strstr(paragraph, begin);
    return at ? g_strndup(at + strlen(begin), strcspn(at + strlen(begin), "\n")) : NULL;
}

GPtrArray *orch_packages_of_dpkg(const char *root)
{
    g_autofree char *path = g_strconcat(root, "/var/lib/dpkg/status", NULL), *text = NULL;
    if (!orch_file_read(path, STATUS_BYTES_MAX, &text, NULL, NULL))
        return NULL;
    GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
    g_auto(GStrv) paragraphs = g_strsplit(text, "\n\n", -1);
    for (char **at = paragraphs; *at; at++) {
        g_autofree char *paragraph = g_strconcat("\n", *at, NULL);
        g_autofree char *name = field_of(paragraph, "Package");
        g_autofree char *version = field_of(paragraph, "Version");
        g_autofree char *arch = field_of(paragraph, "Architecture");
        g_autofree char *status = field_of(paragraph, "Status");
        if (name && version && status && g_str_has_suffix(status, " installed"))
            g_ptr_array_add(lines, g_strdup_printf("%s%s%s %s", name, arch ? ":" : "",
                                                   arch ? arch : "", version));
    }
    g_ptr_array_sort(lines, orch_compare_texts);
    return lines;
}

static char *meta_path(const char *prefix, const char *name)
{
    return g_build_filename(prefix, "conda-meta", name, NULL);
}

GPtrArray *orch_packages_of_conda(const char *prefix)
{
    g_autofree char *folder = meta_path(prefix, NULL);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    GPtrArray *lines = dir ? g_ptr_array_new_with_free_func(g_free) : NULL;
    const char *entry;
    while (dir && (entry = g_dir_read_name(dir)))
        if (g_str_has_suffix(entry, ".json"))
            g_ptr_array_add(lines, g_strndup(entry, strlen(entry) - strlen(".json")));
    if (lines)
        g_ptr_array_sort(lines, orch_compare_texts);
    return lines;
}

void orch_packages_digest(const GPtrArray *packages, char out[65])
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < packages->len; i++)
        g_string_append_printf(text, "%s\n", (char *)packages->pdata[i]);
    orch_sha256(text->str, text->len, out);
}

/* ---- lists in the store's folder --------------------------------------------------------------
 */

static char *list_path(const char *store_folder, enum orch_package_list list, const char *sha256)
{
    g_autofree char *name = g_strdup_printf("%s.%s", sha256, ENDINGS[list]);
    return g_build_filename(store_folder, "environments", name, NULL);
}

/* Appends a tab and URL#MD5 of a package, as `conda create --file` reads it after the line
 * @EXPLICIT. */
static void add_conda_source(GString *text, const char *prefix, const char *package)
{
    g_autofree char *name = g_strconcat(package, ".json", NULL), *bytes = NULL;
    g_autofree char *path = meta_path(prefix, name);
    size_t length;
    if (!orch_file_read(path, META_BYTES_MAX, &bytes, &length, NULL))
        return;
    g_autoptr(json_t) meta = orch_json_parse(bytes, length, META_BYTES_MAX, NULL);
    const char *url = orch_json_text(meta, "url", NULL), *md5 = orch_json_text(meta, "md5", NULL);
    if (url && !strpbrk(url, " \t\n"))
        g_string_append_printf(text, "\t%s%s%s", url, md5 ? "#" : "", md5 ? md5 : "");
}

void orch_packages_keep(const char *store_folder, enum orch_package_list list,
                        const GPtrArray *packages, const char *prefix, GHashTable *of_dpkg)
{
    char sha256[ORCH_SHA256_CHARS];
    orch_packages_digest(packages, sha256);
    g_autofree char *path = list_path(store_folder, list, sha256);
    g_autofree char *folder = g_path_get_dirname(path);
    if (access(path, F_OK) == 0 || !orch_dir_make(folder, NULL))
        return;
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < packages->len; i++) {
        g_string_append(text, packages->pdata[i]);
        if (prefix)
            add_conda_source(text, prefix, packages->pdata[i]);
        if (of_dpkg && g_hash_table_contains(of_dpkg, packages->pdata[i]))
            g_string_append(text, "\tdpkg");
        g_string_append_c(text, '\n');
    }
    orch_file_write(path, text->str, text->len, false, NULL);
}

GPtrArray *orch_packages_read(const char *store_folder, enum orch_package_list list,
                              const json_t *environment)
{
    const char *sha256 = orch_json_text(environment, ORCH_PACKAGE_LIST_FACTS[list], NULL);
    g_autofree char *text = NULL;
    char found[ORCH_SHA256_CHARS];
    if (!orch_sha256_is_valid(sha256))
        return NULL;
    g_autofree char *path = list_path(store_folder, list, sha256);
    if (!orch_file_read(path, LIST_BYTES_MAX, &text, NULL, NULL))
        return NULL;
    GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) packages = g_ptr_array_new_with_free_func(g_free);
    g_auto(GStrv) split = g_strsplit(text, "\n", -1);
    for (char **line = split; *line; line++) {
        if (!**line)
            continue;
        g_ptr_array_add(lines, g_strdup(*line));
        g_ptr_array_add(packages, g_strndup(*line, strcspn(*line, "\t")));
    }
    orch_packages_digest(packages, found);
    if (strcmp(found, sha256) == 0)
        return lines;
    g_ptr_array_unref(lines);
    return NULL;
}
