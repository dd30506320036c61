/* SPDX-License-Identifier: MIT */
/* What a program printed and orch did not record: counted by kind, with the first of each, and kept
 * among the facts of a run. */
#ifndef ORCH_WIRE_TEXT_LOSSES_H
#define ORCH_WIRE_TEXT_LOSSES_H

#include <jansson.h>
#include <stdint.h>

enum orch_text_loss {
    ORCH_LOSS_UNREAD,   /* lines with numbers that were not understood, wholly or in part */
    ORCH_LOSS_EXCESS,   /* values of names beyond the number that a trial may have */
    ORCH_LOSS_REPLACED, /* values replaced by a later one of the same step: "loss at 3" */
    ORCH_LOSS_SINGLE,   /* values of a result, replaced by another that was printed later */
    ORCH_LOSS_MERGED,   /* metrics that were printed under names of several spellings */
    ORCH_LOSS_UNHEARD, /* lines with numbers on standard error, which was not read; without first */
    ORCH_TEXT_LOSSES
};

struct orch_text_losses {
    int64_t counts[ORCH_TEXT_LOSSES];
    char *first[ORCH_TEXT_LOSSES]; /* safe to display; NULL: none */
};

/** The names of the facts of a run that hold them; `first` may be NULL. */
extern const struct orch_loss_facts {
    const char *count, *first;
} ORCH_LOSS_FACTS[ORCH_TEXT_LOSSES];

void orch_text_losses_clear(struct orch_text_losses *losses);
/** Sets the facts of the losses that are not 0. */
void orch_text_losses_save(const struct orch_text_losses *losses, json_t *facts);
/** Adds those of a run's facts, from whoever wrote them. */
void orch_text_losses_add(struct orch_text_losses *losses, const json_t *facts);

#endif
