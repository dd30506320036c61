/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run stores only a few versions (interpreter, numerical packages, driver), so that it stays
 * small when it is exchanged, and the digests of the full lists of packages (package_lists.h).
 * Recorded environments may come from untrusted sources, so their sizes are bounded when they are
 * read. */
#include "core/workspace/environment.h"

#include "core/plugin/adapter.h"
#include "core/plugin/search.h"
#include "core/recipe/needs.h"
#include "core/recipe/trial_environment.h"
#include "core/workspace/package_lists.h"
#include "core/workspace/python_env.h"
#include "core/workspace/python_interpreter.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/program_path.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS_NAMED_MAX = 6, MEMBERS_MAX = 64, VERSION_CHARS_MAX = 64 };
#define PACKAGES ORCH_PACKAGE_LIST_FACTS[ORCH_PACKAGES_PYTHON]
#define UNKNOWN "unknown"

/* Packages that change what a program computes or how fast: they are recorded by name. */
static const char *const NAMED_PACKAGES[] = {"accelerate",
                                             "cupy",
                                             "datasets",
                                             "flax",
                                             "jax",
                                             "jaxlib",
                                             "keras",
                                             "lightgbm",
                                             "lightning",
                                             "mxnet",
                                             "numba",
                                             "numpy",
                                             "nvidia-cudnn-cu11",
                                             "nvidia-cudnn-cu12",
                                             "nvidia-cuda-runtime-cu11",
                                             "nvidia-cuda-runtime-cu12",
                                             "onnxruntime",
                                             "pandas",
                                             "pytorch-lightning",
                                             "scikit-learn",
                                             "scipy",
                                             "tensorflow",
                                             "timm",
                                             "torch",
                                             "torchaudio",
                                             "torchvision",
                                             "transformers",
                                             "triton",
                                             "xgboost"};

struct orch_environments {
    struct orch_workspace *workspace;
    const struct orch_expansion *expansion;
    GHashTable *pythons; /* interpreter -> struct orch_python * */
    GHashTable *facts;   /* experiment -> json_t * */
    json_t *nothing;     /* of an environment that is not made yet */
    GPtrArray *apt;      /* the system's packages; NULL: not read yet, or no dpkg */
};

static void free_json(void *json)
{
    json_decref(json);
}

struct orch_environments *orch_environments_new(struct orch_workspace *workspace,
                                                const struct orch_expansion *expansion)
{
    struct orch_environments *self = g_new0(struct orch_environments, 1);
    self->workspace = workspace;
    self->expansion = expansion;
    self->pythons =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)orch_python_free);
    self->nothing = json_object();
    self->facts = g_hash_table_new_full(NULL, NULL, NULL, free_json);
    return self;
}

void orch_environments_free(struct orch_environments *self)
{
    if (!self)
        return;
    g_hash_table_unref(self->pythons);
    g_hash_table_unref(self->facts);
    json_decref(self->nothing);
    if (self->apt)
        g_ptr_array_unref(self->apt);
    g_free(self);
}

/* ---- finding ------------------------------------------------------------------------------ */

/* The Python that a wrapped program's command starts, or NULL. The caller frees. */
static char *find_interpreter(struct orch_environments *self,
                              const struct orch_experiment *experiment)
{
    const struct orch_manifest *manifest = experiment->manifest;
    if (manifest->kind != ORCH_PLUGIN_WRAPPED || !manifest->argv || !manifest->argv[0] ||
        strstr(manifest->argv[0], "${"))
        return NULL;
    if (experiment->environment)
        return orch_trial_environment_python(experiment->environment);
    g_autofree char *folder = orch_experiment_folder(self->expansion, experiment);
    return orch_python_interpreter(manifest->argv, folder);
}

static const struct orch_python *find_python(struct orch_environments *self,
                                             const struct orch_experiment *experiment)
{
    g_autofree char *interpreter = find_interpreter(self, experiment);
    if (!interpreter)
        return NULL;
    struct orch_python *python = g_hash_table_lookup(self->pythons, interpreter);
    if (!python) {
        python = orch_python_read(interpreter);
        g_hash_table_insert(self->pythons, g_steal_pointer(&interpreter), python);
    }
    return python;
}

static void add_text(json_t *facts, const char *name, const char *version)
{
    if (version && *version && strlen(version) <= VERSION_CHARS_MAX)
        json_object_set_new(facts, name, json_string(version));
}

