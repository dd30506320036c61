/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/workspace/workspace.h"

#include "core/workspace/built_files.h"

#include "core/workspace/uncaptured.h"

#include "lib/vcs/holders.h"
#include "lib/vcs/identity.h"
#include "store/handle/store_dir.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct scratch {
    struct orch_workspace workspace; /* first: the public part */
    char *scratch_folder;            /* folder of a smoke run's store, or NULL */
    enum orch_store_mode mode;       /* of the open store */
    bool is_store_new;               /* it was made by this workspace */
};

struct orch_workspace *orch_workspace_new(const char *folder, const char *db, GError **error)
{
    struct scratch *self = g_new0(struct scratch, 1);
    struct orch_workspace *workspace = &self->workspace;
    workspace->folder = orch_path_absolute(folder ? folder : ".", NULL);
    GError *problem = NULL;
    workspace->vcs = orch_vcs_open(workspace->folder, &problem);
    if (problem) {
        g_propagate_error(error, problem);
        orch_workspace_free(workspace);
        return NULL;
    }
    workspace->root = g_strdup(workspace->vcs ? orch_vcs_root(workspace->vcs) : workspace->folder);
    const char *named = db ? db : g_getenv("ORCH_DB");
    workspace->db_is_given = named && *named;
    if (workspace->db_is_given)
        workspace->db_path = orch_path_absolute(named, NULL);
    else
        workspace->db_path = g_build_filename(workspace->root, ".orch", "results.db", NULL);
    return workspace;
}

void orch_workspace_free(struct orch_workspace *workspace)
{
    if (!workspace)
        return;
    struct scratch *self = (struct scratch *)workspace;
    orch_store_close(workspace->store);
    if (self->scratch_folder)
        orch_tree_remove(self->scratch_folder, NULL);
    g_free(self->scratch_folder);
    orch_uncaptured_free(workspace->uncaptured);
    orch_source_free(workspace->source);
    orch_machine_free(workspace->machine);
    orch_vcs_close(workspace->vcs);
    g_free(workspace->machine_key);
    json_decref(workspace->machine_facts);
    json_decref(workspace->links_out);
    g_free(workspace->folder);
    g_free(workspace->root);
    g_free(workspace->db_path);
    g_free(self);
}

struct orch_workspace *orch_workspace_at(struct orch_workspace *base, const char *root,
                                         const char *folder, struct orch_source *source,
                                         GError **error)
{
    struct scratch *self = g_new0(struct scratch, 1);
    struct orch_workspace *workspace = &self->workspace;
    workspace->folder = g_strdup(folder);
    workspace->root = g_strdup(root);
    workspace->db_path = g_strdup(base->db_path);
    workspace->db_is_given = true;
    workspace->base = base;
    workspace->source = source;
    workspace->vcs = orch_vcs_open(base->root, error);
    if (workspace->vcs)
        return workspace;
    orch_workspace_free(workspace);
    return NULL;
}

struct orch_workspace *orch_workspace_apart(const char *root, const char *folder, const char *db,
                                            struct orch_source *source, struct orch_vcs *vcs)
{
    struct scratch *self = g_new0(struct scratch, 1);
    self->workspace = (struct orch_workspace){
        .folder = g_strdup(folder),
        .root = g_strdup(root),
        .db_path = g_strdup(db),
        .db_is_given = true,
        .source = source,
        .vcs = vcs,
    };
    return &self->workspace;
}

const char *orch_workspace_origin(const struct orch_workspace *workspace)
{
    return workspace->base ? workspace->base->root : workspace->root;
}

/* What lies in the work tree but is not captured, listed once. Borrowed; NULL on error. */
static const struct orch_uncaptured *uncaptured_of(struct orch_workspace *workspace,
                                                   const char *tree, GError **error)
{
    struct orch_workspace *live = workspace->base ? workspace->base : workspace;
    if (!live->uncaptured && orch_workspace_source(live, error))
        live->uncaptured = orch_uncaptured_list(live->vcs, live->source, tree, error);
    return live->uncaptured;
}

