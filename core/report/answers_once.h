/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers of a report that say what another section of the same question has said. */
#ifndef ORCH_CORE_REPORT_ANSWERS_ONCE_H
#define ORCH_CORE_REPORT_ANSWERS_ONCE_H

#include "core/render/document.h"

/** Removes the answer of a section when each of its statements stands in the answer of an earlier
 * section of the same question. */
void orch_answers_once(struct orch_document *document);

#endif
