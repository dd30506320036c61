/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A killed runner leaves active rows and, briefly, hosts that notice the end of their standard
 * input and cancel their trials. The next command on this machine closes the ended trials, so users
 * never have to break a lock. */
#include "core/record/collect.h"

#include "core/inputs/cell_inputs.h"
#include "core/inputs/read_files.h"
#include "core/plan/reuse.h"
#include "core/record/trial_processes.h"

#include "store/repair.h"
#include "store/store_dir.h"

#include "lib/base/below.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/vcs/vcs.h"
#include "lib/wire/verdict.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- inputs -----------------------------------------------------------------------------------
 *
 * The runner would have looked at the inputs of a trial in the user's folder when this had ended.
 * They were as captured when it started, so each change since then shows in the file's time. */

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
    int64_t changed_ns = orch_timespec_ns(info.st_ctim);
    if (g_hash_table_contains(look->written, name) ||
        (is_there &&
         (S_ISDIR(info.st_mode) || changed_ns < look->started_ns - ORCH_FILE_TIME_LAG_NS)))
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

/* Notes in the record what changed of a trial's inputs. The code among it, which spoils the run, is
 * returned as a reason: the caller frees; NULL for none. */
static char *look_at_inputs(json_t *record, int64_t started_ns, int folder)
{
    json_t *facts = json_object_get(record, "facts");
    const json_t *inputs = json_object_get(record, "inputs");
    const char *root = orch_json_text(record, ORCH_RECORD_IN_PLACE, NULL);
    if (!root)
        return NULL;
    struct orch_opened_files opened;
    orch_opened_files_read(folder, &opened);
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
    orch_opened_files_clear(&opened);
    g_autofree char *names = code->len ? orch_input_names(code->pdata[0], code->len) : NULL;
    return names ? g_strconcat("inputs changed while it ran, or before it was recorded: ", names,
                               NULL)
                 : NULL;
}

static bool collect_row(struct orch_store *store, const struct orch_active_row *row, int folder,
                        struct orch_file_digests *digests, GError **error)
{
    struct orch_collected collected = {0};
    g_autoptr(json_t) record = row->record ? json_loads(row->record, 0, NULL) : NULL;
    g_autofree char *spoiled = look_at_inputs(record, row->started_ns, folder);
    g_autofree char *text = record ? orch_json_canonical(record) : g_strdup(row->record);
    const struct orch_outside outside = {ORCH_VERDICT_LOST, spoiled, true, true};
    bool ok = orch_collect(store, row->key, text, row->started_ns, spoiled ? &outside : NULL,
                           digests, &collected, error);
    orch_collected_clear(&collected);
    return ok;
}

/* ---- rows -------------------------------------------------------------------------------------
 */

static bool close_row(struct orch_store *store, const struct orch_active_row *row,
                      struct orch_file_digests *digests, GError **error)
{
    bool taken;
    if (!orch_store_adopt(store, row->key, &row->runner, &taken, error))
        return false;
    if (!taken)
        return true;
    orch_kill_leftovers(row->key);
    int folder = orch_store_dir_open(store, ORCH_STORE_DIR_TRIAL, row->key);
    struct stat info;
    bool has_started = folder >= 0 && orch_below_stat(folder, "journal", &info);
    bool ok = true;
    if (has_started) {
        ok = collect_row(store, row, folder, digests, error);
    } else {
        orch_store_dir_remove(store, ORCH_STORE_DIR_TRIAL, row->key, NULL);
        ok = orch_store_forget(store, row->key, error);
    }
    if (folder >= 0)
        close(folder);
    return ok;
}

static bool is_active(const GPtrArray *rows, const char *key)
{
    for (guint i = 0; i < rows->len; i++)
        if (strcmp(((const struct orch_active_row *)rows->pdata[i])->key, key) == 0)
            return true;
    return false;
}

/* A folder is made after its active row and removed after the row is deleted, so a folder without a
 * row was about to be removed: of a recorded trial after what it left was kept. `folders` were
 * listed before `rows` were read. */
