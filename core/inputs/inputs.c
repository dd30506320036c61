/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/inputs/inputs.h"

#include "core/inputs/own_outputs.h"

#include "lib/base/file.h"
#include "lib/base/ident.h"

#include <stdlib.h>
#include <string.h>

void orch_known_files_init(struct orch_known_files *files)
{
    *files = (struct orch_known_files){
        .script_files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                              (GDestroyNotify)g_hash_table_unref),
        .path_digests = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
        .read_digests = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
        .covered = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                         (GDestroyNotify)g_hash_table_unref),
        .outputs = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)orch_own_outputs_free),
    };
}

void orch_known_files_clear(struct orch_known_files *files)
{
    g_clear_pointer(&files->tree_files, g_hash_table_unref);
    g_clear_pointer(&files->tree_paths, g_ptr_array_unref);
    g_clear_pointer(&files->script_files, g_hash_table_unref);
    g_clear_pointer(&files->path_digests, g_hash_table_unref);
    g_clear_pointer(&files->read_digests, g_hash_table_unref);
    g_clear_pointer(&files->covered, g_hash_table_unref);
    g_clear_pointer(&files->outputs, g_hash_table_unref);
}

struct orch_inputs *orch_inputs_new(struct orch_workspace *workspace,
                                    const struct orch_expansion *expansion, bool no_watch)
{
    struct orch_inputs *inputs = g_new0(struct orch_inputs, 1);
    inputs->workspace = workspace;
    inputs->expansion = expansion;
    inputs->no_watch = no_watch;
    inputs->made_ns = orch_now_ns();
    inputs->ids = g_hash_table_new(NULL, NULL);
    inputs->code_ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    inputs->all_ids = g_ptr_array_new_with_free_func(g_free);
    inputs->digests = orch_file_digests_open();
    orch_known_files_init(&inputs->files);
    return inputs;
}

void orch_inputs_free(struct orch_inputs *inputs)
{
    if (!inputs)
        return;
    g_hash_table_unref(inputs->ids);
    g_hash_table_unref(inputs->code_ids);
    g_ptr_array_unref(inputs->all_ids);
    orch_known_files_clear(&inputs->files);
    orch_file_digests_close(inputs->digests);
    g_free(inputs);
}

void orch_inputs_renew(struct orch_inputs *inputs)
{
    inputs->made_ns = orch_now_ns();
    g_hash_table_remove_all(inputs->ids);
    orch_known_files_clear(&inputs->files);
    orch_known_files_init(&inputs->files);
}

/* The tree has only the text of a link, and not what lies elsewhere and is read by it. */
static void leave_out_links_out(struct orch_inputs *inputs, const GPtrArray *links)
{
    char *root = links->len ? realpath(inputs->workspace->root, NULL) : NULL;
    for (guint i = 0; root && i < links->len; i++) {
        g_autofree char *path =
            g_build_filename(inputs->workspace->root, (char *)links->pdata[i], NULL);
        char *real = realpath(path, NULL);
        if (real && !orch_path_within(real, root))
            g_hash_table_remove(inputs->files.tree_files, links->pdata[i]);
        free(real);
    }
    free(root);
}

bool orch_inputs_read_tree(struct orch_inputs *inputs, GError **error)
{
    struct orch_known_files *files = &inputs->files;
    const struct orch_source *source = orch_workspace_source(inputs->workspace, error);
    if (!source || files->tree_files)
        return source != NULL;
    files->tree_paths = source->tree
                            ? orch_vcs_list(inputs->workspace->vcs, source->tree, "", error)
                            : g_ptr_array_new_with_free_func(g_free);
    if (!files->tree_paths)
        return false;
    files->tree_files = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < files->tree_paths->len; i++)
        g_hash_table_add(files->tree_files, files->tree_paths->pdata[i]);
    g_autoptr(GPtrArray) links =
        source->tree ? orch_vcs_links(inputs->workspace->vcs, source->tree, NULL) : NULL;
    if (links)
        leave_out_links_out(inputs, links);
    return true;
}

struct orch_own_outputs *orch_inputs_outputs(struct orch_inputs *inputs,
                                             const struct orch_experiment *experiment)
{
    gpointer key = (gpointer)(uintptr_t)experiment;
    struct orch_own_outputs *outputs = g_hash_table_lookup(inputs->files.outputs, key);
    if (!outputs) {
        outputs = orch_own_outputs_new(inputs->workspace, inputs->expansion, experiment);
        g_hash_table_insert(inputs->files.outputs, key, outputs);
    }
    return outputs;
}

bool orch_inputs_is_captured(const struct orch_inputs *inputs, const char *name)
{
    return inputs->files.tree_files && g_hash_table_contains(inputs->files.tree_files, name);
}

/* The index of the first path that does not come before `text`. */
static guint lower_bound(const GPtrArray *paths, const char *text)
{
    guint low = 0, high = paths->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (strcmp(paths->pdata[middle], text) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

guint orch_inputs_below(const struct orch_inputs *inputs, const char *folder, guint *out_first)
{
    const GPtrArray *paths = inputs->files.tree_paths;
    g_autofree char *first = g_strconcat(folder, "/", NULL);
    g_autofree char *behind = g_strdup_printf("%s%c", folder, '/' + 1);
    *out_first = paths ? lower_bound(paths, first) : 0;
    return paths ? lower_bound(paths, behind) - *out_first : 0;
}

/* Keys of path_digests begin with what they tell of a file, and a blank. */
static gboolean is_uncaptured(gpointer key, gpointer value, gpointer ctx)
{
    static const char *const kinds[] = {ORCH_KNOWN_CODE, ORCH_KNOWN_EXTENT};
    const char *name = key;
    (void)value;
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (g_str_has_prefix(key, kinds[i]))
            name = (const char *)key + strlen(kinds[i]);
    return !orch_inputs_is_captured(ctx, name);
}

void orch_inputs_forget_uncaptured(struct orch_inputs *inputs)
{
    g_hash_table_foreach_remove(inputs->files.path_digests, is_uncaptured, inputs);
    g_hash_table_remove_all(inputs->files.read_digests);
    g_hash_table_remove_all(inputs->files.outputs);
}

const char *orch_inputs_keep_id(struct orch_inputs *inputs, char *id)
{
    g_ptr_array_add(inputs->all_ids, id);
    return id;
}
