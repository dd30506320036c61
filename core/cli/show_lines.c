/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of 'orch show'. */
#include "core/cli/show_lines.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/value.h"

#include <string.h>

enum { NAME_COLUMNS = 60 }; /* maximum width of the column of names */

void orch_cli_show_line(const char *name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = orch_text_line(g_strdup_vprintf(format, args));
    g_autofree char *head = orch_text_line(g_strdup(name));
    va_end(args);
    orch_cli_print("  %-14s %s", head, text);
}

void orch_cli_show_values(const char *heading, const json_t *object, bool round_reals)
{
    if (!json_object_size(object))
        return;
    orch_cli_print("\n%s", heading);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    int width = 14;
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        g_ptr_array_add(names, (char *)(uintptr_t)name);
        width = MIN(MAX(width, orch_text_columns(name)), NAME_COLUMNS);
    }
    for (guint i = 0; i < names->len; i++) {
        value = json_object_get(object, names->pdata[i]);
        double number;
        g_autofree char *text =
            round_reals && json_is_real(value) && orch_json_get_real(value, &number)
                ? orch_number_format(number)
                : orch_value_format_json(value);
        g_autofree char *plain = orch_text_line(g_strdup(names->pdata[i]));
        orch_cli_print("  %-*s %s", width, plain, orch_text_line(text));
    }
}
