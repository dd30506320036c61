/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/commands/progress.h"

#include "core/commands/progress_lines.h"
#include "core/commands/run_notices.h"

#include "core/results/whole_run.h"
#include "core/stats/disturbed.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <poll.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* Without an answer for so long, the user is not there, and other experiments wait. */
enum { ANSWER_S = 60 };

struct orch_progress {
    struct orch_cli *cli;
    const struct orch_expansion *expansion;
    bool live;
    GArray *drawn;  /* int: width of each line of the block on the screen */
    char *question; /* that waits for an answer, on a line of its own, or NULL */
    int64_t asked_ns;
    struct run_notices notices;
    struct orch_forecast_grades planned,
        renewed; /* forecasts from before the run that were recomputed during it */
};

struct orch_progress *orch_progress_new(struct orch_cli *cli,
                                        const struct orch_expansion *expansion, bool live)
{
    struct orch_progress *progress = g_new0(struct orch_progress, 1);
    progress->cli = cli;
    progress->expansion = expansion;
    progress->live = live && !cli->quiet;
    progress->drawn = g_array_new(FALSE, FALSE, sizeof(int));
    orch_cli_run_notices_init(&progress->notices);
    orch_forecast_grades_init(&progress->planned);
    orch_forecast_grades_init(&progress->renewed);
    return progress;
}

json_t *orch_progress_grades_json(const struct orch_progress *progress)
{
    return orch_forecast_grades_json(&progress->planned, &progress->renewed);
}

/* Records the forecast's accuracy for a run that ended ok and was not disturbed. */
static void grade(struct orch_progress *progress, const struct orch_running *trial, double wall_s)
{
    if (trial->has_planned)
        orch_forecast_grades_add(&progress->planned, trial->planned_s, wall_s);
    if (trial->is_renewed)
        orch_forecast_grades_add(&progress->renewed, trial->forecast_s, wall_s);
}

static void print_grades(struct orch_cli *cli, const char *which,
                         const struct orch_forecast_grades *grades)
{
    g_autofree char *text = orch_forecast_grades_text(grades);
    if (text)
        orch_cli_info(cli, "forecasts made %s: %s", which, text);
}

const struct run_notices *orch_progress_notices(const struct orch_progress *progress)
{
    return &progress->notices;
}

/* Appends the escape sequence that moves above the block. A terminal that became narrower has
 * wrapped its lines. */
static void append_up(struct orch_progress *progress, GString *frame)
{
    int columns = orch_terminal_columns(STDERR_FILENO), rows = 0;
    for (guint i = 0; i < progress->drawn->len; i++) {
        int width = g_array_index(progress->drawn, int, i);
        rows += columns && width > columns ? (width + columns - 1) / columns : 1;
    }
    if (rows)
        g_string_append_printf(frame, "\033[%dA\r", rows);
    g_array_set_size(progress->drawn, 0);
}

/* Replaces the block, or an open question, by a text in one write, to avoid flicker. The question
 * follows again. */
static void print_instead(struct orch_progress *progress, const char *text)
{
    GString *frame = g_string_new(NULL);
    if (progress->drawn->len) {
        append_up(progress, frame);
        g_string_append(frame, "\033[J");
    }
    if (progress->question)
        g_string_append(frame, "\r\033[K");
    g_string_append(frame, text);
    if (progress->question)
        g_string_append(frame, progress->question);
    fputs(frame->str, stderr);
    fflush(stderr);
    g_string_free(frame, TRUE);
}

static int line_limit(void)
{
    int columns = orch_terminal_columns(STDERR_FILENO);
    return (columns ? columns : 80) - 1;
}

/* Appends one line of the block, cut at the terminal's width, to a frame. Frees the line. */
static void append_line(struct orch_progress *progress, GString *frame, GString *line)
{
    orch_text_line(line->str); /* phases, metrics and labels are untrusted: they come from the
                                  plugin and the recipe */
    orch_progress_shorten(line, line_limit());
    int width = orch_text_columns(line->str);
    g_array_append_val(progress->drawn, width);
    g_string_append_printf(frame, "%s\033[K\n", line->str);
    g_string_free(line, TRUE);
}

static void on_tick(void *ctx, const struct orch_running *const *running, unsigned count,
                    const struct orch_totals *totals)
{
    struct orch_progress *progress = ctx;
    GString *frame = g_string_new(NULL);
    append_up(progress, frame);
    append_line(progress, frame, orch_progress_summary_line(totals));
    for (unsigned i = 0; i < count && i < 16; i++)
        append_line(progress, frame, orch_progress_trial_line(running[i], line_limit()));
    g_string_append(frame, "\033[J");
    fputs(frame->str, stderr);
    fflush(stderr);
    g_string_free(frame, TRUE);
}

