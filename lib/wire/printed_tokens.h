/* SPDX-License-Identifier: MIT */
/* The words, numbers and marks of a printed line, for printed.c. */
#ifndef ORCH_LIB_WIRE_PRINTED_TOKENS_H
#define ORCH_LIB_WIRE_PRINTED_TOKENS_H

#include "lib/wire/printed.h"
#include "lib/wire/printed_words.h"

enum { ORCH_PRINTED_TOKENS_MAX = 1024 };

enum orch_printed_token_kind {
    TOKEN_WORD,
    TOKEN_NUMBER,
    TOKEN_COUNT,  /* 3/10: value and total */
    TOKEN_ASSIGN, /* ':' or '=' */
    TOKEN_OPEN,   /* ( [ { < */
    TOKEN_CLOSE,
    TOKEN_BREAK,   /* separator: , ; | tab, a single dash, the time stamp of a log */
    TOKEN_PLUS,    /* +-, the sign of an uncertainty */
    TOKEN_UNREAD,  /* begins like a number but is not one: 0,91 */
    TOKEN_IGNORED, /* a time of day, a date, a version, a shape, a progress bar */
    TOKEN_PLACE,   /* a device, a line of a source file, an address */
};

struct orch_printed_token {
    enum orch_printed_token_kind kind;
    const char *text;
    size_t length;
    unsigned classes; /* enum orch_printed_class, of a word */
    bool is_glued;    /* no blank stands before it */
    double value, total;
    char unit[ORCH_UNIT_CHARS];
};

/** At most ORCH_PRINTED_TOKENS_MAX, with a margin of breaks behind the last one. */
struct orch_printed_tokens {
    struct orch_printed_token all[ORCH_PRINTED_TOKENS_MAX];
    unsigned count;
    int rank; /* "[rank1]"; -1: none */
};

/** Splits a line of arbitrary bytes, at most ORCH_PRINTED_TOKENS_MAX tokens of it. The tokens
 * borrow the text. */
void orch_printed_tokenize(struct orch_printed_tokens *tokens, const char *text, size_t length);

#endif
