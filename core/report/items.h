/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions shared by the files item_*.c. */
#ifndef ORCH_CORE_REPORT_ITEMS_H
#define ORCH_CORE_REPORT_ITEMS_H

#include "core/report/grid.h"
#include "core/report/sections.h"

/** The has_trials of kinds that use no trials: false. */
bool orch_item_without_trials(const json_t *spec);
/** True where the key of an item is true, yes or on. */
bool orch_item_flag(const json_t *spec, const char *key);
/** Returns the trials of the experiments that the item lists under `key`, and records each in
 * the section. Missing trials are not reported yet, see orch_section_add_missing_trials. NULL with
 * an error. The caller frees. */
struct orch_trials *orch_section_trials(struct orch_section_context *a, const char *key,
                                        GError **error);
/** Reports in the section which trials are missing, with the command that runs them; which are
 * skipped, and why; and whether the profile leaves all of them out. Sets the section's state. */
void orch_section_add_missing_trials(struct orch_section_context *a,
                                     const struct orch_trials *trials);
/** Returns the reason why some trials cannot run on this machine, and their number. NULL: all
 * can run. Borrowed. */
const char *orch_trials_skip_reason(const struct orch_trials *trials, unsigned *out_count);
/** Formats a command with the recipe and its profile: "orch run recipes/hw4.recipe -p course
 * finetune". `more` (further arguments) may be NULL. The caller frees. */
char *orch_section_command(const struct orch_section_context *a, const char *verb,
                           const char *more);

/** Returns the command that makes the missing input of an item: "orch run hw4.recipe held
 * speed". It names the experiments listed under `keys` (NULL-terminated; all experiments when
 * the item has none of the keys) that have trials to run. NULL when all are done, so that
 * missing runs are not the cause. The caller frees. */
char *orch_section_hint(const struct orch_section_context *a, const char *const *keys);

/** Reports that times of the item were not compared because other programs disturbed those of one
 * side only, with the command that runs these trials again. */
void orch_section_add_uneven(struct orch_section_context *a, const struct orch_trials *trials);

/** An item's trials, grouped by two of its keys. */
struct orch_section_grid {
    struct orch_trials *trials;
    GPtrArray *wanted, *rows, *columns;
    struct orch_grid *grid;
};
/** Collects the item's trials and axes, but does not build the grid, so that the caller can
 * still add axes. `columns_key` may be NULL. NULL with an error. The caller frees. */
struct orch_section_grid *orch_section_grid_begin(struct orch_section_context *a,
                                                  const char *rows_key, const char *columns_key,
                                                  GError **error);
/** Builds the grid and records its trials in the section. */
bool orch_section_grid_fill(struct orch_section_context *a, struct orch_section_grid *grid,
                            GError **error);
/** Does both steps: orch_section_grid_begin and orch_section_grid_fill. */
struct orch_section_grid *orch_section_grid(struct orch_section_context *a, const char *rows_key,
                                            const char *columns_key, GError **error);
void orch_section_grid_free(struct orch_section_grid *grid);

/** Adds a note to the section when repeats start from the same trained model. */
void orch_section_note_shared_base(struct orch_section_context *a, const struct orch_grid *grid);
/** Adds a note to the section when the name of the first value decided which values are better. */
void orch_section_note_direction(struct orch_section_context *a, const struct orch_grid *grid);
/** Adds a note to the section when cells hold trials of several settings
 * (core/report/averaged_over.h). */
void orch_section_note_mixed(struct orch_section_context *a, const struct orch_grid *grid);

/** Describes a difference and its test, to stand behind the difference: " (95 % interval 0.01 to
 * 0.02), more than noise. Test: paired t test of 3 pairs of runs, p 0.01, corrected p 0.02".
 * `better` is "min" or "max" to add the direction ("better by more than noise"), or NULL. The
 * caller frees.
 */
char *orch_difference_text(const struct orch_difference *d, const char *better);

#endif
