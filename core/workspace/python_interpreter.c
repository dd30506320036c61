/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/workspace/python_interpreter.h"

#include "lib/base/file.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
    WRAPPERS_MAX = 8,
    SCRIPT_BYTES_MAX = 1 << 20,
    SCRIPT_HOPS_MAX = 8,
    FIRST_LINE_BYTES = 256,
};

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
