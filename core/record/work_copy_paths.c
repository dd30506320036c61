/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Editable installs are found by reading files: NAME.pth lists folders, and
 * __editable___NAME_finder.py has a dictionary of modules and their places. The finders of
 * setuptools come after the folders of PYTHONPATH, so that a folder there that holds a module of
 * that name is used instead. */
#include "core/record/work_copy_paths.h"

#include "core/inputs/inputs.h"
#include "core/recipe/trial_environment.h"
#include "core/workspace/python_env.h"
#include "core/workspace/python_interpreter.h"
#include "core/workspace/uncaptured.h"
#include "lib/base/file.h"
#include "lib/base/mount_space.h"

#include <string.h>

enum { INSTALL_FILES_MAX = 2000, TEXT_BYTES_MAX = 1 << 20, PATHS_MAX = 200 };

static void add_once(GPtrArray *list, char *text)
{
    if (list->len < PATHS_MAX && !g_ptr_array_find_with_equal_func(list, text, g_str_equal, NULL))
        g_ptr_array_add(list, text);
    else
        g_free(text);
}

/* ---- editable installs ------------------------------------------------------------------------
 */

static void read_pth(const char *origin, const char *text, GPtrArray *folders)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (int i = 0; lines[i]; i++) {
        const char *relative = orch_path_within(g_strstrip(lines[i]), origin);
        if (relative)
            add_once(folders, g_strdup(relative));
    }
}

/* Reads 'module': '/place/of/module' pairs. */
static void read_finder(const char *origin, const char *text, GPtrArray *folders, GPtrArray *faults)
{
    g_autoptr(GRegex) pair = g_regex_new("'([A-Za-z_][\\w.]*)': *'([^']*)'", 0, 0, NULL);
    g_autoptr(GMatchInfo) match = NULL;
    for (g_regex_match(pair, text, 0, &match); g_match_info_matches(match);
         g_match_info_next(match, NULL)) {
        g_autofree char *module = g_match_info_fetch(match, 1);
        g_autofree char *place = g_match_info_fetch(match, 2);
        const char *relative = orch_path_within(place, origin);
        if (!relative || !*relative)
            continue;
        g_autofree char *name = g_path_get_basename(relative);
        g_autofree char *folder = g_path_get_dirname(relative);
        if (strcmp(name, module) == 0 || g_str_has_prefix(name, module))
            add_once(folders, g_strdup(strcmp(folder, ".") == 0 ? "" : folder));
        else if (faults)
            add_once(faults, g_strdup_printf("package '%s' is installed in place from '%s'", module,
                                             relative));
    }
}

static void read_installs(const char *origin, const char *site, GPtrArray *folders,
                          GPtrArray *faults)
{
    g_autoptr(GDir) dir = g_dir_open(site, 0, NULL);
    const char *name;
    for (int left = INSTALL_FILES_MAX; dir && left && (name = g_dir_read_name(dir)); left--) {
        bool is_pth = g_str_has_suffix(name, ".pth");
        bool is_finder =
            g_str_has_prefix(name, "__editable__") && g_str_has_suffix(name, "_finder.py");
        g_autofree char *path = g_build_filename(site, name, NULL);
        g_autofree char *text = NULL;
        if ((!is_pth && !is_finder) || !orch_file_read(path, TEXT_BYTES_MAX, &text, NULL, NULL))
            continue;
        if (is_pth)
            read_pth(origin, text, folders);
        else
            read_finder(origin, text, folders, faults);
    }
}

GPtrArray *orch_redirect_python(const struct orch_plan *plan,
                                const struct orch_experiment *experiment, GPtrArray *faults)
{
    const char *origin = orch_workspace_origin(plan->workspace);
    GPtrArray *folders = g_ptr_array_new_with_free_func(g_free);
    char *const *argv = experiment->manifest->argv;
    g_autofree char *home = orch_experiment_folder(plan->expansion, experiment);
    g_autofree char *interpreter = experiment->environment
                                       ? orch_trial_environment_python(experiment->environment)
                                   : argv && argv[0] ? orch_python_interpreter(argv, home)
                                                     : NULL;
    g_autoptr(GPtrArray) sites = interpreter ? orch_python_folders(interpreter) : NULL;
    for (guint i = 0; sites && i < sites->len; i++)
        read_installs(origin, sites->pdata[i], folders, faults);
    return folders;
}

/* ---- what is left -----------------------------------------------------------------------------
 */

/* True when the path leads to something that a copy shares with the work tree anyhow. */
static bool is_shared(const struct orch_plan *plan, const char *relative)
{
    const struct orch_workspace *workspace = plan->workspace;
    const struct orch_uncaptured *uncaptured =
        (workspace->base ? workspace->base : workspace)->uncaptured;
    for (guint i = 0; uncaptured && i < uncaptured->paths->len; i++) {
        const char *path = uncaptured->paths->pdata[i];
        size_t n = strlen(path);
        if (strncmp(relative, path, n) == 0 && (relative[n] == '/' || !relative[n]))
            return true;
    }
    return false;
}

static void look_at_environment(const struct orch_plan *plan, GPtrArray *faults)
{
    static const char *const known[] = {"PYTHONPATH",        "PATH", "LD_LIBRARY_PATH",
                                        "CMAKE_PREFIX_PATH", "PWD",  "OLDPWD",
                                        "ORCH_DB",           NULL};
    const char *origin = orch_workspace_origin(plan->workspace);
    g_auto(GStrv) env = g_get_environ();
    for (int i = 0; env[i]; i++) {
        g_autofree char *name = g_strndup(env[i], strcspn(env[i], "="));
        const char *found = strstr(env[i] + strlen(name), origin);
        const char *relative = found ? orch_path_within(found, origin) : NULL;
        if (relative && !g_strv_contains(known, name) && !is_shared(plan, relative))
            add_once(faults,
                     g_strdup_printf("the environment variable %s names '%s'", name, origin));
    }
}

static void look_at_texts(struct orch_plan *plan, const struct orch_experiment *experiment,
                          GPtrArray *faults)
{
    const char *origin = orch_workspace_origin(plan->workspace);
    g_autofree char *with_slash = g_strconcat(origin, "/", NULL);
    g_autoptr(GPtrArray) paths = orch_inputs_paths(plan->inputs, experiment, NULL);
    for (guint i = 0; paths && i < paths->len; i++) {
        g_autofree char *path = g_build_filename(plan->workspace->root, paths->pdata[i], NULL);
        g_autofree char *text = NULL;
        size_t length;
        if (orch_file_read(path, TEXT_BYTES_MAX, &text, &length, NULL) &&
            g_strstr_len(text, (gssize)length, with_slash))
            add_once(faults,
                     g_strdup_printf("%s names the path '%s'", (char *)paths->pdata[i], origin));
    }
}

GPtrArray *orch_redirect_faults(struct orch_plan *plan, const struct orch_experiment *experiment)
{
    GPtrArray *faults = g_ptr_array_new_with_free_func(g_free);
    const struct orch_source *source = plan->workspace->source;
    if (orch_mount_space_is_allowed() || !source || !source->tree)
        return faults;
    /* making the copy lists what it shares with the work tree */
    g_free(orch_workspace_copy(plan->workspace, source->tree, NULL));
    g_autoptr(GPtrArray) folders = orch_redirect_python(plan, experiment, faults);
    look_at_environment(plan, faults);
    look_at_texts(plan, experiment, faults);
    return faults;
}
