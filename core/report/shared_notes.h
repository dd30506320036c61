/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Notes that many sections of a report share are said once, in a section at its end. */
#ifndef ORCH_CORE_REPORT_SHARED_NOTES_H
#define ORCH_CORE_REPORT_SHARED_NOTES_H

#include "core/render/document.h"

/** A statement may stand as often in a report. */
enum { ORCH_METHOD_REPEATS_MOST = 3 };

/** Moves the statements of notes that stand more than ORCH_METHOD_REPEATS_MOST times in the
 * document to a section "Method" at its end, where they are numbered. Each section refers to them
 * ("how this was computed: method 1, 3 at the end of the report"). A statement on what is missing
 * stays in the first section that has it; the others refer to that. A document without such repeats
 * is not changed. */
void orch_method_gather(struct orch_document *document);

#endif
