/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/onnx/onnxruntime.h"

#include "lib/base/subprocess.h"
#include "lib/base/text.h"

#include <string.h>
#include <unistd.h>

enum { PYTHONS_MAX = 8 };
#define PYTHON_S 20.0
#define LIBRARY "libonnxruntime.so"

static void free_place(void *place)
{
    struct orch_onnxruntime *o = place;
    g_free(o->path);
    g_free(o->from);
    g_free(o);
}

static void add_place(GPtrArray *places, const char *path, const char *from)
{
    struct orch_onnxruntime *place = g_new0(struct orch_onnxruntime, 1);
    place->path = g_strdup(path);
    place->from = g_strdup(from);
    g_ptr_array_add(places, place);
}

/* The library in a folder: libonnxruntime.so.1.21.0, where there are several the last by name.
 * Caller frees. */
static char *library_in(const char *folder)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    const char *name;
    while (dir && (name = g_dir_read_name(dir)))
        if (g_str_has_prefix(name, LIBRARY) && strchr(".", name[strlen(LIBRARY)]))
            g_ptr_array_add(names, g_strdup(name));
    g_ptr_array_sort(names, orch_compare_texts);
    return names->len ? g_build_filename(folder, names->pdata[names->len - 1], NULL) : NULL;
}

/* The folder of the package onnxruntime of an interpreter, or NULL. Caller frees. */
static char *package_of(const char *python)
{
    static const char program[] = "import importlib.util as u, os\n"
                                  "s = u.find_spec('onnxruntime')\n"
                                  "print(os.path.dirname(s.origin) if s and s.origin else '')";
    const char *const argv[] = {python, "-c", program, NULL};
    const struct orch_subprocess command = {
        .argv = argv, .timeout_s = PYTHON_S, .output_bytes_max = 1 << 16};
    struct orch_subprocess_end end = {0};
    if (!orch_subprocess_run(&command, &end, NULL))
        return NULL;
    char *folder = end.status == 0 ? g_strdup(g_strstrip(end.out->str)) : g_strdup("");
    orch_subprocess_end_clear(&end);
    if (!*folder)
        g_clear_pointer(&folder, g_free);
    return folder;
}

static void add_python(GPtrArray *places, GHashTable *seen, const char *folder)
{
    g_autofree char *python = g_build_filename(folder, "python3", NULL);
    if (g_hash_table_size(seen) >= PYTHONS_MAX || access(python, X_OK) != 0 ||
        !g_hash_table_add(seen, g_strdup(python)))
        return;
    g_autofree char *package = package_of(python);
    if (!package)
        return;
    g_autofree char *capi = g_build_filename(package, "capi", NULL);
    g_autofree char *library = library_in(capi);
    g_autofree char *from = g_strdup_printf("python3 %s", python);
    add_place(places, library, from);
}

/* The interpreters: of the active virtual environment, of $PATH, of conda, of the system. */
static void add_pythons(GPtrArray *places)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    const char *environment = g_getenv("VIRTUAL_ENV"), *conda = g_getenv("CONDA_PREFIX");
    g_auto(GStrv) path = g_strsplit(g_getenv("PATH") ? g_getenv("PATH") : "", ":", -1);
    if (environment) {
        g_autofree char *bin = g_build_filename(environment, "bin", NULL);
        add_python(places, seen, bin);
    }
    for (char **folder = path; *folder; folder++)
        if (g_path_is_absolute(*folder))
            add_python(places, seen, *folder);
    if (conda) {
        g_autofree char *bin = g_build_filename(conda, "bin", NULL);
        add_python(places, seen, bin);
    }
    add_python(places, seen, "/usr/bin");
}

static void add_folder(GPtrArray *places, const char *folder, const char *from)
{
    g_autofree char *library = library_in(folder);
    if (library)
        add_place(places, library, from);
}

/* Libraries that are no Python's: conda's own, those of $LD_LIBRARY_PATH and of the system. */
static void add_libraries(GPtrArray *places)
{
    static const char *const folders[] = {"/usr/local/lib", "/usr/lib64", "/usr/lib"};
    const char *conda = g_getenv("CONDA_PREFIX"), *named = g_getenv("LD_LIBRARY_PATH");
    g_auto(GStrv) path = g_strsplit(named ? named : "", ":", -1);
    g_autofree char *of_conda = conda ? g_build_filename(conda, "lib", NULL) : NULL;
    if (of_conda)
        add_folder(places, of_conda, "conda");
    for (char **folder = path; *folder; folder++)
        if (g_path_is_absolute(*folder))
            add_folder(places, *folder, "$LD_LIBRARY_PATH");
    for (unsigned i = 0; i < G_N_ELEMENTS(folders); i++)
        add_folder(places, folders[i], "the system");
    g_autoptr(GDir) dir = g_dir_open("/usr/lib", 0, NULL); /* Debian: /usr/lib/x86_64-linux-gnu */
    const char *name;
    while (dir && (name = g_dir_read_name(dir))) {
        g_autofree char *folder = g_build_filename("/usr/lib", name, NULL);
        if (strstr(name, "-linux-"))
            add_folder(places, folder, "the system");
    }
}

GPtrArray *orch_onnxruntime_find(void)
{
    GPtrArray *places = g_ptr_array_new_with_free_func(free_place);
    const char *named = g_getenv(ORCH_ONNXRUNTIME_VARIABLE);
    if (named && *named) {
        add_place(places, named, "$" ORCH_ONNXRUNTIME_VARIABLE);
        return places;
    }
    add_pythons(places);
    add_libraries(places);
    return places;
}
