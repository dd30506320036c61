/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/record/collect.h"

#include "core/inputs/left_keep.h"
#include "core/record/collect_folder.h"
#include "core/record/further_runs.h"
#include "store/handle/store_dir.h"

#include "lib/base/files_below.h"
#include "lib/base/json.h"
#include "lib/wire/bounds.h"

#include <string.h>
#include <unistd.h>

enum { RECORD_BYTES_MAX = 16 << 20 };

/* NULL when the folder has none that can be read. */
static json_t *read_trial(int folder)
{
    g_autofree char *text = NULL;
    size_t length;
    return folder >= 0 &&
                   orch_below_read(folder, "trial.json", RECORD_BYTES_MAX, &text, &length, NULL)
               ? orch_json_parse(text, length, RECORD_BYTES_MAX, NULL)
               : NULL;
}

/* Removes the checkpoint named in trial.json, because the trial needs no further attempt. */
static void drop_checkpoint(struct orch_store *store, const json_t *trial)
{
    const char *said = orch_json_text(trial, "checkpoint_dir", NULL);
    g_autofree char *name = said ? g_path_get_basename(said) : NULL;
    g_autofree char *path = orch_store_dir_path(store, ORCH_STORE_DIR_CHECKPOINT, name);
    if (path && strcmp(path, said) == 0)
        orch_store_dir_remove(store, ORCH_STORE_DIR_CHECKPOINT, name, NULL);
}

/* Parses the record made before the trial started. When it cannot be read, the run loses its
 * settings, but later commands can still use the store. */
static json_t *parse_record(const char *text)
{
    json_t *record =
        text ? orch_json_parse(text, strlen(text), RECORD_BYTES_MAX, NULL) : json_object();
    g_autofree char *repeat =
        orch_bound_fault(ORCH_BOUNDED_REPEAT, (double)orch_json_int(record, "repeat", 1));
    g_autofree char *attempt =
        orch_bound_fault(ORCH_BOUNDED_ATTEMPT, (double)orch_json_int(record, "attempt", 1));
    if (json_is_object(record) && !repeat && !attempt)
        return record;
    json_decref(record);
    return json_object();
}

/* ---- the folder of a recorded trial -----------------------------------------------------------
 */

/* Keeps what the trial left, and removes its folder or keeps it, too. `is_reused`: the run is good,
 * so that nothing resumes from its checkpoint. */
static void settle_folder(struct orch_store *store, const char *key, int folder,
                          const json_t *trial, bool is_reused, bool is_kept,
                          struct orch_collected *out)
{
    if (is_reused)
        drop_checkpoint(store, trial);
    if (folder >= 0 && !is_kept)
        is_kept = !orch_left_keep(store, key, folder, trial, &out->left);
    if (is_kept)
        out->kept = orch_store_dir_keep(store, key);
    if (!is_kept)
        orch_store_dir_remove(store, ORCH_STORE_DIR_TRIAL, key, NULL);
}

static bool asks_to_keep(const json_t *record)
{
    return json_is_true(json_object_get(record, ORCH_RECORD_KEEP));
}

void orch_collect_rest(struct orch_store *store, const struct orch_run *run)
{
    g_autofree char *text = NULL;
    struct orch_collected out = {0};
    struct stat info;
    int folder = orch_store_dir_open(store, ORCH_STORE_DIR_TRIAL, run->key);
    bool is_read = folder >= 0 && orch_below_stat(folder, ORCH_TRIAL_RECORD, &info) &&
                   orch_below_read(folder, ORCH_TRIAL_RECORD, RECORD_BYTES_MAX, &text, NULL, NULL);
    g_autoptr(json_t) record = parse_record(is_read ? text : NULL);
    bool is_reused = orch_verdict_facts(orch_verdict_parse(run->state))->is_reused;
    g_autoptr(json_t) trial = read_trial(folder);
    settle_folder(store, run->key, folder, trial, is_reused, asks_to_keep(record), &out);
    orch_collected_clear(&out);
    if (folder >= 0)
        close(folder);
}

bool orch_collect(struct orch_store *store, const char *key, const char *record_json,
                  int64_t started_ns, const struct orch_outside *outside,
                  const struct orch_opened *opened, struct orch_file_digests *digests,
                  struct orch_collected *out, GError **error)
{
    int folder = orch_store_dir_open(store, ORCH_STORE_DIR_TRIAL, key);
    json_t *record = parse_record(record_json);
    g_autoptr(json_t) trial = read_trial(folder);
    bool is_kept = asks_to_keep(record);
    bool ok = orch_further_runs_collect(store, key, record, folder, outside, digests, error);
    if (ok)
        ok = orch_collect_folder(store, key, record, folder, trial, started_ns, outside, opened,
                                 digests, out, error);
    else
        json_decref(record);
    if (ok)
        settle_folder(store, key, folder, trial, orch_verdict_facts(out->verdict)->is_reused,
                      is_kept, out);
    if (folder >= 0)
        close(folder);
    return ok;
}
