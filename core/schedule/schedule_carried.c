/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trials that go on from a file which another one has left in the user's folder, such as a
 * checkpoint: it was opened for reading and then written. Whose file it was is told once and
 * recorded with each run, as its results depend on that. */
#include "core/inputs/read_files.h"
#include "core/schedule/schedule_private.h"

#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/wire/verdict.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A file that goes on from a run that is further back is not worth the time to find it. */
enum { RUNS_SEARCHED = 500, NAMES_SEARCHED = 2000 };

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

/* A run of an earlier command that has written a file. */
struct earlier {
    char *key, *fingerprint;
    bool is_reused;
    int64_t ended_ns;
    int64_t written_ns; /* when the file was last written before this command */
};

static void earlier_free(gpointer pointer)
{
    struct earlier *earlier = pointer;
    g_free(earlier->key);
    g_free(earlier->fingerprint);
    g_free(earlier);
}

static int64_t written_ns(const char *root, const char *name)
{
    struct stat info;
    g_autofree char *path = orch_path_absolute(name, root);
    return stat(path, &info) == 0 ? orch_timespec_ns(info.st_mtim) : INT64_MAX;
}

/* Notes the files of a list of names that no newer run has written. Files that git captures do not
 * count: a run in a folder apart had its own. */
static void add_names(struct run *run, const struct orch_run *by, const json_t *names)
{
    GHashTable *captured = run->plan->inputs->files.tree_files;
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        if (!name || g_hash_table_size(run->earlier) >= NAMES_SEARCHED ||
            g_hash_table_contains(run->earlier, name) ||
            (captured && g_hash_table_contains(captured, name)))
            continue;
        struct earlier *earlier = g_new0(struct earlier, 1);
        earlier->key = g_strdup(by->key);
        earlier->fingerprint = g_strdup(by->fingerprint);
        earlier->is_reused = orch_verdict_facts(orch_verdict_parse(by->state))->is_reused;
        earlier->ended_ns = by->ended_ns;
        earlier->written_ns = written_ns(run->plan->workspace->root, name);
        g_hash_table_insert(run->earlier, g_strdup(name), earlier);
    }
}

void orch_schedule_read_carried(struct run *run, const struct orch_plan_item *item)
{
    const struct orch_experiment *experiment = item->cell->experiment;
    const struct orch_run_query query = {.limit = RUNS_SEARCHED, .with_hidden = true};
    if (run->earlier || experiment->manifest->kind != ORCH_PLUGIN_WRAPPED ||
        orch_plugin_is_ours(experiment->manifest) ||
        orch_reads_are_off(run->plan->inputs, experiment))
        return;
    run->earlier = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, earlier_free);
    const char *machine = orch_workspace_machine_key(run->plan->workspace);
    g_autofree char *place = orch_reads_place(run->plan->inputs);
    g_autoptr(GPtrArray) runs = orch_store_runs(run->plan->store, &query, NULL, NULL);
    for (guint i = 0; runs && i < runs->len; i++) {
        const struct orch_run *by = runs->pdata[i];
        if (!by->facts || !strstr(by->facts, place) || g_strcmp0(by->machine_key, machine) != 0)
            continue;
        g_autoptr(json_t) facts = json_loads(by->facts, 0, NULL);
        if (g_strcmp0(orch_json_text(facts, ORCH_FACT_PLACE, NULL), place) != 0)
            continue;
        add_names(run, by, json_object_get(facts, ORCH_FACT_WROTE));
        add_names(run, by, json_object_get(facts, ORCH_FACT_READ_AND_WRITTEN));
    }
}

/* The run of an earlier command whose file this one still was when this command began; NULL: none.
 * An attempt of the same trial that was cut off left its checkpoint on purpose. */
static const struct earlier *earlier_maker(const struct run *run, const struct host *host,
                                           const char *name)
{
    const struct earlier *earlier = run->earlier ? g_hash_table_lookup(run->earlier, name) : NULL;
    if (!earlier || earlier->written_ns > earlier->ended_ns)
        return NULL;
    bool is_own = g_strcmp0(earlier->fingerprint, host->running.item->fingerprint) == 0;
    return is_own && !earlier->is_reused ? NULL : earlier;
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

/* Notes in the run's facts whose files they were. */
static void record_carried(struct host *host, json_t *carried)
{
    g_autoptr(json_t) record = json_object_size(carried) ? json_loads(host->record, 0, NULL) : NULL;
    json_t *facts = json_object_get(record, "facts");
    if (!facts)
        return;
    json_object_set(facts, ORCH_FACT_CARRIED, carried);
    g_free(host->record);
    host->record = orch_json_canonical(record);
}

/* A file that the trial has read before it wrote it. `maker`: of this run, or NULL. */
static void look_at(struct run *run, const struct host *host, const char *name,
                    const struct maker *maker, json_t *carried)
{
    if ((maker && maker->job == host->job) || json_object_size(carried) >= ORCH_CARRIED_MAX)
        return;
    if (maker) {
        g_autofree char *label = orch_cell_label(run->plan->items[maker->job->index].cell);
        g_autofree char *text = g_strdup_printf("another trial of this sweep (%s, run %s)", label,
                                                orch_run_short_key(maker->key));
        json_object_set_new(carried, name, json_string(maker->key));
        tell(run, host, name, text);
        return;
    }
    const struct earlier *earlier = earlier_maker(run, host, name);
    if (!earlier)
        return;
    g_autofree char *text =
        g_strdup_printf("run %s of an earlier command", orch_run_short_key(earlier->key));
    json_object_set_new(carried, name, json_string(earlier->key));
    tell(run, host, name, text);
}

void orch_schedule_note_carried(struct run *run, struct host *host,
                                const struct orch_opened_files *opened)
{
    const GPtrArray *const lists[] = {opened->both, opened->wrote};
    g_autoptr(json_t) carried = json_object();
    if (!run->made)
        run->made = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (size_t i = 0; opened->folder && i < G_N_ELEMENTS(lists); i++)
        for (guint j = 0; j < lists[i]->len; j++) {
            const char *name = lists[i]->pdata[j];
            if (!is_shared(host, opened, name))
                continue;
            if (lists[i] == opened->both)
                look_at(run, host, name, g_hash_table_lookup(run->made, name), carried);
            struct maker *maker = g_new0(struct maker, 1);
            maker->job = host->job;
            memcpy(maker->key, host->running.key, sizeof maker->key);
            g_hash_table_insert(run->made, g_strdup(name), maker);
        }
    record_carried(host, carried);
}
