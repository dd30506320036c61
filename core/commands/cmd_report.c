/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/parts.h"
#include "core/cli/recipe_plan.h"
#include "core/cli/report_out.h"
#include "core/render/json_drawn.h"

#include "lib/base/error.h"
#include "lib/base/ident.h"

#include <string.h>

struct report_options {
    struct orch_variant variant;
    const char **only;
    int jobs;
    bool ascii, runs, quick, disturbed, drawn;
    struct orch_report_out out;
};

static const struct orch_option OPTIONS[] = {
    ORCH_VARIANT_OPTIONS(struct report_options, variant),
    ORCH_PART_OPTION(struct report_options, variant),
    ORCH_SMOKE_OPTION(struct report_options, variant),
    ORCH_OPTION(struct report_options, only, LIST, "only", .value = "QUESTION",
                .help = "only this question (1.1c) or problem (1)"),
    ORCH_OPTION(struct report_options, jobs, COUNT, "jobs", .letter = 'j', .value = "N",
                .help = "use only times that were measured with N trials at once"),
    ORCH_OPTION(struct report_options, ascii, FLAG, "ascii",
                .help = "draw charts with plain characters"),
    ORCH_OPTION(struct report_options, runs, FLAG, "runs",
                .help = "list the runs from which each item is computed"),
    ORCH_OPTION(struct report_options, disturbed, FLAG, "disturbed",
                .help = "include times of disturbed runs (other programs used the CPUs)"),
    ORCH_OPTION(struct report_options, drawn, FLAG, "drawn",
                .help = "with --json: add each chart as SVG"),
    ORCH_OPTION(struct report_options, quick, FLAG, "quick",
                .help = "leave out slow items (those that need fitted models)"),
    ORCH_OPTION(struct report_options, out.folder, TEXT, "output", .letter = 'o', .value = "DIR",
                .help = "write a page (index.html), charts and tables into this folder"),
    ORCH_OPTION(struct report_options, out.html, TEXT, "html", .value = "FILE",
                .help = "write only the page; '-' is standard output"),
    ORCH_OPTION(struct report_options, out.pdf, TEXT, "pdf", .value = "FILE",
                .help = "write the report as one PDF"),
    ORCH_OPTION(struct report_options, out.is_notebook, FLAG, "ipynb",
                .help = "write a notebook per problem into -o DIR; your own cells are kept"),
    {0}};

static struct orch_document *make_document(struct orch_cli *cli, struct orch_plan *plan,
                                           const struct report_options *o, GError **error)
{
    g_autofree char *words = orch_cli_recipe_words(cli, &o->variant);
    g_autofree char *settings = orch_cli_settings_words(&o->variant);
    g_autofree char *recipe =
        o->jobs ? g_strdup_printf("%s -j %d", words, o->jobs) : g_strdup(words);
    struct orch_report_options options = {
        .recipe = recipe,
        .settings = settings,
        .questions = o->only,
        .who = orch_user_name(),
        .requested_only = cli->arg_count > 1,
        .is_slow_left_out = o->quick,
        .counts_disturbed = o->disturbed,
    };
    return orch_report_document(plan, &options, error);
}

/* Outputs the document in the requested form. False with an error. */
static bool give(struct orch_cli *cli, const struct orch_document *document,
                 const struct orch_plan *plan, const struct report_options *o, GError **error)
{
    if (o->out.folder || o->out.html || o->out.pdf || o->out.is_notebook)
        return orch_cli_report_write(cli, document, plan, &o->out, error);
    const struct orch_subject subject = {.document = document};
    if (orch_cli_has_part_alone(cli))
        return orch_cli_parts_show(cli, &subject, NULL, error);
    if (cli->json) {
        json_t *json = orch_document_json(document);
        if (o->drawn)
            orch_document_json_draw(json, document);
        orch_cli_print_json(json);
        return true;
    }
    struct orch_show_text how = {.ascii = o->ascii, .runs = o->runs, .heading = true};
    orch_cli_show_document(cli, document, how);
    return true;
}

/* Rejects partial reports as notebooks: a notebook contains a whole problem, so a part of it would
 * drop the others. */
static bool check_whole(const struct orch_cli *cli, const struct report_options *o, GError **error)
{
    bool is_part = cli->arg_count > 1;
    for (const char **q = o->only; q && *q; q++)
        is_part = is_part || strchr(*q, '.');
    if (o->out.is_notebook && is_part)
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "name whole problems, for example --only 1; --output DIR sets the folder of "
                       "the notebooks",
                       "option '--ipynb' cannot write a single question: a notebook answers all "
                       "questions of a problem");
    return !(o->out.is_notebook && is_part);
}

