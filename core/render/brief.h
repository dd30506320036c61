/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report in a few lines: the first sentence of each problem, and what is left. */
#ifndef ORCH_CORE_RENDER_BRIEF_H
#define ORCH_CORE_RENDER_BRIEF_H

#include "core/render/document.h"

/** At most seven lines, each cut at `columns` (0: never) and ended by '\n': of each problem the
 * first sentence of its first answer, then how many points (or questions, where none have points)
 * are answered, which are left and the command for the first of them. The caller frees. */
char *orch_document_brief(const struct orch_document *document, int columns);

/** True when questions of the report have points. */
bool orch_document_has_points(const struct orch_document *document);

#endif
