/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/record/work_copy.h"

#include "core/record/work_copy_paths.h"
#include "core/workspace/uncaptured.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/mount_space.h"
#include "lib/wire/trial.h"
#include "lib/wire/value.h"
#include "store/handle/store_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- copying ----------------------------------------------------------------------------------
 */

/* How much may still be copied for one trial. Beyond it folders and files are linked, so that a
 * large tree takes no time. Large files, such as a model that the trial is about to overwrite, have
 * a share of their own, so that they leave enough for the others. */
struct budget {
    int files;
    int64_t bytes, large_bytes;
    bool has_links; /* a folder was linked */
};
enum {
    COPIED_FILES = 4000,
    COPIED_BYTES = 64 << 20,
    LARGE_FILE_BYTES = 4 << 20,
    COPIED_FILE_BYTES = 32 << 20,
};
/* Links beside the folders above the copy. */
enum { SIBLINGS_MAX = 5000 };
/* The work tree, and the folder of the trial that stands for the root of the file system. */
struct place {
    const char *origin, *work;
};
/* Links in the folder of an artifact. */
enum { ENTRIES_MAX = 1000 };

static bool fill_folder(int from, int to, const char *but, struct budget *budget, GError **error);

/* Links symbolically to the original entry. */
static bool link_entry(int from, int to, const char *name)
{
    char path[64], target[4096];
    snprintf(path, sizeof path, "/proc/self/fd/%d", from);
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n <= 0)
        return false;
    target[n] = 0;
    g_autofree char *full = g_build_filename(target, name, NULL);
    return symlinkat(full, to, name) == 0;
}

static bool copy_file(int from, int to, const char *name, mode_t mode)
{
    int in = openat(from, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int out =
        in < 0 ? -1
               : openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (mode & 0777) | S_IWUSR);
    char buffer[65536];
    struct stat info;
    ssize_t n = -1;
    while (out >= 0 && (n = read(in, buffer, sizeof buffer)) > 0)
        if (write(out, buffer, (size_t)n) != n) {
            n = -1;
            break;
        }
    if (out >= 0 && fstat(in, &info) == 0) /* a later time shows that the trial wrote the file */
        futimens(out, (struct timespec[2]){info.st_atim, info.st_mtim});
    int saved = errno;
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    errno = saved;
    return out >= 0 && n == 0;
}

