/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/slurm/take_in.h"

#include "core/cli/notify.h"
#include "lib/base/error.h"
#include "lib/base/text.h"

static void append(GString *text, const char *separator, unsigned count, const char *what)
{
    if (count)
        g_string_append_printf(text, "%s%u %s", text->len ? separator : "", count, what);
}

static void append_verdicts(GString *text, const GPtrArray *runs)
{
    unsigned counts[ORCH_VERDICT_UNKNOWN + 1] = {0};
    const char *separator = ": ";
    for (guint i = 0; i < runs->len; i++)
        counts[((const struct orch_slurm_run *)runs->pdata[i])->verdict]++;
    for (unsigned i = 0; i < G_N_ELEMENTS(counts); i++) {
        if (!counts[i])
            continue;
        g_string_append_printf(text, "%s%u %s", separator, counts[i],
                               orch_verdict_name((enum orch_verdict)i));
        separator = ", ";
    }
}

char *orch_cli_collected_text(const struct orch_slurm_collected *c)
{
    GString *text = g_string_new(NULL);
    if (c->runs->len) {
        g_string_append_printf(text, "collected %u trial%s of Slurm jobs", c->runs->len,
                               orch_plural(c->runs->len));
        append_verdicts(text, c->runs);
    }
    append(text, "; ", c->running, "running");
    append(text, ", ", c->queued, "queued");
    if (c->queued && c->waits_for)
        g_string_append_printf(text, " (%s)", c->waits_for);
    append(text, ", ", c->kept, "ended, whose artifacts queued trials need");
    append(text, ", ", c->forgotten, "cancelled before they began");
    bool is_empty = !text->len;
    char *result = g_string_free(text, is_empty);
    return is_empty ? NULL : result;
}

void orch_cli_tell_alerts(struct orch_cli *cli, const struct orch_slurm_collected *collected)
{
    const char *command = orch_cli_notify_command(NULL);
    for (guint i = 0; i < collected->runs->len; i++) {
        const struct orch_slurm_run *run = collected->runs->pdata[i];
        g_auto(GStrv) lines = g_strsplit(run->alerts, "\n", -1);
        for (char **line = lines; *line; line++) {
            if (!**line)
                continue;
            orch_cli_info(cli, "alert of trial %s (%s): %s", orch_run_short_key(run->key),
                          run->experiment, *line);
            orch_cli_notify_alert(command, run->recipe, run->experiment, run->key, *line);
        }
    }
}

void orch_slurm_take_in(struct orch_cli *cli)
{
    g_autoptr(GError) problem = NULL;
    struct orch_slurm_collected collected = {0};
    struct orch_workspace *workspace = orch_cli_workspace(cli, NULL, NULL);
    struct orch_store *store = workspace && orch_workspace_has_store(workspace)
                                   ? orch_workspace_store(workspace, ORCH_STORE_READ, NULL)
                                   : NULL;
    if (!store || !orch_slurm_has_jobs(store))
        return;
    store = orch_workspace_store(workspace, ORCH_STORE_WRITE, &problem);
    bool ok = store && orch_slurm_collect(store, false, &collected, &problem);
    if (!ok) {
        g_autofree char *what = orch_error_what(problem);
        orch_cli_warn(cli, "trials of Slurm jobs were not collected: %s", what);
    } else if (collected.runs->len || collected.forgotten) {
        g_autofree char *text = orch_cli_collected_text(&collected);
        orch_cli_info(cli, "%s", text);
        orch_cli_tell_alerts(cli, &collected);
    }
    if (ok && collected.problem)
        orch_cli_warn(cli, "trials of Slurm jobs are shown in their last known state: %s",
                      collected.problem);
    orch_slurm_collected_clear(&collected);
}