struct named_rank {
    const char *name;
    unsigned rank; /* of orch_running_rank() */
    guint place;   /* in the plugin's declaration; those that it lacks come behind */
};

static gint compare_ranks(gconstpointer a, gconstpointer b)
{
    const struct named_rank *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return strcmp(x->name, y->name);
}

static guint place_of(const struct orch_manifest *manifest, const char *name)
{
    guint place = 0;
    while (place < manifest->metrics->len &&
           strcmp(((const struct orch_metric_spec *)manifest->metrics->pdata[place])->name, name))
        place++;
    return place;
}

/* Appends the three values that the run is about most. */
static void append_values(struct orch_progress *progress, GString *line,
                          const struct orch_running *trial, GHashTable *values)
{
    g_autoptr(GArray) names = g_array_new(FALSE, FALSE, sizeof(struct named_rank));
    GHashTableIter iter;
    gpointer key;
    g_hash_table_iter_init(&iter, values);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        struct named_rank one = {key, orch_running_rank(trial, progress->expansion, key),
                                 place_of(trial->item->cell->experiment->manifest, key)};
        g_array_append_val(names, one);
    }
    g_array_sort(names, compare_ranks);
    for (guint i = 0; i < names->len && i < 3; i++) {
        const char *metric = g_array_index(names, struct named_rank, i).name;
        g_autofree char *text = orch_number_format(*(double *)g_hash_table_lookup(values, metric));
        g_autofree char *name = orch_text_line(g_strdup(metric));
        g_string_append_printf(line, "%s%s %s", i ? ", " : "  ", name, text);
    }
}

/* Appends the results, or without results the last values of the metrics. */
static void append_results(struct orch_progress *progress, GString *line,
                           const struct orch_running *trial, const struct orch_collected *collected)
{
    struct orch_store *store = progress->cli->workspace->store;
    if (g_hash_table_size(collected->results) || !store) {
        append_values(progress, line, trial, collected->results);
        return;
    }
    g_autoptr(GHashTable) last = orch_run_last_values(store, trial->key);
    append_values(progress, line, trial, last);
}

static void on_ended(void *ctx, const struct orch_running *trial,
                     const struct orch_collected *collected, bool again,
                     const struct orch_totals *totals)
{
    struct orch_progress *progress = ctx;
    const struct orch_verdict_facts *facts = orch_verdict_facts(collected->verdict);
    const char *color = orch_cli_color(progress->cli, true) ? orch_color_of(facts->name) : NULL;
    g_autofree char *label = orch_text_line(orch_cell_label(trial->item->cell));
    g_autofree char *reason = orch_text_line(g_strdup(collected->reason));
    g_autofree char *wall = orch_duration_format(collected->wall_ms / 1e3);
    GString *line = g_string_new(NULL);
    g_string_append_printf(line, "[%u/%u] %s  %s%s%s  %s  %s", orch_progress_ended_count(totals),
                           totals->planned, orch_run_short_key(trial->key), color ? color : "",
                           facts->name, color ? "\033[0m" : "", label, wall);
    append_results(progress, line, trial, collected);
    if (reason && collected->verdict != ORCH_VERDICT_OK)
        g_string_append_printf(line, "  %s", reason);
    if (again)
        g_string_append_printf(line, "  (tried again: attempt %d follows)",
                               trial->item->attempts + 1);
    if (collected->kept)
        g_string_append_printf(line, "\n  kept: %s", collected->kept);
    orch_cli_run_notices_add(&progress->notices, trial, collected, again, line->str);
    g_string_append_c(line, '\n');
    double foreign = orch_disturbed_share(collected->facts);
    if (trial->has_forecast && collected->verdict == ORCH_VERDICT_OK && collected->wall_ms > 0 &&
        !(foreign > ORCH_FOREIGN_CPU_MAX))
        grade(progress, trial, collected->wall_ms / 1e3);
    if (!progress->cli->quiet || facts->fault)
        print_instead(progress, line->str);
    g_string_free(line, TRUE);
}

static void on_message(void *ctx, const char *text)
{
    g_autofree char *line = orch_text_plain(g_strdup_printf("orch: %s\n", text));
    print_instead(ctx, line);
}

/* True when the user can be asked: a process in the background that reads its terminal is
 * stopped. */
static bool can_ask(const struct orch_progress *progress)
{
    return progress->cli->stderr_is_tty && isatty(STDIN_FILENO) &&
           tcgetpgrp(STDIN_FILENO) == getpgrp();
}

