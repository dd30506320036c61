/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/staleness/update_table.h"

#include "lib/base/text.h"

/* Updates that are named in a row of the table; more are counted. */
#define NAMED_MOST 12

static const struct orch_staleness_update *update_at(const struct orch_staleness_run *run, guint i)
{
    return &g_array_index(run->updates, struct orch_staleness_update, i);
}

static void append_name(GString *out, const struct orch_staleness_update *u)
{
    g_string_append_printf(out, "g[L%d,%" G_GINT64_FORMAT "]", u->learner + 1, u->gradient + 1);
}

/* The updates that were applied between the read and the update of row `row`. In an asynchronous
 * run, the only kind with staleness, version v was updated by row v. */
static void append_between(GString *out, const struct orch_staleness_run *run, guint row)
{
    const struct orch_staleness_update *u = update_at(run, row);
    if (orch_staleness_of(u) > NAMED_MOST) {
        g_string_append_printf(out, "%" G_GINT64_FORMAT " updates", orch_staleness_of(u));
        return;
    }
    for (int64_t version = u->version_read; version < u->version_before; version++) {
        g_string_append(out, version == u->version_read ? "" : " ");
        append_name(out, update_at(run, (guint)version));
    }
}

static void append_seconds(GString *out, int64_t time_ns)
{
    char number[ORCH_REAL_CHARS];
    g_string_append(out, orch_real_format((double)time_ns / 1e9, number));
}

GString *orch_staleness_table(const struct orch_staleness_run *run)
{
    GString *csv = g_string_new("time (s),gradient,learner,weights read at (s),version read,"
                                "version updated,staleness,updates in between\n");
    for (guint i = 0; i < run->updates->len; i++) {
        const struct orch_staleness_update *u = update_at(run, i);
        append_seconds(csv, u->applied_ns);
        g_string_append(csv, ",\"");
        append_name(csv, u);
        g_string_append_c(csv, '"');
        g_string_append_printf(csv, ",%d,", u->learner + 1);
        append_seconds(csv, u->read_ns);
        g_string_append_printf(csv,
                               ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",\"",
                               u->version_read, u->version_before, orch_staleness_of(u));
        append_between(csv, run, i);
        g_string_append(csv, "\"\n");
    }
    return csv;
}

GArray *orch_staleness_counts(const struct orch_staleness_run *run)
{
    GArray *counts = g_array_new(FALSE, TRUE, sizeof(int64_t));
    for (guint i = 0; i < run->updates->len; i++) {
        const guint staleness = (guint)orch_staleness_of(update_at(run, i));
        if (staleness >= counts->len)
            g_array_set_size(counts, staleness + 1);
        g_array_index(counts, int64_t, staleness)++;
    }
    return counts;
}

GString *orch_staleness_histogram(const GArray *counts)
{
    GString *csv = g_string_new("staleness,updates,share\n");
    int64_t all = 0;
    for (guint i = 0; i < counts->len; i++)
        all += g_array_index(counts, int64_t, i);
    for (guint i = 0; i < counts->len; i++) {
        char number[ORCH_REAL_CHARS];
        const int64_t count = g_array_index(counts, int64_t, i);
        if (count)
            g_string_append_printf(csv, "%u,%" G_GINT64_FORMAT ",%s\n", i, count,
                                   orch_real_format((double)count / (double)all, number));
    }
    return csv;
}

char *orch_staleness_working(const struct orch_staleness_run *run, double mean)
{
    GString *text = g_string_new("mean_staleness = (");
    char number[ORCH_REAL_CHARS];
    for (guint i = 0; i < run->updates->len; i++)
        g_string_append_printf(text, "%s%" G_GINT64_FORMAT, i ? " + " : "",
                               orch_staleness_of(update_at(run, i)));
    g_string_append_printf(text, ") / %u = %s", run->updates->len, orch_real_format(mean, number));
    return g_string_free(text, FALSE);
}

char *orch_staleness_by_learner(const struct orch_staleness_run *run, int learner)
{
    GString *names = g_string_new("staleness of ");
    g_autoptr(GString) values = g_string_new(": ");
    bool is_first = true;
    for (guint i = 0; i < run->updates->len; i++) {
        const struct orch_staleness_update *u = update_at(run, i);
        if (u->learner != learner)
            continue;
        g_string_append(names, is_first ? "" : ", ");
        append_name(names, u);
        g_string_append_printf(values, "%s%" G_GINT64_FORMAT, is_first ? "" : ", ",
                               orch_staleness_of(u));
        is_first = false;
    }
    g_string_append(names, values->str);
    return g_string_free(names, FALSE);
}
