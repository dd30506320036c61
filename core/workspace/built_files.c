/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/workspace/built_files.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define ENTRIES_MAX 2000 /* of a folder that are looked at */

/* In a folder in which a program builds. */
static const char *const MARKS[] = {
    "CMakeCache.txt", "CMakeFiles",       "build.ninja",   ".ninja_log",
    "meson-private",  ".rustc_info.json", "config.status", NULL};
/* In a folder with libraries that were installed. */
static const char *const INSTALLED[] = {"pyvenv.cfg", "conda-meta", NULL};
static const char *const SUFFIXES[] = {".o", ".obj", ".lo", ".gch", NULL};

static bool has_any(const char *folder, const char *const *names)
{
    for (int i = 0; names[i]; i++) {
        g_autofree char *path = g_build_filename(folder, names[i], NULL);
        if (g_file_test(path, G_FILE_TEST_EXISTS))
            return true;
    }
    return false;
}

/* Programs, libraries and object files begin with these bytes. */
static bool is_machine_code(const char *path)
{
    char magic[8] = {0};
    FILE *file = fopen(path, "rbe");
    size_t count = file ? fread(magic, 1, sizeof magic, file) : 0;
    if (file)
        fclose(file);
    return count == sizeof magic &&
           (memcmp(magic, "\177ELF", 4) == 0 || memcmp(magic, "!<arch>\n", 8) == 0);
}

static bool is_built_file(const char *path)
{
    struct stat info;
    if (lstat(path, &info) != 0 || !S_ISREG(info.st_mode)) /* a pipe would block */
        return false;
    for (int i = 0; SUFFIXES[i]; i++)
        if (g_str_has_suffix(path, SUFFIXES[i]))
            return true;
    return is_machine_code(path);
}

static bool has_built_file(const char *folder)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;
    for (int left = ENTRIES_MAX; dir && left > 0 && (name = g_dir_read_name(dir)); left--) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        if (is_built_file(path))
            return true;
    }
    return false;
}

bool orch_is_built(const char *path)
{
    if (!g_file_test(path, G_FILE_TEST_IS_DIR))
        return is_built_file(path);
    if (g_str_has_suffix(path, "/__pycache__"))
        return true;
    return !has_any(path, INSTALLED) && (has_any(path, MARKS) || has_built_file(path));
}
