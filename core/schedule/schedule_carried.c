/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trials that go on from a file which another one has left in the user's folder, such as a
 * checkpoint: it was opened for reading and then written. Whose file it was is told once and
 * recorded with each run, as its results depend on that. */
#include "core/record/read_files.h"
#include "core/schedule/schedule_private.h"

#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/wire/verdict.h"

#include <stdlib.h>
#include <string.h>

/* A file that goes on from a run that is further back is not worth the time to find it. */
#define RUNS_SEARCHED 500

/* Who has written a file last in this run. */
struct maker {
    const struct job *job;
    char key[ORCH_KEY_CHARS];
};

/* Whether a file that the trial opened lies in the user's folder: a folder apart has links to what
 * git ignores. */
static bool is_shared(const struct host *host, const struct orch_opened_files *opened,
                      const char *name)
{
    if (!host->running.slot.is_apart)
        return true;
    g_autofree char *path = orch_path_absolute(name, opened->folder);
    char *folder = realpath(opened->folder, NULL), *real = realpath(path, NULL);
    bool is_own = folder && real && orch_path_within(real, folder);
    free(folder);
    free(real);
    return !is_own;
}

static bool has_name(const json_t *facts, const char *key, const char *name)
{
    const json_t *names = json_object_get(facts, key);
    for (size_t i = 0; i < json_array_size(names); i++)
        if (g_strcmp0(json_string_value(json_array_get(names, i)), name) == 0)
            return true;
    return false;
}

static bool has_written(const struct orch_run *run, const char *name)
{
    if (!run->facts || !strstr(run->facts, ORCH_FACT_WATCHED)) /* most have not */
        return false;
    g_autoptr(json_t) facts = json_loads(run->facts, 0, NULL);
    return has_name(facts, ORCH_FACT_WROTE, name) ||
           has_name(facts, ORCH_FACT_READ_AND_WRITTEN, name);
}

/* An attempt of the same trial that was cut off left its checkpoint on purpose. */
static bool is_cut_off(const struct orch_run *run, const struct orch_plan_item *item)
{
    return g_strcmp0(run->fingerprint, item->fingerprint) == 0 &&
           !orch_verdict_facts(orch_verdict_parse(run->state))->is_reused;
}

/* The newest run of an earlier command that has written the file. Files that git captures do not
 * count: a run in a folder apart had its own. NULL: none. The caller frees. */
static struct orch_run *earlier_maker(const struct run *run, const struct host *host,
                                      const char *name)
{
    GHashTable *captured = run->plan->files.tree_files;
    const struct orch_run_query query = {.limit = RUNS_SEARCHED, .with_hidden = true};
    if (captured && g_hash_table_contains(captured, name))
        return NULL;
    g_autoptr(GPtrArray) runs = orch_store_runs(run->plan->store, &query, NULL, NULL);
    for (guint i = 0; runs && i < runs->len; i++) {
        struct orch_run *earlier = runs->pdata[i];
        if (!has_written(earlier, name))
            continue;
        if (is_cut_off(earlier, host->running.item))
            return NULL;
        runs->pdata[i] = NULL;
        return earlier;
    }
    return NULL;
}

static void tell(struct run *run, const struct host *host, const char *name, const char *maker)
{
    if (run->has_named_carried)
        return;
    run->has_named_carried = true;
    orch_schedule_emit(
        run,
        "run %s opened '%s', which %s had written, to read and write it: its results depend on "
        "that trial where it goes on from there, as from a checkpoint ('orch show RUN' names such "
        "files of each run)\n  hint: use {trial_dir} or a parameter in its name",
        orch_run_short_key(host->running.key), name, maker);
}

/* Notes in the run's facts whose file it was. */
static void record_carried(struct host *host, const char *name, const char *key)
{
    g_autoptr(json_t) record = json_loads(host->record, 0, NULL);
    json_t *facts = json_object_get(record, "facts");
    json_t *carried = json_object_get(facts, ORCH_FACT_CARRIED);
    if (!carried && facts) {
        carried = json_object();
        json_object_set_new(facts, ORCH_FACT_CARRIED, carried);
    }
    if (!carried || json_object_size(carried) >= ORCH_CARRIED_MAX)
        return;
    json_object_set_new(carried, name, json_string(key));
    g_free(host->record);
    host->record = orch_json_canonical(record);
}

/* A file that the trial has read before it wrote it. `maker`: of this run, or NULL. */
static void look_at(struct run *run, struct host *host, const char *name, const struct maker *maker)
{
    if (maker && maker->job == host->job)
        return;
    if (maker) {
        g_autofree char *label = orch_cell_label(run->plan->items[maker->job->index].cell);
        g_autofree char *text = g_strdup_printf("another trial of this sweep (%s, run %s)", label,
                                                orch_run_short_key(maker->key));
        record_carried(host, name, maker->key);
        tell(run, host, name, text);
        return;
    }
    struct orch_run *earlier = earlier_maker(run, host, name);
    if (earlier) {
        g_autofree char *text =
            g_strdup_printf("run %s of an earlier command", orch_run_short_key(earlier->key));
        record_carried(host, name, earlier->key);
        tell(run, host, name, text);
    }
    orch_run_free(earlier);
}

void orch_schedule_note_carried(struct run *run, struct host *host,
                                const struct orch_opened_files *opened)
{
    const GPtrArray *const lists[] = {opened->both, opened->wrote};
    if (!run->made)
        run->made = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (size_t i = 0; opened->folder && i < G_N_ELEMENTS(lists); i++)
        for (guint j = 0; j < lists[i]->len; j++) {
            const char *name = lists[i]->pdata[j];
            if (!is_shared(host, opened, name))
                continue;
            if (lists[i] == opened->both)
                look_at(run, host, name, g_hash_table_lookup(run->made, name));
            struct maker *maker = g_new0(struct maker, 1);
            maker->job = host->job;
            memcpy(maker->key, host->running.key, sizeof maker->key);
            g_hash_table_insert(run->made, g_strdup(name), maker);
        }
}
