/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of the comparison is the store: both plans ask for the largest number of repeats, and
 * a repeat that has its runs there is counted where it stands in the order. So a command that was
 * interrupted goes on when it is given again, and the same runs give the same verdict. The order is
 * that of the repeats and does not depend on the results, as the test requires. */
#include "features/compare/until_sure.h"

#include "core/plan/plan_rate.h"
#include "core/stats/numbers.h"
#include "features/compare/sure_repeat.h"
#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "lib/base/text.h"

#include <math.h>

/* So many repeats at the beginning may be left out. */
#define LEFT_OUT_MAX 3

void orch_sure_clear(struct orch_sure *sure)
{
    g_clear_pointer(&sure->a, g_array_unref);
    g_clear_pointer(&sure->b, g_array_unref);
    g_clear_pointer(&sure->repeats, g_array_unref);
    g_clear_pointer(&sure->what[0], g_free);
    g_clear_pointer(&sure->what[1], g_free);
}

bool orch_sure_is_constant(const struct orch_sure *sure)
{
    return sure->so_far.distinct == 1 && sure->so_far.count >= ORCH_ANYTIME_LEAST;
}

static const double *reals(const GArray *array)
{
    return (const double *)(const void *)array->data;
}

/* The smallest difference that matters, on the scale of the differences. */
static double least_of(const struct orch_sure_sampling *s)
{
    double least = s->request->least;
    return s->out->is_ratio ? log1p(least)
                            : least * fabs(orch_stat_of(reals(s->out->a), s->out->a->len).mean);
}

/* Whether another repeat like those so far would exceed the budget, so that none is begun that
 * would be cut off. */
static bool is_too_expensive(const struct orch_sure_sampling *s, const struct orch_sure *out)
{
    if (!out->a->len)
        return false;
    double next_s = out->device_s / out->a->len;
    if (s->limits.budget_s > 0 && s->end.device_s + next_s > s->limits.budget_s)
        return true;
    return s->limits.budget_usd > 0 &&
           orch_limits_usd(&s->limits, s->end.device_s + next_s) > s->limits.budget_usd;
}

/* Judges the repeats so far. Those before the newest one have left the verdict open. */
static void judge(struct orch_sure_sampling *s, const GArray *differences)
{
    struct orch_sure *out = s->out;
    double least = least_of(s);
    out->so_far = orch_anytime_of(reals(differences), differences->len);
    out->verdict = orch_anytime_verdict(&out->so_far, least);
    if (out->verdict == ORCH_ANYTIME_OPEN && orch_sure_is_constant(out))
        out->verdict = fabs(out->so_far.mean) < least ? ORCH_ANYTIME_ALIKE : ORCH_ANYTIME_DIFFERENT;
    out->is_refused = out->verdict == ORCH_ANYTIME_ALIKE && orch_side_failures_hide(&out->failures);
    if (out->is_refused)
        out->verdict = ORCH_ANYTIME_OPEN;
    out->more =
        out->verdict == ORCH_ANYTIME_OPEN && !out->is_refused
            ? orch_anytime_more(reals(differences), differences->len, least, ORCH_SURE_POWER)
            : 0;
}

static bool has_begun_badly(const struct orch_sure_sampling *s, GError **error)
{
    if (s->out->a->len || s->out->left_out < LEFT_OUT_MAX)
        return false;
    orch_error_set(error, ORCH_ERROR_TRIAL, "'orch log @last' prints the output of a run",
                   "none of the first %u repeats could be compared", s->out->left_out);
    return true;
}

static bool sample(struct orch_sure_sampling *s, orch_sure_fn on_repeat, void *ctx, GError **error)
{
    struct orch_sure *out = s->out;
    g_autoptr(GArray) differences = g_array_new(FALSE, FALSE, sizeof(double));
    out->stop = ORCH_SURE_RUNS_SPENT;
    for (unsigned i = 0, size; i < s->interleave.pairs->len; i += size) {
        enum orch_sure_outcome outcome;
        const unsigned reused = out->reused;
        size = orch_sure_block_size(s, i);
        if (orch_sure_will_run(s, i, size) && is_too_expensive(s, out)) {
            out->stop = ORCH_SURE_BUDGET_SPENT;
            break;
        }
        if (!orch_sure_take_block(s, i, size, differences, &outcome, error) ||
            has_begun_badly(s, error))
            return false;
        if (outcome == ORCH_SURE_STOPPED)
            break;
        if (outcome == ORCH_SURE_LEFT_OUT)
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
static bool are_different(const struct orch_sure_sampling *s, GError **error)
{
    if (s->interleave.same_code != ORCH_SAME_CODE_YES)
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "to run both anyway: orch compare A B --run RECIPE",
                   "A and B run the same code with the same settings");
    return false;
}

/* Reads price and budget. */
static bool read_limits(struct orch_sure_sampling *s, GError **error)
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

static void begin(struct orch_sure_sampling *s)
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
    struct orch_sure_sampling s = {.request = request, .listener = listener, .out = out};
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
