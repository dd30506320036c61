/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Computes a recipe's report from the store: each report item becomes one section of a document.
 * Each kind of item has its own file, item_KIND.c, which ends with the row of the kind. Nothing
 * here prints. */
#ifndef ORCH_CORE_REPORT_SECTIONS_H
#define ORCH_CORE_REPORT_SECTIONS_H

#include "core/recipe/report_kinds.h"
#include "core/report/trials.h"

struct orch_report_options {
    const char *recipe; /* the recipe as a user types it, with its profile: "hw4.recipe -p course";
                           NULL: the recipe's path */
    const char *settings; /* settings that the command line adds to the profile, written as options;
                             or NULL */
    const char *const *questions; /* "1.1c", or "1" or "p1" for all of problem 1; NULL: all */
    const char *who;              /* the user whose runs count as "ours"; NULL: unknown */
    bool requested_only;   /* include only items whose experiments were requested for the plan */
    bool is_slow_left_out; /* replace items that fit models by a note that they were left out */
    bool counts_disturbed; /* times include runs that other load on the machine disturbed */
};

/** The inputs of one item and the section that it fills. */
struct orch_section_context {
    struct orch_plan *plan;
    const struct orch_report_item *item;
    const struct orch_report_options *options;
    struct orch_section *section;         /* output: the section to fill */
    const struct orch_document *document; /* the document that contains the section */
};

/** Returns whether the report has a question that the user means by these words: "1.1c", "1" or
 * "p1" for all of problem 1. */
bool orch_report_has_question(const struct orch_expansion *expansion, const char *words);

/** Computes a plan's report, with the sections in the order of the items. An item that cannot be
 * answered gets a section that says why. Returns NULL with an error when the store cannot be
 * read, or with ORCH_ERROR_USAGE, which lists the valid questions, when a question is unknown.
 * The caller frees. */
struct orch_document *orch_report_document(struct orch_plan *plan,
                                           const struct orch_report_options *options,
                                           GError **error);

#endif
