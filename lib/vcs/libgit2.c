/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The libgit2 backend: opening, its limitations, settings and refs. */
#include "lib/vcs/libgit2.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/vcs/libgit2_init.h"

#include <stdarg.h>
#include <string.h>

#define ATTRIBUTES_BYTES_MAX ((size_t)1 << 20)
#define REF_ATTEMPTS_MAX 50
#define REF_WAIT_US 10000

/* ---- open -------------------------------------------------------------------------------------
 */

/* Maps libgit2's messages for unsupported repositories to the name of the feature. */
static const struct {
    const char *message, *reason;
} refusals[] = {
    {"worktreeconfig", "worktree config"},
    {"objectformat", "SHA-256 objects"},
    {"object format", "SHA-256 objects"},
    {"partialclone", "partial clone"},
    {"'link'", "split index"},
    {"'sdir'", "sparse index"},
    {"not owned by current user", "owned by another user"},
};

/* Returns why libgit2 refuses the repository. Caller frees. */
static char *refusal_reason(void)
{
    const git_error *last = git_error_last();
    const char *message = last && last->message ? last->message : "libgit2 refuses it";
    g_autofree char *folded = g_ascii_strdown(message, -1);
    for (unsigned i = 0; i < G_N_ELEMENTS(refusals); i++)
        if (strstr(folded, refusals[i].message))
            return g_strdup(refusals[i].reason);
    return g_strdup(message);
}

static char *without_slash(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    return g_strndup(path, length);
}

bool orch_libgit2_open(struct orch_vcs *vcs, const char *dir, char **out_refusal)
{
    orch_libgit2_init();
    git_repository *repository = NULL;
    int status = git_repository_open_ext(&repository, dir, 0, NULL);
    if (status == 0 && !git_repository_is_bare(repository)) {
        vcs->repository = repository;
        g_autofree char *root = without_slash(git_repository_workdir(repository));
        vcs->root = orch_path_utf8(root, NULL);
        if (!vcs->root)
            vcs->root = g_steal_pointer(&root);
        vcs->git_dir = without_slash(git_repository_path(repository));
        return true;
    }
    bool is_none = status == 0 || status == GIT_ENOTFOUND;
    if (!is_none)
        *out_refusal = refusal_reason();
    git_repository_free(repository);
    git_libgit2_shutdown();
    return is_none;
}

void orch_libgit2_close(struct orch_vcs *vcs)
{
    if (!vcs->repository)
        return;
    git_repository_free(vcs->repository);
    vcs->repository = NULL;
    git_libgit2_shutdown();
}

/* Value of a setting; NULL if not set. Caller frees. */
static char *setting(struct orch_vcs *vcs, const char *key)
{
    git_config *config = NULL;
    git_buf value = {0};
    char *text = NULL;
    if (git_repository_config_snapshot(&config, vcs->repository) == 0 &&
        git_config_get_string_buf(&value, config, key) == 0)
        text = g_strdup(value.ptr);
    git_buf_dispose(&value);
    git_config_free(config);
    return text;
}

/* ---- limitations ------------------------------------------------------------------------------
 */

/* True if attribute `word` selects a filter that git would run but libgit2 would not. */
static bool is_foreign_filter(struct orch_vcs *vcs, const char *word)
{
    if (g_str_has_prefix(word, "working-tree-encoding="))
        return true;
    if (!g_str_has_prefix(word, "filter="))
        return false;
    const char *const programs[] = {"clean", "process", "smudge"};
    for (unsigned i = 0; i < G_N_ELEMENTS(programs); i++) {
        g_autofree char *key =
            g_strdup_printf("filter.%s.%s", word + strlen("filter="), programs[i]);
        g_autofree char *program = setting(vcs, key);
        if (program && *program)
            return true;
    }
    return false; /* a filter without programs has no effect in git either */
}

bool orch_attributes_need_git(struct orch_vcs *vcs, const char *path)
{
    g_autofree char *text = NULL;
    if (!orch_file_read(path, ATTRIBUTES_BYTES_MAX, &text, NULL, NULL))
        return false;
    if (!strstr(text, "filter=") && !strstr(text, "working-tree-encoding="))
        return false;
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++) {
        if (*g_strstrip(*line) == '#')
            continue;
        g_auto(GStrv) words = g_strsplit_set(*line, " \t\r", -1);
        for (char **word = words; *word; word++)
            if (is_foreign_filter(vcs, *word))
                return true;
    }
    return false;
}

/* Checks the attribute files outside the tree: the system's, the user's, the clone's. */
static bool has_outer_filter(struct orch_vcs *vcs)
{
    g_autofree char *configured = setting(vcs, "core.attributesfile");
    const char *home = g_get_home_dir();
    g_autofree char *users =
        !configured ? g_build_filename(g_get_user_config_dir(), "git/attributes", NULL)
        : g_str_has_prefix(configured, "~/") ? g_build_filename(home, configured + 2, NULL)
                                             : g_strdup(configured);
    const char *common = git_repository_commondir(vcs->repository);
    g_autofree char *clones = g_build_filename(common, "info/attributes", NULL);
    return orch_attributes_need_git(vcs, "/etc/gitattributes") ||
           orch_attributes_need_git(vcs, users) || orch_attributes_need_git(vcs, clones);
}

