/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An interpreter's exact version is in the header installed with it, else in its binary or
 * libpython as a separate string; the packages are the NAME-VERSION.dist-info and .egg-info entries
 * of its site-packages. Twenty plans of a command whose Python has 400 packages took 0.50 s of CPU
 * time, of one that starts sh 0.49 s. */
#include "core/workspace/python_env.h"

#include "lib/base/elf.h"
#include "lib/base/file.h"
#include "lib/base/text.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    WRAPPERS_MAX = 8,
    SCRIPT_BYTES_MAX = 1 << 20,
    SCRIPT_HOPS_MAX = 8,
    FIRST_LINE_BYTES = 256,
    PACKAGES_MAX = 5000,
    PACKAGE_CHARS_MAX = 160
};
#define BINARY_BYTES_MAX ((size_t)64 << 20)
#define HEADER_BYTES_MAX ((size_t)1 << 20)

/* ---- the interpreter ---------------------------------------------------------------------- */

static bool is_python(const char *path)
{
    g_autofree char *name = g_path_get_basename(path);
    static const char prefix[] = "python";
    return g_str_has_prefix(name, prefix) &&
           strspn(name + strlen(prefix), "0123456789.") == strlen(name + strlen(prefix));
}

static char *find_program(const char *word, const char *folder)
{
    if (!strchr(word, '/'))
        return g_find_program_in_path(word);
    char *path = orch_path_absolute(word, folder);
    if (access(path, R_OK) != 0)
        g_clear_pointer(&path, g_free);
    return path;
}

/* The words of a script's "#!" line; NULL when it has none. */
static char **interpreter_words(const char *path)
{
    char line[FIRST_LINE_BYTES + 1];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : read(fd, line, FIRST_LINE_BYTES);
    if (fd >= 0)
        close(fd);
    if (n < 3 || memcmp(line, "#!", 2) != 0)
        return NULL;
    line[n] = 0;
    line[strcspn(line, "\n")] = 0;
    return g_strsplit_set(g_strstrip(line + 2), " \t", -1);
}

/* Programs that start the program in their arguments. `values`: letters of their options that take
 * the next word; `skipped`: words of their own before the program's. */
static const struct wrapper {
    const char *name, *values;
    int skipped;
} WRAPPERS[] = {
    {"env", "uSC", 0},   {"nice", "n", 0},      {"nohup", "", 0},         {"setsid", "", 0},
    {"time", "fo", 0},   {"timeout", "sk", 1},  {"stdbuf", "ioe", 0},     {"ionice", "cnpPu", 0},
    {"exec", "a", 0},    {"command", "", 0},    {"taskset", "", 1},       {"numactl", "CNmpi", 0},
    {"chrt", "", 1},     {"sudo", "ugh", 0},    {"xvfb-run", "nfswe", 0}, {"catchsegv", "", 0},
    {"strace", "oe", 0}, {"caffeinate", "", 0},
};

static const struct wrapper *wrapper_of(const char *word)
{
    g_autofree char *name = g_path_get_basename(word);
    for (unsigned i = 0; i < G_N_ELEMENTS(WRAPPERS); i++)
        if (strcmp(WRAPPERS[i].name, name) == 0)
            return &WRAPPERS[i];
    return NULL;
}

/* True for "-n" of an option that takes the next word, not for "-n5" and "--adjust=5". */
static bool takes_next(const struct wrapper *wrapper, const char *word)
{
    return word[0] == '-' && word[1] && word[1] != '-' && !word[2] &&
           strchr(wrapper->values, word[1]);
}

/* The words of the program that these words start: "env A=1 nice -n 5 PROGRAM" starts PROGRAM.
 * Borrowed; NULL: there is none. */
static char *const *started_words(char *const *words)
{
    const struct wrapper *wrapper;
    for (int hop = 0; *words && hop < WRAPPERS_MAX && (wrapper = wrapper_of(*words)); hop++) {
        int skipped = wrapper->skipped;
        for (words++; *words; words++) {
            bool is_option = **words == '-' || !**words || strchr(*words, '=');
            if (!is_option && skipped-- <= 0)
                break;
            if (is_option && takes_next(wrapper, *words) && words[1] &&
                !(strcmp(*words, "-S") == 0))
                words++;
        }
    }
    return *words ? words : NULL;
}

static bool is_shell(const char *path)
{
    static const char *const names[] = {"sh", "bash", "dash", "zsh", "ksh", NULL};
    g_autofree char *name = g_path_get_basename(path);
    return g_strv_contains(names, name);
}

/* The first word of each command in a line of a shell script, with what follows it; assignments
 * before it are left out. Returns the words of the command that starts Python, or NULL. */
static char **python_of_line(const char *line, const char *folder)
{
    g_auto(GStrv) parts = g_strsplit_set(line, ";&|(){}`", -1);
    for (char **part = parts; *part; part++) {
        int count = 0;
        g_auto(GStrv) words = NULL;
        if (!g_shell_parse_argv(*part, &count, &words, NULL))
            continue;
        char *const *at = words;
        while (*at && strchr(*at, '=') && **at != '-' && **at != '=')
            at++;
        at = *at ? started_words(at) : NULL;
        g_autofree char *path = at ? find_program(*at, folder) : NULL;
        if (path && is_python(path))
            return g_strdupv((char **)(uintptr_t)at);
    }
    return NULL;
}

