/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The journal is read twice: once for everything but metric points (their lines are skipped without
 * being decoded), once to stream the points into the store, so memory stays bounded. */
#include "core/record/collect_folder.h"

#include "core/inputs/opened.h"
#include "core/recipe/recipe_search.h"
#include "core/record/kept_files.h"
#include "core/record/trial_contents.h"
#include "core/record/written_words.h"
#include "store/write/trial_record.h"

#include "lib/base/error.h"
#include "lib/base/files_below.h"
#include "lib/base/json.h"
#include "lib/wire/bounds.h"
#include "lib/wire/journal.h"
#include "lib/wire/system_metrics.h"

#include <math.h>
#include <string.h>

/* ---- points -----------------------------------------------------------------------------------
 */

struct points {
    struct orch_journal *journal;
    struct orch_event event;
    bool has_event;
    size_t next;
    int64_t count;
    char *fault;       /* describes the first invalid point, which no host would write; or NULL */
    GHashTable *ahead; /* of metrics the steps of the marks that have not come yet: points from
                          there on do not count */
};

/* The first of a metric's marks is behind now. */
static void pass_mark(GHashTable *ahead, const char *name)
{
    GArray *marks = g_hash_table_lookup(ahead, name);
    if (marks && marks->len > 1)
        g_array_remove_index(marks, 0);
    else
        g_hash_table_remove(ahead, name);
}

/* Whether a mark that is still ahead says that a point does not count. */
static bool is_replaced(GHashTable *ahead, const struct orch_point *point)
{
    const GArray *marks = g_hash_table_lookup(ahead, point->name);
    for (guint i = 0; marks && i < marks->len; i++)
        if (point->step >= g_array_index(marks, int64_t, i))
            return true;
    return false;
}

/* Reads on to the next point, whichever it is. */
static bool read_point(struct points *points, struct orch_point *out, GError **error)
{
    while (!points->has_event || points->next == points->event.point_count) {
        if (points->has_event)
            orch_event_clear(&points->event);
        points->has_event = orch_journal_next(points->journal, &points->event, error);
        points->next = 0;
        if (!points->has_event)
            return false;
        if (points->event.kind == ORCH_EVENT_REPORTED)
            pass_mark(points->ahead, points->event.name);
        if (points->event.kind != ORCH_EVENT_METRICS)
            points->next = points->event.point_count;
    }
    *out = points->event.points[points->next++];
    return true;
}

static bool next_point(void *ctx, struct orch_point *out, GError **error)
{
    struct points *points = ctx;
    do
        if (!points->journal || !read_point(points, out, error))
            return false;
    while (is_replaced(points->ahead, out));
    points->fault = orch_bound_point_fault(out);
    if (points->fault)
        orch_error_set(error, ORCH_ERROR_PROTOCOL, NULL, "%s", points->fault);
    points->count += !orch_metric_is_system(out->name);
    return !points->fault;
}

/* ---- the record -------------------------------------------------------------------------------
 */

/* A text from an array of arrays of texts; a JSON null gives NULL. */
static const char *cell_text(const json_t *rows, size_t row, size_t column)
{
    return json_string_value(json_array_get(json_array_get(rows, row), column));
}

/* Gives a metric of the trial's search the search's direction, unless the plugin declares one.
 * `rows` has room for one more. */
static size_t add_direction(const char *name, const char *better, struct orch_metric_row *rows,
                            size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].name, name) != 0)
            continue;
        if (!rows[i].better || strcmp(rows[i].better, "none") == 0)
            rows[i].better = better;
        return count;
    }
    rows[count] = (struct orch_metric_row){name, NULL, better};
    return count + 1;
}

/* The same for each metric of the search, up to ORCH_SEARCH_GOALS_MAX. */
static size_t add_directions(const json_t *record, struct orch_metric_row *rows, size_t count)
{
    const json_t *objective = json_object_get(record, ORCH_RECORD_OBJECTIVE);
    for (size_t i = 0; i + 1 < json_array_size(objective) && i < 2 * ORCH_SEARCH_GOALS_MAX;
         i += 2) {
        const char *name = json_string_value(json_array_get(objective, i)),
                   *better = json_string_value(json_array_get(objective, i + 1));
        if (name && better)
            count = add_direction(name, better, rows, count);
    }
    return count;
}

static struct orch_named_text *param_rows_new(const json_t *params)
{
    size_t count = json_array_size(params);
    struct orch_named_text *rows = g_new0(struct orch_named_text, count + 1);
    for (size_t i = 0; i < count; i++)
        rows[i] = (struct orch_named_text){cell_text(params, i, 0), cell_text(params, i, 1),
                                           cell_text(params, i, 2)};
    return rows;
}

