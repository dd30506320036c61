/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handler for runs in groups, with the spread of their values. */
#include "features/web/internal.h"

#include "core/stats/grouping.h"
#include "core/stats/lost_runs.h"
#include "core/stats/seeds.h"
#include "core/stats/spread.h"
#include "core/stats/varying_names.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/wire/verdict.h"

#include <math.h>
#include <string.h>

/* With more runs than MIXED_RUNS_MAX reading all of their parameters takes longer than a page
 * waits. */
enum { GROUPS_MAX = 5000, VALUES_MAX = 8, BY_MAX = 16, MIXED_RUNS_MAX = 2000 };

struct group {
    GHashTable *good, *failed; /* sets of trials that have a result, and that have a failed run */
    json_t *by;                /* array of the values that the group is grouped by */
    int64_t first;             /* id of its first run */
    json_t *example;           /* the EXAMPLE columns of that run */
};

struct grouping {
    struct orch_grouping *runs;    /* all, with their values */
    struct orch_grouping *results; /* all, without the values of those that are no results */
    GPtrArray *order;              /* struct group *, by the index of `runs` */
    int by_count, value_count;
    char **by, **values; /* names as requested: "loss", "metric.loss" */
    GPtrArray *keys;     /* char *: of the runs, in the order of adding */
    bool is_by_cell;
    const char *units[VALUES_MAX]; /* NULL: unknown */
    bool forms[ORCH_SPREAD_FORMS]; /* forms that occur in the answer */
};

/* Columns that identify a run's trial, whatever version of the code made it. "cell" is slow to
 * read and is not read again when the runs are grouped by it. */
enum {
    TRIAL_REPEAT,
    TRIAL_DEVICE,
    TRIAL_SEED,
    TRIAL_ENDED,
    TRIAL_KEY,
    TRIAL_STATE,
    TRIAL_CELL,
    TRIAL_COLUMNS
};
static char *const TRIAL[TRIAL_COLUMNS] = {"repeat", "device_key", "seed", "ended",
                                           "key",    "state",      "cell"};

static const char *const EXAMPLE[] = {"key", "recipe", "experiment", "setting", NULL};

static void free_group(gpointer data)
{
    struct group *g = data;
    g_hash_table_unref(g->good);
    g_hash_table_unref(g->failed);
    json_decref(g->by);
    json_decref(g->example);
    g_free(g);
}

static void new_group(struct grouping *all, int64_t run_id, const struct orch_row_cell *cells)
{
    struct group *g = g_new0(struct group, 1);
    g->good = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g->failed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g->first = run_id;
    g->by = json_array();
    for (int i = 0; i < all->by_count; i++)
        json_array_append_new(g->by, orch_web_cell_json(&cells[i]));
    g_ptr_array_add(all->order, g);
}

static void append_cell(GString *text, const struct orch_row_cell *cell)
{
    if (cell->kind == ORCH_CELL_TEXT)
        g_string_append_printf(text, "t%zu:%s", strlen(cell->text), cell->text);
    else if (cell->kind == ORCH_CELL_INTEGER)
        g_string_append_printf(text, "i%" G_GINT64_FORMAT ";", cell->integer);
    else if (cell->kind == ORCH_CELL_REAL)
        g_string_append_printf(text, "r%.17g;", cell->real);
    else
        g_string_append_c(text, 'n');
}

/* Adds a run to the runs that give results. One that failed, was pruned or cancelled replaces no
 * other of its trial, and its numbers do not count beside results. */
static void add_result(struct grouping *all, const struct orch_grouping_run *run, const char *trial,
                       const char *state)
{
    double none[VALUES_MAX];
    const bool is_result = orch_verdict_facts(orch_verdict_parse(state))->is_reused;
    struct orch_grouping_run result = *run;
    for (int i = 0; i < VALUES_MAX; i++)
        none[i] = (double)NAN;
    result.trial = is_result ? run->trial : NULL;
    result.values = is_result ? run->values : none;
    const struct group *g = all->order->pdata[orch_grouping_add(all->results, &result)];
    if (is_result)
        g_hash_table_add(g->good, g_strdup(trial));
    else if (orch_lost_why_of(state) == ORCH_LOST_FAILED)
        g_hash_table_add(g->failed, g_strdup(trial));
}

