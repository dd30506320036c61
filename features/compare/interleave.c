/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each turn runs one side's plan with every trial marked as unused except one and the trials it
 * refers to, so that the scheduler needs no change. */
#include "features/compare/interleave.h"

#include "lib/base/error.h"

#include <string.h>

/* ---- pairs ----------------------------------------------------------------------------------- */

static int compare_pairs(const void *a, const void *b, void *ctx)
{
    const struct orch_plan *plan = ctx;
    unsigned x = ((const struct orch_interleave_pair *)a)->index[0];
    unsigned y = ((const struct orch_interleave_pair *)b)->index[0];
    int p = plan->items[x].cell->repeat, q = plan->items[y].cell->repeat;
    return p != q ? p - q : (x > y) - (x < y);
}

static GHashTable *labels_of(const struct orch_plan *plan, unsigned *out_count)
{
    GHashTable *labels = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->items[i].cell->wanted)
            g_hash_table_insert(labels, orch_cell_label(plan->items[i].cell), GUINT_TO_POINTER(i));
    *out_count = g_hash_table_size(labels);
    return labels;
}

static enum orch_plan_state *states_of(const struct orch_plan *plan)
{
    enum orch_plan_state *states = g_new(enum orch_plan_state, plan->count + 1);
    for (unsigned i = 0; i < plan->count; i++)
        states[i] = plan->items[i].state;
    return states;
}

/* Adds what is known of the code of a pair; a further repeat that has not run reads what the first
 * one does. Where both sides have one fingerprint, the run that one
 * side makes must not count for the other. */
static void add_code(struct orch_interleave *interleave, const struct orch_interleave_pair *pair)
{
    struct orch_plan *a = interleave->plans[0], *b = interleave->plans[1];
    struct orch_plan_item *x = &a->items[pair->index[0]], *y = &b->items[pair->index[1]];
    enum orch_same_code same = orch_same_code_of(a, x, b, y);
    bool is_repeat = same == ORCH_SAME_CODE_UNKNOWN && x->cell->repeat > 1;
    if (same == ORCH_SAME_CODE_NO || (interleave->same_code == ORCH_SAME_CODE_YES && !is_repeat))
        interleave->same_code = same;
    if (same == ORCH_SAME_CODE_YES || strcmp(x->fingerprint, y->fingerprint) != 0)
        return;
    x->forced = x->forced || x->state != ORCH_PLAN_DONE;
    y->forced = y->forced || y->state != ORCH_PLAN_DONE;
}

void orch_interleave_init(struct orch_interleave *interleave, struct orch_plan *a,
                          struct orch_plan *b)
{
    *interleave = (struct orch_interleave){.plans = {a, b}};
    interleave->pairs = g_array_new(FALSE, FALSE, sizeof(struct orch_interleave_pair));
    unsigned counts[2];
    g_autoptr(GHashTable) x = labels_of(a, &counts[0]);
    g_autoptr(GHashTable) y = labels_of(b, &counts[1]);
    GHashTableIter iter;
    gpointer label, at_a, at_b;
    g_hash_table_iter_init(&iter, x);
    while (g_hash_table_iter_next(&iter, &label, &at_a)) {
        if (!g_hash_table_lookup_extended(y, label, NULL, &at_b))
            continue;
        struct orch_interleave_pair pair = {{GPOINTER_TO_UINT(at_a), GPOINTER_TO_UINT(at_b)}};
        add_code(interleave, &pair);
        g_array_append_val(interleave->pairs, pair);
    }
    for (int i = 0; i < 2; i++)
        interleave->alone[i] = counts[i] - interleave->pairs->len;
    g_array_sort_with_data(interleave->pairs, compare_pairs, a);
    interleave->states[0] = states_of(a);
    interleave->states[1] = states_of(b);
}

