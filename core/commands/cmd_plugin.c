/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

/* ---- plugin ls --------------------------------------------------------------------------------
 */

static int run_ls(struct orch_cli *cli, const void *options, GError **error)
{
    (void)options;
    (void)error;
    g_autofree char *base = orch_cli_recipe_folder();
    g_autoptr(GPtrArray) entries = orch_plugins_list(orch_cli_plugins(cli), base);
    static const char *const headers[] = {"plugin", "version", "kind", "summary", "path", NULL};
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < entries->len; i++) {
        const struct orch_plugin_entry *entry = entries->pdata[i];
        const struct orch_manifest *m = entry->manifest;
        g_autofree char *name = g_path_get_basename(entry->path);
        g_autofree char *first =
            entry->is_untrusted ? g_strdup_printf("not loaded: 'orch plugin trust %s'", entry->path)
                                : g_strdup(entry->problem);
        g_autofree char *shadowed =
            entry->shadowed_by ? g_strdup_printf("(hidden by %s)", entry->shadowed_by) : NULL;
        if (first)
            strtok(first, "\n");
        orch_table_add(table, m ? m->name : name, NULL);
        orch_table_add(table, m ? m->version : "-", NULL);
        orch_table_add(table,
                       entry->is_untrusted               ? "untrusted"
                       : !m                              ? "broken"
                       : m->kind == ORCH_PLUGIN_COMPILED ? "compiled"
                                                         : "wrapped",
                       NULL);
        orch_table_add(table, shadowed ? shadowed : m ? m->summary : first, NULL);
        orch_table_add(table, entry->path, NULL);
    }
    orch_cli_table_print(cli, table, "plugins");
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_PLUGIN_LS = {
    .name = "plugin ls",
    .group = "Plugins",
    .family = "plugins: list, show, check, write new ones",
    .summary = "list the plugins that a recipe here can use",
    .usage = "",
    .max_args = 0,
    .about = "Searches --plugin-path, the folder 'recipes' (or the current folder) and its "
             "subfolder 'plugins', "
             "$ORCH_PLUGIN_PATH, $XDG_DATA_HOME/orch/plugins, and the plugins installed with orch.",
    .run = run_ls,
};

/* ---- plugin show ------------------------------------------------------------------------------
 */

static void print_params(const struct orch_manifest *m)
{
    static const char *const headers[] = {"parameter", "type",  "default", "range",
                                          "unit",      "label", "help",    NULL};
    if (!m->params->len)
        return;
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < m->params->len; i++) {
        const struct orch_param_spec *p = m->params->pdata[i];
        g_autofree char *type = orch_type_format(p->type);
        g_autofree char *range =
            p->choices ? g_strjoinv(" | ", p->choices)
            : p->min || p->max
                ? g_strdup_printf("%s..%s", p->min ? p->min : "", p->max ? p->max : "")
                : g_strdup("");
        orch_table_add(table, p->name, NULL);
        orch_table_add(table, type, NULL);
        orch_table_add(table,
                       p->def                           ? p->def
                       : p->flags & ORCH_PARAM_OPTIONAL ? "(none)"
                                                        : "(required)",
                       NULL);
        orch_table_add(table, range, NULL);
        orch_table_add(table, p->unit, NULL);
        orch_table_add(table, p->label, NULL);
        orch_table_add(table, p->help, NULL);
    }
    g_autofree char *text = orch_cli_table_to_text(table, false);
    printf("\nparameters\n%s", text);
}

static void print_metrics(const struct orch_manifest *m)
{
    static const char *const headers[] = {"metric", "unit",  "better", "by",
                                          "range",  "label", "help",   NULL};
    static const char *const better[] = {"-", "less", "more"};
    if (!m->metrics->len)
        return;
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < m->metrics->len; i++) {
        const struct orch_metric_spec *s = m->metrics->pdata[i];
        orch_table_add(table, s->name, NULL);
        orch_table_add(table, s->unit, NULL);
        orch_table_add(table, better[s->better <= 2 ? s->better : 0], NULL);
        orch_table_add(table, s->step_unit ? s->step_unit : "(result)", NULL);
        g_autofree char *range =
            s->min || s->max ? g_strdup_printf("%s..%s", s->min ? s->min : "", s->max ? s->max : "")
                             : g_strdup("");
        orch_table_add(table, range, NULL);
        orch_table_add(table, s->label, NULL);
        orch_table_add(table, s->help, NULL);
    }
    g_autofree char *text = orch_cli_table_to_text(table, false);
    printf("\nmetrics and results\n%s", text);
}

static int run_show(struct orch_cli *cli, const void *options, GError **error)
{
    (void)options;
    g_autofree char *base =
        strchr(cli->args[0], '/') ? g_get_current_dir() : orch_cli_recipe_folder();
    const struct orch_manifest *m =
        orch_plugins_find(orch_cli_plugins(cli), cli->args[0], base, error);
    if (!m)
        return -1;
    if (cli->json) {
        orch_cli_print_json(orch_manifest_encode(m));
        return ORCH_EXIT_OK;
    }
    orch_cli_print_line("%s %s - %s", m->name, m->version, m->summary ? m->summary : "");
    orch_cli_print_line("%s, licence %s, %s",
                        m->kind == ORCH_PLUGIN_COMPILED ? "compiled" : "wrapped program",
                        m->licence ? m->licence : "not said", m->path);
    if (m->kind == ORCH_PLUGIN_COMPILED)
        orch_cli_print_line("ABI %u.%u%s%s", m->abi_major, m->abi_minor, m->build ? ", build " : "",
                            m->build ? m->build : "");
    if (m->flags & ORCH_PLUGIN_TIMING)
        puts("its metrics are timings: it runs alone, and results are reused only on the same kind "
             "of machine");
    if (m->needs.gpus || m->needs.threads || m->needs.memory_bytes || m->needs.mpi)
        orch_cli_print("needs %u GPUs, %u threads, %" G_GUINT64_FORMAT " bytes of memory%s",
                       m->needs.gpus, m->needs.threads, (guint64)m->needs.memory_bytes,
                       m->needs.mpi == 2 ? ", MPI (built for one process)"
                       : m->needs.mpi    ? ", MPI"
                                         : "");
    print_params(m);
    print_metrics(m);
    for (guint i = 0; i < m->artifacts->len; i++) {
        const struct orch_artifact_spec *a = m->artifacts->pdata[i];
        if (i == 0)
            puts("");
        orch_cli_print_line("artifact %s%s%s", a->name, a->help ? " - " : "",
                            a->help ? a->help : "");
    }
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_PLUGIN_SHOW = {
    .name = "plugin show",
    .group = "Plugins",
    .pages = true,
    .summary = "show a plugin's parameters, metrics, artifacts and requirements",
    .usage = "NAME|PATH",
    .min_args = 1,
    .max_args = 1,
    .examples = "  orch plugin show sleep\n  orch plugin show ./build/mine.so --json",
    .run = run_show,
};
