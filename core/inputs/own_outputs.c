/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/inputs/own_outputs.h"

#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/wire/verdict.h"
#include "store/read/run_spans.h"

#include <string.h>
#include <sys/stat.h>

/* Member of what was noted of a run: another file may have been written by it. */
#define IN_PART "in_part"

struct orch_own_outputs {
    struct orch_workspace *workspace;
    struct orch_store *store;
    const char *recipe, *experiment;
    bool is_read; /* `runs` was looked up */
    GPtrArray *committed_paths;
    GHashTable *committed; /* set of the above; NULL: not read yet */
    GHashTable *noted;     /* id of a run -> json_t *, see noted_of */
    GArray *runs;          /* struct orch_run_span; NULL: none */
};

struct orch_own_outputs *orch_own_outputs_new(struct orch_workspace *workspace,
                                              const struct orch_expansion *expansion,
                                              const struct orch_experiment *experiment)
{
    struct orch_own_outputs *outputs = g_new0(struct orch_own_outputs, 1);
    outputs->workspace = workspace;
    outputs->store = workspace->store;
    outputs->recipe = expansion->name;
    outputs->experiment = experiment->name;
    outputs->noted =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, (GDestroyNotify)json_decref);
    return outputs;
}

void orch_own_outputs_free(struct orch_own_outputs *outputs)
{
    if (!outputs)
        return;
    g_hash_table_unref(outputs->noted);
    if (outputs->runs)
        g_array_unref(outputs->runs);
    if (outputs->committed)
        g_hash_table_unref(outputs->committed);
    if (outputs->committed_paths)
        g_ptr_array_unref(outputs->committed_paths);
    g_free(outputs);
}

/* Looks the runs up when a file is first asked about: most trials ask about none. */
static void read_runs(struct orch_own_outputs *outputs)
{
    if (!outputs->is_read && outputs->store)
        outputs->runs = orch_store_run_spans(outputs->store, outputs->recipe, outputs->experiment,
                                             orch_workspace_machine_key(outputs->workspace), NULL);
    outputs->is_read = true;
}

static bool had_input(const struct orch_own_outputs *outputs, int64_t run, const char *name)
{
    g_autoptr(GPtrArray) inputs = orch_store_inputs(outputs->store, run, NULL);
    for (guint i = 0; inputs && i < inputs->len; i++)
        if (strcmp(((const struct orch_stored_input *)inputs->pdata[i])->name, name) == 0)
            return true;
    return false;
}

/* True for a file of the last commit: people edit those, also while a run runs. */
static bool is_committed(struct orch_own_outputs *outputs, const char *path)
{
    struct orch_vcs *vcs = outputs->workspace->vcs;
    const char *relative = orch_path_below(path, outputs->workspace->root);
    if (!vcs || !relative)
        return false;
    if (!outputs->committed) {
        g_autofree char *commit = NULL, *tree = NULL;
        outputs->committed = g_hash_table_new(g_str_hash, g_str_equal);
        if (orch_vcs_resolve(vcs, "HEAD", &commit, &tree, NULL))
            outputs->committed_paths = orch_vcs_list(vcs, tree, "", NULL);
        for (guint i = 0; outputs->committed_paths && i < outputs->committed_paths->len; i++)
            g_hash_table_add(outputs->committed, outputs->committed_paths->pdata[i]);
    }
    return g_hash_table_contains(outputs->committed, relative);
}

/* What was noted of a run: the names that it wrote, ORCH_FACT_ELSEWHERE, ORCH_FACT_LEFT_AS; or
 * null. Borrowed. */
static const json_t *noted_of(struct orch_own_outputs *outputs, int64_t run)
{
    const json_t *known = g_hash_table_lookup(outputs->noted, &run);
    if (known)
        return known;
    g_autofree char *text = orch_store_run_span_facts(outputs->store, run);
    g_autoptr(json_t) facts = text ? json_loads(text, 0, NULL) : NULL;
    json_t *noted = json_null();
    const json_t *watched = json_object_get(facts, ORCH_FACT_WATCHED);
    if (watched) {
        json_t *names = json_array();
        json_array_extend(names, json_object_get(facts, ORCH_FACT_WROTE));
        json_array_extend(names, json_object_get(facts, ORCH_FACT_READ_AND_WRITTEN));
        noted = json_pack("{s:o s:O* s:O* s:b}", ORCH_FACT_WROTE, names, ORCH_FACT_ELSEWHERE,
                          json_object_get(facts, ORCH_FACT_ELSEWHERE), ORCH_FACT_LEFT_AS,
                          json_object_get(facts, ORCH_FACT_LEFT_AS), IN_PART,
                          json_array_size(json_object_get(watched, ORCH_WATCHED_GAPS)) > 0);
    }
    int64_t *key = g_new(int64_t, 1);
    *key = run;
    g_hash_table_insert(outputs->noted, key, noted);
    return noted;
}

/* True for one of these paths, or one below them. */
static bool is_below(const json_t *paths, const char *path)
{
    for (size_t i = 0; i < json_array_size(paths); i++) {
        const char *one = json_string_value(json_array_get(paths, i));
        if (one && (strcmp(one, path) == 0 || orch_path_below(path, one)))
            return true;
    }
    return false;
}

bool orch_own_output_is_as_left(const json_t *facts, const char *name, const struct stat *info)
{
    const json_t *as = json_object_get(json_object_get(facts, ORCH_FACT_LEFT_AS), name);
    return json_integer_value(json_array_get(as, 0)) == info->st_size &&
           json_integer_value(json_array_get(as, 1)) == orch_timespec_ns(info->st_mtim);
}

/* True when a run, while which the file was last written, wrote it. Elsewhere than in the
 * repository writing is noted only of paths that the run named. */
static bool wrote(struct orch_own_outputs *outputs, int64_t run, const char *path,
                  const struct stat *info, const char *input)
{
    const json_t *noted = noted_of(outputs, run);
    const json_t *names = json_object_get(noted, ORCH_FACT_WROTE);
    const json_t *elsewhere = json_object_get(noted, ORCH_FACT_ELSEWHERE);
    const char *relative = orch_path_below(path, outputs->workspace->root);
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        if (name && strcmp(name, relative ? relative : path) == 0)
            return !json_object_get(noted, ORCH_FACT_LEFT_AS) || /* by an earlier version of orch */
                   orch_own_output_is_as_left(noted, name, info);
    }
    bool is_noted = relative || had_input(outputs, run, path) || is_below(elsewhere, path);
    bool is_whole = json_is_array(names) && json_array_size(names) < ORCH_WROTE_MAX &&
                    !json_is_true(json_object_get(noted, IN_PART));
    if (is_noted && is_whole)
        return false;
    return !(input && had_input(outputs, run, input)) && !is_committed(outputs, path);
}

bool orch_own_outputs_has(struct orch_own_outputs *outputs, const char *path, const char *input)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return false;
    read_runs(outputs);
    if (!outputs->runs || !outputs->runs->len)
        return false;
    int64_t written_ns = orch_timespec_ns(info.st_mtim);
    for (guint i = 0; i < outputs->runs->len; i++) {
        const struct orch_run_span *run = &g_array_index(outputs->runs, struct orch_run_span, i);
        if (run->started_ns - ORCH_FILE_TIME_LAG_NS <= written_ns && written_ns <= run->ended_ns &&
            wrote(outputs, run->run, path, &info, input))
            return true;
    }
    return false;
}
