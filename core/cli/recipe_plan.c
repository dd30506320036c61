/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/recipe_plan.h"

#include "core/feature/feature.h"
#include "core/render/brief.h"
#include "core/render/page.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"

#include <string.h>
#include <unistd.h>

/* ---- the plan -------------------------------------------------------------------------------
 */

struct orch_plan *orch_cli_plan(struct orch_cli *cli, const struct orch_expansion *expansion,
                                struct orch_plan_options options, unsigned gpu_count,
                                GError **error)
{
    if (!options.slots)
        options.slots = orch_plan_default_slots(cli->workspace, expansion, gpu_count);
    struct orch_diags *diags = orch_diags_new();
    struct orch_plan *plan =
        orch_plan_new(cli->workspace, orch_cli_plugins(cli), expansion, &options, diags, error);
    orch_cli_warnings(cli, diags);
    if (!plan && diags->error_count)
        orch_diags_to_error(diags, error && !*error ? error : NULL);
    orch_diags_free(diags);
    return plan;
}

void orch_cli_plan_leave_out(struct orch_plan *plan)
{
    for (const struct orch_feature *const *f = orch_features(); *f; f++)
        if ((*f)->leave_out)
            (*f)->leave_out(plan);
}

struct orch_plan *orch_cli_report_plan(struct orch_cli *cli, const struct orch_expansion *expansion,
                                       int jobs, GError **error)
{
    if (orch_workspace_has_store(cli->workspace) &&
        !orch_workspace_store(cli->workspace, ORCH_STORE_READ, error))
        return NULL;
    const struct orch_plan_options options = {
        .slots = (unsigned)jobs, .any_slots = !jobs, .reads_only = true};
    struct orch_plan *plan = orch_cli_plan(cli, expansion, options, 0, error);
    if (plan)
        orch_cli_plan_leave_out(plan);
    return plan;
}

/* ---- the recipe as typed --------------------------------------------------------------------
 */

/* Returns whether a shell would interpret characters in the word. */
static bool has_special(const char *text)
{
    return !*text || strpbrk(text, " \t\n'\"$\\*?&;|<>()[]{}`!#~");
}

static void append_option(GString *words, const char *name, const char *value)
{
    g_autofree char *quoted = g_shell_quote(value);
    g_string_append_printf(words, " %s %s", name, has_special(value) ? quoted : value);
}

/* Appends the settings that the options add to the profile. */
static void append_settings(GString *words, const struct orch_variant *variant)
{
    for (int i = 0; variant->settings && variant->settings[i]; i++)
        append_option(words, "-s", variant->settings[i]);
    for (int i = 0; variant->sweeps && variant->sweeps[i]; i++)
        append_option(words, "-x", variant->sweeps[i]);
    if (variant->part)
        append_option(words, "--part", variant->part);
}

char *orch_cli_settings_words(const struct orch_variant *variant)
{
    GString *words = g_string_new(NULL);
    append_settings(words, variant);
    bool any = words->len;
    if (any)
        g_string_erase(words, 0, 1); /* the space before the first word */
    char *text = g_string_free(words, !any);
    return any ? text : NULL;
}

char *orch_cli_recipe_words(const struct orch_cli *cli, const struct orch_variant *variant)
{
    const char *path = cli->arg_count ? cli->args[0] : "RECIPE";
    GString *words = g_string_new(NULL);
    g_autofree char *quoted = g_shell_quote(path);
    g_string_append(words, has_special(path) ? quoted : path);
    if (variant->profile)
        append_option(words, "-p", variant->profile);
    append_settings(words, variant);
    if (cli->db)
        append_option(words, "--db", cli->db);
    return g_string_free(words, FALSE);
}

/* ---- the report -----------------------------------------------------------------------------
 */

void orch_cli_show_document(const struct orch_cli *cli, const struct orch_document *document,
                            struct orch_show_text how)
{
    how.columns = orch_terminal_columns(STDOUT_FILENO);
    how.color = orch_cli_color(cli, false);
    g_autofree char *text = orch_document_show_text(document, &how);
    fputs(text, stdout);
    fflush(stdout);
}

/* Writes the page beside the project's store. NULL: the report is of a part of the recipe, the
 * store lies elsewhere, or nothing can be written there. The caller frees. */
static char *write_page(const struct orch_cli *cli, const struct orch_document *document)
{
    g_autofree char *folder = g_path_get_dirname(cli->workspace->db_path);
    if (cli->arg_count > 1 || !g_str_has_suffix(folder, "/.orch"))
        return NULL;
    g_autofree char *name = g_strconcat(document->name, ".html", NULL);
    g_autofree char *place = g_build_filename(folder, "reports", NULL);
    char *path = g_build_filename(place, name, NULL);
    g_autofree char *page = orch_page_html(document, NULL);
    if (!orch_dir_make(place, NULL) || !orch_file_write(path, page, strlen(page), false, NULL))
        g_clear_pointer(&path, g_free);
    return path;
}

/* Prints a report in at most ten lines: all of a short one, else what each problem says first, and
 * where the rest is. */
static void show_brief(struct orch_cli *cli, const struct orch_document *document,
                       const char *recipe)
{
    enum { LINES_MAX = 10, COLUMNS = 160 }; /* COLUMNS: where there is no terminal */
    const struct orch_show_text how = {.columns = orch_terminal_columns(STDOUT_FILENO)};
    g_autofree char *whole = orch_document_show_text(document, &how);
    unsigned lines = 0;
    for (const char *at = whole; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    if (lines <= LINES_MAX) {
        orch_cli_show_document(cli, document, (struct orch_show_text){0});
        return;
    }
    g_autofree char *brief = orch_document_brief(document, how.columns ? how.columns : COLUMNS);
    g_autofree char *page = write_page(cli, document);
    g_autofree char *here = g_get_current_dir();
    const char *below = page ? orch_path_below(page, here) : NULL, *shown = below ? below : page;
    const char *hand_in =
        orch_document_has_points(document) ? orch_advice(ORCH_ADVICE_HAND_IN, NULL) : NULL;
    printf("\n%sreport: orch report %s%s%s\n", brief, recipe, shown ? "; page: " : "",
           shown ? shown : "");
    if (hand_in)
        printf("hand in: %s %s\n", hand_in, recipe);
    fflush(stdout);
}

void orch_cli_report_requested(struct orch_cli *cli, struct orch_plan *plan,
                               const struct orch_variant *variant)
{
    bool any = false;
    for (unsigned i = 0; i < plan->count && !any; i++)
        any = plan->items[i].state == ORCH_PLAN_DONE;
    if (!any)
        return;
    g_autofree char *recipe = orch_cli_recipe_words(cli, variant);
    struct orch_report_options options = {
        .recipe = recipe, .who = orch_user_name(), .requested_only = true};
    g_autoptr(GError) error = NULL;
    struct orch_document *document = orch_report_document(plan, &options, &error);
    if (document && plan->expansion->is_ad_hoc)
        orch_cli_show_document(cli, document, (struct orch_show_text){0});
    else if (document)
        show_brief(cli, document, recipe);
    else
        orch_cli_warn(cli, "no answers: %s", error->message);
    orch_document_free(document);
}
