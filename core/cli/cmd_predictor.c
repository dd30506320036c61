/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Evaluates predictors that learn from measured tables. */
#include "core/cli/cli.h"
#include "core/cli/learn_progress.h"
#include "core/cli/learned_show.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "predictors/learn.h"

#include <math.h>
#include <string.h>

struct eval_options {
    const char *train, *test, *target, *model, *group, *box, *format, *out;
    const char **drop;
    int seed;
    bool untuned, by_group, calibrate;
};

#define AT(member) offsetof(struct eval_options, member)
static const struct orch_option OPTIONS[] = {
    {"train", 0, "A.csv", ORCH_OPT_TEXT, AT(train), "rows to learn from"},
    {"test", 0, "B.csv", ORCH_OPT_TEXT, AT(test), "rows to judge by: the same columns"},
    {"target", 't', "COLUMN", ORCH_OPT_TEXT, AT(target), "what to predict (default step_ms)"},
    {"model", 'm', "NAME", ORCH_OPT_TEXT, AT(model),
     "auto (the default: a mixture of what is best), grey (the same, over the roofline alone), "
     "linear, tree, forest, boost, knn, mlp, kernel"},
    {"box", 0, "grey|black|best", ORCH_OPT_TEXT, AT(box),
     "learn the time over the roofline's (grey), the time (black), or what is better (the "
     "default)"},
    {"drop", 0, "COLUMN,...", ORCH_OPT_LIST, AT(drop),
     "columns to hide; what is worked out of them with others stays (docs/import.md)"},
    {"group", 0, "COLUMN", ORCH_OPT_TEXT, AT(group), "judge by this column's values too"},
    {"by-group", 0, NULL, ORCH_OPT_FLAG, AT(by_group),
     "leave whole groups of --group out in cross-validation: for values never seen"},
    {"by-group-width", 0, NULL, ORCH_OPT_FLAG, AT(calibrate),
     "give each value of --group an interval of its own width"},
    {"out", 0, "FILE.csv", ORCH_OPT_TEXT, AT(out),
     "write each row's target, answer, interval and distance"},
    {"untuned", 0, NULL, ORCH_OPT_FLAG, AT(untuned), "take each model's first setting"},
    {"seed", 0, "N", ORCH_OPT_INT, AT(seed), "of folds and models (default 0)"},
    {"format", 'f', "NAME", ORCH_OPT_TEXT, AT(format), "text, tsv, csv, markdown, latex"},
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

/* Adds the errors for each group, in order of appearance. */
static void score_groups(const struct orch_rows *test, const struct orch_answer *answers,
                         struct orch_table *table, json_t *out)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; test->groups && i < test->rows; i++)
        if (g_hash_table_add(seen, test->groups[i]))
            g_ptr_array_add(names, test->groups[i]);
    g_autofree size_t *which = g_new(size_t, MAX(test->rows, 1));
    for (guint k = 0; k < names->len; k++) {
        size_t count = 0;
        for (size_t i = 0; i < test->rows; i++)
            if (strcmp(test->groups[i], names->pdata[k]) == 0)
                which[count++] = i;
        struct orch_score s = orch_score_of(test->target, answers, which, count);
        add_score(table, names->pdata[k], &s);
        json_object_set_new(out, names->pdata[k], score_json(&s));
    }
}

struct outcome {
    struct orch_rows *train, *test;
    struct orch_learned *learned;
    struct orch_answer *answers;
    double fit_s, predict_us;
};

static void print_outcome(struct orch_cli *cli, const struct eval_options *o,
                          const struct outcome *r)
{
    static const char *const headers[] = {
        "rows", ">n", ">mean relative error", ">median", ">rmse", ">within the 90 %", NULL};
    struct orch_table *table = orch_table_new(headers);
    struct orch_score all = orch_score_of(r->test->target, r->answers, NULL, r->test->rows);
    json_t *out = score_json(&all), *groups = json_object();
    add_score(table, "all", &all);
    score_groups(r->test, r->answers, table, groups);
    json_object_set_new(out, "fit_s", orch_json_finite(r->fit_s));
    json_object_set_new(out, "predict_us", orch_json_finite(r->predict_us));
    g_autofree char *mixture = orch_learned_text(r->learned, 0);
    json_object_set_new(out, "model", json_string(mixture));
    json_object_set_new(out, "questions", learned_json(r->learned));
    json_object_set_new(out, "groups", groups);
    if (cli->json) {
        json_decref(orch_table_to_json(table));
        orch_cli_print_json(out);
        return;
    }
    json_decref(out);
    orch_table_print_as(cli, table, "scores", o->format);
    if (o->format)
        return;
    learned_say(r->learned, 6);
    printf(
        "learned from %zu rows in %.2f s (cross-validation and calibration in it), %.1f us a row "
        "to predict\n",
        r->train->rows, r->fit_s, r->predict_us);
}

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
        orch_error_set(error, ORCH_ERROR_USAGE, "grey, black, best",
                       "option '--box': unknown word '%s'", name);
    return !name;
}

static bool read_tables(const struct eval_options *o, struct outcome *r, GError **error)
{
    GPtrArray *drop = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; o->drop && o->drop[i]; i++) {
        g_auto(GStrv) words = g_strsplit(o->drop[i], ",", -1);
        for (int k = 0; words[k]; k++)
            g_ptr_array_add(drop, g_strdup(words[k]));
    }
    g_ptr_array_add(drop, NULL);
    struct orch_rows_options options = {.target = o->target ? o->target : "step_ms",
                                        .drop = (const char *const *)drop->pdata,
                                        .group = o->group};
    r->train = orch_rows_read(o->train, &options, error);
    options.like = r->train ? r->train->matrix : NULL;
    r->test = r->train ? orch_rows_read(o->test, &options, error) : NULL;
    g_ptr_array_unref(drop);
    return r->test;
}

