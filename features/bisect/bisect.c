/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/bisect/bisect.h"

#include "core/plan/fingerprint.h"
#include "core/plan/plan_rate.h"
#include "core/recipe/option_value.h"
#include "core/schedule/limit_options.h"
#include "features/bisect/bisect_ends.h"
#include "features/bisect/bisect_path.h"
#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "lib/base/reals.h"
#include "lib/base/text.h"

#include <math.h>

/* ---- limits -----------------------------------------------------------------------------------
 */

static bool find_rate(struct orch_bisect *bisect, const struct orch_plan *plan, GError **error)
{
    double usd;
    if (bisect->request.price) {
        if (!orch_price_read(bisect->request.price, &usd, error))
            return false;
        bisect->rate = (struct orch_rate){.usd_per_hour = usd, .from = g_strdup("--price")};
        return true;
    }
    if (!orch_plan_rate(plan, &bisect->rate, error))
        return false;
    if (bisect->rate.usd_per_hour > 0)
        return true;
    orch_rate_release(&bisect->rate);
    return orch_machine_rate(bisect->job.base, &bisect->rate, error);
}

/* A budget is an amount of money or, with a unit of time, of device time. */
static bool read_limits(struct orch_bisect *bisect, GError **error)
{
    const struct orch_bisect_request *request = &bisect->request;
    bool is_time = request->budget && orch_option_device_time(request->budget, &bisect->budget_s);
    return orch_limits_read(is_time ? NULL : request->budget, request->deadline,
                            bisect->rate.usd_per_hour, orch_now_ns(), &bisect->limits, error);
}

/* The median time of a run so far; NaN before the first one. */
static double expected_s(const struct orch_bisect *bisect)
{
    size_t count = bisect->data.change.count ? bisect->data.first[bisect->commits.count] : 0;
    g_autofree double *walls = g_new(double, count + 1);
    for (size_t i = 0; i < count; i++)
        walls[i] = bisect->data.from[i]->wall_s;
    qsort(walls, count, sizeof *walls, orch_compare_reals);
    return count ? walls[count / 2] : (double)NAN;
}

static bool may_run(const struct orch_bisect *bisect)
{
    double next_s = expected_s(bisect);
    const struct orch_usage usage = {.spent_s = bisect->spent_s};
    if (orch_limits_refuse(&bisect->limits, &usage, next_s, 1, orch_now_ns()) != ORCH_LIMIT_NONE)
        return false;
    return !(bisect->budget_s > 0) ||
           bisect->spent_s + (isnan(next_s) ? 0 : next_s) <= bisect->budget_s;
}

double orch_bisect_usd(const struct orch_bisect *bisect, double device_s)
{
    return bisect->rate.usd_per_hour > 0 ? device_s / 3600 * bisect->rate.usd_per_hour
                                         : (double)NAN;
}

/* ---- the beginning ----------------------------------------------------------------------------
 */

static void evaluate(struct orch_bisect *bisect)
{
    const struct orch_change_rules rules = {bisect->request.sure,
                                            (size_t)bisect->request.repeat_most};
    orch_change_posterior_clear(&bisect->posterior);
    orch_bisect_data_clear(&bisect->data);
    orch_bisect_data_make(&bisect->commits, &bisect->metric, &bisect->data);
    orch_change_posterior_make(&bisect->data.change, &bisect->posterior);
    bisect->turn = orch_change_next(&bisect->data.change, &bisect->posterior, &rules);
}

/* A failure of an end ended an earlier search, and may have been mended since. */
static void forget_failures(struct orch_bisect *bisect)
{
    for (size_t i = 0; i < bisect->commits.count; i++) {
        bool is_end = i == 0 || i + 1 == bisect->commits.count;
        struct orch_bisect_commit *row = &bisect->commits.rows[i];
        if (row->repeats->len && (is_end || bisect->request.retries))
            g_clear_pointer(&row->skipped, g_free);
    }
}

static GHashTable *fingerprints(void *ctx, const struct orch_vcs_commit *commit, int repeats)
{
    return orch_bisect_trial_fingerprints(ctx, commit, repeats);
}

/* Plans a run of the good commit, which shows what identifies runs of the command. */
static bool look_up(struct orch_bisect *bisect, GPtrArray *notes, GError **error)
{
    struct orch_bisect_trial trial;
    g_autofree char *id = NULL;
    bool ok = orch_bisect_trial_open(&trial, &bisect->job, bisect->commits.rows[0].is, 1, error);
    char *built = orch_commit_place_built_text(&trial.place);
    if (built)
        g_ptr_array_add(notes, built);
    if (ok) {
        const struct orch_plan_item *item = &trial.plan->items[trial.index];
        const struct orch_experiment *experiment = item->cell->experiment;
        id = orch_command_id(experiment, trial.place.workspace->root);
        const struct orch_bisect_command command = {experiment->name, id, item->device_key,
                                                    fingerprints, &bisect->job};
        ok = find_rate(bisect, trial.plan, error) && read_limits(bisect, error) &&
             orch_bisect_commits_load(&bisect->commits, bisect->job.base->store, &command,
                                      &bisect->metric, error);
    }
    orch_bisect_trial_clear(&trial);
    return ok;
}

