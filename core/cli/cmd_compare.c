/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"
#include "core/cli/compare_show.h"
#include "core/cli/nets.h"
#include "core/run/compare_run.h"
#include "core/stats/contrast_limit.h"
#include "core/stats/task.h"

#include "core/run/argv_record.h"
#include "lib/base/error.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* Default and maximum number of runs of each setting and side with --run. */
#define REPEATS 5
#define REPEATS_MAX 1000

struct compare_options {
    const char **metrics, **fail_on;
    const char *aggregate, *where, *least, *repeat;
    struct orch_compare_run run;
    bool across, disturbed;
};
#define AT(member) offsetof(struct compare_options, member)

static const struct orch_option OPTIONS[] = {
    {"metric", 'm', "NAME", ORCH_OPT_LIST, AT(metrics),
     "compare only this metric or result (default: all that both have)"},
    {"where", 'w', "FILTER", ORCH_OPT_TEXT, AT(where),
     "compare only runs that match, on both sides (docs/where.md)"},
    {"value", 0, "WHICH", ORCH_OPT_TEXT, AT(aggregate),
     "last (default), best, min, max, mean, first of each run's series"},
    {"least", 0, "PERCENT", ORCH_OPT_TEXT, AT(least),
     "the smallest difference that matters (default 5%)"},
    {"across", 0, NULL, ORCH_OPT_FLAG, AT(across),
     "put all tasks in one comparison, and compare timings of different machines"},
    {"disturbed", 0, NULL, ORCH_OPT_FLAG, AT(disturbed),
     "also count times of runs during which other programs kept the CPUs busy"},
    {"fail-on", 0, "LIMIT", ORCH_OPT_LIST, AT(fail_on),
     "exit with 7 when B changed this much, e.g. 'epoch_time_s > 3%'(repeatable)"},
    {"run", 0, "RECIPE", ORCH_OPT_TEXT, AT(run.recipe),
     "run both sides (commits, or . for the work tree) now, in turns"},
    {"repeat", 0, "N", ORCH_OPT_TEXT, AT(repeat),
     "with --run: number of runs of each setting and side (default 5)"},
    {"profile", 'p', "NAME", ORCH_OPT_TEXT, AT(run.profile), "with --run: the recipe's profile"},
    {"set", 's', "[EXP.]PARAM=VALUE", ORCH_OPT_LIST, AT(run.settings),
     "with --run: set a parameter"},
    {"sweep", 'x', "[EXP.]PARAM=A,B,...", ORCH_OPT_LIST, AT(run.sweeps),
     "with --run: sweep a parameter"},
    {0}};

/* The request and its results. */
struct request {
    struct orch_cli *cli;
    const struct compare_options *options;
    enum orch_aggregate aggregate;
    GPtrArray *limits;   /* struct orch_contrast_limit * */
    GHashTable *lacking; /* requested metric that some task lacks -> "A", "B" */
    struct comparison out;
};

static void free_row(gpointer pointer)
{
    struct compare_row *row = pointer;
    g_free(row->name);
    g_free(row->task);
    orch_match_free(row->match);
    g_free(row);
}

