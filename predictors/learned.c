/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a learned predictor is made of. */
#include "predictors/scenario.h"

int orch_learned_scenarios(const struct orch_learned *l)
{
    return l->count;
}

const char *orch_learned_column(const struct orch_learned *l, int question)
{
    return l->scenarios[question]->column;
}

const GArray *orch_learned_candidates(const struct orch_learned *l, int question)
{
    return l->scenarios[question]->candidates;
}

bool orch_learned_has_one_group(const struct orch_learned *l, int question)
{
    return l->scenarios[question]->has_one_group;
}

double orch_learned_error(const struct orch_learned *l, int question)
{
    return l->scenarios[question]->error;
}

double orch_learned_median(const struct orch_learned *l, int question)
{
    return l->scenarios[question]->median;
}

bool orch_learned_is_baseline(const struct orch_learned *l, int question)
{
    return l->scenarios[question]->is_baseline;
}

const char *orch_learn_box_name(enum orch_learn_box box)
{
    static const char *const names[] = {"black", "grey",    "bare grey", "specs",  "stripped",
                                        "plain", "kernels", "rates",     "matched"};
    return names[box];
}

const char *orch_model_candidate_name(const struct orch_model_candidate *t)
{
    if (t->kind)
        return t->kind->name;
    return t->box == ORCH_BOX_MATCHED ? "rows" : "analytical model";
}

char *orch_learned_text(const struct orch_learned *l, int question)
{
    GString *text = g_string_new(NULL);
    const GArray *candidates = l->scenarios[question]->candidates;
    for (guint i = 0; i < candidates->len && i < ORCH_MEMBERS_MAX - 1; i++) {
        const struct orch_model_candidate *t =
            &g_array_index(candidates, struct orch_model_candidate, i);
        if (t->weight > 0)
            g_string_append_printf(text, "%s%.2f %s %s", text->len ? " + " : "", t->weight,
                                   orch_learn_box_name(t->box), orch_model_candidate_name(t));
    }
    return g_string_free(text, FALSE);
}
