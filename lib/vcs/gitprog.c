/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The backend that runs the `git` program: for repositories that libgit2 refuses and for clean
 * filters, which determine a file's object. Uses only plumbing commands, whose output does not
 * depend on the user's settings; all lists of paths are NUL-terminated. */
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/temporary.h"
#include "lib/vcs/backend.h"
#include "lib/vcs/git_command.h"
#include "lib/vcs/git_history.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REF_ATTEMPTS_MAX 50
#define REF_WAIT_US 10000
#define STATUS_MISSING 1 /* exit status of git config and rev-parse --verify for "not found" */

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Runs git in the work tree. Returns its stdout, which the caller frees, or NULL on error. */
static GString *git_output(const struct orch_vcs *vcs, const char *const *args,
                           const char *index_path, GError **error)
{
    GString *out = NULL;
    const struct orch_git_run run = {.dir = vcs->root,
                                     .args = args,
                                     .index_path = index_path,
                                     .settings = (const char *const *)vcs->filter_settings};
    return orch_git_run(&run, &out, NULL, error) ? out : NULL;
}

/* Like git_output, with `input` on stdin and no output. */
static bool git_input(const struct orch_vcs *vcs, const char *const *args, const char *index_path,
                      const GString *input, GError **error)
{
    const struct orch_git_run run = {.dir = vcs->root,
                                     .args = args,
                                     .index_path = index_path,
                                     .input = input,
                                     .settings = (const char *const *)vcs->filter_settings};
    return orch_git_run(&run, NULL, NULL, error);
}

/* Runs git for one line of output. NULL without error if git exits with `quiet_status`. */
static char *git_line(const char *dir, const char *const *args, int quiet_status, GError **error)
{
    GString *out = NULL;
    int status = 0;
    const struct orch_git_run run = {.dir = dir, .args = args, .quiet_status = quiet_status};
    if (!orch_git_run(&run, &out, &status, error))
        return NULL;
    if (out->len && out->str[out->len - 1] == '\n')
        g_string_truncate(out, out->len - 1);
    return g_string_free(out, status != 0);
}

/* ---- open -------------------------------------------------------------------------------------
 */

bool orch_gitprog_open(struct orch_vcs *vcs, const char *dir, GError **error)
{
    GError *problem = NULL;
    g_autofree char *inside =
        git_line(dir, ARGS("rev-parse", "--is-inside-work-tree"), 0, &problem);
    if (!inside) {
        /* "(or any of the parent directories)": no repository; "not a git repository: PATH": a
         * broken link */
        if (strstr(problem->message, "not a git repository (or any")) {
            g_error_free(problem);
            return true;
        }
        g_propagate_error(error, problem);
        return false;
    }
    if (strcmp(inside, "true") != 0) /* bare, or inside .git */
        return true;
    vcs->root = git_line(dir, ARGS("rev-parse", "--show-toplevel"), 0, error);
    vcs->git_dir =
        vcs->root ? git_line(dir, ARGS("rev-parse", "--absolute-git-dir"), 0, error) : NULL;
    return vcs->git_dir != NULL && orch_filters_find(vcs, error);
}

/* ---- scan -------------------------------------------------------------------------------------
 */

/* The text after the first `count` spaces. */
static const char *behind_fields(const char *record, unsigned count)
{
    for (; record && count; count--) {
        record = strchr(record, ' ');
        record = record ? record + 1 : NULL;
    }
    return record;
}

/* Parses "1 XY sub mH mI mW hH hI path" (`head_mode` 3, `head_oid` 6, `path` 8), or the record of a
 * conflict, in which stage 2 is HEAD's: "u XY sub m1 m2 m3 mW h1 h2 h3 path". */
static bool note_tracked(struct orch_capture *job, const char *record, unsigned head_mode,
                         unsigned head_oid, unsigned path)
{
    const char *name = behind_fields(record, path);
    if (!name || strlen(record) < strlen("1 XY N...") || !*name)
        return false;
    if (record[2] == 'D' &&
        record[3] == '.') /* removed from the index; any file there is untracked */
        return true;
    const char *submodule = behind_fields(record, 2);
    const char *mode_here = behind_fields(record, head_mode + 2);
    const char *oid = behind_fields(record, head_oid);
    struct orch_change *change = orch_capture_change(job, name);
    change->head_mode = (unsigned)g_ascii_strtoull(behind_fields(record, head_mode), NULL, 8);
    if (change->head_mode)
        g_strlcpy(change->head_oid, oid, MIN(sizeof change->head_oid, strcspn(oid, " ") + 1));
    change->is_submodule =
        *submodule == 'S' && g_ascii_strtoull(mode_here, NULL, 8) == ORCH_MODE_SUBMODULE;
    change->is_dirty_submodule = *submodule == 'S' && (submodule[2] == 'M' || submodule[3] == 'U');
    return true;
}

