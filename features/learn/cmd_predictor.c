/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Evaluates predictors that learn from measured tables. */
#include "core/cli/cli.h"
#include "features/learn/learn_progress.h"
#include "features/learn/learned_show.h"
#include "features/learn/question_shape.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/devices/gpus.h"
#include "predictors/features/batch_reading.h"
#include "predictors/learn/learn.h"

#include <string.h>

/* ---- the evaluation -------------------------------------------------------------------------- */

struct orch_evaluation_request {
    const char *train, *test; /* paths of CSV files */
    const char *target;       /* column to predict */
    const char *group;        /* column to score by, or NULL */
    const char *box;          /* "black", "grey", "best" or NULL: best */
    const char *const *drop;  /* columns to hide, NULL-terminated, or NULL */
    bool by_group;            /* leave whole groups out in cross-validation */
};

struct orch_evaluation {
    struct orch_rows *train, *test;
    struct orch_learned *learned;
    struct orch_answer *answers; /* one for each test row */
    unsigned *shapes;            /* one for each test row: what of it the training rows lack */
    double fit_s, predict_us;    /* seconds to train; microseconds to predict a row */
    GPtrArray *missing;          /* const char *: columns that only the training rows have */
};

/* ---- the tables ------------------------------------------------------------------------------ */

/* What a row is held out with: boards of one chip together. */
static const char *group_of(const struct orch_rows *rows, size_t row)
{
    return rows->groups_are_gpus ? orch_gpu_chip(rows->groups[row]) : rows->groups[row];
}

/* Checks that there are rows to evaluate on, and groups to leave out. */
static bool check_tables(const struct orch_evaluation_request *r, const struct orch_evaluation *e,
                         GError **error)
{
    bool varies = false;
    for (size_t i = 1; e->train->groups && i < e->train->rows && !varies; i++)
        varies = strcmp(group_of(e->train, i), group_of(e->train, 0)) != 0;
    if (!e->test->rows)
        orch_error_set(error, ORCH_ERROR_USAGE, "add rows below the table's header",
                       "table '%s' has no rows to test on", r->test);
    else if (r->by_group && !varies && e->train->rows)
        orch_error_set(error, ORCH_ERROR_USAGE, "leave out --by-group",
                       "all rows of '%s' have the same '%s'%s, so no group can be held out",
                       r->train, r->group, e->train->groups_are_gpus ? " or chip" : "");
    else
        return true;
    return false;
}

/* Lists columns that were learned from but are missing in the test rows, which makes predictions
 * poor. */
static void list_missing(struct orch_evaluation *e)
{
    const struct orch_matrix *learned = e->train->matrix, *test_matrix = e->test->matrix;
    for (int c = 0; c < orch_matrix_cols(learned); c++) {
        const char *name = orch_matrix_feature(learned, c)->name;
        if (orch_matrix_find(test_matrix, name) < 0 && !strchr(name, ' '))
            g_ptr_array_add(e->missing, (gpointer)(uintptr_t)name);
    }
}

static void rows_of_tables(const struct orch_evaluation_request *r, struct orch_csv *train,
                           struct orch_csv *test, struct orch_evaluation *out, GError **error)
{
    struct orch_rows_options options = {.target = r->target, .drop = r->drop, .group = r->group};
    char *reading = orch_batch_reading_apply(train, test, r->target);
    out->train = orch_rows_of_table(train, &options, error);
    options.like = out->train ? out->train->matrix : NULL;
    out->test = out->train ? orch_rows_of_table(test, &options, error) : NULL;
    if (out->train && reading)
        g_ptr_array_add(out->train->notes, g_steal_pointer(&reading));
    g_free(reading);
}

/* Reads both tables and checks that they can be used. False with an error; the caller clears in
 * both cases. */
static bool evaluation_read(const struct orch_evaluation_request *r, struct orch_evaluation *out,
                            GError **error)
{
    *out = (struct orch_evaluation){.missing = g_ptr_array_new()};
    struct orch_csv *train = orch_csv_read(r->train, error);
    struct orch_csv *test = train ? orch_csv_read(r->test, error) : NULL;
    if (test)
        rows_of_tables(r, train, test, out, error);
    orch_csv_free(train);
    orch_csv_free(test);
    if (!out->test || !check_tables(r, out, error))
        return false;
    list_missing(out);
    out->shapes = orch_question_shapes(out->train, out->test);
    return true;
}

