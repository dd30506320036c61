/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/bisect/bisect_answer.h"

#include <math.h>

const char *orch_bisect_outcome(const struct orch_bisect *bisect)
{
    static const char *const STOPS[] = {[ORCH_BISECT_BUDGET] = "budget",
                                        [ORCH_BISECT_INTERRUPTED] = "interrupted",
                                        [ORCH_BISECT_TERMINATED] = "interrupted"};
    if (bisect->stop != ORCH_BISECT_DECIDED)
        return STOPS[bisect->stop];
    switch (bisect->turn.verdict) {
    case ORCH_CHANGE_FOUND:
        return bisect->turn.range.first == bisect->turn.range.last ? "found" : "range";
    case ORCH_CHANGE_NONE:
        return "no difference";
    case ORCH_CHANGE_UNKNOWN:
        return "not told apart";
    case ORCH_CHANGE_ENDS:
    case ORCH_CHANGE_ASK:
    case ORCH_CHANGE_OPEN:
        break;
    }
    return "open";
}

static struct orch_change_range range_of(const struct orch_bisect *bisect)
{
    const struct orch_change_range all = {1, bisect->commits.count - 1, 1 - bisect->posterior.none};
    switch (bisect->turn.verdict) {
    case ORCH_CHANGE_FOUND:
        return bisect->turn.range;
    case ORCH_CHANGE_ASK:
    case ORCH_CHANGE_OPEN:
        return orch_change_credible(&bisect->posterior, bisect->request.sure);
    case ORCH_CHANGE_ENDS:
    case ORCH_CHANGE_NONE:
    case ORCH_CHANGE_UNKNOWN:
        break;
    }
    return all;
}

static void set_change(const struct orch_bisect *bisect, struct orch_bisect_answer *out)
{
    const struct orch_bisect_data *data = &bisect->data;
    const double *all = data->badness;
    size_t end = data->first[bisect->commits.count];
    struct orch_difference d =
        orch_difference_welch(all, out->runs_before, all + end - out->runs_after, out->runs_after);
    double sign = orch_bisect_metric_is_max(&bisect->metric) ? -1 : 1;
    double values[] = {sign * d.mean.mid, sign * (sign > 0 ? d.mean.low : d.mean.high),
                       sign * (sign > 0 ? d.mean.high : d.mean.low)};
    for (int i = 0; data->is_ratio && i < 3; i++)
        values[i] = expm1(values[i]);
    out->change = values[0];
    out->low = values[1];
    out->high = values[2];
}

static void count_commits(const struct orch_bisect *bisect, struct orch_bisect_answer *out)
{
    for (size_t i = 0; i < bisect->commits.count; i++) {
        const struct orch_bisect_commit *row = &bisect->commits.rows[i];
        out->commits_measured += row->values->len > 0;
        out->skipped += row->skipped != NULL;
        for (guint k = 0; k < row->values->len; k++) {
            out->runs++;
            out->reused += !g_array_index(row->values, struct orch_bisect_value, k).is_new;
        }
    }
}

struct orch_bisect_answer orch_bisect_answer_of(const struct orch_bisect *bisect)
{
    const struct orch_bisect_data *data = &bisect->data;
    size_t count = bisect->commits.count;
    struct orch_bisect_answer out = {.range = range_of(bisect),
                                     .shown_after = count - 1,
                                     .change = NAN,
                                     .low = NAN,
                                     .high = NAN};
    for (size_t i = 0; i < out.range.first; i++)
        out.shown_before = data->places[i].count ? i : out.shown_before;
    for (size_t i = count; i-- > out.range.last;)
        out.shown_after = data->places[i].count ? i : out.shown_after;
    out.runs_before = data->first[out.range.first];
    out.runs_after = data->first[count] - data->first[out.range.last];
    out.before =
        orch_spread_of(data->values, out.runs_before, bisect->metric.name, bisect->metric.unit);
    out.after = orch_spread_of(data->values + data->first[out.range.last], out.runs_after,
                               bisect->metric.name, bisect->metric.unit);
    if (out.runs_before && out.runs_after)
        set_change(bisect, &out);
    out.misfit_p = orch_change_misfit(&data->change, &out.range);
    count_commits(bisect, &out);
    return out;
}
