/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A document's charts, drawn once: the page, the document on paper and the notebooks share them. */
#ifndef ORCH_CORE_REPORT_DRAWN_H
#define ORCH_CORE_REPORT_DRAWN_H

#include "core/report/document.h"

struct orch_drawn;

/** Draws every chart as an <svg> element, in one process of gnuplot. Does not fail: what cannot be
 * drawn is left out, and orch_drawn_why says why. The document must outlive it. */
struct orch_drawn *orch_drawn_new(const struct orch_document *document);
/** Every chart as an empty drawing: for pages whose drawings do not matter. */
struct orch_drawn *orch_drawn_blank(const struct orch_document *document);
void orch_drawn_free(struct orch_drawn *drawn);
/** The element of a chart; NULL: it was not drawn. Borrowed. `drawn` may be NULL. */
const char *orch_drawn_svg(const struct orch_drawn *drawn, const struct orch_chart *chart);
/** Why some chart was not drawn, for people; NULL: all were. Borrowed. */
const char *orch_drawn_why(const struct orch_drawn *drawn);
/** The chart with characters, for where it was not drawn. The caller frees. */
char *orch_drawn_text(const struct orch_chart *chart);

#endif