/* Columns: the names to group by, then the values, then TRIAL. */
static bool add_to_group(void *ctx, int64_t run_id, const struct orch_row_cell *cells)
{
    struct grouping *all = ctx;
    const struct orch_row_cell *about = cells + all->by_count + all->value_count;
    g_autoptr(GString) key = g_string_new(NULL);
    g_autoptr(GString) trial = g_string_new(NULL);
    double values[VALUES_MAX];
    for (int i = 0; i < all->by_count; i++)
        append_cell(key, &cells[i]);
    for (int i = TRIAL_REPEAT; i <= TRIAL_SEED; i++)
        append_cell(trial, &about[i]);
    if (!all->is_by_cell)
        append_cell(trial, &about[TRIAL_CELL]);
    for (int i = 0; i < all->value_count; i++)
        values[i] = orch_web_cell_number(&cells[all->by_count + i]);
    const struct orch_row_cell *seed = &about[TRIAL_SEED], *ended = &about[TRIAL_ENDED];
    uint64_t number = seed->kind == ORCH_CELL_TEXT ? g_ascii_strtoull(seed->text, NULL, 10) : 0;
    const struct orch_grouping_run run = {
        .group = key->str,
        .trial = number ? trial->str : NULL,
        .age_order = ended->kind == ORCH_CELL_INTEGER ? ended->integer : INT64_MIN,
        .seed = number,
        .values = values};
    g_ptr_array_add(all->keys, g_strdup(about[TRIAL_KEY].text));
    if (orch_grouping_add(all->runs, &run) == all->order->len)
        new_group(all, run_id, cells);
    add_result(all, &run, number ? trial->str : about[TRIAL_KEY].text, about[TRIAL_STATE].text);
    return true;
}

const char *orch_web_plain_name(const char *name)
{
    static const char *const scopes[] = {"metric.", "result.", "param."};
    for (size_t i = 0; i < G_N_ELEMENTS(scopes); i++)
        if (g_str_has_prefix(name, scopes[i]))
            return name + strlen(scopes[i]);
    return name;
}

static void find_units(struct grouping *all, const GPtrArray *names)
{
    for (int v = 0; v < all->value_count; v++)
        for (guint i = 0; i < names->len && !all->units[v]; i++) {
            const struct orch_known_name *name = names->pdata[i];
            if (strcmp(name->name, orch_web_plain_name(all->values[v])) == 0)
                all->units[v] = name->unit;
        }
}

/* Formats a value by the rule of tables: lowest and highest with few runs, else an interval. */
static json_t *stat_json(struct grouping *all, guint group, int v)
{
    const struct group *g = all->order->pdata[group];
    const struct orch_grouping *of = g_hash_table_size(g->good) ? all->results : all->runs;
    g_autoptr(GArray) means = orch_grouping_means(of, group, (unsigned)v);
    g_autoptr(GArray) values = orch_seed_values(means);
    if (!values->len)
        return json_null();
    struct orch_spread s = orch_spread_of((const double *)(const void *)values->data, values->len,
                                          orch_web_plain_name(all->values[v]), all->units[v]);
    const char *form = orch_spread_form_name(s.form);
    g_autofree char *text = orch_spread_format(&s);
    all->forms[s.form] = true;
    return json_pack("{s:I s:s s:o s:o s:o s:s? s:o s:o s:o s:o}", "n", (json_int_t)s.stat.count,
                     "text", text, "centre", orch_json_real_or_null(s.centre), "low",
                     orch_json_real_or_null(s.low), "high", orch_json_real_or_null(s.high), "form",
                     form, "mean", orch_json_real_or_null(s.stat.mean), "sd",
                     orch_json_real_or_null(s.stat.sd), "min", orch_json_real_or_null(s.stat.min),
                     "max", orch_json_real_or_null(s.stat.max));
}

struct examples {
    GPtrArray *groups;
    guint next;
};

static bool add_example(void *ctx, int64_t run_id, const struct orch_row_cell *cells)
{
    (void)run_id;
    struct examples *examples = ctx;
    struct group *g = examples->groups->pdata[examples->next++];
    g->example = json_array();
    for (int i = 0; EXAMPLE[i]; i++)
        json_array_append_new(g->example, orch_web_cell_json(&cells[i]));
    return true;
}

/* Reads the examples of only the groups that are shown, because some columns are slow to read. */
static bool read_examples(struct orch_store *store, GPtrArray *groups, GError **error)
{
    struct examples examples = {.groups = groups};
    g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (guint i = 0; i < groups->len && i < GROUPS_MAX; i++)
        g_array_append_val(ids, ((const struct group *)groups->pdata[i])->first);
    return orch_store_visit_rows(store, (const int64_t *)(const void *)ids->data, ids->len, EXAMPLE,
                                 add_example, &examples, error);
}

/* Trials that failed, and of which no run gives a result. */
static int count_failed(const struct group *g)
{
    GHashTableIter iter;
    void *trial;
    int count = 0;
    g_hash_table_iter_init(&iter, g->failed);
    while (g_hash_table_iter_next(&iter, &trial, NULL))
        count += !g_hash_table_contains(g->good, trial);
    return count;
}

static json_t *groups_json(struct grouping *all)
{
    json_t *rows = json_array();
    for (guint i = 0; i < all->order->len && i < GROUPS_MAX; i++) {
        const struct group *g = all->order->pdata[i];
        json_t *stats = json_array();
        for (int v = 0; v < all->value_count; v++)
            json_array_append_new(stats, stat_json(all, i, v));
        json_array_append_new(rows,
                              json_pack("{s:O s:I s:i s:o s:O}", "by", g->by, "runs",
                                        (json_int_t)orch_grouping_runs(all->runs, i), "failed",
                                        count_failed(g), "values", stats, "example", g->example));
    }
    return rows;
}

