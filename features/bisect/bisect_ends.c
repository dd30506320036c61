/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/bisect/bisect_ends.h"

#include "lib/base/error.h"

static const char *const NAMES[] = {"good", "bad"};

/* An end's newest run. */
struct end {
    const struct orch_bisect_commit *row;
    struct orch_run *run; /* NULL: none */
};

static struct orch_run *newest_run(const struct orch_bisect *bisect,
                                   const struct orch_bisect_commit *row)
{
    const struct orch_run_query query = {.recipe = "try", .limit = 200};
    g_autoptr(GPtrArray) runs = orch_store_runs(bisect->job.base->store, &query, NULL, NULL);
    for (guint i = 0; runs && i < runs->len; i++) {
        const struct orch_run *run = runs->pdata[i];
        if (g_strcmp0(run->source_tree, row->is->tree) == 0)
            return orch_store_run(bisect->job.base->store, run->key, NULL);
    }
    return NULL;
}

/* The names of the numbers of a run: "acc, loss". NULL: it has none. */
static char *names_of(const struct orch_bisect *bisect, const struct orch_run *run)
{
    struct orch_run_numbers *numbers = orch_run_numbers_read(bisect->job.base->store, run, NULL);
    g_autoptr(GPtrArray) names = numbers ? orch_run_numbers_names(numbers) : g_ptr_array_new();
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < names->len; i++)
        g_string_append_printf(text, "%s%s", i ? ", " : "", (const char *)names->pdata[i]);
    orch_run_numbers_free(numbers);
    return text->len ? g_strdup(text->str) : NULL;
}

static bool ended_well(const struct orch_run *run)
{
    return run && orch_verdict_facts(orch_verdict_parse(run->state))->is_reused;
}

static bool say_failure(const struct orch_bisect_commit *row, const struct orch_run *run, int which,
                        GError **error)
{
    g_autofree char *hint =
        run ? g_strdup_printf("'orch log %s' prints its output", orch_run_short_key(run->key))
            : NULL;
    orch_error_set(error, ORCH_ERROR_TRIAL, hint, "the command fails at the %s commit %.8s (%s)",
                   NAMES[which], row->is->commit, row->skipped);
    return false;
}

static bool say_no_metric(const struct orch_bisect *bisect, const struct end ends[2],
                          GError **error)
{
    const char *metric = bisect->metric.name;
    g_autoptr(GString) hint = g_string_new(NULL);
    for (int i = 0; i < 2; i++) {
        g_autofree char *names = ends[i].run ? names_of(bisect, ends[i].run) : NULL;
        g_string_append_printf(hint, "%sat the %s commit %.8s it prints %s", i ? "; " : "",
                               NAMES[i], ends[i].row->is->commit, names ? names : "no number");
    }
    if (ends[0].row->skipped && ends[1].row->skipped)
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, hint->str,
                       "the command prints no value of '%s' at either commit", metric);
    else
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, hint->str,
                       "the command prints no value of '%s' at the %s commit", metric,
                       NAMES[ends[0].row->skipped ? 0 : 1]);
    return false;
}

bool orch_bisect_ends_check(const struct orch_bisect *bisect, size_t *inout_index, GError **error)
{
    struct end ends[2] = {{.row = &bisect->commits.rows[0]},
                          {.row = &bisect->commits.rows[bisect->commits.count - 1]}};
    bool ok = true;
    if (!ends[0].row->skipped && !ends[1].row->skipped)
        return true;
    for (int i = 0; i < 2; i++)
        ends[i].run = ends[i].row->repeats->len ? newest_run(bisect, ends[i].row) : NULL;
    for (int i = 0; ok && i < 2; i++)
        if (ends[i].row->skipped && !ended_well(ends[i].run))
            ok = say_failure(ends[i].row, ends[i].run, i, error);
    if (ok && ends[0].run && ends[1].run)
        ok = say_no_metric(bisect, ends, error);
    else if (ok)
        *inout_index = ends[0].run ? bisect->commits.count - 1 : 0;
    orch_run_free(ends[0].run);
    orch_run_free(ends[1].run);
    return ok;
}
