/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of items share. */
#ifndef ORCH_CORE_ANSWER_ITEMS_H
#define ORCH_CORE_ANSWER_ITEMS_H

#include "core/answer/answer.h"
#include "core/answer/grid.h"

/** The trials of the experiments under `key`, each noted in the section; what is missing is not
 * said yet. NULL with an error. The caller frees. */
struct orch_trials *orch_answer_trials(struct orch_asked *a, const char *key, GError **error);
/** Says which of the trials are missing, with the command that runs them; that some are skipped and
 * why; that all are left out by the profile. Sets the section's state. */
void orch_answer_say_missing(struct orch_asked *a, const struct orch_trials *trials);
/** The reason of trials that cannot run here, and how many they are; NULL: there are none.
 * Borrowed. */
const char *orch_answer_why_skipped(const struct orch_trials *trials, unsigned *out_count);
/** A command with the recipe and its variant: "orch run recipes/hw4.recipe -p course finetune".
 * `more` may be NULL. The caller frees. */
char *orch_answer_command(const struct orch_asked *a, const char *verb, const char *more);

/** What to do for an item without an answer: "orch run hw4.recipe held speed", of those experiments
 * that `keys` of the item name (NULL-terminated; all, when it has none of them) whose trials are
 * not done. NULL: all are done, so that is not the cause. The caller frees. */
char *orch_answer_cure(const struct orch_asked *a, const char *const *keys);

/** An item's grid: its trials by two of its keys. */
struct orch_answer_grid {
    struct orch_trials *trials;
    GPtrArray *wanted, *rows, *columns;
    struct orch_grid *grid;
};
/** Its trials and axes, without the grid: to be filled when the axes are complete. NULL with an
 * error. `columns_key` NULL: none. The caller frees. */
struct orch_answer_grid *orch_answer_grid_begin(struct orch_asked *a, const char *rows_key,
                                                const char *columns_key, GError **error);
/** Makes the grid, and notes its trials in the section. */
bool orch_answer_grid_fill(struct orch_asked *a, struct orch_answer_grid *grid, GError **error);
/** Both. */
struct orch_answer_grid *orch_answer_grid(struct orch_asked *a, const char *rows_key,
                                          const char *columns_key, GError **error);
void orch_answer_grid_free(struct orch_answer_grid *grid);

/** Notes that repeats share a trained model, where they do. */
void orch_answer_say_shared_base(struct orch_asked *a, const struct orch_grid *grid);

/** A sentence on a difference: "95 % interval of the paired difference 0.01 to 0.02 (n = 3 pairs,
 * paired t, p 0.01, corrected 0.02): more than noise". `better`: "min" or "max" adds which way
 * ("better, more than noise"); NULL: not said. The caller frees. */
char *orch_difference_text(const struct orch_difference *d, const char *better);

#endif