static void evaluation_clear(struct orch_evaluation *e)
{
    orch_rows_free(e->train);
    orch_rows_free(e->test);
    orch_learned_free(e->learned);
    g_free(e->answers);
    g_free(e->shapes);
    if (e->missing)
        g_ptr_array_unref(e->missing);
    *e = (struct orch_evaluation){0};
}

/* ---- training -------------------------------------------------------------------------------- */

static bool find_box(const char *name, enum orch_learn_target *out, GError **error)
{
    static const char *const names[] = {"black", "grey", "best"};
    *out = ORCH_LEARN_BEST;
    for (int i = 0; name && i < 3; i++) {
        if (strcmp(names[i], name) == 0) {
            *out = (enum orch_learn_target)i;
            return true;
        }
    }
    if (name)
        orch_error_set(error, ORCH_ERROR_USAGE, "use grey, black or best",
                       "option '--box': unknown value '%s'", name);
    return !name;
}

/* Trains with `options`, whose `target` becomes the request's box, and predicts the test rows. */
static bool evaluation_learn(struct orch_evaluation *e, const struct orch_evaluation_request *r,
                             struct orch_learn_options *options, GError **error)
{
    int64_t begin = orch_mono_ns();
    if (!find_box(r->box, &options->target, error))
        return false;
    e->learned = orch_learn(e->train, options, error);
    if (!e->learned)
        return false;
    e->fit_s = (double)(orch_mono_ns() - begin) / 1e9;
    e->answers = g_new(struct orch_answer, MAX(e->test->rows, 1));
    begin = orch_mono_ns();
    orch_learned_predict(e->learned, e->test, e->answers);
    e->predict_us = (double)(orch_mono_ns() - begin) / 1e3 / (double)MAX(e->test->rows, 1);
    return true;
}

/* ---- results --------------------------------------------------------------------------------- */

/* The groups of the test rows in order of appearance, const char *. The caller unrefs. */
static GPtrArray *evaluation_groups(const struct orch_evaluation *e)
{
    GPtrArray *names = g_ptr_array_new();
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; e->test->groups && i < e->test->rows; i++)
        if (g_hash_table_add(seen, e->test->groups[i]))
            g_ptr_array_add(names, e->test->groups[i]);
    return names;
}

/* Score over all test rows, or over those of one group. */
static struct orch_score evaluation_score(const struct orch_evaluation *e, const char *group)
{
    g_autofree size_t *which = g_new(size_t, MAX(e->test->rows, 1));
    size_t count = 0;
    if (!group)
        return orch_score_of(e->test->target, e->answers, NULL, e->test->rows);
    for (size_t i = 0; i < e->test->rows; i++)
        if (strcmp(e->test->groups[i], group) == 0)
            which[count++] = i;
    return orch_score_of(e->test->target, e->answers, which, count);
}

/* Score over the test rows of a shape. */
static struct orch_score evaluation_shape_score(const struct orch_evaluation *e, unsigned shape)
{
    g_autofree size_t *which = g_new(size_t, MAX(e->test->rows, 1));
    size_t count = 0;
    for (size_t i = 0; i < e->test->rows; i++)
        if (e->shapes[i] == shape)
            which[count++] = i;
    return orch_score_of(e->test->target, e->answers, which, count);
}

/* Writes a line for each test row with the measured and the predicted value, as CSV. */
static bool evaluation_write(const struct orch_evaluation *e, const char *path, GError **error)
{
    g_autoptr(GString) text = g_string_new("target,value,low,high,distance,extrapolates\n");
    for (size_t i = 0; i < e->test->rows; i++) {
        const struct orch_answer *a = &e->answers[i];
        double values[] = {e->test->target[i], a->value.mid, a->value.low, a->value.high,
                           a->distance};
        for (size_t k = 0; k < G_N_ELEMENTS(values); k++) {
            char number[G_ASCII_DTOSTR_BUF_SIZE];
            g_string_append_printf(text, "%s,",
                                   g_ascii_formatd(number, sizeof number, "%.9g", values[k]));
        }
        g_string_append_printf(text, "%d\n", a->extrapolates);
    }
    return orch_file_write(path, text->str, text->len, false, error);
}

/* ---- the command ----------------------------------------------------------------------------- */

