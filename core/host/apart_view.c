/* SPDX-License-Identifier: MIT */
#include "core/host/apart_view.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/mount_space.h"
#include "lib/base/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

struct apart {
    char *trial_dir, *origin, *root, *copy; /* absolute */
    GPtrArray *live;                        /* char *: relative paths */
    GPtrArray *python;                      /* char *: the same */
    bool is_mounted;
};

/* ---- paths ------------------------------------------------------------------------------------
 */

/* Replaces the folder `from` by `to` wherever it begins a path in a text: at the text's beginning
 * or behind a character that does not belong to a path. Takes `text` over. */
static char *replace_folder(char *text, const char *from, const char *to)
{
    size_t length = strlen(from);
    GString *out = NULL;
    const char *rest = text;
    for (const char *at = text; strcmp(from, to) != 0 && (at = strstr(at, from)); at += length) {
        bool begins = at == text || strchr("=:,;'\" \t(", at[-1]);
        bool ends = strchr("/:,;'\" \t)", at[length]) != NULL; /* also the text's end */
        if (!begins || !ends)
            continue;
        if (!out)
            out = g_string_new(NULL);
        g_string_append_len(out, rest, at - rest);
        g_string_append(out, to);
        rest = at + length;
    }
    if (!out)
        return text;
    g_string_append(out, rest);
    g_free(text);
    return g_string_free(out, FALSE);
}

/* A text of the plan as the trial's processes need it. Takes `text` over. */
static char *translate(const struct apart *apart, char *text)
{
    const char *to = apart->is_mounted ? apart->origin : apart->copy;
    if (strcmp(apart->root, apart->origin) != 0)
        text = replace_folder(text, apart->root, to);
    return replace_folder(text, apart->origin, to);
}

static json_t *translate_json(const struct apart *apart, json_t *value)
{
    if (json_is_string(value)) {
        g_autofree char *text = translate(apart, g_strdup(json_string_value(value)));
        return json_string(text);
    }
    if (!json_is_array(value))
        return json_incref(value);
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(value); i++)
        json_array_append_new(list, translate_json(apart, json_array_get(value, i)));
    return list;
}

static void translate_trial(const struct apart *apart, struct orch_trial_spec *trial)
{
    const char *name;
    json_t *value;
    void *next;
    json_object_foreach_safe(trial->params, next, name, value)
        json_object_set_new(trial->params, name, translate_json(apart, value));
    for (char **word = trial->manifest->argv; word && *word; word++)
        *word = translate(apart, *word);
}

static char *moved(const char *path, const char *from, const char *to)
{
    return orch_path_within(path, from) ? g_strconcat(to, path + strlen(from), NULL)
                                        : g_strdup(path);
}

char *orch_apart_inside(const struct apart *apart, const char *path)
{
    return apart->is_mounted ? moved(path, apart->copy, apart->origin) : g_strdup(path);
}

char *orch_apart_outside(const struct apart *apart, const char *path)
{
    bool is_hidden = apart && apart->is_mounted && !orch_path_within(path, apart->trial_dir);
    return is_hidden ? moved(path, apart->origin, apart->copy) : g_strdup(path);
}

const char *orch_apart_copy(const struct apart *apart)
{
    return apart ? apart->copy : NULL;
}

/* ---- mounts -----------------------------------------------------------------------------------
 */

