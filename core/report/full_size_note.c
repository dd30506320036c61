/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each item finds out for itself what full size asks for beyond its own trials, and the items of a
 * problem mostly ask for the same. */
#include "core/report/full_size_note.h"

#include "core/render/outline.h"
#include "core/report/scale.h"

#include <string.h>

#define SMALL "complete at small scale: "
#define MORE ORCH_SCALE_ASKS " more trials or other settings"

/* The sections of a problem at small scale, by what full size asks for. */
struct asked {
    GPtrArray *scales;         /* const char *, in order */
    GPtrArray *parts;          /* GString *: "1.1a, 1.1c" */
    struct orch_section *last; /* of the problem at small scale */
};

static void string_free(gpointer text)
{
    g_string_free(text, TRUE);
}

static void add_part(struct asked *asked, const char *scale, const char *part)
{
    guint at;
    if (!g_ptr_array_find_with_equal_func(asked->scales, scale, g_str_equal, &at)) {
        at = asked->scales->len;
        g_ptr_array_add(asked->scales, (gpointer)(uintptr_t)scale);
        g_ptr_array_add(asked->parts, g_string_new(NULL));
    }
    GString *parts = asked->parts->pdata[at];
    const size_t length = strlen(part);
    const bool is_said =
        parts->len >= length && strcmp(parts->str + parts->len - length, part) == 0;
    if (!is_said)
        g_string_append_printf(parts, "%s%s", parts->len ? ", " : "", part);
}

static void gather(struct asked *asked, const struct orch_outline_problem *problem)
{
    for (guint i = 0; i < problem->parts->len; i++) {
        const struct orch_outline_part *part = problem->parts->pdata[i];
        for (guint k = 0; k < part->sections->len; k++) {
            struct orch_section *section = part->sections->pdata[k];
            const char *name = part->question   ? part->question
                               : section->title ? section->title
                                                : section->kind;
            if (section->state != ORCH_SECTION_SMALL || !section->scale)
                continue;
            asked->last = section;
            add_part(asked, section->scale, name);
        }
    }
}

/* A column of the parts, and one of what full size asks for in them. */
static struct orch_table *table_of(const struct asked *asked)
{
    static const char *const headers[] = {"part", ORCH_SCALE_ASKS, NULL};
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < asked->scales->len; i++) {
        const char *scale = asked->scales->pdata[i];
        const GString *parts = asked->parts->pdata[i];
        if (i && g_string_equal(parts, asked->parts->pdata[i - 1]))
            continue; /* another item of the same parts, which asks for nearly the same */
        const bool is_usual = g_str_has_prefix(scale, ORCH_SCALE_ASKS " ");
        orch_table_add(table, parts->str, NULL);
        orch_table_add(table, is_usual ? scale + strlen(ORCH_SCALE_ASKS " ") : scale, NULL);
    }
    return table;
}

void orch_scale_say(struct orch_document *document)
{
    g_autoptr(GPtrArray) problems = orch_outline_new(document);
    for (guint i = 0; i < problems->len; i++) {
        struct asked asked = {g_ptr_array_new(), g_ptr_array_new_with_free_func(string_free), NULL};
        gather(&asked, problems->pdata[i]);
        const bool is_one = asked.scales->len == 1;
        g_autofree char *text = g_strconcat(is_one ? "" : "the parts below are ", SMALL,
                                            is_one ? asked.scales->pdata[0] : MORE, NULL);
        if (asked.scales->len)
            orch_section_scale(asked.last, text, is_one ? NULL : table_of(&asked));
        g_ptr_array_unref(asked.scales);
        g_ptr_array_unref(asked.parts);
    }
}
