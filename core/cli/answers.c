/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answers that a terminal can show when a run ends: the report's `table`, `best` and `text`
 * items, computed from the store. A cell whose trials are not done is shown as missing, never left
 * out. */
#include "core/cli/answers.h"
#include "core/cli/execute.h"

#include "core/report/group.h"
#include "lib/base/json.h"
#include "lib/wire/value.h"

#include <math.h>
#include <string.h>

/* One value that an item asks for: "last val_accuracy", "wall_s". */
struct wanted {
    enum orch_aggregate aggregate;
    char *name;
};

/* One cell of an answer: the numbers of its runs, by value asked for and by repeat. */
struct answer_cell {
    char *row, *column;
    unsigned planned, done;
    GArray **numbers; /* of double, one array a value */
    GArray *repeats;  /* of int */
};

struct answer {
    struct orch_plan *plan;
    const struct orch_report_item *item;
    GPtrArray *wanted;         /* struct wanted * */
    GPtrArray *rows, *columns; /* axis names */
    GPtrArray *cells;          /* struct answer_cell * */
    const char *better, *unit;
};

static void wanted_free(void *pointer)
{
    struct wanted *wanted = pointer;
    g_free(wanted->name);
    g_free(wanted);
}

static void cell_free(void *pointer)
{
    struct answer_cell *cell = pointer;
    for (int i = 0; cell->numbers[i]; i++)
        g_array_unref(cell->numbers[i]);
    g_free(cell->numbers);
    g_array_unref(cell->repeats);
    g_free(cell->row);
    g_free(cell->column);
    g_free(cell);
}

/* A text or a list of texts as an array of texts. */
static GPtrArray *texts(const json_t *value)
{
    GPtrArray *out = g_ptr_array_new_with_free_func(g_free);
    if (json_is_string(value))
        g_ptr_array_add(out, g_strdup(json_string_value(value)));
    for (size_t i = 0; i < json_array_size(value); i++)
        g_ptr_array_add(out, g_strdup(json_string_value(json_array_get(value, i))));
    return out;
}

static GPtrArray *parse_wanted(const json_t *value)
{
    GPtrArray *out = g_ptr_array_new_with_free_func(wanted_free);
    g_autoptr(GPtrArray) words = texts(value);
    for (guint i = 0; i < words->len; i++) {
        g_auto(GStrv) parts = g_strsplit(g_strstrip(words->pdata[i]), " ", 2);
        struct wanted *wanted = g_new0(struct wanted, 1);
        bool two = parts[0] && parts[1];
        if (!two || !orch_aggregate_parse(parts[0], &wanted->aggregate))
            wanted->aggregate = ORCH_AGGREGATE_LAST; /* "result x" or a bare name */
        wanted->name = g_strdup(two ? parts[1] : parts[0]);
        g_ptr_array_add(out, wanted);
    }
    return out;
}

static bool is_meant(const json_t *experiments, const char *name)
{
    g_autoptr(GPtrArray) names = texts(experiments);
    return !names->len || g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL);
}

/* The value of an axis for a trial of the plan: from its parameters, or its run. NULL: it has none.
 */
static char *axis_value(const struct orch_plan_item *item, const struct orch_run *run,
                        struct orch_store *store, const char *axis)
{
    if (strcmp(axis, "experiment") == 0)
        return g_strdup(item->cell->experiment->name);
    if (strcmp(axis, "repeat") == 0)
        return g_strdup_printf("%d", item->cell->repeat);
    char *value = orch_cell_value_text(item->cell, axis);
    if (value)
        return value;
    return run ? orch_run_field(store, run, axis) : NULL;
}

/* The label of a trial on some axes: "0.01", "full 0.01"; NULL when it lies on none of them. */
static char *axes_label(const struct orch_plan_item *item, const struct orch_run *run,
                        struct orch_store *store, const GPtrArray *axes)
{
    GString *label = g_string_new(NULL);
    bool any = !axes->len;
    for (guint i = 0; i < axes->len; i++) {
        g_autofree char *value = axis_value(item, run, store, axes->pdata[i]);
        any = any || value;
        g_string_append_printf(label, "%s%s", i ? " " : "", value ? value : "-");
    }
    if (any)
        return g_string_free(label, FALSE);
    g_string_free(label, TRUE);
    return NULL;
}

