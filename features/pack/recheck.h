/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares two versions of one report as JSON (orch_document_json): the one in a pack, and the one
 * recomputed from the pack's rows. Numbers agree when they differ by at most 1e-9 of the larger;
 * texts must be identical. */
#ifndef ORCH_FEATURES_PACK_RECHECK_H
#define ORCH_FEATURES_PACK_RECHECK_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

/** One location where the two reports differ. */
struct orch_disagreement {
    char *place; /* "row 2, final_accuracy" */
    char *recorded, *found;
};

/** The result for one item of the report. */
struct orch_rechecked {
    char *question, *title, *kind; /* question and title may be NULL */
    unsigned confirmed, differs;   /* counts of numbers, also of those written as text */
    char *unchecked;               /* why the rest was not checked; NULL: everything was checked */
    unsigned left;                 /* numbers that were not checked */
    GPtrArray *disagreements;      /* struct orch_disagreement *: the first 20 */
};

/** Returns why an item cannot be checked here, or NULL when it can. `said` and `found`: its
 * sections in the pack and recomputed. `differs`: they differ. The caller frees. */
typedef char *(*orch_recheck_exemption)(void *ctx, const json_t *recorded, const json_t *found,
                                        bool differs);

/** Compares section by section. A section in only one report counts as a difference. struct
 * orch_rechecked *; the caller unrefs. `excuse` may be NULL. */
GPtrArray *orch_recheck(const json_t *recorded, const json_t *found,
                        orch_recheck_exemption exemption, void *ctx);

/** Counts the numbers (also those written as text, as "0.87 +- 0.02") in a value, recursively. */
unsigned orch_recheck_count(const json_t *value);

#endif
