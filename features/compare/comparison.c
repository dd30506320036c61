/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/compare/comparison.h"

#include "core/stats/task.h"
#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

/* A comparison that is being made. */
struct comparing {
    struct orch_store *store;
    const struct orch_comparison_request *request;
    GHashTable *lacking; /* requested metric that some task lacks -> "A", "B" */
    struct orch_comparison *out;
};

static void free_row(gpointer pointer)
{
    struct orch_compare_row *row = pointer;
    g_free(row->name);
    g_free(row->task);
    g_free(row->broken);
    orch_match_free(row->match);
    g_free(row);
}

/* ---- comparing ------------------------------------------------------------------------------- */

static bool is_selected(const struct comparing *c, const char *name)
{
    for (int i = 0; c->request->metrics && c->request->metrics[i]; i++)
        if (strcmp(c->request->metrics[i], name) == 0)
            return true;
    for (guint i = 0; i < c->request->limits->len; i++)
        if (strcmp(((const struct orch_contrast_limit *)c->request->limits->pdata[i])->metric,
                   name) == 0)
            return true;
    return false;
}

/* Returns the requested metrics, or all that both sides have. */
static GPtrArray *names_of(const struct comparing *c, const struct orch_side *a,
                           const struct orch_side *b)
{
    GPtrArray *names =
        c->request->metrics ? g_ptr_array_new_with_free_func(g_free) : orch_sides_names(a, b);
    for (int i = 0; c->request->metrics && c->request->metrics[i]; i++)
        g_ptr_array_add(names, g_strdup(c->request->metrics[i]));
    for (guint i = 0; i < c->request->limits->len; i++) {
        const char *name =
            ((const struct orch_contrast_limit *)c->request->limits->pdata[i])->metric;
        orch_texts_add_once(names, name);
    }
    return names;
}

static bool refuse(const struct orch_compare_row *row, GError **error)
{
    orch_error_set(error, ORCH_ERROR_USAGE, "add --across to compare times of different machines",
                   "'%s' is a timing, but A ran on '%s' and B on '%s'", row->name,
                   row->match->where_a, row->match->where_b);
    return false;
}

static bool add_row(struct comparing *c, struct orch_side *const sides[2], const char *task,
                    const char *name, GError **error)
{
    struct orch_compare_row *row = g_new0(struct orch_compare_row, 1);
    row->name = g_strdup(name);
    row->task = g_strdup(task);
    row->match = orch_sides_match(sides[0], sides[1], name, c->request->across);
    row->is_refused = row->match->is_timing && row->match->is_across && !c->request->across;
    bool has_a = row->match->a->len || row->match->lost_a;
    bool has_b = row->match->b->len || row->match->lost_b;
    if (is_selected(c, name) && (!has_a || !has_b)) {
        g_hash_table_insert(c->lacking, g_strdup(name), (gpointer)(uintptr_t)(has_a ? "B" : "A"));
        free_row(row);
        return true;
    }
    g_ptr_array_add(c->out->rows, row);
    return !is_selected(c, name) || !row->is_refused || refuse(row, error);
}

static const struct orch_compare_row *row_of(const struct comparing *c, const char *name)
{
    for (guint i = 0; i < c->out->rows->len; i++)
        if (strcmp(((const struct orch_compare_row *)c->out->rows->pdata[i])->name, name) == 0)
            return c->out->rows->pdata[i];
    return NULL;
}

/* Checks that some task has each requested metric. */
static bool has_asked(const struct comparing *c, GError **error)
{
    GHashTableIter iter;
    gpointer name, side;
    g_hash_table_iter_init(&iter, c->lacking);
    while (g_hash_table_iter_next(&iter, &name, &side)) {
        if (row_of(c, name))
            continue;
        g_autofree char *which = g_strdup_printf("of %s", (char *)side);
        orch_metric_not_found(c->store, which, name, error);
        return false;
    }
    return true;
}

static const double *data_of(const GArray *numbers)
{
    return (const double *)(void *)numbers->data;
}

/* A side with fewer than two values cannot be tested, and does not count as a test of the others;
 * nor can times of which other programs disturbed one side only. */
static bool is_tested(const struct orch_compare_row *row)
{
    return !row->is_refused && !row->match->is_uneven &&
           MIN(row->match->a->len, row->match->b->len) > 1;
}

