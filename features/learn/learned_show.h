/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shows trained models, as text and as JSON: each question, its mixture of models, and the
 * candidates that were evaluated. */
#ifndef ORCH_FEATURES_LEARN_LEARNED_SHOW_H
#define ORCH_FEATURES_LEARN_LEARNED_SHOW_H

#include "core/rows/training_rows.h"

/** Prints each question with at most `most` candidates, the best first. */
void orch_cli_learned_print(const struct orch_learned *learned, guint most);
/** Returns the same as an array with all candidates. New reference. */
json_t *orch_cli_learned_json(const struct orch_learned *learned);

/** Splits the values of an option that may be given again at commas ("a,b"). NULL-terminated; the
 * caller frees with g_strfreev. */
char **orch_cli_predictor_split_list(const char **given);

#endif
