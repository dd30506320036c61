/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"
#include "core/cli/compare_limits.h"
#include "core/cli/compare_run.h"
#include "core/cli/compare_sides.h"
#include "core/cli/nets.h"

#include "core/report/contrast.h"
#include "core/report/match.h"
#include "lib/base/error.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* Runs of each setting and side with --run. */
#define REPEATS 5
#define REPEATS_MAX 1000

struct compare_options {
    const char **metrics, **fail_on;
    const char *aggregate, *where, *least, *repeat;
    struct compare_run run;
    bool across;
};
#define AT(member) offsetof(struct compare_options, member)

static const struct orch_option OPTIONS[] = {
    {"metric", 'm', "NAME", ORCH_OPT_LIST, AT(metrics),
     "compare only this metric or result (default: all that both have)"},
    {"where", 'w', "FILTER", ORCH_OPT_TEXT, AT(where),
     "only runs of either side that match (docs/where.md)"},
    {"value", 0, "WHICH", ORCH_OPT_TEXT, AT(aggregate),
     "last (default), best, min, max, mean, first of each run's series"},
    {"least", 0, "PERCENT", ORCH_OPT_TEXT, AT(least),
     "the smallest difference that matters (default 5%)"},
    {"across", 0, NULL, ORCH_OPT_FLAG, AT(across),
     "compare timings of different machines all the same"},
    {"fail-on", 0, "LIMIT", ORCH_OPT_LIST, AT(fail_on),
     "exit with 7 when B changed so, e.g. 'epoch_time_s > 3%'; may be given again"},
    {"run", 0, "RECIPE", ORCH_OPT_TEXT, AT(run.recipe),
     "run both sides (commits, or . for the work tree) now, in turns"},
    {"repeat", 0, "N", ORCH_OPT_TEXT, AT(repeat),
     "with --run: so many runs of each setting and side (default 5)"},
    {"profile", 'p', "NAME", ORCH_OPT_TEXT, AT(run.profile), "with --run: the recipe's profile"},
    {"set", 's', "[EXP.]PARAM=VALUE", ORCH_OPT_LIST, AT(run.settings),
     "with --run: set a parameter"},
    {"sweep", 'x', "[EXP.]PARAM=A,B,...", ORCH_OPT_LIST, AT(run.sweeps),
     "with --run: sweep a parameter"},
    {0}};

/* A metric of both sides. */
struct row {
    char *name;
    struct orch_match *match;
    struct orch_contrast contrast;
    bool is_refused; /* a timing of different machines */
};

struct comparison {
    struct orch_cli *cli;
    const struct compare_options *options;
    struct compare_side sides[2];
    enum orch_aggregate aggregate;
    double least;
    GPtrArray *limits; /* struct compare_limit * */
    GPtrArray *rows;   /* struct row * */
    GPtrArray *broken; /* char *: limits that failed, in words */
    size_t tests;      /* compared at once */
};

static void free_row(gpointer pointer)
{
    struct row *row = pointer;
    g_free(row->name);
    orch_match_free(row->match);
    g_free(row);
}

static void free_limit(gpointer limit)
{
    compare_limit_free(limit);
}

/* ---- options ----------------------------------------------------------------------------------
 */

static bool parse_least(const char *text, double *out, GError **error)
{
    g_autofree char *number = g_strdup(text ? text : "5");
    char *percent = strchr(number, '%');
    if (percent && !percent[1])
        *percent = 0;
    if (orch_real_parse(g_strstrip(number), out) && *out > 0 && *out <= 1000) {
        *out /= 100;
        return true;
    }
    orch_error_set(error, ORCH_ERROR_USAGE, "for example --least 5%",
                   "option '--least': '%s' is not a per cent above 0", text);
    return false;
}

static bool parse_options(struct comparison *c, GError **error)
{
    const struct compare_options *o = c->options;
    if (o->aggregate && !orch_aggregate_parse(o->aggregate, &c->aggregate)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "last, best, min, max, mean, first",
                       "option '--value': unknown word '%s'", o->aggregate);
        return false;
    }
    for (int i = 0; o->fail_on && o->fail_on[i]; i++) {
        struct compare_limit *limit = compare_limit_parse(o->fail_on[i], error);
        if (!limit)
            return false;
        g_ptr_array_add(c->limits, limit);
    }
    const char *needs_run = o->repeat         ? "--repeat"
                            : o->run.profile  ? "--profile"
                            : o->run.settings ? "--set"
                            : o->run.sweeps   ? "--sweep"
                                              : NULL;
    if (needs_run && !o->run.recipe) {
        orch_error_set(error, ORCH_ERROR_USAGE, "--run RECIPE runs both sides",
                       "option '%s' says how to run, and nothing is run", needs_run);
        return false;
    }
    return parse_least(o->least, &c->least, error);
}

