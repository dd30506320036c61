/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/render/latex.h"

#include "core/render/latex_text.h"
#include "core/render/outline.h"
#include "core/stats/numbers.h"

#include <string.h>

/* A table that is wider than the text is scaled down to it. */
static const char PREAMBLE[] =
    "\\documentclass[a4paper,10pt]{article}\n"
    "\\usepackage[utf8]{inputenc}\n\\usepackage[T1]{fontenc}\n"
    "\\usepackage[margin=22mm]{geometry}\n\\usepackage{graphicx}\n"
    "\\setlength{\\parindent}{0pt}\\setlength{\\parskip}{4pt}\\sloppy\n"
    "\\newsavebox{\\orchbox}\n"
    "\\newcommand{\\fit}[1]{\\sbox{\\orchbox}{#1}\\ifdim\\wd\\orchbox>\\linewidth"
    "\\resizebox{\\linewidth}{!}{\\usebox{\\orchbox}}\\else\\usebox{\\orchbox}\\fi}\n"
    "\\renewcommand{\\topfraction}{0.9}\\renewcommand{\\textfraction}{0.05}"
    "\\renewcommand{\\floatpagefraction}{0.8}\n\\setcounter{topnumber}{6}\\setcounter{totalnumber}{"
    "12}\n";

static void append_line(GString *out, const char *before, const char *text, const char *after)
{
    g_string_append(out, before);
    orch_latex_append(out, text);
    g_string_append(out, after);
}

/* ---- blocks ------------------------------------------------------------------------------------
 */

/* The lines of a program; longer ones go on in the next line. */
static void append_code(GString *out, const char *text)
{
    g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", -1);
    g_string_append(out, "{\\footnotesize\\ttfamily\n");
    for (guint i = 0; lines[i]; i++) {
        const size_t indent = strspn(lines[i], " \t");
        g_string_append(out, "\\mbox{}"); /* an empty line ends no paragraph */
        for (size_t k = 0; k < indent; k++)
            g_string_append(out, lines[i][k] == '\t' ? "~~~~" : "~");
        append_line(out, "", lines[i] + indent, "\\\\\n");
    }
    g_string_append(out, "}\n");
}

static void append_chart(GString *out, const struct orch_chart *chart, const char *name)
{
    g_autofree char *why = orch_chart_obstacle(chart);
    if (why || !name) {
        g_autofree char *line =
            g_strdup_printf("%s is not drawn: %s", chart->title ? chart->title : "A chart",
                            why ? why : "it has no file");
        append_line(out, "\\emph{", line, "}\n\n");
        return;
    }
    g_string_append_printf(out,
                           "\\begin{figure}[htbp]\\centering\n"
                           "\\includegraphics[width=0.85\\linewidth]{{charts/%s}.pdf}\n",
                           name);
    g_autofree char *axes = orch_chart_axes(chart);
    append_line(out, "\\caption{", axes ? axes : "", "}\n\\end{figure}\n");
}

static void append_pictures(GString *out, const struct orch_block *block, GHashTable *names)
{
    const char *width = block->pictures->len > 1 ? "0.3" : "0.6";
    for (guint i = 0; i < block->pictures->len; i++) {
        const struct orch_picture *picture = block->pictures->pdata[i];
        const char *file = g_hash_table_lookup(names, picture);
        const char *caption = picture->caption ? picture->caption : "picture";
        if (file)
            g_string_append_printf(out,
                                   "\\begin{minipage}[t]{%s\\linewidth}\\includegraphics[width="
                                   "\\linewidth]{{%s}.png}\\\\{\\footnotesize ",
                                   width, file);
        append_line(out, "", caption, file ? "}\\end{minipage}\\hfill\n" : "\n\n");
    }
    g_string_append(out, "\n\n");
}

static void append_table(GString *out, const struct orch_block *block, const char *name)
{
    g_autofree char *rows = name ? NULL : orch_table_format(block->table, ORCH_TABLE_LATEX);
    g_string_append(out, "\\medskip\\noindent\\fit{");
    if (name)
        g_string_append_printf(out, "\\input{tables/%s.tex}", name);
    else
        g_string_append(out, rows);
    g_string_append(out, "}\\par\\medskip\n\n");
}

