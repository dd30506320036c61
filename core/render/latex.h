/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A document as a LaTeX article. */
#ifndef ORCH_CORE_RENDER_LATEX_H
#define ORCH_CORE_RENDER_LATEX_H

#include "core/render/document.h"

/** Stands in the first line of the file. */
#define ORCH_LATEX_MARK "made by 'orch report --out'"

/** Formats the document as an article that pdflatex sets with the packages of texlive-latex-base.
 * It includes charts/NAME.pdf and tables/NAME.tex, where `names` has the NAME of a block, and the
 * pictures whose path without
 * ".png" it has (struct orch_picture *); others are named only. The caller frees. */
char *orch_latex_document(const struct orch_document *document, GHashTable *names);

#endif