static void free_limit(gpointer limit)
{
    orch_contrast_limit_free(limit);
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
        struct orch_contrast_limit *limit = orch_contrast_limit_parse(o->fail_on[i], error);
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

/* Reads the two names, and returns how many arguments they used. */
static bool read_names(struct orch_cli *cli, bool runs, char *names[2], int *out_used,
                       GError **error)
{
    bool is_range = orch_compare_range_split(cli->args[0], &names[0], &names[1]);
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

static void on_message(void *ctx, const char *text)
{
    orch_cli_info(ctx, "%s", text);
}

static void on_warn(void *ctx, const char *text)
{
    orch_cli_warn(ctx, "%s", text);
}

static char *command_line(void *ctx, const struct orch_expansion *expansion)
{
    const struct orch_cli *cli = ctx;
    return orch_argv_record(cli->argv, cli->argc, expansion);
}

static bool run_sides(struct request *c, char *const names[2], int used, GError **error)
{
    struct orch_compare_run request = c->options->run;
    int64_t repeat = REPEATS;
    if (!orch_cli_count(c->options->repeat, "--repeat", REPEATS_MAX, &repeat, error))
        return false;
    if (c->options->where) {
        orch_error_set(error, ORCH_ERROR_USAGE, "name experiments behind the sides instead",
                       "--where chooses among runs, and --run makes them");
        return false;
    }
    request.repeat = (int)repeat;
    request.targets = c->cli->arg_count > used ? c->cli->args + used : NULL;
    const struct orch_compare_listener listener = {c->cli, on_message, on_warn, command_line};
    struct orch_workspace *workspace = orch_cli_workspace(c->cli, NULL, error);
    return workspace &&
           orch_compare_run_both(workspace, c->cli->plugin_paths, &request,
                                 (const char *const *)names, &listener, c->out.sides, error);
}

/* Warns when both sides have the same runs, as commits with the same code do: there is no
 * difference to measure. */
static void print_if_same(const struct request *c)
{
    const GPtrArray *a = c->out.sides[0].runs, *b = c->out.sides[1].runs;
    bool is_same = a->len == b->len;
    for (guint i = 0; is_same && i < a->len; i++)
        is_same = strcmp(((const struct orch_run *)a->pdata[i])->key,
                         ((const struct orch_run *)b->pdata[i])->key) == 0;
    if (is_same)
        orch_cli_warn(c->cli, "A and B are the same runs\n  hint: 'orch compare A B --run RECIPE' "
                              "makes new runs of both sides, in turns");
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
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    bool found = store != NULL;
    for (int i = 0; found && i < 2; i++)
        found = (used == 1 ? orch_compare_side_of_commit : orch_compare_side_find)(
            c->cli->workspace, store, names[i], where, &c->out.sides[i], notes, error);
    for (guint i = 0; i < notes->len; i++)
        orch_cli_warn(c->cli, "%s", (const char *)notes->pdata[i]);
    if (found)
        print_if_same(c);
    return found;
}

/* ---- comparing --------------------------------------------------------------------------------
 */

static bool is_selected(const struct request *c, const char *name)
{
    for (int i = 0; c->options->metrics && c->options->metrics[i]; i++)
        if (strcmp(c->options->metrics[i], name) == 0)
            return true;
    for (guint i = 0; i < c->limits->len; i++)
        if (strcmp(((const struct orch_contrast_limit *)c->limits->pdata[i])->metric, name) == 0)
            return true;
    return false;
}

/* Returns the requested metrics, or all that both sides have. */
static GPtrArray *names_of(const struct request *c, const struct orch_side *a,
                           const struct orch_side *b)
{
    GPtrArray *names =
        c->options->metrics ? g_ptr_array_new_with_free_func(g_free) : orch_sides_names(a, b);
    for (int i = 0; c->options->metrics && c->options->metrics[i]; i++)
        g_ptr_array_add(names, g_strdup(c->options->metrics[i]));
    for (guint i = 0; i < c->limits->len; i++) {
        const char *name = ((const struct orch_contrast_limit *)c->limits->pdata[i])->metric;
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

static bool add_row(struct request *c, struct orch_side *const sides[2], const char *task,
                    const char *name, GError **error)
{
    struct compare_row *row = g_new0(struct compare_row, 1);
    row->name = g_strdup(name);
    row->task = g_strdup(task);
    row->match = orch_sides_match(sides[0], sides[1], name, c->options->across);
    row->is_refused = row->match->is_timing && row->match->is_across && !c->options->across;
    bool has_a = row->match->a->len, has_b = row->match->b->len;
    if (is_selected(c, name) && (!has_a || !has_b)) {
        g_hash_table_insert(c->lacking, g_strdup(name), (gpointer)(uintptr_t)(has_a ? "B" : "A"));
        free_row(row);
        return true;
    }
    g_ptr_array_add(c->out.rows, row);
    return !is_selected(c, name) || !row->is_refused || refuse(row, error);
}

static const struct compare_row *row_of(const struct request *c, const char *name)
{
    for (guint i = 0; i < c->out.rows->len; i++)
        if (strcmp(((const struct compare_row *)c->out.rows->pdata[i])->name, name) == 0)
            return c->out.rows->pdata[i];
    return NULL;
}

/* Checks that some task has each requested metric. */
static bool has_asked(const struct request *c, GError **error)
{
    GHashTableIter iter;
    gpointer name, side;
    g_hash_table_iter_init(&iter, c->lacking);
    while (g_hash_table_iter_next(&iter, &name, &side)) {
        if (row_of(c, name))
            continue;
        g_autofree char *which = g_strdup_printf("of %s", (char *)side);
        orch_metric_not_found(c->cli->workspace->store, which, name, error);
        return false;
    }
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

/* Leaves disturbed runs out of times, unless --disturbed is given, and says so when a time is
 * compared. */
static void count_disturbed(struct request *c, struct orch_side *const sides[2])
{
    for (int i = 0; i < 2; i++) {
        if (c->options->disturbed)
            orch_side_count_disturbed(sides[i]);
        c->out.disturbed_left_out += orch_side_disturbed(sides[i])->left_out_count;
        c->out.disturbed_kept += orch_side_disturbed(sides[i])->kept_count;
    }
}

/* Adds the rows for the runs of one task. */
static bool add_rows(struct request *c, const char *task, GPtrArray *const runs[2], GError **error)
{
    struct orch_store *store = c->cli->workspace->store;
    struct orch_side *a = orch_side_new(store, runs[0], c->aggregate, error);
    struct orch_side *b = a ? orch_side_new(store, runs[1], c->aggregate, error) : NULL;
    struct orch_side *const sides[2] = {a, b};
    g_autoptr(GPtrArray) names = b ? names_of(c, a, b) : NULL;
    bool ok = b != NULL;
    if (ok)
        count_disturbed(c, sides);
    for (guint i = 0; ok && i < names->len; i++)
        ok = add_row(c, sides, task, names->pdata[i], error);
    orch_side_free(a);
    orch_side_free(b);
    return ok;
}

/* The runs of one task on both sides. */
struct block {
    char *task;
    GPtrArray *runs[2]; /* struct orch_run *, borrowed */
};

static void free_block(gpointer pointer)
{
    struct block *block = pointer;
    g_free(block->task);
    g_ptr_array_unref(block->runs[0]);
    g_ptr_array_unref(block->runs[1]);
    g_free(block);
}

/* Takes ownership of `task`. */
static struct block *block_of(GPtrArray *blocks, char *task)
{
    for (guint i = 0; i < blocks->len; i++) {
        struct block *block = blocks->pdata[i];
        if (g_strcmp0(block->task, task) == 0) {
            g_free(task);
            return block;
        }
    }
    struct block *block = g_new(struct block, 1);
    *block = (struct block){task, {g_ptr_array_new(), g_ptr_array_new()}};
    g_ptr_array_add(blocks, block);
    return block;
}

/* Groups both sides' runs by task, in order of A's runs; with --across all runs are one block. */
static GPtrArray *blocks_of(const struct request *c)
{
    const GPtrArray *const sides[2] = {c->out.sides[0].runs, c->out.sides[1].runs};
    struct orch_tasks *tasks =
        c->options->across ? NULL
                           : orch_tasks_of_sides(c->cli->workspace->store, sides[0], sides[1]);
    GPtrArray *blocks = g_ptr_array_new_with_free_func(free_block);
    for (guint side = 0, index = 0; side < 2; side++)
        for (guint i = 0; i < sides[side]->len; i++, index++) {
            char *task = tasks ? orch_tasks_label(tasks, index, NULL) : NULL;
            g_ptr_array_add(block_of(blocks, task)->runs[side], sides[side]->pdata[i]);
        }
    orch_tasks_free(tasks);
    return blocks;
}

/* Compares each task; tasks that one side lacks are left out. */
static bool add_blocks(struct request *c, GError **error)
{
    g_autoptr(GPtrArray) blocks = blocks_of(c);
    bool any = false;
    for (guint i = 0; i < blocks->len; i++) {
        const struct block *block = blocks->pdata[i];
        guint a = block->runs[0]->len, b = block->runs[1]->len;
        if (a && b && !add_rows(c, block->task, block->runs, error))
            return false;
        any = any || (a && b);
        c->out.other_tasks[0] += b ? 0 : a;
        c->out.other_tasks[1] += a ? 0 : b;
    }
    if (!any)
        orch_error_set(error, ORCH_ERROR_USAGE, "--across compares them all the same",
                       "A and B have no task in common (" ORCH_TASK_WORDS ")");
    return any;
}

static bool make_rows(struct request *c, GError **error)
{
    if (!add_blocks(c, error) || !has_asked(c, error))
        return false;
    contrast_rows(c);
    return c->out.tests || refuse(c->out.rows->pdata[0], error);
}

/* ---- limits -----------------------------------------------------------------------------------
 */

/* Applies a limit to one row: records a message when it is exceeded, or warns when that may be
 * noise. */
static void check_limit(struct request *c, const struct orch_contrast_limit *limit,
                        const struct compare_row *row)
{
    g_autofree char *where = row->task ? g_strdup_printf(" (%s)", row->task) : g_strdup("");
    if (row->match->lost_b > row->match->lost_a) { /* more NaN runs than A break any limit */
        g_ptr_array_add(c->out.broken,
                        g_strdup_printf("%s is no number in %u of B's runs (limit: %s)%s",
                                        limit->metric, row->match->lost_b, limit->text, where));
        return;
    }
    char *why;
    enum orch_limit_check check =
        orch_contrast_limit_check(limit, &row->contrast, c->out.least, row->match->unit, &why);
    if (check == ORCH_LIMIT_EXCEEDED)
        g_ptr_array_add(c->out.broken, g_strconcat(why, where, NULL));
    else if (check == ORCH_LIMIT_UNCERTAIN)
        orch_cli_warn(c->cli, "%s: that may be noise, and fails nothing%s", why, where);
    g_free(why);
}

static void check_limits(struct request *c)
{
    for (guint i = 0; i < c->limits->len; i++) {
        const struct orch_contrast_limit *limit = c->limits->pdata[i];
        for (guint j = 0; j < c->out.rows->len; j++) {
            const struct compare_row *row = c->out.rows->pdata[j];
            if (strcmp(row->name, limit->metric) == 0)
                check_limit(c, limit, row);
        }
    }
}

static int compare(struct request *c, GError **error)
{
    if (!parse_options(c, error) || !find_sides(c, error) || !make_rows(c, error))
        return -1;
    check_limits(c);
    orch_cli_compare_show(c->cli, &c->out);
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
    c.lacking = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    c.out.rows = g_ptr_array_new_with_free_func(free_row);
    c.out.broken = g_ptr_array_new_with_free_func(g_free);
    int status = compare(&c, error);
    orch_compare_side_clear(&c.out.sides[0]);
    orch_compare_side_clear(&c.out.sides[1]);
    g_ptr_array_unref(c.limits);
    g_hash_table_unref(c.lacking);
    g_ptr_array_unref(c.out.rows);
    g_ptr_array_unref(c.out.broken);
    return status;
}

const struct orch_command ORCH_COMMAND_COMPARE = {
    .name = "compare",
    .group = "Looking",
    .summary = "compare two runs, experiments or commits, and test the difference",
    .usage = "A B | A..B [EXPERIMENT...]",
    .min_args = 1,
    .max_args = -1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct compare_options),
    .about =
        "A and B are runs, experiments (hw4/finetune), filters (docs/where.md), commits, or . "
        "for the work tree; A..B are two commits. Runs of the same trial (experiment, "
        "parameters, seed) on both sides form pairs; otherwise runs with equal seeds do; "
        "otherwise the runs are two independent samples. Prints for each metric both means, "
        "the ratio B / A with its 95 % interval, p (paired t, Mann-Whitney or Welch, after "
        "Holm's correction), and a verdict. If a side mixes tasks (" ORCH_TASK_WORDS
        "), each task is compared separately. Timings are compared only between equal "
        "machines.\n"
        "\n"
        "--fail-on 'METRIC > N%' (or < N, in the metric's unit) limits the signed change of B "
        "against A. The command fails when the observed change exceeds the limit and is more "
        "than noise.\n"
        "\n"
        "--run RECIPE runs the recipe now from the sources of both commits, interleaved (A B B "
        "A). See docs/compare.md.",
    .examples = "  orch compare 3f2a91c0 @last\n"
                "  orch compare 'mode=full and lr=0.01' 'mode=feature and lr=0.1' -m val_accuracy\n"
                "  orch compare main..feature --fail-on 'epoch_time_s > 3%'\n"
                "  orch compare main . --run recipes/bench.recipe --repeat 10",
    .run = run,
};