struct eval_options {
    struct orch_evaluation_request ask; /* without `drop` */
    const char *model, *format, *out;
    const char **drop;
    int seed;
    bool untuned;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct eval_options, ask.train, TEXT, "train", .value = "A.csv",
                .help = "rows to train on"),
    ORCH_OPTION(struct eval_options, ask.test, TEXT, "test", .value = "B.csv",
                .help = "rows to evaluate on, with the same columns"),
    ORCH_OPTION(struct eval_options, ask.target, TEXT, "target", .letter = 't', .value = "COLUMN",
                .help = "what to predict (default step_ms)"),
    ORCH_OPTION(struct eval_options, model, TEXT, "model", .letter = 'm', .value = "NAME",
                .help = "auto (default), grey, linear, tree, forest, boost, knn, mlp or kernel"),
    ORCH_OPTION(struct eval_options, ask.box, TEXT, "box", .value = "grey|black|best",
                .help = "predict time / roofline time (grey), time (black), or the better (best)"),
    ORCH_OPTION(struct eval_options, drop, LIST, "drop", .value = "COLUMN,...",
                .help = "columns to ignore"),
    ORCH_OPTION(struct eval_options, ask.group, TEXT, "group", .value = "COLUMN",
                .help = "show the errors for each value of this column"),
    ORCH_OPTION(struct eval_options, ask.by_group, FLAG, "by-group",
                .help = "in cross-validation, hold out all rows that share a value of --group"),
    ORCH_OPTION(struct eval_options, out, TEXT, "output", .letter = 'o', .value = "FILE.csv",
                .help = "write the predictions and their intervals"),
    ORCH_OPTION(struct eval_options, untuned, FLAG, "untuned",
                .help = "do not search hyperparameters"),
    ORCH_OPTION(struct eval_options, seed, INT, "seed", .value = "N",
                .help = "random seed of folds and models (default 0)"),
    ORCH_OPTION(struct eval_options, format, TEXT, "format", .letter = 'f', .value = "NAME",
                .help = "print text, tsv, csv, markdown or latex"),
    {0}};

static json_t *score_json(const struct orch_score *s)
{
    return json_pack("{s:I, s:o, s:o, s:o, s:o}", "n", (json_int_t)s->n, "mean_relative_error",
                     orch_json_finite(s->mean_relative_error), "median_relative_error",
                     orch_json_finite(s->median_relative_error), "rmse", orch_json_finite(s->rmse),
                     "coverage_90", orch_json_finite(s->coverage_90));
}

static void add_score(struct orch_table *table, const char *what, const struct orch_score *s)
{
    g_autofree char *mean = g_strdup_printf("%.2f %%", 100 * s->mean_relative_error);
    g_autofree char *median = g_strdup_printf("%.2f %%", 100 * s->median_relative_error);
    g_autofree char *cover = g_strdup_printf("%.1f %%", 100 * s->coverage_90);
    orch_table_add(table, what, NULL);
    orch_table_add_int(table, (int64_t)s->n);
    orch_table_add(table, mean, orch_json_finite(s->mean_relative_error));
    orch_table_add(table, median, orch_json_finite(s->median_relative_error));
    orch_table_add_real(table, s->rmse);
    orch_table_add(table, cover, orch_json_finite(s->coverage_90));
}

/* Adds the errors for each shape of question among the test rows. A new reference. */
static json_t *score_shapes(const struct orch_evaluation *e, struct orch_table *table)
{
    json_t *out = json_object();
    for (size_t i = 0; i < e->test->rows; i++) {
        g_autofree char *text = orch_question_shape_text(e->shapes[i]);
        if (json_object_get(out, text))
            continue;
        struct orch_score score = evaluation_shape_score(e, e->shapes[i]);
        add_score(table, text, &score);
        json_object_set_new(out, text, score_json(&score));
    }
    return out;
}

/* Adds the errors for each group, in order of appearance. */
static void score_groups(const struct orch_evaluation *e, struct orch_table *table, json_t *out)
{
    g_autoptr(GPtrArray) names = evaluation_groups(e);
    for (guint k = 0; k < names->len; k++) {
        struct orch_score score = evaluation_score(e, names->pdata[k]);
        add_score(table, names->pdata[k], &score);
        json_object_set_new(out, names->pdata[k], score_json(&score));
    }
}

