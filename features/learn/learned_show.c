/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/learn/learned_show.h"

#include "core/cli/cli.h"
#include "lib/base/json.h"
#include "predictors/features/feature_names.h"

#include <math.h>

/* Describes a question: "similar rows", "unseen gpu", "more gpus than measured". */
static char *question_text(const struct orch_learned *learned, int k)
{
    const char *column = orch_learned_question(learned, k).column;
    if (column && orch_learned_question(learned, k).has_one_group)
        return g_strdup_printf("unseen %s (not tested: the error is that of other rows)", column);
    if (column && orch_feature_is_gpu_count(column))
        return g_strdup_printf("more %s than measured", column);
    return column ? g_strdup_printf("unseen %s", column) : g_strdup("similar rows");
}

void orch_cli_learned_print(const struct orch_learned *learned, guint most)
{
    for (int k = 0; k < orch_learned_scenarios(learned); k++) {
        const GArray *trials = orch_learned_question(learned, k).candidates;
        g_autofree char *what = question_text(learned, k);
        g_autofree char *mixture = orch_learned_text(learned, k);
        orch_cli_print(
            "%s: %s, %.2f %% mean relative error in 5-fold cross-validation, %.2f %% median%s",
            what, mixture, 100 * orch_learned_question(learned, k).error,
            100 * orch_learned_question(learned, k).median,
            orch_learned_question(learned, k).is_baseline
                ? " (no model is better than this baseline)"
                : "");
        for (guint i = 0; i < trials->len && i < most; i++) {
            const struct orch_model_candidate *t =
                &g_array_index(trials, struct orch_model_candidate, i);
            g_autofree char *hyperparams =
                t->kind ? orch_hyperparams_text(t->kind, &t->hyperparams) : g_strdup("");
            g_autofree char *alone =
                isfinite(t->mean_relative_error)
                    ? g_strdup_printf("alone %.2f %%", 100 * t->mean_relative_error)
                    : g_strdup("cannot be fitted to these rows");
            orch_cli_print("  %.2f %s %s%s%s, %s", t->weight, orch_learn_box_name(t->box),
                           orch_model_candidate_name(t), *hyperparams ? ": " : "", hyperparams,
                           alone);
        }
        if (trials->len > most)
            printf("  and %u more (--verbose lists them)\n", trials->len - most);
    }
}

json_t *orch_cli_learned_json(const struct orch_learned *learned)
{
    json_t *out = json_array();
    for (int k = 0; k < orch_learned_scenarios(learned); k++) {
        g_autofree char *what = question_text(learned, k);
        g_autofree char *mixture = orch_learned_text(learned, k);
        json_t *q = json_pack("{s:s, s:s, s:b}", "question", what, "mixture", mixture,
                              "is_baseline", orch_learned_question(learned, k).is_baseline);
        json_object_set_new(q, "mean_relative_error",
                            orch_json_finite(orch_learned_question(learned, k).error));
        json_object_set_new(q, "median_relative_error",
                            orch_json_finite(orch_learned_question(learned, k).median));
        json_t *list = json_array();
        const GArray *trials = orch_learned_question(learned, k).candidates;
        for (guint i = 0; i < trials->len; i++) {
            const struct orch_model_candidate *t =
                &g_array_index(trials, struct orch_model_candidate, i);
            g_autofree char *hyperparams =
                t->kind ? orch_hyperparams_text(t->kind, &t->hyperparams) : g_strdup("");
            json_t *one = json_pack("{s:s, s:s, s:s, s:o}", "model", orch_model_candidate_name(t),
                                    "box", orch_learn_box_name(t->box), "knobs", hyperparams,
                                    "weight", orch_json_finite(t->weight));
            if (isfinite(t->mean_relative_error))
                json_object_set_new(one, "mean_relative_error",
                                    orch_json_finite(t->mean_relative_error));
            json_array_append_new(list, one);
        }
        json_object_set_new(q, "trials", list);
        json_array_append_new(out, q);
    }
    return out;
}

char **orch_cli_predictor_split_list(const char **given)
{
    GPtrArray *all = g_ptr_array_new();
    for (int i = 0; given && given[i]; i++) {
        g_auto(GStrv) words = g_strsplit(given[i], ",", -1);
        for (int k = 0; words[k]; k++)
            g_ptr_array_add(all, g_strdup(g_strstrip(words[k])));
    }
    g_ptr_array_add(all, NULL);
    return (char **)g_ptr_array_free(all, FALSE);
}
