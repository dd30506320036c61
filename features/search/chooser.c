/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/search/chooser.h"

#include "core/plan/plan_forecast.h"
#include "core/stats/group.h"
#include "features/search/ended_settings.h"
#include "features/search/goals.h"
#include "features/search/promote_trials.h"
#include "features/search/repeat_trials.h"
#include "features/search/search_end.h"
#include "features/search/search_limits.h"
#include "features/search/search_outlook.h"
#include "features/search/searched.h"
#include "features/search/stop_trials.h"
#include "features/search/tried_points.h"
#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "lib/base/random.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* So many trials may end well without the metric before the search gives up. */
#define WITHOUT_METRIC 3
/* The plugin may reject so many points one after the other before a trial is left out. */
#define REJECTED_MAX 20
/* Settings whose repeats did not suffice are named at the end of a run, at most so many. */
#define UNKNOWN_LINES 6

struct chooser {
    struct orch_cli *cli;
    const struct orch_listener *listener;
    struct orch_tried *tried;
    struct orch_stop_trials *stops;
    struct orch_repeat_trials *repeats;
    GHashTable *over; /* "SEARCH GROUP" of a search that tries no further points -> why, char *, as
                         the user knows */
    bool is_limited;  /* time or money ends the run */
    const struct orch_forecaster *forecaster;
    double usd_per_hour; /* of a device; 0: not known */
    int64_t began_ns;
    bool has_doubted;                        /* said that `until` may be meant in per cent */
    bool may_promote;                        /* something has changed since no trial could go on */
    const struct orch_search_point *hopeful; /* of a search that waits for its repeats; or NULL */
};

static const char NO_POINTS[] = "the sampler finds only settings that were already tried";

static char *name_of(const struct orch_search_point *point)
{
    return g_strdup_printf("%p %u", (const void *)point->search, point->group);
}

static void G_GNUC_PRINTF(2, 3) say(const struct chooser *chooser, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    if (chooser->listener->message)
        chooser->listener->message(chooser->listener->ctx, text);
}

/* ---- whether a search goes on ---------------------------------------------------------------- */

/* Ends a search, and says so. */
static void end_search(struct chooser *chooser, const struct orch_cell *cell, const char *why)
{
    g_hash_table_insert(chooser->over, name_of(cell->point), g_strdup(why));
    say(chooser, "the search of %s ends: %s", cell->experiment->name, why);
}

/* The trials of a point: its repeats. */
static unsigned trials_of(const struct orch_plan *plan, const struct orch_search_point *point)
{
    unsigned count = 0;
    for (unsigned i = 0; i < plan->count; i++)
        count += plan->items[i].cell->point == point;
    return count;
}

/* The largest of the values so far, whatever their signs; 0: there are none. */
static double largest_value(const struct orch_tried_points *points)
{
    double largest = 0;
    for (guint i = 0; i < points->sampled->len; i++) {
        const struct orch_sampled *trial = &g_array_index(points->sampled, struct orch_sampled, i);
        if (trial->state == ORCH_SAMPLED_ENDED)
            largest = fmax(largest, fabs(trial->value));
    }
    return largest;
}

/* Says, once, when `until` looks like per cent and values like shares, which printed per cent are
 * stored as, or the other way round. */
static void doubt_until(struct chooser *chooser, const struct orch_search *search,
                        const struct orch_tried_points *points)
{
    char until[ORCH_REAL_CHARS], number[ORCH_REAL_CHARS], value[ORCH_REAL_CHARS];
    bool is_share = search->until_number != search->until;
    bool is_doubtful = is_share ? points->best_value > 1
                                : search->until > 1 && search->until <= 100 &&
                                      points->best_value >= 0 && largest_value(points) <= 1;
    if (chooser->has_doubted || !search->has_until || search->more_count || !is_doubtful)
        return;
    chooser->has_doubted = true;
    orch_real_format(search->until, until);
    orch_real_format(search->until_number, number);
    orch_tried_value_format(points->best_value, value);
    if (!is_share)
        say(chooser,
            "%s is %s so far, but its search ends at %s. If you mean per cent, write '%s%%'",
            search->metric, value, until, until);
    else if (search->is_max)
        say(chooser,
            "%s is %s so far, so its values are probably in per cent: the search ends at %s",
            search->metric, value, number);
    else
        say(chooser,
            "%s is %s so far, but the search ends at %s. If its values are in per cent, write '%s'",
            search->metric, value, until, number);
}

