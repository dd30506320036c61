/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was learned, for people and as JSON: each question, its mixture, what was tried. */
#ifndef ORCH_CORE_CLI_LEARNED_SHOW_H
#define ORCH_CORE_CLI_LEARNED_SHOW_H

#include "predictors/learn.h"

/** Prints each question with at most so many of its trials, best first. */
void learned_say(const struct orch_learned *learned, guint most);
/** The same as an array, all trials. New reference. */
json_t *learned_json(const struct orch_learned *learned);

#endif
