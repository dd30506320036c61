/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trees of items: the difference of two trees, and a tree with added items. Both descend only where
 * something differs, so the cost grows with the number of new items. A tree from elsewhere is
 * untrusted: names must have exactly our form, modes must be plain, and the number of visited
 * entries is bounded (a tree may contain one subtree a million times). */
#include "features/share/remotes/results_private.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

#define ENTRIES_MOST 20000000 /* maximum number of entries visited in one comparison */
#define FORMAT_FILE "format"
#define FORMAT_BEGIN "orch results "

/* ---- a draft ------------------------------------------------------------------------------------
 */

struct results_draft *orch_results_draft_new(struct results_place *place, const git_oid *root)
{
    struct results_draft *draft = g_new0(struct results_draft, 1);
    draft->place = place;
    if (root)
        draft->root = *root;
    draft->folders =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)git_tree_free);
    draft->added = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    return draft;
}

void orch_results_draft_free(struct results_draft *draft)
{
    if (!draft)
        return;
    g_hash_table_unref(draft->folders);
    g_hash_table_unref(draft->added);
    g_free(draft);
}

static git_tree *tree_of(struct results_place *place, const git_oid *oid)
{
    git_tree *tree = NULL;
    if (git_tree_lookup(&tree, place->repository, oid) != 0)
        return NULL;
    return tree;
}

/* The existing tree of a folder below the root, or NULL. Owned by the draft. */
static git_tree *folder_of(struct results_draft *draft, const char *path)
{
    void *known;
    git_tree *tree = NULL;
    if (g_hash_table_lookup_extended(draft->folders, path, NULL, &known))
        return known;
    if (!*path) {
        tree = git_oid_is_zero(&draft->root) ? NULL : tree_of(draft->place, &draft->root);
    } else {
        const char *slash = strrchr(path, '/');
        g_autofree char *above = slash ? g_strndup(path, (gsize)(slash - path)) : g_strdup("");
        git_tree *parent = folder_of(draft, above);
        const git_tree_entry *entry =
            parent ? git_tree_entry_byname(parent, slash ? slash + 1 : path) : NULL;
        if (entry && git_tree_entry_type(entry) == GIT_OBJECT_TREE)
            tree = tree_of(draft->place, git_tree_entry_id(entry));
    }
    g_hash_table_insert(draft->folders, g_strdup(path), tree);
    return tree;
}

bool orch_results_draft_find(struct results_draft *draft, const char *path, git_oid *out)
{
    const struct results_entry *added = g_hash_table_lookup(draft->added, path);
    if (added) {
        *out = added->oid;
        return true;
    }
    const char *slash = strrchr(path, '/');
    g_autofree char *above = slash ? g_strndup(path, (gsize)(slash - path)) : g_strdup("");
    git_tree *parent = folder_of(draft, above);
    const git_tree_entry *entry =
        parent ? git_tree_entry_byname(parent, slash ? slash + 1 : path) : NULL;
    if (entry)
        *out = *git_tree_entry_id(entry);
    return entry != NULL;
}

void orch_results_draft_add(struct results_draft *draft, const char *path, const git_oid *oid,
                            git_filemode_t mode)
{
    struct results_entry *entry = g_new0(struct results_entry, 1);
    entry->oid = *oid;
    entry->mode = mode;
    g_hash_table_replace(draft->added, g_strdup(path), entry);
}

/* Writes the folder whose entries are paths[from..to), which all begin with the same `length`
 * bytes, on top of its existing entries. */
static bool write_folder(struct results_draft *draft, GPtrArray *paths, guint from, guint to,
                         size_t length, git_oid *out, GError **error)
{
    const char *first = paths->pdata[from];
    g_autofree char *folder = g_strndup(first, length ? length - 1 : 0);
    git_tree *base = folder_of(draft, folder);
    git_treebuilder *builder = NULL;
    if (git_treebuilder_new(&builder, draft->place->repository, base) != 0)
        return orch_results_fail(error, "write a results tree");
    bool ok = true;
    for (guint i = from, end; ok && i < to; i = end) {
        const char *path = paths->pdata[i];
        const char *slash = strchr(path + length, '/');
        struct results_entry made = {.mode = GIT_FILEMODE_TREE};
        g_autofree char *name = slash ? g_strndup(path + length, (gsize)(slash - path) - length)
                                      : g_strdup(path + length);
        end = i + 1;
        if (slash) {
            size_t deeper = (size_t)(slash - path) + 1;
            while (end < to && strncmp(paths->pdata[end], path, deeper) == 0)
                end++;
            ok = write_folder(draft, paths, i, end, deeper, &made.oid, error);
        } else {
            made = *(struct results_entry *)g_hash_table_lookup(draft->added, path);
        }
        if (ok && git_treebuilder_insert(NULL, builder, name, &made.oid, made.mode) != 0)
            ok = orch_results_fail(error, "write a results tree");
    }
    if (ok && git_treebuilder_write(out, builder) != 0)
        ok = orch_results_fail(error, "write a results tree");
    if (ok)
        orch_results_waits(draft->place, out, 64 * git_treebuilder_entrycount(builder));
    git_treebuilder_free(builder);
    return ok;
}