static void settle_leftovers(struct orch_store *store, const GPtrArray *folders,
                             const GPtrArray *rows)
{
    for (guint i = 0; i < folders->len; i++) {
        const char *key = folders->pdata[i];
        g_autofree char *path = orch_store_dir_path(store, ORCH_STORE_DIR_TRIAL, key);
        if (is_active(rows, key) || orch_trial_host_is_alive(path))
            continue;
        struct orch_run *run = orch_store_run(store, key, NULL);
        if (run)
            orch_collect_rest(store, run);
        else
            orch_store_dir_remove(store, ORCH_STORE_DIR_TRIAL, key, NULL);
        orch_run_free(run);
    }
}

/* True for a trial whose runner died while it submitted it to an executor: its job may exist. */
static bool is_submission(const struct orch_active_row *row)
{
    g_autoptr(json_t) record = row->record ? json_loads(row->record, 0, NULL) : NULL;
    return orch_executor_has(record);
}

bool orch_recover(struct orch_store *store, unsigned *out_closed, unsigned *out_pending,
                  GError **error)
{
    g_autoptr(GPtrArray) folders = orch_store_dir_list(store, ORCH_STORE_DIR_TRIAL);
    g_autoptr(GPtrArray) rows = orch_store_actives(store, error);
    *out_closed = *out_pending = 0;
    if (!rows)
        return false;
    settle_leftovers(store, folders, rows);
    bool ok = true;
    struct orch_file_digests *digests = orch_file_digests_open();
    for (guint i = 0; ok && i < rows->len; i++) {
        const struct orch_active_row *row = rows->pdata[i];
        if (orch_active_is_alive(row) || is_submission(row))
            continue;
        if (orch_trial_host_is_alive(row->trial_dir)) {
            (*out_pending)++;
            continue;
        }
        ok = close_row(store, row, digests, error);
        *out_closed += ok;
    }
    orch_file_digests_close(digests);
    return ok;
}

/* ---- after a repair ---------------------------------------------------------------------------
 */

static bool recover_folder(struct orch_store *store, const char *key, unsigned *added,
                           GPtrArray *lost, GError **error)
{
    bool is_new = false;
    g_autofree char *path = orch_store_dir_path(store, ORCH_STORE_DIR_TRIAL, key);
    g_autofree char *record = NULL;
    struct stat info;
    struct orch_run *run = orch_store_run(store, key, NULL);
    if (run) { /* the run is recorded, so the folder was about to be removed */
        orch_run_free(run);
        return true;
    }
    int folder = orch_store_dir_open(store, ORCH_STORE_DIR_TRIAL, key);
    bool is_read = folder >= 0 && orch_below_stat(folder, ORCH_TRIAL_RECORD, &info) &&
                   orch_below_read(folder, ORCH_TRIAL_RECORD, 16 << 20, &record, NULL, NULL);
    if (folder >= 0)
        close(folder);
    if (!is_read) {
        g_ptr_array_add(lost, g_strdup_printf("trial %s: no record of it is left; its files are in "
                                              "'%s' until the next run",
                                              key, path));
        return true;
    }
    int64_t started = orch_timespec_ns(info.st_mtim);
    if (!orch_salvage_trial(store, key, record, started, &is_new, error))
        return false;
    *added += is_new;
    return true;
}

bool orch_recover_folders(struct orch_store *store, unsigned *out_added, GPtrArray *out_lost,
                          GError **error)
{
    g_autoptr(GPtrArray) folders = orch_store_dir_list(store, ORCH_STORE_DIR_TRIAL);
    g_autoptr(GPtrArray) rows = orch_store_actives(store, error);
    *out_added = 0;
    if (!rows)
        return false;
    for (guint i = 0; i < folders->len; i++)
        if (!is_active(rows, folders->pdata[i]) &&
            !recover_folder(store, folders->pdata[i], out_added, out_lost, error))
            return false;
    return true;
}
