/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prediction of rows, each by the question that applies to it. */
#include "lib/base/reals.h"
#include "predictors/features/feature_names.h"
#include "predictors/features/features.h"
#include "predictors/learn/scenario.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Least half width (log scale) when only one level was measured. It covers 90 % of the errors for
 * GPUs of an unmeasured architecture (BORROWED_SPREAD of predictors/steps/prior.c). */
#define ONE_GROUP_SPREAD 0.8
#define THREADS_MIN_WORK 50 /* with fewer rows, starting threads costs more than it saves */
#define MANY_MODELS 6       /* with fewer models, each model uses threads itself */
/* Half width for what a board of a measured chip differs by. Set by judgement; the few boards whose
 * chip was measured lie within it (bench/results/2026-11-29-kernels.md). */
#define BOARD_SPREAD 0.2
/* Least half width of a processor where only GPUs were measured, or the reverse: a factor of 100.
 */
#define OTHER_KIND_SPREAD 4.6
/* Half width for a number e times outside the training range (bench/beyond.py). */
#define BEYOND_SPREAD 0.6

/* Marks the rows with a larger number than any measured one. */
static void mark_more(const struct orch_scenario *q, const double *values, size_t rows, bool *out)
{
    double most = (double)INFINITY;
    for (guint k = 0; k < q->known->len; k++) {
        double known = g_ascii_strtod(q->known->pdata[k], NULL);
        most = isinf(most) || known > most ? known : most;
    }
    for (size_t i = 0; i < rows; i++)
        out[i] = values[i] > most;
}

/* Marks the rows to which the question applies: those with an unseen level. */
static void mark_rows(const struct orch_scenario *q, const struct orch_rows *rows, bool *out)
{
    int column = orch_matrix_find(rows->matrix, q->column);
    for (size_t i = 0; i < rows->rows; i++)
        out[i] = false;
    if (column >= 0 && !orch_matrix_feature(rows->matrix, column)->levels)
        mark_more(q, orch_matrix_column(rows->matrix, column), rows->rows, out);
    if (column < 0 || !orch_matrix_feature(rows->matrix, column)->levels)
        return;
    const struct orch_matrix_feature *f = orch_matrix_feature(rows->matrix, column);
    g_autofree bool *known = g_new(bool, f->levels->len + 1);
    g_autoptr(GHashTable) levels = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint k = 0; k < q->known->len; k++)
        g_hash_table_add(levels, q->known->pdata[k]);
    for (guint v = 0; v < f->levels->len; v++)
        known[v] = g_hash_table_contains(levels, f->levels->pdata[v]);
    for (size_t i = 0; i < rows->rows; i++) {
        double value = orch_matrix_column(rows->matrix, column)[i];
        out[i] = !isnan(value) && !known[(int)value];
    }
}

/* True for two boards of one chip, or of two editions of it: the same architecture, and within a
 * tenth the same number of multiprocessors and the same rate. */
static bool are_siblings(const struct orch_gpu_spec *a, const struct orch_gpu_spec *b)
{
    if (!a || !b || !*a->arch || strcmp(a->arch, b->arch) != 0)
        return false;
    if (*a->chip && strcmp(a->chip, b->chip) == 0)
        return true;
    return abs(a->sms - b->sms) * 10 <= a->sms &&
           fabs(a->tensor16_tflops - b->tensor16_tflops) * 10 <= a->tensor16_tflops * 1.2;
}

/* The measured board that is a sibling of this one; NULL if there is none. */
static const char *sibling_of(const struct orch_scenario *gpus, const char *board)
{
    for (guint k = 0; k < gpus->known->len; k++)
        if (are_siblings(orch_gpu_find(board), orch_gpu_find(gpus->known->pdata[k])))
            return gpus->known->pdata[k];
    return NULL;
}

/* Marks the rows of a board that has a measured sibling and whose kernels the kernel model covers:
 * what it is off by is then the chip's, so that they are answered as similar rows. Returns a view
 * in which they have the sibling's name and specification; the model's times stay the board's.
 * Marks rows of a board of which few were measured, too. */
