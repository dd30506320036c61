/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shows trained models, as text and as JSON: each question, its mixture of models, and the
 * candidates that were evaluated. */
#ifndef ORCH_CORE_CLI_LEARNED_SHOW_H
#define ORCH_CORE_CLI_LEARNED_SHOW_H

#include "predictors/learn.h"

/** Prints each question with at most `most` candidates, the best first. */
void learned_say(const struct orch_learned *learned, guint most);
/** Returns the same as an array with all candidates. New reference. */
json_t *learned_json(const struct orch_learned *learned);

#endif
