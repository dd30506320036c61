/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pdflatex knows the Latin letters of T1; every other character stops it, so that it is either in
 * this table or replaced by its number. Only packages of texlive-latex-base are needed. */
#include "core/render/latex_text.h"

#include <stdbool.h>
#include <string.h>

#define LETTERS_END 0x17F /* the last character that inputenc and T1 set by themselves */

enum { WORD_LONG = 24, BREAK_EVERY = 8 };

static const struct {
    gunichar sign;
    const char *command;
} COMMANDS[] = {
    {'\\', "\\textbackslash{}"},
    {'^', "\\textasciicircum{}"},
    {'~', "\\textasciitilde{}"},
    {'&', "\\&"},
    {'%', "\\%"},
    {'$', "\\$"},
    {'#', "\\#"},
    {'_', "\\_"},
    {'{', "\\{"},
    {'}', "\\}"},
    {'<', "\\textless{}"},
    {'>', "\\textgreater{}"},
    {'|', "\\textbar{}"},
    {'"', "\\textquotedbl{}"},
    {0xA0, "~"},
    {0xB0, "$^\\circ$"},
    {0xB1, "$\\pm$"},
    {0xB2, "$^2$"},
    {0xB3, "$^3$"},
    {0xB5, "$\\mu$"},
    {0xB7, "$\\cdot$"},
    {0xB9, "$^1$"},
    {0xBC, "$1/4$"},
    {0xBD, "$1/2$"},
    {0xBE, "$3/4$"},
    {0xAC, "$\\neg$"},
    {0xD7, "$\\times$"},
    {0xF7, "$\\div$"},
    {0x391, "A"},
    {0x394, "$\\Delta$"},
    {0x3A3, "$\\Sigma$"},
    {0x3A9, "$\\Omega$"},
    {0x3B1, "$\\alpha$"},
    {0x3B2, "$\\beta$"},
    {0x3B3, "$\\gamma$"},
    {0x3B4, "$\\delta$"},
    {0x3B5, "$\\varepsilon$"},
    {0x3B7, "$\\eta$"},
    {0x3B8, "$\\theta$"},
    {0x3BA, "$\\kappa$"},
    {0x3BB, "$\\lambda$"},
    {0x3BC, "$\\mu$"},
    {0x3C0, "$\\pi$"},
    {0x3C1, "$\\rho$"},
    {0x3C3, "$\\sigma$"},
    {0x3C4, "$\\tau$"},
    {0x3C6, "$\\varphi$"},
    {0x3C9, "$\\omega$"},
    {0x2010, "-"},
    {0x2011, "-"},
    {0x2013, "\\textendash{}"},
    {0x2014, "\\textemdash{}"},
    {0x2018, "\\textquoteleft{}"},
    {0x2019, "\\textquoteright{}"},
    {0x201C, "\\textquotedblleft{}"},
    {0x201D, "\\textquotedblright{}"},
    {0x2026, "\\dots{}"},
    {0x2190, "$\\leftarrow$"},
    {0x2192, "$\\rightarrow$"},
    {0x2208, "$\\in$"},
    {0x2211, "$\\sum$"},
    {0x2212, "$-$"},
    {0x221A, "$\\surd$"},
    {0x221E, "$\\infty$"},
    {0x2248, "$\\approx$"},
    {0x2260, "$\\neq$"},
    {0x2264, "$\\leq$"},
    {0x2265, "$\\geq$"},
};

static const char *command_of(gunichar c)
{
    for (size_t i = 0; i < G_N_ELEMENTS(COMMANDS); i++)
        if (COMMANDS[i].sign == c)
            return COMMANDS[i].command;
    return NULL;
}

static void append_sign(GString *out, gunichar c)
{
    const char *command = command_of(c);
    if (command)
        g_string_append(out, command);
    else if (c < ' ')
        g_string_append_c(out, ' ');
    else if (c < 0x7F || (c <= LETTERS_END && g_unichar_isalpha(c)))
        g_string_append_unichar(out, c);
    else
        g_string_append_printf(out, "[U+%04X]", c);
}

void orch_latex_append(GString *out, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text ? text : "", -1);
    if (*valid == '[' || *valid == '*') /* no argument of what stands before */
        g_string_append(out, "{}");
    for (const char *p = valid; *p;) {
        const size_t length = strcspn(p, " \n\t");
        const bool is_long = g_utf8_strlen(p, (gssize)length) > WORD_LONG;
        unsigned count = 0;
        for (const char *end = p + length; p < end; p = g_utf8_next_char(p)) {
            append_sign(out, g_utf8_get_char(p));
            if (p[0] == '-' && p[1] == '-') /* two are no dash */
                g_string_append(out, "{}");
            if (is_long && ++count % BREAK_EVERY == 0)
                g_string_append(out, "\\allowbreak{}");
        }
        for (; *p && strchr(" \n\t", *p); p++)
            g_string_append_c(out, ' ');
    }
}