static void append_block(GString *out, const struct orch_block *block, GHashTable *names)
{
    const char *name = g_hash_table_lookup(names, block);
    switch (block->kind) {
    case ORCH_BLOCK_ANSWER:
        append_line(out, "", block->text, "\n\n");
        return;
    case ORCH_BLOCK_TEXT:
        append_line(out, "", block->text, "\n\n");
        return;
    case ORCH_BLOCK_NOTE:
        append_line(out, "{\\footnotesize ", block->text, "\\par}\n\n");
        return;
    case ORCH_BLOCK_MISSING:
        append_line(out, "\\emph{Missing: ", block->text, "}");
        if (block->hint)
            append_line(out, " (get it with \\texttt{", block->hint, "})");
        g_string_append(out, "\n\n");
        return;
    case ORCH_BLOCK_TABLE:
        append_table(out, block, name);
        return;
    case ORCH_BLOCK_SCALE:
        append_line(out, "{\\footnotesize ", block->text, "\\par}\n\n");
        if (block->table)
            append_table(out, block, NULL);
        return;
    case ORCH_BLOCK_CHART:
        append_chart(out, block->chart, name);
        return;
    case ORCH_BLOCK_PICTURES:
        append_pictures(out, block, names);
        return;
    case ORCH_BLOCK_CODE:
        append_code(out, block->text);
        return;
    case ORCH_BLOCK_STUDENT:
        append_line(out, "\\emph{Yours to write", block->text ? ": " : ".", "");
        append_line(out, "", block->text, "}\n\n");
        return;
    }
}

/* ---- the article -------------------------------------------------------------------------------
 */

static void append_head(GString *out, const struct orch_document *d)
{
    g_string_append(out, PREAMBLE);
    append_line(out, "\\title{", d->name, "");
    append_line(out, d->about ? "\\\\\\large " : "", d->about, "}\n");
    append_line(out, "\\author{", d->who, "}\n");
    append_line(out, "\\date{", d->made, "}\n\\begin{document}\n\\maketitle\n");
    const char *const facts[][2] = {{"recipe", d->recipe},     {"profile", d->profile},
                                    {"settings", d->settings}, {"commit", d->commit},
                                    {"machine", d->machine},   {"store", d->store_digest}};
    for (unsigned i = 0; i < G_N_ELEMENTS(facts); i++)
        if (facts[i][1] && *facts[i][1]) {
            append_line(out, "{\\footnotesize ", facts[i][0], ": ");
            append_line(out, "", facts[i][1], "\\par}\n");
        }
}

static void append_part(GString *out, const struct orch_outline_part *part, GHashTable *names)
{
    const bool is_alone = part->sections->len == 1;
    const char *title = is_alone ? orch_outline_title(part) : NULL;
    if (part->question || title) {
        append_line(out, "\\subsection*{", part->question, title ? " " : "");
        append_line(out, "", title, "");
        g_autofree char *points = orch_number_format(part->points);
        if (part->points > 0)
            g_string_append_printf(out, " \\normalfont(%s point%s)", points,
                                   part->points == 1 ? "" : "s");
        g_string_append(out, "}\n");
    }
    for (guint i = 0; i < part->sections->len; i++) {
        const struct orch_section *section = part->sections->pdata[i];
        if (!is_alone && section->title)
            append_line(out, "\\subsubsection*{", section->title, "}\n");
        for (guint k = 0; k < section->blocks->len; k++)
            append_block(out, section->blocks->pdata[k], names);
    }
}

char *orch_latex_document(const struct orch_document *document, GHashTable *names)
{
    GString *out = g_string_new("% " ORCH_LATEX_MARK "\n");
    append_head(out, document);
    g_autoptr(GPtrArray) problems = orch_outline_new(document);
    for (guint i = 0; i < problems->len; i++) {
        const struct orch_outline_problem *problem = problems->pdata[i];
        if (problem->number)
            append_line(out, "\\section*{Problem ", problem->number, "}\n");
        for (guint k = 0; k < problem->parts->len; k++)
            append_part(out, problem->parts->pdata[k], names);
    }
    g_string_append(out, "\\end{document}\n");
    return g_string_free(out, FALSE);
}
