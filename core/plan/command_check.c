/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/plan/command_check.h"

#include "core/inputs/scripts.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"

#include <string.h>
#include <unistd.h>

enum {
    SCRIPT_BYTES_MAX = 1 << 20,
    NAMES_MAX = 1000, /* at most this many files of a folder are considered for "did you mean" */
};

struct command {
    const char *folder; /* where it starts */
    bool is_typed;      /* on a command line, not in a manifest */
};

static bool has_variable(const char *word)
{
    return strchr(word, '$') != NULL;
}

/* The text of a small file; NULL: it cannot be read. The caller frees. */
static char *text_of(const char *path)
{
    char *text = NULL;
    return orch_file_read(path, SCRIPT_BYTES_MAX, &text, NULL, NULL) ? text : NULL;
}

static bool has_windows_ends(const char *text)
{
    size_t line = strcspn(text, "\n");
    return line && text[line] == '\n' && text[line - 1] == '\r';
}

static bool complain_of_line_ends(const char *word, GError **error)
{
    g_autofree char *quoted = strchr(word, ' ') ? g_shell_quote(word) : g_strdup(word);
    g_autofree char *hint = g_strdup_printf("sed -i 's/\\r$//' %s", quoted);
    orch_error_set(error, ORCH_ERROR_USAGE, hint,
                   "'%s' has Windows line endings, which this system reads as part of each line",
                   word);
    return false;
}

/* Suggests the nearest file name next to the missing one ("did you mean 'train.py'?"), else says
 * where paths begin. */
static char *missing_hint(const char *folder, const char *word)
{
    g_autofree char *absolute = orch_path_absolute(word, folder);
    g_autofree char *place = g_path_get_dirname(absolute);
    g_autofree char *wanted = g_path_get_basename(absolute);
    g_autoptr(GDir) dir = g_dir_open(place, 0, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    const char *name;
    while (dir && names->len < NAMES_MAX && (name = g_dir_read_name(dir)))
        g_ptr_array_add(names, g_strdup(name));
    g_ptr_array_add(names, NULL);
    const char *near = orch_suggest(wanted, (const char *const *)names->pdata);
    return near ? g_strdup_printf("did you mean '%.*s%s'?", (int)(strlen(word) - strlen(wanted)),
                                  word, near)
                : g_strdup_printf("paths of a command begin at '%s'", folder);
}

/* ---- the program ------------------------------------------------------------------------------
 */

/* Checks that the interpreter of a "#!" line exists. */
static bool check_first_line(const char *word, const char *path, GError **error)
{
    g_autofree char *text = text_of(path);
    if (!text || strncmp(text, "#!", 2) != 0)
        return true;
    if (has_windows_ends(text))
        return complain_of_line_ends(word, error);
    const char *begin = text + 2 + strspn(text + 2, " \t");
    g_autofree char *interpreter = g_strndup(begin, strcspn(begin, " \t\r\n"));
    if (g_file_test(interpreter, G_FILE_TEST_IS_EXECUTABLE))
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE,
                   "correct the script's first line, for example '#!/usr/bin/env python3'",
                   "the first line of '%s' names the interpreter '%s', which does not exist", word,
                   interpreter);
    return false;
}

static bool complain_of_mode(const char *word, const char *path, GError **error)
{
    if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "name a program in that folder",
                       "cannot start '%s': it is a folder", word);
        return false;
    }
    bool is_python = orch_script_language_of(word) == ORCH_SCRIPT_PYTHON;
    bool is_shell = orch_script_language_of(word) == ORCH_SCRIPT_SHELL;
    g_autofree char *hint = g_strdup_printf(is_python  ? "put the interpreter before it: python3 %s"
                                            : is_shell ? "put the interpreter before it: sh %s"
                                                       : "chmod +x %s",
                                            word);
    orch_error_set(error, ORCH_ERROR_USAGE, hint, "cannot start '%s': it is not executable", word);
    return false;
}

/* Whether the first part of a line before its first blank is a program or a file. */
static bool begins_with_program(const char *folder, const char *line)
{
    g_autofree char *first = g_strndup(line, strcspn(line, " "));
    if (!*first || has_variable(first))
        return false;
    g_autofree char *path =
        strchr(first, '/') ? orch_path_absolute(first, folder) : g_find_program_in_path(first);
    return path && g_file_test(path, G_FILE_TEST_IS_REGULAR);
}

/* What to write instead of a whole line that stands in quotes; NULL when the word is none. The
 * caller frees. */
static char *line_hint(const struct command *command, const char *word)
{
    if (!strchr(word, ' ') || !begins_with_program(command->folder, word))
        return NULL;
    if (!command->is_typed)
        return g_strdup("write each of its words as an element of the list 'command'");
    g_autoptr(GString) line = g_string_new(word);
    g_string_replace(line, "${", "{", 0); /* as it was typed */
    if (!strpbrk(word, "|&;<>"))
        return g_strdup_printf("write its words without the quotes: -- %s", line->str);
    g_autofree char *quoted = g_shell_quote(line->str);
    return g_strdup_printf("pipes and redirections need a shell: bash -o pipefail -c %s", quoted);
}