static struct answer_cell *cell_at(struct answer *answer, const char *row, const char *column)
{
    for (guint i = 0; i < answer->cells->len; i++) {
        struct answer_cell *cell = answer->cells->pdata[i];
        if (strcmp(cell->row, row) == 0 && strcmp(cell->column, column) == 0)
            return cell;
    }
    struct answer_cell *cell = g_new0(struct answer_cell, 1);
    cell->row = g_strdup(row);
    cell->column = g_strdup(column);
    cell->numbers = g_new0(GArray *, answer->wanted->len + 1);
    for (guint i = 0; i < answer->wanted->len; i++)
        cell->numbers[i] = g_array_new(FALSE, FALSE, sizeof(double));
    cell->repeats = g_array_new(FALSE, FALSE, sizeof(int));
    g_ptr_array_add(answer->cells, cell);
    return cell;
}

static void add_run(struct answer *answer, struct answer_cell *cell,
                    const struct orch_plan_item *item, const struct orch_run *run)
{
    bool any = false;
    for (guint i = 0; i < answer->wanted->len; i++) {
        const struct wanted *wanted = answer->wanted->pdata[i];
        double value = NAN;
        orch_run_number(answer->plan->store, run, wanted->name, wanted->aggregate, &value,
                        i ? NULL : &answer->better, i ? NULL : &answer->unit, NULL);
        g_array_append_val(cell->numbers[i], value);
        any = any || !isnan(value);
    }
    g_array_append_val(cell->repeats, item->cell->repeat);
    cell->done += any;
}

static bool has_metric(const struct orch_plan_item *item, const GPtrArray *wanted)
{
    for (guint i = 0; i < wanted->len; i++) {
        const char *name = ((const struct wanted *)wanted->pdata[i])->name;
        if (strcmp(name, "wall_s") == 0 ||
            orch_manifest_metric(item->cell->experiment->manifest, name))
            return true;
    }
    return false;
}

static void fill(struct answer *answer)
{
    const json_t *experiments = json_object_get(answer->item->spec, "experiments");
    for (unsigned i = 0; i < answer->plan->count; i++) {
        const struct orch_plan_item *item = &answer->plan->items[i];
        if (!is_meant(experiments, item->cell->experiment->name) ||
            item->state == ORCH_PLAN_UNUSED || !has_metric(item, answer->wanted))
            continue;
        bool done = item->state == ORCH_PLAN_DONE && item->run_key;
        struct orch_run *run =
            done ? orch_store_run(answer->plan->store, item->run_key, NULL) : NULL;
        g_autofree char *row = axes_label(item, run, answer->plan->store, answer->rows);
        g_autofree char *column = axes_label(item, run, answer->plan->store, answer->columns);
        if (row && column) {
            struct answer_cell *cell = cell_at(answer, row, column);
            cell->planned++;
            if (run)
                add_run(answer, cell, item, run);
        }
        orch_run_free(run);
    }
}

static struct orch_stat stat_of(const struct answer_cell *cell, guint value)
{
    return orch_stat_of((const double *)(void *)cell->numbers[value]->data,
                        cell->numbers[value]->len);
}

/* "0.912 +- 0.004 (0.92)", with "n=2/3" when trials are missing. */
static char *cell_text(const struct answer *answer, const struct answer_cell *cell)
{
    if (!cell || !cell->done)
        return g_strdup("missing");
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < answer->wanted->len; i++) {
        struct orch_stat stat = stat_of(cell, i);
        g_autofree char *mean = orch_mean_format(stat.mean, i == 0 ? stat.half : 0);
        g_string_append_printf(text, i ? " (%s)" : "%s", mean);
    }
    if (cell->done < cell->planned)
        g_string_append_printf(text, " n=%u/%u", cell->done, cell->planned);
    return g_string_free(text, FALSE);
}

static GPtrArray *labels(const struct answer *answer, bool of_rows)
{
    GPtrArray *out = g_ptr_array_new();
    for (guint i = 0; i < answer->cells->len; i++) {
        const struct answer_cell *cell = answer->cells->pdata[i];
        char *label = of_rows ? cell->row : cell->column;
        if (!g_ptr_array_find_with_equal_func(out, label, g_str_equal, NULL))
            g_ptr_array_add(out, label);
    }
    return out;
}

