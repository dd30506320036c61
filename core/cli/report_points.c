/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch report --points`. */
#include "core/answer/points.h"
#include "core/cli/report.h"

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
        bool is_done = part->state == ORCH_POINTS_COMPLETE || part->state == ORCH_POINTS_STUDENT;
        g_autofree char *with_words = g_strdup_printf("%s, and yours to explain", state);
        orch_table_add(table, part->label, NULL);
        orch_table_add(table, points, json_real(part->points));
        orch_table_add(table, part->wants_words ? with_words : state, NULL);
        orch_table_add(table, part->asks ? part->asks : "", NULL);
        orch_table_add(table, !is_done && part->why ? part->why : "", NULL);
    }
    return table;
}

static double all_points(const GPtrArray *parts)
{
    double sum = 0;
    for (int state = 0; state < ORCH_POINTS_STATES; state++)
        sum += orch_points_sum(parts, (enum orch_points_state)state);
    return sum;
}

static void print_totals(const struct orch_document *document, const GPtrArray *parts)
{
    g_autofree char *all = points_text(all_points(parts));
    printf("\n%s points in all%s%s\n", all, document->profile ? "; as done under profile " : "",
           document->profile ? document->profile : "");
    for (int state = 0; state < ORCH_POINTS_STATES; state++) {
        unsigned count = 0;
        for (guint i = 0; i < parts->len; i++)
            count += ((const struct orch_points_part *)parts->pdata[i])->state ==
                     (enum orch_points_state)state;
        g_autofree char *points =
            points_text(orch_points_sum(parts, (enum orch_points_state)state));
        if (count)
            printf("  %s: %s in %u part%s\n", orch_points_state_name((enum orch_points_state)state),
                   points, count, count == 1 ? "" : "s");
    }
}

static json_t *totals_json(const GPtrArray *parts)
{
    json_t *totals = json_pack("{s:f}", "all", all_points(parts));
    for (int state = 0; state < ORCH_POINTS_STATES; state++)
        json_object_set_new(totals, orch_points_state_name((enum orch_points_state)state),
                            json_real(orch_points_sum(parts, (enum orch_points_state)state)));
    return totals;
}

void orch_cli_show_points(struct orch_cli *cli, const struct orch_document *document)
{
    g_autoptr(GPtrArray) parts = orch_points_of(document);
    struct orch_table *table = make_table(parts);
    if (cli->json) {
        orch_cli_print_json(json_pack("{s:s s:o s:o}", "recipe", document->name, "parts",
                                      orch_table_to_json(table), "totals", totals_json(parts)));
        return;
    }
    orch_table_print(cli, table, "parts");
    print_totals(document, parts);
}