/* Decides by the points so far. */
static bool decide(struct chooser *chooser, const struct orch_plan *plan,
                   const struct orch_cell *cell, enum orch_search_turn *out, char **out_why,
                   GError **error)
{
    const struct orch_search_point *point = cell->point;
    const struct orch_search *search = point->search;
    struct orch_tried_points points;
    bool waits, ok = orch_tried_read(chooser->tried, plan, point, &points, error);
    *out = ORCH_SEARCH_GOES_ON;
    if (ok)
        doubt_until(chooser, search, &points);
    if (ok && points.done >= WITHOUT_METRIC && points.lacking == points.done) {
        orch_metric_not_found(plan->store, "of the search", search->metric, error);
        ok = false;
    } else if (ok && orch_search_is_reached(search, points.best_whole)) {
        char reached[ORCH_REAL_CHARS];
        *out = ORCH_SEARCH_IS_OVER;
        *out_why = g_strdup_printf("it has reached %s %s%s", search->metric,
                                   orch_tried_value_format(points.best_whole, reached),
                                   search->more_count ? " and the rest of 'until'" : "");
        if (!point->is_chosen)
            end_search(chooser, cell, *out_why);
    } else if (ok && !point->is_chosen &&
               (*out_why = orch_search_limit_reached(search, &points, trials_of(plan, point),
                                                     chooser->usd_per_hour,
                                                     orch_mono_ns() - chooser->began_ns, &waits))) {
        *out = waits ? ORCH_SEARCH_WAITS : ORCH_SEARCH_IS_OVER;
        if (waits)
            g_clear_pointer(out_why, g_free);
        else
            end_search(chooser, cell, *out_why);
    } else if (ok && orch_search_is_reached(search, points.hopeful_value)) {
        chooser->hopeful = points.hopeful;
        *out = point == points.hopeful ? ORCH_SEARCH_GOES_ON : ORCH_SEARCH_WAITS;
    }
    orch_tried_points_clear(&points);
    return ok;
}

/* A search ends with a point that is good enough when all repeats of that point have ended: until
 * then it tries nothing else. */
static bool ask(void *ctx, struct orch_plan *plan, unsigned index, enum orch_search_turn *out,
                char **out_why, GError **error)
{
    struct chooser *chooser = ctx;
    const struct orch_search_point *point = plan->items[index].cell->point;
    const struct orch_search_point *hopeful = chooser->hopeful;
    g_autofree char *name = name_of(point);
    *out = ORCH_SEARCH_GOES_ON;
    if (point->is_chosen && !point->search->has_until)
        return true;
    if (hopeful && hopeful->search == point->search && hopeful->group == point->group) {
        *out = hopeful == point ? ORCH_SEARCH_GOES_ON : ORCH_SEARCH_WAITS;
        return true;
    }
    const char *why = point->is_chosen ? NULL : g_hash_table_lookup(chooser->over, name);
    if (why) {
        *out = ORCH_SEARCH_IS_OVER;
        *out_why = g_strdup(why);
        return true;
    }
    if (!point->is_chosen && !orch_tried_read_failures(chooser->tried, plan, index, error))
        return false;
    return decide(chooser, plan, plan->items[index].cell, out, out_why, error);
}

/* ---- the next point -------------------------------------------------------------------------- */

/* Parts of a recipe that run on several machines begin with points of their own. */
static uint64_t seed_of(const struct orch_expansion *expansion,
                        const struct orch_search_point *point)
{
    uint64_t seed = point->search->seed + point->group;
    return expansion->part > 1 ? orch_random_stream(seed, ORCH_SAMPLER_TRIES + expansion->part)
                               : seed;
}

/* Writes the next point that was not tried to `out`: the trial of another one would be done before.
 */
