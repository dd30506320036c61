/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"
#include "core/cli/compare_limits.h"
#include "core/cli/compare_run.h"
#include "core/cli/compare_show.h"
#include "core/cli/nets.h"

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
    bool across, disturbed;
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
    {"disturbed", 0, NULL, ORCH_OPT_FLAG, AT(disturbed),
     "times count runs during which other programs kept the CPUs busy, too"},
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

/* What was asked, and what came out. */
struct request {
    struct orch_cli *cli;
    const struct compare_options *options;
    enum orch_aggregate aggregate;
    GPtrArray *limits; /* struct compare_limit * */
    struct comparison out;
};

static void free_row(gpointer pointer)
{
    struct compare_row *row = pointer;
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

static bool parse_options(struct request *c, GError **error)
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
    return parse_least(o->least, &c->out.least, error);
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

static bool run_sides(struct request *c, char *const names[2], int used, GError **error)
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
    return compare_run_both(c->cli, &wish, (const char *const *)names, c->out.sides, error);
}

static bool find_sides(struct request *c, GError **error)
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
                  ? compare_side_of_commit(c->cli, store, names[i], where, &c->out.sides[i], error)
                  : compare_side_find(c->cli, store, names[i], where, &c->out.sides[i], error)))
            return false;
    return store != NULL;
}

/* ---- comparing --------------------------------------------------------------------------------
 */

static bool is_asked(const struct request *c, const char *name)
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
static GPtrArray *names_of(const struct request *c, const struct orch_side *a,
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

static bool refuse(const struct compare_row *row, GError **error)
{
    orch_error_set(error, ORCH_ERROR_USAGE, "--across compares them all the same",
                   "'%s' is a timing, and A ran on '%s', B on '%s'", row->name, row->match->where_a,
                   row->match->where_b);
    return false;
}

static bool add_row(struct request *c, const struct orch_side *a, const struct orch_side *b,
                    const char *name, GError **error)
{
    struct compare_row *row = g_new0(struct compare_row, 1);
    row->name = g_strdup(name);
    row->match = orch_sides_match(a, b, name, c->options->across);
    row->is_refused = row->match->is_timing && row->match->is_across && !c->options->across;
    g_ptr_array_add(c->out.rows, row);
    if (is_asked(c, name) && (!row->match->a->len || !row->match->b->len)) {
        g_autofree char *hint = orch_store_metric_hint(c->cli->workspace->store, name);
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, hint,
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

static void contrast_rows(struct request *c)
{
    g_autoptr(GPtrArray) contrasts = g_ptr_array_new();
    for (guint i = 0; i < c->out.rows->len; i++)
        c->out.tests += !((const struct compare_row *)c->out.rows->pdata[i])->is_refused;
    for (guint i = 0; i < c->out.rows->len; i++) {
        struct compare_row *row = c->out.rows->pdata[i];
        const GArray *x = row->match->a, *y = row->match->b;
        row->contrast =
            row->match->how != ORCH_MATCH_NONE
                ? orch_contrast_paired(data_of(x), data_of(y), x->len)
                : orch_contrast_samples(data_of(x), x->len, data_of(y), y->len, c->out.tests);
        if (!row->is_refused)
            g_ptr_array_add(contrasts, &row->contrast);
    }
    orch_contrasts_adjust((struct orch_contrast *const *)(void *)contrasts->pdata, contrasts->len);
}

/* Times leave out runs during which the machine did other work, unless --disturbed is given. Says
 * so when a time is compared. */
static void heed_disturbed(struct request *c, struct orch_side *const sides[2])
{
    for (int i = 0; i < 2; i++) {
        if (c->options->disturbed)
            orch_side_count_disturbed(sides[i]);
        c->out.disturbed_left_out += orch_side_disturbed(sides[i])->left_out_count;
        c->out.disturbed_kept += orch_side_disturbed(sides[i])->kept_count;
    }
}

static bool make_rows(struct request *c, GError **error)
{
    struct orch_store *store = c->cli->workspace->store;
    struct orch_side *a = orch_side_new(store, c->out.sides[0].runs, c->aggregate, error);
    struct orch_side *b =
        a ? orch_side_new(store, c->out.sides[1].runs, c->aggregate, error) : NULL;
    g_autoptr(GPtrArray) names = b ? names_of(c, a, b) : NULL;
    bool ok = b != NULL;
    if (ok)
        heed_disturbed(c, (struct orch_side *const[]){a, b});
    for (guint i = 0; ok && i < names->len; i++)
        ok = add_row(c, a, b, names->pdata[i], error);
    orch_side_free(a);
    orch_side_free(b);
    if (ok)
        contrast_rows(c);
    if (ok && !c->out.tests)
        ok = refuse(c->out.rows->pdata[0], error);
    return ok;
}

/* ---- limits -----------------------------------------------------------------------------------
 */

static const struct compare_row *row_of(const struct request *c, const char *name)
{
    for (guint i = 0; i < c->out.rows->len; i++)
        if (strcmp(((const struct compare_row *)c->out.rows->pdata[i])->name, name) == 0)
            return c->out.rows->pdata[i];
    return NULL;
}

static void heed_limits(struct request *c)
{
    for (guint i = 0; i < c->limits->len; i++) {
        const struct compare_limit *limit = c->limits->pdata[i];
        const struct compare_row *row = row_of(c, limit->metric);
        char *why;
        if (!row)
            continue;                                  /* names_of has a row for each */
        if (row->match->lost_b > row->match->lost_a) { /* no limit lets NaN pass */
            g_ptr_array_add(c->out.broken,
                            g_strdup_printf("%s is no number in %u of B's runs (limit: %s)",
                                            limit->metric, row->match->lost_b, limit->text));
            continue;
        }
        enum compare_heed heed =
            compare_limit_heed(limit, &row->contrast, c->out.least, row->match->unit, &why);
        if (heed == COMPARE_BROKEN)
            g_ptr_array_add(c->out.broken, g_strdup(why));
        else if (heed == COMPARE_UNSURE)
            orch_cli_warn(c->cli, "%s: that may be noise, and fails nothing", why);
        g_free(why);
    }
}

static int compare(struct request *c, GError **error)
{
    if (!parse_options(c, error) || !find_sides(c, error) || !make_rows(c, error))
        return -1;
    heed_limits(c);
    compare_show(c->cli, &c->out);
    if (!c->out.broken->len)
        return ORCH_EXIT_OK;
    g_ptr_array_add(c->out.broken, NULL);
    g_autofree char *all = g_strjoinv("; ", (char **)c->out.broken->pdata);
    orch_error_set(error, ORCH_ERROR_CHECK, NULL, "%s", all);
    return -1;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    struct request c = {.cli = cli, .options = options};
    c.limits = g_ptr_array_new_with_free_func(free_limit);
    c.out.rows = g_ptr_array_new_with_free_func(free_row);
    c.out.broken = g_ptr_array_new_with_free_func(g_free);
    int status = compare(&c, error);
    compare_side_clear(&c.out.sides[0]);
    compare_side_clear(&c.out.sides[1]);
    g_ptr_array_unref(c.limits);
    g_ptr_array_unref(c.out.rows);
    g_ptr_array_unref(c.out.broken);
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
