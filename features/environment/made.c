/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A virtual environment cannot be moved, so it is made in its place under a lock, and a file that
 * is written last says that it is complete. */
#include "features/environment/made.h"

#include "core/recipe/trial_environment.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/subprocess.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { STEPS_MAX = 2, WORDS_MAX = 12 };

/* A program that makes environments of a kind. In its words %folder is where, %file the file, and
 * %place the file's folder. A kind with several programs takes the first one that is here. */
static const struct maker {
    enum orch_environment_kind kind;
    const char *program;
    const char *beside;   /* a file that must lie beside the file; NULL: none */
    const char *variable; /* set to the folder; NULL: none */
    const char *steps[STEPS_MAX][WORDS_MAX];
} MAKERS[] = {
    {ORCH_ENVIRONMENT_UV,
     "uv",
     "pyproject.toml",
     "UV_PROJECT_ENVIRONMENT",
     {{"uv", "sync", "--quiet", "--frozen", "--no-install-project", "--project", "%place", NULL}}},
    {ORCH_ENVIRONMENT_PIP,
     "python3",
     NULL,
     NULL,
     {{"python3", "-m", "venv", "--clear", "%folder", NULL},
      {"%folder/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
       "--no-input", "-r", "%file", NULL}}},
    {ORCH_ENVIRONMENT_CONDA,
     "conda",
     NULL,
     NULL,
     {{"conda", "env", "create", "--quiet", "--yes", "-p", "%folder", "-f", "%file", NULL}}},
    {ORCH_ENVIRONMENT_CONDA,
     "micromamba",
     NULL,
     NULL,
     {{"micromamba", "create", "--quiet", "--yes", "-p", "%folder", "-f", "%file", NULL}}},
};

/* The programs that run containers. `gpus` are the words that give a container all GPUs. */
static const struct container {
    const char *program;
    bool passes_events;  /* descriptor 3, on which programs report to orch */
    bool is_of_a_daemon; /* which runs as root: the user is named */
    const char *gpus[3];
} CONTAINERS[] = {
    {"podman", true, false, {"--device", "nvidia.com/gpu=all", NULL}},
    {"docker", false, true, {"--gpus", "all", NULL}},
};

static const char *const WAYS_OUT[ORCH_ENVIRONMENT_KINDS] = {
    "pip install uv",
    "apt-get install python3-venv",
    "install conda or micromamba",
    "apt-get install podman",
};

static bool lacks(const struct orch_experiment *experiment, const char *programs, GError **error)
{
    const struct orch_trial_environment *made = experiment->environment;
    orch_error_set(error, ORCH_ERROR_PLUGIN, WAYS_OUT[made->kind],
                   "environment '%s' of experiment '%s' needs %s, which is not on the PATH",
                   made->text, experiment->name, programs);
    return false;
}

static bool is_here(const char *program)
{
    g_autofree char *path = g_find_program_in_path(program);
    return path != NULL;
}

/* ---- folders ----------------------------------------------------------------------------------
 */

static char *word_of(const struct orch_trial_environment *made, const char *word)
{
    GString *out = g_string_new(word);
    g_autofree char *place = g_path_get_dirname(made->path);
    g_string_replace(out, "%folder", made->folder, 0);
    g_string_replace(out, "%file", made->path, 0);
    g_string_replace(out, "%place", place, 0);
    return g_string_free(out, FALSE);
}

static bool run_words(const struct orch_experiment *experiment, const char *const *argv,
                      char **environment, GError **error)
{
    const struct orch_trial_environment *made = experiment->environment;
    g_autofree char *place = made->path ? g_path_get_dirname(made->path) : NULL;
    struct orch_subprocess_end end;
    const struct orch_subprocess command = {
        .argv = argv, .folder = place, .environment = environment};
    if (!orch_subprocess_run(&command, &end, error))
        return false;
    bool ok = end.status == 0;
    g_autofree char *complaint = orch_subprocess_complaint(end.err, 3);
    if (!ok) /* 'python3 -m venv' fails where a package lacks; other programs are there */
        orch_error_set(
            error, ORCH_ERROR_PLUGIN, strcmp(argv[0], "python3") == 0 ? WAYS_OUT[made->kind] : NULL,
            "environment '%s' of experiment '%s' cannot be made: %s: %s", made->text,
            experiment->name, argv[0], complaint ? complaint : "the program gave no reason");
    orch_subprocess_end_clear(&end);
    return ok;
}

static bool run_step(const struct orch_experiment *experiment, const struct maker *maker,
                     const char *const *step, GError **error)
{
    const struct orch_trial_environment *made = experiment->environment;
    g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
    for (; *step; step++)
        g_ptr_array_add(words, word_of(made, *step));
    g_ptr_array_add(words, NULL);
    g_auto(GStrv) environment = g_get_environ();
    environment = g_environ_unsetenv(environment, "VIRTUAL_ENV");
    if (maker->variable)
        environment = g_environ_setenv(environment, maker->variable, made->folder, TRUE);
    return run_words(experiment, (const char *const *)words->pdata, environment, error);
}

static const struct maker *maker_of(const struct orch_experiment *experiment, GError **error)
{
    g_autoptr(GString) names = g_string_new(NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(MAKERS); i++) {
        if (MAKERS[i].kind != experiment->environment->kind)
            continue;
        if (is_here(MAKERS[i].program))
            return &MAKERS[i];
        g_string_append_printf(names, "%s%s", names->len ? " or " : "", MAKERS[i].program);
    }
    lacks(experiment, names->str, error);
    return NULL;
}