void orch_interleave_clear(struct orch_interleave *interleave)
{
    g_clear_pointer(&interleave->pairs, g_array_unref);
    for (int i = 0; i < 2; i++)
        g_clear_pointer(&interleave->states[i], g_free);
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* Marks the item and, recursively, the items it refers to. */
static void mark(const struct orch_plan *plan, unsigned index, bool *needed)
{
    if (needed[index])
        return;
    needed[index] = true;
    const GPtrArray *refs = plan->items[index].cell->refs;
    for (guint i = 0; i < refs->len; i++) {
        const GArray *cells = ((const struct orch_ref *)refs->pdata[i])->cells;
        for (guint j = 0; j < cells->len; j++)
            mark(plan, g_array_index(cells, unsigned, j), needed);
    }
}

/* Marks all items as unused except those needed in the turn of `index`; `states`: the plan's
 * original states. */
static void set_turn(struct orch_plan *plan, unsigned index, const enum orch_plan_state *states)
{
    g_autofree bool *needed = g_new0(bool, plan->count + 1);
    mark(plan, index, needed);
    for (unsigned i = 0; i < plan->count; i++)
        plan->items[i].state =
            states[i] == ORCH_PLAN_DONE || needed[i] ? states[i] : ORCH_PLAN_UNUSED;
}

/* Gives the items their states back: those of trials outside the turn are unused during it. */
static void restore(struct orch_plan *plan, const enum orch_plan_state *states)
{
    for (unsigned i = 0; i < plan->count; i++)
        plan->items[i].state = states[i];
}

static void keep_done(const struct orch_plan *plan, enum orch_plan_state *states)
{
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->items[i].state == ORCH_PLAN_DONE)
            states[i] = ORCH_PLAN_DONE;
}

/* Runs one trial of one side. */
static bool take_turn(struct orch_plan *plan, unsigned index, enum orch_plan_state *states,
                      const struct orch_run_options *options, const struct orch_listener *listener,
                      struct orch_interleave_end *end, GError **error)
{
    struct orch_totals totals = {0};
    if (states[index] == ORCH_PLAN_DONE)
        return true; /* it already ran as a reference in an earlier turn */
    set_turn(plan, index, states);
    if (!orch_run_plan(plan, options, listener, &totals, error))
        return false;
    keep_done(plan, states);
    end->interrupted = totals.interrupted;
    end->terminated = totals.terminated;
    end->limit = totals.limit;
    end->device_s += totals.device_s;
    if (states[index] != ORCH_PLAN_DONE && !totals.interrupted && !totals.terminated &&
        totals.limit == ORCH_LIMIT_NONE)
        end->failed = orch_cell_label(plan->items[index].cell);
    return true;
}

bool orch_interleave_turn(struct orch_interleave *interleave, unsigned turn,
                          const struct orch_run_options *options,
                          const struct orch_listener listeners[2], struct orch_interleave_end *end,
                          GError **error)
{
    const struct orch_interleave_pair *pair =
        &g_array_index(interleave->pairs, struct orch_interleave_pair, turn / 2);
    unsigned side = (turn + 1) / 2 % 2; /* 0 1 1 0 0 1 1 0 */
    struct orch_plan *plan = interleave->plans[side];
    bool ok = take_turn(plan, pair->index[side], interleave->states[side], options,
                        &listeners[side], end, error);
    restore(plan, interleave->states[side]);
    if (end->failed) {
        char *named = g_strdup_printf("%s of %c", end->failed, 'A' + (int)side);
        g_free(end->failed);
        end->failed = named;
        end->failed_side = (int)side;
    }
    return ok;
}

bool orch_interleave_run(struct orch_interleave *interleave, const struct orch_run_options *options,
                         const struct orch_listener listeners[2], struct orch_interleave_end *end,
                         GError **error)
{
    bool ok = true;
    *end = (struct orch_interleave_end){0};
    for (guint i = 0; ok && i < 2 * interleave->pairs->len; i++) {
        ok = orch_interleave_turn(interleave, i, options, listeners, end, error);
        if (end->failed || end->interrupted || end->terminated)
            break;
    }
    return ok;
}

void orch_interleave_renew(struct orch_interleave *interleave, unsigned pair)
{
    const unsigned *index =
        g_array_index(interleave->pairs, struct orch_interleave_pair, pair).index;
    for (int side = 0; side < 2; side++) {
        struct orch_plan_item *item = &interleave->plans[side]->items[index[side]];
        item->forced = true;
        item->state = interleave->states[side][index[side]] = ORCH_PLAN_MISSING;
    }
}