static bool next_point(const struct chooser *chooser, const struct orch_expansion *expansion,
                       const struct orch_search_point *point,
                       const struct orch_tried_points *points, double *out)
{
    const GArray *sampled = points->sampled;
    const orch_sampler_fn sampler = orch_sampler_find(point->search->sampler);
    const GPtrArray *first = point->search->first;
    struct orch_sampling sampling = {
        .space = point->search->space,
        .trials = (const struct orch_sampled *)(const void *)sampled->data,
        .count = sampled->len,
        .seed = seed_of(expansion, point),
        .cost_power = orch_search_has_limit(point->search) || chooser->is_limited,
    };
    g_autofree double *goals = NULL;
    if (orch_goals_are_meant(point->search)) {
        g_array_set_size(points->rows, sampled->len); /* points that were just rejected have none */
        goals = orch_goals_points(point->search, (const void *)points->rows->data, sampled->len);
        sampling.goals = goals;
        sampling.goal_count = orch_goals_count(point->search);
    }
    for (guint i = 0; first && i < first->len; i++) {
        memcpy(out, first->pdata[i], sampling.space->params->len * sizeof *out);
        if (!orch_sampling_was_tried(&sampling, out))
            return true;
    }
    return orch_sampler_untried(sampler, &sampling, out);
}

/* Says which values the plugin rejects, and goes on without them. */
static void leave_out(struct chooser *chooser, const struct orch_cell *cell, const GError *problem,
                      GArray *sampled)
{
    g_autofree char *values = orch_search_values(cell->point->search, cell->point->at),
                    *what = orch_error_what(problem);
    say(chooser, "%s %s is left out: %s", cell->experiment->name, values, what);
    const struct orch_sampled rejected = {.point =
                                              orch_tried_note_rejected(chooser->tried, cell->point),
                                          .state = ORCH_SAMPLED_FAILED};
    g_array_append_val(sampled, rejected);
}

/* Says what the plugin warns of at the values of a point, unless it was said before. */
static void say_warnings(const struct chooser *chooser, struct orch_plan *plan,
                         const struct orch_cell *cell)
{
    g_autofree char *values = orch_search_values(cell->point->search, cell->point->at);
    for (unsigned i = 0; i < plan->count; i++) {
        const struct orch_plan_item *item = &plan->items[i];
        bool has_warnings = item->cell->point == cell->point && item->warnings;
        for (guint k = 0; has_warnings && k < item->warnings->len; k++) {
            const char *text = item->warnings->pdata[k];
            if (orch_plan_is_new_warning(plan, cell->experiment, text))
                say(chooser, "%s %s: %s", cell->experiment->name, values, text);
        }
    }
}

/* Whether a trial of the point would break a limit on its time (`wall_s`) or price even if it took
 * the least of its forecast: sets the error that a rejection by the plugin has. */
static bool breaks_by_forecast(const struct chooser *chooser, const struct orch_plan *plan,
                               const struct orch_search_point *point, GError **error)
{
    struct orch_forecast forecast;
    const struct orch_search_bound *broken = NULL;
    double usd_per_s = 0;
    for (unsigned i = 0; chooser->forecaster && !broken && i < plan->count; i++) {
        const struct orch_plan_item *item = &plan->items[i];
        if (item->cell->point == point && orch_plan_will_run(item) &&
            chooser->forecaster->forecast(chooser->forecaster->ctx, item, &forecast)) {
            usd_per_s = chooser->usd_per_hour / 3600 * orch_plan_item_charged(item);
            broken = orch_goals_broken_by_time(point->search, forecast.time_s.low,
                                               forecast.time_s.low * usd_per_s);
        }
    }
    if (!broken)
        return false;
    const bool is_price = orch_goals_limit_kind(broken) == ORCH_LIMIT_PRICE;
    const double low_s = forecast.time_s.low, high_s = forecast.time_s.high;
    g_autofree char *low = is_price ? orch_money_format(low_s * usd_per_s)
                                    : orch_duration_format(low_s),
                    *high = is_price ? orch_money_format(high_s * usd_per_s)
                                     : orch_duration_format(high_s);
    orch_error_set(
        error, ORCH_ERROR_RECIPE, "to run this setting anyway, add an experiment with these values",
        "its forecast is %s to %s, which breaks the limit '%s'", low, high, broken->text);
    return true;
}

