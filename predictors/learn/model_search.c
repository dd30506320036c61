/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The candidate models and their cross-validation. Each (candidate, fold) pair is one job; the
 * jobs are distributed over all threads. */
#include "predictors/learn/scenario.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "predictors/features/feature_names.h"

#include <math.h>
#include <string.h>

#define MLP_ROWS 6000    /* more rows make training the MLP too slow */
#define FOREST_ROWS 1500 /* with more rows the forest grows too large, and boosting is better */
#define TINY_ROWS 400    /* with more rows the other candidates suffice */
#define LONE_ROWS 150    /* of one GPU: with more, boosting suffices to ask another */
#define KERNEL_ROWS 2500 /* the kernel model uses at most 1,000 rows; with more, others win */

/* ---- the list ----------------------------------------------------------------------------------
 */

static bool has_white(const struct orch_rows *rows)
{
    size_t count = 0;
    for (size_t i = 0; i < rows->rows; i++)
        count += isfinite(rows->white[i]) && rows->white[i] > 0;
    return rows->rows && (double)count >= 0.5 * (double)rows->rows;
}

static void add(GArray *candidates, const struct orch_model_kind *kind,
                const struct orch_hyperparams *hyperparams, enum orch_learn_box box)
{
    struct orch_model_candidate candidate = {.kind = kind, .box = box};
    candidate.mean_relative_error = (double)INFINITY;
    if (hyperparams)
        candidate.hyperparams = *hyperparams;
    candidate.is_baseline = box == ORCH_BOX_SPECS && (!kind || strcmp(kind->name, "knn") == 0);
    g_array_append_val(candidates, candidate);
}

/* True if the options and the available columns allow this kind of target and features. */
static bool allows(const struct orch_rows *rows, const struct orch_learn_options *o,
                   enum orch_learn_box box)
{
    bool grey_only = o->target == ORCH_LEARN_GREY || strcmp(o->model, "grey") == 0;
    if (box == ORCH_BOX_BLACK || box == ORCH_BOX_PLAIN)
        return !grey_only || !has_white(rows);
    if (o->target == ORCH_LEARN_LOG || !has_white(rows))
        return false;
    if (box == ORCH_BOX_MATCHED && !orch_matched_applies(rows))
        return false;
    return box != ORCH_BOX_KERNELS || orch_rows_have_kernels(rows);
}

static void add_boxes(GArray *candidates, const struct orch_rows *rows,
                      const struct orch_learn_options *o, const struct orch_model_kind *kind,
                      const struct orch_hyperparams *hyperparams, unsigned boxes)
{
    for (int box = 0; box < ORCH_BOX_COUNT; box++)
        if ((boxes >> box & 1) && allows(rows, o, (enum orch_learn_box)box))
            add(candidates, kind, hyperparams, (enum orch_learn_box)box);
}

#define BLACK (1u << ORCH_BOX_BLACK)
#define GREY (1u << ORCH_BOX_GREY)
#define BARE (1u << ORCH_BOX_BARE)
#define SPECS (1u << ORCH_BOX_SPECS)
#define STRIPPED (1u << ORCH_BOX_STRIPPED)
#define PLAIN (1u << ORCH_BOX_PLAIN)
#define KERNELS (1u << ORCH_BOX_KERNELS)
#define RATES (1u << ORCH_BOX_RATES)
#define MATCHED (1u << ORCH_BOX_MATCHED)

/* Adds one model family that was requested by name, with its whole hyperparameter grid. */
static void list_kind(GArray *candidates, const struct orch_rows *rows,
                      const struct orch_learn_options *o, const struct orch_model_kind *kind)
{
    const struct orch_hyperparams *grid;
    int count = kind->grid(&grid);
    for (int i = 0; i < (o->no_tuning ? 1 : count); i++)
        add_boxes(candidates, rows, o, kind, &grid[i], BLACK | GREY | BARE);
}

/* A candidate of the stacked ensemble. With few groups all candidates get nearly equal weight, so a
 * model family's influence is the number of its entries in this list. For that case the list has no
 * duplicates and no model that depends on facts of the group. */
struct offer {
    const struct orch_model_kind *kind;
    unsigned seen, unseen, few; /* boxes for seen groups, for unseen groups, and for unseen groups
                                   when fewer than ORCH_FEW_GROUPS were measured */
    unsigned lone;              /* besides, for an unseen GPU when one GPU was measured */
    size_t rows_max;            /* limit for seen groups; 0: none */
    struct orch_hyperparams hyperparams;
};

