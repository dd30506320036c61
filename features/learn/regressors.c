/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/learn/regressors.h"

#include "lib/base/error.h"
#include "lib/base/random.h"
#include "predictors/models/model.h"

#include <math.h>
#include <string.h>

#define ROWS_MIN 10

/* ---- grids ----------------------------------------------------------------------------------- */

#define FOREST(n)                                                                                  \
    {                                                                                              \
        .trees = (n), .depth = 24, .leaf_rows = 1, .feature_share = 1                              \
    }
#define BOOST(n, deep, r)                                                                          \
    {                                                                                              \
        .trees = (n), .depth = (deep), .leaf_rows = 1, .rate = (r), .feature_share = 1,            \
        .row_share = 1                                                                             \
    }
static const struct orch_hyperparams TREES[] = {
    {.depth = 2, .leaf_rows = 1},  {.depth = 3, .leaf_rows = 1},  {.depth = 4, .leaf_rows = 1},
    {.depth = 5, .leaf_rows = 1},  {.depth = 7, .leaf_rows = 1},  {.depth = 9, .leaf_rows = 1},
    {.depth = 11, .leaf_rows = 1}, {.depth = 13, .leaf_rows = 1}, {.depth = 15, .leaf_rows = 1},
};
static const struct orch_hyperparams FORESTS[] = {FOREST(100), FOREST(200), FOREST(400),
                                                  FOREST(800), FOREST(1000)};
static const struct orch_hyperparams BOOSTS[] = {BOOST(50, 3, 0.1),  BOOST(100, 3, 0.1),
                                                 BOOST(150, 3, 0.1), BOOST(400, 3, 0.1),
                                                 BOOST(150, 5, 0.1), BOOST(400, 5, 0.05)};

static const struct {
    const char *name;
    const struct orch_hyperparams *grid;
    int count;
} GRIDS[] = {{"tree", TREES, G_N_ELEMENTS(TREES)},
             {"forest", FORESTS, G_N_ELEMENTS(FORESTS)},
             {"boost", BOOSTS, G_N_ELEMENTS(BOOSTS)}};

/* Grid around AI Gauge's best settings; other kinds use their own grid. */
static int grid_of(const struct orch_model_kind *kind, const struct orch_hyperparams **out)
{
    for (size_t i = 0; i < G_N_ELEMENTS(GRIDS); i++) {
        if (strcmp(GRIDS[i].name, kind->name) == 0) {
            *out = GRIDS[i].grid;
            return GRIDS[i].count;
        }
    }
    return kind->grid(out);
}

static char *text_of(const struct orch_model_kind *kind, const struct orch_hyperparams *k)
{
    if (strcmp(kind->name, "tree") == 0)
        return g_strdup_printf("depth %d", k->depth);
    if (strcmp(kind->name, "forest") == 0)
        return g_strdup_printf("%d trees", k->trees);
    if (strcmp(kind->name, "boost") == 0)
        return g_strdup_printf("%d trees, depth %d, rate %g", k->trees, k->depth, k->rate);
    return orch_hyperparams_text(kind, k);
}

/* ---- folds ----------------------------------------------------------------------------------- */

/* State of one comparison. */
struct comparison {
    const struct orch_rows *rows;
    const struct orch_aigauge_job *jobs;
    uint64_t seed;
    int *folds;
    double *predictions;     /* by row: prediction by a model fitted without it */
    size_t *seen, *held_out; /* training and held-out rows of the current fold */
    double *seen_y;
    size_t seen_count, held_out_count;
};

/* Assigns rows to folds of equal size in random order. */
static int *deal(size_t rows, uint64_t seed)
{
    int *folds = g_new(int, MAX(rows, 1));
    uint64_t random = orch_random_stream(seed, 11);
    for (size_t i = 0; i < rows; i++)
        folds[i] = (int)(i % ORCH_REGRESSORS_FOLDS);
    for (size_t i = rows; i > 1; i--) {
        size_t other = orch_random_below(&random, i);
        int kept = folds[i - 1];
        folds[i - 1] = folds[other];
        folds[other] = kept;
    }
    return folds;
}

static void comparison_init(struct comparison *r, const struct orch_rows *rows,
                            const struct orch_aigauge_job *jobs, uint64_t seed)
{
    size_t n = MAX(rows->rows, 1);
    *r = (struct comparison){.rows = rows,
                             .jobs = jobs,
                             .seed = seed,
                             .folds = deal(rows->rows, seed),
                             .predictions = g_new0(double, n),
                             .seen = g_new(size_t, n),
                             .held_out = g_new(size_t, n),
                             .seen_y = g_new(double, n)};
}

static void comparison_clear(struct comparison *r)
{
    g_free(r->folds);
    g_free(r->predictions);
    g_free(r->seen);
    g_free(r->held_out);
    g_free(r->seen_y);
}

static void take_fold(struct comparison *r, int fold)
{
    r->seen_count = r->held_out_count = 0;
    for (size_t i = 0; i < r->rows->rows; i++) {
        if (r->folds[i] == fold) {
            r->held_out[r->held_out_count++] = i;
        } else {
            r->seen_y[r->seen_count] = r->rows->target[i];
            r->seen[r->seen_count++] = i;
        }
    }
}

static void add_setting(const struct comparison *r, struct orch_regressor *out, char *text)
{
    struct orch_regressor_setting s = {.text = text};
    double n = (double)r->rows->rows;
    for (size_t i = 0; i < r->rows->rows; i++) {
        double difference = r->predictions[i] - r->rows->target[i];
        s.rmse += difference * difference / n;
        s.mean_relative_error += fabs(difference) / r->rows->target[i] / n;
    }
    s.rmse = sqrt(s.rmse);
    g_array_append_val(out->settings, s);
    guint last = out->settings->len - 1;
    const struct orch_regressor_setting *all = (const void *)out->settings->data;
    out->by_rmse = all[last].rmse < all[out->by_rmse].rmse ? last : out->by_rmse;
    out->by_relative = all[last].mean_relative_error < all[out->by_relative].mean_relative_error
                           ? last
                           : out->by_relative;
}