/* The same of the limits on other metrics, by the settings that have ended. */
static bool breaks_by_others(const struct orch_limit_forecasts *limits,
                             const struct orch_search_point *point, GError **error)
{
    struct orch_interval range;
    unsigned settings;
    const struct orch_search_bound *broken =
        orch_limit_forecasts_broken(limits, point->at, &range, &settings);
    if (!broken)
        return false;
    g_autofree char *low = orch_number_format(range.low), *high = orch_number_format(range.high);
    orch_error_set(error, ORCH_ERROR_RECIPE,
                   "to run this setting anyway, add an experiment with these values",
                   "its forecast of %s from %u settings is %s to %s%s, which breaks the limit '%s'",
                   broken->metric, settings, low, high, broken->unit, broken->text);
    return true;
}

/* Takes a point, unless the plugin rejects it or a forecast says that it breaks a limit. */
static bool take_point(const struct chooser *chooser, struct orch_plan *plan,
                       struct orch_search_point *point, const struct orch_limit_forecasts *limits,
                       GError **error)
{
    if (breaks_by_others(limits, point, error) || !orch_plan_take_point(plan, point, error))
        return false;
    if (!point->search->bound_count)
        return true;
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->items[i].cell->point == point && chooser->forecaster &&
            chooser->forecaster->changed)
            chooser->forecaster->changed(chooser->forecaster->ctx, &plan->items[i]);
    if (!breaks_by_forecast(chooser, plan, point, error))
        return true;
    orch_plan_open_point(plan, point);
    return false;
}

/* Takes the next point that the plugin accepts. */
static bool take_next(struct chooser *chooser, struct orch_plan *plan, const struct orch_cell *cell,
                      struct orch_tried_points *points, const struct orch_limit_forecasts *limits,
                      char **out_why, GError **error)
{
    struct orch_search_point *point = cell->point;
    GError *problem = NULL;
    for (unsigned i = 0; i < REJECTED_MAX; i++) {
        g_clear_error(&problem);
        if (!next_point(chooser, plan->expansion, point, points, point->at)) {
            end_search(chooser, cell, NO_POINTS);
            *out_why = g_strdup(NO_POINTS);
            return false;
        }
        if (take_point(chooser, plan, point, limits, &problem)) {
            say_warnings(chooser, plan, cell);
            return true;
        }
        if (!g_error_matches(problem, ORCH_ERROR, ORCH_ERROR_RECIPE)) {
            g_propagate_error(error, problem);
            return false;
        }
        leave_out(chooser, cell, problem, points->sampled);
    }
    if (points->points)
        *out_why = orch_error_what(problem);
    else
        orch_error_set(error, ORCH_ERROR_RECIPE, orch_error_hint(problem),
                       "search of '%s': none of the first %d settings can run: %s",
                       cell->experiment->name, REJECTED_MAX, problem->message);
    g_error_free(problem);
    return false;
}

static bool choose(void *ctx, struct orch_plan *plan, unsigned index, char **out_why,
                   GError **error)
{
    struct chooser *chooser = ctx;
    const struct orch_cell *cell = plan->items[index].cell;
    struct orch_tried_points points = {0};
    const struct orch_search *search = cell->point->search;
    bool ok = orch_tried_read(chooser->tried, plan, cell->point, &points, error) &&
              (!search->stop || orch_goals_are_meant(search) ||
               orch_stop_trials_complete(chooser->stops, plan, cell->point, &points, error));
    struct orch_limit_forecasts *limits = ok ? orch_limit_forecasts_new(search, &points) : NULL;
    ok = ok && take_next(chooser, plan, cell, &points, limits, out_why, error);
    orch_limit_forecasts_free(limits);
    orch_tried_points_clear(&points);
    return ok;
}

