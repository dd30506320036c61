/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/timed_cells.h"

#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* Maximum number of cells that a law is fitted to. */
#define CELLS_MAX 400

static void free_cell(gpointer data)
{
    struct orch_timed_cell *cell = data;
    g_hash_table_unref(cell->params);
    json_decref(cell->cost);
    g_array_unref(cell->seconds);
    g_array_unref(cell->ended_ns);
    g_array_unref(cell->now_s);
    g_free(cell);
}

void orch_timed_cells_init(struct orch_timed_cells *cells)
{
    *cells = (struct orch_timed_cells){
        .all = g_ptr_array_new_with_free_func(free_cell),
        .by_signature = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        .change.factor = 1};
}

void orch_timed_cells_clear(struct orch_timed_cells *cells)
{
    g_hash_table_unref(cells->by_signature);
    g_ptr_array_unref(cells->all);
    *cells = (struct orch_timed_cells){0};
}

/* ---- settings ----------------------------------------------------------------------------------
 */

static gint compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(a, b);
}

char *orch_timed_cell_signature(GHashTable *params)
{
    GString *text = g_string_new(NULL);
    GList *names = g_list_sort(g_hash_table_get_keys(params), compare_names);
    for (const GList *at = names; at; at = at->next) {
        const char *value = g_hash_table_lookup(params, at->data);
        if (strcmp(value, "null") != 0)
            g_string_append_printf(text, "%s=%s\n", (const char *)at->data, value);
    }
    g_list_free(names);
    return g_string_free(text, FALSE);
}

const struct orch_timed_cell *orch_timed_cells_find(const struct orch_timed_cells *cells,
                                                    const char *signature)
{
    return g_hash_table_lookup(cells->by_signature, signature);
}

static struct orch_timed_cell *new_cell(GHashTable *params, json_t *cost, int worth)
{
    struct orch_timed_cell *cell = g_new0(struct orch_timed_cell, 1);
    cell->params = g_hash_table_ref(params);
    cell->cost = json_incref(cost);
    cell->seconds = g_array_new(FALSE, FALSE, sizeof(double));
    cell->ended_ns = g_array_new(FALSE, FALSE, sizeof(int64_t));
    cell->now_s = g_array_new(FALSE, FALSE, sizeof(double));
    cell->worth = worth;
    return cell;
}

/* Runs of other users are used only for settings that this user has not measured, because pulled
 * runs are unverified. Disturbed runs are used only for settings without undisturbed runs of the
 * same origin. */
static int worth_of(struct orch_timed_run run)
{
    return 2 * run.is_own + !run.disturbance;
}

void orch_timed_cells_add(struct orch_timed_cells *cells, GHashTable *params, json_t *cost,
                          struct orch_timed_run run)
{
    g_autofree char *signature = orch_timed_cell_signature(params);
    int worth = worth_of(run);
    struct orch_timed_cell *cell = g_hash_table_lookup(cells->by_signature, signature);
    if (!cell && cells->all->len < CELLS_MAX) {
        cell = new_cell(params, cost, worth);
        g_ptr_array_add(cells->all, cell);
        g_hash_table_insert(cells->by_signature, g_steal_pointer(&signature), cell);
    }
    if (cell && worth > cell->worth) {
        cells->runs -= cell->seconds->len;
        g_array_set_size(cell->seconds, 0);
        g_array_set_size(cell->ended_ns, 0);
        cell->worth = worth;
        cell->threads_ratio = 0;
    }
    if (cell && worth == cell->worth) {
        cell->threads_ratio = MAX(cell->threads_ratio, run.threads_ratio);
        cell->disturbance = run.disturbance;
        g_array_append_val(cell->seconds, run.seconds);
        g_array_append_val(cell->ended_ns, run.ended_ns);
        cells->runs++;
    }
    g_hash_table_unref(params);
}

/* ---- the present speed -------------------------------------------------------------------------
 */

/* A run: which of its cell's, and the cell's number among those with such runs. */
struct dated {
    int64_t ended_ns;
    struct orch_timed_cell *cell;
    size_t number;
    guint index;
};

