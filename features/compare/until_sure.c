/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of the comparison is the store: both plans ask for the largest number of repeats, and
 * a repeat that has its runs there is counted where it stands in the order. So a command that was
 * interrupted goes on when it is given again, and the same runs give the same verdict. The order is
 * that of the repeats and does not depend on the results, as the test requires. */
#include "features/compare/until_sure.h"

#include "core/plan/plan_forecast.h"
#include "core/plan/plan_rate.h"
#include "core/schedule/limit_options.h"
#include "core/stats/numbers.h"
#include "features/compare/stored_pairs.h"
#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* So many repeats at the beginning may be left out. */
#define LEFT_OUT_MAX 3
/* So often a pair of times is run whose runs are not made in turns. */
#define TRIES_MAX 2
/* Values that differ by no more are equal. */
#define ROUNDING 1e-12

struct sampling {
    const struct orch_sure_request *request;
    const struct orch_compare_listener *listener;
    struct orch_store *store; /* the command's; borrowed */
    struct orch_compare_arm arms[2];
    struct orch_interleave interleave;
    struct orch_interleave_end end;
    struct orch_limits limits;
    struct orch_run_options options;
    struct orch_listener listeners[2];
    struct orch_sure *out;
};

void orch_sure_clear(struct orch_sure *sure)
{
    g_clear_pointer(&sure->a, g_array_unref);
    g_clear_pointer(&sure->b, g_array_unref);
    g_clear_pointer(&sure->repeats, g_array_unref);
    g_clear_pointer(&sure->what[0], g_free);
    g_clear_pointer(&sure->what[1], g_free);
}

static struct orch_plan_item *item_of(const struct sampling *s, unsigned pair, int side)
{
    unsigned index =
        g_array_index(s->interleave.pairs, struct orch_interleave_pair, pair).index[side];
    return &s->arms[side].plan->items[index];
}

static int repeat_of(const struct sampling *s, unsigned pair)
{
    return item_of(s, pair, 0)->cell->repeat;
}

/* The number of pairs of the same repeat from `first` on. */
static unsigned block_size(const struct sampling *s, unsigned first)
{
    unsigned end = first + 1;
    while (end < s->interleave.pairs->len && repeat_of(s, end) == repeat_of(s, first))
        end++;
    return end - first;
}

/* ---- earlier runs -------------------------------------------------------------------------------
 */

