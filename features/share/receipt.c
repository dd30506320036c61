/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/share/receipt.h"

#include "lib/base/text.h"

json_t *orch_cli_receipt_json(const struct orch_receipt *receipt)
{
    if (!receipt)
        return json_null();
    json_t *rows = json_array(), *problems = json_array(), *remarks = json_array();
    for (guint i = 0; i < receipt->rows->len; i++) {
        const struct orch_receipt_row *row = receipt->rows->pdata[i];
        json_array_append_new(rows,
                              json_pack("{s:s? s:s? s:s? s:I s:I}", "who", row->who, "recipe",
                                        row->recipe, "experiment", row->experiment, "added",
                                        (json_int_t)row->added, "known", (json_int_t)row->known));
    }
    for (guint i = 0; i < receipt->problems->len; i++)
        json_array_append_new(problems, json_string(receipt->problems->pdata[i]));
    for (guint i = 0; i < receipt->remarks->len; i++)
        json_array_append_new(remarks, json_string(receipt->remarks->pdata[i]));
    return json_pack(
        "{s:s? s:I s:I s:I s:I s:I s:I s:I s:I s:I s:I s:I s:I s:I s:I s:I s:o s:o s:o s:s s:s}",
        "origin", receipt->origin, "added", (json_int_t)receipt->added, "known",
        (json_int_t)receipt->known, "conflicts", (json_int_t)receipt->conflicts, "conflicts_here",
        (json_int_t)receipt->conflicts_here, "purged", (json_int_t)receipt->purged, "refused",
        (json_int_t)receipt->refused, "recipes", (json_int_t)receipt->recipes, "notes",
        (json_int_t)receipt->notes, "tombstones", (json_int_t)receipt->tombstones, "restored",
        (json_int_t)receipt->restored, "foreign_tombstones",
        (json_int_t)receipt->foreign_tombstones, "forecasts", (json_int_t)receipt->forecasts,
        "datasets", (json_int_t)receipt->datasets, "artifacts", (json_int_t)receipt->artifacts,
        "artifact_bytes", (json_int_t)receipt->artifact_bytes, "rows", rows, "problems", problems,
        "remarks", remarks, "before", receipt->before, "after", receipt->after);
}

static void print_rows(struct orch_cli *cli, const struct orch_receipt *receipt)
{
    static const char *const headers[] = {"who", "recipe", "experiment", ">new", ">known", NULL};
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < receipt->rows->len; i++) {
        const struct orch_receipt_row *row = receipt->rows->pdata[i];
        orch_table_add(table, row->who ? row->who : "-", NULL);
        orch_table_add(table, row->recipe ? row->recipe : "-", NULL);
        orch_table_add(table, row->experiment ? row->experiment : "-", NULL);
        orch_table_add_int(table, row->added);
        orch_table_add_int(table, row->known);
    }
    orch_cli_table_print(cli, table, "rows");
    fflush(stdout);
}

static void add_count(GString *text, int64_t count, const char *one, const char *many)
{
    if (count)
        g_string_append_printf(text, ", %" G_GINT64_FORMAT " %s", count, count == 1 ? one : many);
}

void orch_cli_receipt_print(struct orch_cli *cli, const struct orch_receipt *receipt)
{
    GString *text = g_string_new(NULL);
    if (receipt->rows->len)
        print_rows(cli, receipt);
    g_string_append_printf(
        text, "from '%s': %" G_GINT64_FORMAT " new run%s, %" G_GINT64_FORMAT " known",
        receipt->origin, receipt->added, orch_plural(receipt->added), receipt->known);
    add_count(text, receipt->recipes, "recipe", "recipes");
    add_count(text, receipt->notes, "note", "notes");
    add_count(text, receipt->tombstones, "removal", "removals");
    add_count(text, receipt->restored, "run brought back", "runs brought back");
    add_count(text, receipt->datasets, "data set", "data sets");
    add_count(text, receipt->artifacts, "artifact", "artifacts");
    orch_cli_info(cli, "%s", text->str);
    g_string_free(text, TRUE);
    if (receipt->foreign_tombstones)
        orch_cli_info(
            cli,
            "%" G_GINT64_FORMAT
            " removal%s of others' runs ignored: only the author can remove a run for everybody",
            receipt->foreign_tombstones, orch_plural(receipt->foreign_tombstones));
    for (guint i = 0; i < receipt->problems->len; i++)
        orch_cli_warn(cli, "%s", (const char *)receipt->problems->pdata[i]);
    for (guint i = 0; i < receipt->remarks->len; i++)
        orch_cli_info(cli, "%s", (const char *)receipt->remarks->pdata[i]);
    if (receipt->purged)
        orch_cli_info(
            cli, "%" G_GINT64_FORMAT " run%s not added: the other store no longer has their points",
            receipt->purged, orch_plural(receipt->purged));
    if (receipt->conflicts_here)
        orch_cli_info(cli,
                      "%" G_GINT64_FORMAT
                      " run%s kept as conflicts in this store: another run has the same key",
                      receipt->conflicts_here, orch_plural(receipt->conflicts_here));
    int64_t all = receipt->conflicts + receipt->refused;
    if (all > receipt->problems->len)
        orch_cli_warn(cli, "and %" G_GINT64_FORMAT " more", all - receipt->problems->len);
    orch_cli_info(cli, "digest %.8s before, %.8s after", receipt->before, receipt->after);
}

int orch_cli_receipt_status(const struct orch_receipt *receipt)
{
    return receipt && receipt->conflicts + receipt->refused ? ORCH_EXIT_CHECK : ORCH_EXIT_OK;
}
