/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/compare/sure_repeat.h"

#include "core/plan/plan_forecast.h"
#include "core/stats/numbers.h"
#include "features/compare/stored_pairs.h"
#include "lib/base/error.h"
#include "lib/base/unit.h"

#include <math.h>

/* So often a pair of times is run whose runs are not made in turns. */
#define TRIES_MAX 2
/* Values that differ by no more are equal. */
#define ROUNDING 1e-12

static struct orch_plan_item *item_of(const struct orch_sure_sampling *s, unsigned pair, int side)
{
    unsigned index =
        g_array_index(s->interleave.pairs, struct orch_interleave_pair, pair).index[side];
    return &s->arms[side].plan->items[index];
}

static int repeat_of(const struct orch_sure_sampling *s, unsigned pair)
{
    return item_of(s, pair, 0)->cell->repeat;
}

unsigned orch_sure_block_size(const struct orch_sure_sampling *s, unsigned first)
{
    unsigned end = first + 1;
    while (end < s->interleave.pairs->len && repeat_of(s, end) == repeat_of(s, first))
        end++;
    return end - first;
}

/* ---- earlier runs ---------------------------------------------------------------------------- */

/* Reads the metric of an item's run. */
static bool read_value(struct orch_sure_sampling *s, const struct orch_plan_item *item, double *out,
                       struct orch_run **out_run, GError **error)
{
    struct orch_run *run = orch_store_run(s->store, item->run_key, error);
    if (!run)
        return false;
    bool ok = orch_run_number(s->store, run, s->request->metric, s->request->aggregate, out,
                              &s->out->better, &s->out->unit, error);
    if (ok)
        *out_run = run;
    else
        orch_run_free(run);
    return ok;
}

/* Makes a pair of times run again whose runs were not made in turns, now or earlier: the machine
 * may have been another one by then. */
static bool renew_apart(struct orch_sure_sampling *s, unsigned pair, bool *out_renewed,
                        GError **error)
{
    struct orch_run *runs[2] = {NULL, NULL};
    bool ok = true, is_timing = false;
    for (int side = 0; ok && side < 2; side++) {
        double value;
        const struct orch_plan_item *item = item_of(s, pair, side);
        if (item->state == ORCH_PLAN_DONE) {
            ok = read_value(s, item, &value, &runs[side], error);
            is_timing = is_timing || orch_unit_is_timing(s->out->unit, NULL);
        }
    }
    *out_renewed = ok && is_timing && (runs[0] || runs[1]) &&
                   !(runs[0] && runs[1] && orch_stored_are_in_turns(runs[0], runs[1]));
    if (*out_renewed)
        orch_interleave_renew(&s->interleave, pair);
    orch_run_free(runs[0]);
    orch_run_free(runs[1]);
    return ok;
}

/* ---- one repeat ------------------------------------------------------------------------------ */

static enum orch_sure_outcome leave_out(struct orch_sure_sampling *s, unsigned pair,
                                        const char *why)
{
    orch_compare_say(s->listener->warn, s->listener->ctx, "repeat %d left out on both sides: %s",
                     repeat_of(s, pair), why);
    return ORCH_SURE_LEFT_OUT;
}

static bool is_stopped(struct orch_sure_sampling *s)
{
    if (s->end.limit != ORCH_LIMIT_NONE)
        s->out->stop = ORCH_SURE_BUDGET_SPENT;
    else if (s->end.terminated)
        s->out->stop = ORCH_SURE_TERMINATED;
    else if (s->end.interrupted)
        s->out->stop = ORCH_SURE_INTERRUPTED;
    else
        return false;
    return true;
}

bool orch_sure_will_run(const struct orch_sure_sampling *s, unsigned first, unsigned count)
{
    for (unsigned i = first; i < first + count; i++)
        if (item_of(s, i, 0)->state != ORCH_PLAN_DONE || item_of(s, i, 1)->state != ORCH_PLAN_DONE)
            return true;
    return false;
}

static void count_failure(struct orch_sure_sampling *s, int side, enum orch_verdict verdict)
{
    s->out->failures.failed[side]++;
    s->out->failures.timed_out[side] += verdict == ORCH_VERDICT_TIMEOUT;
}

/* Leaves a pair out of which a run has failed earlier. */
static bool skip_failed(struct orch_sure_sampling *s, unsigned pair, enum orch_sure_outcome *out,
                        GError **error)
{
    for (int side = 1; side >= 0; side--) {
        enum orch_verdict verdict;
        const struct orch_plan_item *item = item_of(s, pair, side);
        if (!orch_stored_failure(s->arms[side].plan, item, &verdict, error))
            return false;
        if (verdict == ORCH_VERDICT_OK)
            continue;
        g_autofree char *label = orch_cell_label(item->cell);
        g_autofree char *why = g_strdup_printf("%s of %c failed before", label, 'A' + side);
        count_failure(s, side, verdict);
        *out = leave_out(s, pair, why);
    }
    return true;
}

/* Leaves a pair out of which a run has failed now. */
static bool leave_failed(struct orch_sure_sampling *s, unsigned pair, enum orch_sure_outcome *out,
                         GError **error)
{
    const int side = s->end.failed_side;
    enum orch_verdict verdict;
    g_autofree char *why = g_strdup_printf("%s failed", s->end.failed);
    g_clear_pointer(&s->end.failed, g_free);
    if (!orch_stored_failure(s->arms[side].plan, item_of(s, pair, side), &verdict, error))
        return false;
    count_failure(s, side, verdict);
    *out = leave_out(s, pair, why);
    return true;
}