static struct orch_input_row *input_rows_new(const json_t *inputs)
{
    size_t count = json_array_size(inputs);
    struct orch_input_row *rows = g_new0(struct orch_input_row, count + 1);
    for (size_t i = 0; i < count; i++)
        rows[i] = (struct orch_input_row){cell_text(inputs, i, 0), cell_text(inputs, i, 1),
                                          cell_text(inputs, i, 2)};
    return rows;
}

/* The metrics that the plugin declares, those of which the program printed a unit, those of the
 * machine, and the direction of a search's objective. */
static struct orch_metric_row *metric_rows_new(const json_t *record, const json_t *facts,
                                               size_t *out_count)
{
    const json_t *metrics = json_object_get(record, "metrics");
    const json_t *units = json_object_get(facts, "metric_units");
    const char *name;
    json_t *unit;
    size_t count = json_array_size(metrics);
    struct orch_metric_row *rows =
        g_new0(struct orch_metric_row,
               count + json_object_size(units) + ORCH_SYSTEM_ALL + ORCH_SEARCH_GOALS_MAX);
    for (size_t i = 0; i < count; i++)
        rows[i] = (struct orch_metric_row){cell_text(metrics, i, 0), cell_text(metrics, i, 1),
                                           cell_text(metrics, i, 2)};
    json_object_foreach((json_t *)(uintptr_t)units, name, unit)
    {
        rows[count++] = (struct orch_metric_row){name, json_string_value(unit), "none"};
    }
    for (unsigned i = 0; i < ORCH_SYSTEM_ALL; i++) {
        const struct orch_metric_spec *spec = orch_system_metric_at(i);
        rows[count++] = (struct orch_metric_row){spec->name, spec->unit, "none"};
    }
    *out_count = add_directions(record, rows, count);
    return rows;
}

/* When the points are invalid, sets `*out_fault` (the caller frees) and writes nothing. */
static bool write_record(struct orch_store *store, struct gathering *all, const char *key,
                         int folder, int64_t *out_points, char **out_fault, GError **error)
{
    const json_t *r = all->record;
    const json_t *params = json_object_get(r, "params"), *inputs = json_object_get(r, "inputs");
    size_t metric_count;
    g_autofree struct orch_named_text *param_rows = param_rows_new(params);
    g_autofree struct orch_input_row *input_rows = input_rows_new(inputs);
    g_autofree struct orch_metric_row *metric_rows = metric_rows_new(r, all->facts, &metric_count);
    const json_t *machine_facts = json_object_get(r, "machine_facts");
    g_autofree char *machine = machine_facts ? orch_json_canonical(machine_facts) : g_strdup("{}");
    g_autofree char *facts = orch_json_canonical(all->facts);
    struct points points = {.ahead = all->reported};
    GError *problem = NULL;
    if (folder >= 0 && !(points.journal = orch_journal_open_at(folder, "journal", &problem)) &&
        !g_error_matches(problem, ORCH_ERROR, ORCH_ERROR_PROTOCOL)) {
        g_propagate_error(error, problem);
        return false;
    }
    g_clear_error(&problem); /* a trial without a journal has no points */
    struct orch_record record = {
        .key = key,
        .state = all->state,
        .reason = all->reason,
        .exit_code = all->exit_code,
        .signal = all->signal,
        .machine_facts = machine,
        .started_ns = all->started_ns,
        .ended_ns = all->ended_ns,
        .wall_ms = all->wall_ms,
        .facts = facts,
        .params = param_rows,
        .param_count = json_array_size(params),
        .inputs = input_rows,
        .input_count = json_array_size(inputs),
        .results = (struct orch_named_real *)(void *)all->results->data,
        .result_count = all->results->len,
        .artifacts = (struct orch_artifact_row *)(void *)all->artifacts->data,
        .artifact_count = all->artifacts->len,
        .metrics = metric_rows,
        .metric_count = metric_count,
        .next_point = next_point,
        .next_ctx = &points,
    };
    orch_record_from_trial(r, &record);
    bool ok = orch_store_record(store, &record, error);
    if (points.has_event)
        orch_event_clear(&points.event);
    orch_journal_close(points.journal);
    *out_points = points.count;
    *out_fault = points.fault;
    return ok;
}

/* When the journal has points that no host writes, the run is recorded as lost and without points,
 * so that the store stays usable. */
static bool write_run(struct orch_store *store, struct gathering *all, const char *key, int folder,
                      int64_t *out_points, GError **error)
{
    GError *problem = NULL;
    g_autofree char *fault = NULL, *none = NULL;
    bool ok = write_record(store, all, key, folder, out_points, &fault, &problem);
    if (!ok && fault) {
        g_autofree char *why = g_strdup_printf("its journal's %s", fault);
        g_clear_error(&problem);
        orch_gathering_drop(all, why);
        ok = write_record(store, all, key, -1, out_points, &none, &problem);
    }
    if (problem)
        g_propagate_error(error, problem);
    return ok;
}

/* Stores the name and tags given at the start of a recorded program (orch record). The run itself
 * is already stored, so failures are ignored. */
