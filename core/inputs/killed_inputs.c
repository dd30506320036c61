/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runner would have looked at the inputs of a trial in the user's folder when this had ended.
 * They were as captured when it started, so each change since then shows in the time that the
 * kernel keeps. What the trial has read is compared in any case (record_reads.c). */
#include "core/inputs/opened.h"

#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"

#include <string.h>

/* What is found out about the inputs of one trial. */
struct look {
    const char *root;
    int64_t started_ns;
    GHashTable *written; /* by the trial: no inputs */
    GPtrArray *code;     /* char *: changed */
    json_t *data;        /* names: changed */
};

/* Notes an input that is gone or was changed after the trial had started. */
static void look_at(struct look *look, const char *name)
{
    struct stat info;
    g_autofree char *path = orch_path_absolute(name, look->root);
    bool is_there = stat(path, &info) == 0;
    if (g_hash_table_contains(look->written, name) ||
        (is_there &&
         (S_ISDIR(info.st_mode) ||
          !orch_file_may_have_changed(orch_timespec_ns(info.st_ctim), look->started_ns))))
        return;
    if (orch_input_is_code(path))
        g_ptr_array_add(look->code, g_strdup(name));
    else
        json_array_append_new(look->data, json_string(name));
}

/* Looks at the files of the tree that the record names; false when there is no such tree. */
static bool look_at_tree(struct look *look, const char *tree)
{
    struct orch_vcs *vcs = *tree ? orch_vcs_open(look->root, NULL) : NULL;
    g_autoptr(GPtrArray) paths = vcs ? orch_vcs_list(vcs, tree, "", NULL) : NULL;
    for (guint i = 0; paths && i < paths->len; i++)
        look_at(look, paths->pdata[i]);
    orch_vcs_close(vcs);
    return paths || !*tree;
}

char *orch_inputs_after_kill(json_t *record, int64_t started_ns, int folder)
{
    json_t *facts = json_object_get(record, "facts");
    const json_t *inputs = json_object_get(record, "inputs");
    const char *root = orch_json_text(record, ORCH_RECORD_IN_PLACE, NULL);
    if (!root)
        return NULL;
    struct orch_opened opened;
    orch_opened_read(folder, &opened);
    g_autoptr(GPtrArray) code = g_ptr_array_new_with_free_func(g_free);
    struct look look = {root, started_ns, opened.written, code, json_array()};
    if (!look_at_tree(&look, orch_json_text(facts, "inputs_id", "")) && !opened.folder)
        json_object_set_new(facts, ORCH_FACT_NOT_LOOKED_AT, json_true());
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        const json_t *row = json_array_get(inputs, i);
        if (json_is_null(json_array_get(row, 1))) /* no artifact of another run */
            look_at(&look, json_string_value(json_array_get(row, 0)));
    }
    if (json_array_size(look.data))
        json_object_set(facts, ORCH_FACT_REWRITTEN, look.data);
    json_decref(look.data);
    orch_opened_clear(&opened);
    g_autofree char *names = code->len ? orch_input_names(code->pdata[0], code->len) : NULL;
    return names ? g_strconcat("inputs changed while it ran, or before it was recorded: ", names,
                               NULL)
                 : NULL;
}
