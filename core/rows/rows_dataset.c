/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data sets as tables. */
#include "core/rows/rows_text.h"
#include "core/rows/run_rows.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "predictors/features/feature_names.h"

#include <math.h>
#include <string.h>

/* ---- text --------------------------------------------------------------------------------------
 */

void orch_rows_append_text(GString *out, const char *text)
{
    orch_csv_append(out, text ? text : "");
    g_string_append_c(out, ',');
}

void orch_rows_number(GString *out, double value)
{
    char text[ORCH_REAL_CHARS];
    if (!isnan(value) && value == floor(value) && fabs(value) < 1e9)
        g_string_append_printf(out, "%d", (int)value);
    else if (!isnan(value))
        g_string_append(out, orch_real_format(value, text));
    g_string_append_c(out, ',');
}

void orch_rows_end(GString *out)
{
    out->str[out->len - 1] = '\n';
}

GString *orch_rows_text(const struct orch_csv *table)
{
    GString *out = g_string_new(NULL);
    for (int c = 0; c < orch_csv_columns(table); c++)
        orch_rows_append_text(out, orch_csv_name(table, c));
    orch_rows_end(out);
    for (size_t i = 0; i < orch_csv_rows(table); i++) {
        for (int c = 0; c < orch_csv_columns(table); c++)
            orch_rows_append_text(out, orch_csv_text(table, i, c));
        orch_rows_end(out);
    }
    return out;
}

/* ---- sets --------------------------------------------------------------------------------------
 */

/** Which columns of a set a table has, and its target. */
struct choice {
    const struct orch_dataset *set;
    const char *target;
    const double *targets;
    bool *has; /* by column */
};

static void write_set(const struct choice *choice, GString *out)
{
    const struct orch_dataset *set = choice->set;
    for (guint c = 0; c < set->columns->len; c++)
        if (choice->has[c])
            orch_rows_append_text(out, orch_dataset_column(set, c)->name);
    orch_rows_append_text(out, choice->target);
    orch_rows_end(out);
    for (size_t i = 0; i < set->rows; i++) {
        if (!(choice->targets[i] > 0))
            continue;
        for (guint c = 0; c < set->columns->len; c++) {
            const struct orch_dataset_column *column = orch_dataset_column(set, c);
            if (choice->has[c] && column->is_text)
                orch_rows_append_text(out, column->texts[i]);
            else if (choice->has[c])
                orch_rows_number(out, column->numbers[i]);
        }
        orch_rows_number(out, choice->targets[i]);
        orch_rows_end(out);
    }
}

GString *orch_rows_dataset_text(const struct orch_dataset *set)
{
    GString *out = g_string_new(NULL);
    g_autofree bool *has = g_new(bool, MAX(set->columns->len, 1));
    for (guint c = 0; c < set->columns->len; c++)
        has[c] = true;
    write_set(&(struct choice){set, set->target, set->targets, has}, out);
    return out;
}

static bool choose_target(struct choice *choice, const char *target, GError **error)
{
    const struct orch_dataset *set = choice->set;
    const struct orch_dataset_column *column = orch_dataset_find(set, target);
    if (strcmp(target, set->target) == 0) {
        choice->targets = set->targets;
        return true;
    }
    if (column && !column->is_text) {
        choice->targets = column->numbers;
        return true;
    }
    g_autofree char *hint = g_strdup_printf("its target is '%s'", set->target);
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, hint, "data set '%s' has no numeric column '%s'",
                   set->name, target);
    return false;
}

struct orch_csv *orch_rows_of_dataset(struct orch_store *store, const char *name,
                                      const char *target, GError **error)
{
    struct orch_dataset *set = orch_store_dataset(store, name, error);
    if (!set)
        return NULL;
    struct orch_csv *table = NULL;
    g_autofree bool *has = g_new0(bool, MAX(set->columns->len, 1));
    struct choice choice = {.set = set, .target = target ? target : set->target, .has = has};
    if (choose_target(&choice, choice.target, error)) {
        for (guint c = 0; c < set->columns->len; c++) {
            const struct orch_dataset_column *column = orch_dataset_column(set, c);
            has[c] = !column->left_out && strcmp(column->name, choice.target) != 0 &&
                     !orch_feature_reveals(column->name, choice.target);
        }
        g_autoptr(GString) text = g_string_new(NULL);
        write_set(&choice, text);
        table = orch_csv_parse(set->name, text->str, text->len, error);
    }
    orch_dataset_free(set);
    return table;
}
