/* SPDX-License-Identifier: MIT */
#include "lib/wire/printed_tokens.h"

#include "lib/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- characters --------------------------------------------------------------------------------
 */

/* These two look at each byte of all that a program prints, for which strchr is too slow. */
static bool is_word_char(char c)
{
    switch (c) {
    case '_':
    case '.':
    case '/':
    case '@':
    case '%':
    case '-':
    case '\\':
    case '&':
    case '^':
    case '\0':
        return true;
    default:
        return g_ascii_isalnum(c) || (unsigned char)c >= 0x80;
    }
}

/* Box-drawing and block characters (U+2500 to U+259F) and quotes count as space. */
static size_t space_bytes(const char *at, const char *end)
{
    if (end - at >= 3 && (unsigned char)at[0] == 0xe2 &&
        ((unsigned char)at[1] == 0x94 || (unsigned char)at[1] == 0x95 ||
         (unsigned char)at[1] == 0x96))
        return 3;
    switch (*at) {
    case ' ':
    case '\r':
    case '"':
    case '\'':
    case '`':
    case '*':
    case '#':
    case '$':
    case '~':
    case '?':
    case '!':
    case '\0':
        return 1;
    default:
        return 0;
    }
}

/* "0.52/0.61" and "0.5-0.6": two numbers, and which one is meant is not known. */
static bool is_pair_of_reals(const char *at, const char *end)
{
    unsigned points = 0, joints = 0;
    for (const char *p = at; p < end; p++) {
        points += *p == '.';
        joints += *p == '/' || *p == '-';
        if (strchr(":x,T", *p))
            return false;
    }
    return joints == 1 && (points == 2 || (points == 1 && memchr(at, '/', (size_t)(end - at))));
}

/* Skips digits with at least two '.' or '/' between them, or one ':', '-' or 'x': a version, a
 * date, a time of day, an address, a range, a shape. */
static const char *skip_composite(const char *at, const char *end)
{
    unsigned marks = 0;
    const char *p = at;
    for (; p < end && (g_ascii_isdigit(*p) || strchr(":-./x,T", *p)); p++) {
        if (g_ascii_isdigit(*p))
            continue;
        if (p == at || p + 1 >= end || !g_ascii_isdigit(p[1]))
            break;
        marks += *p == ',' ? 0 : strchr("./T", *p) ? 1 : 2;
    }
    bool has_exponent = p < end && g_ascii_tolower(*p) == 'e';
    if (is_pair_of_reals(at, p))
        return NULL;
    return marks >= 2 && !has_exponent ? p : NULL;
}

/* "3/10", "[  10/5005]": integers only. */
static const char *read_count(const char *at, const char *end, struct orch_printed_token *token)
{
    char unit[ORCH_PRINTED_UNIT_CHARS];
    const char *p = at;
    while (p < end && g_ascii_isdigit(*p))
        p++;
    const char *slash = p;
    while (p < end && *p == ' ' && p - slash < 4)
        p++;
    if (slash == at || p >= end || *p != '/')
        return NULL;
    for (p++; p < end && *p == ' ';)
        p++;
    const char *second = p;
    while (p < end && g_ascii_isdigit(*p))
        p++;
    if (p == second || slash - at > 15 || p - second > 15 || (p < end && is_word_char(*p)))
        return NULL;
    orch_printed_number(at, slash, &token->value, unit);
    orch_printed_number(second, p, &token->total, unit);
    token->kind = TOKEN_COUNT;
    return p;
}

static bool begins_number(const char *at, const char *end, bool after_word)
{
    bool has_sign = *at == '-' || *at == '+';
    const char *p = at + has_sign;
    if (p < end && *p == '.')
        p++;
    if (p < end && g_ascii_isdigit(*p))
        return true;
    char unit[ORCH_PRINTED_UNIT_CHARS];
    double value; /* nan and inf count as numbers where a value is possible */
    return after_word && orch_printed_number(at, end, &value, unit) != NULL;
}

