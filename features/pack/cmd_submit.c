/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/recipe_plan.h"
#include "core/cli/report_out.h"
#include "features/pack/handin.h"
#include "features/pack/pack.h"
#include "features/pack/points_show.h"
#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/base/login.h"
#include "lib/base/text.h"

#include <string.h>

#define NETID_MAX 32

struct submit_options {
    struct orch_variant variant;
    const char *netid, *out;
    bool packs;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct submit_options, netid, TEXT, "netid", .value = "ID",
                .help = "your ID, with which every file name begins"),
    ORCH_OPTION(struct submit_options, out, TEXT, "output", .letter = 'o', .value = "DIR",
                .help = "folder of the notebooks and the ZIP (default: here)"),
    ORCH_OPTION(struct submit_options, packs, FLAG, "pack",
                .help = "also put the report's runs and sources into the ZIP, as 'orch pack' does"),
    ORCH_VARIANT_OPTIONS(struct submit_options, variant),
    {0}};

/* Checks the NetID, which becomes part of file names. */
static bool check_netid(const char *netid, GError **error)
{
    if (!netid || !*netid) {
        orch_error_set(error, ORCH_ERROR_USAGE, "for example --netid abc123",
                       "option '--netid' is missing");
        return false;
    }
    bool ok = strlen(netid) <= NETID_MAX && g_ascii_isalnum(*netid);
    for (const char *p = netid; *p && ok; p++)
        ok = g_ascii_isalnum(*p) || strchr("-_.", *p);
    if (!ok)
        orch_error_set(error, ORCH_ERROR_USAGE, "use at most 32 letters, digits, '.', '-' and '_'",
                       "option '--netid': '%s' is not a valid NetID", netid);
    return ok;
}

/* ---- open parts -----------------------------------------------------------------------
 */

static struct orch_table *table_of_missing(const GPtrArray *parts)
{
    static const char *const headers[] = {"question", "state",       ">points",
                                          "missing",  "get it with", NULL};
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < parts->len; i++) {
        const struct orch_points_part *part = parts->pdata[i];
        if (!orch_points_is_open(part))
            continue;
        orch_table_add(table, part->label, NULL);
        orch_table_add(table, orch_points_state_name(part->state), NULL);
        orch_table_add_real(table, part->points);
        orch_table_add(table, part->why ? part->why : "-", NULL);
        orch_table_add(table, part->hint ? part->hint : "-", NULL);
    }
    return table;
}

/* Shortens a reason for the table, since it can name every trial; --json and the report have all
 * of it. */
static char *shortened(const char *text)
{
    enum { SHOWN = 48 };
    if (!text || g_utf8_strlen(text, -1) <= SHOWN)
        return g_strdup(text ? text : "-");
    g_autofree char *begin = g_utf8_substring(text, 0, SHOWN - 3);
    return g_strconcat(begin, "...", NULL);
}

/* Prints each command that completes parts once, with these parts. */
static void print_hints(const GPtrArray *parts)
{
    g_autoptr(GPtrArray) printed = g_ptr_array_new();
    for (guint i = 0; i < parts->len; i++) {
        const struct orch_points_part *part = parts->pdata[i];
        if (!orch_points_is_open(part) || !part->hint ||
            g_ptr_array_find_with_equal_func(printed, part->hint, g_str_equal, NULL))
            continue;
        printf("%s", printed->len ? "" : "get them with:\n");
        g_ptr_array_add(printed, part->hint);
        g_autoptr(GString) labels = g_string_new(NULL);
        for (guint j = i; j < parts->len; j++) {
            const struct orch_points_part *other = parts->pdata[j];
            if (orch_points_is_open(other) && g_strcmp0(other->hint, part->hint) == 0)
                g_string_append_printf(labels, "%s%s", labels->len ? ", " : "", other->label);
        }
        orch_cli_print("  %s    # %s", part->hint, labels->str);
    }
}

