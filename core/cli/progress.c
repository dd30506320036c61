/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/progress.h"

#include "lib/base/text.h"

#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct orch_progress {
    struct orch_cli *cli;
    bool live;
    unsigned drawn_lines; /* of the block that stands on the screen */
    GPtrArray *faults;    /* texts, for the summary */
};

struct orch_progress *orch_progress_new(struct orch_cli *cli, bool live)
{
    struct orch_progress *progress = g_new0(struct orch_progress, 1);
    progress->cli = cli;
    progress->live = live && !cli->quiet;
    progress->faults = g_ptr_array_new_with_free_func(g_free);
    return progress;
}

static void erase(struct orch_progress *progress)
{
    if (progress->drawn_lines)
        fprintf(stderr, "\033[%uA\r\033[J", progress->drawn_lines);
    progress->drawn_lines = 0;
}

static unsigned ended_count(const struct orch_totals *totals)
{
    unsigned count = totals->spared + totals->skipped + totals->not_run;
    for (int i = 0; i <= ORCH_VERDICT_UNKNOWN; i++)
        count += totals->ended[i];
    return count;
}

static unsigned fault_count(const struct orch_totals *totals)
{
    unsigned count = 0;
    for (int i = 0; i <= ORCH_VERDICT_UNKNOWN; i++)
        if (orch_verdict_facts((enum orch_verdict)i)->fault)
            count += totals->ended[i];
    return count;
}