#define BOOST_KNOBS .loss = ORCH_LOSS_RELATIVE, .leaf_rows = 4

#define KERNEL_KNOBS                                                                               \
    .loss = ORCH_LOSS_QUANTILE, .level = 0.5, .depth = 4, .leaf_rows = 40, .trees = 200,           \
    .rate = 0.1, .feature_share = 0.5, .row_share = 0.8, .all_trees = true

static const struct offer OFFERS[] = {
    {.unseen = KERNELS, .few = KERNELS, .hyperparams = {0}},
    {.kind = &ORCH_MODEL_BOOST, .unseen = KERNELS, .few = KERNELS, .hyperparams = {KERNEL_KNOBS}},
    {.kind = &ORCH_MODEL_BOOST,
     .unseen = KERNELS,
     .few = KERNELS,
     .hyperparams = {KERNEL_KNOBS, .share = 0.5}},
    /* the first two do not go beyond what was measured: another GPU comes with other versions and
     * batches; of few rows trees learn too little */
    {.unseen = MATCHED, .few = MATCHED, .lone = MATCHED, .hyperparams = {0}},
    {.kind = &ORCH_MODEL_KNN, .lone = RATES, .hyperparams = {.neighbours = 8}},
    {.kind = &ORCH_MODEL_BOOST,
     .lone = RATES,
     .hyperparams = {BOOST_KNOBS, .depth = 6, .trees = 400, .rate = 0.08, .feature_share = 0.5,
                     .row_share = 0.8}},
    {.kind = &ORCH_MODEL_KERNEL,
     .lone = RATES,
     .rows_max = LONE_ROWS,
     .hyperparams = {.length = 1, .ridge = 0.01}},
    {.seen = GREY | SPECS, .unseen = GREY | SPECS, .few = GREY | SPECS, .hyperparams = {0}},
    {.kind = &ORCH_MODEL_KNN,
     .seen = SPECS | GREY,
     .unseen = SPECS,
     .few = SPECS,
     .rows_max = 12000,
     .hyperparams = {.neighbours = 1}},
    {.kind = &ORCH_MODEL_KNN, .seen = GREY, .rows_max = 12000, .hyperparams = {.neighbours = 4}},
    {.kind = &ORCH_MODEL_LINEAR, .seen = GREY | BLACK, .hyperparams = {.ridge = 1e-4}},
    {.kind = &ORCH_MODEL_LINEAR,
     .seen = GREY | BLACK,
     .rows_max = TINY_ROWS,
     .hyperparams = {.ridge = 1e-3}},
    {.kind = &ORCH_MODEL_LINEAR, .seen = STRIPPED, .hyperparams = {.ridge = 1e-3}},
    {.kind = &ORCH_MODEL_LINEAR,
     .seen = GREY,
     .unseen = GREY | BARE,
     .few = GREY | BARE,
     .hyperparams = {.ridge = 1e-2}},
    {.kind = &ORCH_MODEL_LINEAR,
     .seen = STRIPPED,
     .unseen = STRIPPED,
     .hyperparams = {.ridge = 0.03}},
    {.kind = &ORCH_MODEL_LINEAR, .unseen = PLAIN, .few = PLAIN, .hyperparams = {.ridge = 0.1}},
    {.kind = &ORCH_MODEL_KERNEL,
     .seen = GREY | BLACK,
     .rows_max = TINY_ROWS,
     .hyperparams = {.length = 6, .ridge = 3e-4}},
    {.kind = &ORCH_MODEL_KERNEL,
     .seen = GREY | BLACK,
     .unseen = GREY | BARE,
     .few = GREY | BARE,
     .rows_max = KERNEL_ROWS,
     .hyperparams = {.length = 1, .ridge = 0.01}},
    {.kind = &ORCH_MODEL_KERNEL,
     .seen = GREY | BLACK,
     .rows_max = KERNEL_ROWS,
     .hyperparams = {.length = 3, .ridge = 0.002}},
    {.kind = &ORCH_MODEL_KERNEL,
     .unseen = GREY | SPECS,
     .few = GREY | SPECS | PLAIN,
     .rows_max = KERNEL_ROWS,
     .hyperparams = {.length = 2, .ridge = 0.1}},
    {.kind = &ORCH_MODEL_KERNEL,
     .seen = STRIPPED,
     .unseen = STRIPPED,
     .rows_max = KERNEL_ROWS,
     .hyperparams = {.length = 1, .ridge = 0.03}},
    {.kind = &ORCH_MODEL_KERNEL,
     .seen = STRIPPED,
     .rows_max = TINY_ROWS,
     .hyperparams = {.length = 3, .ridge = 2e-3}},
    {.kind = &ORCH_MODEL_BOOST,
     .seen = GREY | BLACK,
     .unseen = BARE | GREY | BLACK,
     .few = GREY | BLACK,
     .hyperparams = {BOOST_KNOBS, .depth = 6, .trees = 400, .rate = 0.08, .feature_share = 0.5,
                     .row_share = 0.8}},
    {.kind = &ORCH_MODEL_BOOST,
     .seen = GREY,
     .unseen = BARE | GREY,
     .few = BARE | GREY | SPECS,
     .hyperparams = {BOOST_KNOBS, .depth = 3, .trees = 500, .rate = 0.1, .feature_share = 0.5,
                     .row_share = 0.8}},
    {.kind = &ORCH_MODEL_FOREST,
     .seen = GREY,
     .unseen = BARE,
     .few = SPECS,
     .rows_max = FOREST_ROWS,
     .hyperparams = {.depth = 20, .leaf_rows = 2, .trees = 100, .feature_share = 0.4}},
    {.kind = &ORCH_MODEL_MLP,
     .seen = GREY,
     .unseen = BARE,
     .rows_max = MLP_ROWS,
     .hyperparams = {.width = 64, .rate = 3e-3, .ridge = 1e-3, .epochs = 60}},
};