/* A quick look before a duration is read: a number, perhaps a space, the letter of a unit. */
static bool may_be_duration(const char *at, const char *end)
{
    while (at < end && (g_ascii_isdigit(*at) || *at == '.'))
        at++;
    if (at < end && *at == ' ')
        at++;
    return at < end && *at && strchr("wdhmsWDHMS", *at);
}

static const char *read_number(const char *at, const char *end, struct orch_printed_token *token)
{
    const char *behind = skip_composite(at + (*at == '-' || *at == '+'), end);
    if (behind) {
        token->kind = TOKEN_IGNORED;
        return behind;
    }
    if ((behind = read_count(at, end, token)))
        return behind;
    token->kind = TOKEN_NUMBER;
    if (may_be_duration(at, end) && (behind = orch_printed_duration(at, end, &token->value))) {
        g_strlcpy(token->unit, "s", sizeof token->unit);
        return behind;
    }
    if ((behind = orch_printed_number(at, end, &token->value, token->unit)))
        return behind;
    token->kind = TOKEN_UNREAD;
    for (behind = at + 1; behind < end && (is_word_char(*behind) || *behind == ',');)
        behind++;
    return behind;
}

/* ---- numbers inside the name of their type -----------------------------------------------------
 */

bool orch_printed_word_is(const char *word, size_t length, const char *const *words)
{
    char first = length ? g_ascii_tolower(*word) : 0;
    for (; *words; words++)
        if (**words == first && g_ascii_strncasecmp(*words, word, length) == 0 &&
            strlen(*words) == length)
            return true;
    return false;
}

/* The part of a word after its last dot: "float64" of "np.float64". */
static const char *last_part(const char *word, const char *end)
{
    const char *part = end;
    while (part > word && part[-1] != '.')
        part--;
    return part;
}

static const char *const TYPE_NAMES[] = {
    "tensor",  "array",    "devicearray", "arrayimpl", "ndarray", "float",  "float16",    "float32",
    "float64", "float128", "bfloat16",    "half",      "single",  "double", "longdouble", "int",
    "int8",    "int16",    "int32",       "int64",     "uint8",   "uint16", "uint32",     "uint64",
    "scalar",  "decimal",  "parameter",   "variable",  "asarray", "mpf",    NULL};

/* The position after the bracket that closes the one at `at`; NULL: it is not closed. */
static const char *closing(const char *at, const char *end)
{
    int depth = 0;
    for (; at < end; at++) {
        depth += strchr("([{<", *at) && *at ? 1 : strchr(")]}>", *at) && *at ? -1 : 0;
        if (depth == 0)
            return at + 1;
    }
    return NULL;
}

/* Reads the only number in [at, end): "0.5, device='cuda:0'", "[[0.5]], dtype=float32". */
static void read_inner(const char *at, const char *end, struct orch_printed_token *token)
{
    while (at < end && (g_ascii_isspace(*at) || strchr("[('\"", *at)))
        at++;
    token->text = at;
    const char *behind = orch_printed_number(at, end, &token->value, token->unit);
    token->kind = behind ? TOKEN_NUMBER : TOKEN_UNREAD;
    while (behind && behind < end && (g_ascii_isspace(*behind) || strchr("])'\"", *behind)))
        behind++;
    if (behind && behind < end && *behind == ',') { /* another number, or the name of an option? */
        for (behind++; behind < end && g_ascii_isspace(*behind);)
            behind++;
        if (behind < end && (g_ascii_isdigit(*behind) || strchr("+-.[", *behind)))
            token->kind = TOKEN_UNREAD;
    } else if (behind && behind < end) {
        token->kind = TOKEN_UNREAD;
    }
}

/* "tensor(0.5, device='cuda:0')", "np.float64(0.85)": the number. NULL for any other word. */
static const char *read_wrapped(const char *at, const char *word_end, const char *end,
                                struct orch_printed_token *token)
{
    const char *part = last_part(at, word_end);
    if (word_end >= end || *word_end != '(' ||
        !orch_printed_word_is(part, (size_t)(word_end - part), TYPE_NAMES))
        return NULL;
    const char *behind = closing(word_end, end);
    if (behind)
        read_inner(word_end + 1, behind - 1, token);
    return behind;
}

