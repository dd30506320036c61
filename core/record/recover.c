/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A killed runner leaves active rows and, briefly, hosts that notice the end of their standard
 * input and cancel their trials. The next command on this machine closes the ended trials, so users
 * never have to break a lock. */
#include "core/record/collect.h"

#include "core/inputs/opened.h"
#include "core/plan/executor.h"
#include "core/record/trial_processes.h"

#include "store/handle/store_dir.h"
#include "store/repair/repair.h"

#include "lib/base/file.h"
#include "lib/base/files_below.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/wire/verdict.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool collect_row(struct orch_store *store, const struct orch_active_row *row, int folder,
                        struct orch_file_digests *digests, GError **error)
{
    struct orch_collected collected = {0};
    g_autoptr(json_t) record = row->record ? json_loads(row->record, 0, NULL) : NULL;
    g_autofree char *spoiled = orch_inputs_after_kill(record, row->started_ns, folder);
    g_autofree char *text = record ? orch_json_canonical(record) : g_strdup(row->record);
    const struct orch_outside outside = {ORCH_VERDICT_LOST, spoiled, true, true};
    bool ok = orch_collect(store, row->key, text, row->started_ns, spoiled ? &outside : NULL, NULL,
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
