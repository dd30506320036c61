/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/compare/compare_show.h"

#include "core/inputs/inputs.h"
#include "core/stats/numbers.h"
#include "core/stats/shared_base.h"
#include "core/stats/task.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

enum { DIRECTIONS_SAID = 3 };

static struct orch_spread spread_of(const struct orch_compare_row *row, const GArray *numbers)
{
    return orch_spread_of((const double *)(void *)numbers->data, numbers->len, row->name,
                          row->match->unit);
}

static void add_spread(struct orch_table *table, const struct orch_compare_row *row,
                       const GArray *numbers, unsigned lost)
{
    if (!numbers->len && lost) {
        orch_table_add(table, "NaN", NULL);
        return;
    }
    struct orch_spread spread = spread_of(row, numbers);
    g_autofree char *text = orch_spread_format(&spread);
    orch_table_add(table, text, NULL);
}

/* Adds "1.032" and "1.018 to 1.046", or the difference when there is no ratio. */
static void add_change(struct orch_table *table, const struct orch_contrast *c)
{
    double shift = c->is_ratio ? 1 : 0;
    g_autofree char *number =
        orch_within_format(c->change.mid + shift, c->change.low + shift, c->change.high + shift);
    g_autofree char *text =
        c->is_ratio ? g_strdup(number)
                    : g_strdup_printf("B - A = %s", isnan(c->change.mid) ? "-" : number);
    g_autofree char *interval = orch_interval_format(c->change.low + shift, c->change.high + shift);
    orch_table_add(table, text, NULL);
    orch_table_add(table, interval, NULL);
}

/* The verdict of a row that is not tested, because a side has no number ("NaN in all 3 runs of B")
 * or other programs disturbed its times. NULL for other rows; the caller frees. */
static char *untested_text(const struct orch_match *m)
{
    if (m->is_uneven)
        return g_strdup(ORCH_UNEVEN_WORDS);
    const struct {
        const char *side;
        unsigned lost;
    } sides[] = {{"A", m->a->len ? 0 : m->lost_a}, {"B", m->b->len ? 0 : m->lost_b}};
    GString *text = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(sides); i++)
        if (sides[i].lost)
            g_string_append_printf(text, "%sNaN in all %u run%s of %s", text->len ? ", " : "",
                                   sides[i].lost, orch_plural(sides[i].lost), sides[i].side);
    bool any = text->len;
    char *out = g_string_free(text, !any);
    return any ? out : NULL;
}

static char *count_text(const struct orch_compare_row *row)
{
    if (row->match->how != ORCH_MATCH_NONE)
        return g_strdup_printf("%u pairs", row->match->a->len);
    return g_strdup_printf("%u, %u", row->match->a->len, row->match->b->len);
}

static bool has_tasks(const struct orch_comparison *c)
{
    for (guint i = 0; i < c->rows->len; i++)
        if (((const struct orch_compare_row *)c->rows->pdata[i])->task)
            return true;
    return false;
}

char *orch_cli_compare_verdict(const struct orch_comparison *c, const struct orch_compare_row *row)
{
    if (row->is_refused)
        return g_strdup("other machine");
    char *untested = untested_text(row->match);
    return untested
               ? untested
               : orch_contrast_text(&row->contrast, orch_better_word(row->match->direction.better),
                                    row->match->unit, c->least);
}

