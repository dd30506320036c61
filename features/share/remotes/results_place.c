/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The local repository and the names of remotes. `git` reports where the objects are, so linked
 * work trees, submodules and all extensions of its configuration are handled by git. */
#include "features/share/remotes/results_private.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"
#include "lib/vcs/libgit2_init.h"

#include <git2/sys/mempack.h>
#include <git2/sys/odb_backend.h>
#include <git2/sys/repository.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool orch_results_fail(GError **error, const char *doing)
{
    const git_error *last = git_error_last();
    orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot %s: %s", doing,
                   last && last->message ? last->message : "unknown libgit2 error");
    return false;
}

static bool run_git(const char *dir, const char *const *args, int quiet_status, GString **out,
                    int *out_status, GError **error)
{
    struct orch_git_run run = {.dir = dir, .args = args, .quiet_status = quiet_status};
    return orch_git_run(&run, out, out_status, error);
}

/* The git directory, with the objects, of the repository that contains `dir`; NULL without error
 * when there is none. */
static char *find_git_dir(const char *dir, GError **error)
{
    static const char *const args[] = {"rev-parse", "--git-common-dir", "--show-object-format",
                                       NULL};
    GString *out = NULL;
    int status = 0;
    if (!run_git(dir, args, 128, &out, &status, error))
        return NULL;
    g_auto(GStrv) lines = g_strsplit(out->str, "\n", 3);
    g_string_free(out, TRUE);
    if (status != 0 || g_strv_length(lines) < 2)
        return NULL;
    if (strcmp(lines[1], "sha1") != 0) {
        orch_error_set(
            error, ORCH_ERROR_IO, "share through a folder: orch push DIR",
            "results cannot be stored in the repository '%s', because it has %s object IDs", dir,
            lines[1]);
        return NULL;
    }
    return orch_path_absolute(lines[0], dir);
}

static char *make_private(const char *store_folder, GError **error)
{
    char *path = g_build_filename(store_folder, "exchange.git", NULL);
    g_autofree char *head = g_build_filename(path, "HEAD", NULL);
    const char *const args[] = {"init", "--quiet", "--bare", "--object-format=sha1", path, NULL};
    if (access(head, F_OK) == 0 || run_git(store_folder, args, 0, NULL, NULL, error))
        return path;
    g_free(path);
    return NULL;
}

/* Reads all remotes, the configured one, those of branches, and whether ssh is set, with one
 * command. */
static bool read_config(struct results_place *place, GError **error)
{
    static const char *const args[] = {
        "config", "--null", "--get-regexp",
        "^(orch\\.remote|core\\.sshcommand|branch\\..*\\.remote|remote\\..*\\.(url|pushurl))$",
        NULL};
    GString *out = NULL;
    if (!run_git(place->dir, args, 1, &out, NULL, error))
        return false;
    for (const char *at = out->str; at < out->str + out->len; at += strlen(at) + 1) {
        const char *value = strchr(at, '\n');
        g_autofree char *key = value ? g_strndup(at, (gsize)(value - at)) : g_strdup(at);
        value = value ? value + 1 : "";
        const char *first = strchr(key, '.') + 1;
        const char *last = strrchr(key, '.');
        g_autofree char *middle = last > first ? g_strndup(first, (gsize)(last - first)) : NULL;
        if (strcmp(key, "orch.remote") == 0) {
            g_free(place->wanted_remote);
            place->wanted_remote = g_strdup(value);
        } else if (strcmp(key, "core.sshcommand") == 0) {
            place->sets_ssh = true;
        } else if (middle && g_str_has_prefix(key, "branch.")) {
            g_hash_table_insert(place->branch_remotes, g_steal_pointer(&middle), g_strdup(value));
        } else if (middle) {
            if (!g_hash_table_contains(place->urls, middle) || strcmp(last, ".pushurl") == 0)
                g_hash_table_insert(place->urls, g_strdup(middle), g_strdup(value));
            if (!g_ptr_array_find_with_equal_func(place->remotes, middle, g_str_equal, NULL))
                g_ptr_array_add(place->remotes, g_steal_pointer(&middle));
        }
    }
    g_string_free(out, TRUE);
    return true;
}

static bool open_objects(struct results_place *place, GError **error)
{
    g_autofree char *objects = g_build_filename(place->git_dir, "objects", NULL);
    if (git_odb_open(&place->odb, objects) != 0 || git_mempack_new(&place->memory) != 0 ||
        git_odb_add_backend(place->odb, place->memory, 999) != 0 ||
        git_repository_wrap_odb(&place->repository, place->odb) != 0)
        return orch_results_fail(error, "open the repository's objects");
    return true;
}