/* Prints the open parts, as lines that fit a terminal. */
static void print_missing(struct orch_cli *cli, const GPtrArray *parts)
{
    static const char *const headers[] = {"question", "state", ">points", "missing", NULL};
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < parts->len; i++) {
        const struct orch_points_part *part = parts->pdata[i];
        if (!orch_points_is_open(part))
            continue;
        g_autofree char *why = shortened(part->why);
        orch_table_add(table, part->label, NULL);
        orch_table_add(table, orch_points_state_name(part->state), NULL);
        orch_table_add_real(table, part->points);
        orch_table_add(table, why, NULL);
    }
    printf("not complete:\n");
    fflush(stdout);
    orch_cli_table_print(cli, table, "missing");
    print_hints(parts);
    printf("\n");
}

/* Returns whether every part is done and the student has filled in every cell. */
static bool is_complete(const GPtrArray *parts, const GPtrArray *notebooks)
{
    for (guint i = 0; i < parts->len; i++)
        if (orch_points_is_open(parts->pdata[i]))
            return false;
    for (guint i = 0; i < notebooks->len; i++) {
        const struct orch_notebook *notebook = notebooks->pdata[i];
        for (guint j = 0; j < notebook->answers->len; j++)
            if (((const struct orch_notebook_answer *)notebook->answers->pdata[j])->is_empty)
                return false;
    }
    return true;
}

static json_t *answers_json(const GPtrArray *notebooks)
{
    json_t *out = json_array();
    for (guint i = 0; i < notebooks->len; i++) {
        const struct orch_notebook *notebook = notebooks->pdata[i];
        for (guint j = 0; j < notebook->answers->len; j++) {
            const struct orch_notebook_answer *answer = notebook->answers->pdata[j];
            json_array_append_new(out, json_pack("{s:s, s:s, s:o, s:b}", "question",
                                                 answer->question, "notebook", notebook->path,
                                                 "points", orch_json_finite(answer->points),
                                                 "empty", answer->is_empty));
        }
    }
    return out;
}

static void print_answers(const GPtrArray *notebooks)
{
    unsigned count = 0, empty = 0;
    g_autoptr(GString) names = g_string_new(NULL);
    for (guint i = 0; i < notebooks->len; i++) {
        const struct orch_notebook *notebook = notebooks->pdata[i];
        count += notebook->answers->len;
        for (guint j = 0; j < notebook->answers->len; j++) {
            const struct orch_notebook_answer *answer = notebook->answers->pdata[j];
            if (answer->is_empty)
                g_string_append_printf(names, "%s%s (%s)", empty++ ? ", " : "", answer->question,
                                       notebook->name);
        }
    }
    if (empty)
        orch_cli_print("still empty: %s", names->str);
    else if (count)
        printf("none of your cells is empty\n");
}

/* ---- the archive -------------------------------------------------------------------------------
 */

/* Writes the pack with the evidence next to the notebooks: "abc123_hw4.orch". NULL on error. */
static char *write_pack(struct orch_cli *cli, const struct submit_options *o,
                        const struct orch_document *document, struct orch_plan *plan,
                        GError **error)
{
    g_autofree char *slug = orch_outline_slug(document->name, NULL);
    g_autofree char *file = g_strdup_printf("%s_%s.orch", o->netid, slug);
    g_autofree char *path = g_build_filename(o->out ? o->out : ".", file, NULL);
    g_autofree char *words = orch_cli_recipe_words(cli, &o->variant);
    const struct orch_pack_options options = {
        .request = {.words = words,
                    .profile = o->variant.profile,
                    .settings = o->variant.settings,
                    .sweeps = o->variant.sweeps},
        .who = orch_user_name(),
        .version = ORCH_VERSION,
        .artifact_bytes = ORCH_PACK_ARTIFACT_BYTES,
        .source_bytes = ORCH_PACK_SOURCE_BYTES,
    };
    struct orch_packed packed = {0};
    bool ok = orch_pack_write(plan, document, &options, path, &packed, error);
    orch_packed_clear(&packed);
    return ok ? g_steal_pointer(&path) : NULL;
}

static char *zip_notebooks(const struct submit_options *o, const struct orch_document *document,
                           const GPtrArray *notebooks, const char *pack, GError **error)
{
    g_autofree char *slug = orch_outline_slug(document->name, NULL);
    g_autofree char *file = g_strdup_printf("%s_%s.zip", o->netid, slug);
    g_autofree char *path = g_build_filename(o->out ? o->out : ".", file, NULL);
    return orch_handin_write(path, o->netid, notebooks, pack, error) ? g_steal_pointer(&path)
                                                                     : NULL;
}