struct orch_table *orch_cli_compare_table(const struct orch_comparison *c)
{
    static const char *const headers[] = {"task",   "metric",         "verdict", ">A",   ">B", ">n",
                                          ">B / A", ">95 % interval", ">p",      "test", NULL};
    bool by_task = has_tasks(c);
    struct orch_table *table = orch_table_new(by_task ? headers : headers + 1);
    for (guint i = 0; i < c->rows->len; i++) {
        const struct orch_compare_row *row = c->rows->pdata[i];
        const struct orch_match *m = row->match;
        g_autofree char *name =
            m->unit ? g_strdup_printf("%s (%s)", row->name, m->unit) : g_strdup(row->name);
        g_autofree char *verdict = orch_cli_compare_verdict(c, row);
        g_autofree char *count = count_text(row);
        if (by_task)
            orch_table_add(table, row->task ? row->task : "-", NULL);
        orch_table_add(table, name, NULL);
        orch_table_add(table, verdict, NULL);
        add_spread(table, row, m->a, m->lost_a);
        add_spread(table, row, m->b, m->lost_b);
        orch_table_add(table, count, NULL);
        if (row->is_refused) {
            for (int j = 0; j < 4; j++)
                orch_table_add(table, "-", NULL);
            continue;
        }
        g_autofree char *p = orch_p_format(row->contrast.adjusted);
        add_change(table, &row->contrast);
        orch_table_add(table, p, NULL);
        orch_table_add(table, orch_contrast_test_name(row->contrast.test), NULL);
    }
    return table;
}

static json_t *stat_json(const struct orch_spread *spread)
{
    const struct orch_stat *stat = &spread->stat;
    return json_pack("{s:I s:o s:o s:o s:o s:o s:s? s:o s:o s:o}", "n", (json_int_t)stat->count,
                     "mean", orch_json_finite(stat->mean), "half_width",
                     orch_json_finite(stat->half), "sd", orch_json_finite(stat->sd), "min",
                     orch_json_finite(stat->min), "max", orch_json_finite(stat->max), "spread",
                     orch_spread_form_name(spread->form), "centre",
                     orch_json_finite(spread->centre), "low", orch_json_finite(spread->low), "high",
                     orch_json_finite(spread->high));
}

static json_t *row_json(const struct orch_comparison *c, const struct orch_compare_row *row)
{
    static const char *const says[] = {"different", "equal", "same", "unknown"};
    static const char *const pairing[] = {"trials", "repeats", NULL};
    const struct orch_match *m = row->match;
    const struct orch_contrast *k = &row->contrast;
    struct orch_spread a = spread_of(row, m->a), b = spread_of(row, m->b);
    json_t *json = json_pack(
        "{s:s s:s? s:s? s:s s:s? s:o s:o s:s? s:i s:i s:i s:i s:s s:s}", "metric", row->name,
        "task", row->task, "unit", m->unit, "better", orch_better_word(m->direction.better),
        "direction_by", m->direction.by, "a", stat_json(&a), "b", stat_json(&b), "pairs_of",
        pairing[m->how], "alone", (int)m->alone, "averaged", (int)m->averaged, "nan_a",
        (int)m->lost_a, "nan_b", (int)m->lost_b, "where_a", m->where_a, "where_b", m->where_b);
    if (m->library_a)
        json_object_update_new(
            json, json_pack("{s:s s:s}", "library_a", m->library_a, "library_b", m->library_b));
    if (row->is_refused) {
        json_object_set_new(json, "verdict", json_string("other machine"));
        return json;
    }
    double shift = k->is_ratio ? 1 : 0;
    g_autofree char *words = orch_cli_compare_verdict(c, row);
    json_t *rest = json_pack(
        "{s:o s:o s:o s:o s:o s:s s:o s:I s:s s:s}", k->is_ratio ? "ratio" : "difference",
        orch_json_finite(k->change.mid + shift), "low", orch_json_finite(k->change.low + shift),
        "high", orch_json_finite(k->change.high + shift), "p", orch_json_finite(k->p),
        "p_corrected", orch_json_finite(k->adjusted), "test", orch_contrast_test_name(k->test),
        "would_show", orch_json_finite(k->shows), "more_runs",
        (json_int_t)orch_contrast_more(k, c->least), "verdict",
        says[orch_contrast_result(k, c->least)], "words", words);
    json_object_update(json, rest);
    json_decref(rest);
    return json;
}

/* Returns a sentence when the repeats of a side start from the same trained model. The caller
 * frees. */
static char *shared_base(struct orch_cli *cli, const struct orch_compare_side *side)
{
    return orch_shared_base_text(cli->workspace ? cli->workspace->store : NULL, side->runs);
}

/* The runs of a side of which it is known in part what they read. `*out_why`: of the first; the
 * caller frees. */