static struct results_place *place_new(const char *folder)
{
    struct results_place *place = g_new0(struct results_place, 1);
    place->remotes = g_ptr_array_new_with_free_func(g_free);
    place->branch_remotes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    place->urls = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    place->waiting = g_array_new(FALSE, FALSE, sizeof(git_oid));
    place->dir = g_strdup(folder);
    orch_libgit2_init();
    /* git checked every object when it was received; checking it again on each read costs a third
     * of the time */
    git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 0);
    return place;
}

struct results_place *orch_results_place_open(const char *folder, const char *store_folder,
                                              GError **error)
{
    struct results_place *place = place_new(folder);
    GError *problem = NULL;
    place->git_dir = find_git_dir(folder, &problem);
    if (!place->git_dir && !problem && store_folder) {
        place->git_dir = make_private(store_folder, &problem);
        g_free(place->dir);
        place->dir = g_strdup(place->git_dir);
    } else if (!place->git_dir && !problem) {
        orch_error_set(&problem, ORCH_ERROR_IO, "run 'git init'", "'%s' is not in a git repository",
                       folder);
    }
    if (!problem && read_config(place, &problem) && open_objects(place, &problem))
        return place;
    g_propagate_error(error, problem);
    orch_results_place_close(place);
    return NULL;
}

void orch_results_place_close(struct results_place *place)
{
    if (!place)
        return;
    git_repository_free(place->repository);
    git_odb_free(place->odb);
    git_libgit2_shutdown();
    g_array_unref(place->waiting);
    g_ptr_array_unref(place->remotes);
    g_hash_table_unref(place->branch_remotes);
    g_hash_table_unref(place->urls);
    g_free(place->wanted_remote);
    g_free(place->dir);
    g_free(place->git_dir);
    g_free(place->remote);
    g_free(place->tracking);
    g_free(place);
}

/* ---- remotes ------------------------------------------------------------------------------------
 */

static bool has_remote(const struct results_place *place, const char *name)
{
    return g_ptr_array_find_with_equal_func(place->remotes, name, g_str_equal, NULL);
}

/* The default remote: the configured one, the only one, the branch's, or origin. NULL when there is
 * none. The caller frees. */
static char *default_remote(struct results_place *place)
{
    static const char *const args[] = {"symbolic-ref", "--quiet", "--short", "HEAD", NULL};
    if (place->wanted_remote && *place->wanted_remote)
        return g_strdup(place->wanted_remote);
    if (place->remotes->len == 1)
        return g_strdup(place->remotes->pdata[0]);
    GString *branch = NULL;
    const char *of_branch = NULL;
    if (place->remotes->len && run_git(place->dir, args, 1, &branch, NULL, NULL)) {
        of_branch = g_hash_table_lookup(place->branch_remotes, g_strchomp(branch->str));
        g_string_free(branch, TRUE);
    }
    if (of_branch && has_remote(place, of_branch))
        return g_strdup(of_branch);
    return has_remote(place, "origin") ? g_strdup("origin") : NULL;
}

static bool is_url(const char *text)
{
    const char *colon = strchr(text, ':');
    const char *slash = strchr(text, '/');
    return colon && colon > text && (!slash || slash > colon);
}

static void set_no_remote(struct results_place *place, GError **error)
{
    orch_error_set(error, ORCH_ERROR_IO,
                   place->remotes->len ? "select one: git config orch.remote NAME"
                                       : "add one: git remote add origin URL",
                   place->remotes->len ? "'%s' has several remotes and none is called 'origin'"
                                       : "'%s' has no remote",
                   place->dir);
}

/* True, with an error and a hint, for a path that cannot be a remote. */
static bool is_odd_path(const char *path, GError **error)
{
    g_autofree char *base = g_path_get_basename(path);
    if (access(path, F_OK) != 0)
        orch_error_set(error, ORCH_ERROR_IO, "mount the folder, or make it with 'mkdir DIR'",
                       "there is no git repository and no folder '%s'", path);
    else if (g_file_test(path, G_FILE_TEST_IS_REGULAR) && strcmp(base, ".git") != 0)
        orch_error_set(error, ORCH_ERROR_IO, "to merge a store or bundle: orch db merge FILE",
                       "'%s' is a file, not a remote", path);
    else
        return false;
    return true;
}

/* Resolves the user's name of a remote to what git takes: a name, an absolute path or a URL. NULL
 * when it is unknown. */
static char *meaning_of(struct results_place *place, const char *said, GError **error)
{
    if (has_remote(place, said))
        return g_strdup(said);
    if (said[0] == '-' || !*said) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL, "'%s' is not a valid remote name", said);
        return NULL;
    }
    if (is_url(said))
        return g_strdup(said);
    if (strchr(said, '/') || access(said, F_OK) == 0) {
        g_autofree char *path = orch_path_absolute(said, NULL);
        return is_odd_path(path, error) ? NULL : g_steal_pointer(&path);
    }
    g_autoptr(GPtrArray) names =
        g_ptr_array_copy(place->remotes, (GCopyFunc)(void *)g_strdup, NULL);
    g_ptr_array_set_free_func(names, g_free);
    g_ptr_array_add(names, NULL);
    g_autofree char *near = orch_suggest_hint(said, (const char *const *)names->pdata);
    orch_error_set(error, ORCH_ERROR_IO,
                   near ? near
                        : "'git remote -v' lists the remotes; 'mkdir DIR' makes a shared folder",
                   "there is no remote or folder '%s'", said);
    return NULL;
}

