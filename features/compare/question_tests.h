/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tests of a question. Its report items that compare settings by the same value form one
 * family: a pair of settings has the same p, interval and verdict in each of them.
 *
 * Where one of the items tests every two of its settings (`best`), the family is all pairs of the
 * settings of all items (features/compare/family.h). Otherwise it is the contrasts that the items
 * show, each tested alone and corrected for their number. */
#ifndef ORCH_FEATURES_COMPARE_QUESTION_TESTS_H
#define ORCH_FEATURES_COMPARE_QUESTION_TESTS_H

#include "core/report/items.h"

struct orch_question_tests;

/** Collects the tests of the item's question; `grid` is the item's own. NULL with an error when the
 * store cannot be read. The caller frees. */
struct orch_question_tests *orch_question_tests_new(const struct orch_section_context *a,
                                                    const struct orch_section_grid *grid,
                                                    GError **error);
/** The family of all pairs of one grid's settings. The caller frees. */
struct orch_question_tests *orch_question_tests_of_grid(const struct orch_grid *grid);
void orch_question_tests_free(struct orch_question_tests *tests);

/** The difference b - a of two cells of the item's grid, corrected for the family.
 * `*out_unmatched`: see orch_grid_difference. */
struct orch_difference orch_question_difference(const struct orch_question_tests *tests,
                                                const struct orch_grid_cell *a,
                                                const struct orch_grid_cell *b,
                                                unsigned *out_unmatched);
/** The number of contrasts for which p and intervals are corrected. 0: the family is all pairs of
 * the settings. */
size_t orch_question_contrasts(const struct orch_question_tests *tests);
/** Describes how p was computed; each difference involves `a`, see orch_family_method. NULL when
 * nothing was tested, or when the family is contrasts. The caller frees. */
char *orch_question_method(const struct orch_question_tests *tests, const struct orch_grid_cell *a,
                           const struct orch_difference *shown, size_t count);

/** Adds a note when another question of the report, whose family has more or fewer settings, has
 * another verdict on two cells. False with an error when the store cannot be read. */
bool orch_question_note_other(struct orch_section_context *a,
                              const struct orch_question_tests *tests,
                              const struct orch_grid_cell *x, const struct orch_grid_cell *y,
                              bool is_more_than_noise, GError **error);

/** The best setting, and its margin over the others. */
struct orch_winner {
    const struct orch_grid_cell *first; /* NULL: no trial is done */
    GPtrArray *others; /* struct orch_grid_cell *, borrowed: others with a number, best first */
    struct orch_difference *margins; /* [i]: the margin over others[i]; positive: first is better */
    char *method;                    /* how p was computed; or NULL */
    size_t worse;                    /* number of others that are worse by more than noise */
    size_t uneven;                   /* number of others that are not tested (is_uneven) */
    unsigned missing;                /* settings without any run */
};
struct orch_winner orch_question_winner(const struct orch_question_tests *tests,
                                        const struct orch_grid *grid);
void orch_winner_clear(struct orch_winner *winner);

#endif