static void contrast_rows(struct comparing *c)
{
    for (guint i = 0; i < c->out->rows->len; i++)
        c->out->tests += is_tested(c->out->rows->pdata[i]);
    for (guint i = 0; i < c->out->rows->len; i++) {
        struct orch_compare_row *row = c->out->rows->pdata[i];
        const double *x = data_of(row->match->a), *y = data_of(row->match->b);
        const guint count_a = row->match->a->len, count_b = row->match->b->len;
        row->contrast = row->match->how != ORCH_MATCH_NONE
                            ? orch_contrast_paired(x, y, count_a, c->out->tests)
                            : orch_contrast_samples(x, count_a, y, count_b, c->out->tests);
        if (row->match->is_uneven)
            orch_contrast_forget_test(&row->contrast);
    }
}

/* Leaves disturbed runs out of times, unless --disturbed is given, and says so when a time is
 * compared. */
static void count_disturbed(struct comparing *c, struct orch_side *const sides[2])
{
    for (int i = 0; i < 2; i++) {
        if (c->request->counts_disturbed)
            orch_side_count_disturbed(sides[i]);
        c->out->disturbed_left_out += orch_side_disturbed(sides[i])->left_out_count;
        c->out->disturbed_kept += orch_side_disturbed(sides[i])->kept_count;
    }
}

/* Adds the rows for the runs of one task. */
static bool add_rows(struct comparing *c, const char *task, GPtrArray *const runs[2],
                     GError **error)
{
    struct orch_store *store = c->store;
    struct orch_side *a = orch_side_new(store, runs[0], c->request->aggregate, error);
    struct orch_side *b = a ? orch_side_new(store, runs[1], c->request->aggregate, error) : NULL;
    struct orch_side *const sides[2] = {a, b};
    g_autoptr(GPtrArray) names = b ? names_of(c, a, b) : NULL;
    bool ok = b != NULL;
    if (ok)
        count_disturbed(c, sides);
    for (guint i = 0; ok && i < names->len; i++)
        ok = add_row(c, sides, task, names->pdata[i], error);
    orch_side_free(a);
    orch_side_free(b);
    return ok;
}

/* The runs of one task on both sides. */
struct block {
    char *task;
    GPtrArray *runs[2]; /* struct orch_run *, borrowed */
};

static void free_block(gpointer pointer)
{
    struct block *block = pointer;
    g_free(block->task);
    g_ptr_array_unref(block->runs[0]);
    g_ptr_array_unref(block->runs[1]);
    g_free(block);
}

/* Takes ownership of `task`. `by_task`: the blocks by their task, "" for a block without one. */
static struct block *block_of(GPtrArray *blocks, GHashTable *by_task, char *task)
{
    struct block *known = g_hash_table_lookup(by_task, task ? task : "");
    if (known) {
        g_free(task);
        return known;
    }
    struct block *block = g_new(struct block, 1);
    *block = (struct block){task, {g_ptr_array_new(), g_ptr_array_new()}};
    g_ptr_array_add(blocks, block);
    g_hash_table_insert(by_task, task ? task : (gpointer)(uintptr_t) "", block);
    return block;
}

/* Groups both sides' runs by task, in order of A's runs; with --across all runs are one block. */
static GPtrArray *blocks_of(const struct comparing *c)
{
    const GPtrArray *const sides[2] = {c->out->sides[0].runs, c->out->sides[1].runs};
    struct orch_tasks *tasks =
        c->request->across ? NULL : orch_tasks_of_sides(c->store, sides[0], sides[1]);
    GPtrArray *blocks = g_ptr_array_new_with_free_func(free_block);
    g_autoptr(GHashTable) by_task = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint side = 0, index = 0; side < 2; side++)
        for (guint i = 0; i < sides[side]->len; i++, index++) {
            char *task = tasks ? orch_tasks_label(tasks, index, NULL) : NULL;
            g_ptr_array_add(block_of(blocks, by_task, task)->runs[side], sides[side]->pdata[i]);
        }
    orch_tasks_free(tasks);
    return blocks;
}