/* ---- sides ------------------------------------------------------------------------------------
 */

/* The two names, and how many arguments they take. */
static bool read_names(struct orch_cli *cli, bool runs, char *names[2], int *out_used,
                       GError **error)
{
    bool is_range = compare_range_split(cli->args[0], &names[0], &names[1]);
    *out_used = is_range ? 1 : 2;
    if (cli->arg_count < *out_used) {
        orch_error_set(error, ORCH_ERROR_USAGE, "orch compare A B, or orch compare main..feature",
                       "'%s' is one side, and a comparison takes two", cli->args[0]);
        return false;
    }
    if (!runs && cli->arg_count > *out_used) {
        orch_error_set(error, ORCH_ERROR_USAGE, "experiments behind the sides go with --run RECIPE",
                       "too many arguments: '%s'", cli->args[*out_used]);
        return false;
    }
    for (int i = 0; !is_range && i < 2; i++)
        names[i] = g_strdup(cli->args[i]);
    return true;
}

static bool run_sides(struct comparison *c, char *const names[2], int used, GError **error)
{
    struct compare_run wish = c->options->run;
    int64_t repeat = REPEATS;
    if (!orch_cli_count(c->options->repeat, "--repeat", REPEATS_MAX, &repeat, error))
        return false;
    if (c->options->where) {
        orch_error_set(error, ORCH_ERROR_USAGE, "name experiments behind the sides instead",
                       "--where chooses among runs, and --run makes them");
        return false;
    }
    wish.repeat = (int)repeat;
    wish.targets = c->cli->arg_count > used ? c->cli->args + used : NULL;
    return compare_run_both(c->cli, &wish, (const char *const *)names, c->sides, error);
}

static bool find_sides(struct comparison *c, GError **error)
{
    g_autofree char *a = NULL, *b = NULL;
    char *names[2] = {NULL, NULL};
    int used;
    bool ok = read_names(c->cli, c->options->run.recipe, names, &used, error);
    a = names[0];
    b = names[1];
    if (!ok)
        return false;
    if (c->options->run.recipe)
        return run_sides(c, names, used, error);
    struct orch_store *store = orch_cli_store(c->cli, ORCH_STORE_READ, error);
    const char *where = c->options->where;
    for (int i = 0; store && i < 2; i++)
        if (!(used == 1
                  ? compare_side_of_commit(c->cli, store, names[i], where, &c->sides[i], error)
                  : compare_side_find(c->cli, store, names[i], where, &c->sides[i], error)))
            return false;
    return store != NULL;
}

/* ---- comparing --------------------------------------------------------------------------------
 */

static bool is_asked(const struct comparison *c, const char *name)
{
    for (int i = 0; c->options->metrics && c->options->metrics[i]; i++)
        if (strcmp(c->options->metrics[i], name) == 0)
            return true;
    for (guint i = 0; i < c->limits->len; i++)
        if (strcmp(((const struct compare_limit *)c->limits->pdata[i])->metric, name) == 0)
            return true;
    return false;
}

/* What is asked for by name; else all that both sides have. */
static GPtrArray *names_of(const struct comparison *c, const struct orch_side *a,
                           const struct orch_side *b)
{
    GPtrArray *names =
        c->options->metrics ? g_ptr_array_new_with_free_func(g_free) : orch_sides_names(a, b);
    for (int i = 0; c->options->metrics && c->options->metrics[i]; i++)
        g_ptr_array_add(names, g_strdup(c->options->metrics[i]));
    for (guint i = 0; i < c->limits->len; i++) {
        const char *name = ((const struct compare_limit *)c->limits->pdata[i])->metric;
        if (!g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
            g_ptr_array_add(names, g_strdup(name));
    }
    return names;
}

static bool refuse(const struct row *row, GError **error)
{
    orch_error_set(error, ORCH_ERROR_USAGE, "--across compares them all the same",
                   "'%s' is a timing, and A ran on '%s', B on '%s'", row->name, row->match->where_a,
                   row->match->where_b);
    return false;
}

static bool add_row(struct comparison *c, const struct orch_side *a, const struct orch_side *b,
                    const char *name, GError **error)
{
    struct row *row = g_new0(struct row, 1);
    row->name = g_strdup(name);
    row->match = orch_sides_match(a, b, name, c->options->across);
    row->is_refused = row->match->is_timing && row->match->is_across && !c->options->across;
    g_ptr_array_add(c->rows, row);
    if (is_asked(c, name) && (!row->match->a->len || !row->match->b->len)) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "'orch show RUN' lists what a run has",
                       "no run of %c has a metric or result '%s'", row->match->a->len ? 'B' : 'A',
                       name);
        return false;
    }
    if (is_asked(c, name) && row->is_refused)
        return refuse(row, error);
    return true;
}