static void print_zip_contents(const struct submit_options *o, const char *zip,
                               const GPtrArray *notebooks, const char *pack)
{
    orch_cli_print("%s:", zip);
    for (guint i = 0; i < notebooks->len; i++) {
        const struct orch_notebook *notebook = notebooks->pdata[i];
        printf("  %s_%s", o->netid, notebook->name);
        if (notebook->kept)
            printf("  (%u cell%s of yours kept)", notebook->kept, orch_plural(notebook->kept));
        printf("\n");
    }
    if (pack)
        orch_cli_print("  %s", strrchr(pack, '/') + 1);
}

/* Writes the hand-in. Returns the exit status; -1 with an error. */
static int hand_in(struct orch_cli *cli, const struct submit_options *o,
                   const struct orch_document *document, struct orch_plan *plan, GError **error)
{
    g_autoptr(GPtrArray) programs = orch_cli_report_programs(cli, plan);
    g_autoptr(GPtrArray) notebooks =
        orch_notebooks_write(document, programs, o->out ? o->out : ".", error);
    if (!notebooks)
        return -1;
    g_autoptr(GPtrArray) parts = orch_points_of(document);
    struct orch_table *missing = table_of_missing(parts);
    if (!cli->json) {
        if (orch_table_rows(missing))
            print_missing(cli, parts);
        orch_cli_print_points_sums(document, parts);
        print_answers(notebooks);
        fflush(stdout);
    }
    json_t *missing_json = cli->json ? orch_cli_table_to_json(missing) : NULL;
    if (!cli->json)
        orch_table_free(missing);
    g_autofree char *pack = o->packs ? write_pack(cli, o, document, plan, error) : NULL;
    g_autofree char *zip =
        pack || !o->packs ? zip_notebooks(o, document, notebooks, pack, error) : NULL;
    if (!zip) {
        json_decref(missing_json);
        return -1;
    }
    if (cli->json)
        orch_cli_print_json(json_pack("{s:s, s:o, s:o, s:o}", "zip", zip, "totals",
                                      orch_points_totals_json(parts), "missing", missing_json,
                                      "answers", answers_json(notebooks)));
    else
        print_zip_contents(o, zip, notebooks, pack);
    return is_complete(parts, notebooks) ? ORCH_EXIT_OK : ORCH_EXIT_INCOMPLETE;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct submit_options *o = options;
    if (o->packs) /* the notebooks must agree with the pack */
        orch_who_ignore_login();
    if (!check_netid(o->netid, error))
        return -1;
    cli->needs_every_plugin = true;
    struct orch_expansion *expansion = orch_cli_recipe(cli, cli->args[0], &o->variant, error);
    struct orch_plan *plan = expansion ? orch_cli_report_plan(cli, expansion, 0, error) : NULL;
    g_autofree char *recipe = orch_cli_recipe_words(cli, &o->variant);
    const struct orch_report_options how = {.recipe = recipe, .who = orch_user_name()};
    struct orch_document *document = plan ? orch_report_document(plan, &how, error) : NULL;
    int status = document ? hand_in(cli, o, document, plan, error) : -1;
    orch_document_free(document);
    orch_plan_free(plan);
    orch_expansion_free(expansion);
    return status;
}

const struct orch_command ORCH_COMMAND_SUBMIT = {
    .name = "submit",
    .group = "Share",
    .is_listed = true,
    .summary = "write the hand-in: a ZIP of the report's notebooks",
    .usage = "RECIPE",
    .min_args = 1,
    .max_args = 1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct submit_options),
    .about = "Updates the notebooks of 'orch report RECIPE --ipynb', keeps what you wrote in them, "
             "and packs them into ID_NAME.zip. The output lists the points, the parts that are "
             "incomplete or smaller than in profile 'course', and your cells that are still empty. "
             "If anything is incomplete or empty, the ZIP is written, but the exit status is 8. "
             "See 'orch help handing-in'.",
    .examples = "  orch submit recipes/hw4.recipe --netid abc123\n"
                "  orch submit recipes/hw4.recipe --netid abc123 -o handin\n"
                "  orch submit recipes/hw4.recipe --netid abc123 --pack",
    .run = run,
};
