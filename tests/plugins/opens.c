/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plugin that opens files beside the one that a parameter names, in every way that is noted:
 * NAME, and NAME.WAY for each way. What is not there is left out. It writes NAME.out. */
#include <orch/plugin.h>

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct params {
    const char *path;
};

static const struct orch_param PARAMS[] = {ORCH_PARAM(struct params, path, ORCH_PATH)};
static const struct orch_metric METRICS[] = {{.name = "sum"}};

struct work {
    const char *path;
    char name[4096];
    double sum;
};

static const char *name_of(struct work *w, const char *way)
{
    snprintf(w->name, sizeof w->name, "%s%s", w->path, way);
    return w->name;
}

static void take_stream(struct work *w, FILE *file)
{
    double value = 0;
    if (file && fscanf(file, "%lf", &value) == 1)
        w->sum += value;
    if (file)
        fclose(file);
}

static void take(struct work *w, int fd)
{
    if (fd >= 0)
        take_stream(w, fdopen(fd, "r"));
}

static void take_folder(struct work *w, const char *name)
{
    DIR *dir = opendir(name);
    for (const struct dirent *entry; dir && (entry = readdir(dir));)
        if (entry->d_name[0] != '.')
            take(w, openat(dirfd(dir), entry->d_name, O_RDONLY));
    if (dir)
        closedir(dir);
}

static void take_glob(struct work *w, const char *pattern)
{
    glob_t found = {0};
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            take(w, open64(found.gl_pathv[i], O_RDONLY));
    globfree(&found);
}

static int run(void *state, const void *pointer, const struct orch_host *host)
{
    struct work w = {.path = ((const struct params *)pointer)->path};
    (void)state;
    take_stream(&w, fopen(w.path, "r"));
    take_stream(&w, fopen64(name_of(&w, ".fopen64"), "r"));
    take(&w, open(name_of(&w, ".open"), O_RDONLY));
    take(&w, openat(AT_FDCWD, name_of(&w, ".openat"), O_RDONLY));
    take_folder(&w, name_of(&w, ".folder"));
    take_glob(&w, name_of(&w, ".glob/*.txt"));
    char command[sizeof w.name + 16];
    snprintf(command, sizeof command, "cat '%s'", name_of(&w, ".shell"));
    FILE *child = popen(command, "r");
    double value = 0;
    if (child && fscanf(child, "%lf", &value) == 1)
        w.sum += value;
    if (child)
        pclose(child);
    FILE *out = fopen(name_of(&w, ".out"), "w");
    if (out)
        fclose(out);
    host->result(host, "sum", w.sum);
    return ORCH_OK;
}

static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD,
    .name = NAME,
    .version = "1.0.0",
    .summary = "opens files beside one",
    .licence = "GPL-3.0-or-later",
#ifdef RANKS
    .needs = {.mpi = 1},
#endif
    .params_bytes = sizeof(struct params),
    ORCH_TABLE(params, PARAMS),
    ORCH_TABLE(metrics, METRICS),
    .run = run,
};
ORCH_PLUGIN_EXPORT(PLUGIN)