static void note_untracked(struct orch_capture *job, const char *name)
{
    g_autofree char *path = g_strdup(name);
    size_t length = strlen(path);
    bool is_folder = length && path[length - 1] == '/';
    if (is_folder)
        path[length - 1] = 0;
    orch_capture_change(job, path)->is_nested =
        is_folder; /* other folders are listed file by file */
}

static bool note_header(struct orch_capture *job, const char *record)
{
    static const char oid[] = "# branch.oid ", head[] = "# branch.head ";
    if (g_str_has_prefix(record, oid) && record[strlen(oid)] != '(')
        job->commit = g_strdup(record + strlen(oid));
    if (g_str_has_prefix(record, head) && strcmp(record + strlen(head), "(detached)") != 0)
        job->branch = g_strdup(record + strlen(head));
    return true;
}

/* Parses one record of `git status --porcelain=v2 -z`. */
static bool note_record(struct orch_capture *job, const char *record)
{
    switch (*record) {
    case '#':
        return note_header(job, record);
    case '1':
        return note_tracked(job, record, 3, 6, 8);
    case 'u':
        return note_tracked(job, record, 4, 8, 10);
    case '?':
        note_untracked(job, record + 2);
        return true;
    default:
        return *record == '!';
    }
}

/* True for a line of `git ls-files -v` about a file that git treats as unchanged whatever lies in
 * the work tree: assume-unchanged (lower case), or skip-worktree (S) although it exists. */
static bool is_hidden(const struct orch_capture *job, const char *record)
{
    if (g_ascii_tolower(*record) == 's') {
        struct stat info;
        g_autofree char *full_path = g_build_filename(job->vcs->root, record + 2, NULL);
        return lstat(full_path, &info) == 0;
    }
    return g_ascii_islower(*record);
}

/* Removes these marks from the temporary index, so that what is on disk is captured. Files that a
 * sparse checkout leaves out keep theirs. */
static bool reveal_hidden(struct orch_capture *job, GError **error)
{
    if (access(job->index_path, F_OK) != 0)
        return true;
    GString *out = git_output(job->vcs, ARGS("ls-files", "-v", "-z"), job->index_path, error);
    if (!out)
        return false;
    g_autoptr(GString) hidden = g_string_new(NULL);
    for (const char *record = out->str; record < out->str + out->len; record += strlen(record) + 1)
        if (strlen(record) > 2 && is_hidden(job, record))
            g_string_append_len(hidden, record + 2, (gssize)strlen(record + 2) + 1);
    g_string_free(out, TRUE);
    static const char *const marks[] = {"--no-assume-unchanged", "--no-skip-worktree"};
    for (size_t i = 0; hidden->len && i < G_N_ELEMENTS(marks); i++)
        if (!git_input(job->vcs, ARGS("update-index", marks[i], "-z", "--stdin"), job->index_path,
                       hidden, error))
            return false;
    return true;
}

static bool scan(struct orch_capture *job, GError **error)
{
    if (!reveal_hidden(job, error))
        return false;
    GString *out =
        git_output(job->vcs,
                   ARGS("status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind",
                        "--no-renames", "--untracked-files=all", "--ignore-submodules=none"),
                   job->index_path, error);
    if (!out)
        return false;
    bool ok = true;
    for (const char *record = out->str; ok && record < out->str + out->len;
         record += strlen(record) + 1) {
        ok = note_record(job, record);
        if (!ok)
            orch_error_set(error, ORCH_ERROR_IO, "update git to 2.11 or later",
                           "cannot parse the output of 'git status': '%s'", record);
    }
    g_string_free(out, TRUE);
    if (ok && job->commit)
        job->head_tree =
            git_line(job->vcs->root, ARGS("rev-parse", "--verify", "HEAD^{tree}"), 0, error);
    return ok && (!job->commit || job->head_tree);
}

/* ---- write ------------------------------------------------------------------------------------
 */

static void add_index_info(GString *input, unsigned mode, const char *oid, const char *path)
{
    g_string_append_printf(input, "%06o %s\t%s", mode, oid, path);
    g_string_append_c(input, 0);
}