static void add_python(json_t *facts, const struct orch_python *python)
{
    bool has_packages = python->names->len > 0;
    add_text(facts, "python", python->version ? python->version : UNKNOWN);
    json_object_set_new(facts, PACKAGES,
                        json_string(has_packages      ? python->sha256
                                    : python->version ? "none"
                                                      : UNKNOWN));
    for (guint i = 0; i < python->names->len; i++) {
        g_auto(GStrv) words = g_strsplit(python->names->pdata[i], " ", 2);
        for (unsigned j = 0; j < G_N_ELEMENTS(NAMED_PACKAGES); j++)
            if (strcmp(words[0], NAMED_PACKAGES[j]) == 0)
                add_text(facts, words[0], words[1]);
    }
}

static void add_list(json_t *facts, enum orch_package_list list, const GPtrArray *lines)
{
    char sha256[ORCH_SHA256_CHARS];
    if (!lines || !lines->len)
        return;
    orch_packages_digest(lines, sha256);
    json_object_set_new(facts, ORCH_PACKAGE_LIST_FACTS[list], json_string(sha256));
}

/* The folder of the conda environment that an interpreter would belong to. NULL: no interpreter.
 * The caller frees. */
static char *prefix_of(const char *interpreter)
{
    g_autofree char *bin = interpreter ? g_path_get_dirname(interpreter) : NULL;
    return bin ? g_path_get_dirname(bin) : NULL;
}

/* Adds the digests of the lists of a program's conda environment and of the system. With a
 * store's folder the lists are kept there instead (`facts` is NULL). */
static void add_lists(json_t *facts, const char *interpreter, const GPtrArray *apt,
                      const char *store_folder)
{
    g_autofree char *prefix = prefix_of(interpreter);
    g_autoptr(GPtrArray) conda = prefix ? orch_packages_of_conda(prefix) : NULL;
    if (facts) {
        add_list(facts, ORCH_PACKAGES_CONDA, conda);
        add_list(facts, ORCH_PACKAGES_APT, apt);
    }
    if (store_folder && conda)
        orch_packages_keep(store_folder, ORCH_PACKAGES_CONDA, conda, prefix, NULL);
    if (store_folder && apt)
        orch_packages_keep(store_folder, ORCH_PACKAGES_APT, apt, NULL, NULL);
}

static const GPtrArray *apt_packages(struct orch_environments *self)
{
    if (!self->apt)
        self->apt = orch_packages_of_dpkg("");
    return self->apt;
}

/* The file beside the adapter that plugins load (orch_torch_load) with the version of its LibTorch:
 * orch-torch.version for orch-torch.so. NULL when the program's plugin folder is unknown. The
 * caller frees. */
static char *adapter_version_path(void)
{
    const char *named = g_getenv("ORCH_TORCH");
    if (named && *named) {
        size_t stem = strlen(named) - (g_str_has_suffix(named, ".so") ? strlen(".so") : 0);
        return g_strdup_printf("%.*s.version", (int)stem, named);
    }
    return orch_program_module("orch-torch.version");
}

/* Adds the LibTorch version that the adapter was built for, as recorded by its build. */
static void add_libtorch(json_t *facts, const struct orch_manifest *manifest)
{
    if (manifest->kind != ORCH_PLUGIN_COMPILED || !manifest->path ||
        !orch_search_is_own(manifest->path) || !orch_adapter_is_named(manifest->path))
        return;
    g_autofree char *path = adapter_version_path();
    g_autofree char *text = NULL;
    if (path && orch_file_read(path, VERSION_CHARS_MAX, &text, NULL, NULL))
        add_text(facts, "libtorch", g_strstrip(text));
}

const json_t *orch_environments_facts(struct orch_environments *self,
                                      const struct orch_experiment *experiment)
{
    json_t *facts = g_hash_table_lookup(self->facts, experiment);
    if (facts)
        return facts;
    const struct orch_python *python = find_python(self, experiment);
    const struct orch_trial_environment *declared = experiment->environment;
    if (declared && declared->folder && !python)
        return self->nothing;
    facts = json_object();
    if (python)
        add_python(facts, python);
    else if (experiment->manifest->kind == ORCH_PLUGIN_WRAPPED && experiment->manifest->argv &&
             orch_python_is_named(experiment->manifest->argv))
        add_text(facts, "python", UNKNOWN);
    if (declared && !declared->folder) {
        add_text(facts, "container", declared->digest);
    } else if (experiment->manifest->kind == ORCH_PLUGIN_WRAPPED) {
        g_autofree char *interpreter = find_interpreter(self, experiment);
        add_lists(facts, interpreter, apt_packages(self), NULL);
    }
    add_libtorch(facts, experiment->manifest);
    if (orch_experiment_gpus(experiment) || orch_experiment_sees_gpus(experiment)) {
        const struct orch_machine *machine = orch_workspace_machine(self->workspace);
        add_text(facts, "driver", machine->gpu_driver);
        add_text(facts, "cuda", machine->cuda_version);
    }
    g_hash_table_insert(self->facts, (gpointer)(uintptr_t)experiment, facts);
    return facts;
}