static bool fail_options(const char *what, const char *hint, GError **error)
{
    orch_error_set(error, ORCH_ERROR_USAGE, hint, "%s", what);
    return false;
}

/* Checks that there are rows to evaluate on, and groups to leave out. */
static bool check_tables(const struct eval_options *o, const struct outcome *r, GError **error)
{
    bool varies = false;
    for (size_t i = 1; r->train->groups && i < r->train->rows; i++)
        varies |= strcmp(r->train->groups[i], r->train->groups[0]) != 0;
    if (!r->test->rows)
        orch_error_set(error, ORCH_ERROR_USAGE, "give it rows below its header",
                       "'%s' has no rows to judge by", o->test);
    else if (o->by_group && !varies && r->train->rows)
        orch_error_set(error, ORCH_ERROR_USAGE, "leave --by-group out, or bring more of them",
                       "all rows of '%s' have one '%s': none can be left out", o->train, o->group);
    else
        return true;
    return false;
}

/* Warns of columns that were learned from but are missing in the test rows, which makes
 * predictions poor. */
static void warn_of_missing(struct orch_cli *cli, const struct eval_options *o,
                            const struct outcome *r)
{
    const struct orch_matrix *learned = r->train->matrix, *asked = r->test->matrix;
    for (int c = 0; c < orch_matrix_cols(learned); c++) {
        const char *name = orch_matrix_feature(learned, c)->name;
        if (orch_matrix_find(asked, name) < 0 && !strchr(name, ' '))
            orch_cli_warn(cli,
                          "'%s' has no column '%s', which '%s' has: its values count as missing",
                          o->test, name, o->train);
    }
}

static bool evaluate(struct orch_cli *cli, const struct eval_options *o, struct outcome *r,
                     GError **error)
{
    struct orch_learn_options options = {.model = o->model ? o->model : "auto",
                                         .seed = (uint64_t)o->seed,
                                         .by_group = o->by_group,
                                         .calibrate_groups = o->calibrate,
                                         .no_tuning = o->untuned};
    if (!o->group && (o->by_group || o->calibrate))
        return fail_options(o->by_group ? "--by-group: which groups?"
                                        : "--by-group-width: which groups?",
                            "--group COLUMN", error);
    if (!find_box(o->box, &options.target, error) || !read_tables(o, r, error) ||
        !check_tables(o, r, error))
        return false;
    warn_of_missing(cli, o, r);
    for (guint i = 0; i < r->train->notes->len; i++)
        orch_cli_warn(cli, "%s", (char *)r->train->notes->pdata[i]);
    int64_t begin = orch_mono_ns();
    learn_progress_begin(cli, &options);
    r->learned = orch_learn(r->train, &options, error);
    learn_progress_end(&options);
    if (!r->learned)
        return false;
    r->fit_s = (double)(orch_mono_ns() - begin) / 1e9;
    r->answers = g_new(struct orch_answer, MAX(r->test->rows, 1));
    begin = orch_mono_ns();
    orch_learned_predict(r->learned, r->test, r->answers);
    r->predict_us = (double)(orch_mono_ns() - begin) / 1e3 / (double)MAX(r->test->rows, 1);
    return true;
}

/* Writes one line for each row: the measured and the predicted value. */
static bool write_answers(const char *path, const struct outcome *r, GError **error)
{
    g_autoptr(GString) text = g_string_new("target,value,low,high,distance,extrapolates\n");
    for (size_t i = 0; i < r->test->rows; i++) {
        const struct orch_answer *a = &r->answers[i];
        double values[] = {r->test->target[i], a->value, a->low, a->high, a->distance};
        for (size_t k = 0; k < G_N_ELEMENTS(values); k++) {
            char number[G_ASCII_DTOSTR_BUF_SIZE];
            g_string_append_printf(text, "%s,",
                                   g_ascii_formatd(number, sizeof number, "%.9g", values[k]));
        }
        g_string_append_printf(text, "%d\n", a->extrapolates);
    }
    return orch_file_write(path, text->str, text->len, false, error);
}

static int run_eval(struct orch_cli *cli, const void *options, GError **error)
{
    const struct eval_options *o = options;
    struct outcome r = {0};
    if (!o->train || !o->test) {
        orch_error_set(error, ORCH_ERROR_USAGE, "--train A.csv --test B.csv",
                       "which tables to learn from and to judge by?");
        return -1;
    }
    bool ok = orch_format_check(o->format, error) && evaluate(cli, o, &r, error) &&
              (!o->out || write_answers(o->out, &r, error));
    if (ok)
        print_outcome(cli, o, &r);
    orch_rows_free(r.train);
    orch_rows_free(r.test);
    orch_learned_free(r.learned);
    g_free(r.answers);
    return ok ? ORCH_EXIT_OK : -1;
}

const struct orch_command ORCH_COMMAND_PREDICTOR_EVAL = {
    .name = "predictor eval",
    .group = "Networks and hardware",
    .summary = "learn from one table of measurements, judge on another",
    .usage = "",
    .max_args = 0,
    .options = OPTIONS,
    .option_bytes = sizeof(struct eval_options),
    .about =
        "Settings are chosen by cross-validation with 5 folds on the mean relative error, and\n"
        "printed. A column 'gpu' brings the GPU's peaks, bandwidth and the like; columns that\n"
        "describe a layer or count a network's work bring operations, bytes and the roofline's\n"
        "time. Columns that give the target away are left out, and said.",
    .examples =
        "orch predictor eval --train a.csv --test b.csv --target ms --model boost --group gpu",
    .run = run_eval,
};
