/* SPDX-License-Identifier: MIT */
#include "lib/base/diag.h"

#include "lib/base/error.h"

#include <stdarg.h>
#include <string.h>

static void diag_free(void *pointer)
{
    struct orch_diag *diag = pointer;
    g_free(diag->file);
    g_free(diag->what);
    g_free(diag->hint);
    g_free(diag);
}

struct orch_diags *orch_diags_new(void)
{
    struct orch_diags *diags = g_new0(struct orch_diags, 1);
    diags->items = g_ptr_array_new_with_free_func(diag_free);
    return diags;
}

void orch_diags_free(struct orch_diags *diags)
{
    if (!diags)
        return;
    g_ptr_array_unref(diags->items);
    g_free(diags);
}

void orch_diags_add(struct orch_diags *diags, bool warning, const char *file, int line, int column,
                    const char *hint, const char *format, ...)
{
    if (warning)
        diags->warning_count++;
    else
        diags->error_count++;
    if (diags->items->len >= ORCH_DIAGS_MAX) {
        diags->dropped_count++;
        return;
    }
    va_list args;
    va_start(args, format);
    struct orch_diag *diag = g_new0(struct orch_diag, 1);
    diag->warning = warning;
    diag->file = g_strdup(file);
    diag->line = line;
    diag->column = column;
    diag->what = g_strdup_vprintf(format, args);
    diag->hint = g_strdup(hint);
    diag->code = ORCH_ERROR_RECIPE;
    va_end(args);
    g_ptr_array_add(diags->items, diag);
}

void orch_diags_set_code(struct orch_diags *diags, int code)
{
    if (diags->items->len && !diags->dropped_count)
        ((struct orch_diag *)diags->items->pdata[diags->items->len - 1])->code = code;
}

static int compare(const void *a, const void *b)
{
    const struct orch_diag *x = *(struct orch_diag *const *)a;
    const struct orch_diag *y = *(struct orch_diag *const *)b;
    int order = g_strcmp0(x->file, y->file);
    if (order == 0)
        order = x->line - y->line;
    if (order == 0)
        order = x->column - y->column;
    return order ? order : strcmp(x->what, y->what);
}

void orch_diags_sort(struct orch_diags *diags)
{
    g_ptr_array_sort(diags->items, compare);
    for (unsigned i = 1; i < diags->items->len;) {
        if (compare(&diags->items->pdata[i - 1], &diags->items->pdata[i]) == 0) {
            const struct orch_diag *again = diags->items->pdata[i];
            if (again->warning)
                diags->warning_count--;
            else
                diags->error_count--;
            g_ptr_array_remove_index(diags->items, i);
        } else {
            i++;
        }
    }
}

/* All but the hint. */
static char *diag_head(const struct orch_diag *diag)
{
    GString *text = g_string_new(diag->what);
    if (diag->file) {
        g_string_append_printf(text, "\n  at: %s", diag->file);
        if (diag->line > 0)
            g_string_append_printf(text, ":%d", diag->line);
        if (diag->line > 0 && diag->column > 0)
            g_string_append_printf(text, ":%d", diag->column);
    }
    return g_string_free(text, FALSE);
}

char *orch_diag_format(const struct orch_diag *diag)
{
    g_autofree char *head = diag_head(diag);
    return g_strconcat(head, diag->hint ? "\n  hint: " : NULL, diag->hint, NULL);
}

bool orch_diags_to_error(struct orch_diags *diags, GError **error)
{
    if (diags->error_count == 0)
        return true;
    orch_diags_sort(diags);
    g_autoptr(GString) what = g_string_new(NULL), hint = g_string_new(NULL);
    int code = 0;
    for (unsigned i = 0; i < diags->items->len; i++) {
        const struct orch_diag *diag = diags->items->pdata[i];
        if (diag->warning)
            continue;
        code = code && code != diag->code ? ORCH_ERROR_RECIPE : diag->code;
        if (!hint->len) { /* up to the first hint; later text belongs to it */
            g_autofree char *head = diag_head(diag);
            g_string_append_printf(what, "%s%s", what->len ? "\n" : "", head);
            g_string_append(hint, diag->hint ? diag->hint : "");
            continue;
        }
        g_autofree char *one = orch_diag_format(diag);
        g_string_append_printf(hint, "\n%s", one);
    }
    if (diags->dropped_count)
        g_string_append_printf(hint->len ? hint : what, "\n(and %u more findings)",
                               diags->dropped_count);
    orch_error_set(error, code ? (enum orch_error_code)code : ORCH_ERROR_RECIPE,
                   hint->len ? hint->str : NULL, "%s", what->str);
    return false;
}
