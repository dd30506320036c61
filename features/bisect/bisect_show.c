/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/bisect/bisect_show.h"

#include "features/bisect/bisect_answer.h"
#include "features/bisect/bisect_json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* Below this p the answer says that there are several changes. */
#define MISFIT_LEAST 0.01

/* ---- while it runs ----------------------------------------------------------------------------
 */

/* "3 min 20 s" or "3 min 20 s, $0.02". */
static char *cost_text(const struct orch_bisect *bisect, double device_s)
{
    double usd = orch_bisect_usd(bisect, device_s);
    g_autofree char *time = orch_duration_format(device_s);
    g_autofree char *money = isnan(usd) ? NULL : orch_money_format(usd);
    return money ? g_strdup_printf("%s, %s", time, money) : g_steal_pointer(&time);
}

/* "5 of 12 commits left, most likely 3f2a91c0 (probability 62 %)". */
static char *left_text(const struct orch_bisect *bisect)
{
    enum orch_change_verdict verdict = bisect->turn.verdict;
    size_t commits = bisect->commits.count - 1;
    const struct orch_change_range *likely = &bisect->turn.range;
    if (verdict == ORCH_CHANGE_ENDS || verdict == ORCH_CHANGE_NONE ||
        verdict == ORCH_CHANGE_UNKNOWN)
        return g_strdup_printf("good and bad differ (probability %.0f %%)",
                               100 * (1 - bisect->posterior.none));
    struct orch_change_range range = orch_change_credible(&bisect->posterior, bisect->request.sure);
    size_t width = range.last - range.first + 1;
    return g_strdup_printf("%zu of %zu commit%s left, most likely %.8s (probability %.0f %%)",
                           width, commits, orch_plural(commits),
                           bisect->commits.rows[likely->last].is->commit,
                           100 * likely->probability);
}

static void draw(struct orch_bisect_live *live)
{
    int columns = orch_terminal_columns(STDERR_FILENO);
    int limit = columns > 0 ? columns - 1 : 79;
    g_autofree char *time = live->shown_s ? orch_duration_format(live->shown_s) : NULL;
    g_autofree char *line =
        time ? g_strdup_printf("%s, %s", live->line, time) : g_strdup(live->line);
    g_autofree char *shown = g_utf8_substring(line, 0, MIN(g_utf8_strlen(line, -1), limit));
    fprintf(stderr, "\r\033[K%s", shown);
    fflush(stderr);
    live->is_drawn = true;
}

void orch_bisect_live_tick(struct orch_bisect_live *live, double run_s)
{
    if (!live->is_live || !live->line || (int)run_s == live->shown_s)
        return;
    live->shown_s = (int)run_s;
    draw(live);
}

void orch_bisect_live_erase(struct orch_bisect_live *live)
{
    if (live->is_drawn)
        fputs("\r\033[K", stderr);
    live->is_drawn = false;
}

void orch_bisect_live_clear(struct orch_bisect_live *live)
{
    orch_bisect_live_erase(live);
    g_clear_pointer(&live->line, g_free);
}

void orch_bisect_show_turn(void *ctx, const struct orch_bisect *bisect, size_t index)
{
    struct orch_bisect_live *live = ctx;
    g_autofree char *left = left_text(bisect), *cost = cost_text(bisect, bisect->spent_s);
    live->shown_s = 0;
    g_free(live->line);
    live->line = index == SIZE_MAX ? g_strdup(left)
                                   : g_strdup_printf("%s; %u run%s, %s; now %.8s", left,
                                                     bisect->made, orch_plural(bisect->made), cost,
                                                     bisect->commits.rows[index].is->commit);
    if (live->is_live && index != SIZE_MAX)
        draw(live);
    else
        orch_bisect_live_erase(live);
}

void orch_bisect_show_run(void *ctx, const struct orch_bisect *bisect, size_t index,
                          const struct orch_run *run)
{
    struct orch_bisect_live *live = ctx;
    const struct orch_bisect_commit *row = &bisect->commits.rows[index];
    orch_bisect_live_erase(live);
    if (!run) {
        orch_cli_info(live->cli, "%.8s  skipped: %s", row->is->commit, row->skipped);
        return;
    }
    const struct orch_bisect_value *value =
        row->values->len
            ? &g_array_index(row->values, struct orch_bisect_value, row->values->len - 1)
            : NULL;
    g_autofree char *wall = orch_duration_format(run->wall_ms / 1e3);
    bool has_value = value && strcmp(value->key, run->key) == 0;
    g_autofree char *number = has_value ? orch_number_format(value->value) : NULL;
    if (has_value)
        orch_cli_info(live->cli, "[%u] %s  %.8s  %s %s  %s%s", bisect->made,
                      orch_run_short_key(run->key), row->is->commit, bisect->metric.name, number,
                      wall, value->is_disturbed ? "  disturbed by other programs" : "");
    else
        orch_cli_info(live->cli, "[%u] %s  %.8s  %s%s", bisect->made, orch_run_short_key(run->key),
                      row->is->commit, row->skipped ? "skipped: " : run->state,
                      row->skipped ? row->skipped : "");
}

