/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An interpreter's exact version is in the header installed with it, else in its binary or
 * libpython as a separate string; the packages are the NAME-VERSION.dist-info and .egg-info entries
 * of its site-packages. Twenty plans of a command whose Python has 400 packages took 0.50 s of CPU
 * time, of one that starts sh 0.49 s. */
#include "core/workspace/python_env.h"

#include "lib/base/elf.h"
#include "lib/base/file.h"
#include "lib/base/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { PACKAGES_MAX = 5000, PACKAGE_CHARS_MAX = 160 };
#define BINARY_BYTES_MAX ((size_t)64 << 20)
#define HEADER_BYTES_MAX ((size_t)1 << 20)

/* ---- its version -------------------------------------------------------------------------- */

static char *real_path(const char *path)
{
    char *found = realpath(path, NULL);
    char *copy = g_strdup(found);
    free(found);
    return copy;
}

/* Finds a string "3.11.DIGITS..." between two zero bytes. */
static char *version_in(const char *bytes, size_t length, const char *series)
{
    g_autofree char *begin = g_strconcat(series, ".", NULL);
    const char *at = bytes, *end = bytes + length;
    while ((at = memmem(at, (size_t)(end - at), begin, strlen(begin)))) {
        size_t n = strnlen(at, (size_t)MIN(end - at, 24));
        const char *patch = at + strlen(begin);
        bool is_alone = at > bytes && at[-1] == 0 && n < 24 && g_ascii_isdigit(*patch);
        if (is_alone && strspn(patch, "0123456789abrc+") == n - strlen(begin))
            return g_strndup(at, n);
        at = patch;
    }
    return NULL;
}

/* Reads `#define PY_VERSION "3.11.7"` from the header installed with the interpreter. */
static char *version_in_header(const char *prefix, const char *series)
{
    static const char mark[] = "#define PY_VERSION";
    g_autofree char *path = g_strdup_printf("%s/include/python%s/patchlevel.h", prefix, series);
    g_autofree char *text = NULL;
    if (!orch_file_read(path, HEADER_BYTES_MAX, &text, NULL, NULL))
        return NULL;
    for (const char *at = text; (at = strstr(at, mark)); at += strlen(mark)) {
        const char *value = at + strlen(mark);
        if (!g_ascii_isspace(*value)) /* it is another macro, such as PY_VERSION_HEX */
            continue;
        value += strspn(value, " \t");
        size_t length = *value == '"' ? strcspn(value + 1, "\"\n") : 0;
        bool is_of_series = length < 24 && g_str_has_prefix(value + 1, series);
        return length && is_of_series ? g_strndup(value + 1, length) : NULL;
    }
    return NULL;
}

/* "3.11" for /usr/bin/python3.11, or from the only lib/python3.* below the prefix. NULL: unknown.
 */
static char *series_of(const char *binary, const char *prefix)
{
    g_autofree char *name = g_path_get_basename(binary);
    const char *digits = name + strcspn(name, "0123456789");
    if (strchr(digits, '.'))
        return g_strdup(digits);
    g_autofree char *lib = g_build_filename(prefix, "lib", NULL);
    g_autoptr(GDir) dir = g_dir_open(lib, 0, NULL);
    const char *entry;
    while (dir && (entry = g_dir_read_name(dir)))
        if (g_str_has_prefix(entry, "python3."))
            return g_strdup(entry + strlen("python"));
    return NULL;
}

/* Reads the interpreter's code: the binary, or libpython where the binary is only a launcher. */
static char *read_code(const char *binary, const char *prefix, const char *series,
                       size_t *out_length)
{
    static const char *const folders[] = {"lib", "lib64"};
    char *bytes = NULL;
    for (unsigned i = 0; i < G_N_ELEMENTS(folders) && !bytes; i++) {
        g_autofree char *library =
            g_strdup_printf("%s/%s/libpython%s.so.1.0", prefix, folders[i], series);
        if (!orch_file_read(library, BINARY_BYTES_MAX, &bytes, out_length, NULL))
            bytes = NULL;
    }
    if (!bytes && !orch_file_read(binary, BINARY_BYTES_MAX, &bytes, out_length, NULL))
        bytes = NULL;
    return bytes;
}

/* "3.11.2"; when neither header nor code has the last number: "3.11 (build 0653b2a0)". */
static char *find_version(const char *binary, const char *prefix, const char *series)
{
    char *version = version_in_header(prefix, series);
    size_t length = 0;
    g_autofree char *code = version ? NULL : read_code(binary, prefix, series, &length);
    if (version || !code)
        return version;
    version = version_in(code, length, series);
    g_autofree char *id = version ? NULL : orch_elf_build_id(code, length);
    return version ? version : id ? g_strdup_printf("%s (build %.8s)", series, id) : NULL;
}

/* ---- its packages ------------------------------------------------------------------------- */

/* Converts "PyYAML-6.0.dist-info" to "pyyaml 6.0"; NULL when the entry is no package. */
static char *package_of(const char *entry)
{
    static const char *const endings[] = {".dist-info", ".egg-info"};
    const char *dash = strchr(entry, '-');
    for (unsigned i = 0; dash && i < G_N_ELEMENTS(endings); i++) {
        const char *ending = entry + strlen(entry) - MIN(strlen(entry), strlen(endings[i]));
        if (strcmp(ending, endings[i]) != 0 || dash >= ending || strlen(entry) > PACKAGE_CHARS_MAX)
            continue; /* the first '-' may be that of ".dist-info" */
        g_autofree char *name = g_ascii_strdown(entry, dash - entry);
        g_autofree char *version = g_strndup(dash + 1, (gsize)(ending - dash - 1));
        char *python = strstr(version, "-py"); /* "1.0-py3.11" */
        if (python)
            *python = 0;
        g_strdelimit(name, "_.", '-');
        g_autofree char *package = g_strdup_printf("%s %s", name, version);
        return g_utf8_make_valid(package, -1);
    }
    return NULL;
}

