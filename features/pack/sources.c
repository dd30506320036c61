/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/pack/sources.h"

#include "core/inputs/inputs.h"
#include "features/pack/listed.h"
#include "features/pack/pack.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/temporary.h"
#include "lib/base/text.h"
#include "lib/vcs/secret_files.h"

#include <string.h>
#include <sys/stat.h>

#define MODE_LINK 0120000u
#define MODE_SUBMODULE 0160000u
enum { TREES_MAX = 16, TREE_FILES_MAX = 20000, FILE_BYTES_MAX = 1 << 20, NAME_BYTES_MAX = 900 };

static void free_file(gpointer pointer)
{
    struct orch_pack_file *file = pointer;
    g_free(file->path);
    g_free(file->bytes);
    g_free(file);
}

GPtrArray *orch_pack_files_new(void)
{
    return g_ptr_array_new_with_free_func(free_file);
}

void orch_pack_files_add(GPtrArray *files, const char *path, char *bytes, size_t length)
{
    struct orch_pack_file *file = g_new0(struct orch_pack_file, 1);
    *file = (struct orch_pack_file){g_strdup(path), bytes, length};
    g_ptr_array_add(files, file);
}

char *orch_pack_recipe_path(const struct orch_plan *plan)
{
    g_autofree char *absolute = orch_path_absolute(plan->expansion->path, NULL);
    const char *relative = orch_path_below(absolute, plan->workspace->root);
    return relative ? g_strdup(relative) : g_path_get_basename(absolute);
}

/* ---- one tree ----------------------------------------------------------------------------------
 */

/* A tree from which files are read. */
struct tree {
    struct orch_workspace *workspace;
    const char *id;
    bool is_present; /* it is the tree of the work tree */
    GPtrArray *files;
    char *written;         /* folder it was written out to; NULL until that was needed */
    unsigned beyond_count; /* files beyond the limit of all sources */
};

static void leave_out(struct orch_pack_sources *out, const char *tree, const char *path,
                      const char *why)
{
    g_ptr_array_add(out->left_out,
                    g_strdup_printf("source/%s%s%s: %s", tree, *path ? "/" : "", path, why));
}

/* Frees what the tree holds, and names the files beyond the limit in one line. */
static void tree_end(struct tree *tree, struct orch_pack_sources *out)
{
    if (tree->beyond_count) {
        g_autofree char *limit = orch_bytes_format(out->limit);
        g_autofree char *why = g_strdup_printf(
            "%u files that the recipe does not name, beyond the limit of %s (--sources)",
            tree->beyond_count, limit);
        leave_out(out, tree->id, "", why);
    }
    g_clear_pointer(&tree->files, g_ptr_array_unref);
    if (tree->written)
        orch_tree_remove(tree->written, NULL);
    g_clear_pointer(&tree->written, g_free);
}

/* The file's bytes if they match the blob id; else NULL. */
static char *read_blob(const char *folder, const struct orch_tree_file *file, size_t limit,
                       size_t *out_length)
{
    g_autofree char *path = g_build_filename(folder, file->path, NULL);
    char *bytes = NULL, id[ORCH_OBJECT_ID_CHARS];
    if (g_file_test(path, G_FILE_TEST_IS_SYMLINK) ||
        !orch_file_read(path, limit, &bytes, out_length, NULL))
        return NULL;
    orch_blob_id(bytes, *out_length, strlen(file->oid), id);
    if (strcmp(id, file->oid) == 0)
        return bytes;
    g_free(bytes);
    return NULL;
}

/* Reads a file of the tree: from the work tree if it is unchanged there, else from a copy written
 * by git. */
static char *read_file(struct tree *tree, const struct orch_tree_file *file, size_t limit,
                       size_t *out_length, const char **out_why)
{
    char *bytes =
        tree->is_present ? read_blob(tree->workspace->root, file, limit, out_length) : NULL;
    g_autofree char *lies = g_build_filename(tree->workspace->root, file->path, NULL);
    struct stat info;
    if (!bytes && tree->is_present && stat(lies, &info) == 0 && (size_t)info.st_size > limit) {
        *out_why = "larger than 1 MiB";
        return NULL;
    }
    if (!bytes && !tree->written) {
        tree->written = orch_temporary_folder("pack", NULL);
        if (tree->written &&
            !orch_vcs_checkout(tree->workspace->vcs, tree->id, tree->written, NULL))
            g_debug("tree %s could not be written out as a whole", tree->id);
    }
    if (!bytes && tree->written)
        bytes = read_blob(tree->written, file, limit, out_length);
    *out_why = bytes ? NULL : "larger than 1 MiB, or cannot be read";
    return bytes;
}