static unsigned count_in_part(const struct orch_compare_side *side, char **out_why)
{
    unsigned count = 0;
    for (guint i = 0; i < side->runs->len; i++) {
        const struct orch_run *run = side->runs->pdata[i];
        g_autoptr(json_t) facts = run->facts ? json_loads(run->facts, 0, NULL) : NULL;
        char *why = orch_inputs_in_part(facts);
        count += why != NULL;
        *out_why = *out_why ? *out_why : g_steal_pointer(&why);
        g_free(why);
    }
    return count;
}

static void print_in_part(struct orch_cli *cli, char letter, const struct orch_compare_side *side)
{
    g_autofree char *why = NULL;
    unsigned count = count_in_part(side, &why);
    if (count)
        orch_cli_info(cli, "%c: of %u run%s, %s", letter, count, orch_plural(count), why);
}

static json_t *side_json(struct orch_cli *cli, const struct orch_compare_side *side)
{
    g_autofree char *shared = shared_base(cli, side);
    json_t *keys = json_array();
    for (guint i = 0; i < side->runs->len; i++)
        json_array_append_new(keys,
                              json_string(((const struct orch_run *)side->runs->pdata[i])->key));
    g_autofree char *why = NULL;
    return json_pack("{s:s s:s s:o s:s? s:i}", "name", side->name, "what", side->what, "runs", keys,
                     "shared_base", shared, "in_part", (int)count_in_part(side, &why));
}

static void print_json(struct orch_cli *cli, const struct orch_comparison *c)
{
    json_t *rows = json_array(), *broken = json_array();
    for (guint i = 0; i < c->rows->len; i++)
        json_array_append_new(rows, row_json(c, c->rows->pdata[i]));
    for (guint i = 0; i < c->broken->len; i++)
        json_array_append_new(broken, json_string(c->broken->pdata[i]));
    orch_cli_print_json(
        json_pack("{s:o s:o s:o s:o s:i s:s s:o s:i s:i}", "a", side_json(cli, &c->sides[0]), "b",
                  side_json(cli, &c->sides[1]), "metrics", rows, "broken", broken, "tests",
                  (int)c->tests, "correction", c->tests > 1 ? "bonferroni" : "none", "least",
                  orch_json_finite(c->least), "disturbed_left_out", (int)c->disturbed_left_out,
                  "disturbed_counted", (int)c->disturbed_kept));
}

/* Says of times what version of LibTorch or PyTorch they were measured with, where that matters. */
static void print_libraries(struct orch_cli *cli, const struct orch_comparison *c)
{
    const struct orch_match *differs = NULL;
    unsigned older[2] = {0, 0};
    for (guint i = 0; i < c->rows->len; i++) {
        const struct orch_match *m = ((const struct orch_compare_row *)c->rows->pdata[i])->match;
        differs = differs ? differs : m->library_a ? m : NULL;
        older[0] = MAX(older[0], m->older_a);
        older[1] = MAX(older[1], m->older_b);
    }
    if (differs)
        orch_cli_warn(cli,
                      "A ran with %s, B with %s: a difference in time may come from these versions",
                      differs->library_a, differs->library_b);
    for (int i = 0; i < 2; i++)
        if (older[i])
            orch_cli_info(cli,
                          "times leave out %u run%s of side %c, made with another version of "
                          "LibTorch or PyTorch than its newest run",
                          older[i], orch_plural(older[i]), 'A' + i);
}

/* Says of the metrics whose names decided what is better, and not their plugins, what that is. */
static void print_directions(struct orch_cli *cli, const struct orch_comparison *c)
{
    g_autoptr(GPtrArray) said = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < c->rows->len && said->len < DIRECTIONS_SAID; i++) {
        const struct orch_compare_row *row = c->rows->pdata[i];
        char *text = row->match->is_timing
                         ? NULL
                         : orch_direction_said(row->name, row->match->direction, false);
        if (text && !g_ptr_array_find_with_equal_func(said, text, g_str_equal, NULL))
            g_ptr_array_add(said, text);
        else
            g_free(text);
    }
    g_ptr_array_add(said, NULL);
    g_autofree char *line = g_strjoinv("; ", (char **)said->pdata);
    if (*line)
        orch_cli_info(cli, "%s", line);
}