bool orch_results_draft_write(struct results_draft *draft, git_oid *out_root, GError **error)
{
    git_oid format;
    if (!orch_results_draft_find(draft, FORMAT_FILE, &format)) {
        if (!orch_results_blob(draft->place, ORCH_ITEM_FORMAT, strlen(ORCH_ITEM_FORMAT), &format,
                               error))
            return false;
        orch_results_draft_add(draft, FORMAT_FILE, &format, GIT_FILEMODE_BLOB);
    }
    g_autoptr(GPtrArray) paths = g_ptr_array_new();
    GHashTableIter iter;
    void *path;
    g_hash_table_iter_init(&iter, draft->added);
    while (g_hash_table_iter_next(&iter, &path, NULL))
        g_ptr_array_add(paths, path);
    g_ptr_array_sort(paths, orch_compare_texts);
    *out_root = draft->root;
    return !paths->len || write_folder(draft, paths, 0, paths->len, 0, out_root, error);
}

/* ---- the root -----------------------------------------------------------------------------------
 */

static bool refuse_root(struct results_place *place, const char *why, const char *hint,
                        GError **error)
{
    orch_error_set(error, ORCH_ERROR_IO, hint, "%s of '%s' %s", RESULTS_REF, place->remote, why);
    return false;
}

bool orch_results_root(struct results_place *place, const git_oid *commit, git_oid *out,
                       bool *out_is_newer, GError **error)
{
    static const char *const start_anew = "to delete all results: git push REMOTE "
                                          ":refs/orch/results; then everybody runs 'orch push'";
    git_commit *object = NULL;
    git_oid format;
    int64_t bytes = 0;
    if (out_is_newer)
        *out_is_newer = false;
    if (git_commit_lookup(&object, place->repository, commit) != 0)
        return refuse_root(place, "is not a results commit", start_anew, error);
    *out = *git_commit_tree_id(object);
    git_commit_free(object);
    struct results_draft *draft = orch_results_draft_new(place, out);
    git_oid runs;
    bool found = orch_results_draft_find(draft, FORMAT_FILE, &format);
    bool was_ours = !found && orch_results_draft_find(draft, "runs", &runs);
    orch_results_draft_free(draft);
    if (was_ours) /* a member deleted the file: all items are validated one by one anyway, and the
                     next push restores it */
        return true;
    if (!found || !orch_results_blob_size(place, &format, &bytes) || bytes > 64)
        return refuse_root(place, "was not written by orch: it has no 'format'", start_anew, error);
    git_odb_object *text = NULL;
    if (git_odb_read(&text, place->odb, &format) != 0)
        return orch_results_fail(error, "read a results object");
    g_autofree char *said = g_strndup(git_odb_object_data(text), git_odb_object_size(text));
    git_odb_object_free(text);
    if (strcmp(said, ORCH_ITEM_FORMAT) == 0)
        return true;
    if (g_str_has_prefix(said, FORMAT_BEGIN)) {
        if (out_is_newer)
            *out_is_newer = true;
        return refuse_root(place, "has a newer format than this orch knows", "update orch", error);
    }
    return refuse_root(place, "was not written by orch: its 'format' is unknown", start_anew,
                       error);
}

/* ---- differences --------------------------------------------------------------------------------
 */

struct walk {
    struct results_place *place;
    results_news_fn fn;
    void *ctx;
    GError **error;
    int64_t left; /* number of entries that may still be visited */
};

/* '#' stands for a hexadecimal digit */
static const char *const FOLDERS[] = {"recipes/##", "artifacts/##", "runs/#####/##", "notes/#####",
                                      "datasets"};

/* True for one of the folders above and for their parents. */
static bool is_our_folder(const char *path)
{
    for (size_t i = 0; i < G_N_ELEMENTS(FOLDERS); i++) {
        const char *form = FOLDERS[i], *at = path;
        for (; *form && *at; form++, at++)
            if (*form == '#' ? !strchr("0123456789abcdef", *at) : *form != *at)
                break;
        if (!*at && (!*form || *form == '/'))
            return true;
    }
    return false;
}

