/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How two runs differ: parameters, recorded facts, files that they read, packages, source. */
#include "core/cli/cli.h"

#include "core/stats/same_trial.h"
#include "core/stats/tried_command.h"
#include "core/workspace/environment.h"
#include "core/workspace/workspace.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/wire/value.h"

#include <string.h>

/* ---- the difference of two runs -------------------------------------------------------------- */

struct run_difference {
    const char *kind; /* "parameter", "run", "input", "machine", ...: static */
    char *name;
    char *a, *b; /* NULL: that run has none */
};
struct run_differences {
    GPtrArray *rows;       /* struct run_difference * */
    char *tree_a, *tree_b; /* captured source trees; NULL: unversioned */
    bool has_unknown_tree; /* the trees differ, and one is not in this repository */
};

#define SOURCE_BYTES_MAX (256 << 10)
enum { PACKAGES_MAX = 200, INPUTS_MAX = 200, DIGEST_SHOWN = 12 };

static void free_row(gpointer pointer)
{
    struct run_difference *row = pointer;
    g_free(row->name);
    g_free(row->a);
    g_free(row->b);
    g_free(row);
}

static void run_differences_clear(struct run_differences *differences)
{
    if (differences->rows)
        g_ptr_array_unref(differences->rows);
    g_free(differences->tree_a);
    g_free(differences->tree_b);
    *differences = (struct run_differences){0};
}

/* Adds a row unless both texts are equal. */
static void add(GPtrArray *rows, const char *kind, const char *name, const char *a, const char *b)
{
    if (g_strcmp0(a, b) == 0)
        return;
    struct run_difference *row = g_new0(struct run_difference, 1);
    *row = (struct run_difference){kind, g_strdup(name), g_strdup(a), g_strdup(b)};
    g_ptr_array_add(rows, row);
}

static void add_objects(GPtrArray *rows, const char *kind, const json_t *a, const json_t *b)
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
        add(rows, kind, name, x, y);
    }
    json_object_foreach((json_t *)(uintptr_t)b, name, value)
    {
        if (json_object_get(a, name))
            continue;
        g_autofree char *y = orch_value_format_json(value);
        add(rows, kind, name, NULL, y);
    }
}

/* Words of `a` that `b` does not have (each as often as `a` has it more often), quoted for a shell.
 * NULL: there are none. The caller frees. */
static char *words_besides(const char *const *a, const char *const *b)
{
    g_autoptr(GPtrArray) left = g_ptr_array_new();
    for (; *b; b++)
        g_ptr_array_add(left, (gpointer)(uintptr_t)*b);
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint at; *a; a++) {
        if (g_ptr_array_find_with_equal_func(left, *a, g_str_equal, &at)) {
            g_ptr_array_remove_index(left, at);
            continue;
        }
        g_autofree char *word = orch_cli_shell_word(*a);
        g_string_append_printf(text, "%s%s", text->len ? " " : "", word);
    }
    return text->len ? g_strdup(text->str) : NULL;
}

/* Adds the words in which the commands behind 'orch try --' differ; the settings are compared by
 * themselves. */
static void add_command(GPtrArray *rows, const struct orch_run *a, const struct orch_run *b)
{
    g_auto(GStrv) of_a = orch_run_tried_words(a), of_b = orch_run_tried_words(b);
    if (!of_a || !of_b || g_strv_equal((const char *const *)of_a, (const char *const *)of_b))
        return;
    g_autofree char *x = words_besides((const char *const *)of_a, (const char *const *)of_b);
    g_autofree char *y = words_besides((const char *const *)of_b, (const char *const *)of_a);
    if (x || y)
        add(rows, "run", "command", x, y);
    else
        add(rows, "run", "command", "these words", "in another order");
}