static void ended(void *ctx, struct orch_plan *plan, unsigned index,
                  const struct orch_collected *collected)
{
    struct chooser *chooser = ctx;
    orch_repeat_trials_note_end(chooser->repeats, index,
                                collected && orch_tried_failed_by_itself(collected->verdict));
    if (!plan->items[index].cell->point)
        return;
    chooser->hopeful = NULL;
    chooser->may_promote = true;
    orch_tried_note_end(chooser->tried, plan, index, collected);
    orch_stop_trials_note_end(chooser->stops, &plan->items[index]);
}

/* The remaining repeats of a point may be left out, and a search may wait for them. */
static void left_out(void *ctx, unsigned index)
{
    struct chooser *chooser = ctx;
    (void)index;
    orch_repeat_trials_note_left_out(chooser->repeats);
    chooser->hopeful = NULL;
}

static void started(void *ctx, const struct orch_plan *plan, unsigned index)
{
    (void)plan;
    orch_repeat_trials_note_start(((struct chooser *)ctx)->repeats, index);
}

/* Says of a setting that is judged alone why it is not repeated any more, with its first repeat
 * that is left out. */
static bool repeat(void *ctx, const struct orch_plan *plan, unsigned index,
                   enum orch_search_turn *out, char **out_why, GError **error)
{
    struct chooser *chooser = ctx;
    const struct orch_search_point *point = plan->items[index].cell->point;
    bool is_alone = point && point == chooser->hopeful;
    if (!orch_repeat_trials_ask(chooser->repeats, plan, index, is_alone, out, out_why, error))
        return false;
    if (*out == ORCH_SEARCH_IS_OVER && (!point || is_alone) &&
        plan->items[index - 1].state != ORCH_PLAN_UNUSED) {
        g_autofree char *label = orch_cell_label(plan->items[index].cell);
        say(chooser, "%s and later repeats are not needed: %s", label, *out_why);
    }
    return true;
}

static const char *watched(void *ctx, const struct orch_plan *plan, unsigned index)
{
    (void)ctx;
    return orch_stop_trials_metric(&plan->items[index]);
}

/* What a running trial has to reach, with several metrics. */
struct hope {
    struct chooser *chooser;
    const struct orch_plan *plan;
    const struct orch_search_point *point;
};

static GArray *find_wanted(void *ctx)
{
    const struct hope *hope = ctx;
    struct orch_tried_points points;
    g_autoptr(GError) problem = NULL;
    GArray *wanted = NULL;
    if (orch_tried_read(hope->chooser->tried, hope->plan, hope->point, &points, &problem))
        wanted = orch_setting_wanted(hope->point->search, &points, hope->point->at);
    else
        g_debug("the settings of a search cannot be read: %s", problem->message);
    orch_tried_points_clear(&points);
    return wanted;
}

static char *judge(void *ctx, const struct orch_plan *plan, const struct orch_running *trial,
                   int64_t step, double value)
{
    struct chooser *chooser = ctx;
    struct hope hope = {chooser, plan, trial->item->cell->point};
    const struct orch_stop_front front = {find_wanted, &hope};
    chooser->may_promote = true;
    return orch_stop_trials_judge(chooser->stops, plan, trial, step, value, &front);
}

static bool promote(void *ctx, struct orch_plan *plan, unsigned *out_index, char **out_why,
                    GError **error)
{
    struct chooser *chooser = ctx;
    const struct orch_promoter promoter = {.tried = chooser->tried,
                                           .stops = chooser->stops,
                                           .usd_per_hour = chooser->usd_per_hour,
                                           .since_ns = orch_mono_ns() - chooser->began_ns};
    *out_why = NULL;
    if (!chooser->may_promote)
        return true;
    if (!orch_promote_trials_ask(&promoter, plan, out_index, out_why, error))
        return false;
    chooser->may_promote = *out_why;
    if (*out_why)
        orch_repeat_trials_note_promoted(chooser->repeats, *out_index);
    return true;
}

/* ---- the part of a run ----------------------------------------------------------------------- */

static bool has_auto_repeats(const struct orch_expansion *expansion)
{
    for (guint i = 0; i < expansion->experiments->len; i++)
        if (((const struct orch_experiment *)expansion->experiments->pdata[i])->repeats)
            return true;
    return false;
}

