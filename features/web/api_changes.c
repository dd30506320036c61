/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handler for what a run changed against an earlier one of its experiment: the run before, unless
 * `with` names another; how the two differ, by 'orch diff'; and what came of it, by 'orch compare'
 * of their repeats. The commands decide, so that page and terminal say the same. */
#include "features/web/internal.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>

enum {
    LOOKED_AT = 400,  /* runs around the two, among which repeats are found */
    REPEATS_MAX = 20, /* of each side */
};

/* ---- the runs of the experiment ---------------------------------------------------------------
 */

struct near_run {
    char *key, *cell, *tree;
};

static void free_near(gpointer data)
{
    struct near_run *run = data;
    g_free(run->key);
    g_free(run->cell);
    g_free(run->tree);
    g_free(run);
}

static char *cell_text(const struct orch_row_cell *cell)
{
    return cell->kind == ORCH_CELL_TEXT ? g_strdup(cell->text) : NULL;
}

static bool take_near(void *ctx, int64_t run_id, const struct orch_row_cell *cells)
{
    (void)run_id;
    struct near_run *run = g_new0(struct near_run, 1);
    *run = (struct near_run){cell_text(&cells[0]), cell_text(&cells[1]), cell_text(&cells[2])};
    g_ptr_array_add(ctx, run);
    return true;
}

static void append_equal(GString *where, const char *name, const char *value)
{
    g_auto(GStrv) parts = g_strsplit(value, "'", -1);
    g_autofree char *quoted = g_strjoinv("''", parts);
    g_string_append_printf(where, "%s%s = '%s'", where->len ? " and " : "", name, quoted);
}

/* The runs of the experiment, newest first, from LOOKED_AT / 2 above `run` on. `*out_at`: its place
 * in the result; -1: it is hidden. struct near_run *; the caller unrefs. */
static GPtrArray *runs_near(struct web_call *call, const struct orch_run *run, int *out_at,
                            GError **error)
{
    static const char *const columns[] = {"key", "cell", "tree", NULL};
    g_autoptr(GString) where = g_string_new(NULL);
    if (run->recipe)
        append_equal(where, "recipe", run->recipe);
    if (run->experiment)
        append_equal(where, "experiment", run->experiment);
    g_hash_table_remove(call->query, "sort");
    g_hash_table_remove(call->query, "order");
    g_hash_table_insert(call->query, g_strdup("where"), g_strdup(where->str));
    g_autoptr(GArray) ids = orch_web_listing(call, NULL, error);
    if (!ids)
        return NULL;
    guint at = 0;
    while (at < ids->len && g_array_index(ids, int64_t, at) != run->id)
        at++;
    const guint from = at < ids->len && at > LOOKED_AT / 2 ? at - LOOKED_AT / 2 : 0;
    const int64_t *all = (const int64_t *)(const void *)ids->data;
    GPtrArray *near_runs = g_ptr_array_new_with_free_func(free_near);
    *out_at = at < ids->len ? (int)(at - from) : -1;
    if (orch_store_visit_rows(call->store, all + from, MIN(LOOKED_AT, ids->len - from), columns,
                              take_near, near_runs, error))
        return near_runs;
    g_ptr_array_unref(near_runs);
    return NULL;
}

static bool is_repeat(const struct near_run *a, const struct near_run *b)
{
    return g_strcmp0(a->cell, b->cell) == 0 && g_strcmp0(a->tree, b->tree) == 0;
}

static const struct near_run *find_near(const GPtrArray *runs, const char *key)
{
    for (guint i = 0; i < runs->len; i++)
        if (strcmp(((const struct near_run *)runs->pdata[i])->key, key) == 0)
            return runs->pdata[i];
    return NULL;
}

/* The newest earlier run that is no repeat of the one at `at`; else the one before it; NULL: none.
 */
static const struct near_run *last_other(const GPtrArray *runs, int at)
{
    if (at < 0)
        return NULL;
    for (guint i = (guint)at + 1; i < runs->len; i++)
        if (!is_repeat(runs->pdata[i], runs->pdata[at]))
            return runs->pdata[i];
    return (guint)at + 1 < runs->len ? runs->pdata[at + 1] : NULL;
}

