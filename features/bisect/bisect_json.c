/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/bisect/bisect_json.h"

#include "lib/base/json.h"

static json_t *commit_json(const struct orch_vcs_commit *commit)
{
    return json_pack("{s:s s:s s:s s:I}", "commit", commit->commit, "subject", commit->subject,
                     "author", commit->author, "authored_s", (json_int_t)commit->authored_s);
}

static json_t *side_json(const struct orch_spread *spread, size_t runs)
{
    return json_pack("{s:I s:o s:o s:o s:s?}", "n", (json_int_t)runs, "mean",
                     orch_json_finite(spread->stat.mean), "low", orch_json_finite(spread->low),
                     "high", orch_json_finite(spread->high), "spread",
                     orch_spread_form_name(spread->form));
}

static json_t *row_json(const struct orch_bisect *bisect, size_t index)
{
    const struct orch_bisect_commit *row = &bisect->commits.rows[index];
    json_t *runs = json_array(), *out = commit_json(row->is);
    for (guint k = 0; k < row->values->len; k++) {
        const struct orch_bisect_value *value =
            &g_array_index(row->values, struct orch_bisect_value, k);
        json_array_append_new(runs, json_pack("{s:s s:o s:o s:b s:b}", "run", value->key, "value",
                                              orch_json_finite(value->value), "wall_s",
                                              orch_json_finite(value->wall_s), "disturbed",
                                              value->is_disturbed, "new", value->is_new));
    }
    json_object_set_new(out, "probability",
                        orch_json_finite(bisect->posterior.cases[index].probability));
    json_object_set_new(out, "skipped", row->skipped ? json_string(row->skipped) : json_null());
    json_object_set_new(out, "runs", runs);
    return out;
}

static json_t *culprits_json(const struct orch_bisect *bisect,
                             const struct orch_change_range *range)
{
    json_t *out = json_array();
    for (size_t i = range->first; i <= range->last; i++)
        json_array_append_new(out, json_string(bisect->commits.rows[i].is->commit));
    return out;
}

json_t *orch_bisect_json(const struct orch_bisect *bisect, const struct orch_bisect_answer *answer)
{
    const struct orch_bisect_commits *commits = &bisect->commits;
    bool is_one = answer->range.first == answer->range.last;
    bool is_found =
        bisect->stop == ORCH_BISECT_DECIDED && bisect->turn.verdict == ORCH_CHANGE_FOUND;
    json_t *rows = json_array();
    for (size_t i = 0; i < commits->count; i++)
        json_array_append_new(rows, row_json(bisect, i));
    json_t *out = json_pack(
        "{s:s s:s? s:s s:s s:o s:o s:o s:o s:o s:o}", "metric", bisect->metric.name, "unit",
        bisect->metric.unit, "better", orch_bisect_metric_is_max(&bisect->metric) ? "max" : "min",
        "outcome", orch_bisect_outcome(bisect), "culprit",
        is_found && is_one ? commit_json(commits->rows[answer->range.first].is) : json_null(),
        "range", culprits_json(bisect, &answer->range), "probability",
        orch_json_finite(answer->range.probability), "no_change",
        orch_json_finite(bisect->posterior.none), "before",
        side_json(&answer->before, answer->runs_before), "after",
        side_json(&answer->after, answer->runs_after));
    json_object_set_new(
        out, "change",
        json_pack("{s:s s:o s:o s:o}", "kind", bisect->data.is_ratio ? "relative" : "difference",
                  "value", orch_json_finite(answer->change), "low", orch_json_finite(answer->low),
                  "high", orch_json_finite(answer->high)));
    json_object_set_new(out, "misfit_p", orch_json_finite(answer->misfit_p));
    json_object_set_new(out, "runs", json_integer((json_int_t)answer->runs));
    json_object_set_new(out, "made", json_integer(bisect->made));
    json_object_set_new(out, "failed", json_integer(bisect->failed));
    json_object_set_new(out, "device_s", orch_json_finite(bisect->spent_s));
    json_object_set_new(out, "cost_usd",
                        orch_json_finite(orch_bisect_usd(bisect, bisect->spent_s)));
    json_object_set_new(out, "commits", rows);
    return out;
}