/* True if one GPU was measured and another is asked, whose rates alone can say how times change.
 * Single kernels and transformers have a model that says more. */
static bool carries_over(const struct orch_scenario *q, const struct orch_rows *rows)
{
    size_t count = 0;
    for (size_t i = 0; i < rows->rows; i++)
        count += rows->devices[i].gpu && rows->devices[i].work > 0;
    bool of_gpu = orch_feature_is_gpu(q->column);
    return q->has_one_group && of_gpu && has_white(rows) && !orch_rows_have_kernels(rows) &&
           2 * count > rows->rows;
}

/* Networks that were not measured have no rows of their own. */
static unsigned boxes_for(const struct orch_scenario *q, unsigned boxes)
{
    return orch_feature_is_gpu(q->column) ? boxes : boxes & ~MATCHED;
}

static void list_all(GArray *candidates, const struct orch_scenario *q,
                     const struct orch_rows *rows, const struct orch_learn_options *o)
{
    bool unseen = q->column != NULL;
    bool few = unseen && !q->has_one_group && q->group_count < ORCH_FEW_GROUPS;

    for (size_t i = 0; i < G_N_ELEMENTS(OFFERS); i++) {
        const struct offer *offer = &OFFERS[i];
        unsigned boxes = few ? offer->few : unseen ? offer->unseen : offer->seen;

        if (!has_white(rows) && boxes)
            boxes |= BLACK; /* the only box that needs no roofline */
        if (!offer->kind)
            boxes &= ~BLACK;
        if (q->has_one_group &&
            has_white(rows)) /* one level gives no information about other levels */
            boxes &= BARE | SPECS | STRIPPED;
        if (carries_over(q, rows) && (!offer->rows_max || rows->rows <= offer->rows_max))
            boxes |= offer->lone;
        if (!offer->rows_max || unseen || rows->rows <= offer->rows_max)
            add_boxes(candidates, rows, o, offer->kind, &offer->hyperparams, boxes_for(q, boxes));
    }
}

bool orch_learn_model_check(const char *name, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    g_ptr_array_add(names, (gpointer)(uintptr_t) "auto");
    g_ptr_array_add(names, (gpointer)(uintptr_t) "grey");
    for (const struct orch_model_kind *kind = orch_model_kinds(); kind->name; kind++)
        g_ptr_array_add(names, (gpointer)(uintptr_t)kind->name);
    g_ptr_array_add(names, NULL);
    const char *const *all = (const char *const *)names->pdata;
    if (g_strv_contains(all, name))
        return true;
    g_autofree char *near = orch_suggest_hint(name, all);
    g_autofree char *list = g_strjoinv(", ", (char **)names->pdata);
    orch_error_set(error, ORCH_ERROR_USAGE, near ? near : list, "unknown model '%s'", name);
    return false;
}

