/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/learn/learn.h"

#include "lib/base/error.h"
#include "lib/base/random.h"
#include "lib/base/reals.h"
#include "predictors/learn/scenario.h"

#include <math.h>
#include <string.h>

#define ROWS_MIN 10
#define TUNING_ROWS 3000 /* sample size for the model search */
#define HOLD_PART 5      /* with more rows, one in HOLD_PART is held out to weight the models */
#define UNKNOWN_WEIGHT 0.05
/* Prior weight of a candidate that knows beforehand how times differ between GPUs; others have 1.
 */
#define GPU_LAW_PRIOR 4
#define MATCHED_SHARE 0.9 /* of rows of the same network or task, when one GPU was measured */

/* ---- learning one question ---------------------------------------------------------------------
 */

static double *logs_of(const struct orch_rows *rows)
{
    double *out = g_new(double, rows->rows + 1);
    for (size_t i = 0; i < rows->rows; i++)
        out[i] = log(rows->target[i]);
    return out;
}

/* Row weights that give each group the same total; NULL without groups. */
static double *weights_of(char *const *groups, size_t rows)
{
    if (!groups)
        return NULL;
    g_autoptr(GHashTable) counts = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; i < rows; i++) {
        size_t n = GPOINTER_TO_SIZE(g_hash_table_lookup(counts, groups[i])) + 1;
        g_hash_table_insert(counts, groups[i], GSIZE_TO_POINTER(n));
    }
    double *out = g_new(double, rows + 1);
    double share = (double)rows / (double)MAX(g_hash_table_size(counts), 1);
    for (size_t i = 0; i < rows; i++)
        out[i] = share / (double)GPOINTER_TO_SIZE(g_hash_table_lookup(counts, groups[i]));
    return out;
}

/* Reduces the weight of GPUs without specifications: errors on them do not rank the models. */
static void weigh_unknown(const struct orch_scenario *q, const struct orch_rows *rows,
                          double *row_weights)
{
    int column = orch_matrix_find(rows->matrix, "gpu bandwidth_gbs");
    bool of_gpu = strcmp(q->column, "gpu") == 0 || strcmp(q->column, "group") == 0;
    for (size_t i = 0; of_gpu && column >= 0 && i < rows->rows; i++)
        if (isnan(orch_matrix_column(rows->matrix, column)[i]))
            row_weights[i] *= UNKNOWN_WEIGHT;
}

static struct orch_model_candidate *candidate_at(const GArray *candidates, size_t i)
{
    return &g_array_index(candidates, struct orch_model_candidate, i);
}

/* Data for working on one question. */
struct work {
    struct orch_rows *rows; /* a sample, without hidden features */
    int *folds;
    double *logs, *row_weights;
    double **predictions; /* held-out log predictions of each candidate */
};

/* True if whole groups are held out, false if single rows. */
static bool holds_out_groups(const struct orch_scenario *q)
{
    return q->column && !q->has_one_group;
}

static bool has_box(const struct orch_scenario *q, enum orch_learn_box box)
{
    bool any = false;
    for (guint t = 0; t < q->candidates->len; t++)
        any |= candidate_at(q->candidates, t)->box == box;
    return any;
}

/* True if another GPU is asked than the one that was measured, and candidates know how times change
 * from GPU to GPU. Held-out rows of the one GPU do not show how well any candidate does that. */
static bool carries_over(const struct orch_scenario *q)
{
    return q->has_one_group && has_box(q, ORCH_BOX_RATES);
}

/* Sets the weight of rows to 0 whose network or task has no row in another fold. When they are held
 * out, no row of the same network or task is left to predict them from. */
static void drop_lone(const struct orch_scenario *q, struct work *w)
{
    if (!carries_over(q) || !has_box(q, ORCH_BOX_MATCHED))
        return;
    g_autofree double *kept = g_new(double, w->rows->rows + 1);
    double sum = 0;
    for (size_t i = 0; i < w->rows->rows; i++)
        kept[i] = w->row_weights ? w->row_weights[i] : 1;
    orch_matched_drop_lone(w->rows->matrix, w->folds, kept);
    for (size_t i = 0; i < w->rows->rows; i++)
        sum += kept[i];
    if (!(sum > 0))
        return;
    g_free(w->row_weights);
    w->row_weights = g_steal_pointer(&kept);
}

