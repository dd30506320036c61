/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A script beside the sources does the compiling (plugins/common/torch/build_adapter.sh), so that
 * it can be read, and run by hand. It writes into a folder of its own, which takes the place of the
 * earlier one when it is complete: trials that run keep the file they have mapped. */
#include "core/plugin/adapter.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/program_parts.h"
#include "lib/base/program_path.h"
#include "lib/base/subprocess.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ADAPTER "orch-torch.so"
#define BUILD_S 1800.0 /* slow machines, busy ones */
enum { PLUGIN_BYTES_MAX = 64 << 20, COMPLAINT_LINES = 6 };

/* How the script ends, and what helps. */
enum { NO_TORCH = 3, NO_COMPILER = 4 };
static const struct {
    int status;
    const char *what, *hint;
} ENDS[] = {
    {NO_TORCH, "no PyTorch to build the LibTorch adapter for",
     "pip install torch, or name the Python that has it: --python PATH"},
    {NO_COMPILER, "no compiler to build the LibTorch adapter with",
     "install one (Debian: apt-get install g++; conda: cxx-compiler; a cluster: module load gcc)"},
};

bool orch_adapter_is_named(const char *path)
{
    g_autofree char *bytes = NULL;
    size_t length = 0;
    return orch_file_read(path, PLUGIN_BYTES_MAX, &bytes, &length, NULL) &&
           memmem(bytes, length, ADAPTER, strlen(ADAPTER));
}

void orch_adapter_built_clear(struct orch_adapter_built *built)
{
    g_free(built->path);
    g_free(built->torch);
    g_free(built->version);
    *built = (struct orch_adapter_built){0};
}

char *orch_adapter_python(const char *named, GError **error)
{
    const char *environment = g_getenv("VIRTUAL_ENV"), *own = g_getenv("ORCH_PYTHON");
    g_autofree char *active =
        environment ? g_build_filename(environment, "bin", "python3", NULL) : NULL;
    const char *const wanted[] = {named, active, own, "python3"};
    for (unsigned i = 0; i < G_N_ELEMENTS(wanted); i++) {
        char *found = wanted[i] && *wanted[i] ? g_find_program_in_path(wanted[i]) : NULL;
        if (found)
            return found;
        if (i == 0 && named)
            break;
    }
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, "name a Python: --python PATH", "no Python '%s'",
                   named ? named : "python3");
    return NULL;
}

static void set_failure(const struct orch_subprocess_end *end, GError **error)
{
    g_autofree char *said = orch_subprocess_complaint(end->err, COMPLAINT_LINES);
    for (unsigned i = 0; i < G_N_ELEMENTS(ENDS); i++)
        if (ENDS[i].status == end->status) {
            orch_error_set(error, ORCH_ERROR_PLUGIN, ENDS[i].hint, "%s: %s", ENDS[i].what, said);
            return;
        }
    orch_error_set(error, ORCH_ERROR_PLUGIN, "a newer compiler may help: CXX=PATH CC=PATH",
                   "the LibTorch adapter did not compile (status %d): %s", end->status, said);
}

/* Runs the script; the built files are in `folder` then, and its two lines in `out`. */
static bool compile(const char *python, const char *folder, struct orch_adapter_built *out,
                    GError **error)
{
    g_autofree char *adapter = orch_program_path("adapter", NULL);
    g_autofree char *script = adapter ? g_build_filename(adapter, "build.sh", NULL) : NULL;
    if (!script) {
        const char *way = orch_program_way(ORCH_PART_TORCH);
        bool is_this = g_str_has_prefix(way, "orch plugin build");
        orch_error_set(error, ORCH_ERROR_PLUGIN, is_this ? orch_program_way(ORCH_PART_OWN) : way,
                       "this installation lacks the sources that 'orch plugin build' compiles");
        return false;
    }
    const char *const argv[] = {"sh", script, python, folder, NULL};
    const struct orch_subprocess command = {
        .argv = argv, .name = "build.sh", .timeout_s = BUILD_S, .output_bytes_max = 1 << 16};
    struct orch_subprocess_end end = {0};
    if (!orch_subprocess_run(&command, &end, error))
        return false;
    g_auto(GStrv) lines = g_strsplit(end.out->str, "\n", 3);
    bool ok = end.status == 0 && g_strv_length(lines) >= 2;
    if (ok) {
        out->torch = g_strdup(lines[0]);
        out->version = g_strdup(lines[1]);
    } else {
        set_failure(&end, error);
    }
    orch_subprocess_end_clear(&end);
    return ok;
}

/* Puts the new folder in the place of the earlier one. */
static bool replace(const char *fresh, const char *folder, GError **error)
{
    g_autofree char *old = g_strconcat(fresh, ".old", NULL);
    bool had = rename(folder, old) == 0;
    if (rename(fresh, folder) != 0) {
        int saved = errno;
        if (had)
            (void)!rename(old, folder);
        orch_error_set_errno(error, ORCH_ERROR_IO, saved, "cannot make '%s'", folder);
        return false;
    }
    return !had || orch_tree_remove(old, error);
}

bool orch_adapter_build(const char *python, struct orch_adapter_built *out, GError **error)
{
    struct orch_adapter_built built = {0};
    g_autofree char *folder = orch_program_built_folder();
    g_autofree char *parent = folder ? g_path_get_dirname(folder) : g_strdup(g_get_tmp_dir());
    g_autofree char *fresh = g_build_filename(parent, "new-XXXXXX", NULL);
    if (!orch_dir_make(parent, error))
        return false;
    if (!g_mkdtemp(fresh)) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot make a folder in '%s'", parent);
        return false;
    }
    bool ok = compile(python, fresh, &built, error) && replace(fresh, folder, error);
    if (!ok) {
        orch_tree_remove(fresh, NULL);
        orch_adapter_built_clear(&built);
        return false;
    }
    built.path = g_build_filename(folder, ADAPTER, NULL);
    *out = built;
    return true;
}
