/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In doubt the texts differ: text that the lexer may have taken for a comment although it is code
 * would hide a change. That is possible only after a string that ends too early, which is why
 * strings with open braces or without their end make the comparison fail. */
#include "core/run/script_same.h"

#include "core/run/script_lexer.h"

#include <string.h>

/* Where in a text the comparison is. */
struct place {
    struct orch_lexer lexer;
    const char *begin, *end; /* of the token, with the prefix and quotes of a string */
    struct orch_token token;
    const char *indent; /* of the line's first token; NULL for the others */
    size_t indent_length;
    bool is_at_line;
};

/* True for a string that may have ended too early. */
static bool is_doubtful(const struct place *place)
{
    const struct orch_token *token = &place->token;
    if (token->kind != TOKEN_STRING)
        return false;
    size_t quotes = token->is_long ? 3 : 1;
    int open = 0;
    for (size_t i = 0; token->is_format && i < token->length; i++)
        open += (token->text[i] == '{') - (token->text[i] == '}');
    return open != 0 || (size_t)(place->end - token->text) != token->length + quotes;
}

/* Finds where a token begins, going back over the quotes and the prefix of a string. */
static const char *begin_of(const struct orch_token *token, const char *from)
{
    if (token->kind != TOKEN_STRING)
        return token->text;
    const char *at = token->text - (token->is_long ? 3 : 1);
    while (at > from && g_ascii_isalpha(at[-1]))
        at--;
    return at;
}

/* Goes to the next token that is not one of several ends of lines. */
static void go_on(struct place *place)
{
    bool was_line = place->is_at_line;
    const char *from;
    do {
        from = place->lexer.at;
        orch_token_next(&place->lexer, &place->token);
    } while (place->token.kind == TOKEN_LINE && was_line);
    place->end = place->lexer.at;
    place->begin = begin_of(&place->token, from);
    place->is_at_line = place->token.kind == TOKEN_LINE;
    place->indent = NULL;
    place->indent_length = 0;
    if (!was_line || place->is_at_line || place->token.kind == TOKEN_END)
        return;
    place->indent = place->begin;
    while (place->indent > from && (place->indent[-1] == ' ' || place->indent[-1] == '\t'))
        place->indent--;
    place->indent_length = (size_t)(place->begin - place->indent);
}

static bool is_same_token(const struct place *a, const struct place *b)
{
    size_t length = (size_t)(a->end - a->begin);
    if (a->token.kind != b->token.kind || !a->indent != !b->indent ||
        a->indent_length != b->indent_length ||
        (a->indent && memcmp(a->indent, b->indent, a->indent_length) != 0))
        return false;
    return a->token.kind == TOKEN_LINE ||
           (length == (size_t)(b->end - b->begin) && memcmp(a->begin, b->begin, length) == 0);
}

/* The comments of the first two lines that are not for people only. The caller frees. */
static char *head_of(const char *text)
{
    GString *out = g_string_new(NULL);
    for (int i = 0; i < 2; i++) {
        g_autofree char *line = g_strndup(text, strcspn(text, "\n"));
        if ((i == 0 && g_str_has_prefix(line, "#!")) ||
            (strchr(line, '#') && strstr(line, "coding")))
            g_string_append_printf(out, "%s\n", line);
        text += strlen(line);
        text += *text == '\n';
    }
    return g_string_free(out, FALSE);
}

bool orch_script_is_same_code(const char *a, const char *b)
{
    g_autofree char *head_a = head_of(a), *head_b = head_of(b);
    if (strcmp(head_a, head_b) != 0 || strstr(a, "# /// ") || strstr(b, "# /// "))
        return false;
    struct place x = {.lexer = orch_lexer_python(a), .is_at_line = true};
    struct place y = {.lexer = orch_lexer_python(b), .is_at_line = true};
    do {
        go_on(&x);
        go_on(&y);
        if (x.is_at_line && y.token.kind == TOKEN_END) /* the last line may lack its end */
            go_on(&x);
        else if (y.is_at_line && x.token.kind == TOKEN_END)
            go_on(&y);
        if (is_doubtful(&x) || is_doubtful(&y) || !is_same_token(&x, &y))
            return false;
    } while (x.token.kind != TOKEN_END);
    return true;
}