/* Replaces the committed version of a path by what lies in the work tree. */
static void make_room(const char *path)
{
    struct stat info;
    if (lstat(path, &info) != 0 || S_ISLNK(info.st_mode))
        return;
    if (S_ISDIR(info.st_mode))
        rmdir(path); /* the empty folder of a submodule */
    else
        unlink(path);
}

/* Links what is not captured into a copy of the tree. What `is_own` is a copy of the work tree
 * itself, not of another commit, whose files come first. Missing files are no error. */
static void link_uncaptured(const char *origin, const struct orch_uncaptured *uncaptured,
                            bool is_own, const char *copy)
{
    for (guint i = 0; i < uncaptured->paths->len; i++) {
        const char *relative = uncaptured->paths->pdata[i];
        g_autofree char *target = g_build_filename(origin, relative, NULL);
        g_autofree char *link = g_build_filename(copy, relative, NULL);
        g_autofree char *folder = g_path_get_dirname(link);
        if (is_own)
            make_room(link);
        else
            rmdir(link);
        if (orch_dir_make(folder, NULL) && symlink(target, link) != 0 && errno != EEXIST)
            g_debug("no link '%s'", link);
    }
    for (guint i = 0; i < uncaptured->folders->len; i++) {
        g_autofree char *folder = g_build_filename(copy, uncaptured->folders->pdata[i], NULL);
        orch_dir_make(folder, NULL);
    }
}

static bool is_own_tree(const struct orch_workspace *workspace, const char *tree)
{
    const struct orch_source *source =
        workspace->base ? workspace->base->source : workspace->source;
    return source && g_strcmp0(source->tree, tree) == 0;
}

/* Gives the files of a copy a time before any trial of it, so that a later one shows what the trial
 * itself wrote. */
static void let_copy_be_old(struct orch_vcs *vcs, const char *tree, const char *copy)
{
    time_t before = time(NULL) - 2;
    struct timespec times[2] = {{.tv_sec = before}, {.tv_sec = before}};
    g_autoptr(GPtrArray) paths = orch_vcs_list(vcs, tree, "", NULL);
    for (guint i = 0; paths && i < paths->len; i++) {
        g_autofree char *path = g_build_filename(copy, paths->pdata[i], NULL);
        if (utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) != 0)
            g_debug("'%s' keeps its time", path); /* a file over the size limits is a link */
    }
}

/* Writes the tree out under a temporary name, then renames it. */
static bool make_copy(struct orch_workspace *workspace, const char *tree, const char *path,
                      const char *name, GError **error)
{
    g_autofree char *temporary = orch_store_dir_path(workspace->store, ORCH_STORE_DIR_WORK, name);
    const struct orch_uncaptured *uncaptured = NULL;
    if (!orch_store_dir_remove(workspace->store, ORCH_STORE_DIR_WORK, name, error) ||
        !orch_store_dir_make(workspace->store, ORCH_STORE_DIR_WORK, name, 0777, error) ||
        !orch_vcs_checkout(workspace->vcs, tree, temporary, error) ||
        !(uncaptured = uncaptured_of(workspace, tree, error)))
        return false;
    let_copy_be_old(workspace->vcs, tree, temporary);
    link_uncaptured(orch_workspace_origin(workspace), uncaptured, is_own_tree(workspace, tree),
                    temporary);
    if (rename(temporary, path) == 0 || errno == EEXIST || errno == ENOTEMPTY)
        return true;
    orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot make '%s'", path);
    return false;
}

/* Adds links to what has come into the work tree since the copy was made, once a process. */
static void link_again(struct orch_workspace *workspace, const char *tree, const char *copy)
{
    const struct orch_workspace *live = workspace->base ? workspace->base : workspace;
    const struct orch_uncaptured *uncaptured =
        live->uncaptured ? NULL : uncaptured_of(workspace, tree, NULL);
    if (uncaptured)
        link_uncaptured(orch_workspace_origin(workspace), uncaptured, is_own_tree(workspace, tree),
                        copy);
}