static void add_facts(GPtrArray *rows, const struct orch_run *a, const struct orch_run *b)
{
    g_autofree char *seed_a = g_strdup_printf("%" G_GUINT64_FORMAT, (guint64)a->seed);
    g_autofree char *seed_b = g_strdup_printf("%" G_GUINT64_FORMAT, (guint64)b->seed);
    const struct {
        const char *name, *a, *b;
    } facts[] = {{"recipe", a->recipe, b->recipe},
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
    for (unsigned i = 0; i < G_N_ELEMENTS(facts); i++)
        add(rows, "run", facts[i].name, facts[i].a, facts[i].b);
    add_command(rows, a, b);
    g_autoptr(json_t) x = a->machine_facts ? json_loads(a->machine_facts, 0, NULL) : NULL;
    g_autoptr(json_t) y = b->machine_facts ? json_loads(b->machine_facts, 0, NULL) : NULL;
    if (x && y)
        add_objects(rows, "machine", x, y);
}

/* What a run read by name -> the first digits of its digest, or the run that it comes from. */
static json_t *inputs_of(struct orch_store *store, const struct orch_run *run)
{
    g_autoptr(GPtrArray) inputs = orch_store_inputs(store, run->id, NULL);
    json_t *out = json_object();
    for (guint i = 0; inputs && i < inputs->len; i++) {
        const struct orch_stored_input *input = inputs->pdata[i];
        const char *content = input->sha256 && *input->sha256 ? input->sha256 : input->from_key;
        json_object_set_new(out, input->name,
                            json_sprintf("%.*s", DIGEST_SHOWN, content ? content : ""));
    }
    return out;
}

/* Adds the files that only one of the runs read, or that both read with other contents. */
static void add_inputs(GPtrArray *rows, struct orch_store *store, const struct orch_run *a,
                       const struct orch_run *b)
{
    g_autoptr(json_t) x = inputs_of(store, a);
    g_autoptr(json_t) y = inputs_of(store, b);
    guint before = rows->len;
    add_objects(rows, "input", x, y);
    if (rows->len > before + INPUTS_MAX)
        g_ptr_array_set_size(rows, (gint)(before + INPUTS_MAX));
}

static void add_environment(GPtrArray *rows, const struct orch_run *a, const struct orch_run *b,
                            const char *store_folder)
{
    g_autoptr(json_t) x = orch_environment_recorded(a->facts);
    g_autoptr(json_t) y = orch_environment_recorded(b->facts);
    g_autoptr(GPtrArray) all = x && y ? orch_environment_rows(x, y, store_folder) : NULL;
    for (guint i = 0; all && i < MIN(all->len, PACKAGES_MAX); i++) {
        const struct orch_environment_row *row = all->pdata[i];
        add(rows, "environment", row->name, row->then, row->now);
    }
}

static void add_source(struct orch_vcs *vcs, const struct orch_run *a, const struct orch_run *b,
                       struct run_differences *out)
{
    if (!vcs || !a->source_tree || !b->source_tree || strcmp(a->source_tree, b->source_tree) == 0)
        return;
    g_autoptr(GPtrArray) changes = orch_vcs_diff(vcs, a->source_tree, b->source_tree, NULL);
    out->has_unknown_tree = !changes;
    for (guint i = 0; changes && i < changes->len; i++) {
        const struct orch_left_out *change = changes->pdata[i];
        bool added = strcmp(change->why, "added") == 0,
             removed = strcmp(change->why, "removed") == 0;
        add(out->rows, "source", change->path,
            added     ? NULL
            : removed ? "removed later"
                      : "before",
            removed ? NULL
            : added ? "added"
                    : "changed");
    }
}

/* Finds the run that `text` names; if that is a commit, the error says so. The caller frees. */
static struct orch_run *find_run(struct orch_workspace *workspace, const char *text, GError **error)
{
    g_autofree char *commit = NULL, *tree = NULL;
    g_autoptr(GError) problem = NULL;
    struct orch_run *found = orch_store_run(workspace->store, text, &problem);
    if (found)
        return found;
    if (g_error_matches(problem, ORCH_ERROR, ORCH_ERROR_NOT_FOUND) &&
        orch_workspace_commit(workspace, text, &commit, &tree, NULL))
        orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                       "'orch compare A B' compares the runs of two commits",
                       "'%s' is a commit, not a run", text);
    else
        g_propagate_error(error, g_steal_pointer(&problem));
    return NULL;
}