/* ---- the lists ---------------------------------------------------------------------------- */

void orch_environments_keep(struct orch_environments *self,
                            const struct orch_experiment *experiment, const char *store_folder)
{
    const struct orch_python *python = find_python(self, experiment);
    g_autofree char *interpreter = find_interpreter(self, experiment);
    if (python)
        orch_packages_keep(store_folder, ORCH_PACKAGES_PYTHON, python->names, NULL,
                           python->of_dpkg);
    if (experiment->manifest->kind == ORCH_PLUGIN_WRAPPED &&
        (!experiment->environment || experiment->environment->folder))
        add_lists(NULL, interpreter, apt_packages(self), store_folder);
}

static void add_gpu_software(json_t *facts, struct orch_workspace *workspace)
{
    const struct orch_machine *machine = orch_workspace_machine(workspace);
    add_text(facts, "driver", machine->gpu_driver);
    add_text(facts, "cuda", machine->cuda_version);
}

json_t *orch_environment_of_program(struct orch_workspace *workspace, const char *program,
                                    const char *store_folder)
{
    json_t *facts = json_object();
    g_autofree char *folder = g_get_current_dir();
    char *const words[] = {(char *)(uintptr_t)program, NULL};
    g_autofree char *interpreter = orch_python_interpreter(words, folder);
    struct orch_python *python = interpreter ? orch_python_read(interpreter) : NULL;
    if (python) {
        add_python(facts, python);
        orch_packages_keep(store_folder, ORCH_PACKAGES_PYTHON, python->names, NULL,
                           python->of_dpkg);
    }
    g_autoptr(GPtrArray) apt = orch_packages_of_dpkg("");
    add_lists(facts, interpreter, apt, store_folder);
    orch_python_free(python);
    if (orch_workspace_machine(workspace)->gpus->len)
        add_gpu_software(facts, workspace);
    return facts;
}

/* ---- comparing ---------------------------------------------------------------------------- */

json_t *orch_environment_recorded(const char *facts)
{
    g_autoptr(json_t) json = facts ? json_loads(facts, 0, NULL) : NULL;
    json_t *environment = json ? json_object_get(json, "environment") : NULL;
    bool is_well = json_is_object(environment) && json_object_size(environment) > 0 &&
                   json_object_size(environment) <= MEMBERS_MAX;
    return is_well ? json_incref(environment) : NULL;
}

static void free_row(void *pointer)
{
    struct orch_environment_row *row = pointer;
    g_free(row->name);
    g_free(row->then);
    g_free(row->now);
    g_free(row);
}

static void add_row(GPtrArray *rows, const char *name, const char *then, const char *now)
{
    if (g_strcmp0(then, now) == 0)
        return;
    for (guint i = 0; i < rows->len; i++)
        if (strcmp(((struct orch_environment_row *)rows->pdata[i])->name, name) == 0)
            return;
    struct orch_environment_row *row = g_new0(struct orch_environment_row, 1);
    row->name = g_strdup(name);
    row->then = g_strdup(then);
    row->now = g_strdup(now);
    g_ptr_array_add(rows, row);
}

static const char *version_in(const json_t *facts, const char *name)
{
    const char *text = orch_json_text(facts, name, NULL);
    return text && strlen(text) <= VERSION_CHARS_MAX ? text : NULL;
}

/* Compares the versions recorded by name. */
static void add_recorded(GPtrArray *rows, const json_t *then, const json_t *now)
{
    const json_t *sides[] = {then, now};
    for (unsigned i = 0; i < G_N_ELEMENTS(sides); i++) {
        const char *name;
        json_t *value;
        json_object_foreach((json_t *)(uintptr_t)sides[i], name, value)
        {
            if (!orch_package_list_is_fact(name) && strlen(name) <= VERSION_CHARS_MAX)
                add_row(rows, name, version_in(then, name), version_in(now, name));
        }
    }
}

