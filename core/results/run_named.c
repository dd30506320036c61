/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/results/run_named.h"

#include "core/plan/executor.h"
#include "store/read/find_runs.h"

#include <string.h>

static bool is_last(const char *text)
{
    return strcmp(text, "@last") == 0 || strcmp(text, "@") == 0;
}

/* The most recently started trial whose runner is alive, or NULL. */
static struct orch_active_row *newest_trial(struct orch_store *store)
{
    g_autoptr(GPtrArray) rows = orch_store_actives(store, NULL);
    const struct orch_active_row *newest = NULL;
    for (guint i = 0; rows && i < rows->len; i++) {
        const struct orch_active_row *row = rows->pdata[i];
        if (orch_active_is_alive(row) && (!newest || row->started_ns >= newest->started_ns))
            newest = row;
    }
    return newest ? orch_store_find_active(store, newest->key) : NULL;
}

bool orch_named_run_find(struct orch_store *store, const char *text, bool prefers_running,
                         struct orch_named_run *out, GError **error)
{
    *out = (struct orch_named_run){.trial = prefers_running && is_last(text)
                                                ? newest_trial(store)
                                                : orch_store_find_active(store, text)};
    if (!out->trial)
        out->run = orch_store_run(store, text, error);
    return out->trial || out->run;
}

void orch_named_run_clear(struct orch_named_run *named)
{
    orch_run_free(named->run);
    orch_active_row_free(named->trial);
    *named = (struct orch_named_run){0};
}

GPtrArray *orch_named_runs(struct orch_store *store, const char *const *names, int count,
                           GError **error)
{
    GPtrArray *runs = g_ptr_array_new_with_free_func((GDestroyNotify)orch_run_free);
    for (int i = 0; i < count; i++) {
        struct orch_run *run = orch_store_run(store, names[i], error);
        if (!run) {
            g_ptr_array_unref(runs);
            return NULL;
        }
        g_ptr_array_add(runs, run);
    }
    return runs;
}

static void free_output(gpointer pointer)
{
    struct orch_run_output *output = pointer;
    g_free(output->name);
    g_free(output->path);
    g_free(output);
}

GPtrArray *orch_run_outputs(struct orch_store *store, const struct orch_run *run, GError **error)
{
    g_autoptr(GPtrArray) artifacts = orch_store_artifacts(store, run->id, error);
    if (!artifacts)
        return NULL;
    GPtrArray *outputs = g_ptr_array_new_with_free_func(free_output);
    for (guint i = 0; i < artifacts->len; i++) {
        const struct orch_stored_artifact *artifact = artifacts->pdata[i];
        struct orch_run_output *output = g_new0(struct orch_run_output, 1);
        output->name = g_strdup(artifact->name);
        output->path = orch_store_object_path(store, artifact->sha256);
        g_ptr_array_add(outputs, output);
    }
    return outputs;
}