/* "<tf.Tensor: shape=(), dtype=float32, numpy=0.75>". NULL for any other text. */
static const char *read_tagged(const char *at, const char *end, struct orch_printed_token *token)
{
    static const char tag[] = "<tf.", mark[] = "numpy=";
    if ((size_t)(end - at) < sizeof tag || memcmp(at, tag, sizeof tag - 1) != 0)
        return NULL;
    const char *behind = closing(at, end);
    const char *number = behind ? memmem(at, (size_t)(behind - at), mark, sizeof mark - 1) : NULL;
    token->kind = TOKEN_IGNORED;
    if (number)
        read_inner(number + sizeof mark - 1, behind - 1, token);
    return behind;
}

/* ---- places ------------------------------------------------------------------------------------
 */

static const char *const DEVICES[] = {"cuda", "cpu", "gpu", "mps", "xpu",       "npu", "tpu",
                                      "hip",  "hpu", "xla", "mlu", "localhost", NULL};
static const char *const SOURCE_ENDINGS[] = {
    "py", "pyx", "ipynb", "c",  "h",   "cc", "cpp", "cxx", "hpp", "cu",   "cuh", "rs", "go",
    "js", "ts",  "r",     "jl", "lua", "sh", "pl",  "m",   "f90", "java", "kt",  NULL};

/* "cuda:0", "train.py:45:3": the position after it; NULL for any other word. */
static const char *place_end(const char *at, const char *word_end, const char *end)
{
    const char *part = last_part(at, word_end), *slash = memrchr(at, '/', (size_t)(word_end - at));
    const char *name = slash ? slash + 1 : at;
    bool is_file =
        part > at && orch_printed_word_is(part, (size_t)(word_end - part), SOURCE_ENDINGS);
    if (!is_file && !orch_printed_word_is(name, (size_t)(word_end - name), DEVICES))
        return NULL;
    const char *p = word_end;
    while (end - p >= 2 && *p == ':' && g_ascii_isdigit(p[1]))
        for (p++; p < end && g_ascii_isdigit(*p);)
            p++;
    bool is_real = p < end && *p == '.' && end - p >= 2 && g_ascii_isdigit(p[1]);
    return p > word_end && !is_real ? p : NULL;
}

/* The number in "rank1" or "local_rank_1"; -1 for any other word. */
static int rank_of(const char *word, size_t length)
{
    static const char *const names[] = {"rank", "local_rank", "global_rank", NULL};
    size_t letters = length;
    while (letters && g_ascii_isdigit(word[letters - 1]))
        letters--;
    size_t digits = length - letters;
    while (letters && strchr("_-", word[letters - 1]))
        letters--;
    if (!digits || digits > 5 || !orch_printed_word_is(word, letters, names))
        return -1;
    return atoi(word + length - digits);
}

/* ---- words -------------------------------------------------------------------------------------
 */

static bool has_letters(const char *at, const char *end)
{
    for (; at < end; at++) {
        if (g_ascii_isalpha(*at))
            return true;
        if ((unsigned char)*at < 0x80)
            continue;
        gunichar c = g_utf8_get_char_validated(at, end - at);
        if (c != (gunichar)-1 && c != (gunichar)-2 && g_unichar_isalpha(c))
            return true;
    }
    return false;
}

/* "D(G(z)):", "f1(macro)=": the position after brackets that belong to a name, which are glued to
 * it, begin with a letter and stand before ':' or '='. `at` for anything else. */
static const char *bracketed_name_end(const char *at, const char *end)
{
    if (end - at < 3 || *at != '(' || !g_ascii_isalpha(at[1]))
        return at;
    const char *behind = closing(at, end);
    if (!behind || behind >= end || (*behind != ':' && *behind != '='))
        return at;
    for (const char *p = at; p < behind; p++)
        if (!is_word_char(*p) && *p != '(' && *p != ')')
            return at;
    return behind;
}