/* ---- the outcome ------------------------------------------------------------------------------
 */

/* "+28.1 % (95 %: 25.2 to 31.0 %)", in the metric's unit where changes are no ratios. */
static char *change_text(const struct orch_bisect *bisect, const struct orch_bisect_answer *answer)
{
    double scale = bisect->data.is_ratio ? 100 : 1;
    const char *unit = bisect->data.is_ratio ? " %" : "";
    g_autofree char *change =
        orch_within_format(scale * answer->change, scale * answer->low, scale * answer->high);
    g_autofree char *interval = orch_interval_format(scale * answer->low, scale * answer->high);
    if (isnan(answer->change))
        return NULL;
    const char *sign = answer->change > 0 ? "+" : "";
    return isnan(answer->low)
               ? g_strdup_printf("%s%s%s", sign, change, unit)
               : g_strdup_printf("%s%s%s (95 %%: %s%s)", sign, change, unit, interval, unit);
}

static void print_commit(const struct orch_vcs_commit *commit)
{
    g_autoptr(GDateTime) date = g_date_time_new_from_unix_utc(commit->authored_s);
    g_autofree char *day = date ? g_date_time_format(date, "%Y-%m-%d") : g_strdup("");
    orch_cli_print_line("  %.8s  %s  (%s, %s%s)", commit->commit, commit->subject, commit->author,
                        day, commit->parents > 1 ? ", a merge" : "");
}

static void print_sides(const struct orch_bisect *bisect, const struct orch_bisect_answer *answer)
{
    g_autofree char *before = orch_spread_format(&answer->before);
    g_autofree char *after = orch_spread_format(&answer->after);
    g_autofree char *change = change_text(bisect, answer);
    const char *unit = bisect->metric.unit && *bisect->metric.unit ? bisect->metric.unit : NULL;
    orch_cli_print_line("  %s%s%s%s: before %s (%zu run%s), after %s (%zu run%s)",
                        bisect->metric.name, unit ? " (" : "", unit ? unit : "", unit ? ")" : "",
                        before, answer->runs_before, orch_plural((unsigned)answer->runs_before),
                        after, answer->runs_after, orch_plural((unsigned)answer->runs_after));
    if (change)
        orch_cli_print_line("  change: %s", change);
    if (answer->misfit_p < MISFIT_LEAST)
        orch_cli_print_line("  a single change does not explain the values (p %.2g): narrow "
                            "GOOD..BAD to find the others",
                            answer->misfit_p);
}

static void print_range(const struct orch_bisect *bisect, const struct orch_change_range *range)
{
    enum { SHOWN_MOST = 12 };
    for (size_t i = range->first; i <= range->last && i < range->first + SHOWN_MOST; i++)
        print_commit(bisect->commits.rows[i].is);
    if (range->last - range->first >= SHOWN_MOST)
        orch_cli_print_line("  and %zu more", range->last - range->first + 1 - SHOWN_MOST);
}

static void print_culprit(const struct orch_bisect *bisect, const struct orch_bisect_answer *answer)
{
    const struct orch_change_range *range = &answer->range;
    if (range->first == range->last)
        orch_cli_print_line("%.8s made '%s' worse, with a probability of %.1f %%",
                            bisect->commits.rows[range->first].is->commit, bisect->metric.name,
                            100 * range->probability);
    else
        orch_cli_print_line("one of these %zu commits made '%s' worse, with a probability of %.1f "
                            "%%; only the last one can be run",
                            range->last - range->first + 1, bisect->metric.name,
                            100 * range->probability);
    print_range(bisect, range);
}

static void print_no_difference(const struct orch_bisect *bisect,
                                const struct orch_bisect_answer *answer)
{
    const char *name = bisect->metric.name;
    /* The interval is that of a fixed number of runs, so it has to be far from no change. */
    double gain = orch_bisect_metric_is_max(&bisect->metric) ? answer->change : -answer->change;
    bool is_better = gain > answer->high - answer->low;
    if (is_better)
        orch_cli_print_line("'%s' is better at the bad commit than at the good one; if %s values "
                            "are better, use %s",
                            name, orch_bisect_metric_is_max(&bisect->metric) ? "lower" : "higher",
                            orch_bisect_metric_is_max(&bisect->metric) ? "--min" : "--max");
    else if (bisect->turn.verdict == ORCH_CHANGE_NONE)
        orch_cli_print_line("'%s' does not differ between the good and the bad commit beyond noise",
                            name);
    else
        orch_cli_print_line("'%s' does not differ between the good and the bad commit beyond the "
                            "noise of %d runs each; --repeat-at-most allows more runs",
                            name, bisect->request.repeat_most);
}

