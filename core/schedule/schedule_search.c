/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trials of searches: each gets its values when it has a slot, so that the search knows all results
 * until then, and none starts that its search does not need any more. */
#include "core/schedule/schedule_private.h"

/* Whether no earlier repeat of the same point is still to start: the first one chooses the point,
 * so that a search has chosen all its points before it repeats any. Repeats of a point are
 * neighbours in the plan. An earlier repeat that was given up, or is no part of this run, is not
 * waited for. */
static bool is_first_left(const struct run *run, const struct job *job)
{
    const struct orch_plan_item *items = run->plan->items;
    for (unsigned i = job->index; i > 0 && items[i - 1].cell->point == items[i].cell->point; i--)
        if (!orch_schedule_is_over(&run->jobs[i - 1]))
            return false;
    return true;
}

/* Whether a limit prevents a trial of the same search whose values are chosen. Its values are the
 * search's choice, so that no others are chosen before it has started. */
static bool has_refused(const struct run *run, const struct orch_search_point *point)
{
    for (unsigned i = 0; run->options->limits && i < run->plan->count; i++) {
        const struct orch_search_point *other = run->plan->items[i].cell->point;
        if (other && other->search == point->search && other->group == point->group &&
            run->jobs[i].status == JOB_TODO && run->jobs[i].is_refused)
            return true;
    }
    return false;
}

void orch_schedule_leave_out(struct run *run, struct job *job, const char *why)
{
    orch_plan_set_unneeded(&run->plan->items[job->index], why);
    orch_schedule_set_job(job, JOB_ENDED);
    orch_schedule_end_pruned(run, job);
    run->totals.unneeded++;
    run->moved = true;
    const struct orch_chooser *chooser = run->options->chooser;
    if (chooser && chooser->left_out)
        chooser->left_out(chooser->ctx, job->index);
}

/* Ends the trials of a point that a search does not need any more, apart from those that run. */
static void leave_out(struct run *run, const struct job *job, const char *why)
{
    const struct orch_search_point *point = run->plan->items[job->index].cell->point;
    for (unsigned i = 0; i < run->plan->count; i++)
        if (run->plan->items[i].cell->point == point &&
            (run->jobs[i].status == JOB_TODO || run->jobs[i].status == JOB_HELD))
            orch_schedule_leave_out(run, &run->jobs[i], why);
}

/* Whether the trial is of a search, or of an experiment that repeats as often as it must. */
static bool is_chosen_later(const struct orch_cell *cell)
{
    return cell->point || cell->experiment->repeats;
}

/* Decides about a trial of a search. */
static bool may_try_point(struct run *run, struct job *job, bool *out_may, GError **error)
{
    const struct orch_chooser *chooser = run->options->chooser;
    const struct orch_cell *cell = run->plan->items[job->index].cell;
    g_autofree char *why = NULL;
    enum orch_search_turn turn = ORCH_SEARCH_IS_OVER;
    bool is_open = orch_cell_is_open(cell);
    *out_may = !chooser && !is_open;
    if (*out_may || (is_open && !is_first_left(run, job)))
        return true;
    if (is_open && has_refused(run, cell->point)) {
        run->refused++;
        return true;
    }
    if (!chooser)
        why = g_strdup("'orch run' and 'orch try' choose the values of a search");
    else if (!chooser->ask(chooser->ctx, run->plan, job->index, &turn, &why, error))
        return false;
    if (turn == ORCH_SEARCH_IS_OVER)
        leave_out(run, job, why);
    *out_may = turn == ORCH_SEARCH_GOES_ON;
    return true;
}

/* Decides whether a setting needs this repeat. */
static bool may_repeat(struct run *run, struct job *job, bool *out_may, GError **error)
{
    const struct orch_chooser *chooser = run->options->chooser;
    const struct orch_plan_item *item = &run->plan->items[job->index];
    g_autofree char *why = NULL;
    enum orch_search_turn turn;
    if (!chooser || !chooser->repeat || !item->cell->experiment->repeats ||
        orch_cell_is_open(item->cell))
        return true;
    if (!chooser->repeat(chooser->ctx, run->plan, job->index, &turn, &why, error))
        return false;
    *out_may = turn == ORCH_SEARCH_GOES_ON;
    if (turn == ORCH_SEARCH_IS_OVER)
        orch_schedule_leave_out(run, job, why);
    return true;
}

bool orch_schedule_may_try(struct run *run, struct job *job, bool *out_may, GError **error)
{
    const struct orch_cell *cell = run->plan->items[job->index].cell;
    *out_may = true;
    if (cell->point && !may_try_point(run, job, out_may, error))
        return false;
    return !*out_may || may_repeat(run, job, out_may, error);
}

/* The forecasts of the trials of a point were those of other values. */
static void forget_forecasts(struct run *run, const struct orch_search_point *point)
{
    const struct orch_forecaster *forecaster = run->options->forecaster;
    for (unsigned i = 0; forecaster && forecaster->changed && i < run->plan->count; i++)
        if (run->plan->items[i].cell->point == point)
            forecaster->changed(forecaster->ctx, &run->plan->items[i]);
}

/* Lets the points of others take the place of those that would have to be chosen. */
static void take_points_of_others(struct run *run)
{
    const struct orch_sharing *sharing = run->options->sharing;
    if (!sharing || !sharing->take_points(sharing->ctx))
        return;
    for (unsigned i = 0; i < run->plan->count; i++) {
        const struct orch_search_point *point = run->plan->items[i].cell->point;
        if (point && point->is_chosen && run->jobs[i].status == JOB_TODO)
            forget_forecasts(run, point);
    }
}

bool orch_schedule_choose(struct run *run, struct job *job, GError **error)
{
    const struct orch_chooser *chooser = run->options->chooser;
    g_autofree char *why = NULL;
    take_points_of_others(run);
    if (!orch_cell_is_open(run->plan->items[job->index].cell))
        return true;
    if (chooser->choose(chooser->ctx, run->plan, job->index, &why, error))
        forget_forecasts(run, run->plan->items[job->index].cell->point);
    else if (why)
        leave_out(run, job, why);
    else
        return false;
    return true;
}

void orch_schedule_note_search(struct run *run, const struct job *job,
                               const struct orch_collected *collected)
{
    const struct orch_chooser *chooser = run->options->chooser;
    if (chooser && is_chosen_later(run->plan->items[job->index].cell))
        chooser->ended(chooser->ctx, run->plan, job->index, collected);
}

void orch_schedule_note_start(struct run *run, const struct job *job)
{
    const struct orch_chooser *chooser = run->options->chooser;
    if (chooser && chooser->started && is_chosen_later(run->plan->items[job->index].cell))
        chooser->started(chooser->ctx, run->plan, job->index);
}
