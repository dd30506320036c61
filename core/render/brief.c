/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/render/brief.h"

#include "lib/base/text.h"

#include <string.h>

#define PROBLEMS_MAX 5

/* The length of the problem's name in a question: 1 in "1.1c". */
static size_t problem_length(const struct orch_section *section)
{
    return section->question ? strcspn(section->question, ".") : 0;
}

static bool is_same_problem(const struct orch_section *a, const struct orch_section *b)
{
    const size_t length = problem_length(a);
    return length && length == problem_length(b) && strncmp(a->question, b->question, length) == 0;
}

/* The first sentence of a text, without its full stop. The caller frees. */
static char *first_sentence(const char *text)
{
    const char *end = text;
    while ((end = strpbrk(end, ".\n")) != NULL && *end != '\n' &&
           !(end[1] == ' ' && !g_ascii_islower(end[2]) && !g_ascii_isdigit(end[2])))
        end++;
    char *sentence = end ? g_strndup(text, (size_t)(end - text)) : g_strdup(text);
    size_t length = strlen(sentence);
    while (length && strchr(". ", sentence[length - 1]))
        sentence[--length] = '\0';
    return sentence;
}

/* The first block of a kind in the problem that begins with a section; NULL: none. */
static const struct orch_block *first_of(const struct orch_document *document, guint begin,
                                         enum orch_block_kind kind,
                                         const struct orch_section **out_section)
{
    for (guint i = begin; i < document->sections->len; i++) {
        const struct orch_section *section = document->sections->pdata[i];
        if (i != begin && !is_same_problem(document->sections->pdata[begin], section))
            continue;
        for (guint j = 0; j < section->blocks->len; j++) {
            const struct orch_block *block = section->blocks->pdata[j];
            if (block->kind == kind && block->text) {
                *out_section = section;
                return block;
            }
        }
    }
    return NULL;
}

/* Where some sections answer questions, the others (the method) are no problems. */
static bool has_questions(const struct orch_document *document)
{
    for (guint i = 0; i < document->sections->len; i++)
        if (((struct orch_section *)document->sections->pdata[i])->question)
            return true;
    return false;
}

static bool begins_problem(const struct orch_document *document, guint index)
{
    for (guint i = 0; i < index; i++)
        if (is_same_problem(document->sections->pdata[index], document->sections->pdata[i]))
            return false;
    return true;
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

static void add_problems(GString *out, const struct orch_document *document, int columns)
{
    unsigned found = 0;
    const bool questions = has_questions(document);
    for (guint i = 0; i < document->sections->len; i++) {
        const struct orch_section *section = document->sections->pdata[i];
        const struct orch_block *block = NULL;
        if (!begins_problem(document, i) || (questions && !section->question))
            continue;
        block = first_of(document, i, ORCH_BLOCK_ANSWER, &section);
        if (!block)
            block = first_of(document, i, ORCH_BLOCK_TEXT, &section);
        if (!block || ++found > PROBLEMS_MAX)
            continue;
        g_autofree char *sentence = first_sentence(block->text);
        const char *name = section->question ? section->question : section->title;
        g_autofree char *line =
            g_strdup_printf("%s%s%s", name ? name : "", name ? "  " : "", sentence);
        add_line(out, columns, line);
    }
    if (found > PROBLEMS_MAX)
        g_string_append_printf(out, "and %u more\n", found - PROBLEMS_MAX);
}

struct count {
    double points[ORCH_SECTION_STUDENT + 1], all;
};

static struct count count(const struct orch_document *document, bool has_points)
{
    struct count c = {{0}, 0};
    for (guint i = 0; i < document->sections->len; i++) {
        const struct orch_section *section = document->sections->pdata[i];
        const double points = has_points ? section->points : 1;
        c.points[section->state] += points;
        c.all += points;
    }
    return c;
}

bool orch_document_has_points(const struct orch_document *document)
{
    double sum = 0;
    for (guint i = 0; i < document->sections->len; i++)
        sum += ((struct orch_section *)document->sections->pdata[i])->points;
    return sum > 0;
}

/* Appends "; left: 3.1b, 4.3 (COMMAND)": the command is that of the first. */
static void add_left(GString *line, const struct orch_document *document)
{
    const char *hint = NULL;
    unsigned named = 0;
    for (guint i = 0; i < document->sections->len; i++) {
        const struct orch_section *section = document->sections->pdata[i];
        const bool is_left = section->state == ORCH_SECTION_MISSING ||
                             section->state == ORCH_SECTION_PARTIAL ||
                             section->state == ORCH_SECTION_SKIPPED;
        const char *name = section->question ? section->question : section->title;
        if (!is_left || !name)
            continue;
        g_string_append_printf(line, "%s%s", named++ ? ", " : "; left: ", name);
        for (guint j = 0; j < section->blocks->len && !hint; j++)
            hint = ((struct orch_block *)section->blocks->pdata[j])->hint;
    }
    if (hint)
        g_string_append_printf(line, " (%s)", hint);
}

char *orch_document_brief(const struct orch_document *document, int columns)
{
    GString *out = g_string_new(NULL);
    add_problems(out, document, columns);
    const bool points = orch_document_has_points(document);
    const struct count c = count(document, points);
    g_autoptr(GString) line = g_string_new(NULL);
    g_string_printf(line, "%g of %g %s answered",
                    c.points[ORCH_SECTION_COMPLETE] + c.points[ORCH_SECTION_SMALL] +
                        c.points[ORCH_SECTION_SIMULATED],
                    c.all, points ? "points" : "questions");
    if (c.points[ORCH_SECTION_SMALL] > 0)
        g_string_append_printf(line, " (%g at small scale)", c.points[ORCH_SECTION_SMALL]);
    if (c.points[ORCH_SECTION_STUDENT] > 0)
        g_string_append_printf(line, ", %g yours to write", c.points[ORCH_SECTION_STUDENT]);
    add_left(line, document);
    add_line(out, 0, line->str);
    return g_string_free(out, FALSE);
}
