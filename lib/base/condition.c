/* SPDX-License-Identifier: MIT */
#include "lib/base/condition.h"

#include "lib/base/error.h"

#include <string.h>

enum { TEXT_MAX = 4096, DEPTH_MAX = 32 };

/* Longer operators come first. */
static const struct {
    const char *sign;
    enum orch_op op;
} OPS[] = {
    {"==", OP_EQ}, {"!=", OP_NE}, {"<>", OP_NE}, {"<=", OP_LE},      {">=", OP_GE},
    {"=", OP_EQ},  {"<", OP_LT},  {">", OP_GT},  {"~", OP_CONTAINS},
};

enum token_kind { TOKEN_WORD, TOKEN_STRING, TOKEN_OP, TOKEN_OPEN, TOKEN_CLOSE, TOKEN_END };

struct parser {
    const struct orch_condition_reader *reader;
    const char *text, *at; /* after the token */
    enum token_kind token;
    GString *word;
    size_t op;  /* row of OPS */
    int column; /* of the token, from 1 */
    int comparisons, depth;
    GError **error;
};

/* ---- tokens -----------------------------------------------------------------------------------
 */

static bool fail(const char *text, int column, const char *hint, GError **error, const char *format,
                 va_list args)
{
    g_autofree char *what = g_strdup_vprintf(format, args);
    orch_error_set(error, ORCH_ERROR_USAGE, hint, "character %ld of condition '%s': %s",
                   g_utf8_strlen(text, column - 1) + 1, text, what);
    return false;
}

bool orch_condition_fail(const char *text, int column, GError **error, const char *hint,
                         const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail(text, column, hint, error, format, args);
    va_end(args);
    return false;
}

static bool fail_at(struct parser *p, int column, const char *hint, const char *format, ...)
    G_GNUC_PRINTF(4, 5);

static bool fail_at(struct parser *p, int column, const char *hint, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail(p->text, column, hint, p->error, format, args);
    va_end(args);
    return false;
}

static bool is_word_char(char c)
{
    return g_ascii_isalnum(c) || (c && strchr("_-.:/+%@*,[]{}#$", c)) || (c & 0x80);
}

/* A quote within the text is doubled. */
static bool read_string(struct parser *p)
{
    char quote = *p->at++;
    for (;; p->at++) {
        if (!*p->at)
            return fail_at(p, p->column, "close the text with the same quote",
                           "unterminated quoted text");
        if (*p->at == quote && *++p->at != quote) {
            p->token = TOKEN_STRING;
            return true;
        }
        g_string_append_c(p->word, *p->at);
    }
}

static bool next_token(struct parser *p)
{
    while (g_ascii_isspace(*p->at))
        p->at++;
    p->column = (int)(p->at - p->text) + 1;
    g_string_truncate(p->word, 0);
    if (*p->at == '\'' || *p->at == '"')
        return read_string(p);
    for (size_t i = 0; i < G_N_ELEMENTS(OPS); i++) {
        if (g_str_has_prefix(p->at, OPS[i].sign)) {
            p->at += strlen(OPS[i].sign);
            p->op = i;
            p->token = TOKEN_OP;
            return true;
        }
    }
    while (is_word_char(*p->at))
        g_string_append_c(p->word, *p->at++);
    if (p->word->len) {
        p->token = TOKEN_WORD;
        return true;
    }
    p->token = *p->at == '(' ? TOKEN_OPEN : *p->at == ')' ? TOKEN_CLOSE : TOKEN_END;
    if (p->token == TOKEN_END && *p->at)
        return fail_at(p, p->column, "join comparisons with and, or, not and parentheses",
                       "unexpected '%c'", *p->at);
    if (*p->at)
        p->at++;
    return true;
}

static bool is_keyword(const struct parser *p, const char *keyword)
{
    return p->token == TOKEN_WORD && g_ascii_strcasecmp(p->word->str, keyword) == 0;
}

/* ---- grammar ----------------------------------------------------------------------------------
 */

static bool parse_or(struct parser *p);

static void mark(struct parser *p, enum orch_condition_mark what)
{
    p->reader->mark(p->reader->ctx, what);
}

static bool ends_formula(const struct parser *p)
{
    return p->token == TOKEN_END || p->token == TOKEN_OP || is_keyword(p, "and") ||
           is_keyword(p, "or");
}

/* Collects the text of a formula, whose parentheses are its own, in `out`. */
static bool read_formula(struct parser *p, GString *out)
{
    int open = 0;
    while (!ends_formula(p) && !(p->token == TOKEN_CLOSE && open == 0)) {
        open += (p->token == TOKEN_OPEN) - (p->token == TOKEN_CLOSE);
        g_string_append_printf(out, "%s%s", out->len ? " " : "",
                               p->token == TOKEN_OPEN    ? "("
                               : p->token == TOKEN_CLOSE ? ")"
                                                         : p->word->str);
        if (!next_token(p))
            return false;
    }
    return true;
}

/* name is [not] nan|inf */
static bool read_is(struct parser *p, struct orch_condition_term *c, GString *value)
{
    c->sign = "is";
    c->op = OP_IS;
    if (!next_token(p))
        return false;
    c->is_not = is_keyword(p, "not");
    if (c->is_not && !next_token(p))
        return false;
    c->value_at = p->column;
    if (!is_keyword(p, "nan") && !is_keyword(p, "inf"))
        return fail_at(p, p->column, "write 'is nan', 'is inf' or 'is not nan'",
                       "expected 'nan' or 'inf' after '%s is'", c->name);
    g_string_append(value, p->word->str);
    return next_token(p);
}

