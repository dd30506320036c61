/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/inputs/inputs.h"

#include "core/inputs/inputs_id.h"
#include "core/inputs/scripts.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"

void orch_known_files_init(struct orch_known_files *files)
{
    *files = (struct orch_known_files){
        .script_files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                              (GDestroyNotify)g_hash_table_unref),
        .path_digests = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
        .read_digests = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
        .covered = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                         (GDestroyNotify)g_hash_table_unref),
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

const char *orch_inputs_keep_id(struct orch_inputs *inputs, char *id)
{
    g_ptr_array_add(inputs->all_ids, id);
    return id;
}

const char *orch_inputs_id_of(struct orch_inputs *inputs, const struct orch_experiment *experiment,
                              GError **error)
{
    char *id = g_hash_table_lookup(inputs->ids, experiment);
    if (id)
        return id;
    char *code_id = NULL;
    id = orch_inputs_id(inputs->workspace, inputs->expansion, experiment, &code_id, error);
    if (code_id)
        g_hash_table_insert(inputs->code_ids, g_strdup(id), code_id);
    if (id) {
        orch_inputs_keep_id(inputs, id);
        g_hash_table_insert(inputs->ids, (gpointer)(uintptr_t)experiment, id);
    }
    return id;
}

const char *orch_inputs_code_id_of(struct orch_inputs *inputs, const char *id)
{
    const char *known = g_hash_table_lookup(inputs->code_ids, id);
    if (!known) {
        known = orch_inputs_code_id(inputs->workspace, id);
        g_hash_table_insert(inputs->code_ids, g_strdup(id), (gpointer)(uintptr_t)known);
    }
    return known;
}

const char *orch_inputs_code_digest(struct orch_inputs *inputs,
                                    const struct orch_checked_input *input)
{
    g_autofree char *key = g_strconcat("code ", input->name, NULL);
    const char *known = g_hash_table_lookup(inputs->files.path_digests, key);
    if (!known) {
        char digest[ORCH_SHA256_CHARS];
        g_autofree char *path = orch_path_absolute(input->name, inputs->workspace->root);
        known = g_strdup(orch_script_file_digest(path, digest) ? digest : "");
        g_hash_table_insert(inputs->files.path_digests, g_strdup(key), (gpointer)(uintptr_t)known);
    }
    return *known ? known : input->sha256;
}