static bool copy_folder(int from, int to, const char *name, struct budget *budget, GError **error)
{
    if (mkdirat(to, name, 0777) != 0)
        return false;
    int inner_from = openat(from, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    int inner_to = openat(to, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    bool ok =
        inner_from >= 0 && inner_to >= 0 && fill_folder(inner_from, inner_to, NULL, budget, error);
    if (inner_from >= 0)
        close(inner_from);
    if (inner_to >= 0)
        close(inner_to);
    return ok;
}

/* Files are copied, not linked, because a trial may overwrite them. */
static bool fill_entry(int from, int to, const char *name, struct budget *budget, GError **error)
{
    struct stat info;
    if (fstatat(from, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT; /* removed since it was listed */
    bool is_large = S_ISREG(info.st_mode) && info.st_size > LARGE_FILE_BYTES;
    int64_t *bytes = is_large ? &budget->large_bytes : &budget->bytes;
    bool affordable = budget->files > 0 && *bytes >= info.st_size;
    if (S_ISLNK(info.st_mode)) {
        char target[4096];
        ssize_t n = readlinkat(from, name, target, sizeof target - 1);
        if (n <= 0)
            return false;
        target[n] = 0;
        return symlinkat(target, to, name) == 0;
    }
    if (S_ISREG(info.st_mode) && affordable && info.st_size <= COPIED_FILE_BYTES) {
        budget->files--;
        *bytes -= info.st_size;
        return copy_file(from, to, name, info.st_mode);
    }
    if (S_ISDIR(info.st_mode) && affordable) {
        budget->files--;
        return copy_folder(from, to, name, budget, error);
    }
    budget->has_links = budget->has_links || S_ISDIR(info.st_mode);
    return !(S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)) || link_entry(from, to, name);
}

/* Fills the folder `to` with the entries of `from`, except the one named `but`. */
static bool fill_folder(int from, int to, const char *but, struct budget *budget, GError **error)
{
    int again = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = again < 0 ? NULL : fdopendir(again);
    bool ok = dir != NULL;
    for (struct dirent *entry; ok && (entry = readdir(dir));) {
        const char *name = entry->d_name;
        static const char *const left_out[] = {".", "..", ".git", ".orch", NULL};
        if (g_strcmp0(name, but) == 0 || g_strv_contains(left_out, name))
            continue;
        ok = fill_entry(from, to, name, budget, error);
        if (!ok && error && !*error)
            orch_error_set_errno(error, ORCH_ERROR_IO, errno,
                                 "cannot put '%s' into the trial's folder", name);
    }
    if (dir)
        closedir(dir);
    else if (again >= 0)
        close(again);
    return ok;
}

static bool fill_path(const char *from, const char *to, const char *but, struct budget *budget,
                      GError **error)
{
    int in = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int out = in < 0 ? -1 : open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = out >= 0;
    if (!ok)
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot open '%s'", in < 0 ? from : to);
    ok = ok && fill_folder(in, out, but, budget, error);
    if (!ok && error && !*error) /* the folder itself could not be listed */
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot read folder '%s'", from);
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    return ok;
}

static void descend(char **folder, const char *name)
{
    char *inner = g_build_filename(*folder, name, NULL);
    g_free(*folder);
    *folder = inner;
}

/* Mirrors `root` in `work`: real folders along `relative`, with the other entries of each. */
static bool mirror(const char *root, const char *relative, const char *work, struct budget *budget,
                   GError **error)
{
    g_auto(GStrv) parts = g_strsplit(relative, "/", -1);
    g_autofree char *from = g_strdup(root), *to = g_strdup(work);
    for (int i = 0;; i++) {
        while (parts[i] && (!*parts[i] || strcmp(parts[i], ".") == 0))
            i++;
        if (!orch_dir_make(to, error) || !fill_path(from, to, parts[i], budget, error))
            return false;
        if (!parts[i])
            return true;
        descend(&from, parts[i]);
        descend(&to, parts[i]);
    }
}

json_t *orch_apart_copy_folder(const char *from, const char *trial_dir, GError **error)
{
    struct budget budget = {COPIED_FILES, COPIED_BYTES, COPIED_BYTES, false};
    g_autofree char *work = g_build_filename(trial_dir, ORCH_TRIAL_WORK, NULL);
    g_autofree char *real = realpath(from, NULL);
    if (!mirror(from, "", work, &budget, error))
        return NULL;
    json_t *apart = json_pack("{s:s}", "copy", ORCH_TRIAL_WORK);
    json_object_set_new(apart, "from", json_string(real ? real : from)); /* not for other bytes */
    return apart;
}

/* ---- what lies around the work tree -----------------------------------------------------------
 */

/* Where a link beside the copy leads, which stands for the entry at `path`: to that entry, or into
 * the copy where the entry is a link into the work tree. The caller frees. */
static char *sibling_target(const struct place *place, const char *path, bool is_link)
{
    char *real = is_link ? realpath(path, NULL) : NULL;
    const char *inner = real ? orch_path_within(real, place->origin) : NULL;
    char *target =
        inner ? g_build_filename(place->work, place->origin, inner, NULL) : g_strdup(path);
    free(real);
    return target;
}

/* Links the entries of a folder above the work tree, except the next folder on the way. A folder
 * that cannot be listed has no links. */
static void link_siblings(const struct place *place, const char *folder, const char *but,
                          const char *to)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    for (int left = SIBLINGS_MAX; dir && left > 0 && (entry = readdir(dir)); left--) {
        const char *name = entry->d_name;
        if (strcmp(name, but) == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_autofree char *target = sibling_target(place, path, entry->d_type == DT_LNK);
        g_autofree char *link = g_build_filename(to, name, NULL);
        if (symlink(target, link) != 0 && errno != EEXIST)
            g_debug("no link '%s'", link);
    }
    if (dir)
        closedir(dir);
}

/* Makes the folders above the copy; with `links` those beside them, instead. Returns the place of
 * the copy, which the caller frees; NULL on error. */
static char *make_surroundings(const char *origin, const char *work, bool links, GError **error)
{
    const struct place place = {origin, work};
    g_auto(GStrv) parts = g_strsplit(origin + 1, "/", -1);
    g_autofree char *folder = g_strdup("/"), *to = g_strdup(work);
    for (int i = 0; parts[i]; i++) {
        if (!links && !orch_dir_make(to, error))
            return NULL;
        if (links)
            link_siblings(&place, folder, parts[i], to);
        descend(&folder, parts[i]);
        descend(&to, parts[i]);
    }
    return g_steal_pointer(&to);
}

/* Adds what lies in the work tree but is not in the copy, where the copy has a link to it. */
static void add_live(json_t *live, const char *origin, const char *copy, const char *relative)
{
    g_autofree char *link = g_build_filename(copy, relative, NULL);
    g_autofree char *original = g_build_filename(origin, relative, NULL);
    g_autofree char *target = g_file_read_link(link, NULL);
    if (g_strcmp0(target, original) == 0)
        json_array_append_new(live, json_string(relative));
}

static bool make_link(const char *target, const char *link)
{
    g_autofree char *folder = g_path_get_dirname(link);
    return orch_dir_make(folder, NULL) && symlink(target, link) == 0;
}

/* Links git's folder and orch's, without which programs that ask for the commit would fail. Returns
 * all that the copy has in common with the work tree. */
static json_t *link_live(struct orch_plan *plan, const char *origin, const char *copy)
{
    const struct orch_workspace *workspace = plan->workspace;
    const struct orch_uncaptured *uncaptured =
        (workspace->base ? workspace->base : workspace)->uncaptured;
    const char *const own[] = {".git", ".orch",
                               orch_path_below(orch_store_folder(plan->store), origin)};
    json_t *live = json_array();
    for (unsigned i = 0; i < G_N_ELEMENTS(own); i++) {
        g_autofree char *target = own[i] ? g_build_filename(origin, own[i], NULL) : NULL;
        g_autofree char *link = own[i] ? g_build_filename(copy, own[i], NULL) : NULL;
        if (target && g_file_test(target, G_FILE_TEST_EXISTS) && make_link(target, link))
            add_live(live, origin, copy, own[i]);
    }
    for (guint i = 0; uncaptured && i < uncaptured->paths->len; i++)
        add_live(live, origin, copy, uncaptured->paths->pdata[i]);
    return live;
}

/* ---- artifacts --------------------------------------------------------------------------------
 */

/* What ${name} stands for in the name of an artifact. New reference. */
static json_t *values_of(const struct orch_plan_item *item)
{
    const struct orch_cell *cell = item->cell;
    const GPtrArray *params = cell->experiment->manifest->params;
    json_t *values = json_copy(cell->params);
    /* folders of the trial's own: any absolute path */
    json_t *own = json_pack("{s:o s:o s:i s:s s:s s:s}", "seed", orch_json_u64(item->seed),
                            "seed64", orch_json_u64(item->seed), "repeat", cell->repeat,
                            "checkpoint_dir", "/", "trial_dir", "/", "manifest_dir", "/");
    json_object_update_missing(values, own);
    json_decref(own);
    for (guint i = 0; i < params->len; i++) {
        const struct orch_param_spec *spec = params->pdata[i];
        if (!json_object_get(values, spec->name))
            json_object_set_new(values, spec->name, json_null());
    }
    return values;
}

char *orch_artifact_path(const struct orch_plan_item *item, const struct orch_artifact_spec *spec)
{
    g_autoptr(json_t) values = values_of(item);
    char *path = spec->path ? orch_value_expand(spec->path, values, NULL) : NULL;
    if (path && g_path_is_absolute(path))
        g_clear_pointer(&path, g_free);
    return path;
}

/* Puts a folder with links to its entries in place of a link to a folder of the work tree. */
static void open_folder(const char *origin, const char *copy, const char *relative, json_t *live)
{
    g_autofree char *link = g_build_filename(copy, relative, NULL);
    g_autofree char *target = g_file_read_link(link, NULL);
    g_autoptr(GDir) dir = target ? g_dir_open(target, 0, NULL) : NULL;
    const char *name;
    if (!dir || unlink(link) != 0 || mkdir(link, 0755) != 0)
        return;
    for (int left = ENTRIES_MAX; left > 0 && (name = g_dir_read_name(dir)); left--) {
        g_autofree char *inner = g_build_filename(relative, name, NULL);
        g_autofree char *from = g_build_filename(target, name, NULL);
        g_autofree char *to = g_build_filename(link, name, NULL);
        if (symlink(from, to) == 0)
            add_live(live, origin, copy, inner);
    }
}

/* Puts a copy in place of a link to a file; a large one is left out. */
static void own_file(const char *link)
{
    struct stat info;
    g_autofree char *target = g_file_read_link(link, NULL);
    if (!target || unlink(link) != 0 || !g_path_is_absolute(target) || stat(target, &info) != 0 ||
        !S_ISREG(info.st_mode) || info.st_size > COPIED_FILE_BYTES)
        return;
    g_autofree char *from = g_path_get_dirname(target), *to = g_path_get_dirname(link);
    g_autofree char *name = g_path_get_basename(link);
    int in = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int out = in < 0 ? -1 : open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (out >= 0)
        copy_file(in, out, name, info.st_mode);
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
}

/* Gives the trial its own place for a file that it keeps as an artifact: git mostly ignores such
 * files and their folders, so that the copy has links to those of the work tree. */
static void own_artifact(const char *origin, const char *copy, const char *path, json_t *live)
{
    g_autofree char *absolute = orch_path_absolute(path, copy);
    g_autofree char *relative = g_strdup(orch_path_below(absolute, copy));
    for (char *at = relative; at; at = strchr(at + 1, '/')) {
        g_autofree char *folder = g_strndup(relative, (gsize)(at - relative));
        g_autofree char *link = g_build_filename(copy, folder, NULL);
        if (at > relative && g_file_test(link, G_FILE_TEST_IS_SYMLINK))
            open_folder(origin, copy, folder, live);
    }
    if (relative)
        own_file(absolute);
}

/* Removes from the list what is no link any more. */
static void drop_opened(const char *copy, json_t *live)
{
    for (size_t i = json_array_size(live); i-- > 0;) {
        g_autofree char *link =
            g_build_filename(copy, json_string_value(json_array_get(live, i)), NULL);
        if (!g_file_test(link, G_FILE_TEST_IS_SYMLINK))
            json_array_remove(live, i);
    }
}

static json_t *own_artifacts(const struct orch_plan_item *item, const char *origin,
                             const char *copy, const char *relative, json_t *live)
{
    const GPtrArray *artifacts = item->cell->experiment->manifest->artifacts;
    for (guint i = 0; artifacts && i < artifacts->len; i++) {
        g_autofree char *path = orch_artifact_path(item, artifacts->pdata[i]);
        g_autofree char *whole = path ? g_strconcat(copy, relative, "/", path, NULL) : NULL;
        if (whole)
            own_artifact(origin, copy, whole, live);
    }
    drop_opened(copy, live);
    return live;
}

json_t *orch_apart_make(struct orch_plan *plan, const struct orch_plan_item *item, const char *home,
                        const char *trial_dir, char **out_cwd, GError **error)
{
    struct orch_workspace *workspace = plan->workspace;
    const char *origin = orch_workspace_origin(workspace), *tree = workspace->source->tree;
    const char *relative = home + strlen(workspace->root);
    struct budget budget = {COPIED_FILES, COPIED_BYTES, COPIED_BYTES, false};
    g_autofree char *work = g_build_filename(trial_dir, ORCH_TRIAL_WORK, NULL);
    g_autofree char *whole = orch_workspace_copy(workspace, tree, error);
    g_autofree char *copy = whole ? make_surroundings(origin, work, false, error) : NULL;
    if (!copy || !mirror(whole, relative, copy, &budget, error))
        return NULL;
    if (budget.has_links ||
        !orch_mount_space_is_allowed()) /* else the copy is shown in its place */
        g_free(make_surroundings(origin, work, true, NULL));
    json_t *python = json_array();
    g_autoptr(GPtrArray) folders = orch_redirect_python(plan, item->cell->experiment, NULL);
    for (guint i = 0; i < folders->len; i++)
        json_array_append_new(python, json_string(folders->pdata[i]));
    *out_cwd = g_strconcat(copy + strlen(trial_dir) + 1, relative, NULL);
    return json_pack("{s:s s:s s:s s:s s:b s:o s:o}", "origin", origin, "root", workspace->root,
                     "copy", copy + strlen(trial_dir) + 1, "tree", tree, "is_whole",
                     !budget.has_links, "live",
                     own_artifacts(item, origin, copy, relative, link_live(plan, origin, copy)),
                     "python", python);
}