/* Returns whether each word behind the recipe can be a problem: "p1" or "p2". */
static bool look_like_problems(const struct orch_cli *cli)
{
    for (int i = 1; i < cli->arg_count; i++)
        if (cli->args[i][0] != 'p' || !g_ascii_isdigit(cli->args[i][1]))
            return false;
    return cli->arg_count > 1;
}

static bool are_problems(const struct orch_cli *cli, const struct orch_expansion *expansion)
{
    for (int i = 1; i < cli->arg_count; i++)
        if (!orch_report_has_question(expansion, cli->args[i]))
            return false;
    return true;
}

/* Reads the recipe. Problems named behind it are questions as those of --only, so that all forms of
 * the report mean the same by "p1"; other words are targets. */
static struct orch_expansion *read_recipe(struct orch_cli *cli, const struct report_options *o,
                                          GPtrArray *questions, GError **error)
{
    const int count = cli->arg_count;
    for (int i = 0; o->only && o->only[i]; i++)
        g_ptr_array_add(questions, (gpointer)(uintptr_t)o->only[i]);
    if (!look_like_problems(cli))
        return orch_cli_recipe(cli, cli->args[0], &o->variant, error);
    cli->arg_count = 1;
    struct orch_expansion *expansion = orch_cli_recipe(cli, cli->args[0], &o->variant, error);
    cli->arg_count = count;
    if (!expansion)
        return NULL;
    if (!are_problems(cli, expansion)) {
        orch_expansion_free(expansion);
        return orch_cli_recipe(cli, cli->args[0], &o->variant, error);
    }
    for (int i = 1; i < count; i++)
        g_ptr_array_add(questions, (gpointer)(uintptr_t)cli->args[i]);
    cli->arg_count = 1;
    return expansion;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    struct report_options own = *(const struct report_options *)options;
    const struct report_options *o = &own;
    bool is_part = cli->arg_count > 1 || o->only || o->quick;
    const struct orch_subject subject = {.not_alone =
                                             is_part ? "the problems, --only and --quick" : NULL};
    if ((!look_like_problems(cli) && !check_whole(cli, o, error)) ||
        !orch_cli_parts_look(cli, &subject, error))
        return -1;
    g_autoptr(GPtrArray) questions = g_ptr_array_new();
    struct orch_expansion *expansion = read_recipe(cli, o, questions, error);
    g_ptr_array_add(questions, NULL);
    own.only = questions->len > 1 ? (const char **)questions->pdata : NULL;
    if (expansion && !check_whole(cli, o, error)) {
        orch_expansion_free(expansion);
        return -1;
    }
    struct orch_plan *plan =
        expansion ? orch_cli_report_plan(cli, expansion, o->jobs, error) : NULL;
    struct orch_document *document = plan ? make_document(cli, plan, o, error) : NULL;
    bool ok = document && give(cli, document, plan, o, error);
    orch_document_free(document);
    orch_plan_free(plan);
    orch_expansion_free(expansion);
    return ok ? ORCH_EXIT_OK : -1;
}

const struct orch_command ORCH_COMMAND_REPORT = {
    .name = "report",
    .group = "Look at results",
    .pages = true,
    .is_listed = true,
    .summary = "show a recipe's report: tables, winners and charts from the store",
    .usage = "RECIPE [PROBLEM|EXPERIMENT...]",
    .min_args = 1,
    .max_args = -1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct report_options),
    .about = "Computes every item of the recipe's 'report:' from the runs in the store. No trial "
             "is run and nothing is changed. A trial that nobody has run is shown as missing, with "
             "the command that runs it. 'orch help reports' explains how to write a report.",
    .examples = "  orch report recipes/hw4.recipe                 # all of it\n"
                "  orch report recipes/hw4.recipe --only 1.1c     # one question\n"
                "  orch report recipes/hw4.recipe p1 --runs       # problem 1, with its runs\n"
                "  orch report recipes/hw4.recipe -o report    # a page, charts and tables\n"
                "  orch report recipes/hw4.recipe --pdf hw4.pdf\n"
                "  orch report recipes/hw4.recipe --ipynb         # notebooks to hand in\n"
                "  orch report recipes/hw4.recipe --json",
    .run = run,
};