GArray *orch_candidates_list(const struct orch_scenario *q, const struct orch_rows *rows,
                             const struct orch_learn_options *o, GError **error)
{
    if (!orch_learn_model_check(o->model, error))
        return NULL;
    bool all = strcmp(o->model, "auto") == 0 || strcmp(o->model, "grey") == 0;
    const struct orch_model_kind *only = all ? NULL : orch_model_find(o->model, error);
    bool wants_grey = o->target == ORCH_LEARN_GREY || strcmp(o->model, "grey") == 0;
    if (wants_grey && !has_white(rows)) {
        orch_error_set(
            error, ORCH_ERROR_USAGE, "use another --model",
            "the grey-box model needs a roofline time for each row, but the table has none");
        return NULL;
    }
    GArray *candidates = g_array_new(FALSE, FALSE, sizeof(struct orch_model_candidate));
    if (only)
        list_kind(candidates, rows, o, only);
    else
        list_all(candidates, q, rows, o);
    return candidates;
}

/* ---- fitting one candidate ---------------------------------------------------------------------
 */

bool orch_scenario_has_fact(const char *name, const void *question)
{
    const struct orch_scenario *q = question;
    for (guint i = 0; i < q->facts->len; i++)
        if (strcmp(q->facts->pdata[i], name) == 0)
            return true;
    return false;
}

/* True for facts of the group and for features derived from them: roofline times for a GPU, also
 * counts of the work for a network. Without a group column it is true for derived features only. */
static bool is_fact_or_of_one(const char *name, const void *data)
{
    static const char *const prefixes[] = {"white ", "work ", "net ", "gemm ", "gpu "};
    const struct orch_scenario *q = data;
    bool of_gpu = orch_feature_is_gpu(q->column);
    size_t count = of_gpu ? 1 : q->column ? 4 : G_N_ELEMENTS(prefixes);
    for (size_t i = 0; i < count; i++)
        if (g_str_has_prefix(name, prefixes[i]))
            return true;
    return q->column && orch_scenario_has_fact(name, data);
}

static bool is_of_white(const char *name, const void *data)
{
    (void)data;
    return g_str_has_prefix(name, "white ") || g_str_has_prefix(name, "gemm ");
}

/* True for facts of the GPU and for what is derived from them. */
static bool is_of_gpu(const char *name, const void *question)
{
    static const char *const derived[] = {"white ", "gemm w", "gemm outputs_", "work bytes_over_l2",
                                          "gpu "};
    for (size_t i = 0; i < G_N_ELEMENTS(derived); i++)
        if (g_str_has_prefix(name, derived[i]))
            return true;
    return orch_scenario_has_fact(name, question);
}

/* Returns the features that a box uses. Caller frees the result unless it is `m` itself. */
static struct orch_matrix *visible(const struct orch_scenario *q, struct orch_matrix *m,
                                   enum orch_learn_box box)
{
    if (box == ORCH_BOX_BARE)
        return orch_matrix_without(m, orch_scenario_has_fact, q);
    if (box == ORCH_BOX_PLAIN)
        return orch_matrix_without(m, is_of_white, NULL);
    if (box == ORCH_BOX_RATES || box == ORCH_BOX_MATCHED)
        return orch_matrix_without(m, is_of_gpu, q);
    return box == ORCH_BOX_STRIPPED || box == ORCH_BOX_KERNELS
               ? orch_matrix_without(m, is_fact_or_of_one, q)
               : m;
}

/* `out_shift`: by row, what of its ratio to the white box is the GPU's own. */
static struct orch_whitebox *fit_white(const struct orch_rows *rows, enum orch_learn_box box,
                                       double *out_shift)
{
    if (box == ORCH_BOX_RATES || box == ORCH_BOX_MATCHED)
        return orch_whitebox_of_rates();
    if (box == ORCH_BOX_KERNELS)
        return orch_whitebox_fit_kernels(rows, out_shift);
    bool fitted = box == ORCH_BOX_GREY || box == ORCH_BOX_BARE;
    return box == ORCH_BOX_BLACK || box == ORCH_BOX_PLAIN ? NULL
           : fitted                                       ? orch_whitebox_fit(rows)
                                                          : orch_whitebox_fit_factor(rows);
}

