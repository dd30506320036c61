/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A lexer for Python that handles strings, comments, brackets and lines. It serves for the quoted
 * texts of other languages, too. */
#ifndef ORCH_CORE_INPUTS_SCRIPT_LEXER_H
#define ORCH_CORE_INPUTS_SCRIPT_LEXER_H

#include <glib.h>
#include <stdbool.h>

enum orch_token_kind { TOKEN_END, TOKEN_LINE, TOKEN_NAME, TOKEN_STRING, TOKEN_SIGN, TOKEN_NUMBER };

struct orch_token {
    enum orch_token_kind kind;
    const char *text; /* strings without their quotes */
    size_t length;
    bool is_format; /* an f-string */
    bool is_long;   /* a string in triple quotes: documentation, not a path */
};

struct orch_lexer {
    const char *at;
    unsigned depth;    /* nesting of brackets, inside which lines do not end */
    bool has_comments; /* `#` begins a comment */
    bool has_long;     /* triple quotes begin a string */
};

/** Reads the next token. Comments, blanks and the ends of lines within brackets are skipped. */
void orch_token_next(struct orch_lexer *lexer, struct orch_token *out);
bool orch_token_is_word(const struct orch_token *token, const char *word);
bool orch_token_is_sign(const struct orch_token *token, char sign);
/** True for a character of a name: letters, digits, "_", and all of other scripts. */
bool orch_is_name_part(char c);
/** A lexer at the beginning of a Python text. */
struct orch_lexer orch_lexer_python(const char *text);

#endif
