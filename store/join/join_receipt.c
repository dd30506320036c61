/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The receipt of a join: the number of runs by author and experiment, and the refusals. */
#include "store/join/join_internal.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

enum { PROBLEMS_MAX = 100, LINE_BYTES = 400 };

static void free_row(gpointer data)
{
    struct orch_receipt_row *row = data;
    g_free(row->who);
    g_free(row->recipe);
    g_free(row->experiment);
    g_free(row);
}

void orch_receipt_free(struct orch_receipt *receipt)
{
    if (!receipt)
        return;
    g_free(receipt->origin);
    g_ptr_array_unref(receipt->rows);
    g_ptr_array_unref(receipt->problems);
    g_ptr_array_unref(receipt->remarks);
    g_free(receipt);
}

struct orch_receipt *orch_store_receipt_new(const char *origin)
{
    struct orch_receipt *receipt = g_new0(struct orch_receipt, 1);
    receipt->origin = g_strdup(origin);
    receipt->rows = g_ptr_array_new_with_free_func(free_row);
    receipt->problems = g_ptr_array_new_with_free_func(g_free);
    receipt->remarks = g_ptr_array_new_with_free_func(g_free);
    return receipt;
}

struct orch_receipt_row *orch_store_receipt_row(struct orch_join *join, const char *who,
                                                const char *recipe, const char *experiment)
{
    char *name = g_strdup_printf("%s\n%s\n%s", who ? who : "", recipe ? recipe : "",
                                 experiment ? experiment : "");
    struct orch_receipt_row *row = g_hash_table_lookup(join->rows, name);
    if (row) {
        g_free(name);
        return row;
    }
    row = g_new0(struct orch_receipt_row, 1);
    row->who = g_strdup(who);
    row->recipe = g_strdup(recipe);
    row->experiment = g_strdup(experiment);
    g_ptr_array_add(join->receipt->rows, row);
    g_hash_table_insert(join->rows, name, row);
    return row;
}

char *orch_store_receipt_line(char *line)
{
    if (strlen(line) > LINE_BYTES)
        g_strlcpy(line + LINE_BYTES, "...", 4);
    char *valid = g_utf8_make_valid(line, -1);
    g_free(line);
    return orch_text_line(valid);
}

void orch_store_receipt_problem(struct orch_join *join, char *line)
{
    line = orch_store_receipt_line(line);
    if (join->receipt->problems->len < PROBLEMS_MAX)
        g_ptr_array_add(join->receipt->problems, line);
    else
        g_free(line);
}

void orch_join_refuse_error(struct orch_join *join, const char *what, const GError *problem)
{
    g_autofree char *why = orch_error_what(problem);
    orch_join_refuse(join, "%s: %s", what, why);
}

void orch_join_refuse(struct orch_join *join, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    join->receipt->refused++;
    orch_store_receipt_problem(join, g_strdup_vprintf(format, args));
    va_end(args);
}

void orch_join_count_artifact(struct orch_join *join, int64_t bytes)
{
    join->receipt->artifacts++;
    join->receipt->artifact_bytes += bytes;
}
