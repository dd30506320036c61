/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What full size asks for, once for a problem. */
#ifndef ORCH_CORE_REPORT_FULL_SIZE_NOTE_H
#define ORCH_CORE_REPORT_FULL_SIZE_NOTE_H

#include "core/render/document.h"

/** Adds to the last section of a problem that is complete at small scale what full size asks for in
 * the problem: a sentence when all its parts ask for the same, else a table of the parts. */
void orch_scale_say(struct orch_document *document);

#endif