static bool visit_entry(struct walk *walk, const char *path, const git_tree_entry *entry,
                        const struct orch_item_name *name, const char *junk)
{
    struct results_news news = {.path = path,
                                .name = name,
                                .junk = junk,
                                .oid = *git_tree_entry_id(entry),
                                .mode = git_tree_entry_filemode_raw(entry)};
    return walk->fn(walk->ctx, &news, walk->error);
}

static bool visit_file(struct walk *walk, const char *path, const git_tree_entry *entry)
{
    struct orch_item_name name;
    if (strcmp(path, FORMAT_FILE) == 0)
        return true;
    if (!orch_item_name_parse(path, &name))
        return visit_entry(walk, path, entry, NULL, "no name of results");
    if (git_tree_entry_filemode_raw(entry) != GIT_FILEMODE_BLOB)
        return visit_entry(walk, path, entry, NULL, "not a plain file");
    return visit_entry(walk, path, entry, &name, NULL);
}

static bool walk_folder(struct walk *walk, const char *folder, const git_oid *theirs,
                        const git_oid *known);

static bool is_source_name(const char *name)
{
    size_t length = strlen(name);
    return (length == 40 || length == 64) && strspn(name, "0123456789abcdef") == length;
}

static bool walk_entry(struct walk *walk, const char *folder, const git_tree_entry *entry,
                       git_tree *known)
{
    const char *name = git_tree_entry_name(entry);
    const git_tree_entry *same = known ? git_tree_entry_byname(known, name) : NULL;
    bool is_tree = git_tree_entry_filemode_raw(entry) == GIT_FILEMODE_TREE;
    if (same && git_oid_equal(git_tree_entry_id(same), git_tree_entry_id(entry)) &&
        git_tree_entry_filemode_raw(same) == git_tree_entry_filemode_raw(entry))
        return true;
    if (strlen(folder) + strlen(name) + 2 > RESULTS_PATH_CHARS)
        return visit_entry(walk, folder, entry, NULL, "a name that is too long");
    g_autofree char *path = *folder ? g_strconcat(folder, "/", name, NULL) : g_strdup(name);
    if (strcmp(folder, "sources") == 0)
        return visit_entry(walk, path, entry, NULL,
                           is_tree && is_source_name(name) ? NULL : "no name of a source");
    if (!is_tree)
        return visit_file(walk, path, entry);
    if (!is_our_folder(path) && strcmp(path, "sources") != 0)
        return visit_entry(walk, path, entry, NULL, "no folder of results");
    bool has_same = same && git_tree_entry_filemode_raw(same) == GIT_FILEMODE_TREE;
    return walk_folder(walk, path, git_tree_entry_id(entry),
                       has_same ? git_tree_entry_id(same) : NULL);
}

static bool walk_folder(struct walk *walk, const char *folder, const git_oid *theirs,
                        const git_oid *known)
{
    static const char *const order[] = {"recipes", "artifacts", "runs", "notes", "datasets"};
    if (known && git_oid_equal(theirs, known))
        return true;
    git_tree *tree = tree_of(walk->place, theirs);
    git_tree *other = known ? tree_of(walk->place, known) : NULL;
    bool ok = tree != NULL || orch_results_fail(walk->error, "read a results tree");
    size_t count = tree ? git_tree_entrycount(tree) : 0;
    walk->left -= (int64_t)count;
    if (walk->left < 0) {
        orch_error_set(walk->error, ORCH_ERROR_IO,
                       "find out who pushed this tree: orch never writes such a tree",
                       "%s holds more than %d entries", RESULTS_REF, ENTRIES_MOST);
        ok = false;
    }
    bool is_root = !*folder;
    for (size_t i = 0; ok && is_root && i < G_N_ELEMENTS(order); i++) {
        const git_tree_entry *entry = git_tree_entry_byname(tree, order[i]);
        ok = !entry || walk_entry(walk, folder, entry, other);
    }
    for (size_t i = 0; ok && i < count; i++) {
        const git_tree_entry *entry = git_tree_entry_byindex(tree, i);
        const char *name = git_tree_entry_name(entry);
        bool is_reported = false;
        for (size_t k = 0; is_root && k < G_N_ELEMENTS(order); k++)
            is_reported |= strcmp(name, order[k]) == 0;
        ok = is_reported || walk_entry(walk, folder, entry, other);
    }
    git_tree_free(tree);
    git_tree_free(other);
    return ok;
}

bool orch_results_visit_news(struct results_place *place, const git_oid *tree, const git_oid *known,
                             results_news_fn fn, void *ctx, GError **error)
{
    struct walk walk = {.place = place, .fn = fn, .ctx = ctx, .error = error, .left = ENTRIES_MOST};
    bool has_known = known && !git_oid_is_zero(known);
    return walk_folder(&walk, "", tree, has_known ? known : NULL);
}
