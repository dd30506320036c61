/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text in LaTeX. */
#ifndef ORCH_CORE_RENDER_LATEX_TEXT_H
#define ORCH_CORE_RENDER_LATEX_TEXT_H

#include <glib.h>

/** Appends a text that pdflatex sets as it is: signs of LaTeX are escaped, other signs than letters
 * are commands, and long words may be broken. A character without a command becomes its number,
 * "[U+4E2D]". */
void orch_latex_append(GString *out, const char *text);

#endif
