/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/learn.h"

#include "lib/base/error.h"
#include "lib/base/random.h"
#include "lib/base/reals.h"
#include "predictors/feature_names.h"
#include "predictors/scenario.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MIN 10
#define TUNING_ROWS 3000 /* sample size for the model search */
#define HOLD_PART 5      /* with more rows, one in HOLD_PART is held out to weight the models */
#define UNKNOWN_WEIGHT 0.05
#define KERNELS_PRIOR                                                                              \
    4 /* weight of a kernel-by-kernel candidate over another, before there is evidence */

/* ---- questions ---------------------------------------------------------------------------------
 */

static bool is_hidden(const char *name, const void *data)
{
    const GPtrArray *hidden = data;
    for (guint i = 0; i < hidden->len; i++)
        if (strcmp(hidden->pdata[i], name) == 0)
            return true;
    return false;
}

struct orch_rows *orch_scenario_rows(const struct orch_scenario *q, const struct orch_rows *rows)
{
    struct orch_rows *out = g_new(struct orch_rows, 1);
    *out = *rows;
    out->matrix = orch_matrix_without(rows->matrix, is_hidden, q->hidden);
    return out; /* borrows everything but the matrix: free with orch_scenario_rows_free */
}

void orch_scenario_rows_free(struct orch_rows *view)
{
    orch_matrix_free(view->matrix);
    g_free(view);
}

static void free_scenario(struct orch_scenario *q)
{
    if (!q)
        return;
    g_free(q->column);
    g_free(q->deferred);
    g_ptr_array_unref(q->known);
    g_ptr_array_unref(q->hidden);
    g_ptr_array_unref(q->facts);
    g_array_unref(q->candidates);
    for (int i = 0; i < q->member_count; i++)
        orch_member_release(&q->members[i]);
    orch_conformal_release(&q->interval);
    g_free(q);
}

struct orch_scenario *orch_scenario_new(const char *column)
{
    struct orch_scenario *q = g_new0(struct orch_scenario, 1);
    q->column = g_strdup(column);
    q->known = g_ptr_array_new_with_free_func(g_free);
    q->hidden = g_ptr_array_new_with_free_func(g_free);
    q->facts = g_ptr_array_new_with_free_func(g_free);
    q->candidates = g_array_new(FALSE, FALSE, sizeof(struct orch_model_candidate));
    return q;
}

static void note_levels(struct orch_scenario *q, char *const *levels, size_t rows)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; i < rows; i++)
        if (g_hash_table_add(seen, levels[i]))
            g_ptr_array_add(q->known, g_strdup(levels[i]));
}

/* Groups that are held out together for a question, by row; NULL: none. */
static char **groups_of(const struct orch_scenario *q, const struct orch_rows *rows)
{
    int column = q->column ? orch_matrix_find(rows->matrix, q->column) : -1;
    if (q->has_one_group || !q->column || (column < 0 && !rows->groups))
        return NULL;
    char **groups = column >= 0 ? orch_levels_of(rows->matrix, column)
                                : g_memdup2(rows->groups, (rows->rows + 1) * sizeof(char *));
    if (column >= 0 ? orch_feature_is_gpu(q->column) : rows->groups_are_gpus)
        orch_folds_name_chips(groups, rows->rows);
    return groups;
}

/* Counts what is held out together. */
static void count_groups(struct orch_scenario *q, const struct orch_rows *rows)
{
    g_autofree char **groups = groups_of(q, rows);
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; groups && i < rows->rows; i++)
        g_hash_table_add(seen, groups[i]);
    q->group_count = g_hash_table_size(seen);
}

/* True if each level of a category occurs in one group only, so that it identifies the group. */
static bool names_group(char *const *levels, char *const *groups, size_t rows)
{
    g_autoptr(GHashTable) of = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; i < rows; i++) {
        const char *group = g_hash_table_lookup(of, levels[i]);
        if (group && strcmp(group, groups[i]) != 0)
            return false;
        g_hash_table_insert(of, levels[i], groups[i]);
    }
    return true;
}

static void hide_names(struct orch_scenario *q, const struct orch_rows *rows, char *const *groups)
{
    const struct orch_matrix *m = rows->matrix;
    for (int c = 0; c < orch_matrix_cols(m); c++) {
        if (!orch_matrix_feature(m, c)->levels)
            continue;
        g_autofree char **levels = orch_levels_of(m, c);
        if (names_group(levels, groups, rows->rows))
            g_ptr_array_add(q->hidden, g_strdup(orch_matrix_feature(m, c)->name));
    }
}

/* True if a feature is constant within each group. */
static bool is_one_a_group(const double *column, char *const *groups, size_t rows)
{
    g_autoptr(GHashTable) of = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; i < rows; i++) {
        const double *first = g_hash_table_lookup(of, groups[i]);
        if (!first)
            g_hash_table_insert(of, groups[i], (gpointer)(uintptr_t)&column[i]);
        else if (!(isnan(*first) && isnan(column[i])) &&
                 !(fabs(*first - column[i]) <= 1e-9 * fabs(*first)))
            return false;
    }
    return true;
}

