/* SPDX-License-Identifier: MIT */
/* The forms in which programs print steps, the parts of names, and numbers that measure nothing: a
 * table of patterns over tokens, each with an example that a test reads and the page shows.
 * Whatever fits no form is read as words before a number (printed.c). A new form is a row. */
#ifndef ORCH_WIRE_PRINTED_FORM_H
#define ORCH_WIRE_PRINTED_FORM_H

#include "lib/wire/printed_tokens.h"

/** Where a form may stand. */
enum orch_printed_where {
    FORM_BEGIN,       /* at the beginning of a line, but for times, levels and processes */
    FORM_EPOCH,       /* directly behind a counter of epochs */
    FORM_EPOCH_ALONE, /* so, and the number of all epochs was not printed */
    FORM_COUNTER,     /* directly behind a word that counts */
    FORM_NAME,        /* directly behind words that may become a name, before ':' or '=' */
    FORM_VALUE,       /* directly behind a value: what belongs to it */
    FORM_ANY,         /* where no words are pending */
    FORM_PLACES,
};

struct orch_printed_form {
    enum orch_printed_where where;
    /* Elements, separated by spaces, each of which is one token:
     *   n number, understood or not, or count  r number  i whole number without a unit
     *   p percentage  c count "3/10"  k count or whole  w word  X word that counts  x one that does
     * not t time since 1970  C "steps"  U name of a usual metric L label  F process ("rank")  G
     * "rank1"  O ordinal word ("fold")  T title ("benchmark") D "batches" or "rounds" u unit  : '='
     * or ':'  + sign of an uncertainty
     *   ... tokens up to the bracket that closes, at most 24  $ the end of the line
     * Other signs are themselves; '~' before an element: no blank stands before the token. */
    const char *pattern;
    /* A letter for each element, which says what it becomes:
     *   . nothing  e epoch  s step  v the value of the pending words  l label  r process
     *   m part of the name  b word that tells the line apart, before all its names  u unit
     *   h unit of all values of the line, about which the pending words are
     *   p name of a percentile  d the words before it are no name  - looked at, not taken */
    const char *makes;
    const char *example, *recorded; /* as on the page: "loss[3] = 0.41"; lines end with '\n' */
};

/** All forms, and their number. */
const struct orch_printed_form *orch_printed_forms(size_t *out_count);

/** What a form found: for each element its first token, and the position behind the last one. */
struct orch_printed_match {
    const struct orch_printed_form *form;
    unsigned at[16], end;
};

/** Returns whether a form of this place fits at token `at`; the first row that does. */
bool orch_printed_form_find(enum orch_printed_where where, const struct orch_printed_tokens *tokens,
                            unsigned at, struct orch_printed_match *out);

/** True for a whole number >= 0 without a unit. */
bool orch_printed_is_whole(const struct orch_printed_token *token);

/** The number in "rank1" or "gpu3"; -1 for any other word. */
int orch_printed_first_rank(const struct orch_printed_token *token);

#endif
