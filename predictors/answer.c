/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was learned answers: by the question that each row poses. */
#include "lib/base/reals.h"
#include "predictors/question.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LONE_SPREAD                                                                                \
    0.8 /* half width of the logarithm where one level was seen, so that none could be             \
           left out: 90 % of what GPUs of an architecture never measured are off by                \
           (BORROWED_SPREAD of predictors/prior.c) */
#define THREADS_WORTH 50 /* rows below which threads cost more than they bring */
#define MANY_MODELS 6    /* fewer have threads of their own where those are worth it */
#define BEYOND_SPREAD                                                                              \
    0.6 /* half width for a number e times beyond what was seen (bench/beyond.py) */

/* Which rows pose a question: those with a level never seen. */
static void pose(const struct orch_question *q, const struct orch_rows *rows, bool *out)
{
    int column = orch_matrix_find(rows->matrix, q->column);
    for (size_t i = 0; i < rows->rows; i++)
        out[i] = false;
    if (column < 0 || !orch_matrix_feature(rows->matrix, column)->levels)
        return;
    const struct orch_feature *f = orch_matrix_feature(rows->matrix, column);
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

/* Where none of those that count has an answer, the one that was kept for that (it is last). */
static void ask_last_resort(const struct orch_question *q, const struct orch_rows *rows,
                            double *mixed)
{
    const struct orch_member *last = q->member_count ? &q->members[q->member_count - 1] : NULL;
    bool is_asked = false;
    for (size_t i = 0; i < rows->rows; i++)
        is_asked |= isnan(mixed[i]);
    if (!is_asked || !last || last->trial.weight > 0)
        return;
    g_autofree double *own = g_new(double, rows->rows + 1);
    orch_member_predict(last, rows, own);
    for (size_t i = 0; i < rows->rows; i++)
        mixed[i] = isnan(mixed[i]) ? own[i] : mixed[i];
}

/* Logarithms of the answers and half the widths of their intervals, of rows `which`. */
static void answer_question(struct orch_question *q, const struct orch_rows *rows,
                            const size_t *which, size_t count, double *mixed, double *half)
{
    g_autoptr(GError) broken = NULL;
    if (!orch_question_ready(q, &broken))
        q->member_count = 0; /* answers NaN */
    struct orch_rows *picked = orch_rows_pick(rows, which, count);
    struct orch_rows *view = orch_question_rows(q, picked);
    double **answers = orch_answers_new((size_t)q->member_count, count);
    g_autofree double *spread = g_new(double, count + 1);
    double weights[ORCH_MEMBERS_MAX];
    int asked = 0;
    for (int i = 0; i < q->member_count; i++) {
        weights[i] = q->members[i].trial.weight;
        asked += weights[i] > 0;
    }
#pragma omp parallel for schedule(dynamic, 1) if (asked >= MANY_MODELS && count >= THREADS_WORTH)
    for (int i = 0; i < q->member_count; i++) {
        if (weights[i] > 0)
            orch_member_predict(&q->members[i], view, answers[i]);
    }
    orch_mix_apply(answers, weights, (size_t)q->member_count, count, q->column, mixed, spread);
    ask_last_resort(q, view, mixed);
    orch_width_of(&q->width, view, mixed, spread, half);
    for (size_t k = 0; k < count && q->is_lone; k++)
        half[k] = MAX(half[k], LONE_SPREAD);
    orch_answers_free(answers);
    orch_question_rows_free(view);
    orch_rows_free(picked);
}

/* Beyond the numbers seen the time may bend. What belongs to a level never seen (a network's
 * counts) is allowed for by the levels that were left out. */
static void widen_beyond(const struct orch_learned *l, const struct orch_rows *rows, int question,
                         const struct orch_answer *out, double *half)
{
    g_autofree double *beyond = g_new(double, rows->rows + 1);
    orch_nearness_beyond(l->nearness, rows->matrix, orch_question_has_fact, l->questions[question],
                         beyond);
    for (size_t i = 0; i < rows->rows; i++)
        if (out[i].question == question)
            half[i] = hypot(half[i], BEYOND_SPREAD * beyond[i]);
}

/* Answers the rows that pose question k. One that was answered before (its GPU is new, its network
 * too) keeps its answer: both questions' errors meet in it, and they know nothing of each other. */
static void answer_all(const struct orch_learned *l, const struct orch_rows *rows, int k,
                       const bool *poses, struct orch_answer *out, double *logs, double *half)
{
    g_autofree size_t *which = g_new(size_t, rows->rows + 1);
    g_autofree double *mixed = g_new(double, rows->rows + 1), *own = g_new(double, rows->rows + 1);
    size_t count = 0;
    for (size_t i = 0; i < rows->rows; i++)
        if (poses[i])
            which[count++] = i;
    if (count)
        answer_question(l->questions[k], rows, which, count, mixed, own);
    for (size_t j = 0; j < count; j++) {
        size_t i = which[j];
        bool is_first = out[i].question < 0;
        out[i].question = is_first ? k : out[i].question;
        logs[i] = is_first ? mixed[j] : logs[i];
        half[i] = is_first ? own[j] : hypot(half[i], own[j]);
    }
}

void orch_learned_predict(const struct orch_learned *l, const struct orch_rows *rows,
                          struct orch_answer *out)
{
    g_autofree bool *poses = g_new(bool, rows->rows + 1);
    g_autofree double *logs = g_new0(double, rows->rows + 1),
                      *half = g_new0(double, rows->rows + 1);
    g_autofree double *distances = g_new(double, rows->rows + 1);
    for (size_t i = 0; i < rows->rows; i++)
        out[i].question = -1;
    for (int k = 1; k < l->count; k++) {
        pose(l->questions[k], rows, poses);
        answer_all(l, rows, k, poses, out, logs, half);
    }
    for (size_t i = 0; i < rows->rows; i++)
        poses[i] = out[i].question < 0;
    answer_all(l, rows, 0, poses, out, logs, half);
    for (int k = 0; k < l->count; k++)
        widen_beyond(l, rows, k, out, half);
    orch_nearness_of(l->nearness, rows->matrix, distances);
    for (size_t i = 0; i < rows->rows; i++) {
        out[i].value = exp(logs[i]);
        out[i].low = exp(logs[i] - half[i]);
        out[i].high = exp(logs[i] + half[i]);
        out[i].distance = distances[i];
        out[i].extrapolates = distances[i] > 1 || l->questions[out[i].question]->column;
    }
}

struct orch_score orch_score_of(const double *target, const struct orch_answer *answers,
                                const size_t *which, size_t count)
{
    struct orch_score s = {.n = count};
    size_t covered = 0;
    g_autofree double *errors = g_new(double, MAX(count, 1));
    for (size_t k = 0; k < count; k++) {
        size_t i = which ? which[k] : k;
        double difference = answers[i].value - target[i];
        errors[k] = fabs(difference) / target[i];
        s.mean_relative_error += errors[k] / (double)count;
        s.rmse += difference * difference / (double)count;
        covered += answers[i].low <= target[i] && target[i] <= answers[i].high;
    }
    s.coverage_90 = count ? (double)covered / (double)count : 0;
    s.rmse = sqrt(s.rmse);
    orch_reals_sort(errors, count);
    s.median_relative_error =
        count ? (errors[(count - 1) / 2] + errors[count / 2]) / 2 : (double)NAN;
    return s;
}
