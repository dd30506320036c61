/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers a recipe's report from the store: each item becomes a section of a document. One file an
 * item, item_KIND.c. Nothing here prints. */
#ifndef ORCH_CORE_ANSWER_ANSWER_H
#define ORCH_CORE_ANSWER_ANSWER_H

#include "core/answer/trials.h"

struct orch_answer_options {
    const char *recipe;           /* as one would type it, with what chooses its variant:
                                     "hw4.recipe -p course"; NULL: its path */
    const char *const *questions; /* "1.1c", or "1" for all of problem 1; NULL: all */
    const char *who;              /* whose runs are "ours"; NULL: unknown */
    bool asked_only;              /* only items about experiments that the plan was asked for */
    bool is_slow_left_out;        /* items that fit models say so, and are not computed */
    bool counts_disturbed;        /* times count runs during which the machine did other work */
};

/** Everything that an item's answer is made from. */
struct orch_asked {
    struct orch_plan *plan;
    const struct orch_report_item *item;
    const struct orch_answer_options *options;
    struct orch_section *section;         /* to be filled */
    const struct orch_document *document; /* what it stands in */
};

/** The document of a plan's report, items in order. What cannot be answered is said in its section;
 * NULL with an error only when the store cannot be read, or a question is unknown
 * (ORCH_ERROR_USAGE, with those that there are). The caller frees. */
struct orch_document *orch_answer_document(struct orch_plan *plan,
                                           const struct orch_answer_options *options,
                                           GError **error);

/** A document of what the store holds of each experiment with trials in the plan: one section each,
 * as the item `coverage` gives it. NULL with an error. The caller frees. */
struct orch_document *orch_answer_coverages(struct orch_plan *plan,
                                            const struct orch_answer_options *options,
                                            GError **error);
/** Does a kind of item ("curve") fit models, and so take its time? */
bool orch_answer_is_slow(const char *kind);

/* ---- items: each fills its section; false with an error when the store cannot be read ----------
 */
bool orch_answer_table(struct orch_asked *a, GError **error);
bool orch_answer_best(struct orch_asked *a, GError **error);
bool orch_answer_compare(struct orch_asked *a, GError **error);
bool orch_answer_plot(struct orch_asked *a, GError **error);
bool orch_answer_images(struct orch_asked *a, GError **error);
bool orch_answer_coverage(struct orch_asked *a, GError **error);
bool orch_answer_work(struct orch_asked *a, GError **error);
bool orch_answer_collaborators(struct orch_asked *a, GError **error);
bool orch_answer_converged(struct orch_asked *a, GError **error);
bool orch_answer_listing(struct orch_asked *a, GError **error);
bool orch_answer_curve(struct orch_asked *a, GError **error);
bool orch_answer_curve_law(struct orch_asked *a, GError **error);
bool orch_answer_time_to(struct orch_asked *a, GError **error);
bool orch_answer_learn(struct orch_asked *a, GError **error);
bool orch_answer_layerwise(struct orch_asked *a, GError **error);
bool orch_answer_paleo(struct orch_asked *a, GError **error);

#endif