static gint compare_dates(gconstpointer a, gconstpointer b)
{
    const struct dated *x = a, *y = b;
    return (x->ended_ns > y->ended_ns) - (x->ended_ns < y->ended_ns);
}

/* All runs in the order of time. Disturbed runs are left out, because their times depend on the
 * other programs. */
static GArray *dated_runs(const struct orch_timed_cells *cells)
{
    GArray *runs = g_array_new(FALSE, FALSE, sizeof(struct dated));
    size_t number = 0;
    for (guint c = 0; c < cells->all->len; c++) {
        struct orch_timed_cell *cell = cells->all->pdata[c];
        for (guint i = 0; !cell->disturbance && i < cell->seconds->len; i++) {
            struct dated one = {g_array_index(cell->ended_ns, int64_t, i), cell, number, i};
            g_array_append_val(runs, one);
        }
        number += !cell->disturbance && cell->seconds->len;
    }
    g_array_sort(runs, compare_dates);
    return runs;
}

void orch_timed_cells_bring_to_now(struct orch_timed_cells *cells)
{
    g_autoptr(GArray) runs = dated_runs(cells);
    const struct dated *run = (const struct dated *)(void *)runs->data;
    size_t n = runs->len;
    g_autofree double *seconds = g_new(double, n + 1), *to_now = g_new(double, n + 1);
    g_autofree double *when_s = g_new(double, n + 1);
    g_autofree size_t *number = g_new(size_t, n + 1);
    for (guint c = 0; c < cells->all->len; c++) {
        struct orch_timed_cell *cell = cells->all->pdata[c];
        g_array_set_size(cell->now_s, 0);
        g_array_append_vals(cell->now_s, cell->seconds->data, cell->seconds->len);
        cell->is_old = true;
    }
    for (size_t i = 0; i < n; i++) {
        number[i] = run[i].number;
        when_s[i] = (double)run[i].ended_ns / 1e9;
        seconds[i] = g_array_index(run[i].cell->seconds, double, run[i].index);
    }
    cells->change = orch_speed_change_find(seconds, when_s, number, n, to_now);
    for (size_t i = 0; i < n; i++) {
        g_array_index(run[i].cell->now_s, double, run[i].index) *= to_now[i];
        run[i].cell->is_old = run[i].cell->is_old && i < cells->change.since;
    }
    cells->changed_ns = cells->change.since ? run[cells->change.since].ended_ns : 0;
}

struct orch_scatter orch_timed_cells_scatter(const struct orch_timed_cells *cells)
{
    g_autoptr(GArray) seconds = g_array_new(FALSE, FALSE, sizeof(double));
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(size_t));
    size_t number = 0; /* of the cells that count: below the number of seconds */
    for (guint c = 0; c < cells->all->len; c++) {
        const struct orch_timed_cell *cell = cells->all->pdata[c];
        if (cell->disturbance || cell->now_s->len == 0)
            continue;
        g_array_append_vals(seconds, cell->now_s->data, cell->now_s->len);
        for (guint i = 0; i < cell->now_s->len; i++)
            g_array_append_val(numbers, number);
        number++;
    }
    return orch_scatter_of((const double *)(void *)seconds->data,
                           (const size_t *)(void *)numbers->data, seconds->len);
}

struct orch_interval orch_timed_cells_widen(const struct orch_timed_cells *cells,
                                            struct orch_interval time_s)
{
    double more = ORCH_NORMAL_90 * cells->change.sd;
    double low = hypot(log(time_s.mid / time_s.low), more);
    double high = hypot(log(time_s.high / time_s.mid), more);
    return (struct orch_interval){time_s.mid * exp(-low), time_s.mid, time_s.mid * exp(high)};
}

char *orch_timed_cells_change_text(const struct orch_timed_cells *cells)
{
    if (!cells->change.since)
        return g_strdup("");
    g_autofree char *time = orch_time_format(cells->changed_ns, false);
    return g_strdup_printf("; since %s trials take %.3g times as long as before", time,
                           cells->change.factor);
}
