/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the folders of other trackers. Sizes are bounded, and skipped files are reported. */
#include "features/imports/import_runs.h"

#include "lib/base/file.h"
#include "lib/base/text.h"

#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

enum { WARNINGS_MAX = 100, ENTRIES_MAX = 100000 };

void orch_import_warn(GPtrArray *warnings, const char *format, ...)
{
    if (warnings->len >= WARNINGS_MAX)
        return;
    va_list args;
    va_start(args, format);
    g_ptr_array_add(warnings, g_strdup_vprintf(format, args));
    va_end(args);
}

GPtrArray *orch_import_entries(const char *folder)
{
    GPtrArray *entries = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;
    while (dir && entries->len < ENTRIES_MAX && (name = g_dir_read_name(dir)))
        g_ptr_array_add(entries, g_strdup(name));
    g_ptr_array_sort(entries, orch_compare_texts);
    return entries;
}

bool orch_import_is_folder(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

char *orch_import_text(const char *path, size_t most, GPtrArray *warnings)
{
    g_autoptr(GError) problem = NULL;
    struct stat info;
    char *text = NULL;
    if (lstat(path, &info) != 0)
        return NULL;
    if (!S_ISREG(info.st_mode))
        orch_import_warn(warnings, "'%s' is not a file", path);
    else if (!orch_file_read(path, most, &text, NULL, &problem))
        orch_import_warn(warnings, "%s", problem->message);
    return text;
}