/* ---- models ---------------------------------------------------------------------------------- */

static void clear_setting(gpointer setting)
{
    g_free(((struct orch_regressor_setting *)setting)->text);
}

static struct orch_regressor *regressor_new(const char *name)
{
    struct orch_regressor *r = g_new0(struct orch_regressor, 1);
    r->name = g_strdup(name);
    r->settings = g_array_new(FALSE, FALSE, sizeof(struct orch_regressor_setting));
    g_array_set_clear_func(r->settings, clear_setting);
    return r;
}

static void free_regressor(gpointer regressor)
{
    struct orch_regressor *r = regressor;
    g_free(r->name);
    g_free(r->why);
    g_array_unref(r->settings);
    orch_aigauge_free(r->form);
    g_free(r);
}

static bool answer_fold(struct comparison *r, const struct orch_model_kind *kind,
                        const struct orch_hyperparams *hyperparams, GError **error)
{
    struct orch_matrix *seen = orch_matrix_pick(r->rows->matrix, r->seen, r->seen_count);
    struct orch_matrix *held_out =
        orch_matrix_pick(r->rows->matrix, r->held_out, r->held_out_count);
    g_autofree double *predictions = g_new(double, MAX(r->held_out_count, 1));
    struct orch_model *model =
        orch_model_fit(kind, seen, r->seen_y, NULL, hyperparams, r->seed, error);
    if (model)
        orch_model_predict(model, held_out, predictions);
    for (size_t i = 0; model && i < r->held_out_count; i++)
        r->predictions[r->held_out[i]] = predictions[i];
    bool ok = model;
    orch_model_free(model);
    orch_matrix_free(seen);
    orch_matrix_free(held_out);
    return ok;
}

static struct orch_regressor *try_model(struct comparison *r, const struct orch_model_kind *kind)
{
    struct orch_regressor *out = regressor_new(kind->name);
    const struct orch_hyperparams *grid;
    int count = grid_of(kind, &grid);
    for (int k = 0; k < count; k++) {
        g_autoptr(GError) unable = NULL;
        bool ok = true;
        for (int fold = 0; ok && fold < ORCH_REGRESSORS_FOLDS; fold++) {
            take_fold(r, fold);
            ok = answer_fold(r, kind, &grid[k], &unable);
        }
        if (ok)
            add_setting(r, out, text_of(kind, &grid[k]));
        else if (!out->why)
            out->why = g_strdup(unable->message);
    }
    return out;
}

static bool answer_form(struct comparison *r, enum orch_aigauge_reading reading, GError **error)
{
    g_autofree struct orch_aigauge_job *jobs = g_new(struct orch_aigauge_job, r->seen_count + 1);
    for (size_t i = 0; i < r->seen_count; i++)
        jobs[i] = r->jobs[r->seen[i]];
    struct orch_aigauge *fit = orch_aigauge_fit(jobs, r->seen_y, r->seen_count, reading, error);
    for (size_t i = 0; fit && i < r->held_out_count; i++)
        r->predictions[r->held_out[i]] = orch_aigauge_predict(fit, &r->jobs[r->held_out[i]]);
    bool ok = fit;
    orch_aigauge_free(fit);
    return ok;
}

static struct orch_regressor *try_form(struct comparison *r, enum orch_aigauge_reading reading)
{
    bool by_gpu = reading == ORCH_AIGAUGE_BY_GPU;
    struct orch_regressor *out =
        regressor_new(by_gpu ? "aigauge, I = GPU type" : "aigauge, I = network");
    g_autoptr(GError) unable = NULL;
    if (!r->jobs) {
        out->why = g_strdup("the rows do not say network, GPU type, batch and threads");
        return out;
    }
    bool ok = true;
    for (int fold = 0; ok && fold < ORCH_REGRESSORS_FOLDS; fold++) {
        take_fold(r, fold);
        ok = answer_form(r, reading, &unable);
    }
    out->form =
        ok ? orch_aigauge_fit(r->jobs, r->rows->target, r->rows->rows, reading, &unable) : NULL;
    if (out->form)
        add_setting(r, out, g_strdup("least squares"));
    else
        out->why = g_strdup(unable->message);
    return out;
}

GPtrArray *orch_regressors_compare(const struct orch_rows *rows,
                                   const struct orch_aigauge_job *jobs, const char *const *models,
                                   uint64_t seed, GError **error)
{
    if (rows->rows < ROWS_MIN) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL,
                       "%zu rows are too few to compare models: %d are needed", rows->rows,
                       ROWS_MIN);
        return NULL;
    }
    for (int i = 0; models[i]; i++)
        if (strcmp(models[i], "aigauge") != 0 && !orch_model_find(models[i], error))
            return NULL;
    struct comparison comparison;
    comparison_init(&comparison, rows, jobs, seed);
    GPtrArray *out = g_ptr_array_new_with_free_func(free_regressor);
    for (int i = 0; models[i]; i++) {
        if (strcmp(models[i], "aigauge") == 0) {
            g_ptr_array_add(out, try_form(&comparison, ORCH_AIGAUGE_BY_GPU));
            g_ptr_array_add(out, try_form(&comparison, ORCH_AIGAUGE_BY_NET));
        } else {
            g_ptr_array_add(out, try_model(&comparison, orch_model_find(models[i], NULL)));
        }
    }
    comparison_clear(&comparison);
    return out;
}