static const double *data_of(const GArray *numbers)
{
    return (const double *)(void *)numbers->data;
}

static void contrast_rows(struct comparison *c)
{
    g_autoptr(GPtrArray) contrasts = g_ptr_array_new();
    for (guint i = 0; i < c->rows->len; i++)
        c->tests += !((const struct row *)c->rows->pdata[i])->is_refused;
    for (guint i = 0; i < c->rows->len; i++) {
        struct row *row = c->rows->pdata[i];
        const GArray *x = row->match->a, *y = row->match->b;
        row->contrast =
            row->match->how != ORCH_MATCH_NONE
                ? orch_contrast_paired(data_of(x), data_of(y), x->len)
                : orch_contrast_samples(data_of(x), x->len, data_of(y), y->len, c->tests);
        if (!row->is_refused)
            g_ptr_array_add(contrasts, &row->contrast);
    }
    orch_contrasts_adjust((struct orch_contrast *const *)(void *)contrasts->pdata, contrasts->len);
}

static bool make_rows(struct comparison *c, GError **error)
{
    struct orch_store *store = c->cli->workspace->store;
    struct orch_side *a = orch_side_new(store, c->sides[0].runs, c->aggregate, error);
    struct orch_side *b = a ? orch_side_new(store, c->sides[1].runs, c->aggregate, error) : NULL;
    g_autoptr(GPtrArray) names = b ? names_of(c, a, b) : NULL;
    bool ok = b != NULL;
    for (guint i = 0; ok && i < names->len; i++)
        ok = add_row(c, a, b, names->pdata[i], error);
    orch_side_free(a);
    orch_side_free(b);
    if (ok)
        contrast_rows(c);
    if (ok && !c->tests)
        ok = refuse(c->rows->pdata[0], error);
    return ok;
}

/* ---- telling ----------------------------------------------------------------------------------
 */

static char *p_text(double p)
{
    return isnan(p) ? g_strdup("-") : p < 1e-4 ? g_strdup("<0.0001") : orch_number_format(p);
}

static json_t *real_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static void add_mean(struct orch_table *table, const struct orch_stat *stat)
{
    g_autofree char *text = orch_mean_format(stat->mean, stat->half);
    orch_table_add(table, text, NULL);
}

/* "1.032" and "1.018 to 1.046", or the difference where there is no ratio. */
static void add_change(struct orch_table *table, const struct orch_contrast *c)
{
    double shift = c->is_ratio ? 1 : 0;
    g_autofree char *number = orch_number_format(c->change + shift);
    g_autofree char *text = c->is_ratio
                                ? g_strdup(number)
                                : g_strdup_printf("B - A = %s", isnan(c->change) ? "-" : number);
    g_autofree char *interval = orch_interval_format(c->low + shift, c->high + shift);
    orch_table_add(table, text, NULL);
    orch_table_add(table, interval, NULL);
}

static char *count_text(const struct row *row)
{
    if (row->match->how != ORCH_MATCH_NONE)
        return g_strdup_printf("%u pairs", row->match->a->len);
    return g_strdup_printf("%u, %u", row->match->a->len, row->match->b->len);
}

static void print_table(const struct comparison *c)
{
    static const char *const headers[] = {"metric", ">A", ">B",   ">n",      ">B / A",
                                          ">95 %",  ">p", "test", "verdict", NULL};
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < c->rows->len; i++) {
        const struct row *row = c->rows->pdata[i];
        const struct orch_match *m = row->match;
        g_autofree char *name =
            m->unit ? g_strdup_printf("%s (%s)", row->name, m->unit) : g_strdup(row->name);
        g_autofree char *count = count_text(row);
        orch_table_add(table, name, NULL);
        add_mean(table, &row->contrast.a);
        add_mean(table, &row->contrast.b);
        orch_table_add(table, count, NULL);
        if (row->is_refused) {
            for (int j = 0; j < 4; j++)
                orch_table_add(table, "-", NULL);
            orch_table_add(table, "other machine", NULL);
            continue;
        }
        g_autofree char *p = p_text(row->contrast.adjusted);
        g_autofree char *words = orch_contrast_words(&row->contrast, m->better, m->unit, c->least);
        add_change(table, &row->contrast);
        orch_table_add(table, p, NULL);
        orch_table_add(table, orch_contrast_test_name(row->contrast.test), NULL);
        orch_table_add(table, words, NULL);
    }
    orch_table_print(c->cli, table, "metrics");
    fflush(stdout);
}