bool orch_bisect_begin(struct orch_bisect *bisect, GPtrArray *notes, GError **error)
{
    GPtrArray *path = orch_bisect_path(bisect->job.base, bisect->request.range, notes, error);
    if (!path)
        return false;
    orch_bisect_commits_init(&bisect->commits, path);
    if (!look_up(bisect, notes, error))
        return false;
    if (bisect->metric.direction.better == ORCH_BETTER_NONE)
        return orch_direction_unknown(bisect->metric.name, ORCH_DIRECTION_HINT, error);
    forget_failures(bisect);
    evaluate(bisect);
    return true;
}

void orch_bisect_clear(struct orch_bisect *bisect)
{
    orch_change_posterior_clear(&bisect->posterior);
    orch_bisect_data_clear(&bisect->data);
    if (bisect->commits.path)
        orch_bisect_commits_clear(&bisect->commits);
    orch_rate_release(&bisect->rate);
}

/* ---- the search -------------------------------------------------------------------------------
 */

/* A commit in which the command cannot even be planned is skipped like one in which it fails. */
static bool skip(struct orch_bisect_commit *row, GError *problem, GError **error)
{
    if (!g_error_matches(problem, ORCH_ERROR, ORCH_ERROR_RECIPE) &&
        !g_error_matches(problem, ORCH_ERROR, ORCH_ERROR_USAGE)) {
        g_propagate_error(error, problem);
        return false;
    }
    row->skipped = g_strdup(problem->message);
    orch_text_plain(g_strdelimit(row->skipped, "\n", ' '));
    g_error_free(problem);
    return true;
}

static bool take_in(struct orch_bisect *bisect, size_t index, struct orch_bisect_end *end,
                    GError **error)
{
    bisect->spent_s += end->device_s;
    if (end->interrupted || end->terminated)
        bisect->stop = end->interrupted ? ORCH_BISECT_INTERRUPTED : ORCH_BISECT_TERMINATED;
    if (!end->run)
        return true;
    struct orch_bisect_commit *row = &bisect->commits.rows[index];
    guint before = row->values->len;
    bisect->made++;
    bool ok = orch_bisect_commits_add(&bisect->commits, index, bisect->job.base->store, end->run,
                                      true, &bisect->metric, error);
    bisect->failed += ok && row->values->len == before;
    if (ok && bisect->on_run)
        bisect->on_run(bisect->ctx, bisect, index, end->run);
    return ok;
}

static bool measure(struct orch_bisect *bisect, size_t index, GError **error)
{
    struct orch_bisect_commit *row = &bisect->commits.rows[index];
    struct orch_bisect_trial trial;
    struct orch_bisect_end end = {0};
    GError *problem = NULL;
    int repeat = orch_bisect_commit_next_repeat(row);
    if (bisect->on_turn)
        bisect->on_turn(bisect->ctx, bisect, index);
    bool is_open = orch_bisect_trial_open(&trial, &bisect->job, row->is, repeat, &problem);
    bool ok = is_open ? orch_bisect_trial_run(&trial, &bisect->job, &end, error)
                      : skip(row, problem, error);
    if (ok && is_open)
        ok = take_in(bisect, index, &end, error);
    else if (ok && bisect->on_run)
        bisect->on_run(bisect->ctx, bisect, index, NULL);
    orch_run_free(end.run);
    orch_bisect_trial_clear(&trial);
    return ok;
}

/* Whether `index` has been measured so often that another run of it would be one too many, because
 * runs without a value do not count as measurements. */
static bool is_worn_out(const struct orch_bisect *bisect, size_t index)
{
    return bisect->commits.rows[index].repeats->len >= 4 * (guint)bisect->request.repeat_most;
}

bool orch_bisect_search(struct orch_bisect *bisect, GError **error)
{
    for (;;) {
        size_t index = bisect->turn.place;
        enum orch_change_verdict verdict = bisect->turn.verdict;
        if (!orch_bisect_ends_check(bisect, &index, error))
            return false;
        if (verdict != ORCH_CHANGE_ENDS && verdict != ORCH_CHANGE_ASK)
            break;
        if (!may_run(bisect)) {
            bisect->stop = ORCH_BISECT_BUDGET;
            break;
        }
        if (is_worn_out(bisect, index)) {
            bisect->turn.verdict = ORCH_CHANGE_OPEN;
            break;
        }
        if (!measure(bisect, index, error))
            return false;
        evaluate(bisect);
        if (bisect->stop != ORCH_BISECT_DECIDED)
            break;
    }
    if (bisect->on_turn)
        bisect->on_turn(bisect->ctx, bisect, SIZE_MAX);
    return true;
}