/* Log of the roofline's prediction, which the model corrects. 0 without one, NaN where unknown. */
static double *offsets_of(const struct orch_whitebox *white, const struct orch_rows *rows)
{
    double *out = g_new0(double, MAX(rows->rows, 1));
    if (!white)
        return out;
    orch_whitebox_predict(white, rows, out);
    for (size_t i = 0; i < rows->rows; i++)
        out[i] = log(out[i]);
    return out;
}

/* Sets the range to which predictions are clamped: the targets' range, extended by a quarter. */
static void set_range(struct orch_member *m, const double *y, size_t rows)
{
    m->low = (double)INFINITY;
    m->high = -(double)INFINITY;
    for (size_t i = 0; i < rows; i++) {
        m->low = MIN(m->low, y[i]);
        m->high = MAX(m->high, y[i]);
    }
    double margin = 0.2 + 0.25 * (m->high - m->low);
    m->low -= margin;
    m->high += margin;
}

/* Marks the features in which time must not decrease. The ratio to the roofline has no such
 * constraint, because larger work can be more efficient. */
static int8_t *signs_of(const struct orch_matrix *m, bool is_rate)
{
    static const char *const names[] = {"batch",
                                        "batch_per_gpu",
                                        "batch_size",
                                        "images",
                                        "work gflop",
                                        "work mbytes",
                                        "white compute_ms",
                                        "white memory_ms",
                                        "white tensor_ms",
                                        "white prior_ms",
                                        "white update_ms",
                                        "white roofline_ms",
                                        NULL};
    int8_t *signs = g_new0(int8_t, MAX(orch_matrix_cols(m), 1));
    for (int c = 0; c < orch_matrix_cols(m); c++)
        signs[c] = !is_rate && g_strv_contains(names, orch_matrix_feature(m, c)->name);
    return signs;
}

/* Fits to the rows whose roofline is known. */
static bool fit_model(struct orch_member *m, const struct orch_scenario *q,
                      const struct orch_rows *rows, const double *shift, uint64_t seed,
                      GError **error)
{
    g_autofree double *offsets = offsets_of(m->white, rows);
    g_autofree size_t *which = g_new(size_t, rows->rows + 1);
    g_autofree double *y = g_new(double, rows->rows + 1);
    size_t count = 0;
    for (size_t i = 0; i < rows->rows; i++) {
        if (!isfinite(offsets[i]))
            continue;
        y[count] = log(rows->target[i]) - offsets[i] - shift[i];
        which[count++] = i;
    }
    struct orch_matrix *seen = visible(q, rows->matrix, m->candidate.box);
    struct orch_matrix *used = count < rows->rows ? orch_matrix_pick(seen, which, count) : seen;
    g_autofree int8_t *signs = m->white ? NULL : signs_of(used, rows->is_rate);
    m->model =
        orch_model_fit(m->candidate.kind, used, y, signs, &m->candidate.hyperparams, seed, error);
    set_range(m, y, count);
    if (used != seen)
        orch_matrix_free(used);
    if (seen != rows->matrix)
        orch_matrix_free(seen);
    return m->model;
}

static void fit_matched(struct orch_member *m, const struct orch_scenario *q,
                        const struct orch_rows *rows)
{
    g_autofree double *y = offsets_of(m->white, rows);
    for (size_t i = 0; i < rows->rows; i++)
        y[i] = log(rows->target[i]) - y[i];
    struct orch_matrix *seen = visible(q, rows->matrix, m->candidate.box);
    m->matched = orch_matched_fit(rows, seen, y);
    if (seen != rows->matrix)
        orch_matrix_free(seen);
}

bool orch_member_fit(struct orch_member *m, const struct orch_scenario *q,
                     const struct orch_rows *rows, uint64_t seed, GError **error)
{
    g_autofree double *shift = g_new0(double, rows->rows + 1);
    m->white = fit_white(rows, m->candidate.box, shift);
    if (m->candidate.box == ORCH_BOX_MATCHED)
        fit_matched(m, q, rows);
    return !m->candidate.kind || fit_model(m, q, rows, shift, seed, error);
}