static json_t *stat_json(const struct orch_stat *stat)
{
    return json_pack("{s:I s:o s:o s:o s:o s:o}", "n", (json_int_t)stat->count, "mean",
                     real_or_null(stat->mean), "half_width", real_or_null(stat->half), "sd",
                     real_or_null(stat->sd), "min", real_or_null(stat->min), "max",
                     real_or_null(stat->max));
}

static json_t *row_json(const struct comparison *c, const struct row *row)
{
    static const char *const says[] = {"different", "equal", "same", "unknown"};
    static const char *const pairing[] = {"trials", "repeats", NULL};
    const struct orch_match *m = row->match;
    const struct orch_contrast *k = &row->contrast;
    json_t *json = json_pack("{s:s s:s? s:s s:o s:o s:s? s:i s:s s:s}", "metric", row->name, "unit",
                             m->unit, "better", m->better, "a", stat_json(&k->a), "b",
                             stat_json(&k->b), "pairs_of", pairing[m->how], "alone", (int)m->alone,
                             "where_a", m->where_a, "where_b", m->where_b);
    if (row->is_refused) {
        json_object_set_new(json, "verdict", json_string("other machine"));
        return json;
    }
    double shift = k->is_ratio ? 1 : 0;
    g_autofree char *words = orch_contrast_words(k, m->better, m->unit, c->least);
    json_t *rest =
        json_pack("{s:o s:o s:o s:o s:o s:s s:o s:I s:s s:s}", k->is_ratio ? "ratio" : "difference",
                  real_or_null(k->change + shift), "low", real_or_null(k->low + shift), "high",
                  real_or_null(k->high + shift), "p", real_or_null(k->p), "p_holm",
                  real_or_null(k->adjusted), "test", orch_contrast_test_name(k->test), "would_show",
                  real_or_null(k->shows), "more_runs", (json_int_t)orch_contrast_more(k, c->least),
                  "verdict", says[orch_contrast_says(k, c->least)], "words", words);
    json_object_update(json, rest);
    json_decref(rest);
    return json;
}

static json_t *side_json(const struct compare_side *side)
{
    json_t *keys = json_array();
    for (guint i = 0; i < side->runs->len; i++)
        json_array_append_new(keys,
                              json_string(((const struct orch_run *)side->runs->pdata[i])->key));
    return json_pack("{s:s s:s s:o}", "name", side->name, "what", side->what, "runs", keys);
}

static void print_json(const struct comparison *c)
{
    json_t *rows = json_array(), *broken = json_array();
    for (guint i = 0; i < c->rows->len; i++)
        json_array_append_new(rows, row_json(c, c->rows->pdata[i]));
    for (guint i = 0; i < c->broken->len; i++)
        json_array_append_new(broken, json_string(c->broken->pdata[i]));
    orch_cli_print_json(json_pack("{s:o s:o s:o s:o s:i s:f}", "a", side_json(&c->sides[0]), "b",
                                  side_json(&c->sides[1]), "metrics", rows, "broken", broken,
                                  "tests", (int)c->tests, "least", c->least));
}