/* Reads a word, without the full stop of a sentence. */
static const char *read_word(const char *at, const char *end, struct orch_printed_token *token,
                             int *rank)
{
    const char *p = at, *behind;
    while (p < end && is_word_char(*p) && !space_bytes(p, end))
        p++;
    if ((behind = read_wrapped(at, p, end, token)))
        return behind;
    p = bracketed_name_end(p, end);
    token->kind = TOKEN_IGNORED;
    if (p < end && *p == ':' && (behind = place_end(at, p, end)))
        return behind;
    int printed_rank = rank_of(at, (size_t)(p - at));
    if (printed_rank >= 0) {
        *rank = *rank < 0 ? printed_rank : *rank;
        return p;
    }
    token->kind = TOKEN_WORD;
    bool is_dash = true;
    for (const char *c = at; is_dash && c < p; c++)
        is_dash = *c == '-' || *c == '.' || !*c;
    if (is_dash)
        token->kind = TOKEN_BREAK;
    else if ((!has_letters(at, p) && !(p - at == 1 && *at == '%')) ||
             memchr(at, '\\', (size_t)(p - at)))
        token->kind = TOKEN_IGNORED;
    if (p < end - 2 && *p == ':' && p[1] == '/' && p[2] == '/') { /* a URL */
        token->kind = TOKEN_IGNORED;
        while (p < end && !g_ascii_isspace(*p))
            p++;
    }
    return p;
}

static const char *read_mark(const char *at, const char *end, struct orch_printed_token *token)
{
    token->kind = strchr("([{<", *at)   ? TOKEN_OPEN
                  : strchr(")]}>", *at) ? TOKEN_CLOSE
                                        : TOKEN_BREAK;
    if (*at == ':' || *at == '=')
        token->kind = TOKEN_ASSIGN;
    if ((*at == '=' || *at == '>') && at + 1 < end && strchr("=>", at[1])) {
        token->kind = TOKEN_IGNORED; /* a bar [====>...] or an arrow */
        while (at < end && strchr("=>.#-", *at))
            at++;
        return at;
    }
    return at + 1;
}

static void add_token(struct orch_printed_tokens *tokens, const struct orch_printed_token *token,
                      const char *behind)
{
    if (tokens->count >= ORCH_PRINTED_TOKENS_MAX)
        return;
    tokens->all[tokens->count] = *token;
    tokens->all[tokens->count++].length = (size_t)(behind - token->text);
}

void orch_printed_tokenize(struct orch_printed_tokens *tokens, const char *text, size_t length)
{
    const char *end = text + length;
    tokens->count = 0;
    tokens->rank = -1;
    for (const char *at = text; at < end && tokens->count < ORCH_PRINTED_TOKENS_MAX;) {
        size_t skip = orch_printed_escape_bytes(at, end);
        skip = skip ? skip : space_bytes(at, end);
        if (skip) {
            at += skip;
            continue;
        }
        struct orch_printed_token token = {.text = at, .value = NAN, .total = NAN};
        const enum orch_printed_token_kind before =
            tokens->count ? tokens->all[tokens->count - 1].kind : TOKEN_BREAK;
        bool after_word = before == TOKEN_WORD || before == TOKEN_ASSIGN;
        const char *behind;
        if (*at == '<' && (behind = read_tagged(at, end, &token))) {
            /* the number within, or nothing */
        } else if (end - at >= 2 && memcmp(at, "\xc2\xb1", 2) == 0) {
            token.kind = TOKEN_PLUS;
            behind = at + 2;
        } else if (end - at >= 3 && (memcmp(at, "+/-", 3) == 0 || memcmp(at, "+- ", 3) == 0)) {
            token.kind = TOKEN_PLUS;
            behind = at + 3;
        } else if (begins_number(at, end, after_word)) {
            behind = read_number(at, end, &token);
        } else if (is_word_char(*at)) {
            behind = read_word(at, end, &token, &tokens->rank);
        } else {
            behind = read_mark(at, end, &token);
        }
        behind = MAX(behind, at + 1);
        add_token(tokens, &token, behind);
        at = behind;
    }
}