static void print_outcome(struct orch_cli *cli, const struct eval_options *o,
                          const struct orch_evaluation *r)
{
    static const char *const headers[] = {
        "rows", ">n", ">mean relative error", ">median", ">rmse", ">in 90 % interval", NULL};
    struct orch_table *table = orch_table_new(headers);
    struct orch_score all = evaluation_score(r, NULL);
    json_t *out = score_json(&all), *groups = json_object();
    add_score(table, "all", &all);
    json_object_set_new(out, "shapes", score_shapes(r, table));
    score_groups(r, table, groups);
    json_object_set_new(out, "fit_s", orch_json_finite(r->fit_s));
    json_object_set_new(out, "predict_us", orch_json_finite(r->predict_us));
    g_autofree char *mixture = orch_learned_text(r->learned, 0);
    json_object_set_new(out, "model", json_string(mixture));
    json_object_set_new(out, "questions", orch_cli_learned_json(r->learned));
    json_object_set_new(out, "groups", groups);
    if (cli->json) {
        json_decref(orch_cli_table_to_json(table));
        orch_cli_print_json(out);
        return;
    }
    json_decref(out);
    orch_cli_table_print_as(cli, table, "scores", o->format);
    if (o->format)
        return;
    orch_cli_learned_print(r->learned, 6);
    printf("trained on %zu rows in %.2f s; a prediction takes %.1f us a row\n", r->train->rows,
           r->fit_s, r->predict_us);
}

static bool check_options(const struct eval_options *o, GError **error)
{
    const char *what = !o->ask.train || !o->ask.test
                           ? "options '--train' and '--test' are both needed"
                       : o->ask.group    ? NULL
                       : o->ask.by_group ? "option '--by-group' needs '--group'"
                                         : NULL;
    if (!what)
        return orch_cli_format_check(o->format, error);
    orch_error_set(error, ORCH_ERROR_USAGE,
                   o->ask.train && o->ask.test ? "add --group COLUMN"
                                               : "for example --train A.csv --test B.csv",
                   "%s", what);
    return false;
}

static void warn(struct orch_cli *cli, const struct eval_options *o,
                 const struct orch_evaluation *e)
{
    for (guint i = 0; i < e->missing->len; i++)
        orch_cli_warn(cli, "'%s' has no column '%s', on which the models were trained", o->ask.test,
                      (const char *)e->missing->pdata[i]);
    for (guint i = 0; i < e->train->notes->len; i++)
        orch_cli_warn(cli, "%s", (char *)e->train->notes->pdata[i]);
}

static bool evaluate(struct orch_cli *cli, const struct eval_options *o,
                     struct orch_evaluation *out, GError **error)
{
    g_auto(GStrv) drop = orch_cli_predictor_split_list(o->drop);
    struct orch_evaluation_request request = o->ask;
    request.target = request.target ? request.target : "step_ms";
    request.drop = (const char *const *)drop;
    struct orch_learn_options options = {.model = o->model ? o->model : "auto",
                                         .seed = (uint64_t)o->seed,
                                         .by_group = o->ask.by_group,

                                         .no_tuning = o->untuned};
    if (!evaluation_read(&request, out, error))
        return false;
    warn(cli, o, out);
    orch_cli_learn_progress_begin(cli, &options);
    bool ok = evaluation_learn(out, &request, &options, error);
    orch_cli_learn_progress_end(&options);
    return ok;
}

static int run_eval(struct orch_cli *cli, const void *options, GError **error)
{
    const struct eval_options *o = options;
    struct orch_evaluation e = {0};
    bool ok = check_options(o, error) && evaluate(cli, o, &e, error) &&
              (!o->out || evaluation_write(&e, o->out, error));
    if (ok)
        print_outcome(cli, o, &e);
    evaluation_clear(&e);
    return ok ? ORCH_EXIT_OK : -1;
}

const struct orch_command ORCH_COMMAND_PREDICTOR_EVAL = {
    .name = "predictor eval",
    .group = "Networks and hardware",
    .summary = "train on one table of measurements and evaluate on another",
    .usage = "",
    .max_args = 0,
    .options = OPTIONS,
    .option_bytes = sizeof(struct eval_options),
    .about = "Chooses hyperparameters by 5-fold cross-validation and prints them with the errors "
             "on the test rows. Test rows whose chip, network or number of GPUs is not among the "
             "training rows are scored separately. orch adds columns to both tables, such as the "
             "GPU's peak speed or a layer's number of operations. It leaves out columns from which "
             "the target could be computed, with a warning.",
    .examples =
        "orch predictor eval --train a.csv --test b.csv --target ms --model boost --group gpu",
    .run = run_eval,
};