static void note_facts(struct orch_scenario *q, const struct orch_rows *rows, char *const *groups)
{
    const struct orch_matrix *m = rows->matrix;
    for (int c = 0; c < orch_matrix_cols(m); c++) {
        const char *name = orch_matrix_feature(m, c)->name;
        bool of_gpu = strcmp(name, "gpu") == 0 || g_str_has_prefix(name, "gpu ");
        bool is_fact =
            groups ? is_one_a_group(orch_matrix_column(m, c), groups, rows->rows) : of_gpu;
        if (is_fact)
            g_ptr_array_add(q->facts, g_strdup(name));
    }
}

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

/* True if another GPU is asked than the one that was measured, and candidates know how times change
 * from GPU to GPU. Held-out rows of the one GPU cannot tell how well any candidate does that. */
static bool carries_over(const struct orch_scenario *q)
{
    bool any = false;
    for (guint t = 0; t < q->candidates->len; t++)
        any |= candidate_at(q->candidates, t)->box == ORCH_BOX_RATES;
    return q->has_one_group && any;
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
        prior[t] = candidate_at(q->candidates, t)->box == ORCH_BOX_KERNELS ? KERNELS_PRIOR : 1;
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
    g_autofree char **groups = groups_of(q, w.rows);
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

static bool fit_interval(struct orch_scenario *q, const struct work *w, bool by_groups,
                         uint64_t seed, GError **error)
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
                              q->column ? MAX(q->group_count, 1) : 0,
                              by_groups ? w->rows->groups : NULL, seed, error);
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
        ok = fit_interval(q, &w, o->calibrate_groups, o->seed, error);
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
        ok = fit_interval(q, &w, o->calibrate_groups && !q->column, o->seed, error);
    }
    release_work(&w);
    return ok && fit_members(q, rows, o, error);
}

/* ---- all ---------------------------------------------------------------------------------------
 */

/* Columns whose levels may be unseen. */
static const char *const NOVEL[] = {"gpu", "accel", "net", "model", "network", "task"};

static void list_scenarios(struct orch_learned *l, const struct orch_rows *rows,
                           const struct orch_learn_options *o)
{
    if (o->by_group && rows->groups) {
        struct orch_scenario *q = l->scenarios[l->count++] = orch_scenario_new("group");
        note_levels(q, rows->groups, rows->rows);
        count_groups(q, rows);
        q->has_one_group = q->group_count < 2;
        hide_names(q, rows, rows->groups);
        note_facts(q, rows, rows->groups);
        return;
    }
    l->scenarios[l->count++] = orch_scenario_new(NULL);
    note_facts(l->scenarios[0], rows, NULL);
    for (size_t k = 0; k < G_N_ELEMENTS(NOVEL) && l->count < ORCH_SCENARIOS_MAX; k++) {
        int column = orch_matrix_find(rows->matrix, NOVEL[k]);
        if (column < 0 || !orch_matrix_feature(rows->matrix, column)->levels)
            continue;
        g_autofree char **levels = orch_levels_of(rows->matrix, column);
        struct orch_scenario *q = orch_scenario_new(NOVEL[k]);
        note_levels(q, levels, rows->rows);
        count_groups(q, rows);
        q->has_one_group = q->group_count < 2;
        if (q->has_one_group)
            g_ptr_array_add(q->hidden, g_strdup(NOVEL[k]));
        else
            hide_names(q, rows, levels);
        note_facts(q, rows, levels);
        l->scenarios[l->count++] = q;
    }
}

struct orch_learned *orch_learn(const struct orch_rows *rows, const struct orch_learn_options *o,
                                GError **error)
{
    if (rows->rows < ROWS_MIN) {
        orch_error_set(error, ORCH_ERROR_USAGE, "add more measurements",
                       "%zu rows are too few to train on: at least %d", rows->rows, ROWS_MIN);
        return NULL;
    }
    struct orch_learned *l = g_new0(struct orch_learned, 1);
    bool ok = true;
    list_scenarios(l, rows, o);
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
        free_scenario(l->scenarios[i]);
    orch_nearness_free(l->nearness);
    g_free(l);
}

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
    static const char *const names[] = {"black",    "grey",  "bare grey", "specs",
                                        "stripped", "plain", "kernels",   "rates"};
    return names[box];
}

char *orch_learned_text(const struct orch_learned *l, int question)
{
    GString *text = g_string_new(NULL);
    const GArray *candidates = l->scenarios[question]->candidates;
    for (guint i = 0; i < candidates->len && i < ORCH_MEMBERS_MAX - 1; i++) {
        const struct orch_model_candidate *t = candidate_at(candidates, i);
        if (t->weight > 0)
            g_string_append_printf(text, "%s%.2f %s %s", text->len ? " + " : "", t->weight,
                                   orch_learn_box_name(t->box),
                                   t->kind ? t->kind->name : "analytical model");
    }
    return g_string_free(text, FALSE);
}