/* True when a bundle accepts the name. The rest of the path is made here. */
static bool name_is_plain(const char *path)
{
    bool plain = strlen(path) <= NAME_BYTES_MAX && g_utf8_validate(path, -1, NULL);
    for (const char *p = path; plain && *p; p = g_utf8_next_char(p))
        plain = !g_unichar_iscntrl(g_utf8_get_char(p)) && *p != '\\';
    return plain;
}

static void take_file(struct tree *tree, const struct orch_tree_file *file, bool is_needed,
                      struct orch_pack_sources *out)
{
    const char *why = orch_secret_by_name(file->path);
    size_t length = 0, most = is_needed ? (size_t)out->limit : FILE_BYTES_MAX;
    if (file->mode == MODE_LINK || file->mode == MODE_SUBMODULE)
        why = file->mode == MODE_LINK ? "a symbolic link" : "a submodule";
    if (!why && !name_is_plain(file->path))
        why = "its name is not allowed in a pack";
    if (!why && g_str_has_suffix(file->path, ".orch"))
        why = "a pack"; /* an earlier pack in the work tree */
    char *bytes = why ? NULL : read_file(tree, file, most, &length, &why);
    if (bytes && !why)
        why = orch_secret_by_content(bytes, MIN(length, ORCH_SECRET_HEAD_BYTES));
    bool is_beyond = !why && !is_needed && out->bytes + (int64_t)length > out->limit;
    tree->beyond_count += is_beyond;
    if (why || is_beyond) {
        if (why)
            leave_out(out, tree->id, file->path, why);
        g_free(bytes);
        return;
    }
    g_autofree char *path = g_strdup_printf("source/%s/%s", tree->id, file->path);
    out->bytes += (int64_t)length;
    orch_pack_files_add(out->files, path, bytes, length);
}

static void list_tree(const struct tree *tree, json_t *trees)
{
    json_t *list = json_array();
    for (guint i = 0; i < tree->files->len; i++) {
        const struct orch_tree_file *file = tree->files->pdata[i];
        json_t *row = json_array();
        json_array_append_new(row, json_string(file->path));
        json_array_append_new(row, json_integer(file->mode));
        json_array_append_new(row, json_string(file->oid));
        json_array_append_new(list, row);
    }
    json_object_set_new(trees, tree->id, list);
}

static bool open_tree(struct tree *tree, struct orch_pack_sources *out, GError **error)
{
    if (!orch_vcs_start(tree->workspace->vcs, error))
        return false;
    if (!orch_vcs_has_tree(tree->workspace->vcs, tree->id)) {
        leave_out(out, tree->id, "", "made in another clone; its files are not here");
        return true;
    }
    tree->files = orch_vcs_files(tree->workspace->vcs, tree->id, error);
    if (!tree->files)
        return false;
    if (tree->files->len <= TREE_FILES_MAX) {
        list_tree(tree, out->trees);
        return true;
    }
    leave_out(out, tree->id, "", "more than 20,000 files");
    g_clear_pointer(&tree->files, g_ptr_array_unref);
    return true;
}

/* ---- what is needed ----------------------------------------------------------------------------
 */

/* The paths, folders and patterns that the recipe needs. */
static GPtrArray *needed_paths(struct orch_plan *plan)
{
    GPtrArray *out = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(out, orch_pack_recipe_path(plan));
    for (guint i = 0; i < plan->expansion->experiments->len; i++) {
        g_autoptr(GPtrArray) paths =
            orch_inputs_paths(plan->inputs, plan->expansion->experiments->pdata[i], NULL);
        for (guint j = 0; paths && j < paths->len; j++)
            orch_texts_add_once(out, paths->pdata[j]);
    }
    return out;
}