char *orch_workspace_copy(struct orch_workspace *workspace, const char *tree, GError **error)
{
    char *path = orch_store_dir_path(workspace->store, ORCH_STORE_DIR_WORK, tree);
    int there = orch_store_dir_open(workspace->store, ORCH_STORE_DIR_WORK, tree);
    if (there >= 0) {
        close(there);
        link_again(workspace, tree, path);
        return path;
    }
    g_autofree char *name = g_strdup_printf("%s.tmp%d", tree, (int)getpid());
    if (!make_copy(workspace, tree, path, name, error))
        g_clear_pointer(&path, g_free);
    orch_store_dir_remove(workspace->store, ORCH_STORE_DIR_WORK, name, NULL);
    return path;
}

GPtrArray *orch_workspace_drop_built(struct orch_workspace *workspace, const char *copy)
{
    const struct orch_workspace *live = workspace->base ? workspace->base : workspace;
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; live->uncaptured && i < live->uncaptured->paths->len; i++) {
        const char *relative = live->uncaptured->paths->pdata[i];
        g_autofree char *target = g_build_filename(live->root, relative, NULL);
        g_autofree char *link = g_build_filename(copy, relative, NULL);
        if (!orch_is_built(target))
            continue;
        g_ptr_array_add(names, g_strdup(relative));
        if (g_file_test(link, G_FILE_TEST_IS_SYMLINK))
            unlink(link);
    }
    return names;
}

static char *name_in_git(void *folder)
{
    return orch_vcs_identity(folder);
}

void orch_workspace_find_user(struct orch_workspace *workspace)
{
    orch_user_set_finder(name_in_git, workspace->folder);
}

const GPtrArray *orch_workspace_ignored_filters(const struct orch_workspace *workspace)
{
    return workspace->vcs ? orch_vcs_filters_not_run(workspace->vcs) : NULL;
}

bool orch_workspace_adopt_store(const struct orch_workspace *workspace, GError **error)
{
    return orch_store_adopt_folder(workspace->db_path, error);
}

bool orch_workspace_has_store(const struct orch_workspace *workspace)
{
    return orch_store_exists(workspace->db_path);
}

struct orch_store *orch_workspace_store(struct orch_workspace *workspace, enum orch_store_mode mode,
                                        GError **error)
{
    struct scratch *self = (struct scratch *)workspace;
    if (workspace->store && (self->scratch_folder || self->mode >= mode))
        return workspace->store;
    bool is_new = mode == ORCH_STORE_CREATE && !orch_workspace_has_store(workspace);
    orch_store_close(workspace->store);
    workspace->store = orch_store_open(workspace->db_path, mode, error);
    self->mode = mode;
    self->is_store_new = self->is_store_new || (is_new && workspace->store);
    return workspace->store;
}

static bool is_empty_folder(const char *folder, const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    return !dir || !g_dir_read_name(dir);
}

/* Whether nothing was recorded in the open store. */
static bool is_untouched(struct orch_store *store)
{
    const char *folder = orch_store_folder(store);
    struct orch_store_info info = {0};
    bool is_empty = !orch_store_is_shared(store) && orch_store_info(store, &info, NULL) &&
                    !(info.runs + info.hidden + info.active + info.datasets + info.conflicts);
    orch_store_info_clear(&info);
    return is_empty && is_empty_folder(folder, "objects") && is_empty_folder(folder, "trials");
}

