/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/render/brief.h"

#include "core/render/outline.h"

#include <string.h>

#define PROBLEMS_MAX 5

/* The first sentence of a text, and one about "its" value, without the full stop. Caller frees. */
static char *first_sentence(const char *text)
{
    const char *end = text;
    while ((end = strpbrk(end, ".\n")) != NULL && *end != '\n' &&
           !(end[1] == ' ' && !g_ascii_islower(end[2]) && !g_ascii_isdigit(end[2]) &&
             !g_str_has_prefix(end + 2, "Its ")))
        end++;
    char *sentence = end ? g_strndup(text, (size_t)(end - text)) : g_strdup(text);
    size_t length = strlen(sentence);
    while (length && strchr(". ", sentence[length - 1]))
        sentence[--length] = '\0';
    return sentence;
}

/* The first block of a kind in a part; NULL: none. */
static const struct orch_block *first_of(const struct orch_outline_part *part,
                                         enum orch_block_kind kind)
{
    for (guint i = 0; i < part->sections->len; i++) {
        const struct orch_section *section = part->sections->pdata[i];
        for (guint j = 0; j < section->blocks->len; j++) {
            const struct orch_block *block = section->blocks->pdata[j];
            if (block->kind == kind && block->text)
                return block;
        }
    }
    return NULL;
}

/* Appends a line, cut between words. */
static void add_line(GString *out, int columns, const char *line)
{
    const glong length = g_utf8_strlen(line, -1);
    const char *end = line + strlen(line);
    if (columns > 10 && length > columns) {
        end = g_utf8_offset_to_pointer(line, columns - 2);
        while (end > line && *end != ' ')
            end--;
    }
    g_string_append_len(out, line, end - line);
    g_string_append(out, *end ? " ...\n" : "\n");
}

static const char *name_of(const struct orch_outline_part *part)
{
    return part->question ? part->question : orch_outline_title(part);
}

/* Appends the first answer of these parts, else their first text. False when there is none. */
static bool add_sentence(GString *out, struct orch_outline_part *const *parts, guint count,
                         int columns)
{
    static const enum orch_block_kind kinds[] = {ORCH_BLOCK_ANSWER, ORCH_BLOCK_TEXT};
    for (guint i = 0; i < G_N_ELEMENTS(kinds) * count; i++) {
        const struct orch_outline_part *part = parts[i % count];
        const struct orch_block *block = first_of(part, kinds[i / count]);
        if (!block)
            continue;
        g_autofree char *sentence = first_sentence(block->text);
        const char *name = name_of(part);
        g_autofree char *line =
            g_strdup_printf("%s%s%s", name ? name : "", name ? "  " : "", sentence);
        add_line(out, columns, line);
        return true;
    }
    return false;
}

/* Appends a sentence of each problem; of each part where no question is asked. */
static void add_problems(GString *out, const GPtrArray *problems, int columns)
{
    unsigned found = 0;
    g_autoptr(GString) more = g_string_new(NULL); /* is counted only */
    for (guint i = 0; i < problems->len; i++) {
        const struct orch_outline_problem *problem = problems->pdata[i];
        const guint count = problem->number ? problem->parts->len : 1;
        if (!problem->number && problems->len > 1) /* the method is no problem */
            continue;
        for (guint j = 0; j < problem->parts->len; j += count)
            found += add_sentence(found < PROBLEMS_MAX ? out : more,
                                  (void *)(problem->parts->pdata + j), count, columns);
    }
    if (found > PROBLEMS_MAX)
        g_string_append_printf(out, "and %u more\n", found - PROBLEMS_MAX);
}

/* What is answered and left of a report: in points, or in parts where none have points. */
struct tally {
    bool has_points;
    double counts[ORCH_SECTION_STUDENT + 1], all;
    GString *left;    /* "3.1b, 4.3" */
    const char *hint; /* the command for the first of them, if there is one */
};

static void tally_part(struct tally *tally, const struct orch_outline_part *part)
{
    const enum orch_section_state state = orch_outline_state(part);
    const double points = tally->has_points ? part->points : 1;
    const char *name = name_of(part);
    tally->counts[state] += points;
    tally->all += points;
    if (state < ORCH_SECTION_PARTIAL || state == ORCH_SECTION_STUDENT || !name)
        return;
    g_string_append_printf(tally->left, "%s%s", tally->left->len ? ", " : "", name);
    for (guint i = 0; i < part->sections->len; i++) {
        const struct orch_section *section = part->sections->pdata[i];
        for (guint j = 0; j < section->blocks->len && !tally->hint; j++)
            tally->hint = ((struct orch_block *)section->blocks->pdata[j])->hint;
    }
}

static void add_tally(GString *out, const GPtrArray *problems, bool has_points)
{
    g_autoptr(GString) left = g_string_new(NULL), line = g_string_new(NULL);
    struct tally tally = {.has_points = has_points, .left = left};
    for (guint i = 0; i < problems->len; i++) {
        const struct orch_outline_problem *problem = problems->pdata[i];
        for (guint j = 0; j < problem->parts->len; j++)
            tally_part(&tally, problem->parts->pdata[j]);
    }
    const double *counts = tally.counts;
    g_string_printf(line, "%g of %g %s answered",
                    counts[ORCH_SECTION_COMPLETE] + counts[ORCH_SECTION_SMALL] +
                        counts[ORCH_SECTION_SIMULATED],
                    tally.all, has_points ? "points" : "questions");
    if (counts[ORCH_SECTION_SMALL] > 0)
        g_string_append_printf(line, " (%g at small scale)", counts[ORCH_SECTION_SMALL]);
    if (counts[ORCH_SECTION_STUDENT] > 0)
        g_string_append_printf(line, ", %g yours to write", counts[ORCH_SECTION_STUDENT]);
    if (left->len)
        g_string_append_printf(line, "; left: %s", left->str);
    if (tally.hint)
        g_string_append_printf(line, " (%s)", tally.hint);
    add_line(out, 0, line->str);
}

bool orch_document_has_points(const struct orch_document *document)
{
    double sum = 0;
    for (guint i = 0; i < document->sections->len; i++)
        sum += ((struct orch_section *)document->sections->pdata[i])->points;
    return sum > 0;
}

char *orch_document_brief(const struct orch_document *document, int columns)
{
    GString *out = g_string_new(NULL);
    g_autoptr(GPtrArray) problems = orch_outline_new(document);
    add_problems(out, problems, columns);
    add_tally(out, problems, orch_document_has_points(document));
    return g_string_free(out, FALSE);
}
