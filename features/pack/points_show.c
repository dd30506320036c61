/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch report --points`. */
#include "features/pack/points_show.h"

#include "core/cli/parts.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

static char *points_text(double points)
{
    return g_strdup_printf("%g", points);
}

static struct orch_table *make_table(const GPtrArray *parts)
{
    static const char *const headers[] = {"part", ">points", "state", "what", "missing", NULL};
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < parts->len; i++) {
        const struct orch_points_part *part = parts->pdata[i];
        g_autofree char *points = points_text(part->points);
        const char *state = orch_points_state_name(part->state);
        g_autofree char *with_words = g_strdup_printf("%s, and yours to explain", state);
        orch_table_add(table, part->label, NULL);
        orch_table_add(table, points, orch_json_finite(part->points));
        orch_table_add(table, part->needs_text ? with_words : state, NULL);
        orch_table_add(table, part->asks ? part->asks : "", NULL);
        orch_table_add(table, orch_points_is_open(part) && part->why ? part->why : "", NULL);
    }
    return table;
}

void orch_cli_print_points_sums(const struct orch_document *document, const GPtrArray *parts)
{
    g_autofree char *all = points_text(orch_points_all(parts));
    unsigned words = 0;
    g_autofree char *own = points_text(orch_points_to_write(parts, &words));
    orch_cli_print("%s points in all%s%s", all, document->profile ? ", in profile " : "",
                   document->profile ? document->profile : "");
    if (parts->len && orch_points_all(parts) == 0)
        printf("  no item of the recipe has points: add them, as in 'question: 1.1, points: 3'\n");
    for (int state = 0; state < ORCH_POINTS_STATES; state++) {
        unsigned count = 0;
        g_autofree char *points =
            points_text(orch_points_sum(parts, (enum orch_points_state)state, &count));
        if (count)
            orch_cli_print("  %s: %s in %u part%s",
                           orch_points_state_name((enum orch_points_state)state), points, count,
                           orch_plural(count));
    }
    if (words)
        orch_cli_print("you have to write a text in %u part%s with %s points", words,
                       orch_plural(words), own);
}

struct points_options {
    bool points;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct points_options, points, FLAG, "points",
                .help = "show the state and the points of each part of the assignment"),
    {0}};

static bool is_asked(const void *options)
{
    return ((const struct points_options *)options)->points;
}

/* Rejects partial reports: points are for the whole assignment. */
static bool look(struct orch_cli *cli, void *options, const struct orch_subject *subject,
                 GError **error)
{
    (void)cli, (void)options;
    g_autofree char *hint =
        subject->not_alone ? g_strdup_printf("leave %s out", subject->not_alone) : NULL;
    if (hint)
        orch_error_set(error, ORCH_ERROR_USAGE, hint,
                       "option '--points' counts points of the whole report, not of a part");
    return !hint;
}

/* Prints the state of each part of the assignment and the totals, under --json as an object. */
static bool show(struct orch_cli *cli, void *options, const struct orch_subject *subject,
                 json_t *json, GError **error)
{
    (void)options, (void)json, (void)error;
    const struct orch_document *document = subject->document;
    g_autoptr(GPtrArray) parts = orch_points_of(document);
    struct orch_table *table = make_table(parts);
    if (cli->json) {
        orch_cli_print_json(json_pack("{s:s s:o s:o}", "recipe", document->name, "parts",
                                      orch_cli_table_to_json(table), "totals",
                                      orch_points_totals_json(parts)));
        return true;
    }
    orch_cli_table_print(cli, table, "parts");
    printf("\n");
    orch_cli_print_points_sums(document, parts);
    return true;
}

const struct orch_command_part ORCH_PART_REPORT_POINTS = {
    .command = "report",
    .options = OPTIONS,
    .option_bytes = sizeof(struct points_options),
    .examples = "  orch report recipes/hw4.recipe --points        # what is done, and what is left",
    .is_alone = true,
    .is_asked = is_asked,
    .look = look,
    .show = show,
};