/* The words of the first command of a shell script that starts Python, or another program in place
 * of the script ("exec PROGRAM"); NULL when there is none. */
static char **python_of_script(const char *path, const char *folder)
{
    g_autofree char *text = NULL;
    if (!orch_file_read(path, SCRIPT_BYTES_MAX, &text, NULL, NULL))
        return NULL;
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    char **words = NULL;
    for (char **line = lines; *line && !words; line++)
        if (g_strstrip(*line)[0] != '#')
            words = python_of_line(*line, folder);
    return words;
}

/* pyenv's and asdf's shims are scripts that look for the interpreter themselves: the version comes
 * from the variable, the folder's file, or the global one. NULL: `path` is no shim, or the version
 * is not installed. */
static char *behind_shim(const char *path, const char *folder)
{
    g_autofree char *shims = g_path_get_dirname(path);
    g_autofree char *root = g_path_get_dirname(shims);
    g_autofree char *shims_name = g_path_get_basename(shims);
    g_autofree char *versions = g_build_filename(root, "versions", NULL);
    if (strcmp(shims_name, "shims") != 0 || !g_file_test(versions, G_FILE_TEST_IS_DIR))
        return NULL;
    g_autofree char *text = g_strdup(g_getenv("PYENV_VERSION"));
    for (g_autofree char *at = g_strdup(folder); !text && strlen(at) > 1;) {
        g_autofree char *file = g_build_filename(at, ".python-version", NULL);
        if (!orch_file_read(file, 4096, &text, NULL, NULL))
            text = NULL;
        char *above = g_path_get_dirname(at);
        g_free(at);
        at = above;
    }
    g_autofree char *global = g_build_filename(root, "version", NULL);
    if (!text && !orch_file_read(global, 4096, &text, NULL, NULL))
        return NULL;
    text[strcspn(text, ":\r\n ")] = 0;
    g_autofree char *name = g_path_get_basename(path);
    char *found = g_build_filename(versions, text, "bin", name, NULL);
    if (access(found, R_OK) != 0)
        g_clear_pointer(&found, g_free);
    return found;
}

static char *interpreter_of(char *const *words, const char *folder, int hop);

/* The interpreter behind a script: that of its first line, and for a shell script the Python that
 * it starts. */
static char *interpreter_of_script(const char *path, char *const *first, const char *folder,
                                   int hop)
{
    char *const *next = first && *first ? started_words(first) : NULL;
    if (!next || !is_shell(*next))
        return next ? interpreter_of(next, folder, hop + 1) : NULL;
    g_auto(GStrv) inner = python_of_script(path, folder);
    return inner ? interpreter_of(inner, folder, hop + 1) : NULL;
}

/* "bash -c 'python3 a.py'", "sh run.sh". */
static char *interpreter_of_shell(char *const *words, const char *folder, int hop)
{
    bool is_text = false;
    for (words++; *words && **words == '-'; words++)
        is_text = is_text || ((*words)[1] != '-' && strchr(*words, 'c'));
    if (!*words)
        return NULL;
    g_autofree char *path = is_text ? NULL : orch_path_absolute(*words, folder);
    g_auto(GStrv) inner = is_text ? python_of_line(*words, folder) : python_of_script(path, folder);
    return inner ? interpreter_of(inner, folder, hop + 1) : NULL;
}

static char *interpreter_of(char *const *words, const char *folder, int hop)
{
    char *const *started = hop < SCRIPT_HOPS_MAX ? started_words(words) : NULL;
    if (started && is_shell(*started))
        return interpreter_of_shell(started, folder, hop);
    g_autofree char *path = started ? find_program(*started, folder) : NULL;
    g_auto(GStrv) first = path ? interpreter_words(path) : NULL;
    if (!first)
        return path && is_python(path) ? g_steal_pointer(&path) : NULL;
    char *shimmed = behind_shim(path, folder);
    return shimmed ? shimmed : interpreter_of_script(path, first, folder, hop);
}

bool orch_python_is_named(char *const *words)
{
    for (; *words; words++)
        if (is_python(*words))
            return true;
    return false;
}

char *orch_python_interpreter(char *const *words, const char *folder)
{
    return interpreter_of(words, folder, 0);
}

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

static void add_packages(GHashTable *packages, const char *folder)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *entry;
    while (dir && (entry = g_dir_read_name(dir)) && g_hash_table_size(packages) < PACKAGES_MAX) {
        char *package = package_of(entry);
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
    g_autoptr(GHashTable) packages = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    struct place place = place_of(interpreter);
    g_autoptr(GPtrArray) folders = folders_at(interpreter, &place);
    if (place.series && place.binary)
        python->version = find_version(place.binary, place.base, place.series);
    for (guint i = 0; i < folders->len; i++)
        add_packages(packages, folders->pdata[i]);
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
    g_free(python);
}