static struct orch_rows *as_siblings(const struct orch_learned *l, const struct orch_rows *rows,
                                     bool *out)
{
    struct orch_rows *view = orch_scenario_rows(l->scenarios[0], rows);
    struct orch_matrix *m = view->matrix;
    int column = -1, white = orch_matrix_find(m, "white kernels_ms");
    const struct orch_scenario *q = NULL;
    memset(out, 0, rows->rows * sizeof *out);
    for (int k = 1; k < l->count && !q; k++)
        if (orch_feature_is_gpu(l->scenarios[k]->column) && !l->scenarios[k]->has_one_group)
            q = l->scenarios[k];
    column = q ? orch_matrix_find(m, q->column) : -1;
    if (column < 0 || white < 0 || !orch_matrix_feature(m, column)->levels)
        return view;
    const GPtrArray *levels = orch_matrix_feature(m, column)->levels;
    double *gpu = m->columns->pdata[column];
    mark_rows(q, rows, out);
    for (guint v = 0, count = levels->len; v < count; v++) {
        const char *board = levels->pdata[v], *sibling = sibling_of(q, board);
        bool is_few = g_ptr_array_find_with_equal_func(q->few, board, g_str_equal, NULL);
        for (size_t i = 0; i < rows->rows; i++) {
            if (gpu[i] != v)
                continue;
            bool is_new = out[i] && sibling && isfinite(orch_matrix_column(m, white)[i]);
            out[i] = is_new || is_few;
            if (is_new)
                orch_features_set_gpu(m, i, orch_gpu_find(sibling));
            gpu[i] = is_new ? orch_matrix_level(m, column, sibling) : gpu[i];
        }
    }
    return view;
}

/* Fills gaps of the ensemble with the fallback member, which is last and has weight 0. */
static void fill_gaps(const struct orch_scenario *q, const struct orch_rows *rows, double *mixed)
{
    const struct orch_member *last = q->member_count ? &q->members[q->member_count - 1] : NULL;
    bool has_gaps = false;
    for (size_t i = 0; i < rows->rows; i++)
        has_gaps |= isnan(mixed[i]);
    if (!has_gaps || !last || last->candidate.weight > 0)
        return;
    g_autofree double *own = g_new(double, rows->rows + 1);
    orch_member_predict(last, rows, own);
    for (size_t i = 0; i < rows->rows; i++)
        mixed[i] = isnan(mixed[i]) ? own[i] : mixed[i];
}

/* Widens the intervals of devices of a kind, processors or GPUs, of which none was measured. */
static void widen_other_kind(const struct orch_scenario *q, const struct orch_rows *rows,
                             double *half)
{
    int column = orch_feature_is_gpu(q->column) ? orch_matrix_find(rows->matrix, q->column) : -1;
    bool has[2] = {false};
    if (column < 0 || !orch_matrix_feature(rows->matrix, column)->levels)
        return;
    for (guint k = 0; k < q->known->len; k++)
        has[orch_scenario_is_processor(q->known->pdata[k])] = true;
    g_autofree char **asked = orch_levels_of(rows->matrix, column);
    for (size_t i = 0; i < rows->rows; i++)
        if (!has[orch_scenario_is_processor(asked[i])])
            half[i] = MAX(half[i], OTHER_KIND_SPREAD);
}

/* Log predictions and half widths of their intervals for the rows `which`. */
static void answer_question(struct orch_scenario *q, const struct orch_rows *rows,
                            const size_t *which, size_t count, double *mixed, double *half)
{
    g_autoptr(GError) broken = NULL;
    if (!orch_scenario_ready(q, &broken))
        q->member_count = 0; /* then all predictions are NaN */
    struct orch_rows *picked = orch_rows_pick(rows, which, count);
    struct orch_rows *view = orch_scenario_rows(q, picked);
    double **predictions = orch_predictions_new((size_t)q->member_count, count);
    g_autofree double *spread = g_new(double, count + 1);
    double weights[ORCH_MEMBERS_MAX];
    int used = 0;
    for (int i = 0; i < q->member_count; i++) {
        weights[i] = q->members[i].candidate.weight;
        used += weights[i] > 0;
    }
#pragma omp parallel for schedule(dynamic, 1) if (used >= MANY_MODELS && count >= THREADS_MIN_WORK)
    for (int i = 0; i < q->member_count; i++) {
        if (weights[i] > 0)
            orch_member_predict(&q->members[i], view, predictions[i]);
    }
    orch_stacking_predict(predictions, weights, (size_t)q->member_count, count, q->column, mixed,
                          spread);
    fill_gaps(q, view, mixed);
    orch_conformal_half_widths(&q->interval, view, mixed, spread, half);
    for (size_t k = 0; k < count && q->has_one_group; k++)
        half[k] = MAX(half[k], ONE_GROUP_SPREAD);
    widen_other_kind(q, picked, half);
    orch_predictions_free(predictions);
    orch_scenario_rows_free(view);
    orch_rows_free(picked);
}

/* Widens intervals for numbers outside the training range. Facts of an unseen level (a network's
 * counts) are excluded: holding out whole levels already accounts for them. */