static void print_open(const struct orch_bisect *bisect, const struct orch_bisect_answer *answer)
{
    const struct orch_change_range *range = &answer->range;
    size_t width = range->last - range->first + 1;
    if (bisect->turn.verdict == ORCH_CHANGE_ENDS)
        orch_cli_print_line("not decided: '%s' differs between the good and the bad commit with a "
                            "probability of %.0f %%",
                            bisect->metric.name, 100 * (1 - bisect->posterior.none));
    else
        orch_cli_print_line("not decided: the culprit is among %zu commit%s (probability %.0f %%), "
                            "most likely %.8s (%.0f %%)",
                            width, orch_plural((unsigned)width), 100 * range->probability,
                            bisect->commits.rows[bisect->turn.range.last].is->commit,
                            100 * bisect->turn.range.probability);
    if (bisect->turn.verdict != ORCH_CHANGE_ENDS)
        print_range(bisect, range);
}

static void print_runs(struct orch_cli *cli, const struct orch_bisect *bisect)
{
    static const char *const headers[] = {"commit",  ">n",   ">mean", ">probability",
                                          "subject", "runs", NULL};
    struct orch_table *table = orch_table_new(headers);
    for (size_t i = 0; i < bisect->commits.count; i++) {
        const struct orch_bisect_commit *row = &bisect->commits.rows[i];
        size_t first = bisect->data.first[i], count = bisect->data.places[i].count;
        if (!count && !row->skipped)
            continue;
        g_autoptr(GString) runs = g_string_new(row->skipped && !count ? row->skipped : NULL);
        for (size_t k = 0; k < count && k < 3; k++)
            g_string_append_printf(runs, "%s%s", k ? " " : "",
                                   orch_run_short_key(bisect->data.from[first + k]->key));
        if (count > 3)
            g_string_append_printf(runs, " +%zu", count - 3);
        struct orch_stat stat = orch_stat_of(bisect->data.values + first, count);
        g_autofree char *mean = count ? orch_number_format(stat.mean) : g_strdup("-");
        g_autofree char *share =
            g_strdup_printf("%.1f %%", 100 * bisect->posterior.cases[i].probability);
        g_autofree char *commit = g_strndup(row->is->commit, 8);
        orch_table_add(table, commit, NULL);
        orch_table_add_int(table, (int64_t)count);
        orch_table_add(table, mean, NULL);
        orch_table_add(table, i ? share : "good", NULL);
        orch_table_add(table, row->is->subject, NULL);
        orch_table_add(table, runs->str, NULL);
    }
    orch_cli_table_print(cli, table, "commits");
}

static void print_cost(const struct orch_bisect *bisect, const struct orch_bisect_answer *answer)
{
    g_autofree char *cost = cost_text(bisect, bisect->spent_s);
    orch_cli_print_line("%zu run%s of %zu commit%s, %u made now (%s)%s", answer->runs,
                        orch_plural((unsigned)answer->runs), answer->commits_measured,
                        orch_plural((unsigned)answer->commits_measured), bisect->made, cost,
                        bisect->data.left_out ? "; times that other programs disturbed are left out"
                                              : "");
    if (answer->skipped)
        orch_cli_print_line("%zu commit%s skipped: the command fails there, or prints no '%s'",
                            answer->skipped, answer->skipped == 1 ? " was" : "s were",
                            bisect->metric.name);
}

static void print_hints(const struct orch_bisect *bisect, const struct orch_bisect_answer *answer)
{
    const struct orch_bisect_commit *rows = bisect->commits.rows;
    const struct orch_change_range *range = &answer->range;
    bool is_culprit = bisect->turn.verdict == ORCH_CHANGE_FOUND;
    if (is_culprit && range->first == range->last)
        orch_cli_print_line("its change: git show %.8s", rows[range->first].is->commit);
    else if (is_culprit)
        orch_cli_print_line("their changes: git diff %.8s %.8s", rows[range->first - 1].is->commit,
                            rows[range->last].is->commit);
    orch_cli_print_line("both sides: orch compare %.8s %.8s -m %s",
                        rows[answer->shown_before].is->commit, rows[answer->shown_after].is->commit,
                        bisect->metric.name);
}

void orch_bisect_show_outcome(struct orch_cli *cli, const struct orch_bisect *bisect)
{
    struct orch_bisect_answer answer = orch_bisect_answer_of(bisect);
    enum orch_change_verdict verdict = bisect->turn.verdict;
    bool is_decided = bisect->stop == ORCH_BISECT_DECIDED;
    if (cli->json) {
        orch_cli_print_json(orch_bisect_json(bisect, &answer));
        return;
    }
    if (is_decided && verdict == ORCH_CHANGE_FOUND)
        print_culprit(bisect, &answer);
    else if (is_decided && (verdict == ORCH_CHANGE_NONE || verdict == ORCH_CHANGE_UNKNOWN))
        print_no_difference(bisect, &answer);
    else
        print_open(bisect, &answer);
    if (answer.runs_before || answer.runs_after)
        print_sides(bisect, &answer);
    print_cost(bisect, &answer);
    if (answer.runs)
        print_runs(cli, bisect);
    if (answer.runs_before && answer.runs_after)
        print_hints(bisect, &answer);
}
