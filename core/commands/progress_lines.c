/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/commands/progress_lines.h"

#include "core/cli/forecast_show.h"
#include "core/schedule/time_left.h"
#include "lib/base/text.h"

#include <math.h>

unsigned orch_progress_ended_count(const struct orch_totals *totals)
{
    unsigned count = totals->reused + totals->pruned_before + totals->skipped + totals->unneeded +
                     totals->not_run;
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

void orch_progress_shorten(GString *text, int limit)
{
    if (orch_text_columns(text->str) <= limit)
        return;
    const char *end = text->str;
    for (int columns = 0; *end; end = g_utf8_next_char(end)) {
        gunichar c = g_utf8_get_char(end);
        columns += g_unichar_iszerowidth(c) ? 0 : g_unichar_iswide(c) ? 2 : 1;
        if (columns > limit - 2)
            break;
    }
    g_string_truncate(text, (gsize)(end - text->str));
    g_string_append(text, "..");
}

static void append_bar(GString *line, double share)
{
    int filled = (int)(share * 20 + 0.5);
    g_string_append_c(line, '[');
    for (int i = 0; i < 20; i++)
        g_string_append_c(line, i < filled ? '#' : '.');
    g_string_append_c(line, ']');
}

/* Appends the remaining time, estimated from the trial's own progress, or from its forecast while
 * that is unknown. */
static void append_left(GString *rest, const struct orch_running *trial, double elapsed_s)
{
    struct orch_remaining left;
    if (orch_time_left(trial->points, trial->total, elapsed_s, &left)) {
        g_autofree char *text = orch_cli_span_text(left.left_s);
        if (left.left_s.mid >= 1)
            g_string_append_printf(rest, "  %s left", text);
    } else if (trial->has_forecast &&
               orch_time_left_of_forecast(trial->forecast_s, elapsed_s, &left)) {
        g_autofree char *text = orch_cli_span_text(left.left_s);
        if (left.left_s.mid >= 1)
            g_string_append_printf(rest, "  %s left by the forecast", text);
    } else if (trial->has_forecast && elapsed_s - trial->forecast_s.mid >= 1) {
        g_string_append(rest, "  longer than forecast");
    }
}

GString *orch_progress_trial_line(const struct orch_running *trial, int limit)
{
    double elapsed_s = (double)(orch_mono_ns() - trial->started_mono_ns) / 1e9;
    g_autofree char *elapsed =
        elapsed_s < 1 ? g_strdup_printf("%.1f s", elapsed_s) : orch_duration_format(elapsed_s);
    GString *rest = g_string_new(NULL);
    g_string_append_printf(rest, "  %s", elapsed);
    if (trial->total > 0)
        g_string_append_printf(rest, "  %d %%",
                               (int)(100 * CLAMP(trial->done / trial->total, 0, 1)));
    append_left(rest, trial, elapsed_s);
    if (trial->phase[0])
        g_string_append_printf(rest, "  %s", trial->phase);
    for (unsigned i = 0; i < trial->value_count; i++) {
        g_autofree char *value = orch_number_format(trial->values[i].value);
        g_string_append_printf(rest, "  %s %s", trial->values[i].name, value);
    }
    g_autofree char *label = orch_text_plain(orch_cell_label(trial->item->cell));
    GString *line = g_string_new("  ");
    g_string_append(line, label);
    orch_progress_shorten(line, MAX(16, limit - orch_text_columns(rest->str)));
    g_string_append(line, rest->str);
    g_string_free(rest, TRUE);
    return line;
}

/* ", 5 pruned (about 30 % of the time saved)" */
static void append_pruned(GString *line, const struct orch_totals *totals)
{
    g_string_append_printf(line, ", %u pruned", totals->ended[ORCH_VERDICT_PRUNED]);
    if (totals->promoted)
        g_string_append_printf(line, ", %u promoted", totals->promoted);
    if (totals->saved_share >= 0.01)
        g_string_append_printf(line, " (about %.0f %% of the time saved)",
                               100 * totals->saved_share);
}

GString *orch_progress_summary_line(const struct orch_totals *totals)
{
    GString *line = g_string_new(NULL);
    unsigned ended = orch_progress_ended_count(totals), faults = fault_count(totals);
    append_bar(line, totals->planned ? (double)ended / totals->planned : 1);
    g_string_append_printf(line, " %u of %u trials", ended, totals->planned);
    if (faults)
        g_string_append_printf(line, ", %u failed", faults);
    if (totals->ended[ORCH_VERDICT_PRUNED] || totals->promoted)
        append_pruned(line, totals);
    if (totals->held)
        g_string_append_printf(line, ", %u claimed by others", totals->held);
    if (totals->interrupted || totals->terminated) {
        g_string_append(line, ", stopping");
    } else if (isfinite(totals->eta_s) && totals->eta_s >= 1) {
        g_autofree char *eta = orch_duration_format(ceil(totals->eta_s));
        g_string_append_printf(line, ", about %s left", eta);
    }
    return line;
}