/* Gives most of the weight to the candidate that predicts from rows of the same network or task,
 * where nothing else is known of the work. */
static void weigh_matched(const struct orch_scenario *q, double *weights)
{
    size_t count = q->candidates->len;
    for (size_t t = 0; has_box(q, ORCH_BOX_MATCHED) && t < count; t++) {
        bool is_matched = candidate_at(q->candidates, t)->box == ORCH_BOX_MATCHED;
        weights[t] = is_matched ? MATCHED_SHARE : weights[t] * (1 - MATCHED_SHARE);
    }
}

/* Weighs these candidates alone. */
static void weigh_carried(const struct orch_scenario *q, const struct work *w, double *weights)
{
    size_t count = q->candidates->len, used = 0;
    g_autofree double **predictions = g_new0(double *, count + 1);
    g_autofree double *own = g_new0(double, count + 1);
    for (size_t t = 0; t < count; t++) {
        weights[t] = 0;
        if (candidate_at(q->candidates, t)->box == ORCH_BOX_RATES)
            predictions[used++] = w->predictions[t];
    }
    orch_stacking_fit(predictions, NULL, used, w->logs, w->row_weights, w->rows->rows, w->folds, 0,
                      own);
    used = 0;
    for (size_t t = 0; t < count; t++)
        if (candidate_at(q->candidates, t)->box == ORCH_BOX_RATES)
            weights[t] = own[used++];
    weigh_matched(q, weights);
}

/* True if the candidate's law of how times differ between GPUs was set beforehand, not learned. */
static bool has_gpu_law(const struct orch_model_candidate *candidate)
{
    return candidate->box == ORCH_BOX_KERNELS || candidate->box == ORCH_BOX_MATCHED;
}

/* Computes the weights: stacking if `mixes`, else 1 for the best candidate. */
static void set_weights(struct orch_scenario *q, const struct work *w, bool mixes)
{
    size_t count = q->candidates->len;
    g_autofree double *weights = g_new0(double, count + 1);
    size_t best = 0;
    for (size_t t = 0; t < count; t++) {
        struct orch_model_candidate *candidate = candidate_at(q->candidates, t);
        candidate->mean_relative_error =
            orch_mean_relative_error(w->predictions[t], w->logs, w->row_weights, w->rows->rows);
        if (candidate->mean_relative_error < candidate_at(q->candidates, best)->mean_relative_error)
            best = t;
    }
    weights[best] = 1;
    g_autofree double *prior = g_new(double, count + 1);
    for (size_t t = 0; t < count; t++)
        prior[t] = has_gpu_law(candidate_at(q->candidates, t)) ? GPU_LAW_PRIOR : 1;
    if (mixes && carries_over(q))
        weigh_carried(q, w, weights);
    else if (mixes)
        orch_stacking_fit(w->predictions, prior, count, w->logs, w->row_weights, w->rows->rows,
                          w->folds, holds_out_groups(q) ? q->group_count : 0, weights);
    for (size_t t = 0; t < count; t++)
        candidate_at(q->candidates, t)->weight = weights[t];
}

/* Gives all weight to a baseline if it beats the ensemble by more than chance. With n held-out
 * groups (or rows) the error's relative uncertainty is about 1/sqrt(n); half of it is the
 * margin. */
