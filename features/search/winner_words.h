/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is said of a search's best point: how far its value can be trusted, and what re-estimates
 * it. */
#ifndef ORCH_FEATURES_SEARCH_WINNER_WORDS_H
#define ORCH_FEATURES_SEARCH_WINNER_WORDS_H

#include "features/search/searched.h"

/** The best point was chosen by its own value, which is therefore too good on average (winner's
 * curse). Returns what is known of that: what fresh repeats of the point gave, or by how much the
 * best of as many equal points would be too good at the noise of the repeats, and how often it
 * would lead by as much; or that neither is known. NULL: fewer than two points have a value. The
 * caller frees. */
char *orch_winner_trust_text(const struct orch_searched *searched);
/** Whether the best point leads by no more than luck explains, as far as is known, and has no fresh
 * repeats. */
bool orch_winner_may_be_luck(const struct orch_searched *searched);
/** Returns which point would be the best by those of its trials that gave a number, and why it has
 * no value: "x=0.95 would be best by its other trials (0.95), but has no value: 1 of its 3 trials
 * failed". NULL: there is none. The caller frees. */
char *orch_winner_spoilt_text(const struct orch_searched *searched);
/** Returns what to do for fresh repeats of the best point: "orch try ...", or "add the
 * experiment ... to the recipe". NULL: there are some, or there is no best point. The caller frees.
 */
char *orch_winner_repeat_text(const struct orch_searched *searched);

#endif
