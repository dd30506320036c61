/* SPDX-License-Identifier: MIT */
/* What printed.c and its parts know of the line that is being read. */
#ifndef ORCH_WIRE_PRINTED_READER_H
#define ORCH_WIRE_PRINTED_READER_H

#include "lib/wire/printed_form.h"
#include "lib/wire/printed_heading.h"
#include "lib/wire/printed_tokens.h"

#include <string.h>

enum { ORCH_PRINTED_NAME_WORDS_MAX = 3 };

struct reader {
    struct orch_printed_line *out;
    struct orch_printed_tokens *tokens;
    unsigned at;
    unsigned run, run_length;       /* words directly before `at`, which may become a name */
    unsigned remark, remark_length; /* tokens in brackets behind them, before ':' or '=' */
    bool is_assigned;               /* they are followed by ':' or '=' */
    bool is_run_first;              /* they are the first words of the line */
    bool is_after_prose;          /* they follow a number within a sentence, without a separator */
    bool is_begin;                /* nothing but times, levels and processes before `at` */
    bool has_stamp;               /* a time or a level was there */
    bool is_bar;                  /* numbers of a progress bar, up to the next value */
    const char *label;            /* "train", "val", ... for following values; NULL: none */
    struct printed_heading about; /* what the line is about */
    bool is_about_value;          /* and it is the name of a value: "SET: 56 requests/s, p50=2" */
    enum orch_printed_kind counter; /* kind of the last value: EPOCH, STEP or VALUE */
    bool has_total;                 /* it was printed with the number of all */
    bool has_value;                 /* a value was read */
    int parentheses;                /* that are open */
    char percentile[16];            /* "p99.9" */
};

static inline const struct orch_printed_token *token_at(const struct reader *r, unsigned at)
{
    static const struct orch_printed_token none = {.kind = TOKEN_BREAK, .text = ""};
    return at < r->tokens->count ? &r->tokens->all[at] : &none;
}

static inline bool is_number(const struct orch_printed_token *token)
{
    return token->kind == TOKEN_NUMBER || token->kind == TOKEN_COUNT || token->kind == TOKEN_UNREAD;
}

static inline unsigned classes_of(const struct orch_printed_token *token)
{
    return token->kind == TOKEN_WORD ? token->classes : 0;
}

static inline const char *label_of(const struct orch_printed_token *token)
{
    return orch_printed_label(classes_of(token));
}

/* "Running", but not "training", which says what the values are of. */
static inline bool is_gerund(const struct orch_printed_token *word)
{
    return word->kind == TOKEN_WORD && word->length > 4 && !(word->classes & WORD_LABEL) &&
           memcmp(word->text + word->length - 3, "ing", 3) == 0;
}

static inline void end_run(struct reader *r)
{
    r->run_length = r->remark_length = 0;
    r->is_assigned = false;
}

#endif
