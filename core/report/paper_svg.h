/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chart's SVG for programs that set paper. */
#ifndef ORCH_CORE_REPORT_PAPER_SVG_H
#define ORCH_CORE_REPORT_PAPER_SVG_H

/** An element of orch_chart_svg with its marks written out in place of <use>, and black in place of
 * currentColor: WeasyPrint (57) fails on a currentColor inside of what is used. Looks the same on
 * white. The caller frees. */
char *orch_svg_for_paper(const char *svg);

#endif
