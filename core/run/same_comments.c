/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fingerprint covers the code by the id of its tree (orch_inputs_id). With the id of an earlier
 * run in its place, an equal fingerprint shows that nothing but the code differs. */
#include "core/run/same_comments.h"

#include "core/run/reuse.h"
#include "core/run/script_same.h"
#include "core/run/script_uses.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/wire/verdict.h"

#include <string.h>

enum { FILES_MAX = 50, SCRIPT_BYTES_MAX = 1 << 20, RUNS_MAX = 20 };

/* Writes files of a tree out below a new folder. The caller frees its path; NULL on failure. */
static char *write_out(struct orch_vcs *vcs, const char *tree, const GPtrArray *paths)
{
    g_autofree char *id = orch_vcs_subtree(vcs, tree, (const char *const *)paths->pdata, NULL);
    char *folder = id ? g_dir_make_tmp("orch-compare-XXXXXX", NULL) : NULL;
    if (folder && !orch_vcs_checkout(vcs, id, folder, NULL)) {
        orch_tree_remove(folder, NULL);
        g_clear_pointer(&folder, g_free);
    }
    return folder;
}

static bool is_same_file(const char *a, const char *b, const char *path)
{
    g_autofree char *file_a = g_build_filename(a, path, NULL);
    g_autofree char *file_b = g_build_filename(b, path, NULL);
    g_autofree char *text_a = NULL, *text_b = NULL;
    size_t length_a = 0, length_b = 0;
    return orch_file_read(file_a, SCRIPT_BYTES_MAX, &text_a, &length_a, NULL) &&
           orch_file_read(file_b, SCRIPT_BYTES_MAX, &text_b, &length_b, NULL) &&
           strlen(text_a) == length_a && strlen(text_b) == length_b &&
           orch_script_is_same_code(text_a, text_b);
}

/* True when the trees differ only in comments of Python scripts. */
static bool differs_in_comments(struct orch_vcs *vcs, const char *a, const char *b)
{
    g_autoptr(GPtrArray) changes = orch_vcs_diff(vcs, a, b, NULL);
    g_autoptr(GPtrArray) paths = g_ptr_array_new();
    if (!changes || !changes->len || changes->len > FILES_MAX)
        return false;
    for (guint i = 0; i < changes->len; i++) {
        const struct orch_left_out *change = changes->pdata[i];
        if (strcmp(change->why, "changed") != 0 ||
            orch_script_language_of(change->path) != ORCH_SCRIPT_PYTHON)
            return false;
        g_ptr_array_add(paths, change->path);
    }
    g_ptr_array_add(paths, NULL);
    g_autofree char *then = write_out(vcs, a, paths), *now = write_out(vcs, b, paths);
    bool is_same = then && now;
    for (guint i = 0; is_same && i + 1 < paths->len; i++)
        is_same = is_same_file(then, now, paths->pdata[i]);
    if (then)
        orch_tree_remove(then, NULL);
    if (now)
        orch_tree_remove(now, NULL);
    return is_same;
}

/* The same, with the answer kept among the plan's digests: trials of one experiment ask alike. */
static bool is_same_code(struct orch_plan *plan, const char *then, const char *now)
{
    g_autofree char *key = g_strdup_printf("comments %s %s", then, now);
    const char *known = g_hash_table_lookup(plan->files.path_digests, key);
    if (!known) {
        known = g_strdup(differs_in_comments(plan->workspace->vcs, then, now) ? "same" : "");
        g_hash_table_insert(plan->files.path_digests, g_strdup(key), (gpointer)(uintptr_t)known);
    }
    return *known;
}

/* Gives the item the fingerprint and inputs of a run that can be reused; else leaves it alone. */
static bool take(struct orch_plan *plan, struct orch_plan_item *item, const char *fingerprint,
                 const char *inputs_id)
{
    g_autofree char *own = g_strdup(item->fingerprint);
    g_strlcpy(item->fingerprint, fingerprint, sizeof item->fingerprint);
    struct orch_run *run = orch_reuse_find(plan, item, NULL, NULL);
    if (run)
        item->inputs_id = g_intern_string(inputs_id);
    else
        g_strlcpy(item->fingerprint, own, sizeof item->fingerprint);
    orch_run_free(run);
    return run != NULL;
}

static bool take_row(struct orch_plan *plan, struct orch_plan_item *item,
                     const struct orch_history_row *row, const struct orch_fingerprint_ref *refs,
                     size_t ref_count)
{
    char fingerprint[65];
    g_autoptr(json_t) facts = row->facts ? json_loads(row->facts, 0, NULL) : NULL;
    const char *then = facts ? orch_json_text(facts, "inputs_id", "") : "";
    if (!*then || strcmp(then, item->inputs_id) == 0 ||
        !orch_verdict_facts(orch_verdict_parse(row->state))->is_reused)
        return false;
    orch_fingerprint(item->cell, item->inputs, then, plan->workspace->root, refs, ref_count,
                     fingerprint);
    return strcmp(fingerprint, row->fingerprint) == 0 &&
           orch_vcs_has_tree(plan->workspace->vcs, then) &&
           is_same_code(plan, then, item->inputs_id) && take(plan, item, fingerprint, then);
}

bool orch_adopt_same_code(struct orch_plan *plan, struct orch_plan_item *item,
                          const struct orch_fingerprint_ref *refs, size_t ref_count)
{
    const struct orch_cell *cell = item->cell;
    if (!plan->store || !plan->workspace->vcs || !item->inputs_id || !*item->inputs_id ||
        item->forced || cell->experiment->reuse == ORCH_RECIPE_REUSE_NEVER)
        return false;
    struct orch_run *run = orch_reuse_find(plan, item, NULL, NULL);
    if (run) {
        orch_run_free(run);
        return false;
    }
    const json_t *values = plan->expansion->is_ad_hoc ? cell->params : cell->coords;
    g_autoptr(GPtrArray) rows =
        orch_store_history(plan->store, plan->expansion->name, cell->experiment->name, cell->repeat,
                           values, RUNS_MAX, NULL);
    for (guint i = 0; rows && i < rows->len; i++)
        if (take_row(plan, item, rows->pdata[i], refs, ref_count))
            return true;
    return false;
}