/* Reads the runs of a group that count. The caller unrefs. */
static GPtrArray *runs_of(struct orch_store *store, const struct grouping *all, guint group)
{
    g_autoptr(GArray) counted = orch_grouping_counted(all->runs, group);
    GPtrArray *runs = g_ptr_array_new_with_free_func((GDestroyNotify)orch_run_free);
    for (guint i = 0; i < counted->len; i++) {
        struct orch_run *run =
            orch_store_run(store, all->keys->pdata[g_array_index(counted, guint, i)], NULL);
        if (run)
            g_ptr_array_add(runs, run);
    }
    return runs;
}

/* Formats in what the runs of a group differ besides the names that they are grouped by. NULL: in
 * nothing, or it is not looked for. The caller frees. */
static char *mixed_text(struct orch_store *store, const struct grouping *all)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free), by = g_ptr_array_new();
    if (all->is_by_cell || all->keys->len > MIXED_RUNS_MAX)
        return NULL;
    for (int i = 0; i < all->by_count; i++)
        g_ptr_array_add(by, (gpointer)(uintptr_t)orch_web_plain_name(all->by[i]));
    g_ptr_array_add(by, NULL);
    for (guint i = 0; i < all->order->len; i++) {
        g_autoptr(GPtrArray) runs = runs_of(store, all, i);
        orch_mixed_names_add(store, runs, (const char *const *)by->pdata, names, NULL);
    }
    return orch_mixed_sentence(names);
}

/* Formats what is said below the groups: how their spread is written, and what is averaged. NULL:
 * nothing. The caller frees. */
static char *legend_of(struct orch_store *store, const struct grouping *all)
{
    char *legend = orch_spread_legend(all->forms), *mixed = mixed_text(store, all);
    if (!legend || !mixed)
        return legend ? legend : mixed;
    char *both = g_strdup_printf("%s; %s", legend, mixed);
    g_free(legend);
    g_free(mixed);
    return both;
}

bool orch_web_api_groups(struct web_call *call, GError **error)
{
    g_auto(GStrv) by = orch_web_query_list(call, "by", "cell");
    g_auto(GStrv) values = orch_web_query_list(call, "values", "wall_s");
    struct grouping all = {.by_count = (int)g_strv_length(by),
                           .value_count = (int)g_strv_length(values),
                           .is_by_cell = g_strv_contains((const char *const *)by, "cell"),
                           .by = by,
                           .values = values};
    if (all.by_count > BY_MAX || all.value_count > VALUES_MAX) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL,
                       "'by' can have at most %d names, and 'values' at most %d", BY_MAX,
                       VALUES_MAX);
        return false;
    }
    GArray *ids = orch_web_listing(call, NULL, error);
    if (!ids)
        return false;
    g_autoptr(GPtrArray) columns = g_ptr_array_new();
    g_ptr_array_extend(columns, &(GPtrArray){(gpointer *)by, (guint)all.by_count}, NULL, NULL);
    g_ptr_array_extend(columns, &(GPtrArray){(gpointer *)values, (guint)all.value_count}, NULL,
                       NULL);
    guint about = all.is_by_cell ? TRIAL_CELL : TRIAL_COLUMNS;
    g_ptr_array_extend(columns, &(GPtrArray){(gpointer *)(uintptr_t)TRIAL, about}, NULL, NULL);
    g_ptr_array_add(columns, NULL);
    g_autoptr(GPtrArray) keys = all.keys = g_ptr_array_new_with_free_func(g_free);
    all.runs = orch_grouping_new((unsigned)all.value_count);
    all.results = orch_grouping_new((unsigned)all.value_count);
    all.order = g_ptr_array_new_with_free_func(free_group);
    bool ok = orch_store_visit_rows(call->store, (const int64_t *)(const void *)ids->data, ids->len,
                                    (const char *const *)columns->pdata, add_to_group, &all, error);
    ok = ok && read_examples(call->store, all.order, error);
    g_autoptr(GPtrArray) names = ok ? orch_store_known_names(call->store, error) : NULL;
    ok = names;
    if (ok) {
        find_units(&all, names);
        json_t *groups = groups_json(&all);
        g_autofree char *legend = legend_of(call->store, &all);
        orch_web_answer_json(call,
                             json_pack("{s:I s:I s:s? s:o}", "runs", (json_int_t)ids->len, "total",
                                       (json_int_t)all.order->len, "legend", legend, "groups",
                                       groups),
                             15);
    }
    orch_grouping_free(all.runs);
    orch_grouping_free(all.results);
    g_ptr_array_unref(all.order);
    g_array_unref(ids);
    return ok;
}