static char *joined(const GPtrArray *names)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < names->len; i++)
        g_string_append_printf(text, "%s%s", i ? ", " : "", (char *)names->pdata[i]);
    return g_string_free(text, FALSE);
}

static const char *aggregate_word(const struct wanted *wanted)
{
    static const char *const words[] = {"last", "best",  "min",   "max",
                                        "mean", "first", "count", "sum"};
    return words[wanted->aggregate];
}

static bool is_repeated(const struct answer *answer)
{
    for (guint i = 0; i < answer->cells->len; i++)
        if (((const struct answer_cell *)answer->cells->pdata[i])->planned > 1)
            return true;
    return false;
}

static void print_legend(const struct answer *answer)
{
    const struct wanted *first = answer->wanted->pdata[0];
    bool repeated = is_repeated(answer);
    const char *interval = repeated ? "mean +- 95 % interval over repeats" : "one run each";
    GString *text = g_string_new(interval);
    bool unit = answer->unit && *answer->unit;
    if (answer->columns->len) {
        g_string_printf(text, "%s of %s%s%s%s, %s", aggregate_word(first), first->name,
                        unit ? " (" : "", unit ? answer->unit : "", unit ? ")" : "", interval);
        for (guint i = 1; i < answer->wanted->len; i++) {
            const struct wanted *wanted = answer->wanted->pdata[i];
            g_string_append_printf(text, "; in brackets %s of %s", aggregate_word(wanted),
                                   wanted->name);
        }
    }
    printf("  %s\n", text->str);
    g_string_free(text, TRUE);
}

static const struct answer_cell *find_cell(const struct answer *answer, const char *row,
                                           const char *column)
{
    for (guint i = 0; i < answer->cells->len; i++) {
        const struct answer_cell *cell = answer->cells->pdata[i];
        if (strcmp(cell->row, row) == 0 && strcmp(cell->column, column) == 0)
            return cell;
    }
    return NULL;
}

/* One value of a cell alone: "0.912 +- 0.004". */
static char *value_text(const struct answer_cell *cell, guint value)
{
    if (!cell || !cell->done)
        return g_strdup("missing");
    struct orch_stat stat = stat_of(cell, value);
    return orch_mean_format(stat.mean, stat.half);
}

/* With `columns`, a column for each of their values and the first value's mean in the cells, others
 * in brackets; without, a column for each value. */
static void print_table(struct orch_cli *cli, struct answer *answer)
{
    g_autoptr(GPtrArray) rows = labels(answer, true);
    g_autoptr(GPtrArray) columns = labels(answer, false);
    g_autoptr(GPtrArray) headers = g_ptr_array_new_with_free_func(g_free);
    bool by_value = !answer->columns->len;
    g_ptr_array_add(headers, joined(answer->rows));
    for (guint i = 0; by_value && i < answer->wanted->len; i++)
        g_ptr_array_add(headers, g_strdup(((struct wanted *)answer->wanted->pdata[i])->name));
    for (guint i = 0; !by_value && i < columns->len; i++)
        g_ptr_array_add(headers, g_strdup(columns->pdata[i]));
    g_ptr_array_add(headers, NULL);
    struct orch_table *table = orch_table_new((const char *const *)headers->pdata);
    for (guint i = 0; i < rows->len; i++) {
        orch_table_add(table, rows->pdata[i], NULL);
        for (guint j = 0; by_value && j < answer->wanted->len; j++) {
            g_autofree char *text = value_text(find_cell(answer, rows->pdata[i], ""), j);
            orch_table_add(table, text, NULL);
        }
        for (guint j = 0; !by_value && j < columns->len; j++) {
            const struct answer_cell *found = find_cell(answer, rows->pdata[i], columns->pdata[j]);
            g_autofree char *text = found ? cell_text(answer, found) : g_strdup("");
            orch_table_add(table, text, NULL);
        }
    }
    orch_answer_print(cli, table);
    print_legend(answer);
}

/* ---- best -------------------------------------------------------------------------------------
 */