/* A mount needs a folder or a file in place of the link. */
static void make_mount_point(const char *link)
{
    struct stat target, there;
    bool has_target = stat(link, &target) == 0;
    if (lstat(link, &there) != 0 || !S_ISLNK(there.st_mode) || !has_target || unlink(link) != 0)
        return;
    if (S_ISDIR(target.st_mode)) {
        mkdir(link, 0700);
        return;
    }
    int fd = open(link, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
}

/* The part of a link's target below the work tree, "" for the work tree itself; NULL when it leads
 * elsewhere, or is relative. The caller frees. */
static char *inside_origin(const struct apart *apart, const char *target)
{
    const char *inner = g_path_is_absolute(target) ? orch_path_within(target, apart->origin) : NULL;
    char *real = inner || !g_path_is_absolute(target) ? NULL : realpath(target, NULL);
    char *found = g_strdup(real ? orch_path_within(real, apart->origin) : inner);
    free(real);
    return found;
}

/* Lets an absolute link of the work tree into itself lead into the copy. A live link leads to its
 * own place there. */
static bool turn_link(void *ctx, const struct orch_walked *entry)
{
    const struct apart *apart = ctx;
    char target[4096];
    ssize_t n = S_ISLNK(entry->info.st_mode)
                    ? readlinkat(entry->folder, entry->name, target, sizeof target - 1)
                    : -1;
    if (n <= 0)
        return true;
    target[n] = '\0';
    g_autofree char *inner = inside_origin(apart, target);
    if (!inner || strcmp(inner, entry->path) == 0)
        return true;
    g_autofree char *to = g_build_filename(apart->copy, inner, NULL);
    if (unlinkat(entry->folder, entry->name, 0) != 0 ||
        symlinkat(to, entry->folder, entry->name) != 0)
        g_debug("'%s' leads to '%s'", entry->path, target);
    return true;
}

void orch_apart_prepare(const struct apart *apart)
{
    for (guint i = 0; apart && apart->is_mounted && i < apart->live->len; i++) {
        g_autofree char *link = g_build_filename(apart->copy, apart->live->pdata[i], NULL);
        make_mount_point(link);
    }
    int copy =
        apart && !apart->is_mounted ? open(apart->copy, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (copy < 0)
        return;
    orch_walk(copy, false, turn_link, (void *)(uintptr_t)apart, NULL);
    close(copy);
}

static char *failure(const char *what, const char *path)
{
    int saved = errno;
    return g_strdup_printf("cannot %s '%s': %s", what, path, g_strerror(saved));
}

char *orch_apart_enter(const struct apart *apart)
{
    if (!apart->is_mounted)
        return NULL;
    if (!orch_mount_space_enter())
        return failure("make mounts of its own for", apart->origin);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* entering a user namespace has cleared it */
    for (guint i = 0; i < apart->live->len; i++) {
        g_autofree char *from = g_build_filename(apart->origin, apart->live->pdata[i], NULL);
        g_autofree char *to = g_build_filename(apart->copy, apart->live->pdata[i], NULL);
        if (!orch_mount_bind(from, to) && errno != ENOENT)
            return failure("show in the folder apart", from);
    }
    return orch_mount_bind(apart->copy, apart->origin) ? NULL
                                                       : failure("show the copy at", apart->origin);
}

/* Moves a file or folder, also to another file system. */
static bool move(const char *from, const char *to)
{
    const char *argv[] = {"mv", "-f", "-T", "--", from, to, NULL};
    int status;
    return g_spawn_sync(NULL, (char **)(uintptr_t)argv, NULL,
                        G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL |
                            G_SPAWN_STDERR_TO_DEV_NULL,
                        NULL, NULL, NULL, NULL, &status, NULL) &&
           status == 0;
}

/* Whether a link was put beside the copy for the original, and is not the trial's. */
static bool stands_for(const struct apart *apart, const char *link, const char *original)
{
    g_autofree char *target = g_file_read_link(link, NULL);
    return target && (strcmp(target, original) == 0 || orch_path_within(target, apart->copy));
}

/* Moves what the trial made in one folder above its copy, other than the next folder on the way, to
 * the folder for which it stands ("" is the root). What cannot lie there goes into the copy, whose
 * files are kept with the run. */
static void bring_back_from(const struct apart *apart, const char *folder, const char *original,
                            const char *next)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir))) {
        struct stat info;
        g_autofree char *from = g_build_filename(folder, name, NULL);
        g_autofree char *to = g_strconcat(original, "/", name, NULL);
        g_autofree char *kept = g_build_filename(apart->copy, name, NULL);
        if (strcmp(name, next) == 0 || lstat(from, &info) != 0 ||
            (S_ISLNK(info.st_mode) && stands_for(apart, from, to)))
            continue;
        if (!move(from, to) && !g_file_test(kept, G_FILE_TEST_EXISTS) && !move(from, kept))
            g_debug("'%s' cannot be moved to '%s'", from, to);
    }
}

static void bring_back(const struct apart *apart)
{
    const char *origin = apart->origin;
    g_autofree char *surroundings = NULL;
    if (!g_str_has_suffix(apart->copy, origin))
        return;
    surroundings = g_strndup(apart->copy, strlen(apart->copy) - strlen(origin));
    for (const char *at = origin; at; at = strchr(at + 1, '/')) {
        g_autofree char *original = g_strndup(origin, (gsize)(at - origin));
        g_autofree char *folder = g_strconcat(surroundings, original, NULL);
        g_autofree char *next = g_strndup(at + 1, strcspn(at + 1, "/"));
        bring_back_from(apart, folder, original, next);
    }
}

