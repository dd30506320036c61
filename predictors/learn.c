/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/learn.h"

#include "lib/base/error.h"
#include "predictors/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FOLDS 5
#define ROWS_MIN 10
#define LEVEL 0.90
#define TUNING_ROWS 4000 /* knobs are chosen on at most so many rows */

struct orch_learned {
    struct orch_model *model;
    struct orch_model *difficulty; /* log of the error's size; NULL: too few rows */
    double width;                  /* quantile of |error| over its expected size */
    bool grey;
    GArray *trials;
    struct orch_score left_out;
    double last_known, ratio; /* of the baselines */
};

/* ---- the target --------------------------------------------------------------------------------
 */

static double offset_of(const struct orch_rows *rows, size_t i, bool grey)
{
    double white = rows->white[i];
    return grey && isfinite(white) && white > 0 ? log(white) : 0;
}

static double *target_of(const struct orch_rows *rows, bool grey)
{
    double *y = g_new(double, MAX(rows->rows, 1));
    for (size_t i = 0; i < rows->rows; i++)
        y[i] = log(rows->target[i]) - offset_of(rows, i, grey);
    return y;
}

static bool has_white(const struct orch_rows *rows)
{
    size_t count = 0;
    for (size_t i = 0; i < rows->rows; i++)
        count += isfinite(rows->white[i]) && rows->white[i] > 0;
    return rows->rows && (double)count >= 0.5 * (double)rows->rows;
}

/* Features that a bare model sees: all but the GPU and its facts. */
static struct orch_matrix *visible(const struct orch_matrix *m, bool bare)
{
    struct orch_matrix *out = orch_matrix_new(m->rows);
    for (int c = 0; c < orch_matrix_cols(m); c++) {
        const struct orch_feature *f = orch_matrix_feature(m, c);
        bool of_gpu = strcmp(f->name, "gpu") == 0 || g_str_has_prefix(f->name, "gpu ");
        if (bare && of_gpu)
            continue;
        double *column = f->levels ? orch_matrix_add_category(out, f->name)
                                   : orch_matrix_add_number(out, f->name);
        for (guint i = 0; f->levels && i < f->levels->len; i++)
            orch_matrix_level(out, orch_matrix_cols(out) - 1, f->levels->pdata[i]);
        memcpy(column, orch_matrix_column(m, c), m->rows * sizeof *column);
    }
    return out;
}

static bool knows_gpu(const struct orch_matrix *m)
{
    return orch_matrix_find(m, "gpu bandwidth_gbs") >= 0;
}

/* ---- folds -------------------------------------------------------------------------------------
 */

static guint64 hash_text(const char *text, uint64_t seed)
{
    uint64_t h = seed ^ 0xcbf29ce484222325u;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return orch_random_next(&h);
}

/* Groups are dealt to the fold that has fewest rows, the largest first, so that few groups make
 * even folds. */
static void fold_groups(const struct orch_rows *rows, uint64_t seed, int *out)
{
    g_autoptr(GHashTable) counts = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; i < rows->rows; i++) {
        gpointer n = g_hash_table_lookup(counts, rows->groups[i]);
        g_hash_table_insert(counts, rows->groups[i], GSIZE_TO_POINTER(GPOINTER_TO_SIZE(n) + 1));
    }
    g_autoptr(GHashTable) folds = g_hash_table_new(g_str_hash, g_str_equal);
    size_t sizes[FOLDS] = {0};
    for (guint left = g_hash_table_size(counts); left > 0; left--) {
        GHashTableIter iter;
        gpointer name, count;
        const char *largest = NULL;
        size_t most = 0;
        g_hash_table_iter_init(&iter, counts);
        while (g_hash_table_iter_next(&iter, &name, &count)) {
            size_t n = GPOINTER_TO_SIZE(count);
            bool better = n > most || (n == most && largest &&
                                       hash_text(name, seed) < hash_text(largest, seed));
            if (!g_hash_table_contains(folds, name) && (better || !largest)) {
                largest = name;
                most = n;
            }
        }
        int fold = 0;
        for (int f = 1; f < FOLDS; f++)
            fold = sizes[f] < sizes[fold] ? f : fold;
        sizes[fold] += most;
        g_hash_table_insert(folds, (gpointer)(uintptr_t)largest, GINT_TO_POINTER(fold));
    }
    for (size_t i = 0; i < rows->rows; i++)
        out[i] = GPOINTER_TO_INT(g_hash_table_lookup(folds, rows->groups[i]));
}