static int terminal_width(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

/* Prints one line of the block, cut at the terminal's width. */
static void draw_line(struct orch_progress *progress, GString *line)
{
    glong limit = terminal_width() - 1;
    if (g_utf8_strlen(line->str, -1) > limit)
        g_string_truncate(line, (gsize)(g_utf8_offset_to_pointer(line->str, limit) - line->str));
    fprintf(stderr, "%s\n", line->str);
    progress->drawn_lines++;
}

static void append_bar(GString *line, double share)
{
    int filled = (int)(share * 20 + 0.5);
    g_string_append_c(line, '[');
    for (int i = 0; i < 20; i++)
        g_string_append_c(line, i < filled ? '#' : '.');
    g_string_append_c(line, ']');
}

static void draw_trial(struct orch_progress *progress, const struct orch_running *trial)
{
    GString *line = g_string_new("  ");
    g_autofree char *label = orch_cell_label(trial->item->cell);
    g_autofree char *elapsed =
        orch_duration_format((double)(orch_mono_ns() - trial->started_mono_ns) / 1e9);
    g_string_append_printf(line, "%s  %s", label, elapsed);
    if (trial->total > 0)
        g_string_append_printf(line, "  %d %%",
                               (int)(100 * CLAMP(trial->done / trial->total, 0, 1)));
    if (trial->phase[0])
        g_string_append_printf(line, "  %s", trial->phase);
    if (trial->metric[0]) {
        g_autofree char *value = orch_number_format(trial->value);
        g_string_append_printf(line, "  %s %s", trial->metric, value);
    }
    draw_line(progress, line);
    g_string_free(line, TRUE);
}

static void on_tick(void *ctx, const struct orch_running *const *running, unsigned count,
                    const struct orch_totals *totals)
{
    struct orch_progress *progress = ctx;
    erase(progress);
    GString *line = g_string_new(NULL);
    unsigned ended = ended_count(totals), faults = fault_count(totals);
    append_bar(line, totals->planned ? (double)ended / totals->planned : 1);
    g_string_append_printf(line, " %u of %u trials", ended, totals->planned);
    if (faults)
        g_string_append_printf(line, ", %u failed", faults);
    if (isfinite(totals->eta_s)) {
        g_autofree char *eta = orch_duration_format(totals->eta_s);
        g_string_append_printf(line, ", about %s left", eta);
    }
    draw_line(progress, line);
    g_string_free(line, TRUE);
    for (unsigned i = 0; i < count && i < 16; i++)
        draw_trial(progress, running[i]);
    fflush(stderr);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void append_results(GString *line, const struct orch_collected *collected)
{
    GHashTableIter iter;
    gpointer name, value;
    int shown = 0;
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    g_hash_table_iter_init(&iter, collected->results);
    while (g_hash_table_iter_next(&iter, &name, &value))
        g_ptr_array_add(names, name);
    g_ptr_array_sort(names, compare_names);
    for (guint i = 0; i < names->len && shown < 3; i++, shown++) {
        g_autofree char *text =
            orch_number_format(*(double *)g_hash_table_lookup(collected->results, names->pdata[i]));
        g_string_append_printf(line, "%s%s %s", shown ? ", " : "  ", (char *)names->pdata[i], text);
    }
}

static void on_ended(void *ctx, const struct orch_running *trial,
                     const struct orch_collected *collected, bool again,
                     const struct orch_totals *totals)
{
    struct orch_progress *progress = ctx;
    const struct orch_verdict_facts *facts = orch_verdict_facts(collected->verdict);
    g_autofree char *label = orch_cell_label(trial->item->cell);
    g_autofree char *wall = orch_duration_format(collected->wall_ms / 1e3);
    GString *line = g_string_new(NULL);
    g_string_append_printf(line, "[%u/%u] %s  %s  %s  %s", ended_count(totals), totals->planned,
                           orch_cli_short_key(trial->key), facts->name, label, wall);
    append_results(line, collected);
    if (collected->reason && collected->verdict != ORCH_VERDICT_OK)
        g_string_append_printf(line, "  %s", collected->reason);
    if (again)
        g_string_append(line, "  (tried again)");
    if (facts->fault && !again) {
        GString *fault = g_string_new(line->str);
        g_string_append_printf(fault, "\n    hint: orch log %s", orch_cli_short_key(trial->key));
        g_ptr_array_add(progress->faults, g_string_free(fault, FALSE));
    }
    if (!progress->cli->quiet || facts->fault) {
        erase(progress);
        fprintf(stderr, "%s\n", line->str);
        fflush(stderr);
    }
    g_string_free(line, TRUE);
}

static void on_message(void *ctx, const char *text)
{
    struct orch_progress *progress = ctx;
    erase(progress);
    fprintf(stderr, "orch: %s\n", text);
    fflush(stderr);
}

struct orch_listener orch_progress_listener(struct orch_progress *progress)
{
    return (struct orch_listener){
        .ctx = progress, .ended = on_ended, .message = on_message, .tick = on_tick};
}

static void append_count(GString *line, unsigned count, const char *what)
{
    if (count)
        g_string_append_printf(line, "%s%u %s", line->len ? ", " : "", count, what);
}

void orch_progress_end(struct orch_progress *progress, const struct orch_totals *totals,
                       double seconds)
{
    erase(progress);
    GString *line = g_string_new(NULL);
    for (int i = 0; i <= ORCH_VERDICT_UNKNOWN; i++)
        append_count(line, totals->ended[i], orch_verdict_name((enum orch_verdict)i));
    append_count(line, totals->spared, "done before");
    append_count(line, totals->skipped, "not for this machine or profile");
    append_count(line, totals->not_run, "not run");
    append_count(line, totals->retried, "tried again");
    g_autofree char *took = orch_duration_format(seconds);
    if (progress->faults->len > 1 || (progress->faults->len && totals->planned > 20)) {
        fputs("\nfailed:\n", stderr);
        for (guint i = 0; i < progress->faults->len && i < 20; i++)
            fprintf(stderr, "  %s\n", (char *)progress->faults->pdata[i]);
        if (progress->faults->len > 20)
            fprintf(stderr, "  and %u more: orch ls --where 'state!=ok'\n",
                    progress->faults->len - 20);
    } else if (progress->faults->len) {
        const char *hint = strstr(progress->faults->pdata[0], "hint:");
        fprintf(stderr, "  %s\n", hint ? hint : "");
    }
    orch_cli_say(progress->cli, "%u trial%s: %s; %s", totals->planned,
                 totals->planned == 1 ? "" : "s", line->len ? line->str : "none", took);
    g_string_free(line, TRUE);
    g_ptr_array_unref(progress->faults);
    g_free(progress);
}