static bool read_value(struct parser *p, struct orch_condition_term *c, GString *value)
{
    c->sign = OPS[p->op].sign;
    c->op = OPS[p->op].op;
    if (!next_token(p))
        return false;
    c->value_at = p->column;
    c->is_word = p->token == TOKEN_WORD;
    bool is_formula = p->reader->has_formulas && p->token == TOKEN_OPEN;
    if (p->token != TOKEN_WORD && p->token != TOKEN_STRING && !is_formula)
        return fail_at(p, p->column, "put a value with spaces or signs in quotes",
                       "expected a value after '%s %s'", c->name, c->sign);
    if (p->reader->has_formulas && p->token != TOKEN_STRING)
        return read_formula(p, value);
    g_string_append(value, p->word->str);
    return next_token(p);
}

static bool parse_comparison(struct parser *p)
{
    if (p->token != TOKEN_WORD || is_keyword(p, "and") || is_keyword(p, "or"))
        return fail_at(p, p->column, "write a comparison such as lr >= 0.01",
                       "expected a name%s%s%s", p->word->len ? ", found '" : "", p->word->str,
                       p->word->len ? "'" : "");
    if (++p->comparisons > ORCH_CONDITION_COMPARISONS_MAX)
        return fail_at(p, p->column, NULL, "more than %d comparisons",
                       ORCH_CONDITION_COMPARISONS_MAX);
    g_autofree char *name = g_strdup(p->word->str);
    g_autoptr(GString) value = g_string_new(NULL);
    struct orch_condition_term c = {.name = name, .name_at = p->column};
    if (!next_token(p))
        return false;
    bool is_test = p->reader->has_formulas && is_keyword(p, "is");
    if (p->token != TOKEN_OP && !is_test)
        return fail_at(p, p->column, "operators are = != < <= > >= ~ (contains)",
                       "expected an operator after '%s'", name);
    if (!(is_test ? read_is(p, &c, value) : read_value(p, &c, value)))
        return false;
    c.value = value->str;
    return p->reader->compare(p->reader->ctx, &c, p->error);
}

static bool parse_not(struct parser *p)
{
    if (++p->depth > DEPTH_MAX)
        return fail_at(p, p->column, NULL, "conditions can be nested at most %d levels", DEPTH_MAX);
    bool ok;
    if (is_keyword(p, "not")) {
        mark(p, CONDITION_NOT); /* binds looser than a comparison */
        ok = next_token(p) && parse_not(p);
        mark(p, CONDITION_NOT_END);
    } else if (p->token == TOKEN_OPEN) {
        ok = next_token(p) && parse_or(p); /* parse_or marks the parentheses */
        if (ok && p->token != TOKEN_CLOSE)
            ok = fail_at(p, p->column, NULL, "expected ')'");
        ok = ok && next_token(p);
    } else {
        ok = parse_comparison(p);
    }
    p->depth--;
    return ok;
}

static bool parse_and(struct parser *p)
{
    if (!parse_not(p))
        return false;
    while (is_keyword(p, "and")) {
        mark(p, CONDITION_AND);
        if (!next_token(p) || !parse_not(p))
            return false;
        mark(p, CONDITION_AND_END);
    }
    return true;
}

static bool parse_or(struct parser *p)
{
    mark(p, CONDITION_OPEN);
    if (!parse_and(p))
        return false;
    while (is_keyword(p, "or")) {
        mark(p, CONDITION_OR);
        if (!next_token(p) || !parse_and(p))
            return false;
        mark(p, CONDITION_OR_END);
    }
    mark(p, CONDITION_CLOSE);
    return true;
}

static bool parse_all(struct parser *p)
{
    if (!next_token(p) || !parse_or(p))
        return false;
    if (p->token != TOKEN_END)
        return fail_at(p, p->column, "join comparisons with and, or, not and parentheses",
                       "expected 'and', 'or' or the end%s%s%s", p->word->len ? ", found '" : "",
                       p->word->str, p->word->len ? "'" : "");
    return true;
}

bool orch_condition_parse(const char *text, const struct orch_condition_reader *reader,
                          GError **error)
{
    if (strlen(text) > TEXT_MAX || !g_utf8_validate(text, -1, NULL)) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL,
                       "condition is longer than %d bytes or not UTF-8", TEXT_MAX);
        return false;
    }
    struct parser p = {
        .reader = reader, .text = text, .at = text, .word = g_string_new(NULL), .error = error};
    bool ok = parse_all(&p);
    g_string_free(p.word, TRUE);
    return ok;
}

bool orch_op_holds(enum orch_op op, int order)
{
    switch (op) {
    case OP_EQ:
        return order == 0;
    case OP_NE:
        return order != 0;
    case OP_LT:
        return order < 0;
    case OP_LE:
        return order <= 0;
    case OP_GT:
        return order > 0;
    case OP_GE:
        return order >= 0;
    case OP_CONTAINS:
    case OP_IS:
        break;
    }
    return false;
}