/* ---- what came of it --------------------------------------------------------------------------
 */

/* A condition that names a run and its repeats; the caller frees. */
static char *side_of(const GPtrArray *runs, const char *key)
{
    const struct near_run *run = find_near(runs, key);
    GString *where = g_string_new(NULL);
    g_string_append_printf(where, "key = '%s'", key);
    int count = 1;
    for (guint i = 0; run && i < runs->len && count < REPEATS_MAX; i++) {
        const struct near_run *other = runs->pdata[i];
        if (other == run || !is_repeat(other, run))
            continue;
        g_string_append_printf(where, " or key = '%s'", other->key);
        count++;
    }
    return g_string_free(where, FALSE);
}

static void put_comparison(struct web_call *call, const GPtrArray *runs, const char *a,
                           const char *b, json_t *out)
{
    const struct orch_web_options *o = &call->web->options;
    g_autoptr(GError) why = NULL;
    g_autofree char *side_a = side_of(runs, a), *side_b = side_of(runs, b);
    json_t *comparison =
        strcmp(side_a, side_b) != 0 ? o->comparison(o->ctx, side_a, side_b, &why) : NULL;
    json_object_set_new(out, "comparison", comparison ? comparison : json_null());
    g_autofree char *message = why ? orch_error_what(why) : NULL;
    json_object_set_new(out, "no_comparison", orch_json_text_or_null(message));
}

static bool put_difference(struct web_call *call, const char *a, const char *b, json_t *out,
                           GError **error)
{
    const struct orch_web_options *o = &call->web->options;
    json_t *difference = o->difference(o->ctx, a, b, error);
    if (difference) {
        json_object_update(out, difference);
        json_decref(difference);
    }
    return difference != NULL;
}

/* ---- the answer -------------------------------------------------------------------------------
 */

static const char *key_at(const GPtrArray *runs, int at)
{
    return at >= 0 && at < (int)runs->len ? ((const struct near_run *)runs->pdata[at])->key : NULL;
}

/* The key of the run to compare with: of `with`, or of the last other one. NULL: there is none, or
 * an error. The caller frees. */
static char *with_key(struct web_call *call, const GPtrArray *runs, int at, GError **error)
{
    const char *wanted = orch_web_query_text(call, "with", NULL);
    if (!wanted) {
        const struct near_run *other = last_other(runs, at);
        return other ? g_strdup(other->key) : NULL;
    }
    struct orch_run *run = orch_store_run(call->store, wanted, error);
    char *key = run ? g_strdup(run->key) : NULL;
    orch_run_free(run);
    return key;
}

bool orch_web_api_changes(struct web_call *call, GError **error)
{
    if (!call->web->options.difference || !call->web->options.comparison) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL, "this server cannot compare runs");
        return false;
    }
    struct orch_run *run = orch_store_run(call->store, call->run, error);
    int at = -1;
    g_autoptr(GPtrArray) runs = run ? runs_near(call, run, &at, error) : NULL;
    g_autoptr(GError) problem = NULL;
    g_autofree char *with = runs ? with_key(call, runs, at, &problem) : NULL;
    json_t *out = runs && !problem ? json_object() : NULL;
    if (problem)
        g_propagate_error(error, g_steal_pointer(&problem));
    if (out) {
        const struct near_run *mine = find_near(runs, run->key);
        const struct near_run *other = with ? find_near(runs, with) : NULL;
        json_object_set_new(out, "before",
                            orch_json_text_or_null(at < 0 ? NULL : key_at(runs, at + 1)));
        json_object_set_new(out, "after",
                            orch_json_text_or_null(at < 0 ? NULL : key_at(runs, at - 1)));
        json_object_set_new(out, "with", orch_json_text_or_null(with));
        json_object_set_new(out, "is_repeat",
                            json_boolean(mine && other && is_repeat(mine, other)));
    }
    if (out && with && put_difference(call, with, run->key, out, error))
        put_comparison(call, runs, with, run->key, out);
    else if (out && with)
        g_clear_pointer(&out, json_decref);
    orch_run_free(run);
    if (out)
        orch_web_answer_json(call, out, 15);
    return out != NULL;
}
