/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Searches on Slurm: a command chooses the points of as many trials as may be open at once, with
 * those that were submitted and have not ended as pending ones. The next command takes in what has
 * ended and chooses the next ones. Trials that a rule has stopped and that are good after all come
 * before these. */
#include "features/slurm/slurm_private.h"

#include "core/schedule/schedule.h"

/* Open trials of a search without -j. */
#define BATCH 10

static bool is_of(const struct orch_search_point *point, const struct orch_search_point *of)
{
    return point && point->search == of->search && point->group == of->group;
}

/* Trials of the same search whose point is chosen and that have not ended. */
static unsigned count_open(const struct slurm_submitter *s, const struct orch_search_point *of)
{
    unsigned count = 0;
    for (unsigned i = 0; i < s->plan->count; i++) {
        const struct orch_plan_item *item = &s->plan->items[i];
        if (is_of(item->cell->point, of) && item->cell->point->is_chosen &&
            (orch_plan_will_run(item) || item->state == ORCH_PLAN_HELD) &&
            s->fates[i] == SLURM_OPEN)
            count++;
    }
    return count;
}

/* Ends the trials of a point that its search does not try. */
static void leave_out(struct slurm_submitter *s, const struct orch_search_point *point,
                      const char *why)
{
    for (unsigned i = 0; i < s->plan->count; i++)
        if (s->plan->items[i].cell->point == point) {
            orch_plan_set_unneeded(&s->plan->items[i], why);
            s->out->unneeded++;
        }
}

static void forget_forecasts(const struct slurm_submitter *s, const struct orch_search_point *point)
{
    const struct orch_forecaster *forecaster = s->options->forecaster;
    for (unsigned i = 0; forecaster && forecaster->changed && i < s->plan->count; i++)
        if (s->plan->items[i].cell->point == point)
            forecaster->changed(forecaster->ctx, &s->plan->items[i]);
}

/* Trials that may be open at once. */
static unsigned most_open(const struct slurm_submitter *s)
{
    return s->options->at_once ? s->options->at_once : BATCH;
}

static unsigned count_all_open(const struct slurm_submitter *s)
{
    unsigned count = 0;
    for (guint i = 0; i < s->plan->expansion->points->len; i++) {
        const struct orch_search_point *point = s->plan->expansion->points->pdata[i];
        count += point->number == 1 ? count_open(s, point) : 0;
    }
    return count;
}

bool orch_slurm_promote(struct slurm_submitter *s, GError **error)
{
    const struct orch_chooser *chooser = s->options->chooser;
    while (chooser && chooser->promote && count_all_open(s) < most_open(s)) {
        g_autofree char *why = NULL;
        unsigned index;
        if (!chooser->promote(chooser->ctx, s->plan, &index, &why, error))
            return false;
        if (!why)
            return true;
        orch_plan_let_go_on(&s->plan->items[index], why);
        s->out->promoted++;
    }
    return true;
}

bool orch_slurm_choose(struct slurm_submitter *s, unsigned index, bool *out_is_chosen,
                       GError **error)
{
    const struct orch_search_point *point = s->plan->items[index].cell->point;
    const struct orch_chooser *chooser = s->options->chooser;
    enum orch_search_turn turn;
    g_autofree char *why = NULL;
    *out_is_chosen = false;
    if (!chooser || count_open(s, point) >= most_open(s))
        return true;
    if (!chooser->ask(chooser->ctx, s->plan, index, &turn, &why, error))
        return false;
    if (turn == ORCH_SEARCH_GOES_ON) {
        *out_is_chosen = chooser->choose(chooser->ctx, s->plan, index, &why, error);
        if (*out_is_chosen)
            forget_forecasts(s, point);
        else if (!why)
            return false;
    }
    if (why)
        leave_out(s, point, why);
    return true;
}