static void compare_with_baselines(struct orch_scenario *q, const struct work *w)
{
    size_t count = q->candidates->len, rows = w->rows->rows;
    g_autofree double *weights = g_new(double, count + 1), *mixed = g_new(double, rows + 1);
    for (size_t t = 0; t < count; t++)
        weights[t] = candidate_at(q->candidates, t)->weight;
    orch_stacking_predict(w->predictions, weights, count, rows, q->column, mixed, NULL);
    q->error = orch_mean_relative_error(mixed, w->logs, w->row_weights, rows);
    const int *folds = holds_out_groups(q) ? w->folds : NULL;
    double chances = (double)(q->column ? MIN(MAX(q->group_count, 1), rows) : rows);
    double limit = orch_error_by_folds(mixed, w->logs, w->row_weights, folds, rows) *
                   (1 - 0.5 / sqrt(MAX(chances, 1)));
    for (size_t t = 0; t < count; t++) {
        struct orch_model_candidate *candidate = candidate_at(q->candidates, t);
        double error = orch_error_by_folds(w->predictions[t], w->logs, w->row_weights, folds, rows);
        if (!candidate->is_baseline || !(error < limit) || carries_over(q))
            continue;
        limit = error;
        for (size_t k = 0; k < count; k++)
            candidate_at(q->candidates, k)->weight = 0;
        candidate->weight = 1;
        q->error = candidate->mean_relative_error;
    }
    q->is_baseline = true;
    for (size_t t = 0; t < count; t++)
        q->is_baseline &= candidate_at(q->candidates, t)->is_baseline ||
                          !(candidate_at(q->candidates, t)->weight > 0);
}