/* Removes the folder that was made for the store, if only its .gitignore is there. */
static void remove_home(const char *db_path)
{
    g_autofree char *home = g_path_get_dirname(db_path), *name = g_path_get_basename(home);
    g_autofree char *ignore = g_build_filename(home, ".gitignore", NULL);
    g_autoptr(GDir) dir = strcmp(name, ".orch") == 0 ? g_dir_open(home, 0, NULL) : NULL;
    const char *entry;
    while (dir && (entry = g_dir_read_name(dir)))
        if (strcmp(entry, ".gitignore") != 0)
            return;
    if (dir && unlink(ignore) == 0)
        rmdir(home);
}

void orch_workspace_drop_new_store(struct orch_workspace *workspace)
{
    const struct scratch *self = (const struct scratch *)workspace;
    if (!self->is_store_new || !workspace->store || !is_untouched(workspace->store))
        return;
    g_autofree char *folder = g_strdup(orch_store_folder(workspace->store));
    g_autofree char *wal = g_strconcat(workspace->db_path, "-wal", NULL);
    orch_store_close(g_steal_pointer(&workspace->store));
    if (access(wal, F_OK) == 0) /* another process has it open */
        return;
    if (unlink(workspace->db_path) == 0 && orch_tree_remove(folder, NULL))
        remove_home(workspace->db_path);
}

struct orch_store *orch_workspace_scratch(struct orch_workspace *workspace, GError **error)
{
    struct scratch *self = (struct scratch *)workspace;
    orch_store_close(workspace->store);
    workspace->store = NULL;
    self->scratch_folder = orch_temporary_folder("smoke", error);
    if (!self->scratch_folder)
        return NULL;
    g_free(workspace->db_path);
    workspace->db_path = g_build_filename(self->scratch_folder, "results.db", NULL);
    workspace->store = orch_store_open(workspace->db_path, ORCH_STORE_CREATE, error);
    return workspace->store;
}

const struct orch_source *orch_workspace_source(struct orch_workspace *workspace, GError **error)
{
    if (!workspace->source && workspace->vcs)
        workspace->source = orch_vcs_capture(workspace->vcs, NULL, error);
    else if (!workspace->source) {
        workspace->source = g_new0(struct orch_source, 1);
        workspace->source->left_out = g_ptr_array_new();
    }
    return workspace->source;
}

bool orch_workspace_commit(struct orch_workspace *workspace, const char *text, char **out_commit,
                           char **out_tree, GError **error)
{
    if (!workspace->vcs) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "'orch ls' lists the runs",
                       "'%s' is neither a run nor a commit: '%s' is not in a git repository", text,
                       workspace->folder);
        return false;
    }
    if (strcmp(text, ".") != 0)
        return orch_vcs_resolve(workspace->vcs, text, out_commit, out_tree, error);
    const struct orch_source *source = orch_workspace_source(workspace, error);
    if (!source)
        return false;
    *out_commit = g_strdup(source->commit);
    *out_tree = g_strdup(source->tree);
    return true;
}

void orch_workspace_hold_source(struct orch_workspace *workspace)
{
    const struct orch_source *source = workspace->source;
    g_autoptr(GError) problem = NULL;
    if (!workspace->vcs || !source || !source->tree || !workspace->store)
        return;
    const struct orch_holder holder = {orch_store_id(workspace->store),
                                       orch_store_path(workspace->store)};
    if (!orch_vcs_hold(workspace->vcs, &holder, source->tree, &problem))
        g_debug("captured tree not noted: %s", problem->message);
}

const struct orch_machine *orch_workspace_machine(struct orch_workspace *workspace)
{
    if (!workspace->machine)
        workspace->machine = orch_machine_probe();
    return workspace->machine;
}

const char *orch_workspace_machine_key(struct orch_workspace *workspace)
{
    if (!workspace->machine_key)
        workspace->machine_key = orch_machine_key(orch_workspace_machine(workspace));
    return workspace->machine_key;
}

json_t *orch_workspace_machine_facts(struct orch_workspace *workspace)
{
    if (!workspace->machine_facts)
        workspace->machine_facts = orch_machine_facts(orch_workspace_machine(workspace));
    return workspace->machine_facts;
}