static int *make_folds(const struct orch_rows *rows, const struct orch_learn_options *o)
{
    int *folds = g_new(int, MAX(rows->rows, 1));
    if (o->by_group && rows->groups) {
        fold_groups(rows, o->seed, folds);
        return folds;
    }
    uint64_t random = orch_random_stream(o->seed, 7);
    for (size_t i = 0; i < rows->rows; i++)
        folds[i] = (int)orch_random_below(&random, FOLDS);
    return folds;
}

/* ---- out of fold -------------------------------------------------------------------------------
 */

/* Answers (log) for each row by a model that did not see its fold; NaN where none could be fitted.
 */
static bool answer_out_of_fold(const struct orch_rows *rows, const int *folds,
                               const struct orch_learn_trial *trial, uint64_t seed, double *out,
                               GError **error)
{
    g_autofree double *y = target_of(rows, trial->grey);
    g_autofree size_t *in = g_new(size_t, MAX(rows->rows, 1));
    g_autofree size_t *aside = g_new(size_t, MAX(rows->rows, 1));
    g_autofree double *fold_y = g_new(double, MAX(rows->rows, 1));
    g_autofree double *answers = g_new(double, MAX(rows->rows, 1));
    struct orch_matrix *all = visible(rows->matrix, trial->bare);
    bool ok = true;
    for (int fold = 0; ok && fold < FOLDS; fold++) {
        size_t learned = 0, left = 0;
        for (size_t i = 0; i < rows->rows; i++) {
            if (folds[i] == fold) {
                aside[left++] = i;
            } else {
                fold_y[learned] = y[i];
                in[learned++] = i;
            }
        }
        if (!left || !learned)
            continue;
        struct orch_matrix *seen = orch_matrix_pick(all, in, learned);
        struct orch_matrix *unseen = orch_matrix_pick(all, aside, left);
        struct orch_model *model =
            orch_model_fit(trial->kind, seen, fold_y, NULL, &trial->knobs, seed, error);
        if (model) {
            orch_model_predict(model, unseen, answers);
            for (size_t k = 0; k < left; k++)
                out[aside[k]] = answers[k] + offset_of(rows, aside[k], trial->grey);
        }
        orch_model_free(model);
        orch_matrix_free(seen);
        orch_matrix_free(unseen);
        ok = model;
    }
    orch_matrix_free(all);
    return ok;
}

static double mean_relative_error(const struct orch_rows *rows, const double *logs)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < rows->rows; i++) {
        if (isnan(logs[i]))
            continue;
        sum += fabs(exp(logs[i]) - rows->target[i]) / rows->target[i];
        count++;
    }
    return count ? sum / (double)count : (double)INFINITY;
}

/* ---- choosing ----------------------------------------------------------------------------------
 */

static void add_trials(GArray *trials, const struct orch_model_kind *kind, bool grey, bool bare,
                       bool all)
{
    const struct orch_knobs *grid;
    int count = kind->grid(&grid);
    for (int i = 0; i < (all ? count : 1); i++) {
        struct orch_learn_trial trial = {kind, grid[i], grey, bare, (double)INFINITY};
        g_array_append_val(trials, trial);
    }
}

static bool list_trials(const struct orch_rows *rows, const struct orch_learn_options *o,
                        GArray *trials, GError **error)
{
    const struct orch_model_kind *only =
        strcmp(o->model, "auto") == 0 ? NULL : orch_model_find(o->model, error);
    bool white = has_white(rows);
    if (!only && strcmp(o->model, "auto") != 0)
        return false;
    if (o->target == ORCH_LEARN_GREY && !white) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "take another model, or columns that describe the work",
                       "the grey box wants a white box's time for each row: the table has none");
        return false;
    }
    for (const struct orch_model_kind *k = orch_model_kinds(); k->name; k++) {
        if (only && strcmp(only->name, k->name) != 0)
            continue;
        if (o->target != ORCH_LEARN_GREY)
            add_trials(trials, k, false, false, !o->no_tuning);
        if (o->target != ORCH_LEARN_LOG && white)
            add_trials(trials, k, true, false, !o->no_tuning);
        if (o->target != ORCH_LEARN_LOG && white && knows_gpu(rows->matrix))
            add_trials(trials, k, true, true, !o->no_tuning);
    }
    return true;
}

