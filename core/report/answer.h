/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sentence with which a section begins: what its chart or table says, in numbers. */
#ifndef ORCH_CORE_REPORT_ANSWER_H
#define ORCH_CORE_REPORT_ANSWER_H

#include "core/report/grid.h"

/** Writes the name of a value or a parameter in words: its label where a plugin declares one
 * ("learning rate"), and for one that is declared without a label the name without underscores and
 * without its unit: "throughput_images_per_second" in images/s is "throughput". A name that no
 * plugin declares was printed by a program and stays as it is: "val_acc". `labels` is that of the
 * trials or of the section, NULL for a name that is surely declared; `unit` may be NULL. The caller
 * frees. */
char *orch_answer_words(GHashTable *labels, const char *name, const char *unit);

/** The same of a value of a table or chart, with how it is taken from a run: "mean loss", "best
 * validation accuracy". The caller frees. */
char *orch_answer_value(GHashTable *labels, const struct orch_item_value *wanted, const char *unit);

/** Returns whether a value's name in words makes its unit (or NULL) superfluous: it ends with the
 * unit or its plural, as "training images" in images, or the unit is that of a share of time
 * ("s/s"). */
bool orch_answer_names_unit(const char *name, const char *unit);
/** Writes a number or a switch with its name in words: "learning rate 0.1", "2 workers". The caller
 * frees. */
char *orch_answer_named(const char *words, const char *value);
/** Writes a trial's setting on some axes (char *) in words: "2 workers, ring algorithm, target
 * true". The caller frees. */
char *orch_answer_setting(const struct orch_trials *trials, const struct orch_report_trial *trial,
                          const GPtrArray *axes);
/** The same of a grid's cell, by the axes of its rows that tell the cells apart; "" without trials.
 * The caller frees. */
char *orch_answer_row(const struct orch_trials *trials, const struct orch_grid *grid,
                      const struct orch_grid_cell *cell);
/** Writes axes in words: "experiment, learning rate". The caller frees. */
char *orch_answer_axes(GHashTable *labels, const GPtrArray *axes);
/** Writes the name of a chart's series in the same words: "lr=0.1 mode=full" as "learning rate 0.1,
 * full mode". The caller frees. */
char *orch_answer_series(GHashTable *labels, const char *name);

/** Appends a number with its unit (or NULL) and the ends of its interval (NaN: none; infinite:
 * unbounded): "513 images/s (95 % interval 490 to 536)". A later one of the same sentence leaves
 * "95 % interval" out. */
void orch_answer_number_append(GString *out, double value, double low, double high,
                               const char *unit);

/** The same of a value over runs: from 5 on with its interval, of 2 to 4 with the lowest and the
 * highest and their number, "513 images/s (3 repeats: 490 to 536)". */
void orch_answer_spread_append(GString *out, const struct orch_spread *spread, const char *unit);

/** Returns what stands before the i-th of so many members of a list: ", " or " and "; "; " where
 * members are long and have commas. */
const char *orch_answer_joint(guint i, guint count, bool is_long);

/** Values of settings from which a sentence is made. The caller unrefs. */
GArray *orch_answer_entries_new(void);
/** Adds a setting's value with the ends of its interval (NaN: none). The label is copied; "" is
 * that of a single setting. Nothing is added when the value is not finite. */
void orch_answer_entries_add(GArray *entries, const char *label, double value, double low,
                             double high);
/** The same of a value over runs. */
void orch_answer_entries_add_spread(GArray *entries, const char *label,
                                    const struct orch_spread *spread);
/** Appends "throughput: 359 images/s for 1 worker, 513 images/s for 2 workers" to a
 * sentence; of more than four settings the lowest and the highest. Nothing without entries. */
void orch_answer_entries_append(GString *out, const GArray *entries, const char *name,
                                const char *unit);

/** The same of things that are no settings: "among 6 classes" for the noun "class"; up to `most` of
 * them are all named. */
void orch_answer_entries_append_of(GString *out, const GArray *entries, const char *name,
                                   const char *unit, const char *noun, guint most);

/** Puts the answer of the section's last chart before its other blocks. Lines: from what to what
 * each goes, by which factor, and its ideal; bars and heat maps: the values, or the
 * lowest and the highest; points: by how much y changes with x; histograms and boxes: median and
 * middle half. Without a chart, or without numbers in it, nothing is added. */
void orch_answer_of_chart(struct orch_section *section);

/** Notes the tests behind the rises, falls and turns which that answer tells of lines over
 * settings, and neighbouring settings that are equal in every run. Nothing without repeats. */
void orch_answer_note_tests(struct orch_section *section);

/** Puts the answer of a grid before the section's other blocks: of its first values, those of all
 * settings when they are few, else by column or by the first axis the ends along a numeric axis, or
 * the lowest and the highest. `labels` (char *, or NULL) are names of the values. `lead`
 * (NULL: none) comes before them. Without numbers nothing is added. */
void orch_answer_of_grid(struct orch_section *section, const struct orch_trials *trials,
                         const struct orch_grid *grid, const GPtrArray *labels, const char *lead);

#endif
