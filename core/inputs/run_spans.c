/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/inputs/run_spans.h"

#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/wire/verdict.h"
#include "store/run_spans.h"

#include <string.h>
#include <sys/stat.h>

/* Of so many names the list may be cut (read_files.c). */
enum { NAMES_MAX = 100 };

struct orch_run_spans {
    struct orch_workspace *workspace;
    struct orch_store *store;
    const char *recipe, *experiment;
    bool is_read; /* `runs` was looked up */
    GPtrArray *committed_paths;
    GHashTable *committed; /* set of the above; NULL: not read yet */
    GHashTable *noted;     /* id of a run -> json_t *, see noted_of */
    GArray *runs;          /* struct orch_run_span; NULL: none */
};

struct orch_run_spans *orch_run_spans_new(struct orch_workspace *workspace,
                                          const struct orch_expansion *expansion,
                                          const struct orch_experiment *experiment)
{
    struct orch_run_spans *spans = g_new0(struct orch_run_spans, 1);
    spans->workspace = workspace;
    spans->store = workspace->store;
    spans->recipe = expansion->name;
    spans->experiment = experiment->name;
    spans->noted =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, (GDestroyNotify)json_decref);
    return spans;
}

void orch_run_spans_free(struct orch_run_spans *spans)
{
    if (!spans)
        return;
    g_hash_table_unref(spans->noted);
    if (spans->runs)
        g_array_unref(spans->runs);
    if (spans->committed)
        g_hash_table_unref(spans->committed);
    if (spans->committed_paths)
        g_ptr_array_unref(spans->committed_paths);
    g_free(spans);
}

/* Looks the runs up when a file is first asked about: most trials ask about none. */
static void read_runs(struct orch_run_spans *spans)
{
    if (!spans->is_read && spans->store)
        spans->runs = orch_store_run_spans(spans->store, spans->recipe, spans->experiment,
                                           orch_workspace_machine_key(spans->workspace), NULL);
    spans->is_read = true;
}

static bool had_input(const struct orch_run_spans *spans, int64_t run, const char *name)
{
    g_autoptr(GPtrArray) inputs = orch_store_inputs(spans->store, run, NULL);
    for (guint i = 0; inputs && i < inputs->len; i++)
        if (strcmp(((const struct orch_stored_input *)inputs->pdata[i])->name, name) == 0)
            return true;
    return false;
}

/* True for a file of the last commit: people edit those, also while a run runs. */
static bool is_committed(struct orch_run_spans *spans, const char *path)
{
    struct orch_vcs *vcs = spans->workspace->vcs;
    const char *relative = orch_path_below(path, spans->workspace->root);
    if (!vcs || !relative)
        return false;
    if (!spans->committed) {
        g_autofree char *commit = NULL, *tree = NULL;
        spans->committed = g_hash_table_new(g_str_hash, g_str_equal);
        if (orch_vcs_resolve(vcs, "HEAD", &commit, &tree, NULL))
            spans->committed_paths = orch_vcs_list(vcs, tree, "", NULL);
        for (guint i = 0; spans->committed_paths && i < spans->committed_paths->len; i++)
            g_hash_table_add(spans->committed, spans->committed_paths->pdata[i]);
    }
    return g_hash_table_contains(spans->committed, relative);
}

/* What was noted of a run: the names that it wrote, and those of ORCH_FACT_ELSEWHERE; or null.
 * Borrowed. */
static const json_t *noted_of(struct orch_run_spans *spans, int64_t run)
{
    const json_t *known = g_hash_table_lookup(spans->noted, &run);
    if (known)
        return known;
    g_autofree char *text = orch_store_run_span_facts(spans->store, run);
    g_autoptr(json_t) facts = text ? json_loads(text, 0, NULL) : NULL;
    json_t *noted = json_null();
    if (json_object_get(facts, ORCH_FACT_WATCHED)) {
        json_t *names = json_array();
        json_array_extend(names, json_object_get(facts, ORCH_FACT_WROTE));
        json_array_extend(names, json_object_get(facts, ORCH_FACT_READ_AND_WRITTEN));
        noted = json_pack("{s:o s:O*}", ORCH_FACT_WROTE, names, ORCH_FACT_ELSEWHERE,
                          json_object_get(facts, ORCH_FACT_ELSEWHERE));
    }
    int64_t *key = g_new(int64_t, 1);
    *key = run;
    g_hash_table_insert(spans->noted, key, noted);
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

/* True when a run, while which the file was last written, wrote it. Elsewhere than in the
 * repository writing is noted only of paths that the run named. */
static bool wrote(struct orch_run_spans *spans, int64_t run, const char *path, const char *input)
{
    const json_t *noted = noted_of(spans, run);
    const json_t *names = json_object_get(noted, ORCH_FACT_WROTE);
    const json_t *elsewhere = json_object_get(noted, ORCH_FACT_ELSEWHERE);
    const char *relative = orch_path_below(path, spans->workspace->root);
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        if (name && strcmp(name, relative ? relative : path) == 0)
            return true;
    }
    bool is_noted = relative || had_input(spans, run, path) || is_below(elsewhere, path);
    if (is_noted && json_is_array(names) && json_array_size(names) < NAMES_MAX)
        return false;
    return !(input && had_input(spans, run, input)) && !is_committed(spans, path);
}

bool orch_run_spans_wrote(struct orch_run_spans *spans, const char *path, const char *input)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return false;
    read_runs(spans);
    if (!spans->runs || !spans->runs->len)
        return false;
    int64_t written_ns = orch_timespec_ns(info.st_mtim);
    for (guint i = 0; i < spans->runs->len; i++) {
        const struct orch_run_span *run = &g_array_index(spans->runs, struct orch_run_span, i);
        if (run->started_ns - ORCH_FILE_TIME_LAG_NS <= written_ns && written_ns <= run->ended_ns &&
            wrote(spans, run->run, path, input))
            return true;
    }
    return false;
}