/* Applies the changes to the temporary index in three steps; a step without paths is skipped. */
static bool stage(struct orch_capture *job, GError **error)
{
    g_autoptr(GString) removed = g_string_new(NULL), restored = g_string_new(NULL),
                       taken = g_string_new(NULL);
    GHashTableIter iter;
    void *value;
    g_hash_table_iter_init(&iter, job->changes);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const struct orch_change *change = value;
        if (change->action == ORCH_ACTION_TAKE)
            g_string_append_len(taken, change->path, (gssize)strlen(change->path) + 1);
        else if (change->action == ORCH_ACTION_HEAD && change->head_mode)
            add_index_info(restored, change->head_mode, change->head_oid, change->path);
        else
            g_string_append_len(removed, change->path, (gssize)strlen(change->path) + 1);
    }
    const struct orch_vcs *vcs = job->vcs;
    const char *index = job->index_path;
    return (!removed->len || git_input(vcs, ARGS("update-index", "--force-remove", "-z", "--stdin"),
                                       index, removed, error)) &&
           (!restored->len ||
            git_input(vcs, ARGS("update-index", "-z", "--index-info"), index, restored, error)) &&
           (!taken->len ||
            git_input(vcs, ARGS("update-index", "--add", "--remove", "--replace", "-z", "--stdin"),
                      index, taken, error));
}

static char *write_tree(struct orch_vcs *vcs, const char *index_path, GError **error)
{
    GString *out = git_output(vcs, ARGS("write-tree"), index_path, error);
    return out ? g_strchomp(g_string_free(out, FALSE)) : NULL;
}

static char *write_captured(struct orch_capture *job, GError **error)
{
    return stage(job, error) ? write_tree(job->vcs, job->index_path, error) : NULL;
}

/* ---- settings and refs ------------------------------------------------------------------------
 */

static char *setting(struct orch_vcs *vcs, const char *key)
{
    return git_line(vcs->root, ARGS("config", "--get", key), STATUS_MISSING, NULL);
}

static bool resolve(struct orch_vcs *vcs, const char *rev, char **out_commit, char **out_tree)
{
    g_autofree char *commit_name = g_strconcat(rev, "^{commit}", NULL);
    g_autofree char *tree_name = g_strconcat(rev, "^{commit}^{tree}", NULL);
    g_autofree char *commit =
        git_line(vcs->root, ARGS("rev-parse", "--verify", "-q", commit_name), STATUS_MISSING, NULL);
    char *tree = commit ? git_line(vcs->root, ARGS("rev-parse", "--verify", "-q", tree_name),
                                   STATUS_MISSING, NULL)
                        : NULL;
    if (!tree)
        return false;
    *out_commit = g_steal_pointer(&commit);
    *out_tree = tree;
    return true;
}

static bool keep(struct orch_vcs *vcs, const char *tree, GError **error)
{
    g_autofree char *name = g_strconcat(ORCH_REF_PREFIX, tree, NULL);
    for (unsigned i = 0;; i++) {
        GError *problem = NULL;
        g_autofree char *present =
            git_line(vcs->root, ARGS("rev-parse", "--verify", "-q", name), STATUS_MISSING, NULL);
        if (g_strcmp0(present, tree) == 0 ||
            git_input(vcs, ARGS("update-ref", name, tree), NULL, NULL, &problem))
            return true;
        /* another capture of the same tree briefly holds the lock */
        if (i == REF_ATTEMPTS_MAX || !strstr(problem->message, ".lock")) {
            g_propagate_error(error, problem);
            return false;
        }
        g_error_free(problem);
        g_usleep(REF_WAIT_US);
    }
}

static GPtrArray *kept(struct orch_vcs *vcs, GError **error)
{
    GString *out =
        git_output(vcs, ARGS("for-each-ref", "--format=%(refname)", ORCH_REF_PREFIX), NULL, error);
    if (!out)
        return NULL;
    GPtrArray *trees = g_ptr_array_new_with_free_func(g_free);
    g_auto(GStrv) lines = g_strsplit(out->str, "\n", -1);
    for (char **line = lines; *line; line++)
        if (g_str_has_prefix(*line, ORCH_REF_PREFIX))
            g_ptr_array_add(trees, g_strdup(*line + strlen(ORCH_REF_PREFIX)));
    g_string_free(out, TRUE);
    return trees;
}

static bool drop(struct orch_vcs *vcs, const GPtrArray *trees, GError **error)
{
    g_autoptr(GString) input = g_string_new(NULL);
    for (unsigned i = 0; i < trees->len; i++)
        g_string_append_printf(input, "delete " ORCH_REF_PREFIX "%s\n", (char *)trees->pdata[i]);
    return git_input(vcs, ARGS("update-ref", "--stdin"), NULL, input, error);
}

/* ---- trees ------------------------------------------------------------------------------------
 */

static bool has_tree(struct orch_vcs *vcs, const char *tree)
{
    g_autofree char *object = g_strconcat(tree, "^{tree}", NULL);
    return git_input(vcs, ARGS("cat-file", "-e", object), NULL, NULL, NULL);
}