/* Prints below the table which runs were compared and how. */
static void print_method(struct orch_cli *cli, const struct orch_comparison *c)
{
    for (int i = 0; i < 2; i++)
        orch_cli_info(cli, "%c: %s (%s, %u run%s)", 'A' + i, c->sides[i].name, c->sides[i].what,
                      c->sides[i].runs->len, orch_plural(c->sides[i].runs->len));
    for (int i = 0; i < 2; i++)
        print_in_part(cli, (char)('A' + i), &c->sides[i]);
    bool pairs[2] = {false, false}, any_time = false, is_uneven = false;
    unsigned alone = 0, alone_of_task = 0, averaged = 0;
    for (guint i = 0; i < c->rows->len; i++) {
        const struct orch_compare_row *row = c->rows->pdata[i];
        const struct orch_compare_row *before = i ? c->rows->pdata[i - 1] : row;
        if (row->match->how != ORCH_MATCH_NONE)
            pairs[row->match->how] = true;
        if (g_strcmp0(row->task, before->task) != 0) {
            alone += alone_of_task;
            alone_of_task = 0;
        }
        alone_of_task = MAX(alone_of_task, row->match->alone);
        any_time = any_time || row->match->is_timing;
        is_uneven = is_uneven || row->match->is_uneven;
        averaged = MAX(averaged, row->match->averaged);
        if (row->is_refused)
            orch_cli_warn(cli,
                          "A ran on '%s', B on '%s': '%s' is not compared\n  hint: --across "
                          "compares this metric anyway",
                          row->match->where_a, row->match->where_b, row->name);
    }
    alone += alone_of_task;
    if (has_tasks(c))
        orch_cli_info(cli,
                      "tasks (" ORCH_TASK_WORDS ") are compared one by one; --across merges them");
    for (int i = 0; i < 2; i++)
        if (c->other_tasks[i])
            orch_cli_info(cli, "%u run%s of side %c left out: side %c has no run of the same task",
                          c->other_tasks[i], orch_plural(c->other_tasks[i]), 'A' + i, 'B' - i);
    if (pairs[ORCH_MATCH_TRIALS])
        orch_cli_info(cli, "pairs: the same trial (experiment, parameters, seed) on both sides");
    if (pairs[ORCH_MATCH_REPEATS])
        orch_cli_info(cli, "pairs: runs with equal seeds and equal other parameters");
    if (averaged)
        orch_cli_info(cli, "n: number of seeds; runs of the same seed were averaged first");
    g_autofree char *base_a = shared_base(cli, &c->sides[0]),
                    *base_b = shared_base(cli, &c->sides[1]);
    const bool same_base = base_a && base_b && strcmp(base_a, base_b) == 0;
    if (base_a)
        orch_cli_info(cli, "%s: %s", same_base ? "A and B, each" : "A", base_a);
    if (base_b && !same_base)
        orch_cli_info(cli, "B: %s", base_b);
    if (alone)
        orch_cli_info(cli, "left out: %u run%s without a partner on the other side", alone,
                      orch_plural(alone));
    g_autofree char *disturbed =
        orch_disturbed_text(c->disturbed_left_out, c->disturbed_kept, "--disturbed");
    if (any_time && disturbed)
        orch_cli_info(cli, "times: %s", disturbed);
    if (is_uneven)
        orch_cli_info(cli, "%s", ORCH_UNEVEN_HINT);
    print_directions(cli, c);
    print_libraries(cli, c);
    if (c->tests > 1)
        orch_cli_info(cli, "p and intervals are corrected for %zu metrics (Bonferroni)", c->tests);
}

void orch_cli_compare_show(struct orch_cli *cli, const struct orch_comparison *c)
{
    if (cli->json) {
        print_json(cli, c);
        return;
    }
    orch_cli_table_print(cli, orch_cli_compare_table(c), "metrics");
    fflush(stdout);
    print_method(cli, c);
}