static gint by_weight(gconstpointer a, gconstpointer b)
{
    const struct orch_model_candidate *x = a, *y = b;
    if (x->weight < y->weight || x->weight > y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->mean_relative_error < y->mean_relative_error
               ? -1
               : x->mean_relative_error > y->mean_relative_error;
}

/* Sorts the candidates by weight, and their predictions along with them. */
static void sort_candidates(struct orch_scenario *q, struct work *w)
{
    GArray *sorted = g_array_copy(q->candidates);
    g_array_sort(sorted, by_weight);
    double **predictions = g_new0(double *, q->candidates->len + 1);
    g_autofree bool *taken = g_new0(bool, q->candidates->len + 1);
    for (guint i = 0; i < sorted->len; i++) {
        for (guint k = 0; k < q->candidates->len; k++) {
            if (taken[k] || memcmp(candidate_at(sorted, i), candidate_at(q->candidates, k),
                                   sizeof(struct orch_model_candidate)) != 0)
                continue;
            predictions[i] = w->predictions[k];
            taken[k] = true;
            break;
        }
    }
    g_free(w->predictions);
    w->predictions = predictions;
    g_array_unref(q->candidates);
    q->candidates = sorted;
}

static struct orch_rows *sample_of(const struct orch_rows *rows, size_t most)
{
    g_autofree size_t *which = g_new(size_t, rows->rows + 1);
    size_t count = 0;
    uint64_t random = 1;
    for (size_t i = 0; i < rows->rows; i++) {
        double wanted = (double)(MIN(most, rows->rows) - count);
        if (rows->rows <= most || orch_random_unit(&random) * (double)(rows->rows - i) < wanted)
            which[count++] = i;
    }
    return orch_rows_pick(rows, which, count);
}

static void cross_validate(struct orch_scenario *q, struct work *w,
                           const struct orch_learn_options *o)
{
    w->predictions = orch_predictions_new(q->candidates->len, w->rows->rows);
    orch_candidates_cross_validate(q, w->rows, w->folds, o, w->predictions);
}

static void release_work(struct work *w)
{
    orch_rows_free(w->rows);
    g_free(w->folds);
    g_free(w->logs);
    g_free(w->row_weights);
    if (w->predictions)
        orch_predictions_free(w->predictions);
}

/* Draws a sample and prepares its folds, weights and logs. */
static struct work work_new(const struct orch_scenario *q, const struct orch_rows *rows,
                            size_t most, uint64_t seed)
{
    struct work w = {.rows = sample_of(rows, most)};
    g_autofree char **groups = orch_scenario_groups(q, w.rows);
    w.folds = orch_folds_new(groups, w.rows->rows, seed);
    w.row_weights = weights_of(groups, w.rows->rows);
    if (w.row_weights && q->column)
        weigh_unknown(q, w.rows, w.row_weights);
    w.logs = logs_of(w.rows);
    struct orch_rows *view = orch_scenario_rows(q, w.rows);
    orch_matrix_free(w.rows->matrix);
    w.rows->matrix = view->matrix;
    g_free(view);
    return w;
}

static void note_median(struct orch_scenario *q, const double *predictions, const double *logs,
                        size_t rows)
{
    g_autofree double *errors = g_new(double, rows + 1);
    q->heldout_rows = 0;
    for (size_t i = 0; i < rows; i++)
        if (isfinite(predictions[i]))
            errors[q->heldout_rows++] = fabs(exp(CLAMP(predictions[i] - logs[i], -20, 20)) - 1);
    q->median = orch_reals_median(errors, q->heldout_rows);
}

static bool fit_interval(struct orch_scenario *q, const struct work *w, uint64_t seed,
                         GError **error)
{
    size_t rows = w->rows->rows, count = q->candidates->len;
    g_autofree double *weights = g_new(double, count + 1), *mixed = g_new(double, rows + 1);
    g_autofree double *spread = g_new(double, rows + 1);
    for (size_t t = 0; t < count; t++)
        weights[t] = candidate_at(q->candidates, t)->weight;
    orch_stacking_predict(w->predictions, weights, count, rows, q->column, mixed, spread);
    note_median(q, mixed, w->logs, rows);
    orch_conformal_release(&q->interval);
    return orch_conformal_fit(&q->interval, w->rows, mixed, spread, w->folds, w->row_weights,
                              q->column ? MAX(q->group_count, 1) : 0, seed, error);
}

/* True for a candidate that can answer rows which those with weight cannot: without a roofline, or
 * on a device without a specification. */
static bool answers_others(const struct orch_scenario *q, const struct orch_model_candidate *t)
{
    return carries_over(q) ? t->box == ORCH_BOX_SPECS && !t->kind : t->box == ORCH_BOX_BLACK;
}

/* The candidates with weight, plus a fallback. */
static void choose_members(struct orch_scenario *q)
{
    bool black = false;
    q->member_count = 0;
    for (guint t = 0; t < q->candidates->len && q->member_count < ORCH_MEMBERS_MAX - 1; t++) {
        if (!(candidate_at(q->candidates, t)->weight > 0))
            break;
        q->members[q->member_count++] =
            (struct orch_member){.candidate = *candidate_at(q->candidates, t)};
        enum orch_learn_box box = candidate_at(q->candidates, t)->box;
        black |= box == ORCH_BOX_BLACK || box == ORCH_BOX_PLAIN;
    }
    for (guint t = 0; t < q->candidates->len && !black; t++) {
        if (!answers_others(q, candidate_at(q->candidates, t)))
            continue;
        q->members[q->member_count++] =
            (struct orch_member){.candidate = *candidate_at(q->candidates, t)};
        black = true;
    }
}

/* One thread per member, as their fits take similar time. */
static bool fit_members(struct orch_scenario *q, const struct orch_rows *rows,
                        const struct orch_learn_options *o, GError **error)
{
    struct orch_rows *view = orch_scenario_rows(q, rows);
    GError *errors[ORCH_MEMBERS_MAX] = {NULL};
    bool ok = true;
    choose_members(q);
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < q->member_count; i++) {
        struct orch_learn_step step = {
            .rows = rows->rows, .number = i + 1, .count = q->member_count};
        orch_learn_report_step(o, q, &q->members[i].candidate, step);
        orch_member_fit(&q->members[i], q, view, o->seed, &errors[i]);
    }
    for (int i = 0; i < q->member_count; i++) {
        if (errors[i] && ok)
            g_propagate_error(error, errors[i]);
        else
            g_clear_error(&errors[i]);
        ok &= q->members[i].model || !q->members[i].candidate.kind;
    }
    orch_scenario_rows_free(view);
    return ok;
}

/* With many rows, the candidates chosen on a sample are weighted and calibrated again: fitted on
 * four fifths of all rows, evaluated on the rest. */