void orch_member_predict(const struct orch_member *m, const struct orch_rows *rows, double *out)
{
    g_autofree double *offsets = offsets_of(m->white, rows);
    bool is_unknown = m->candidate.box == ORCH_BOX_MATCHED && !m->matched;
    for (size_t i = 0; i < rows->rows; i++)
        out[i] = is_unknown ? (double)NAN : 0;
    if (m->matched)
        orch_matched_predict(m->matched, rows, out);
    if (m->model)
        orch_model_predict(m->model, rows->matrix, out); /* ignores features it was not fitted on */
    double share = m->candidate.hyperparams.share > 0 ? m->candidate.hyperparams.share : 1;
    for (size_t i = 0; i < rows->rows; i++)
        out[i] = offsets[i] + (m->model ? share * CLAMP(out[i], m->low, m->high) : out[i]);
}

/* ---- cross-validation
 * --------------------------------------------------------------------------
 */

struct fold {
    size_t *in, *held_out, in_count, held_out_count;
    struct orch_rows *seen, *unseen;
};

static void make_fold(const struct orch_rows *rows, const int *folds, int fold, struct fold *out)
{
    *out = (struct fold){
        g_new(size_t, rows->rows + 1), g_new(size_t, rows->rows + 1), 0, 0, NULL, NULL};
    for (size_t i = 0; i < rows->rows; i++) {
        if (folds[i] == fold)
            out->held_out[out->held_out_count++] = i;
        else
            out->in[out->in_count++] = i;
    }
    out->seen = orch_rows_pick(rows, out->in, out->in_count);
    out->unseen = orch_rows_pick(rows, out->held_out, out->held_out_count);
}

static void release_fold(struct fold *f)
{
    g_free(f->in);
    g_free(f->held_out);
    orch_rows_free(f->seen);
    orch_rows_free(f->unseen);
}

static const struct orch_model_candidate *candidate_of(const struct orch_scenario *q,
                                                       guint candidate)
{
    return &g_array_index(q->candidates, struct orch_model_candidate, candidate);
}

static void run_job(const struct orch_scenario *q, const struct fold *f, guint candidate,
                    uint64_t seed, double *out)
{
    struct orch_member m = {.candidate = *candidate_of(q, candidate)};
    g_autofree double *predictions = g_new(double, f->held_out_count + 1);
    g_autoptr(GError) unable = NULL;
    if (!f->held_out_count || !f->in_count)
        return;
    if (orch_member_fit(&m, q, f->seen, seed, &unable)) {
        orch_member_predict(&m, f->unseen, predictions);
        for (size_t k = 0; k < f->held_out_count; k++)
            out[f->held_out[k]] = predictions[k];
    }
    orch_member_release(&m);
}

void orch_learn_report_step(const struct orch_learn_options *o, const struct orch_scenario *q,
                            const struct orch_model_candidate *candidate,
                            struct orch_learn_step step)
{
    step.model = orch_model_candidate_name(candidate);
    step.column = q->column;
#pragma omp critical(orch_learn_report_step)
    if (o->on_step)
        o->on_step(o->on_step_ctx, &step);
}

void orch_candidates_cross_validate(const struct orch_scenario *q, const struct orch_rows *rows,
                                    const int *folds, const struct orch_learn_options *o,
                                    double **out)
{
    struct fold splits[ORCH_FOLDS];
    guint count = q->candidates->len;
    int begun = 0;
    for (int f = 0; f < ORCH_FOLDS; f++)
        make_fold(rows, folds, f, &splits[f]);
    for (guint t = 0; t < count; t++)
        for (size_t i = 0; i < rows->rows; i++)
            out[t][i] = (double)NAN;
            /* The last candidates take longest, so they start first. */
#pragma omp parallel for schedule(dynamic, 1) collapse(2)
    for (guint t = 0; t < count; t++)
        for (int f = 0; f < ORCH_FOLDS; f++) {
            int number;
#pragma omp atomic capture
            number = ++begun;
            struct orch_learn_step step = {.fold = f + 1,
                                           .folds = ORCH_FOLDS,
                                           .rows = splits[f].in_count,
                                           .number = number,
                                           .count = (int)count * ORCH_FOLDS};
            orch_learn_report_step(o, q, candidate_of(q, count - 1 - t), step);
            run_job(q, &splits[f], count - 1 - t, o->seed, out[count - 1 - t]);
        }
    for (int f = 0; f < ORCH_FOLDS; f++)
        release_fold(&splits[f]);
}
