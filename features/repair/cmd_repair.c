/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch db repair`: recovers the readable content of a damaged store into a new one, together with
 * backups, shards and the journals of trials next to it. */
#include "core/cli/cli.h"

#include "features/repair/rescue.h"
#include "lib/base/text.h"

enum { LINES_MAX = 100 };

struct repair_options {
    const char *to;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct repair_options, to, TEXT, "to", .value = "FILE",
                .help = "the new store (default: the damaged file's name with '.repaired')"),
    {0}};

/* ---- output -----------------------------------------------------------------------------------
 */

static json_t *lines_json(const GPtrArray *lines)
{
    json_t *list = json_array();
    for (guint i = 0; i < lines->len; i++)
        json_array_append_new(list, json_string(lines->pdata[i]));
    return list;
}

static void print_json(const struct orch_rescue *r)
{
    const struct orch_salvage *s = &r->salvage;
    orch_cli_print_json(json_pack(
        "{s:s s:I s:I s:I s:I s:I s:I s:I s:I s:I s:o s:o}", "repaired", r->to, "runs",
        (json_int_t)s->runs, "purged", (json_int_t)s->purged, "notes", (json_int_t)s->notes,
        "recipes", (json_int_t)s->recipes, "forecasts", (json_int_t)s->forecasts, "datasets",
        (json_int_t)s->datasets, "predictors", (json_int_t)s->predictors, "conflicts",
        (json_int_t)s->conflicts, "trials", (json_int_t)(s->actives + r->trials), "sources",
        lines_json(s->sources), "lost", lines_json(r->lost)));
}

static void print_lines(const char *what, const GPtrArray *lines)
{
    for (guint i = 0; i < lines->len && i < LINES_MAX; i++) {
        g_autofree char *line = orch_text_plain(g_strdup(lines->pdata[i]));
        orch_cli_print("%-12s%s", what, line);
    }
    if (lines->len > LINES_MAX)
        orch_cli_print("%-12sand %u more (--json lists all)", what, lines->len - LINES_MAX);
}

static void print_text(const struct orch_rescue *r)
{
    const struct orch_salvage *s = &r->salvage;
    const struct {
        const char *what;
        int64_t count;
    } counts[] = {{"runs", s->runs},
                  {"of them purged", s->purged},
                  {"notes", s->notes},
                  {"recipes", s->recipes},
                  {"forecasts", s->forecasts},
                  {"data sets", s->datasets},
                  {"predictors", s->predictors},
                  {"conflicts", s->conflicts},
                  {"trials to be closed by the next run", s->actives + r->trials}};
    print_lines("read", s->sources);
    for (size_t i = 0; i < G_N_ELEMENTS(counts); i++)
        if (i == 0 || counts[i].count)
            orch_cli_print("%-12s%" G_GINT64_FORMAT " %s", "taken", counts[i].count,
                           counts[i].what);
    print_lines("lost", r->lost);
    if (!r->lost->len)
        orch_cli_print("%-12snothing", "lost");
}

/* Prints the next steps. The old log and journal must be moved too, because SQLite would replay
 * them into the new file. */
static void print_next(struct orch_cli *cli, const struct orch_rescue *r)
{
    g_autoptr(GPtrArray) old = orch_rescue_old_files(r);
    g_autoptr(GString) files = g_string_new(NULL);
    for (guint i = 0; i < old->len; i++) {
        g_autofree char *quoted = g_shell_quote(old->pdata[i]);
        g_string_append_printf(files, "%s ", quoted);
    }
    g_autofree char *damaged = g_strconcat(r->path, ".damaged", NULL);
    g_autofree char *folder = g_shell_quote(damaged), *to = g_shell_quote(r->to),
                    *path = g_shell_quote(r->path);
    if (files->len)
        orch_cli_info(cli, "next: mkdir %s && mv %s%s && mv %s %s", folder, files->str, folder, to,
                      path);
    else
        orch_cli_info(cli, "next: mv %s %s", to, path);
    if (r->lost->len)
        orch_cli_info(cli, "then 'orch pull' brings back what others have of the lost runs");
}

static int run_repair(struct orch_cli *cli, const void *options, GError **error)
{
    const struct repair_options *o = options;
    struct orch_workspace *workspace = orch_cli_workspace(cli, NULL, error);
    if (!workspace)
        return -1;
    struct orch_rescue rescue;
    bool ok = orch_rescue_store(workspace->db_path, o->to, &rescue, error);
    if (ok && cli->json)
        print_json(&rescue);
    else if (ok)
        print_text(&rescue);
    if (ok)
        print_next(cli, &rescue);
    int status = !ok ? -1 : rescue.lost->len ? ORCH_EXIT_CHECK : ORCH_EXIT_OK;
    orch_rescue_clear(&rescue);
    return status;
}

const struct orch_command ORCH_COMMAND_DB_REPAIR = {
    .name = "db repair",
    .group = "Maintenance",
    .summary = "recover what can be read of a damaged store into a new one",
    .usage = "",
    .max_args = 0,
    .options = OPTIONS,
    .option_bytes = sizeof(struct repair_options),
    .about = "The damaged file is not changed: a copy of it is read. Only runs whose rows give the "
             "recorded digest are recovered. What is missing is searched in the backups beside it, "
             "in shards/, and in the folders of unfinished trials.\n\n"
             "Lists what was lost. Exits with 0 when nothing was lost, else with 7.",
    .run = run_repair,
};
