/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"

#include "core/run/compare_run.h"
#include "core/run/environment.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/wire/value.h"

#include <string.h>

struct diff_options {
    bool source;
};

static const struct orch_option OPTIONS[] = {{"source", 0, NULL, ORCH_OPT_FLAG,
                                              offsetof(struct diff_options, source),
                                              "show the lines of source that differ"},
                                             {0}};

#define DIFF_BYTES (256 << 10)

static void add(struct orch_table *table, const char *kind, const char *name, const char *a,
                const char *b)
{
    if (g_strcmp0(a, b) == 0)
        return;
    orch_table_add(table, kind, NULL);
    orch_table_add(table, name, NULL);
    orch_table_add(table, a ? a : "-", orch_json_text_or_null(a));
    orch_table_add(table, b ? b : "-", orch_json_text_or_null(b));
}

static void add_objects(struct orch_table *table, const char *kind, const json_t *a,
                        const json_t *b)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)a, name, value)
    {
        const json_t *other = json_object_get(b, name);
        if (other && json_equal(value, other))
            continue;
        g_autofree char *x = orch_value_format_json(value);
        g_autofree char *y = other ? orch_value_format_json(other) : NULL;
        add(table, kind, name, x, y);
    }
    json_object_foreach((json_t *)(uintptr_t)b, name, value)
    {
        if (json_object_get(a, name))
            continue;
        g_autofree char *y = orch_value_format_json(value);
        add(table, kind, name, NULL, y);
    }
}

static void add_facts(struct orch_table *table, const struct orch_run *a, const struct orch_run *b)
{
    g_autofree char *seed_a = g_strdup_printf("%" G_GUINT64_FORMAT, (guint64)a->seed);
    g_autofree char *seed_b = g_strdup_printf("%" G_GUINT64_FORMAT, (guint64)b->seed);
    const struct {
        const char *name, *a, *b;
    } rows[] = {{"recipe", a->recipe, b->recipe},
                {"experiment", a->experiment, b->experiment},
                {"plugin", a->plugin, b->plugin},
                {"plugin version", a->plugin_version, b->plugin_version},
                {"build", a->build, b->build},
                {"state", a->state, b->state},
                {"seed", seed_a, seed_b},
                {"commit", a->source_commit, b->source_commit},
                {"tree", a->source_tree, b->source_tree},
                {"device", a->device_key, b->device_key},
                {"who", a->who, b->who}};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++)
        add(table, "run", rows[i].name, rows[i].a, rows[i].b);
    g_autoptr(json_t) x = a->machine_facts ? json_loads(a->machine_facts, 0, NULL) : NULL;
    g_autoptr(json_t) y = b->machine_facts ? json_loads(b->machine_facts, 0, NULL) : NULL;
    if (x && y)
        add_objects(table, "machine", x, y);
}

static void add_environment(struct orch_table *table, const struct orch_run *a,
                            const struct orch_run *b, const char *store_folder)
{
    enum { ROWS_MAX = 200 };
    g_autoptr(json_t) x = orch_environment_recorded(a->facts);
    g_autoptr(json_t) y = orch_environment_recorded(b->facts);
    g_autoptr(GPtrArray) rows = x && y ? orch_environment_rows(x, y, store_folder) : NULL;
    for (guint i = 0; rows && i < MIN(rows->len, ROWS_MAX); i++) {
        const struct orch_environment_row *row = rows->pdata[i];
        add(table, "environment", row->name, row->then, row->now);
    }
}

static void add_source(struct orch_cli *cli, struct orch_table *table, const struct orch_run *a,
                       const struct orch_run *b)
{
    struct orch_vcs *vcs = cli->workspace->vcs;
    if (!vcs || !a->source_tree || !b->source_tree || strcmp(a->source_tree, b->source_tree) == 0)
        return;
    g_autoptr(GPtrArray) changes = orch_vcs_diff(vcs, a->source_tree, b->source_tree, NULL);
    if (!changes)
        orch_cli_warn(cli, "the source of one of them is not in this repository");
    for (guint i = 0; changes && i < changes->len; i++) {
        const struct orch_left_out *change = changes->pdata[i];
        bool added = strcmp(change->why, "added") == 0,
             removed = strcmp(change->why, "removed") == 0;
        add(table, "source", change->path,
            added     ? NULL
            : removed ? "removed later"
                      : "before",
            removed ? NULL
            : added ? "added"
                    : "changed");
    }
}

/* Finds the run that `text` names; if that is a commit, the error says so. The caller frees. */
static struct orch_run *find_run(struct orch_cli *cli, struct orch_store *store, const char *text,
                                 GError **error)
{
    g_autofree char *commit = NULL, *tree = NULL;
    g_autoptr(GError) problem = NULL;
    struct orch_run *found = orch_store_run(store, text, &problem);
    if (found)
        return found;
    if (g_error_matches(problem, ORCH_ERROR, ORCH_ERROR_NOT_FOUND) &&
        orch_workspace_commit(cli->workspace, text, &commit, &tree, NULL))
        orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                       "'orch compare A B' compares the runs of two commits, 'git diff A B' their "
                       "files",
                       "'%s' is a commit, not a run", text);
    else
        g_propagate_error(error, g_steal_pointer(&problem));
    return NULL;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct diff_options *o = options;
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    struct orch_run *a = store ? find_run(cli, store, cli->args[0], error) : NULL;
    struct orch_run *b = a ? find_run(cli, store, cli->args[1], error) : NULL;
    int status = -1;
    if (b) {
        static const char *const headers[] = {"what", "name", "A", "B", NULL};
        struct orch_table *table = orch_table_new(headers);
        g_autoptr(json_t) x = orch_store_params(store, a->id, NULL);
        g_autoptr(json_t) y = orch_store_params(store, b->id, NULL);
        add_objects(table, "parameter", x, y);
        add_facts(table, a, b);
        add_environment(table, a, b, orch_store_folder(store));
        add_source(cli, table, a, b);
        orch_table_print(cli, table, "differences");
        if (o->source && cli->workspace->vcs && a->source_tree && b->source_tree) {
            g_autofree char *text = orch_vcs_diff_text(cli->workspace->vcs, a->source_tree,
                                                       b->source_tree, DIFF_BYTES, error);
            if (text)
                orch_cli_print("\n%s", g_strchomp(text));
            status = text ? ORCH_EXIT_OK : -1;
        } else {
            status = ORCH_EXIT_OK;
        }
    }
    orch_run_free(a);
    orch_run_free(b);
    return status;
}

const struct orch_command ORCH_COMMAND_DIFF = {
    .name = "diff",
    .group = "Looking",
    .summary = "show how two runs differ: parameters, source, plugin, machine, packages",
    .usage = "RUN RUN",
    .min_args = 2,
    .max_args = 2,
    .options = OPTIONS,
    .option_bytes = sizeof(struct diff_options),
    .examples = "  orch diff @{1} @last --source",
    .run = run,
};
