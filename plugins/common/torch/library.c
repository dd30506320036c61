/* SPDX-License-Identifier: MIT */
/* dlopen looks each symbol of each new library up in the library that was named, then in all that
 * it needs, breadth first: a symbol that the last of 300 libraries defines for itself is looked for
 * in the 299 before it. A library that is opened by itself is looked up in itself first, and when
 * others need it later, its symbols are bound. So the libraries are opened in the order of their
 * needs, those that need none first. Debian's LibTorch needs 285 libraries, most of them through
 * OpenCV: this way it loads in two thirds of the time.
 *
 * A library whose symbols are found elsewhere (in the program, or only in a library that needs it)
 * fails to open by itself, which is ignored: it is opened together with the one that needs it. */
#include "plugins/common/torch/library.h"

#include "lib/base/elf.h"

#include <dlfcn.h>
#include <elf.h>
#include <glib.h>
#include <string.h>

/* The folders where a library's own needs are looked for: its DT_RUNPATH, then its own folder. */
static GPtrArray *folders_of(const char *path, GMappedFile *file)
{
    GPtrArray *folders = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *own = g_path_get_dirname(path);
    g_auto(GStrv) texts = orch_elf_dynamic_texts(g_mapped_file_get_contents(file),
                                                 g_mapped_file_get_length(file), DT_RUNPATH);
    for (char **text = texts; *text; text++) {
        g_auto(GStrv) parts = g_strsplit(*text, ":", -1);
        for (char **part = parts; *part; part++)
            if (g_str_has_prefix(*part, "$ORIGIN"))
                g_ptr_array_add(folders, g_strconcat(own, *part + strlen("$ORIGIN"), NULL));
            else if (g_path_is_absolute(*part))
                g_ptr_array_add(folders, g_strdup(*part));
    }
    g_ptr_array_add(folders, g_steal_pointer(&own));
    return folders;
}

/* The library of that name in the first folder that has it; NULL if none has. Caller frees. */
static char *find_library(const char *name, const GPtrArray *folders)
{
    for (unsigned i = 0; i < folders->len; i++) {
        char *path = g_build_filename(folders->pdata[i], name, NULL);
        if (g_file_test(path, G_FILE_TEST_EXISTS))
            return path;
        g_free(path);
    }
    return NULL;
}

/* Opens what the library at `path` needs. `seen` has the paths that were looked at. */
static void open_needed(const char *path, GHashTable *seen)
{
    g_autoptr(GMappedFile) file = g_mapped_file_new(path, FALSE, NULL);
    if (!file)
        return;
    g_autoptr(GPtrArray) folders = folders_of(path, file);
    g_auto(GStrv) names = orch_elf_dynamic_texts(g_mapped_file_get_contents(file),
                                                 g_mapped_file_get_length(file), DT_NEEDED);
    for (char **name = names; *name; name++) {
        char *needed = find_library(*name, folders);
        /* g_hash_table_add would free an equal key, which a caller further up still uses */
        if (!needed || g_hash_table_contains(seen, needed)) {
            g_free(needed);
            continue;
        }
        g_hash_table_add(seen, needed);
        open_needed(needed, seen);
        dlopen(needed, RTLD_NOW | RTLD_LOCAL);
    }
}

void *orch_library_open(const char *path)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    open_needed(path, seen);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}