static bool begin(struct orch_cli *cli, const void *options, const struct orch_expansion *expansion,
                  bool only_plans, void **out_state, GError **error)
{
    (void)options, (void)error;
    (void)only_plans;
    for (guint i = 0; i < expansion->points->len; i++) {
        const struct orch_search_point *point = expansion->points->pdata[i];
        const struct orch_search *search = point->search;
        if (point->number != 1 || point->group)
            continue;
        const char *instead = orch_sampler_instead(search->sampler, search->space);
        if (instead)
            orch_cli_warn(cli, "%s", instead);
        if (search->first && search->first->len > search->trials)
            orch_cli_warn(cli,
                          "only the first %u of the %u settings of 'try' are run\n"
                          "  hint: set 'trials' to %u or more",
                          search->trials, search->first->len, search->first->len);
    }
    if (!expansion->points->len && !has_auto_repeats(expansion))
        return true;
    struct chooser *chooser = g_new0(struct chooser, 1);
    chooser->cli = cli;
    chooser->may_promote = true;
    chooser->began_ns = orch_mono_ns();
    chooser->tried = orch_tried_new();
    chooser->stops = orch_stop_trials_new();
    chooser->repeats = orch_repeat_trials_new();
    chooser->over = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    *out_state = chooser;
    return true;
}

/* A plan that will not be run says what its searches cost at most. Where time or money ends a run,
 * points are worth what they promise for a second. */
static bool see_outlook(void *state, const struct orch_run_outlook *outlook, GError **error)
{
    struct chooser *chooser = state;
    const struct orch_limits *limits = outlook->limits;
    chooser->is_limited = limits && (limits->budget_usd > 0 || limits->budget_s > 0 ||
                                     limits->deadline_ns > 0 || limits->has_allowance);
    chooser->forecaster = outlook->forecaster;
    chooser->usd_per_hour = outlook->price ? outlook->price->usd_per_hour : 0;
    if (limits && !orch_search_limits_known(outlook->plan, chooser->usd_per_hour, error))
        return false;
    if (!outlook->limits && !chooser->cli->json)
        orch_search_outlook_print(chooser->cli, outlook);
    return true;
}

static void close_chooser(void *state)
{
    struct chooser *chooser = state;
    orch_tried_free(chooser->tried);
    orch_stop_trials_free(chooser->stops);
    orch_repeat_trials_free(chooser->repeats);
    g_hash_table_unref(chooser->over);
    g_free(chooser);
}

static bool give_chooser(void *state, struct orch_plan *plan, const struct orch_listener *listener,
                         struct orch_chooser *out)
{
    (void)plan;
    ((struct chooser *)state)->listener = listener;
    *out = (struct orch_chooser){.ctx = state,
                                 .ask = ask,
                                 .choose = choose,
                                 .ended = ended,
                                 .left_out = left_out,
                                 .started = started,
                                 .repeat = repeat,
                                 .watched = watched,
                                 .value = judge,
                                 .promote = promote};
    return true;
}

static bool end_part(void *state, struct orch_plan *plan, const struct orch_totals *totals,
                     GError **error)
{
    struct chooser *chooser = state;
    g_autoptr(GPtrArray) unknown =
        totals ? orch_repeat_trials_unknown(chooser->repeats, plan, error) : NULL;
    for (guint i = 0; unknown && i < MIN(unknown->len, UNKNOWN_LINES); i++)
        orch_cli_info(chooser->cli, "%s", (const char *)unknown->pdata[i]);
    if (unknown && unknown->len > UNKNOWN_LINES)
        orch_cli_info(chooser->cli, "and %u more settings", unknown->len - UNKNOWN_LINES);
    return !totals || (unknown && orch_search_end_print(chooser->cli, plan, chooser->tried,
                                                        chooser->stops, error));
}

const struct orch_run_part ORCH_SEARCH_RUN_PART = {.begin = begin,
                                                   .limit = see_outlook,
                                                   .choose = give_chooser,
                                                   .ended = end_part,
                                                   .close = close_chooser};
