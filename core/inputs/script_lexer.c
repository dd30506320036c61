/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/inputs/script_lexer.h"

#include <string.h>

static bool is_name_start(char c)
{
    return g_ascii_isalpha(c) || c == '_' || (unsigned char)c >= 0x80;
}

bool orch_is_name_part(char c)
{
    return is_name_start(c) || g_ascii_isdigit(c);
}

/* Reads the string that begins with the quote at `at`. A string in single quotes ends at the end of
 * its line even if it is not closed. */
static void take_string(struct orch_lexer *lexer, struct orch_token *out)
{
    char quote = *lexer->at;
    bool is_long = lexer->has_long && lexer->at[1] == quote && lexer->at[2] == quote;
    size_t width = is_long ? 3 : 1;
    const char *begin = lexer->at + width, *at = begin;
    while (*at && (is_long || *at != '\n')) {
        if (*at == quote && (!is_long || (at[1] == quote && at[2] == quote)))
            break;
        at += at[0] == '\\' && at[1] ? 2 : 1;
    }
    *out = (struct orch_token){TOKEN_STRING, begin, (size_t)(at - begin), false, is_long};
    lexer->at = *at == quote ? at + width : at;
}

/* Skips blanks, comments, continued lines, and the ends of lines within brackets. */
static void skip_blanks(struct orch_lexer *lexer)
{
    for (;;) {
        const char *at = lexer->at;
        if (*at == '#' && lexer->has_comments)
            lexer->at += strcspn(at, "\n");
        else if (g_str_has_prefix(at, "\\\n"))
            lexer->at += 2;
        else if (g_str_has_prefix(at, "\\\r\n"))
            lexer->at += 3;
        else if ((*at && strchr(" \t\r\f", *at)) || (*at == '\n' && lexer->depth))
            lexer->at++;
        else
            return;
    }
}

/* True when the `length` letters at `at` are a string prefix: r"..", Rb'..'. */
static bool is_string_prefix(const char *at, size_t length)
{
    return length <= 2 && strspn(at, "rRbBuUfF") >= length &&
           (at[length] == '"' || at[length] == '\'');
}

void orch_token_next(struct orch_lexer *lexer, struct orch_token *out)
{
    skip_blanks(lexer);
    const char *at = lexer->at;
    size_t length = 0;
    if (!*at) {
        *out = (struct orch_token){.kind = TOKEN_END, .text = at};
        return;
    }
    if (orch_is_name_part(*at)) {
        while (orch_is_name_part(at[length]))
            length++;
        lexer->at = at + length;
        *out = (struct orch_token){
            .kind = is_name_start(*at) ? TOKEN_NAME : TOKEN_NUMBER, .text = at, .length = length};
        if (is_string_prefix(at, length)) {
            take_string(lexer, out);
            out->is_format = memchr(at, 'f', length) || memchr(at, 'F', length);
        }
        return;
    }
    if (*at == '"' || *at == '\'') {
        take_string(lexer, out);
        return;
    }
    lexer->depth += strchr("([{", *at) != NULL;
    lexer->depth -= strchr(")]}", *at) != NULL && lexer->depth;
    lexer->at++;
    *out =
        (struct orch_token){.kind = *at == '\n' ? TOKEN_LINE : TOKEN_SIGN, .text = at, .length = 1};
}

bool orch_token_is_word(const struct orch_token *token, const char *word)
{
    return token->kind == TOKEN_NAME && token->length == strlen(word) &&
           strncmp(token->text, word, token->length) == 0;
}

bool orch_token_is_sign(const struct orch_token *token, char sign)
{
    return token->kind == TOKEN_SIGN && *token->text == sign;
}

struct orch_lexer orch_lexer_python(const char *text)
{
    bool has_mark = g_str_has_prefix(text, "\xef\xbb\xbf"); /* a byte order mark */
    return (struct orch_lexer){text + (has_mark ? 3 : 0), 0, true, true};
}