static void add_packages(GHashTable *packages, GHashTable *of_dpkg, const char *folder)
{
    bool is_of_dpkg = strcmp(folder, "/usr/lib/python3/dist-packages") == 0;
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *entry;
    while (dir && (entry = g_dir_read_name(dir)) && g_hash_table_size(packages) < PACKAGES_MAX) {
        char *package = package_of(entry);
        if (package && is_of_dpkg && !g_hash_table_contains(packages, package))
            g_hash_table_add(of_dpkg, g_strdup(package));
        if (package)
            g_hash_table_add(packages, package);
    }
}

/* Adds the package folders below a prefix. */
static void add_folders(GPtrArray *folders, const char *prefix, const char *series)
{
    static const char *const forms[] = {
        "%s/lib/python%s/site-packages", "%s/lib64/python%s/site-packages",
        "%s/lib/python%s/dist-packages", "%s/local/lib/python%s/dist-packages"};
    for (unsigned i = 0; i < G_N_ELEMENTS(forms); i++) {
        g_auto(GStrv) halves = g_strsplit(forms[i], "%s", 3);
        g_ptr_array_add(folders, g_strconcat(prefix, halves[1], series, halves[2], NULL));
    }
    g_ptr_array_add(folders, g_build_filename(prefix, "lib/python3/dist-packages", NULL));
}

/* The folder of the virtual environment that contains the interpreter, or NULL. `*out_sees_base`:
 * it also has the packages of the Python it was created from. */
static char *virtual_environment(const char *interpreter, bool *out_sees_base)
{
    g_autofree char *bin = g_path_get_dirname(interpreter);
    g_autofree char *prefix = g_path_get_dirname(bin);
    g_autofree char *config = g_build_filename(prefix, "pyvenv.cfg", NULL);
    g_autofree char *text = NULL;
    *out_sees_base = true;
    if (!orch_file_read(config, 65536, &text, NULL, NULL))
        return NULL;
    g_autofree char *lower = g_ascii_strdown(text, -1);
    const char *setting = strstr(lower, "include-system-site-packages");
    setting = setting ? strchr(setting, '=') : NULL;
    *out_sees_base = setting && strncmp(setting + 1 + strspn(setting + 1, " \t"), "true", 4) == 0;
    return g_steal_pointer(&prefix);
}

static void fill_packages(struct orch_python *python, GHashTable *packages)
{
    GHashTableIter iter;
    gpointer name;
    g_hash_table_iter_init(&iter, packages);
    while (g_hash_table_iter_next(&iter, &name, NULL))
        g_ptr_array_add(python->names, g_strdup(name));
    g_ptr_array_sort(python->names, orch_compare_texts);
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < python->names->len; i++)
        g_string_append_printf(text, "%s\n", (char *)python->names->pdata[i]);
    orch_sha256(text->str, text->len, python->sha256);
}

/* The interpreter's own binary and what is known from its place. */
struct place {
    char *binary, *base, *series; /* binary and series may be NULL */
};

static struct place place_of(const char *interpreter)
{
    char *binary = real_path(interpreter);
    g_autofree char *bin = g_path_get_dirname(binary ? binary : interpreter);
    char *base = g_path_get_dirname(bin);
    return (struct place){binary, base, series_of(binary ? binary : interpreter, base)};
}

static void clear_place(struct place *place)
{
    g_free(place->binary);
    g_free(place->base);
    g_free(place->series);
}

static GPtrArray *folders_at(const char *interpreter, const struct place *place)
{
    GPtrArray *folders = g_ptr_array_new_with_free_func(g_free);
    bool sees_base = true;
    g_autofree char *own = virtual_environment(interpreter, &sees_base);
    if (place->series && own)
        add_folders(folders, own, place->series);
    if (place->series && sees_base) {
        g_autofree char *users = g_build_filename(g_get_home_dir(), ".local", NULL);
        add_folders(folders, place->base, place->series);
        add_folders(folders, users, place->series);
    }
    return folders;
}

GPtrArray *orch_python_folders(const char *interpreter)
{
    struct place place = place_of(interpreter);
    GPtrArray *folders = folders_at(interpreter, &place);
    clear_place(&place);
    return folders;
}

struct orch_python *orch_python_read(const char *interpreter)
{
    struct orch_python *python = g_new0(struct orch_python, 1);
    python->names = g_ptr_array_new_with_free_func(g_free);
    python->of_dpkg = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) packages = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    struct place place = place_of(interpreter);
    g_autoptr(GPtrArray) folders = folders_at(interpreter, &place);
    if (place.series && place.binary)
        python->version = find_version(place.binary, place.base, place.series);
    for (guint i = 0; i < folders->len; i++)
        add_packages(packages, python->of_dpkg, folders->pdata[i]);
    clear_place(&place);
    fill_packages(python, packages);
    return python;
}

void orch_python_free(struct orch_python *python)
{
    if (!python)
        return;
    g_free(python->version);
    g_ptr_array_unref(python->names);
    g_hash_table_unref(python->of_dpkg);
    g_free(python);
}
