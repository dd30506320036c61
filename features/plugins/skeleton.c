/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A template is a file whose name may begin with NAME; inside, @NAME@ is the plugin's name,
 * @INCLUDE@ the folder with orch/plugin.h, @PYTHON@ the one with the Python helper. Everything is
 * prepared before the first file is written. */
#include "features/plugins/skeleton.h"

#include "core/plugin/plugins.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/program_path.h"
#include "lib/base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TEMPLATE_BYTES_MAX = 65536 };

static const char *const LANGUAGES[] = {"c", "shell", "python", NULL};
static const char *const SKELETONS[] = {"vecadd", NULL};

/* The values of the placeholders in a template. */
struct words {
    const char *name, *include, *python;
};

struct output {
    char *path;
    char *text;
    bool is_executable;
};

static void output_free(void *pointer)
{
    struct output *output = pointer;
    g_free(output->path);
    g_free(output->text);
    g_free(output);
}

/* The folder with orch/plugin.h: in the source tree beside share, installed two above share/orch.
 */
static char *include_folder(const char *share)
{
    char *real = realpath(share, NULL);
    const char *const ways[] = {"../include", "../../include"};
    for (unsigned i = 0; real && i < G_N_ELEMENTS(ways); i++) {
        g_autofree char *folder = g_build_filename(real, ways[i], NULL);
        g_autofree char *header = g_build_filename(folder, "orch", "plugin.h", NULL);
        if (g_file_test(header, G_FILE_TEST_IS_REGULAR)) {
            free(real);
            return orch_path_absolute(folder, NULL);
        }
    }
    free(real);
    return g_strdup("/usr/include");
}

static char *fill_in(const char *text, const struct words *words)
{
    g_autoptr(GString) out = g_string_new(text);
    g_string_replace(out, "@NAME@", words->name, 0);
    g_string_replace(out, "@INCLUDE@", words->include, 0);
    g_string_replace(out, "@PYTHON@", words->python ? words->python : ".", 0);
    return g_strdup(out->str);
}

static struct output *read_template(const char *from, const char *file, const struct words *words,
                                    const char *folder, GError **error)
{
    g_autofree char *source = g_build_filename(from, file, NULL);
    g_autofree char *text = NULL;
    struct stat st;
    if (!orch_file_read(source, TEMPLATE_BYTES_MAX, &text, NULL, error))
        return NULL;
    g_autofree char *target = g_str_has_prefix(file, "NAME")
                                  ? g_strconcat(words->name, file + strlen("NAME"), NULL)
                                  : g_strdup(file);
    struct output *output = g_new0(struct output, 1);
    output->path = g_build_filename(folder, target, NULL);
    output->text = fill_in(text, words);
    output->is_executable = stat(source, &st) == 0 && st.st_mode & S_IXUSR;
    return output;
}

static gint compare_outputs(gconstpointer a, gconstpointer b)
{
    const struct output *x = *(struct output *const *)a, *y = *(struct output *const *)b;
    return strcmp(x->path, y->path);
}

/* All files of a language, filled in; NULL on error. */
static GPtrArray *prepare(const char *name, const char *language, const char *folder,
                          GError **error)
{
    g_autofree char *share = orch_program_path("share", error);
    if (!share)
        return NULL;
    g_autofree char *include = include_folder(share);
    g_autofree char *python = orch_plugins_python_path();
    const struct words words = {name, include, python};
    g_autofree char *from = g_build_filename(share, "templates", language, NULL);
    g_autoptr(GError) cause = NULL;
    GDir *dir = g_dir_open(from, 0, &cause);
    if (!dir) {
        orch_error_set(error, ORCH_ERROR_IO,
                       "orch may be installed incompletely: see 'orch doctor'", "%s",
                       cause->message);
        return NULL;
    }
    GPtrArray *outputs = g_ptr_array_new_with_free_func(output_free);
    const char *file;
    while (outputs && (file = g_dir_read_name(dir))) {
        if (strcmp(file, "__pycache__") == 0) /* pip compiles what it installs */
            continue;
        struct output *output = read_template(from, file, &words, folder, error);
        if (output)
            g_ptr_array_add(outputs, output);
        else
            g_clear_pointer(&outputs, g_ptr_array_unref);
    }
    g_dir_close(dir);
    if (outputs)
        g_ptr_array_sort(outputs, compare_outputs);
    return outputs;
}

static bool nothing_is_there(const GPtrArray *outputs, GError **error)
{
    for (guint i = 0; i < outputs->len; i++) {
        const struct output *output = outputs->pdata[i];
        if (!g_file_test(output->path, G_FILE_TEST_EXISTS | G_FILE_TEST_IS_SYMLINK))
            continue;
        orch_error_set(error, ORCH_ERROR_USAGE, "choose another name or --dir",
                       "'%s' already exists, and was not overwritten", output->path);
        return false;
    }
    return true;
}

static bool write_output(const struct output *output, GError **error)
{
    if (!orch_file_write(output->path, output->text, strlen(output->text), false, error))
        return false;
    struct stat st;
    if (!output->is_executable)
        return true;
    if (stat(output->path, &st) == 0 &&
        chmod(output->path, (st.st_mode | ((st.st_mode & 0444) >> 2)) & 07777) == 0)
        return true;
    orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot make '%s' executable", output->path);
    return false;
}

/* Refuses a word that is not in the list; `what` stands before it in the message, `more` ends the
 * hint. */
static bool check_word(const char *what, const char *word, const char *const *known,
                       const char *more, GError **error)
{
    if (g_strv_contains(known, word))
        return true;
    g_autofree char *near = orch_suggest_hint(word, known);
    g_autofree char *words = g_strjoinv(", ", (char **)(uintptr_t)known);
    g_autofree char *list = g_strdup_printf("known %s %s%s", known[1] ? "are" : "is", words, more);
    orch_error_set(error, ORCH_ERROR_USAGE, near ? near : list, "unknown %s '%s'", what, word);
    return false;
}

static bool check_arguments(const char *name, const char *language, const char *skeleton,
                            GError **error)
{
    if (!orch_name_is_valid(name, true)) {
        orch_error_set(
            error, ORCH_ERROR_USAGE,
            "use a lower-case letter, then letters, digits, '_' and '-', at most 63 characters",
            "plugin name '%s' is not valid", name);
        return false;
    }
    return skeleton ? check_word("skeleton", skeleton, SKELETONS, "", error)
                    : check_word("language", language, LANGUAGES,
                                 "; for any other language start from shell", error);
}

GPtrArray *orch_skeleton_make(const char *name, const char *language, const char *skeleton,
                              const char *folder, GError **error)
{
    if (!check_arguments(name, language, skeleton, error))
        return NULL;
    g_autoptr(GPtrArray) outputs =
        prepare(name, skeleton ? skeleton : language, folder ? folder : name, error);
    if (!outputs || !nothing_is_there(outputs, error) ||
        !orch_dir_make(folder ? folder : name, error))
        return NULL;
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < outputs->len; i++) {
        const struct output *output = outputs->pdata[i];
        if (!write_output(output, error))
            return NULL;
        g_ptr_array_add(files, g_strdup(output->path));
    }
    return g_steal_pointer(&files);
}