static void add_label_notes(struct orch_store *store, const char *key, const json_t *record)
{
    const json_t *tags = json_object_get(record, "tags");
    const char *name = orch_json_text(record, "name", NULL);
    g_autoptr(GPtrArray) there = orch_store_tags(store, key, NULL);
    for (size_t i = 0; there && i < json_array_size(tags); i++) {
        const char *tag = json_string_value(json_array_get(tags, i));
        if (tag && !g_ptr_array_find_with_equal_func(there, tag, g_str_equal, NULL))
            orch_store_note(store, key, "tag", false, tag, NULL);
    }
    g_autofree char *named = orch_store_name(store, key, NULL);
    if (name && !named)
        orch_store_set_name(store, key, name, false, NULL);
}

static void fill_collected(const struct gathering *all, int64_t points, struct orch_collected *out)
{
    out->verdict = all->verdict;
    out->reason = g_strdup(all->reason);
    out->wall_ms = all->wall_ms;
    out->point_count = points;
    out->stderr_tail = g_strdup(all->stderr_tail);
    out->facts = json_incref(all->facts);
    out->results = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (guint i = 0; i < all->results->len; i++) {
        const struct orch_named_real *row = &g_array_index(all->results, struct orch_named_real, i);
        double *value = g_new(double, 1);
        *value = row->value;
        g_hash_table_insert(out->results, g_strdup(row->name), value);
    }
}

void orch_collected_clear(struct orch_collected *collected)
{
    g_free(collected->reason);
    g_free(collected->stderr_tail);
    g_free(collected->kept);
    orch_left_clear(&collected->left);
    json_decref(collected->facts);
    if (collected->results)
        g_hash_table_unref(collected->results);
    memset(collected, 0, sizeof *collected);
}

static void judge_outside(struct gathering *all, const struct orch_outside *outside)
{
    if (!outside || (all->ended && !outside->overrules) ||
        (outside->only_good && !orch_verdict_facts(all->verdict)->is_reused))
        return;
    all->verdict = outside->verdict;
    g_free(all->state);
    all->state = g_strdup(orch_verdict_name(outside->verdict));
    g_free(all->reason);
    all->reason = g_strdup(outside->reason);
}

static int64_t bounded(enum orch_bounded which, int64_t value)
{
    const struct orch_bound *bound = &ORCH_BOUNDS[which];
    return (int64_t)CLAMP((double)value, bound->lowest, bound->highest);
}

/* No other store takes a run with numbers beyond the bounds. They can be there when the clock was
 * set, or went wrong, during the trial. */
static void keep_to_bounds(struct gathering *all)
{
    if (!orch_bound_holds(ORCH_BOUNDED_STARTED_NS, (double)all->started_ns))
        all->started_ns = bounded(ORCH_BOUNDED_STARTED_NS, all->started_ns);
    if (!orch_bound_holds(ORCH_BOUNDED_ENDED_NS, (double)all->ended_ns))
        all->ended_ns = bounded(ORCH_BOUNDED_ENDED_NS, all->ended_ns);
    if (!isnan(all->wall_ms) && !orch_bound_holds(ORCH_BOUNDED_WALL_MS, all->wall_ms))
        all->wall_ms = all->wall_ms < 0 ? 0 : ORCH_BOUNDS[ORCH_BOUNDED_WALL_MS].highest;
}

/* Removes the files that are now artifacts in the store. */
static void remove_taken(const struct gathering *all, int folder)
{
    for (guint i = 0; i < all->taken->len; i++)
        orch_below_remove(folder, all->taken->pdata[i], NULL);
}

bool orch_collect_folder(struct orch_store *store, const char *key, json_t *record, int folder,
                         const json_t *trial, int64_t started_ns,
                         const struct orch_outside *outside, const struct orch_opened *opened,
                         struct orch_file_digests *digests, struct orch_collected *out,
                         GError **error)
{
    struct gathering all;
    int64_t points = 0;
    orch_gathering_init(&all, record, started_ns);
    orch_kept_files_gather(&all);
    bool ok = folder < 0 || orch_gather_journal(store, &all, folder, error);
    const struct orch_ended_trial ended = {all.record, all.facts, all.started_ns, all.ended_ns};
    orch_reads_keep(&ended, opened, folder, digests);
    orch_written_words_note(&all, trial);
    orch_gather_loss(&all, folder);
    judge_outside(&all, outside);
    if (ok && !all.ended)
        all.wall_ms = (double)(all.ended_ns - all.started_ns) / 1e6;
    keep_to_bounds(&all);
    ok = ok && write_run(store, &all, key, folder, &points, error);
    if (ok) {
        fill_collected(&all, points, out);
        add_label_notes(store, key, all.record);
        if (folder >= 0 && !json_is_true(json_object_get(all.record, ORCH_RECORD_KEEP)))
            remove_taken(&all, folder);
    }
    orch_gathering_clear(&all);
    return ok;
}
