/* SPDX-License-Identifier: MIT */
#include "lib/wire/printed_heading.h"

#include "lib/wire/printed_name.h"

#include <string.h>

enum { HEADINGS_MAX = 8 };

static const struct printed_heading *last_of(const GArray *headings)
{
    static const struct printed_heading none;
    return headings->len ? &g_array_index(headings, struct printed_heading, headings->len - 1)
                         : &none;
}

void orch_printed_heading_leave(GArray *headings, unsigned indent)
{
    while (headings->len && last_of(headings)->indent + 1 >= indent)
        g_array_set_size(headings, headings->len - 1);
}

void orch_printed_heading_enter(GArray *headings, const struct printed_heading *heading,
                                unsigned indent)
{
    const struct printed_heading *above = last_of(headings);
    struct printed_heading added = *heading;
    if (headings->len >= HEADINGS_MAX)
        return;
    added.indent = indent;
    g_strlcpy(added.name, above->name, sizeof added.name);
    if (!orch_printed_name_append(added.name, heading->name, strlen(heading->name)))
        return;
    if (!*added.unit)
        g_strlcpy(added.unit, above->unit, sizeof added.unit);
    added.label = added.label ? added.label : above->label;
    g_array_append_val(headings, added);
}

const char *orch_printed_heading_name(const GArray *headings)
{
    return last_of(headings)->name;
}

const char *orch_printed_heading_unit(const GArray *headings)
{
    return last_of(headings)->unit;
}

const char *orch_printed_heading_label(const GArray *headings)
{
    return last_of(headings)->label;
}