/* Reads the metric of an item's run. */
static bool read_value(struct sampling *s, const struct orch_plan_item *item, double *out,
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
static bool renew_apart(struct sampling *s, unsigned pair, bool *out_renewed, GError **error)
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

/* ---- one repeat ---------------------------------------------------------------------------------
 */

enum outcome {
    COUNTS,
    LEFT_OUT,
    STOPPED, /* by an interrupt or a limit; out->stop says which */
};

static enum outcome leave_out(struct sampling *s, unsigned pair, const char *why)
{
    orch_compare_say(s->listener->warn, s->listener->ctx, "repeat %d left out on both sides: %s",
                     repeat_of(s, pair), why);
    return LEFT_OUT;
}

static bool is_stopped(struct sampling *s)
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

/* Whether one of these pairs still has to run. */
static bool will_run(const struct sampling *s, unsigned first, unsigned count)
{
    for (unsigned i = first; i < first + count; i++)
        if (item_of(s, i, 0)->state != ORCH_PLAN_DONE || item_of(s, i, 1)->state != ORCH_PLAN_DONE)
            return true;
    return false;
}

static void count_failure(struct sampling *s, int side, enum orch_verdict verdict)
{
    s->out->failures.failed[side]++;
    s->out->failures.timed_out[side] += verdict == ORCH_VERDICT_TIMEOUT;
}

/* Leaves a pair out of which a run has failed earlier. */
static bool skip_failed(struct sampling *s, unsigned pair, enum outcome *out, GError **error)
{
    for (int side = 1; side >= 0; side--) {
        enum orch_verdict verdict;
        const struct orch_plan_item *item = item_of(s, pair, side);
        if (!orch_stored_failure(s->arms[side].plan, item, &verdict, error))
            return false;
        if (verdict == ORCH_VERDICT_OK)
            continue;
        g_autofree char *label = orch_cell_label(item->cell);
        g_autofree char *why =
            g_strdup_printf("%s of %c did not end well before", label, 'A' + side);
        count_failure(s, side, verdict);
        *out = leave_out(s, pair, why);
    }
    return true;
}

/* Leaves a pair out of which a run has failed now. */
static bool leave_failed(struct sampling *s, unsigned pair, enum outcome *out, GError **error)
{
    const int side = s->end.failed_side;
    enum orch_verdict verdict;
    g_autofree char *why = g_strdup_printf("%s did not end well", s->end.failed);
    g_clear_pointer(&s->end.failed, g_free);
    if (!orch_stored_failure(s->arms[side].plan, item_of(s, pair, side), &verdict, error))
        return false;
    count_failure(s, side, verdict);
    *out = leave_out(s, pair, why);
    return true;
}

/* Runs what is missing of a pair. */
static bool take_turns(struct sampling *s, unsigned pair, enum outcome *out, GError **error)
{
    for (unsigned turn = 2 * pair; turn < 2 * pair + 2; turn++) {
        struct orch_limits limits = s->limits;
        limits.budget_usd -= orch_limits_usd(&limits, s->end.device_s);
        s->options.limits = s->limits.budget_usd > 0 ? &limits : NULL;
        if (s->options.limits && !(limits.budget_usd > 0) && will_run(s, pair, 1)) {
            s->out->stop = ORCH_SURE_BUDGET_SPENT; /* a budget of 0 would be none */
            *out = STOPPED;
            return true;
        }
        if (!orch_interleave_turn(&s->interleave, turn, &s->options, s->listeners, &s->end, error))
            return false;
        if (is_stopped(s)) {
            *out = STOPPED;
            return true;
        }
        if (s->end.failed)
            return leave_failed(s, pair, out, error);
    }
    return true;
}

/* Runs what is missing of a pair; a pair of times once more when its runs were not made in turns,
 * as the one before them of a trial that the second refers to. */
static bool run_pair(struct sampling *s, unsigned pair, enum outcome *out, GError **error)
{
    bool is_apart;
    *out = COUNTS;
    if (!skip_failed(s, pair, out, error))
        return false;
    for (int tries = 0; *out == COUNTS; tries++) {
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
static bool add_pair(struct sampling *s, unsigned pair, struct block *block, enum outcome *out,
                     GError **error)
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
            g_autofree char *why = g_strdup_printf("%c has no '%s' there that is a number",
                                                   'A' + side, s->request->metric);
            count_failure(s, side, ORCH_VERDICT_OK);
            *out = leave_out(s, pair, why);
        }
    }
    if (*out == LEFT_OUT)
        return true;
    s->out->is_ratio =
        orch_metric_kind_of(s->request->metric, s->out->unit).scale == ORCH_SCALE_LOG;
    if (s->out->is_ratio && !(value[0] > 0 && value[1] > 0)) {
        orch_error_set(error, ORCH_ERROR_CHECK, "compare another metric",
                       "'%s' is not above 0 in repeat %d: there is no ratio of A and B",
                       s->request->metric, repeat_of(s, pair));
        return false;
    }
    if (fabs(value[1] - value[0]) > ROUNDING * fmax(fabs(value[0]), fabs(value[1])))
        block->difference += s->out->is_ratio ? log(value[1] / value[0]) : value[1] - value[0];
    return true;
}

/* Takes the pairs of one repeat: `count` of them from `first` on. */
static bool take_block(struct sampling *s, unsigned first, unsigned count, GArray *differences,
                       enum outcome *out, GError **error)
{
    struct block block = {0};
    const double before_s = s->end.device_s;
    *out = COUNTS;
    for (unsigned i = first; i < first + count && *out == COUNTS; i++)
        if (!run_pair(s, i, out, error) || (*out == COUNTS && !add_pair(s, i, &block, out, error)))
            return false;
    s->out->left_out += *out == LEFT_OUT;
    if (*out != COUNTS)
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

/* ---- until it is sure ---------------------------------------------------------------------------
 */

static const double *reals(const GArray *array)
{
    return (const double *)(const void *)array->data;
}

/* The smallest difference that matters, on the scale of the differences. */
static double least_of(const struct sampling *s)
{
    double least = s->request->least;
    return s->out->is_ratio ? log1p(least)
                            : least * fabs(orch_stat_of(reals(s->out->a), s->out->a->len).mean);
}

/* Whether another repeat like those so far would exceed the budget, so that none is begun that
 * would be cut off. */
static bool is_too_expensive(const struct sampling *s, const struct orch_sure *out)
{
    if (!(s->limits.budget_usd > 0) || !out->a->len)
        return false;
    double next_s = out->device_s / out->a->len;
    return orch_limits_usd(&s->limits, s->end.device_s + next_s) > s->limits.budget_usd;
}

/* Judges the repeats so far. Those before the newest one have left the verdict open. */
static void judge(struct sampling *s, const GArray *differences)
{
    struct orch_sure *out = s->out;
    double least = least_of(s);
    out->so_far = orch_anytime_of(reals(differences), differences->len);
    out->verdict = orch_anytime_verdict(&out->so_far, least);
    out->is_refused = out->verdict == ORCH_ANYTIME_ALIKE && orch_side_failures_hide(&out->failures);
    if (out->is_refused)
        out->verdict = ORCH_ANYTIME_OPEN;
    out->has_outlier = out->so_far.distinct == ORCH_DISTINCT_LEAST &&
                       orch_sample_has_outlier(reals(differences), differences->len);
    out->more = out->verdict == ORCH_ANYTIME_OPEN && !out->is_refused
                    ? orch_anytime_more(&out->so_far, least, ORCH_SURE_POWER)
                    : 0;
}

static bool has_begun_badly(const struct sampling *s, GError **error)
{
    if (s->out->a->len || s->out->left_out < LEFT_OUT_MAX)
        return false;
    orch_error_set(error, ORCH_ERROR_TRIAL, "'orch log @last' prints the output of a run",
                   "the first %u repeats were left out, so nothing was compared", s->out->left_out);
    return true;
}

static bool sample(struct sampling *s, orch_sure_fn on_repeat, void *ctx, GError **error)
{
    struct orch_sure *out = s->out;
    g_autoptr(GArray) differences = g_array_new(FALSE, FALSE, sizeof(double));
    out->stop = ORCH_SURE_RUNS_SPENT;
    for (unsigned i = 0, size; i < s->interleave.pairs->len; i += size) {
        enum outcome outcome;
        const unsigned reused = out->reused;
        size = block_size(s, i);
        if (will_run(s, i, size) && is_too_expensive(s, out)) {
            out->stop = ORCH_SURE_BUDGET_SPENT;
            break;
        }
        if (!take_block(s, i, size, differences, &outcome, error) || has_begun_badly(s, error))
            return false;
        if (outcome == STOPPED)
            break;
        if (outcome == LEFT_OUT)
            continue;
        judge(s, differences);
        if (out->verdict != ORCH_ANYTIME_OPEN) {
            out->stop = ORCH_SURE_VERDICT;
            break;
        }
        if (out->reused == reused)
            on_repeat(ctx, out);
    }
    return true;
}

/* Two sides whose trials are the same would share their runs, and be equal without being compared.
 */
static bool are_different(const struct sampling *s, GError **error)
{
    if (!s->interleave.is_same_code)
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE,
                   "without --until-sure, 'orch compare A B --run RECIPE' runs both all the same",
                   "A and B run the same code with the same settings, so there is nothing to "
                   "decide");
    return false;
}