static bool weigh_on_all(struct orch_scenario *q, const struct orch_rows *rows,
                         const struct orch_learn_options *o, bool mixes, GError **error)
{
    size_t n = rows->rows, in = 0, held_out = 0;
    g_autofree size_t *seen = g_new(size_t, n + 1), *left = g_new(size_t, n + 1);
    uint64_t random = orch_random_stream(o->seed, 17);
    for (size_t i = 0; i < n; i++) {
        if (orch_random_below(&random, HOLD_PART) == 0)
            left[held_out++] = i;
        else
            seen[in++] = i;
    }
    struct orch_rows *train = orch_rows_pick(rows, seen, in),
                     *test = orch_rows_pick(rows, left, held_out);
    bool ok = fit_members(q, train, o, error);
    struct work w = work_new(q, test, held_out, o->seed);
    g_array_set_size(q->candidates, 0);
    w.predictions = orch_predictions_new((size_t)q->member_count, held_out);
    for (int i = 0; ok && i < q->member_count; i++) {
        g_array_append_val(q->candidates, q->members[i].candidate);
        orch_member_predict(&q->members[i], w.rows, w.predictions[i]);
    }
    for (int i = 0; i < q->member_count; i++)
        orch_member_release(&q->members[i]);
    if (ok) {
        set_weights(q, &w, mixes);
        compare_with_baselines(q, &w);
        sort_candidates(q, &w);
        ok = fit_interval(q, &w, o->seed, error);
    }
    release_work(&w);
    orch_rows_free(train);
    orch_rows_free(test);
    return ok;
}

static bool fit_scenario(struct orch_scenario *q, const struct orch_rows *rows,
                         const struct orch_learn_options *o, GError **error)
{
    bool mixes = strcmp(o->model, "auto") == 0 || strcmp(o->model, "grey") == 0;
    bool many = rows->rows > TUNING_ROWS && !q->column;
    struct work w = work_new(q, rows, TUNING_ROWS, o->seed);
    GArray *candidates = orch_candidates_list(q, w.rows, o, error);
    bool ok = candidates != NULL;
    if (ok) {
        g_array_unref(q->candidates);
        q->candidates = candidates;
        drop_lone(q, &w);
        cross_validate(q, &w, o);
        set_weights(q, &w, mixes);
        if (mixes)
            compare_with_baselines(q, &w);
        else
            q->error = candidate_at(q->candidates, 0)->mean_relative_error;
        sort_candidates(q, &w);
        q->error = mixes ? q->error : candidate_at(q->candidates, 0)->mean_relative_error;
    }
    if (ok && many) {
        GArray *kept = g_array_copy(q->candidates);
        ok = weigh_on_all(q, rows, o, mixes, error);
        for (guint t = 0; t < kept->len; t++) /* keeps the rejected candidates for display */
            if (!(candidate_at(kept, t)->weight > 0))
                g_array_append_val(q->candidates, *candidate_at(kept, t));
        g_array_unref(kept);
    } else if (ok) {
        ok = fit_interval(q, &w, o->seed, error);
    }
    release_work(&w);
    return ok && fit_members(q, rows, o, error);
}

/* ---- all ---------------------------------------------------------------------------------------
 */

struct orch_learned *orch_learn(const struct orch_rows *rows, const struct orch_learn_options *o,
                                GError **error)
{
    if (rows->rows < ROWS_MIN) {
        orch_error_set(error, ORCH_ERROR_USAGE, "add more measurements",
                       "%zu rows are too few to train on: %d are needed", rows->rows, ROWS_MIN);
        return NULL;
    }
    struct orch_learned *l = g_new0(struct orch_learned, 1);
    bool ok = true;
    orch_scenarios_list(l, rows, o);
    for (int i = 0; i < l->count && ok; i++)
        ok = fit_scenario(l->scenarios[i], rows, o, error);
    if (ok) {
        l->nearness = orch_nearness_fit(rows->matrix, o->seed);
        return l;
    }
    orch_learned_free(l);
    return NULL;
}

void orch_learned_free(struct orch_learned *l)
{
    if (!l)
        return;
    for (int i = 0; i < l->count; i++)
        orch_scenario_free(l->scenarios[i]);
    orch_nearness_free(l->nearness);
    g_free(l);
}