static bool is_needed(const GPtrArray *needed, const char *path)
{
    for (guint i = 0; i < needed->len; i++) {
        const char *one = needed->pdata[i];
        size_t length = strlen(one);
        if (strcmp(one, path) == 0 || (strncmp(one, path, length) == 0 && path[length] == '/') ||
            (strpbrk(one, "*?[") && g_pattern_match_simple(one, path)))
            return true;
    }
    return false;
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

static bool gather_present(struct orch_plan *plan, const char *id, const GPtrArray *needed,
                           GHashTable *seen, struct orch_pack_sources *out, GError **error)
{
    struct tree tree = {.workspace = plan->workspace, .id = id, .is_present = true};
    bool ok = open_tree(&tree, out, error);
    for (int pass = 0; pass < 2; pass++) {
        for (guint i = 0; tree.files && i < tree.files->len; i++) {
            const struct orch_tree_file *file = tree.files->pdata[i];
            bool needs = is_needed(needed, file->path);
            g_hash_table_add(seen, g_strdup(file->oid));
            if (needs == (pass == 0))
                take_file(&tree, file, needs, out);
        }
    }
    tree_end(&tree, out);
    return ok;
}

/* Collects the files of an earlier tree that none of the trees before it had. */
static bool gather_former(struct orch_plan *plan, const char *id, GHashTable *seen,
                          struct orch_pack_sources *out, GError **error)
{
    struct tree tree = {.workspace = plan->workspace, .id = id};
    bool ok = open_tree(&tree, out, error);
    for (guint i = 0; tree.files && i < tree.files->len; i++) {
        const struct orch_tree_file *file = tree.files->pdata[i];
        if (g_hash_table_add(seen, g_strdup(file->oid)))
            take_file(&tree, file, false, out);
    }
    tree_end(&tree, out);
    return ok;
}

/* Outside a repository there is no tree, so the recipe and the files it refers to are read from
 * disk. */
static bool gather_plain(struct orch_plan *plan, const GPtrArray *needed,
                         struct orch_pack_sources *out, GError **error)
{
    for (guint i = 0; i < needed->len; i++) {
        const char *relative = needed->pdata[i];
        g_autofree char *path = g_build_filename(plan->workspace->root, relative, NULL);
        g_autofree char *name = g_strdup_printf("source/%s/%s", ORCH_PACK_NO_TREE, relative);
        char *bytes = NULL;
        size_t length = 0;
        GError *problem = NULL;
        if (orch_secret_by_name(relative)) {
            leave_out(out, ORCH_PACK_NO_TREE, relative, orch_secret_by_name(relative));
        } else if (orch_file_read(path, (size_t)out->limit, &bytes, &length, &problem)) {
            out->bytes += (int64_t)length;
            orch_pack_files_add(out->files, name, bytes, length);
        } else if (i == 0) { /* the first is the recipe, without which there is no pack */
            g_propagate_error(error, problem);
            return false;
        } else {
            leave_out(out, ORCH_PACK_NO_TREE, relative, problem->message);
            g_clear_error(&problem);
        }
    }
    return true;
}

static bool has_file(const struct orch_pack_sources *out, const char *tree, const char *relative)
{
    g_autofree char *path = g_strdup_printf("source/%s/%s", tree, relative);
    for (guint i = 0; i < out->files->len; i++)
        if (strcmp(((struct orch_pack_file *)out->files->pdata[i])->path, path) == 0)
            return true;
    return false;
}

bool orch_pack_gather(struct orch_plan *plan, const GPtrArray *trees, struct orch_pack_sources *out,
                      GError **error)
{
    const struct orch_source *source = orch_workspace_source(plan->workspace, error);
    if (!source)
        return false;
    g_autoptr(GPtrArray) needed = needed_paths(plan);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    const char *name = source->tree ? source->tree : ORCH_PACK_NO_TREE;
    bool ok = source->tree ? gather_present(plan, source->tree, needed, seen, out, error)
                           : gather_plain(plan, needed, out, error);
    if (ok && !has_file(out, name,
                        needed->pdata[0])) { /* git ignores the recipe, or it is outside the tree */
        g_autofree char *path = g_strdup_printf("source/%s/%s", name, (char *)needed->pdata[0]);
        const char *text = plan->expansion->verbatim;
        orch_pack_files_add(out->files, path, g_strdup(text), strlen(text));
    }
    for (guint i = 0; ok && source->tree && i < trees->len && i < TREES_MAX; i++)
        if (strcmp(trees->pdata[i], source->tree) != 0)
            ok = gather_former(plan, trees->pdata[i], seen, out, error);
    return ok;
}