static void compare(struct orch_workspace *workspace, const struct orch_run *a,
                    const struct orch_run *b, struct run_differences *out)
{
    struct orch_store *store = workspace->store;
    g_autoptr(json_t) x = orch_run_open_params(store, a, NULL);
    g_autoptr(json_t) y = orch_run_open_params(store, b, NULL);
    *out = (struct run_differences){.rows = g_ptr_array_new_with_free_func(free_row),
                                    .tree_a = g_strdup(a->source_tree),
                                    .tree_b = g_strdup(b->source_tree)};
    add_objects(out->rows, "parameter", x, y);
    add_facts(out->rows, a, b);
    add_inputs(out->rows, store, a, b);
    add_environment(out->rows, a, b, orch_store_folder(store));
    add_source(workspace->vcs, a, b, out);
}

/* Compares the runs that `a` and `b` name. The workspace's store must be open. False with
 * ORCH_ERROR_NOT_FOUND, which says so when the text names a commit. Clear with
 * run_differences_clear. */
static bool runs_differ(struct orch_workspace *workspace, const char *a, const char *b,
                        struct run_differences *out, GError **error)
{
    struct orch_run *x = find_run(workspace, a, error);
    struct orch_run *y = x ? find_run(workspace, b, error) : NULL;
    if (y)
        compare(workspace, x, y, out);
    orch_run_free(x);
    orch_run_free(y);
    return y != NULL;
}

/* The lines of source that differ, at most 256 KiB. `*out_text` (freed by the caller) is NULL when
 * a run is unversioned or the workspace is in no repository. */
static bool run_differences_source(struct orch_workspace *workspace,
                                   const struct run_differences *differences, char **out_text,
                                   GError **error)
{
    *out_text = NULL;
    if (!workspace->vcs || !differences->tree_a || !differences->tree_b)
        return true;
    *out_text = orch_vcs_diff_text(workspace->vcs, differences->tree_a, differences->tree_b,
                                   SOURCE_BYTES_MAX, error);
    return *out_text != NULL;
}

struct diff_options {
    bool source;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct diff_options, source, FLAG, "source",
                .help = "show the lines of source that differ"),
    {0}};

/* `source`: the lines that differ, or NULL. */
static void print_rows(struct orch_cli *cli, const GPtrArray *rows, const char *source)
{
    static const char *const headers[] = {"what", "name", "A", "B", NULL};
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < rows->len; i++) {
        const struct run_difference *row = rows->pdata[i];
        orch_table_add(table, row->kind, NULL);
        orch_table_add(table, row->name, NULL);
        orch_table_add(table, row->a ? row->a : "-", orch_json_text_or_null(row->a));
        orch_table_add(table, row->b ? row->b : "-", orch_json_text_or_null(row->b));
    }
    if (cli->json && source) {
        orch_cli_print_json(json_pack("{s:o s:o}", "differences", orch_table_json(table), "source",
                                      orch_json_text_or_null(source)));
        orch_table_free(table);
        return;
    }
    orch_cli_table_print(cli, table, "differences");
    if (source)
        orch_cli_print("\n%s", source);
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct diff_options *o = options;
    struct run_differences differences = {0};
    g_autofree char *source = NULL;
    if (!orch_cli_store(cli, ORCH_STORE_READ, error) ||
        !runs_differ(cli->workspace, cli->args[0], cli->args[1], &differences, error))
        return -1;
    if (differences.has_unknown_tree)
        orch_cli_warn(cli, "files are not compared: one run's source is not in this repository");
    bool ok = !o->source || differences.has_unknown_tree ||
              run_differences_source(cli->workspace, &differences, &source, error);
    if (ok)
        print_rows(cli, differences.rows, source ? g_strchomp(source) : NULL);
    run_differences_clear(&differences);
    return ok ? ORCH_EXIT_OK : -1;
}

const struct orch_command ORCH_COMMAND_DIFF = {
    .name = "diff",
    .group = "Look at results",
    .pages = true,
    .summary = "show how two runs differ: parameters, source, inputs, machine, packages",
    .usage = "RUN RUN",
    .min_args = 2,
    .max_args = 2,
    .options = OPTIONS,
    .option_bytes = sizeof(struct diff_options),
    .examples = "  orch diff @{1} @last --source   # the run before the last, and the last",
    .run = run,
};