static int compare_names(const void *a, const void *b)
{
    const struct orch_environment_row *x = *(struct orch_environment_row *const *)a;
    const struct orch_environment_row *y = *(struct orch_environment_row *const *)b;
    return strcmp(x->name, y->name);
}

/* Parses lines "name version" into a map from name to version. */
static GHashTable *versions_of(const GPtrArray *names)
{
    GHashTable *versions = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (guint i = 0; i < names->len; i++) {
        const char *line = names->pdata[i], *space = strchr(line, ' ');
        if (space)
            g_hash_table_replace(versions, g_strndup(line, (gsize)(space - line)),
                                 g_strndup(space + 1, strcspn(space + 1, "\t")));
    }
    return versions;
}

/* Adds every package that differs, by name. */
static void add_listed(GPtrArray *rows, const GPtrArray *old_names, const GPtrArray *new_names)
{
    g_autoptr(GHashTable) old = versions_of(old_names), new = versions_of(new_names);
    const guint begin = rows->len;
    GHashTable *const tables[] = {old, new};
    for (unsigned i = 0; i < G_N_ELEMENTS(tables); i++) {
        GHashTableIter iter;
        gpointer name;
        g_hash_table_iter_init(&iter, tables[i]);
        while (g_hash_table_iter_next(&iter, &name, NULL))
            add_row(rows, name, g_hash_table_lookup(old, name), g_hash_table_lookup(new, name));
    }
    if (rows->len > begin)
        qsort(rows->pdata + begin, rows->len - begin, sizeof rows->pdata[0], compare_names);
}

static bool packages_differ(const json_t *then, const json_t *now)
{
    const char *a = orch_json_text(then, PACKAGES, NULL), *b = orch_json_text(now, PACKAGES, NULL);
    return orch_sha256_is_valid(a) && orch_sha256_is_valid(b) && strcmp(a, b) != 0;
}

/* Compares two environments. Without the lists (NULL), a single row says that other packages
 * differ. */
static GPtrArray *compare(const json_t *then, const json_t *now, const GPtrArray *old_names,
                          const GPtrArray *new_names, bool with_packages)
{
    GPtrArray *rows = g_ptr_array_new_with_free_func(free_row);
    if (!json_object_size(then) || !json_object_size(now))
        return rows;
    add_recorded(rows, then, now);
    if (!with_packages || !packages_differ(then, now))
        return rows;
    if (old_names && new_names) {
        add_listed(rows, old_names, new_names);
    } else if (!rows->len) {
        g_autofree char *a = g_strndup(orch_json_text(then, PACKAGES, ""), 8);
        g_autofree char *b = g_strndup(orch_json_text(now, PACKAGES, ""), 8);
        add_row(rows, "package list", a, b);
    }
    return rows;
}

GPtrArray *orch_environment_rows(const json_t *then, const json_t *now, const char *store_folder)
{
    g_autoptr(GPtrArray) old_names = orch_packages_read(store_folder, ORCH_PACKAGES_PYTHON, then);
    g_autoptr(GPtrArray) new_names = orch_packages_read(store_folder, ORCH_PACKAGES_PYTHON, now);
    return compare(then, now, old_names, new_names, true);
}

char *orch_environments_difference(struct orch_environments *self,
                                   const struct orch_experiment *experiment, const json_t *then,
                                   const char *store_folder)
{
    const json_t *now = orch_environments_facts(self, experiment);
    const struct orch_python *python = store_folder ? find_python(self, experiment) : NULL;
    g_autoptr(GPtrArray) old_names =
        store_folder ? orch_packages_read(store_folder, ORCH_PACKAGES_PYTHON, then) : NULL;
    g_autoptr(GPtrArray) rows =
        compare(then, now, old_names, python ? python->names : NULL, store_folder != NULL);
    if (!rows->len)
        return NULL;
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < MIN(rows->len, ROWS_NAMED_MAX); i++) {
        const struct orch_environment_row *row = rows->pdata[i];
        g_string_append_printf(text, "%s%s %s -> %s", i ? ", " : "", row->name,
                               row->then ? row->then : "none", row->now ? row->now : "none");
    }
    if (rows->len > ROWS_NAMED_MAX)
        g_string_append_printf(text, ", and %u more", rows->len - ROWS_NAMED_MAX);
    return g_string_free(text, FALSE);
}