static bool has_beside(const struct orch_experiment *experiment, const struct maker *maker,
                       GError **error)
{
    const struct orch_trial_environment *made = experiment->environment;
    g_autofree char *place = g_path_get_dirname(made->path);
    g_autofree char *beside = maker->beside ? g_build_filename(place, maker->beside, NULL) : NULL;
    if (!beside || access(beside, R_OK) == 0)
        return true;
    orch_error_set(error, ORCH_ERROR_PLUGIN, "put the file into this folder",
                   "the folder of environment '%s' (experiment '%s') has no file '%s'", made->text,
                   experiment->name, maker->beside);
    return false;
}

static bool make_steps(const struct orch_experiment *experiment, GError **error)
{
    const struct orch_trial_environment *made = experiment->environment;
    const struct maker *maker = maker_of(experiment, error);
    g_autofree char *mark = orch_trial_environment_mark(made);
    bool ok =
        maker && has_beside(experiment, maker, error) && orch_tree_remove(made->folder, error);
    for (unsigned i = 0; ok && i < STEPS_MAX && maker->steps[i][0]; i++)
        ok = run_step(experiment, maker, maker->steps[i], error);
    ok = ok && orch_file_write(mark, made->text, strlen(made->text), false, error);
    if (!ok)
        orch_tree_remove(made->folder, NULL);
    return ok;
}

static bool make_folder(const struct orch_experiment *experiment, orch_environment_making_fn making,
                        void *ctx, GError **error)
{
    const struct orch_trial_environment *made = experiment->environment;
    g_autofree char *place = g_path_get_dirname(made->folder);
    g_autofree char *path = g_strconcat(made->folder, ".lock", NULL);
    g_autofree char *there = orch_trial_environment_python(made);
    if (there)
        return true;
    g_autofree char *text = g_strdup_printf("making the environment '%s'", made->text);
    making(ctx, text);
    if (!orch_dir_make(place, error))
        return false;
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock >= 0)
        flock(lock, LOCK_EX); /* released with the descriptor; without it two would make it */
    g_autofree char *meanwhile = orch_trial_environment_python(made);
    bool ok = meanwhile || make_steps(experiment, error);
    if (lock >= 0)
        close(lock);
    return ok;
}

/* ---- containers -------------------------------------------------------------------------------
 */

static void add_words(GPtrArray *words, const char *const *more)
{
    for (; *more; more++)
        g_ptr_array_add(words, g_strdup(*more));
}

/* Shows a folder in the container under its own path. */
static void add_mount(GPtrArray *words, const char *folder, const char *how)
{
    g_ptr_array_add(words, g_strdup("--volume"));
    g_ptr_array_add(words, g_strdup_printf("%s:%s%s", folder, folder, how));
}

static char **launcher_of(const struct container *container, const struct orch_plan *plan,
                          const struct orch_experiment *experiment)
{
    GPtrArray *words = g_ptr_array_new();
    const char *root = plan->workspace->root;
    g_autofree char *helper = orch_plugins_python_path();
    g_autofree char *store = orch_path_absolute(orch_store_folder(plan->store), NULL);
    add_words(words, (const char *const[]){container->program, "run", "--rm", "--init", NULL});
    if (container->passes_events)
        g_ptr_array_add(words, g_strdup("--preserve-fds=1"));
    if (container->is_of_a_daemon)
        g_ptr_array_add(words,
                        g_strdup_printf("--user=%u:%u", (unsigned)getuid(), (unsigned)getgid()));
    if (orch_experiment_gpus(experiment))
        add_words(words, container->gpus);
    add_mount(words, root ? root : plan->expansion->folder, "");
    add_mount(words, store, "");
    if (helper)
        add_mount(words, helper, ":ro");
    add_words(words, (const char *const[]){"--workdir", "%folder", "%env",
                                           experiment->environment->text, NULL});
    g_ptr_array_add(words, NULL);
    return (char **)g_ptr_array_free(words, FALSE);
}

static bool fetch_image(const struct orch_experiment *experiment, const char *program,
                        orch_environment_making_fn making, void *ctx, GError **error)
{
    const char *image = experiment->environment->text;
    const char *const look[] = {program, "image", "inspect", image, NULL};
    const char *const pull[] = {program, "pull", "--quiet", image, NULL};
    g_autofree char *text = g_strdup_printf("fetching the image '%s'", image);
    if (run_words(experiment, look, NULL, NULL))
        return true;
    making(ctx, text);
    return run_words(experiment, pull, NULL, error);
}

static bool make_container(const struct orch_plan *plan, const struct orch_experiment *experiment,
                           orch_environment_making_fn making, void *ctx, GError **error)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(CONTAINERS); i++) {
        if (!is_here(CONTAINERS[i].program))
            continue;
        if (!fetch_image(experiment, CONTAINERS[i].program, making, ctx, error))
            return false;
        g_strfreev(experiment->environment->launcher);
        experiment->environment->launcher = launcher_of(&CONTAINERS[i], plan, experiment);
        return true;
    }
    return lacks(experiment, "podman or docker", error);
}

bool orch_environments_make(struct orch_plan *plan, orch_environment_making_fn making, void *ctx,
                            GError **error)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    bool ok = true;
    for (unsigned i = 0; ok && i < plan->count; i++) {
        const struct orch_experiment *experiment = plan->items[i].cell->experiment;
        if (!experiment->environment || !orch_plan_will_run(&plan->items[i]) ||
            !g_hash_table_add(seen, (gpointer)(uintptr_t)experiment))
            continue;
        ok = experiment->environment->folder ? make_folder(experiment, making, ctx, error)
                                             : make_container(plan, experiment, making, ctx, error);
    }
    return ok;
}