/* Runs what is missing of a pair. */
static bool take_turns(struct orch_sure_sampling *s, unsigned pair, enum orch_sure_outcome *out,
                       GError **error)
{
    for (unsigned turn = 2 * pair; turn < 2 * pair + 2; turn++) {
        struct orch_limits limits = s->limits;
        limits.budget_usd -= orch_limits_usd(&limits, s->end.device_s);
        s->options.limits = s->limits.budget_usd > 0 ? &limits : NULL;
        if (s->options.limits && !(limits.budget_usd > 0) && orch_sure_will_run(s, pair, 1)) {
            s->out->stop = ORCH_SURE_BUDGET_SPENT; /* a budget of 0 would be none */
            *out = ORCH_SURE_STOPPED;
            return true;
        }
        if (!orch_interleave_turn(&s->interleave, turn, &s->options, s->listeners, &s->end, error))
            return false;
        if (is_stopped(s)) {
            *out = ORCH_SURE_STOPPED;
            return true;
        }
        if (s->end.failed)
            return leave_failed(s, pair, out, error);
    }
    return true;
}

/* Runs what is missing of a pair; a pair of times once more when its runs were not made in turns,
 * as the one before them of a trial that the second refers to. */
static bool run_pair(struct orch_sure_sampling *s, unsigned pair, enum orch_sure_outcome *out,
                     GError **error)
{
    bool is_apart;
    *out = ORCH_SURE_COUNTS;
    if (!skip_failed(s, pair, out, error))
        return false;
    for (int tries = 0; *out == ORCH_SURE_COUNTS; tries++) {
        if (!renew_apart(s, pair, &is_apart, error))
            return false;
        if (tries && !is_apart)
            return true;
        if (tries == TRIES_MAX)
            *out = leave_out(s, pair, "its runs were not made one right after the other");
        else if (!take_turns(s, pair, out, error))
            return false;
    }
    return true;
}

/* The sums of a repeat over its pairs. */
struct block {
    double value[2], difference, device_s, wall_s;
};

/* Adds the values of a pair whose runs ended well. */
static bool add_pair(struct orch_sure_sampling *s, unsigned pair, struct block *block,
                     enum orch_sure_outcome *out, GError **error)
{
    double value[2];
    for (int side = 0; side < 2; side++) {
        struct orch_run *run;
        const struct orch_plan_item *item = item_of(s, pair, side);
        if (!read_value(s, item, &value[side], &run, error))
            return false;
        block->device_s += run->wall_ms / 1e3 * orch_plan_item_charged(item);
        block->wall_s += run->wall_ms / 1e3;
        block->value[side] += value[side];
        orch_run_free(run);
        if (!isfinite(value[side])) {
            g_autofree char *why =
                g_strdup_printf("%c has no number '%s'", 'A' + side, s->request->metric);
            count_failure(s, side, ORCH_VERDICT_OK);
            *out = leave_out(s, pair, why);
        }
    }
    if (*out == ORCH_SURE_LEFT_OUT)
        return true;
    s->out->is_ratio =
        orch_metric_kind_of(s->request->metric, s->out->unit).scale == ORCH_SCALE_LOG;
    if (s->out->is_ratio && !(value[0] > 0 && value[1] > 0)) {
        orch_error_set(error, ORCH_ERROR_CHECK, "compare another metric",
                       "'%s' is not above 0 in repeat %d, so the ratio B / A cannot be computed",
                       s->request->metric, repeat_of(s, pair));
        return false;
    }
    if (fabs(value[1] - value[0]) > ROUNDING * fmax(fabs(value[0]), fabs(value[1])))
        block->difference += s->out->is_ratio ? log(value[1] / value[0]) : value[1] - value[0];
    return true;
}

bool orch_sure_take_block(struct orch_sure_sampling *s, unsigned first, unsigned count,
                          GArray *differences, enum orch_sure_outcome *out, GError **error)
{
    struct block block = {0};
    const double before_s = s->end.device_s;
    *out = ORCH_SURE_COUNTS;
    for (unsigned i = first; i < first + count && *out == ORCH_SURE_COUNTS; i++)
        if (!run_pair(s, i, out, error) ||
            (*out == ORCH_SURE_COUNTS && !add_pair(s, i, &block, out, error)))
            return false;
    s->out->left_out += *out == ORCH_SURE_LEFT_OUT;
    if (*out != ORCH_SURE_COUNTS)
        return true;
    const int repeat = repeat_of(s, first);
    for (int side = 0; side < 2; side++)
        block.value[side] /= count;
    block.difference /= count;
    g_array_append_val(differences, block.difference);
    g_array_append_val(s->out->a, block.value[0]);
    g_array_append_val(s->out->b, block.value[1]);
    g_array_append_val(s->out->repeats, repeat);
    s->out->runs += 2 * count;
    s->out->device_s += block.device_s;
    s->out->wall_s += block.wall_s;
    s->out->reused += !(s->end.device_s > before_s);
    return true;
}
