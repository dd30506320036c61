/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sentence with which a section begins: what its chart or table says, in numbers. */
#ifndef ORCH_CORE_REPORT_ANSWER_H
#define ORCH_CORE_REPORT_ANSWER_H

#include "core/report/grid.h"

/** Puts the answer of the section's last chart before its other blocks. Lines: from what to what
 * each goes, by which factor, and its ideal; bars and heat maps: the values, or the
 * lowest and the highest. Without such a chart, or without numbers in it, nothing is added. */
void orch_answer_of_chart(struct orch_section *section);

/** Puts the answer of a grid before the section's other blocks: of its first values, those of all
 * settings when they are few, else the lowest and the highest. Without numbers nothing is added. */
void orch_answer_of_grid(struct orch_section *section, const struct orch_trials *trials,
                         const struct orch_grid *grid);

#endif