void orch_apart_leave(const struct apart *apart)
{
    if (apart && !apart->is_mounted)
        bring_back(apart);
    for (guint i = 0; apart && apart->is_mounted && i < apart->live->len; i++) {
        g_autofree char *link = g_build_filename(apart->copy, apart->live->pdata[i], NULL);
        g_autofree char *target = g_build_filename(apart->origin, apart->live->pdata[i], NULL);
        struct stat there;
        if (lstat(link, &there) != 0 || S_ISLNK(there.st_mode))
            continue;
        bool is_gone = S_ISDIR(there.st_mode) ? rmdir(link) == 0 : unlink(link) == 0;
        if (is_gone && symlink(target, link) != 0)
            g_debug("no link '%s'", link);
    }
}

/* ---- environment ------------------------------------------------------------------------------
 */

/* Puts the copy's folders before a list of folders. */
static char **put_before(char **env, const char *name, const GString *folders)
{
    const char *value = g_environ_getenv(env, name);
    g_autofree char *joined = g_strconcat(folders->str, value && *value ? ":" : "", value, NULL);
    return folders->len ? g_environ_setenv(env, name, joined, TRUE) : env;
}

static void add_folder(GString *list, const char *folder)
{
    g_string_append_printf(list, "%s%s", list->len ? ":" : "", folder);
}

char **orch_apart_environment(const struct apart *apart, char **env)
{
    static const char *const lists[] = {"PYTHONPATH", "PATH", "LD_LIBRARY_PATH",
                                        "CMAKE_PREFIX_PATH"};
    for (unsigned i = 0; !apart->is_mounted && i < G_N_ELEMENTS(lists); i++) {
        g_autoptr(GString) folders = g_string_new(NULL);
        const char *value = g_environ_getenv(env, lists[i]);
        g_auto(GStrv) parts = g_strsplit(value ? value : "", ":", -1);
        for (int j = 0; parts[j]; j++) {
            g_autofree char *there = moved(parts[j], apart->origin, apart->copy);
            if (strcmp(there, parts[j]) != 0)
                add_folder(folders, there);
        }
        for (guint j = 0; i == 0 && j < apart->python->len; j++) {
            g_autofree char *there = g_build_filename(apart->copy, apart->python->pdata[j], NULL);
            add_folder(folders, there);
        }
        env = put_before(env, lists[i], folders);
    }
    return env;
}

/* ---- opening ----------------------------------------------------------------------------------
 */

static GPtrArray *texts_of(const json_t *list)
{
    GPtrArray *texts = g_ptr_array_new_with_free_func(g_free);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_is_string(json_array_get(list, i)))
            g_ptr_array_add(texts, g_strdup(json_string_value(json_array_get(list, i))));
    return texts;
}

struct apart *orch_apart_open(struct orch_trial_spec *trial, const char *trial_dir)
{
    const json_t *spec = trial->apart;
    const char *origin = orch_json_text(spec, "origin", NULL);
    const char *copy = orch_json_text(spec, "copy", NULL);
    if (!origin || !copy)
        return NULL;
    struct apart *apart = g_new0(struct apart, 1);
    apart->trial_dir = g_strdup(trial_dir);
    apart->origin = g_strdup(origin);
    apart->root = g_strdup(orch_json_text(spec, "root", origin));
    apart->copy = orch_path_absolute(copy, trial_dir);
    apart->live = texts_of(json_object_get(spec, "live"));
    apart->python = texts_of(json_object_get(spec, "python"));
    apart->is_mounted =
        json_is_true(json_object_get(spec, "is_whole")) && orch_mount_space_is_allowed();
    translate_trial(apart, trial);
    return apart;
}

void orch_apart_free(struct apart *apart)
{
    if (!apart)
        return;
    g_free(apart->trial_dir);
    g_free(apart->origin);
    g_free(apart->root);
    g_free(apart->copy);
    g_ptr_array_unref(apart->live);
    g_ptr_array_unref(apart->python);
    g_free(apart);
}

const char *orch_apart_kind(const struct apart *apart)
{
    return apart->is_mounted ? "mount" : "links";
}
