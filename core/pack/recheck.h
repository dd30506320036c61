/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two documents of one report, as JSON (orch_document_json): what somebody's says, against what was
 * computed again from its rows. Numbers that rows hold and numbers computed from them agree within
 * 1e-9 of the larger; texts agree to the letter. */
#ifndef ORCH_PACK_RECHECK_H
#define ORCH_PACK_RECHECK_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

/** One place where the two do not agree. */
struct orch_disagreement {
    char *place; /* "row 2, final_accuracy" */
    char *said, *found;
};

/** What became of an item of the report. */
struct orch_rechecked {
    char *question, *title, *kind; /* question, title: or NULL */
    unsigned confirmed, differs;   /* numbers, and cells of text that hold some */
    char *unchecked;               /* why the rest was not checked; NULL: all was */
    unsigned left;                 /* numbers that were not checked */
    GPtrArray *disagreements;      /* struct orch_disagreement *: the first 20 */
};
void orch_rechecked_free(struct orch_rechecked *item);

/** Why an item cannot be checked here; NULL: it can. `said` and `found`: its sections. `differs`:
 * they do not agree. The caller frees. */
typedef char *(*orch_recheck_excuse)(void *ctx, const json_t *said, const json_t *found,
                                     bool differs);

/** Compares section by section. Sections that only one has differ. struct orch_rechecked *; the
 * caller unrefs. `excuse` may be NULL. */
GPtrArray *orch_recheck(const json_t *said, const json_t *found, orch_recheck_excuse excuse,
                        void *ctx);

/** Numbers (and texts that hold digits) below a value. */
unsigned orch_recheck_count(const json_t *value);

#endif