/* A tracking ref whose name is valid and unique to the remote. */
static char *tracking_ref(const struct results_place *place, const char *remote)
{
    char digest[ORCH_SHA256_CHARS];
    size_t length = strlen(remote);
    bool is_plain = has_remote(place, remote) && length < 64 &&
                    strspn(remote, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                   "_-") == length;
    if (is_plain && remote[0] != '-')
        return g_strconcat(RESULTS_REMOTES, remote, NULL);
    orch_sha256(remote, length, digest);
    return g_strdup_printf("%sat.%.16s", RESULTS_REMOTES, digest);
}

bool orch_results_place_set_remote(struct results_place *place, const char *said, GError **error)
{
    g_autofree char *chosen = said ? g_strdup(said) : default_remote(place);
    if (!chosen) {
        set_no_remote(place, error);
        return false;
    }
    place->remote = meaning_of(place, chosen, error);
    if (!place->remote)
        return false;
    place->tracking = tracking_ref(place, place->remote);
    const char *const refs[] = {RESULTS_REF, place->tracking};
    for (size_t i = 0; i < G_N_ELEMENTS(refs); i++) {
        g_autofree char *lock = g_strconcat(place->git_dir, "/", refs[i], ".lock", NULL);
        orch_results_lock_wait(lock);
    }
    return true;
}

char *orch_git_remote_default(const char *repository, GError **error)
{
    struct results_place *place = place_new(repository);
    char *name = NULL;
    if (read_config(place, error)) {
        name = default_remote(place);
        if (!name)
            set_no_remote(place, error);
    }
    orch_results_place_close(place);
    return name;
}

bool orch_git_remote_is(const char *repository, const char *name)
{
    struct results_place *place = place_new(repository);
    bool is = read_config(place, NULL) && has_remote(place, name);
    orch_results_place_close(place);
    return is;
}

/* ---- refs ---------------------------------------------------------------------------------------
 */

/* Finds the object of a ref in lines "OID REF". */
static void find_ref(char *const *lines, const char *ref, git_oid *out)
{
    memset(out, 0, sizeof *out);
    for (int i = 0; lines[i]; i++) {
        const char *name = strchr(lines[i], ' ');
        if (name && strcmp(name + 1, ref) == 0)
            git_oid_fromstrn(out, lines[i], (size_t)(name - lines[i]));
    }
}

bool orch_results_refs_get(struct results_place *place, git_oid *out_ours, git_oid *out_theirs,
                           GError **error)
{
    const char *const args[] = {"for-each-ref", "--format=%(objectname) %(refname)", RESULTS_REF,
                                place->tracking, NULL};
    GString *text = NULL;
    if (!run_git(place->dir, args, 0, &text, NULL, error))
        return false;
    g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);
    g_string_free(text, TRUE);
    find_ref(lines, RESULTS_REF, out_ours);
    if (place->tracking)
        find_ref(lines, place->tracking, out_theirs);
    return true;
}

static bool get_ref(struct results_place *place, const char *ref, git_oid *out)
{
    const char *const args[] = {"for-each-ref", "--format=%(objectname) %(refname)", ref, NULL};
    GString *text = NULL;
    if (!run_git(place->dir, args, 0, &text, NULL, NULL))
        return false;
    g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);
    g_string_free(text, TRUE);
    find_ref(lines, ref, out);
    return true;
}

bool orch_results_ref_set(struct results_place *place, const char *ref, const git_oid *commit,
                          const git_oid *old, bool *out_moved, GError **error)
{
    char to[GIT_OID_HEXSZ + 1], from[GIT_OID_HEXSZ + 1];
    git_oid_tostr(to, sizeof to, commit);
    git_oid_tostr(from, sizeof from, old);
    const char *const args[] = {"update-ref", ref, to, from, NULL};
    GError *problem = NULL;
    git_oid now;
    *out_moved = false;
    if (run_git(place->dir, args, 0, NULL, NULL, &problem))
        return true;
    if (get_ref(place, ref, &now) && !git_oid_equal(&now, old)) {
        *out_moved = !git_oid_equal(&now, commit);
        g_error_free(problem);
        return true;
    }
    if (orch_results_is_ref_locked(problem->message)) {
        *out_moved = true; /* another process is changing it */
        g_error_free(problem);
        return true;
    }
    g_propagate_error(error, problem);
    return false;
}
