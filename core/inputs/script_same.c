/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In doubt there is no digest: text that the lexer may have taken for a comment although it is code
 * would hide a change. That is possible only after a string that ends too early, which is why
 * a text with strings with open braces or without their end has none. */
#include "core/inputs/scripts.h"

#include "core/inputs/script_lexer.h"
#include "lib/base/file.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define CODE_FORMAT "python code 1"
enum { SCRIPT_BYTES_MAX = 1 << 20 };

/* Where in a text the reading is. */
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

/* Appends a token so that no other sequence of tokens gives the same text. */
static void append(GString *out, const struct place *place)
{
    if (place->indent)
        g_string_append_printf(out, "I%zu:%.*s", place->indent_length, (int)place->indent_length,
                               place->indent);
    size_t length = (size_t)(place->end - place->begin);
    g_string_append_printf(out, "%d %zu:", (int)place->token.kind, length);
    g_string_append_len(out, place->begin, (gssize)length);
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

static bool code_digest(const char *text, char out[65])
{
    if (strstr(text, "# /// "))
        return false;
    g_autofree char *head = head_of(text);
    g_autoptr(GString) code = g_string_new(CODE_FORMAT "\n");
    g_string_append_printf(code, "%zu:%s", strlen(head), head);
    struct place place = {.lexer = orch_lexer_python(text), .is_at_line = true};
    bool ends_line = false;
    for (go_on(&place); place.token.kind != TOKEN_END; go_on(&place)) {
        if (is_doubtful(&place))
            return false;
        if (ends_line) /* the last line may lack its end, so an end counts with what follows */
            g_string_append_c(code, '\n');
        ends_line = place.is_at_line;
        if (!ends_line)
            append(code, &place);
    }
    orch_sha256(code->str, code->len, out);
    return true;
}

/* True for a Python script by its suffix, or without a suffix of a language by its first line. */
static bool is_python(const char *path)
{
    char line[128] = "";
    enum orch_script_language language = orch_script_language_of(path);
    if (language != ORCH_SCRIPT_NONE)
        return language == ORCH_SCRIPT_PYTHON;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool has_line = fd >= 0 && read(fd, line, sizeof line - 1) > 2 && g_str_has_prefix(line, "#!");
    if (fd >= 0)
        close(fd);
    return has_line && orch_script_language_of_text(line) == ORCH_SCRIPT_PYTHON;
}

bool orch_script_file_digest(const char *path, char out[65])
{
    size_t length = 0;
    g_autofree char *text = NULL;
    return is_python(path) && orch_file_read(path, SCRIPT_BYTES_MAX, &text, &length, NULL) &&
           strlen(text) == length && code_digest(text, out);
}