/* What stands below the table: who was compared, and how. */
static void say_how(const struct comparison *c)
{
    for (int i = 0; i < 2; i++)
        orch_cli_say(c->cli, "%c: %s (%s, %u run%s)", 'A' + i, c->sides[i].name, c->sides[i].what,
                     c->sides[i].runs->len, c->sides[i].runs->len == 1 ? "" : "s");
    bool pairs[2] = {false, false};
    unsigned alone = 0;
    for (guint i = 0; i < c->rows->len; i++) {
        const struct row *row = c->rows->pdata[i];
        if (row->match->how != ORCH_MATCH_NONE)
            pairs[row->match->how] = true;
        alone = MAX(alone, row->match->alone);
        if (row->is_refused)
            orch_cli_warn(c->cli,
                          "A ran on '%s', B on '%s': '%s' is not compared\n  hint: --across does "
                          "it all the same",
                          row->match->where_a, row->match->where_b, row->name);
    }
    if (pairs[ORCH_MATCH_TRIALS])
        orch_cli_say(c->cli, "pairs: the same trial (experiment, parameters, seed) on both sides");
    if (pairs[ORCH_MATCH_REPEATS])
        orch_cli_say(c->cli, "pairs: equal seeds, and equal parameters but those that tell A from "
                             "B");
    if (alone)
        orch_cli_say(c->cli, "%u run%s without a partner left out", alone, alone == 1 ? "" : "s");
    if (c->tests > 1)
        orch_cli_say(c->cli, "p: after Holm's correction for %zu metrics compared at once",
                     c->tests);
}

static const struct row *row_of(const struct comparison *c, const char *name)
{
    for (guint i = 0; i < c->rows->len; i++)
        if (strcmp(((const struct row *)c->rows->pdata[i])->name, name) == 0)
            return c->rows->pdata[i];
    return NULL;
}

static void heed_limits(struct comparison *c)
{
    for (guint i = 0; i < c->limits->len; i++) {
        const struct compare_limit *limit = c->limits->pdata[i];
        const struct row *row = row_of(c, limit->metric);
        char *why;
        if (!row)
            continue; /* names_of has a row for each */
        enum compare_heed heed =
            compare_limit_heed(limit, &row->contrast, c->least, row->match->unit, &why);
        if (heed == COMPARE_BROKEN)
            g_ptr_array_add(c->broken, g_strdup(why));
        else if (heed == COMPARE_UNSURE)
            orch_cli_warn(c->cli, "%s: that may be noise, and fails nothing", why);
        g_free(why);
    }
}

static int compare(struct comparison *c, GError **error)
{
    if (!parse_options(c, error) || !find_sides(c, error) || !make_rows(c, error))
        return -1;
    heed_limits(c);
    if (c->cli->json) {
        print_json(c);
    } else {
        print_table(c);
        say_how(c);
    }
    if (!c->broken->len)
        return ORCH_EXIT_OK;
    g_ptr_array_add(c->broken, NULL);
    g_autofree char *all = g_strjoinv("; ", (char **)c->broken->pdata);
    orch_error_set(error, ORCH_ERROR_CHECK, NULL, "%s", all);
    return -1;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    struct comparison c = {.cli = cli, .options = options};
    c.limits = g_ptr_array_new_with_free_func(free_limit);
    c.rows = g_ptr_array_new_with_free_func(free_row);
    c.broken = g_ptr_array_new_with_free_func(g_free);
    int status = compare(&c, error);
    compare_side_clear(&c.sides[0]);
    compare_side_clear(&c.sides[1]);
    g_ptr_array_unref(c.limits);
    g_ptr_array_unref(c.rows);
    g_ptr_array_unref(c.broken);
    return status;
}

const struct orch_command ORCH_COMMAND_COMPARE = {
    .name = "compare",
    .group = "Looking",
    .summary = "two runs, experiments or commits: is the difference more than noise?",
    .usage = "A B | A..B [EXPERIMENT...]",
    .min_args = 1,
    .max_args = -1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct compare_options),
    .about =
        "A and B are runs, experiments (hw4/finetune), filters (docs/where.md), commits, or . for "
        "the work tree; A..B are two commits. The same trial on both sides (experiment, "
        "parameters, seed) makes a pair; else equal seeds do; else the runs are two samples. Said "
        "for each metric: both means, the ratio B / A with its 95 % interval, p (paired t, "
        "Mann-Whitney or Welch, after Holm's correction), and a verdict. Timings are compared "
        "only where machines agree.\n\n"
        "--fail-on 'METRIC > N%' (or < N, in the metric's unit) is about B's change against A, "
        "signed. It fails when the change that was seen is beyond, and the difference is more "
        "than noise.\n\n"
        "--run RECIPE makes the runs now, from the sources of both commits, in turns (A B B A). "
        "docs/compare.md says more.",
    .examples = "  orch compare 3f2a91c0 @last\n"
                "  orch compare 'mode=full and lr=0.01' 'mode=feature and lr=0.1' -m val_accuracy\n"
                "  orch compare main..feature --fail-on 'epoch_time_s > 3%'\n"
                "  orch compare main . --run recipes/bench.recipe --repeat 10",
    .run = run,
};
