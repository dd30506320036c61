/* SPDX-License-Identifier: MIT */
#include "core/host/old_files.h"

#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/wire/value.h"

#include <sys/stat.h>

struct old_file {
    const struct orch_artifact_spec *spec;
    char *path;
    struct stat info;
};

struct old_files {
    GArray *files; /* struct old_file */
    int64_t looked_ns;
};

char *orch_declared_path(const struct child_setup *setup, const struct orch_artifact_spec *spec,
                         const json_t *values, GError **error)
{
    g_autofree char *text = orch_value_expand(spec->path, values, error);
    g_autofree char *named = text ? orch_path_absolute(text, setup->work_dir) : NULL;
    return named ? orch_apart_outside(setup->apart, named) : NULL;
}

static void clear_file(void *pointer)
{
    g_free(((struct old_file *)pointer)->path);
}

static int64_t written_ns(const struct old_file *file)
{
    return orch_timespec_ns(file->info.st_mtim);
}

/* Waits until each file that was written just before, as by the trial before this one, is older
 * than the clock of file times is coarse: what the trial writes then has another time. */
static void let_them_age(const struct old_files *files)
{
    int64_t now = orch_now_ns(), until = 0;
    for (guint i = 0; i < files->files->len; i++) {
        int64_t written = written_ns(&g_array_index(files->files, struct old_file, i));
        until = written <= now ? MAX(until, written + ORCH_FILE_TIME_LAG_NS) : until;
    }
    if (until >= now)
        g_usleep((gulong)((until - now) / 1000 + 1000));
}

struct old_files *orch_old_files_look(const struct child_setup *setup)
{
    const GPtrArray *artifacts = setup->trial->manifest->artifacts;
    struct old_files *files = g_new0(struct old_files, 1);
    g_autoptr(json_t) values = NULL;
    files->files = g_array_new(FALSE, FALSE, sizeof(struct old_file));
    g_array_set_clear_func(files->files, clear_file);
    for (guint i = 0; i < artifacts->len; i++) {
        struct old_file file = {.spec = artifacts->pdata[i]};
        if (!file.spec->path)
            continue;
        if (!values)
            values = orch_wrapped_values(setup->trial, setup->trial_dir);
        file.path = orch_declared_path(setup, file.spec, values, NULL);
        if (file.path && stat(file.path, &file.info) == 0)
            g_array_append_val(files->files, file);
        else
            g_free(file.path);
    }
    let_them_age(files);
    files->looked_ns = orch_now_ns();
    return files;
}

void orch_old_files_free(struct old_files *files)
{
    if (!files)
        return;
    g_array_unref(files->files);
    g_free(files);
}

static bool is_unchanged(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

bool orch_old_files_has(const struct old_files *files, const struct orch_artifact_spec *spec)
{
    for (guint i = 0; files && i < files->files->len; i++) {
        const struct old_file *file = &g_array_index(files->files, struct old_file, i);
        struct stat now;
        if (file->spec != spec)
            continue;
        bool is_sure = written_ns(file) < files->looked_ns - ORCH_FILE_TIME_LAG_NS;
        return stat(file->path, &now) == 0 && is_sure && is_unchanged(&file->info, &now);
    }
    return false;
}