static gint by_error(gconstpointer a, gconstpointer b)
{
    double x = ((const struct orch_learn_trial *)a)->mean_relative_error;
    double y = ((const struct orch_learn_trial *)b)->mean_relative_error;
    return x < y ? -1 : x > y;
}

/* Every so-manieth row (of whole groups' rows too: groups keep their folds). */
static struct orch_rows *some_rows(const struct orch_rows *rows)
{
    size_t step = rows->rows / TUNING_ROWS + 1, count = 0;
    g_autofree size_t *which = g_new(size_t, MAX(rows->rows, 1));
    uint64_t random = 1;
    for (size_t i = 0; i < rows->rows; i++)
        if (orch_random_below(&random, step) == 0)
            which[count++] = i;
    return orch_rows_pick(rows, which, count);
}

static bool choose(const struct orch_rows *rows, const struct orch_learn_options *o, GArray *trials,
                   GError **error)
{
    if (!list_trials(rows, o, trials, error))
        return false;
    if (trials->len < 2)
        return true;
    struct orch_rows *few = some_rows(rows);
    g_autofree int *folds = make_folds(few, o);
    g_autofree double *logs = g_new(double, MAX(few->rows, 1));
    for (guint i = 0; i < trials->len; i++) {
        struct orch_learn_trial *trial = &g_array_index(trials, struct orch_learn_trial, i);
        g_autoptr(GError) unable = NULL;
        for (size_t k = 0; k < few->rows; k++)
            logs[k] = (double)NAN;
        if (answer_out_of_fold(few, folds, trial, o->seed, logs, &unable))
            trial->mean_relative_error = mean_relative_error(few, logs);
    }
    orch_rows_free(few);
    g_array_sort(trials, by_error);
    return true;
}

/* ---- the interval ------------------------------------------------------------------------------
 */