/* Compares each task; tasks that one side lacks are left out. */
static bool add_blocks(struct comparing *c, GError **error)
{
    g_autoptr(GPtrArray) blocks = blocks_of(c);
    bool any = false;
    for (guint i = 0; i < blocks->len; i++) {
        const struct block *block = blocks->pdata[i];
        guint a = block->runs[0]->len, b = block->runs[1]->len;
        if (a && b && !add_rows(c, block->task, block->runs, error))
            return false;
        any = any || (a && b);
        c->out->other_tasks[0] += b ? 0 : a;
        c->out->other_tasks[1] += a ? 0 : b;
    }
    if (!any)
        orch_error_set(error, ORCH_ERROR_USAGE, "add --across to compare all tasks together",
                       "A and B have no task in common (" ORCH_TASK_WORDS ")");
    return any;
}

static bool make_rows(struct comparing *c, GError **error)
{
    if (!add_blocks(c, error) || !has_asked(c, error))
        return false;
    contrast_rows(c);
    for (guint i = 0; i < c->out->rows->len; i++)
        if (!((const struct orch_compare_row *)c->out->rows->pdata[i])->is_refused)
            return true;
    return refuse(c->out->rows->pdata[0], error);
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* Takes over the message. */
static void add_broken(struct comparing *c, struct orch_compare_row *row, char *message)
{
    if (!row->broken)
        row->broken = g_strdup(message);
    g_ptr_array_add(c->out->broken, message);
}

/* Applies a limit to one row: records a message when it is exceeded, or warns when that may be
 * noise. */
static void check_limit(struct comparing *c, const struct orch_contrast_limit *limit,
                        struct orch_compare_row *row)
{
    g_autofree char *where = row->task ? g_strdup_printf(" (%s)", row->task) : g_strdup("");
    if (row->match->lost_b > row->match->lost_a) { /* more NaN runs than A break any limit */
        add_broken(c, row,
                   g_strdup_printf("%s is not a number in %u of B's runs (limit: %s)%s",
                                   limit->metric, row->match->lost_b, limit->text, where));
        return;
    }
    char *why;
    enum orch_limit_check check =
        orch_contrast_limit_check(limit, &row->contrast, c->request->least, row->match->unit, &why);
    if (check == ORCH_LIMIT_EXCEEDED)
        add_broken(c, row, g_strconcat(why, where, NULL));
    else if (check == ORCH_LIMIT_UNCERTAIN)
        g_ptr_array_add(
            c->out->unsure,
            g_strdup_printf("%s: that may be noise, so it is no failure%s", why, where));
    g_free(why);
}

static void check_limits(struct comparing *c)
{
    for (guint i = 0; i < c->request->limits->len; i++) {
        const struct orch_contrast_limit *limit = c->request->limits->pdata[i];
        for (guint j = 0; j < c->out->rows->len; j++) {
            struct orch_compare_row *row = c->out->rows->pdata[j];
            if (strcmp(row->name, limit->metric) == 0)
                check_limit(c, limit, row);
        }
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

void orch_comparison_init(struct orch_comparison *comparison)
{
    *comparison = (struct orch_comparison){.rows = g_ptr_array_new_with_free_func(free_row),
                                           .broken = g_ptr_array_new_with_free_func(g_free),
                                           .unsure = g_ptr_array_new_with_free_func(g_free)};
}

void orch_comparison_clear(struct orch_comparison *comparison)
{
    orch_compare_side_clear(&comparison->sides[0]);
    orch_compare_side_clear(&comparison->sides[1]);
    g_ptr_array_unref(comparison->rows);
    g_ptr_array_unref(comparison->broken);
    g_ptr_array_unref(comparison->unsure);
}

bool orch_comparison_is_of_same(const struct orch_comparison *comparison)
{
    const GPtrArray *a = comparison->sides[0].runs, *b = comparison->sides[1].runs;
    bool is_same = a->len == b->len;
    for (guint i = 0; is_same && i < a->len; i++)
        is_same = strcmp(((const struct orch_run *)a->pdata[i])->key,
                         ((const struct orch_run *)b->pdata[i])->key) == 0;
    return is_same;
}

bool orch_comparison_make(struct orch_store *store, const struct orch_comparison_request *request,
                          struct orch_comparison *inout, GError **error)
{
    g_autoptr(GHashTable) lacking = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    struct comparing c = {store, request, lacking, inout};
    inout->least = request->least;
    if (!make_rows(&c, error))
        return false;
    check_limits(&c);
    return true;
}