/* Asks on a line of its own. What was typed before is no answer. */
static void put_question(struct orch_progress *progress, const struct orch_failing *failing)
{
    g_autofree char *said = orch_text_plain(
        g_strdup_printf("orch: the first %d trials of '%s' failed in the same way: %s\n",
                        ORCH_SAME_FAILURES, failing->experiment, failing->reason));
    tcflush(STDIN_FILENO, TCIFLUSH);
    print_instead(progress, said);
    progress->question = g_strdup_printf(
        "Run the other %u all the same? [y/N] (no answer in %d s: no) ", failing->left, ANSWER_S);
    progress->asked_ns = orch_mono_ns();
    print_instead(progress, "");
}

/* Returns the answer that was typed, if there is a whole line. Only an explicit yes counts. */
static enum orch_decision read_answer(const struct orch_progress *progress, bool *out_typed)
{
    char answer[16] = "";
    struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
    if (orch_mono_ns() - progress->asked_ns > ANSWER_S * INT64_C(1000000000))
        return ORCH_DECISION_STOP;
    if (poll(&fd, 1, 0) <= 0 || !can_ask(progress))
        return ORCH_DECISION_OPEN;
    *out_typed = read(STDIN_FILENO, answer, sizeof answer - 1) > 0;
    g_strstrip(answer);
    return g_ascii_strcasecmp(answer, "y") == 0 || g_ascii_strcasecmp(answer, "yes") == 0
               ? ORCH_DECISION_GO_ON
               : ORCH_DECISION_STOP;
}

static void say_stopped(struct orch_progress *progress, const struct orch_failing *failing)
{
    g_autofree char *text =
        g_strdup_printf("'%s' stops, because its first %d trials failed in the same way: %s\n  "
                        "hint: %u trial%s not run; --keep-going runs %s all the same",
                        failing->experiment, ORCH_SAME_FAILURES, failing->reason, failing->left,
                        failing->left == 1 ? " was" : "s were", failing->left == 1 ? "it" : "them");
    on_message(progress, text);
}

static enum orch_decision on_ask(void *ctx, const struct orch_failing *failing)
{
    struct orch_progress *progress = ctx;
    enum orch_decision answer = ORCH_DECISION_STOP;
    bool is_typed = false;
    if (failing && !progress->question && can_ask(progress))
        put_question(progress, failing);
    if (failing && progress->question)
        answer = read_answer(progress, &is_typed);
    if (answer == ORCH_DECISION_OPEN)
        return answer;
    if (progress->question && !is_typed)
        fputc('\n', stderr);
    g_clear_pointer(&progress->question, g_free);
    if (failing && answer == ORCH_DECISION_STOP)
        say_stopped(progress, failing);
    return answer;
}

struct orch_listener orch_progress_listener(struct orch_progress *progress)
{
    return (struct orch_listener){
        .ctx = progress, .ended = on_ended, .message = on_message, .tick = on_tick, .ask = on_ask};
}

static void append_count(GString *line, unsigned count, const char *what)
{
    if (count)
        g_string_append_printf(line, "%s%u %s", line->len ? ", " : "", count, what);
}

void orch_progress_end(struct orch_progress *progress, const struct orch_totals *totals,
                       double seconds)
{
    print_instead(progress, "");
    GString *line = g_string_new(NULL);
    for (int i = 0; i <= ORCH_VERDICT_UNKNOWN; i++)
        append_count(line, totals->ended[i], orch_verdict_name((enum orch_verdict)i));
    append_count(line, totals->reused, "done before");
    append_count(line, totals->pruned_before, "pruned before");
    append_count(line, totals->skipped, "not for this machine or profile");
    append_count(line, totals->held, "left to others");
    append_count(line, totals->unneeded, "not needed");
    append_count(line, totals->not_run, "not run");
    append_count(line, totals->retried, "tried again");
    append_count(line, totals->promoted, "promoted");
    g_autofree char *took = orch_duration_format(seconds);
    orch_cli_run_notices_print(progress->cli, &progress->notices, totals->planned);
    orch_cli_info(progress->cli, "%u trial%s: %s; %s", totals->planned,
                  orch_plural(totals->planned), line->len ? line->str : "none", took);
    g_string_free(line, TRUE);
    print_grades(progress->cli, "before the run", &progress->planned);
    print_grades(progress->cli, "during the run", &progress->renewed);
    orch_forecast_grades_release(&progress->planned);
    orch_forecast_grades_release(&progress->renewed);
    g_array_unref(progress->drawn);
    g_free(progress->question);
    orch_cli_run_notices_release(&progress->notices);
    g_free(progress);
}