static int compare_cells(const void *a, const void *b, void *ctx)
{
    const struct answer_cell *x = *(struct answer_cell *const *)a,
                             *y = *(struct answer_cell *const *)b;
    const struct answer *answer = ctx;
    double p = stat_of(x, 0).mean, q = stat_of(y, 0).mean;
    if (isnan(p) || isnan(q))
        return isnan(p) - isnan(q);
    int sign = (p > q) - (p < q);
    return g_strcmp0(answer->better, "min") == 0 ? sign : -sign;
}

static struct orch_difference difference(const struct answer_cell *a, const struct answer_cell *b)
{
    struct orch_group x = {
        .numbers = a->numbers[0], .numbers_of_repeat = a->repeats, .stat = stat_of(a, 0)};
    struct orch_group y = {
        .numbers = b->numbers[0], .numbers_of_repeat = b->repeats, .stat = stat_of(b, 0)};
    return orch_groups_compare(&x, &y);
}

static void print_best(struct answer *answer)
{
    g_ptr_array_sort_with_data(answer->cells, compare_cells, answer);
    g_autofree char *axes = joined(answer->rows);
    const struct answer_cell *first = answer->cells->len ? answer->cells->pdata[0] : NULL;
    if (!first || !first->done) {
        printf("  missing: no trial of it is done\n");
        return;
    }
    g_autofree char *text = cell_text(answer, first);
    printf("  winner by %s: %s with %s (n = %u)\n", axes, first->row, text, first->done);
    const struct answer_cell *second = answer->cells->len > 1 ? answer->cells->pdata[1] : NULL;
    if (!second || !second->done)
        return;
    struct orch_difference d = difference(second, first);
    g_autofree char *margin = orch_number_format(fabs(d.mean));
    g_autofree char *interval = orch_interval_format(d.low, d.high);
    if (isnan(d.low))
        printf("  margin over %s: %s; with one repeat each it cannot be told from noise\n",
               second->row, margin);
    else
        printf("  margin over %s: %s; 95 %% interval of the %sdifference %s: %s\n", second->row,
               margin, d.is_paired ? "paired " : "", interval,
               d.is_more_than_noise ? "more than noise" : "not more than noise");
    unsigned missing = 0;
    for (guint i = 0; i < answer->cells->len; i++)
        missing += !((const struct answer_cell *)answer->cells->pdata[i])->done;
    if (missing)
        printf("  (%u setting%s missing)\n", missing, missing == 1 ? " is" : "s are");
}

/* ---- compare ----------------------------------------------------------------------------------
 */

/* For each row its best cell (over `best_of`), in order of first sight. The caller unrefs. */
static GPtrArray *best_of_rows(struct answer *answer)
{
    GPtrArray *out = g_ptr_array_new();
    g_autoptr(GPtrArray) rows = labels(answer, true);
    for (guint i = 0; i < rows->len; i++) {
        struct answer_cell *best = NULL;
        for (guint j = 0; j < answer->cells->len; j++) {
            struct answer_cell *cell = answer->cells->pdata[j];
            if (strcmp(cell->row, rows->pdata[i]) == 0 &&
                (!best || compare_cells(&cell, &best, answer) < 0))
                best = cell;
        }
        g_ptr_array_add(out, best);
    }
    return out;
}

/* "finetune (lr 0.1)" */
static char *setting_label(const struct answer *answer, const struct answer_cell *cell)
{
    g_autofree char *axes = joined(answer->columns);
    return answer->columns->len ? g_strdup_printf("%s (best %s: %s)", cell->row, axes, cell->column)
                                : g_strdup(cell->row);
}

static void print_against(const struct answer *answer, const struct answer_cell *base,
                          const struct answer_cell *cell)
{
    g_autofree char *label = setting_label(answer, cell);
    if (!cell->done) {
        printf("  %s: missing\n", label);
        return;
    }
    struct orch_difference d = difference(base, cell);
    g_autofree char *mean = orch_number_format(d.mean), *own = cell_text(answer, cell);
    g_autofree char *interval = orch_interval_format(d.low, d.high);
    printf("  %s: %s; %s%s against %s", label, own, d.mean > 0 ? "+" : "", mean, base->row);
    if (isnan(d.low))
        printf("; with one repeat each it cannot be told from noise\n");
    else
        printf(
            "; 95 %% interval of the %sdifference %s: %s\n", d.is_paired ? "paired " : "", interval,
            !d.is_more_than_noise                                     ? "not more than noise"
            : (d.mean > 0) == (g_strcmp0(answer->better, "min") != 0) ? "better, more than noise"
                                                                      : "worse, more than noise");
}