static int compare_reals(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The conformal quantile: at least `level` of future errors are below, if rows are exchangeable. */
static double quantile(double *values, size_t count, double level)
{
    qsort(values, count, sizeof *values, compare_reals);
    size_t rank = (size_t)ceil(((double)count + 1) * level);
    return count ? values[MIN(MAX(rank, 1), count) - 1] : (double)NAN;
}

static const struct orch_knobs DIFFICULTY = {
    .depth = 4, .leaf_rows = 20, .trees = 100, .rate = 0.1, .feature_share = 1, .row_share = 1};

/* Errors of rows left out, over the size that the row's kind makes expect (cross-conformal,
 * normalised: Papadopoulos et al. 2008). */
static bool calibrate(struct orch_learned *l, const struct orch_rows *rows, const int *folds,
                      uint64_t seed, GError **error)
{
    const struct orch_learn_trial *best = &g_array_index(l->trials, struct orch_learn_trial, 0);
    size_t n = rows->rows;
    g_autofree double *logs = g_new(double, MAX(n, 1)), *sizes = g_new(double, MAX(n, 1));
    g_autofree double *expected = g_new0(double, MAX(n, 1));
    for (size_t i = 0; i < n; i++)
        logs[i] = (double)NAN;
    if (!answer_out_of_fold(rows, folds, best, seed, logs, error))
        return false;
    g_array_index(l->trials, struct orch_learn_trial, 0).mean_relative_error =
        mean_relative_error(rows, logs);
    for (size_t i = 0; i < n; i++)
        sizes[i] =
            isnan(logs[i]) ? log(1e-3) : log(MAX(fabs(logs[i] - log(rows->target[i])), 1e-3));
    if (n >= 200) {
        /* the expected size, too, comes from a model that did not see the row */
        struct orch_learn_trial trial = {&ORCH_MODEL_BOOST, DIFFICULTY, false, best->bare, 0};
        struct orch_rows errors = *rows;
        g_autofree double *exps = g_new(double, n), *none = g_new(double, n);
        for (size_t i = 0; i < n; i++) {
            exps[i] = exp(sizes[i]);
            none[i] = (double)NAN;
        }
        errors.target = exps;
        errors.white = none;
        if (!answer_out_of_fold(&errors, folds, &trial, seed + 1, expected, error))
            return false;
        struct orch_matrix *seen = visible(rows->matrix, best->bare);
        l->difficulty =
            orch_model_fit(&ORCH_MODEL_BOOST, seen, sizes, NULL, &DIFFICULTY, seed, error);
        orch_matrix_free(seen);
    }
    for (size_t i = 0; i < n; i++)
        sizes[i] -= isnan(expected[i]) ? 0 : expected[i];
    g_autofree double *sorted = g_memdup2(sizes, MAX(n, 1) * sizeof *sizes);
    l->width = exp(quantile(sorted, n, LEVEL));
    g_autofree struct orch_answer *answers = g_new0(struct orch_answer, MAX(n, 1));
    for (size_t i = 0; i < n; i++) {
        double centre = isnan(logs[i]) ? 0 : logs[i];
        double half = l->width * exp(isnan(expected[i]) ? 0 : expected[i]);
        answers[i] =
            (struct orch_answer){exp(centre), exp(centre - half), exp(centre + half), false};
    }
    l->left_out = orch_score_of(rows->target, answers, NULL, n);
    return true;
}

/* ---- what it must beat -------------------------------------------------------------------------
 */

static double nearest_record(const struct orch_rows *rows, const struct orch_learn_options *o,
                             bool grey)
{
    static const struct orch_knobs one = {.neighbours = 1};
    struct orch_learn_trial trial = {&ORCH_MODEL_KNN, one, grey, false, 0};
    g_autofree int *folds = make_folds(rows, o);
    g_autofree double *logs = g_new(double, MAX(rows->rows, 1));
    g_autoptr(GError) unable = NULL;
    for (size_t i = 0; i < rows->rows; i++)
        logs[i] = (double)NAN;
    bool ok = answer_out_of_fold(rows, folds, &trial, o->seed, logs, &unable);
    double error = ok ? mean_relative_error(rows, logs) : (double)INFINITY;
    return isfinite(error) ? error : (double)NAN;
}

static void judge_baselines(struct orch_learned *l, const struct orch_rows *rows,
                            const struct orch_learn_options *o)
{
    struct orch_rows *few = some_rows(rows);
    l->last_known = nearest_record(few, o, false);
    l->ratio = has_white(few) ? nearest_record(few, o, true) : (double)NAN;
    orch_rows_free(few);
}

struct orch_score orch_learned_left_out(const struct orch_learned *learned)
{
    return learned->left_out;
}

void orch_learned_baselines(const struct orch_learned *learned, double *last_known, double *ratio)
{
    *last_known = learned->last_known;
    *ratio = learned->ratio;
}

/* ---- all ---------------------------------------------------------------------------------------
 */

struct orch_learned *orch_learn(const struct orch_rows *rows, const struct orch_learn_options *o,
                                GError **error)
{
    if (rows->rows < ROWS_MIN) {
        orch_error_set(error, ORCH_ERROR_USAGE, "measure more",
                       "%zu rows are too few to learn from: at least %d", rows->rows, ROWS_MIN);
        return NULL;
    }
    struct orch_learned *l = g_new0(struct orch_learned, 1);
    l->trials = g_array_new(FALSE, FALSE, sizeof(struct orch_learn_trial));
    g_autofree int *folds = make_folds(rows, o);
    bool ok = choose(rows, o, l->trials, error) && calibrate(l, rows, folds, o->seed, error);
    if (ok) {
        const struct orch_learn_trial *best = &g_array_index(l->trials, struct orch_learn_trial, 0);
        g_autofree double *y = target_of(rows, best->grey);
        struct orch_matrix *seen = visible(rows->matrix, best->bare);
        l->grey = best->grey;
        judge_baselines(l, rows, o);
        l->model = orch_model_fit(best->kind, seen, y, NULL, &best->knobs, o->seed, error);
        orch_matrix_free(seen);
    }
    if (l->model)
        return l;
    orch_learned_free(l);
    return NULL;
}

void orch_learned_free(struct orch_learned *l)
{
    if (!l)
        return;
    orch_model_free(l->model);
    orch_model_free(l->difficulty);
    g_array_unref(l->trials);
    g_free(l);
}

const GArray *orch_learned_trials(const struct orch_learned *learned)
{
    return learned->trials;
}

void orch_learned_predict(const struct orch_learned *l, const struct orch_rows *rows,
                          struct orch_answer *out)
{
    g_autofree double *logs = g_new(double, MAX(rows->rows, 1));
    g_autofree double *sizes = g_new0(double, MAX(rows->rows, 1));
    orch_model_predict(l->model, rows->matrix, logs);
    if (l->difficulty)
        orch_model_predict(l->difficulty, rows->matrix, sizes);
    for (size_t i = 0; i < rows->rows; i++) {
        double centre = logs[i] + offset_of(rows, i, l->grey), half = l->width * exp(sizes[i]);
        out[i] = (struct orch_answer){exp(centre), exp(centre - half), exp(centre + half), false};
    }
}

struct orch_score orch_score_of(const double *target, const struct orch_answer *answers,
                                const size_t *which, size_t count)
{
    struct orch_score s = {.n = count};
    g_autofree double *errors = g_new(double, MAX(count, 1));
    for (size_t k = 0; k < count; k++) {
        size_t i = which ? which[k] : k;
        double difference = answers[i].value - target[i];
        errors[k] = fabs(difference) / target[i];
        s.mean_relative_error += errors[k] / (double)count;
        s.rmse += difference * difference / (double)count;
        s.coverage_90 +=
            (answers[i].low <= target[i] && target[i] <= answers[i].high) / (double)count;
    }
    s.rmse = sqrt(s.rmse);
    qsort(errors, count, sizeof *errors, compare_reals);
    s.median_relative_error =
        count ? (errors[(count - 1) / 2] + errors[count / 2]) / 2 : (double)NAN;
    return s;
}

/* ---- saving ------------------------------------------------------------------------------------
 */

json_t *orch_learned_save(const struct orch_learned *l, enum orch_save_style style)
{
    const struct orch_learn_trial *best = &g_array_index(l->trials, struct orch_learn_trial, 0);
    return json_pack("{s:o, s:o, s:f, s:b, s:b, s:f}", "model", orch_model_save(l->model, style),
                     "difficulty",
                     l->difficulty ? orch_model_save(l->difficulty, style) : json_null(), "width",
                     l->width, "grey", (int)l->grey, "bare", (int)best->bare, "error",
                     isfinite(best->mean_relative_error) ? best->mean_relative_error : -1.0);
}

static void remember_trial(struct orch_learned *l, const json_t *saved)
{
    double error = json_number_value(json_object_get(saved, "error"));
    struct orch_learn_trial trial = {.kind = l->model->kind,
                                     .knobs = l->model->knobs,
                                     .grey = l->grey,
                                     .bare = json_is_true(json_object_get(saved, "bare")),
                                     .mean_relative_error = error < 0 ? (double)INFINITY : error};
    g_array_append_val(l->trials, trial);
}

struct orch_learned *orch_learned_load(const json_t *saved, GError **error)
{
    struct orch_learned *l = g_new0(struct orch_learned, 1);
    const json_t *difficulty = json_object_get(saved, "difficulty");
    l->trials = g_array_new(FALSE, FALSE, sizeof(struct orch_learn_trial));
    l->grey = json_is_true(json_object_get(saved, "grey"));
    bool ok = orch_load_real(saved, "width", &l->width, error);
    l->model = ok ? orch_model_load(json_object_get(saved, "model"), error) : NULL;
    if (l->model && json_is_object(difficulty))
        l->difficulty = orch_model_load(difficulty, error);
    if (l->model && (l->difficulty || !json_is_object(difficulty))) {
        remember_trial(l, saved);
        return l;
    }
    orch_learned_free(l);
    return NULL;
}
