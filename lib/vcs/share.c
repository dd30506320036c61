/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/vcs/share.h"

#include "lib/base/error.h"
#include "lib/vcs/backend.h"
#include "lib/vcs/git_command.h"
#include "lib/vcs/git_objects.h"
#include "lib/vcs/secret_files.h"

#include <stdio.h>
#include <string.h>

#define NOTED "refs/orch/inputs/"
#define SHARED "refs/orch/share/"
#define FILE_BYTES_MOST ((int64_t)10 << 20)

static bool is_id(const char *text)
{
    size_t length = strlen(text);
    return (length == 40 || length == 64) && strspn(text, "0123456789abcdef") == length;
}

static bool set_ref(struct orch_vcs *vcs, const char *prefix, const char *tree, const char *part,
                    GError **error)
{
    g_autofree char *ref = g_strconcat(prefix, tree, "/", part, NULL);
    const char *const args[] = {"update-ref", ref, part, NULL};
    struct orch_git_run run = {.dir = vcs->root, .args = args};
    return orch_git_run(&run, NULL, NULL, error);
}

bool orch_vcs_note_inputs(struct orch_vcs *vcs, const char *tree, const char *part, bool is_shared,
                          GError **error)
{
    if (!is_id(tree) || !is_id(part))
        return true; /* the source is not versioned, so there is nothing to share */
    return set_ref(vcs, NOTED, tree, part, error) &&
           (!is_shared || set_ref(vcs, SHARED, tree, part, error));
}

/* ---- what may be shared -------------------------------------------------------------------------
 */

static void file_free(void *item)
{
    struct orch_source_file *file = item;
    g_free(file->tree);
    g_free(file->path);
    g_free(file->why);
    g_free(file);
}

void orch_shared_sources_clear(struct orch_shared_sources *sources)
{
    g_clear_pointer(&sources->trees, g_ptr_array_unref);
    g_clear_pointer(&sources->parts, g_ptr_array_unref);
    g_clear_pointer(&sources->files, g_ptr_array_unref);
}

static const char *why_by_name(const struct orch_entry *entry)
{
    if (entry->mode != ORCH_MODE_FILE && entry->mode != ORCH_MODE_PROGRAM)
        return "not a plain file";
    if (g_str_has_suffix(entry->path, ".ipynb"))
        return "notebooks are never shared";
    return orch_secret_by_name(entry->path);
}

/* Judges the contents of a file; `ctx` is the first of the tree's files. */
static void judge_content(void *ctx, unsigned index, const char *bytes, size_t length)
{
    struct orch_source_file *const *files = ctx, *file = files[index];
    const char *why = orch_secret_by_content(bytes, MIN(length, (size_t)ORCH_SECRET_HEAD_BYTES));
    file->bytes = (int64_t)length;
    if (!file->why && why)
        file->why = g_strdup(why);
    if (!file->why && length > FILE_BYTES_MOST)
        file->why = g_strdup("larger than 10 MiB");
}

/* Entries of all parts of one tree, without duplicate paths. */
static GPtrArray *entries_of(struct orch_vcs *vcs, const GPtrArray *parts, GError **error)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    GPtrArray *out = g_ptr_array_new_with_free_func((GDestroyNotify)orch_entry_free);
    for (guint k = 0; k < parts->len; k++) {
        g_autoptr(GPtrArray) entries = vcs->backend->entries(vcs, parts->pdata[k], error);
        if (!entries) {
            g_ptr_array_unref(out);
            return NULL;
        }
        for (guint i = 0; i < entries->len; i++) {
            const struct orch_entry *entry = entries->pdata[i];
            if (entry->mode != ORCH_MODE_SUBMODULE && g_hash_table_add(seen, g_strdup(entry->path)))
                g_ptr_array_add(out, orch_entry_new(entry->path, entry->mode, entry->oid));
        }
    }
    return out;
}

/* Adds the part of a tree that may be shared. */
static bool add_tree(struct orch_vcs *vcs, const char *tree, const GPtrArray *parts,
                     struct orch_shared_sources *out, GError **error)
{
    g_autoptr(GPtrArray) entries =
        orch_vcs_start(vcs, error) ? entries_of(vcs, parts, error) : NULL;
    guint before = out->files->len;
    GString *ids = g_string_new(NULL);
    for (guint i = 0; entries && i < entries->len; i++) {
        const struct orch_entry *entry = entries->pdata[i];
        struct orch_source_file *file = g_new0(struct orch_source_file, 1);
        file->tree = g_strdup(tree);
        file->path = g_strdup(entry->path);
        file->why = g_strdup(why_by_name(entry));
        g_ptr_array_add(out->files, file);
        g_string_append_printf(ids, "%s\n", entry->oid);
    }
    bool ok = entries && orch_git_objects(vcs->root, ids, "blob", judge_content,
                                          out->files->pdata + before, error);
    g_string_free(ids, TRUE);
    if (!ok)
        return false;
    g_autoptr(GPtrArray) chosen = g_ptr_array_new();
    for (guint i = 0; i < entries->len; i++)
        if (!((struct orch_source_file *)out->files->pdata[before + i])->why)
            g_ptr_array_add(chosen, entries->pdata[i]);
    char *part = chosen->len ? vcs->backend->build(vcs, chosen, error) : NULL;
    if (part) {
        g_ptr_array_add(out->trees, g_strdup(tree));
        g_ptr_array_add(out->parts, part);
    }
    return part || !chosen->len;
}

/* Recorded parts: tree -> GPtrArray of its parts. */
static GHashTable *noted(struct orch_vcs *vcs, const char *prefix, GError **error)
{
    const char *const args[] = {"for-each-ref", "--format=%(refname)", prefix, NULL};
    struct orch_git_run run = {.dir = vcs->root, .args = args};
    GString *out = NULL;
    if (!orch_git_run(&run, &out, NULL, error))
        return NULL;
    GHashTable *trees =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
    g_auto(GStrv) lines = g_strsplit(out->str, "\n", -1);
    g_string_free(out, TRUE);
    for (int i = 0; lines[i]; i++) {
        char *tree = lines[i] + MIN(strlen(lines[i]), strlen(prefix));
        char *part = strchr(tree, '/');
        if (!part)
            continue;
        *part++ = 0;
        if (!is_id(tree) || !is_id(part))
            continue;
        GPtrArray *parts = g_hash_table_lookup(trees, tree);
        if (!parts) {
            parts = g_ptr_array_new_with_free_func(g_free);
            g_hash_table_insert(trees, g_strdup(tree), parts);
        }
        g_ptr_array_add(parts, g_strdup(part));
    }
    return trees;
}

bool orch_vcs_shareable(struct orch_vcs *vcs, bool all, bool (*wanted)(void *ctx, const char *tree),
                        void *ctx, struct orch_shared_sources *out, GError **error)
{
    g_autoptr(GHashTable) trees = noted(vcs, all ? NOTED : SHARED, error);
    GHashTableIter iter;
    void *tree, *parts;
    out->trees = g_ptr_array_new_with_free_func(g_free);
    out->parts = g_ptr_array_new_with_free_func(g_free);
    out->files = g_ptr_array_new_with_free_func(file_free);
    if (!trees)
        return false;
    g_hash_table_iter_init(&iter, trees);
    while (g_hash_table_iter_next(&iter, &tree, &parts))
        if (wanted(ctx, tree) && !add_tree(vcs, tree, parts, out, error))
            return false;
    g_ptr_array_add(out->trees, NULL);
    g_ptr_array_add(out->parts, NULL);
    return true;
}