static void print_compare(struct answer *answer)
{
    const char *named = orch_json_text(answer->item->spec, "baseline", NULL);
    g_autoptr(GPtrArray) rows = best_of_rows(answer);
    const struct answer_cell *base = NULL;
    for (guint i = 0; i < rows->len && !base; i++) {
        const struct answer_cell *cell = rows->pdata[i];
        base = !named || strcmp(cell->row, named) == 0 ? cell : NULL;
    }
    if (!base || !base->done) {
        printf("  missing: %s is not done\n", named ? named : "the baseline");
        return;
    }
    g_autofree char *label = setting_label(answer, base), *text = cell_text(answer, base);
    printf("  %s: %s (n = %u)\n", label, text, base->done);
    for (guint i = 0; i < rows->len; i++)
        if (rows->pdata[i] != base)
            print_against(answer, base, rows->pdata[i]);
}

/* ---- all --------------------------------------------------------------------------------------
 */

static void print_item(struct orch_cli *cli, struct orch_plan *plan,
                       const struct orch_report_item *item)
{
    printf("\n%s%s%s\n", item->question ? item->question : "",
           item->question && item->title ? "  " : "", item->title ? item->title : "");
    if (item->kind == ORCH_REPORT_TEXT) {
        const char *text = json_is_string(item->spec) ? json_string_value(item->spec)
                                                      : orch_json_text(item->spec, "text", "");
        printf("  %s\n", text);
        return;
    }
    if (orch_answer_of_curves(cli, plan, item))
        return;
    if (item->kind == ORCH_REPORT_LEARN) {
        orch_answer_learn(cli, plan, item);
        return;
    }
    if (item->kind == ORCH_REPORT_LAYERWISE) {
        orch_answer_layerwise(cli, plan, item);
        return;
    }
    bool is_table = item->kind == ORCH_REPORT_TABLE;
    struct answer answer = {
        .plan = plan,
        .item = item,
        .wanted = parse_wanted(json_object_get(item->spec, "value")),
        .rows = texts(json_object_get(item->spec, is_table ? "rows" : "by")),
        .columns = texts(json_object_get(item->spec, is_table ? "columns" : "best_of")),
        .cells = g_ptr_array_new_with_free_func(cell_free),
        .better = "none",
    };
    fill(&answer);
    if (is_table)
        print_table(cli, &answer);
    else if (item->kind == ORCH_REPORT_BEST)
        print_best(&answer);
    else
        print_compare(&answer);
    g_ptr_array_unref(answer.wanted);
    g_ptr_array_unref(answer.rows);
    g_ptr_array_unref(answer.columns);
    g_ptr_array_unref(answer.cells);
}

/* Is the item about a trial that was asked for? One about others would be empty. */
static bool is_asked(const struct orch_plan *plan, const struct orch_report_item *item)
{
    const json_t *experiments =
        json_is_object(item->spec) ? json_object_get(item->spec, "experiments") : NULL;
    for (unsigned i = 0; experiments && i < plan->count; i++)
        if (plan->items[i].state != ORCH_PLAN_UNUSED && !plan->items[i].cell->experiment->skipped &&
            is_meant(experiments, plan->items[i].cell->experiment->name))
            return true;
    return !experiments;
}

void orch_execute_answers(struct orch_cli *cli, struct orch_plan *plan)
{
    bool any = false;
    for (unsigned i = 0; i < plan->count && !any; i++)
        any = plan->items[i].state == ORCH_PLAN_DONE;
    for (guint i = 0; any && i < plan->expansion->report->len; i++) {
        const struct orch_report_item *item = plan->expansion->report->pdata[i];
        if (!is_asked(plan, item))
            continue;
        if (item->kind == ORCH_REPORT_TABLE || item->kind == ORCH_REPORT_BEST ||
            item->kind == ORCH_REPORT_COMPARE || item->kind == ORCH_REPORT_TEXT ||
            item->kind >= ORCH_REPORT_CURVE)
            print_item(cli, plan, item);
    }
    fflush(stdout);
}