/* Reads price and budget. */
static bool read_limits(struct sampling *s, GError **error)
{
    struct orch_rate rate = {0};
    bool ok = s->request->price ? orch_price_read(s->request->price, &rate.usd_per_hour, error)
                                : orch_plan_rate(s->arms[0].plan, &rate, error);
    ok = ok && orch_limits_read(s->request->budget, NULL, rate.usd_per_hour, orch_now_ns(),
                                &s->limits, error);
    s->limits.usd_per_hour = s->out->usd_per_hour = rate.usd_per_hour;
    orch_rate_release(&rate);
    return ok;
}

static void begin(struct sampling *s)
{
    s->options = (struct orch_run_options){
        .slots = 1,
        .on_change = ORCH_ON_CHANGE_FROZEN,
    };
    for (int i = 0; i < 2; i++) {
        s->listeners[i] = orch_compare_arm_listener(&s->arms[i]);
        s->out->what[i] = orch_compare_arm_what(&s->arms[i]);
    }
    orch_compare_say(s->listener->on_message, s->listener->ctx,
                     "until it is sure, at most %d run%s of each setting and side, in turns: "
                     "A B B A",
                     s->request->run.repeat, orch_plural(s->request->run.repeat));
}

bool orch_compare_until_sure(struct orch_workspace *workspace, const char *const *plugin_paths,
                             const struct orch_sure_request *request, const char *const names[2],
                             const struct orch_compare_listener *listener, orch_sure_fn on_repeat,
                             void *ctx, struct orch_sure *out, GError **error)
{
    struct sampling s = {.request = request, .listener = listener, .out = out};
    struct orch_compare_run run = request->run;
    run.reuses = true;
    *out = (struct orch_sure){.a = g_array_new(FALSE, FALSE, sizeof(double)),
                              .b = g_array_new(FALSE, FALSE, sizeof(double)),
                              .repeats = g_array_new(FALSE, FALSE, sizeof(int)),
                              .so_far = orch_anytime_of(NULL, 0),
                              .better = "none"};
    bool ok =
        orch_compare_arms_make(workspace, plugin_paths, &run, names, listener, s.arms, error) &&
        orch_compare_arms_pair(s.arms, &s.interleave, error) && are_different(&s, error) &&
        read_limits(&s, error);
    if (ok) {
        begin(&s);
        g_autofree char *argv = listener->argv_json(listener->ctx, s.arms[1].expansion);
        s.store = workspace->store;
        s.options.argv_json = argv;
        ok = sample(&s, on_repeat, ctx, error);
        out->spent_device_s = s.end.device_s;
    }
    g_free(s.end.failed);
    orch_interleave_clear(&s.interleave);
    orch_compare_arms_clear(s.arms);
    return ok;
}