/* Parses "mode type oid\tpath"; NULL if malformed. */
static struct orch_entry *parse_entry(const char *record)
{
    const char *oid = behind_fields(record, 2);
    const char *tab = oid ? strchr(oid, '\t') : NULL;
    if (!tab || tab - oid >= ORCH_OID_CHARS)
        return NULL;
    g_autofree char *hex = g_strndup(oid, (gsize)(tab - oid));
    return orch_entry_new(tab + 1, (unsigned)g_ascii_strtoull(record, NULL, 8), hex);
}

static GPtrArray *entries_of(struct orch_vcs *vcs, const char *tree, GError **error)
{
    GString *out = git_output(vcs, ARGS("ls-tree", "-r", "-z", "--full-tree", tree), NULL, error);
    if (!out)
        return NULL;
    GPtrArray *entries = g_ptr_array_new_with_free_func((GDestroyNotify)orch_entry_free);
    for (const char *record = out->str; record < out->str + out->len;
         record += strlen(record) + 1) {
        struct orch_entry *entry = parse_entry(record);
        if (entry)
            g_ptr_array_add(entries, entry);
    }
    g_string_free(out, TRUE);
    return entries;
}

/* Creates a path for a new index in a private folder, which the caller removes. */
static char *new_index(char **out_folder, GError **error)
{
    *out_folder = orch_temporary_folder("vcs", error);
    return *out_folder ? g_build_filename(*out_folder, "index", NULL) : NULL;
}

static void remove_scratch(char *folder)
{
    if (folder)
        orch_tree_remove(folder, NULL);
    g_free(folder);
}

static char *build(struct orch_vcs *vcs, const GPtrArray *entries, GError **error)
{
    char *folder = NULL;
    g_autofree char *index = new_index(&folder, error);
    g_autoptr(GString) input = g_string_new(NULL);
    for (unsigned i = 0; i < entries->len; i++) {
        const struct orch_entry *entry = entries->pdata[i];
        add_index_info(input, entry->mode, entry->oid, entry->path);
    }
    char *tree = NULL;
    if (index && git_input(vcs, ARGS("update-index", "-z", "--index-info"), index, input, error))
        tree = write_tree(vcs, index, error);
    remove_scratch(folder);
    return tree;
}

/* Uses git itself, because smudge filters replace pointer files by their contents. */
static bool checkout(struct orch_vcs *vcs, const char *tree, const GPtrArray *entries,
                     const char *dest, GError **error)
{
    (void)entries;
    char *folder = NULL;
    g_autofree char *index = new_index(&folder, error);
    g_autofree char *prefix = g_strdup_printf("--prefix=%s/", dest);
    bool ok =
        index && git_input(vcs, ARGS("read-tree", tree), index, NULL, error) &&
        git_input(vcs, ARGS("checkout-index", "--all", "--quiet", prefix), index, NULL, error);
    remove_scratch(folder);
    return ok;
}

static GPtrArray *ignored(struct orch_vcs *vcs, GError **error)
{
    GString *out = git_output(
        vcs, ARGS("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"),
        NULL, error);
    if (!out)
        return NULL;
    GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
    for (const char *path = out->str; path < out->str + out->len; path += strlen(path) + 1)
        g_ptr_array_add(paths, g_strdup(path));
    g_string_free(out, TRUE);
    return paths;
}

static char *diff_text(struct orch_vcs *vcs, const char *tree_a, const char *tree_b,
                       size_t max_bytes, GError **error)
{
    GString *out = NULL;
    const struct orch_git_run run = {.dir = vcs->root,
                                     .args = ARGS("diff-tree", "-r", "-p", "--no-ext-diff",
                                                  "--no-textconv", "--no-color", tree_a, tree_b),
                                     .max_output = MAX(max_bytes, 1)};
    if (!orch_git_run(&run, &out, NULL, error))
        return NULL;
    if (out->len >= max_bytes) { /* truncate at a line end */
        const char *last = g_strrstr_len(out->str, (gssize)out->len, "\n");
        g_string_truncate(out, last ? (gsize)(last + 1 - out->str) : 0);
    }
    return g_string_free(out, FALSE);
}

const struct orch_backend ORCH_BACKEND_GIT = {
    .scan = scan,
    .write = write_captured,
    .resolve = resolve,
    .path = orch_git_history_path,
    .common = orch_git_history_common,
    .keep = keep,
    .setting = setting,
    .entries = entries_of,
    .build = build,
    .checkout = checkout,
    .ignored = ignored,
    .has_tree = has_tree,
    .diff_text = diff_text,
    .kept = kept,
    .drop = drop,
};
