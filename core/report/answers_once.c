/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table and the calculation of its numbers begin with the same sentence, and so does a chart with
 * its table; statements end with a full stop. Two charts of a question are the same where what
 * would tell them apart cannot run here. */
#include "core/report/answers_once.h"

#include "lib/base/json.h"

#include <stdlib.h>
#include <string.h>

static const char *answer_of(const struct orch_section *section)
{
    const struct orch_block *first = section->blocks->len ? section->blocks->pdata[0] : NULL;
    return first && first->kind == ORCH_BLOCK_ANSWER ? first->text : NULL;
}

/* The caller frees. */
static char **statements_of(const char *answer)
{
    g_autofree char *line = g_strdelimit(g_strdup(answer), "\n", ' ');
    return g_strsplit(line, ". ", -1);
}

static void add_statements(GHashTable *said, const char *answer)
{
    g_auto(GStrv) statements = statements_of(answer);
    for (guint i = 0; statements[i]; i++)
        g_hash_table_add(said, g_strdup(statements[i]));
}

static bool has_all(GHashTable *said, const char *answer)
{
    g_auto(GStrv) statements = statements_of(answer);
    for (guint i = 0; statements[i]; i++)
        if (!g_hash_table_contains(said, statements[i]))
            return false;
    return true;
}

/* A chart in JSON, without its title. The caller frees. */
static char *lines_of(const struct orch_chart *chart)
{
    g_autoptr(json_t) all = orch_chart_json(chart);
    json_object_del(all, "title");
    return json_dumps(all, JSON_SORT_KEYS);
}

/* Replaces the section's charts that the question has had. */
static void drop_charts(struct orch_section *section, GHashTable *drawn)
{
    for (guint i = 0; i < section->blocks->len; i++) {
        struct orch_block *block = section->blocks->pdata[i];
        if (block->kind != ORCH_BLOCK_CHART)
            continue;
        char *lines = lines_of(block->chart);
        const char *title = g_hash_table_lookup(drawn, lines);
        if (title) {
            orch_section_note(section, "see the chart of '%s', which is the same", title);
            g_ptr_array_remove_index(section->blocks, i--);
            free(lines);
        } else {
            g_hash_table_insert(drawn, lines, g_strdup(section->title));
        }
    }
}

void orch_answers_once(struct orch_document *document)
{
    g_autoptr(GHashTable) said = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) drawn = g_hash_table_new_full(g_str_hash, g_str_equal, free, g_free);
    const char *question = NULL;
    for (guint i = 0; i < document->sections->len; i++) {
        struct orch_section *section = document->sections->pdata[i];
        const char *answer = answer_of(section);
        if (!section->question || g_strcmp0(section->question, question) != 0) {
            g_hash_table_remove_all(said);
            g_hash_table_remove_all(drawn);
        }
        question = section->question;
        if (question && section->title)
            drop_charts(section, drawn);
        if (answer && question && has_all(said, answer))
            g_ptr_array_remove_index(section->blocks, 0);
        else if (answer && question)
            add_statements(said, answer);
    }
}