/* Looks a program without a folder up on the PATH. */
static bool check_on_path(const struct command *command, const char *word, GError **error)
{
    g_autofree char *found = g_find_program_in_path(word);
    if (found)
        return true;
    g_autofree char *here = g_build_filename(command->folder, word, NULL);
    bool is_here = g_file_test(here, G_FILE_TEST_IS_REGULAR);
    g_autofree char *line = is_here ? NULL : line_hint(command, word);
    g_autofree char *hint = line ? g_steal_pointer(&line)
                            : is_here
                                ? g_strdup_printf("for the file of this folder write './%s'", word)
                                : g_strdup("check its spelling, or write its path");
    orch_error_set(error, ORCH_ERROR_USAGE, hint, "there is no program '%s' on the PATH", word);
    return false;
}

static bool check_program(const struct command *command, const char *word, GError **error)
{
    if (!strchr(word, '/'))
        return check_on_path(command, word, error);
    g_autofree char *path = orch_path_absolute(word, command->folder);
    if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
        g_autofree char *line = line_hint(command, word);
        g_autofree char *hint = line ? g_steal_pointer(&line) : missing_hint(command->folder, word);
        orch_error_set(error, ORCH_ERROR_USAGE, hint, "program '%s' does not exist", word);
        return false;
    }
    if (!g_file_test(path, G_FILE_TEST_IS_REGULAR) || access(path, X_OK) != 0)
        return complain_of_mode(word, path, error);
    return check_first_line(word, path, error);
}

/* ---- the script -------------------------------------------------------------------------------
 */

/* Programs that run the script given as their argument. A version may follow the name: python3.11.
 */
static const char *const RUNNERS[] = {
    "python", "pypy", "ipython", "sh",   "bash", "dash",     "zsh",        "ksh",      "Rscript",
    "julia",  "lua",  "node",    "perl", "ruby", "torchrun", "accelerate", "deepspeed"};

static bool is_runner(const char *word)
{
    g_autofree char *name = g_path_get_basename(word);
    name[strcspn(name, "0123456789.")] = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(RUNNERS); i++)
        if (strcmp(name, RUNNERS[i]) == 0)
            return true;
    return false;
}

static bool check_script(const char *folder, const char *word, GError **error)
{
    g_autofree char *path = orch_path_absolute(word, folder);
    if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
        g_autofree char *hint = missing_hint(folder, word);
        orch_error_set(error, ORCH_ERROR_USAGE, hint, "script '%s' does not exist", word);
        return false;
    }
    bool is_shell = orch_script_language_of(word) == ORCH_SCRIPT_SHELL;
    g_autofree char *text = is_shell ? text_of(path) : NULL;
    return !text || !has_windows_ends(text) || complain_of_line_ends(word, error);
}

/* The first argument of a runner that has the suffix of a script and is not the value of an option.
 */
static const char *script_of(char *const *argv)
{
    bool is_run = false;
    for (int i = 0; argv[i]; i++) {
        const char *before = i ? argv[i - 1] : "";
        if (is_run && (strcmp(before, "-c") == 0 || strcmp(before, "-m") == 0))
            return NULL;
        if (is_run && orch_script_language_of(argv[i]) != ORCH_SCRIPT_NONE)
            return argv[i][0] == '-' ? NULL : argv[i];
        is_run = is_run || is_runner(argv[i]);
    }
    return NULL;
}

static bool check_script_of(const char *folder, char *const *argv, GError **error)
{
    const char *script = script_of(argv);
    return !script || has_variable(script) || check_script(folder, script, error);
}

/* A line in quotes with a parameter, such as 'python3 t.py --lr {lr}', as the only word: its first
 * part is a program. */
static bool check_whole_line(const struct command *command, char *const *argv, GError **error)
{
    g_autofree char *hint = !argv[1] && has_variable(argv[0]) ? line_hint(command, argv[0]) : NULL;
    if (!hint)
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, hint, "there is no program '%s' on the PATH", argv[0]);
    return false;
}

/* Checks the words of a command (NULL-terminated) that will start in `folder`: the program and the
 * interpreter of its "#!" line exist and are executable; a script passed to an interpreter exists;
 * no shell script has Windows line endings. Words with variables are not checked. ORCH_ERROR_USAGE
 * names the word and gives a hint; `is_typed`: for a command line, otherwise for a manifest. */
static bool check_command(const char *folder, char *const *argv, bool is_typed, GError **error)
{
    const struct command command = {folder, is_typed};
    if (!argv || !argv[0] || (!has_variable(argv[0]) && !check_program(&command, argv[0], error)))
        return !argv || !argv[0];
    if (!check_whole_line(&command, argv, error))
        return false;
    return check_script_of(folder, argv, error);
}

bool orch_command_check_plan(const struct orch_plan *plan, GError **error)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    for (unsigned i = 0; i < plan->count; i++) {
        const struct orch_plan_item *item = &plan->items[i];
        const struct orch_experiment *experiment = item->cell->experiment;
        if (!orch_plan_will_run(item) || experiment->manifest->kind != ORCH_PLUGIN_WRAPPED ||
            !g_hash_table_add(seen, (gpointer)(uintptr_t)experiment))
            continue;
        g_autofree char *folder = orch_experiment_folder(plan->expansion, experiment);
        char *const *argv = experiment->manifest->argv;
        bool is_elsewhere = experiment->environment && argv; /* its programs are not here */
        if (is_elsewhere ? !check_script_of(folder, argv, error)
                         : !check_command(folder, argv, plan->expansion->is_ad_hoc, error))
            return false;
    }
    return true;
}
