/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/report/section_words.h"

#include "core/report/answer.h"
#include "core/report/labels.h"

#include <string.h>

/* What stands before the name of the line that another one belongs to (plot_lines.c). */
#define IDEAL_OF "ideal of "

/* A name without settings has no label. The caller frees. */
static char *label_for(GHashTable *labels, const char *name)
{
    const char *before = name && g_str_has_prefix(name, IDEAL_OF) ? IDEAL_OF : "";
    if (!name || !strchr(name, '='))
        return NULL;
    g_autofree char *words = orch_answer_series(labels, name + strlen(before));
    return g_strconcat(before, words, NULL);
}

static void label_chart(GHashTable *labels, const struct orch_chart *chart)
{
    for (guint k = 0; k < chart->panels->len; k++) {
        struct orch_chart_panel *panel = chart->panels->pdata[k];
        panel->label = panel->label ? panel->label : label_for(labels, panel->title);
        for (guint s = 0; s < panel->series->len; s++) {
            struct orch_chart_series *series = panel->series->pdata[s];
            series->label = series->label ? series->label : label_for(labels, series->name);
        }
    }
}

/* ---- headers of tables ----------------------------------------------------------------------- */

static bool is_name(const char *word)
{
    return strchr(word, '_') && word[strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

/* The unit in parentheses at the end of a header, which the name before may repeat; NULL: none. The
 * caller frees. */
static char *unit_of(const char *header)
{
    const char *open = g_str_has_suffix(header, ")") ? strrchr(header, '(') : NULL;
    return open ? g_strndup(open + 1, strlen(open) - 2) : NULL;
}

/* Writes a header whose words are separated by blanks, some of them names before a comma. A word
 * without an underscore is a name only if it is one of `names`: "best images" of a listing is not
 * about a metric `images`. The caller frees. */
static char *header_words(GHashTable *labels, GHashTable *names, const char *header)
{
    g_autofree char *unit = unit_of(header);
    g_auto(GStrv) words = g_strsplit(header, " ", -1);
    GString *out = g_string_new(NULL);
    for (guint i = 0; words[i]; i++) {
        const bool has_comma = g_str_has_suffix(words[i], ",");
        g_autofree char *word = g_strndup(words[i], strlen(words[i]) - has_comma);
        const bool is_one =
            is_name(word) || (g_hash_table_contains(names, word) && orch_label_of(labels, word));
        g_autofree char *instead = is_one ? orch_answer_words(labels, word, unit) : NULL;
        g_string_append_printf(out, "%s%s%s", i ? " " : "", instead ? instead : word,
                               has_comma ? "," : "");
    }
    return g_string_free(out, FALSE);
}

static void label_table(GHashTable *labels, GHashTable *names, struct orch_table *table)
{
    for (unsigned c = 0; c < orch_table_columns(table); c++) {
        const char *header = orch_table_header(table, c);
        if (orch_table_label(table, c) != header || orch_table_group(table, c))
            continue;
        g_autofree char *words = header_words(labels, names, header);
        orch_table_set_heading(table, c, NULL, words);
    }
}

void orch_section_label(struct orch_section *section, const struct orch_trials *trials)
{
    if (!section->labels)
        section->labels = orch_labels_new();
    orch_labels_join(section->labels, trials->labels);
}

void orch_section_words(struct orch_section *section, GHashTable *names)
{
    for (guint i = 0; i < section->blocks->len; i++) {
        struct orch_block *block = section->blocks->pdata[i];
        if (block->chart)
            label_chart(section->labels, block->chart);
        if (block->table && names)
            label_table(section->labels, names, block->table);
    }
}