static void widen_beyond(const struct orch_learned *l, const struct orch_rows *rows, int question,
                         const struct orch_answer *out, double *half)
{
    g_autofree double *beyond = g_new(double, rows->rows + 1);
    orch_nearness_beyond(l->nearness, rows->matrix, orch_scenario_has_fact, l->scenarios[question],
                         beyond);
    for (size_t i = 0; i < rows->rows; i++)
        if (out[i].question == question)
            half[i] = hypot(half[i], BEYOND_SPREAD * beyond[i]);
}

/* Predicts the rows to which question k applies. A row that already has a prediction (GPU and
 * network are both unseen) keeps it; the interval combines both errors as independent. */
static void answer_all(const struct orch_learned *l, const struct orch_rows *rows, int k,
                       const bool *applies, struct orch_answer *out, double *logs, double *half)
{
    g_autofree size_t *which = g_new(size_t, rows->rows + 1);
    g_autofree double *mixed = g_new(double, rows->rows + 1), *own = g_new(double, rows->rows + 1);
    size_t count = 0;
    for (size_t i = 0; i < rows->rows; i++)
        if (applies[i])
            which[count++] = i;
    if (count)
        answer_question(l->scenarios[k], rows, which, count, mixed, own);
    for (size_t j = 0; j < count; j++) {
        size_t i = which[j];
        bool is_first = out[i].question < 0;
        out[i].question = is_first ? k : out[i].question;
        logs[i] = is_first ? mixed[j] : logs[i];
        half[i] = is_first ? own[j] : hypot(half[i], own[j]);
    }
}

static const struct orch_scenario *family_question(const struct orch_learned *l)
{
    for (int k = 1; k < l->count; k++)
        if (strcmp(l->scenarios[k]->column, ORCH_FAMILY_COLUMN) == 0)
            return l->scenarios[k];
    return NULL;
}

void orch_learned_predict(const struct orch_learned *l, const struct orch_rows *rows,
                          struct orch_answer *out)
{
    g_autofree bool *applies = g_new(bool, rows->rows + 1),
                    *of_family = g_new0(bool, rows->rows + 1),
                    *of_sibling = g_new0(bool, rows->rows + 1);
    g_autofree double *logs = g_new0(double, rows->rows + 1),
                      *half = g_new0(double, rows->rows + 1);
    g_autofree double *distances = g_new(double, rows->rows + 1);
    for (size_t i = 0; i < rows->rows; i++)
        out[i].question = -1;
    struct orch_rows *similar = as_siblings(l, rows, of_sibling);
    const struct orch_scenario *families = family_question(l);
    if (families)
        mark_rows(families, rows, of_family);
    for (int k = 1; k < l->count; k++) {
        mark_rows(l->scenarios[k], rows, applies);
        bool *elsewhere = orch_feature_is_net(l->scenarios[k]->column)   ? of_family
                          : orch_feature_is_gpu(l->scenarios[k]->column) ? of_sibling
                                                                         : NULL;
        for (size_t i = 0; i < rows->rows && elsewhere; i++)
            applies[i] &= !elsewhere[i]; /* that question is answered in its place */
        answer_all(l, rows, k, applies, out, logs, half);
    }
    for (size_t i = 0; i < rows->rows; i++)
        applies[i] = out[i].question < 0;
    answer_all(l, similar, 0, applies, out, logs, half);
    orch_scenario_rows_free(similar);
    for (int k = 0; k < l->count; k++)
        widen_beyond(l, rows, k, out, half);
    orch_nearness_of(l->nearness, rows->matrix, distances);
    for (size_t i = 0; i < rows->rows; i++) {
        half[i] = hypot(half[i], of_sibling[i] ? BOARD_SPREAD : 0);
        out[i].value.mid = exp(logs[i]);
        out[i].value.low = exp(logs[i] - half[i]);
        out[i].value.high = exp(logs[i] + half[i]);
        out[i].distance = distances[i];
        out[i].extrapolates =
            distances[i] > 1 || of_sibling[i] || l->scenarios[out[i].question]->column;
    }
}

struct orch_score orch_score_of(const double *target, const struct orch_answer *predictions,
                                const size_t *which, size_t count)
{
    struct orch_score s = {.n = count};
    size_t covered = 0;
    g_autofree double *errors = g_new(double, MAX(count, 1));
    for (size_t k = 0; k < count; k++) {
        size_t i = which ? which[k] : k;
        double difference = predictions[i].value.mid - target[i];
        errors[k] = fabs(difference) / target[i];
        s.mean_relative_error += errors[k] / (double)count;
        s.rmse += difference * difference / (double)count;
        covered += predictions[i].value.low <= target[i] && target[i] <= predictions[i].value.high;
    }
    s.coverage_90 = count ? (double)covered / (double)count : 0;
    s.rmse = sqrt(s.rmse);
    s.median_relative_error = orch_reals_median(errors, count);
    return s;
}