/* Checks the attribute files in the index, in their work tree version. */
static bool has_tracked_filter(struct orch_vcs *vcs, git_index *index)
{
    for (size_t i = 0; i < git_index_entrycount(index); i++) {
        const char *path = git_index_get_byindex(index, i)->path;
        const char *slash = strrchr(path, '/');
        if (strcmp(slash ? slash + 1 : path, ".gitattributes") != 0)
            continue;
        g_autofree char *full_path = g_build_filename(vcs->root, path, NULL);
        if (orch_attributes_need_git(vcs, full_path))
            return true;
    }
    return false;
}

char *orch_libgit2_limits(struct orch_vcs *vcs)
{
    git_index *index = NULL;
    g_autofree char *path = g_build_filename(vcs->git_dir, "index", NULL);
    if (git_index_open(&index, path) != 0 || git_index_read(index, true) != 0) {
        git_index_free(index);
        return refusal_reason();
    }
    g_autofree char *sparse = setting(vcs, "core.sparsecheckout");
    int is_sparse = 0;
    const char *reason = NULL;
    if (sparse && git_config_parse_bool(&is_sparse, sparse) == 0 && is_sparse)
        reason = "sparse checkout";
    else if (has_tracked_filter(vcs, index) || has_outer_filter(vcs))
        reason = "clean filters";
    git_index_free(index);
    return g_strdup(reason);
}

/* ---- settings and refs ------------------------------------------------------------------------
 */

static bool resolve(struct orch_vcs *vcs, const char *rev, char **out_commit, char **out_tree)
{
    char hex[ORCH_OID_CHARS];
    git_object *named = NULL, *commit = NULL;
    bool ok = git_revparse_single(&named, vcs->repository, rev) == 0 &&
              git_object_peel(&commit, named, GIT_OBJECT_COMMIT) == 0;
    if (ok) {
        *out_commit = g_strdup(git_oid_tostr(hex, sizeof hex, git_object_id(commit)));
        *out_tree = g_strdup(
            git_oid_tostr(hex, sizeof hex, git_commit_tree_id((const git_commit *)commit)));
    }
    git_object_free(commit);
    git_object_free(named);
    git_error_clear();
    return ok;
}

static bool keep(struct orch_vcs *vcs, const char *tree, GError **error)
{
    g_autofree char *name = g_strconcat(ORCH_REF_PREFIX, tree, NULL);
    git_oid oid, present;
    int status = git_oid_fromstr(&oid, tree);
    for (unsigned i = 0; status == 0 && i < REF_ATTEMPTS_MAX; i++) {
        if (git_reference_name_to_id(&present, vcs->repository, name) == 0 &&
            git_oid_equal(&present, &oid))
            return true;
        git_reference *reference = NULL;
        status = git_reference_create(&reference, vcs->repository, name, &oid, true, NULL);
        git_reference_free(reference);
        if (status != GIT_ELOCKED)
            break;
        status = 0; /* another capture of the same tree briefly holds the lock */
        g_usleep(REF_WAIT_US);
    }
    if (status == 0 && git_reference_name_to_id(&present, vcs->repository, name) == 0)
        return true;
    orch_libgit2_error(error, "cannot keep the captured source as '%s'", name);
    return false;
}

static int add_kept(const char *name, void *payload)
{
    g_ptr_array_add(payload, g_strdup(name + strlen(ORCH_REF_PREFIX)));
    return 0;
}

static GPtrArray *kept(struct orch_vcs *vcs, GError **error)
{
    GPtrArray *trees = g_ptr_array_new_with_free_func(g_free);
    if (git_reference_foreach_glob(vcs->repository, ORCH_REF_PREFIX "*", add_kept, trees) == 0)
        return trees;
    orch_libgit2_error(error, "cannot list the captured sources of '%s'", vcs->root);
    g_ptr_array_unref(trees);
    return NULL;
}

static bool drop(struct orch_vcs *vcs, const GPtrArray *trees, GError **error)
{
    for (unsigned i = 0; i < trees->len; i++) {
        g_autofree char *name = g_strconcat(ORCH_REF_PREFIX, trees->pdata[i], NULL);
        if (git_reference_remove(vcs->repository, name) == 0)
            continue;
        orch_libgit2_error(error, "cannot drop '%s'", name);
        return false;
    }
    return true;
}

const struct orch_backend ORCH_BACKEND_LIBGIT2 = {
    .scan = orch_libgit2_scan,
    .write = orch_libgit2_write,
    .resolve = resolve,
    .path = orch_libgit2_path,
    .common = orch_libgit2_common,
    .keep = keep,
    .setting = setting,
    .entries = orch_libgit2_entries,
    .build = orch_libgit2_build,
    .checkout = orch_libgit2_checkout,
    .ignored = orch_libgit2_ignored,
    .has_tree = orch_libgit2_has_tree,
    .diff_text = orch_libgit2_diff_text,
    .kept = kept,
    .drop = drop,
};
