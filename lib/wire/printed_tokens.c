/* SPDX-License-Identifier: MIT */
#include "lib/wire/printed_tokens.h"

#include "lib/wire/printed_fold.h"
#include "lib/wire/printed_time.h"

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

/* "0.52/0.61", "0.5-0.6", "0.03/0.05/0.07": several numbers, and which one is meant is not known.
 */
static bool is_several_reals(const char *at, const char *end)
{
    unsigned points = 0, slashes = 0, dashes = 0;
    for (const char *p = at; p < end; p++) {
        points += *p == '.';
        slashes += *p == '/';
        dashes += *p == '-';
        if (strchr(":x,T", *p))
            return false;
    }
    return dashes ? dashes == 1 && !slashes && points == 2
                  : slashes && points && points <= slashes + 1;
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
    if (is_several_reals(at, p))
        return NULL;
    return marks >= 2 && !has_exponent ? p : NULL;
}

/* "3/10", "[  10/5005]": integers only. */
static const char *read_count(const char *at, const char *end, struct orch_printed_token *token)
{
    char unit[ORCH_UNIT_CHARS];
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
    char unit[ORCH_UNIT_CHARS];
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

/* "95th", "1.00th": the ordinal of a name. */
static bool is_ordinal(const char *at, const char *end)
{
    static const char *const endings[] = {"st", "nd", "rd", "th"};
    if (end - at < 3)
        return false;
    for (const char *p = at; p < end - 2; p++)
        if (!g_ascii_isdigit(*p) && *p != '.')
            return false;
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++)
        if (memcmp(end - 2, endings[i], 2) == 0)
            return true;
    return false;
}

/* "0x7f3a", "3f2a9c1": the address or the digest of something, which measures nothing. */
static bool is_identity(const char *at, const char *end)
{
    enum { DIGEST_CHARS_MIN = 7 };
    const bool is_address = end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
    bool has_letter = is_address;
    for (const char *p = at + 2 * is_address; p < end; p++) {
        if (!g_ascii_isxdigit(*p) || g_ascii_isupper(*p) > is_address)
            return false;
        has_letter = has_letter || g_ascii_isalpha(*p);
    }
    return has_letter && (is_address || end - at >= DIGEST_CHARS_MIN);
}

/* Of "[1,3]" the first number is one, though "1,3" is none. */
static const char *first_of_pair(const char *at, const char *end)
{
    const char *comma = at, *p;
    while (comma < end && g_ascii_isdigit(*comma))
        comma++;
    for (p = comma + 1; p < end && g_ascii_isdigit(*p);)
        p++;
    return comma > at && comma < end && *comma == ',' && p > comma + 1 && p < end && *p == ']'
               ? comma
               : end;
}

/* `is_series`: the name before it is one of several, "min/max = 1/2". */
static const char *read_number(const char *at, const char *end, bool is_series,
                               struct orch_printed_token *token)
{
    const char *behind = at;
    while (behind < end && is_word_char(*behind))
        behind++;
    if (is_identity(at, behind)) {
        token->kind = TOKEN_IGNORED;
        return behind;
    }
    const char *slash = is_series ? memchr(at, '/', (size_t)(behind - at)) : NULL;
    if (slash && memchr(slash + 1, '/', (size_t)(behind - slash - 1))) {
        token->kind = TOKEN_UNREAD;
        return behind;
    }
    behind = skip_composite(at + (*at == '-' || *at == '+'), end);
    if (behind) {
        while (behind < end && (*behind == '-' || *behind == '_') && behind + 1 < end &&
               g_ascii_isalnum(behind[1])) /* "6.18.44-rc2" */
            for (behind++; behind < end && g_ascii_isalnum(*behind);)
                behind++;
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
    for (behind = at + 1; behind < end && is_word_char(*behind);)
        behind++;
    token->kind = is_ordinal(at, behind) ? TOKEN_WORD : TOKEN_UNREAD;
    while (token->kind == TOKEN_UNREAD && behind < end && (is_word_char(*behind) || *behind == ','))
        behind++;
    return behind;
}

/* ---- numbers inside the name of their type -----------------------------------------------------
 */

/* The part of a word after its last dot: "float64" of "np.float64". */
static const char *last_part(const char *word, const char *end)
{
    const char *part = end;
    while (part > word && part[-1] != '.')
        part--;
    return part;
}

/* The position after the bracket that closes the one at `at`; NULL: it is not closed nearby. The
 * bound keeps a line of open brackets linear. */
static const char *closing(const char *at, const char *end)
{
    enum { INNER_BYTES_MAX = 512 };
    int depth = 0;
    end = MIN(end, at + INNER_BYTES_MAX);
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
        !(orch_printed_classes(part, (size_t)(word_end - part)) & WORD_TYPE))
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

/* "__main__:train:45 - ", as loguru prints where it was called: the position after it; NULL for any
 * other word. */
static const char *caller_end(const char *word_end, const char *end)
{
    const char *p = word_end + 1;
    while (p < end && (g_ascii_isalnum(*p) || strchr("_<>.", *p)))
        p++;
    if (p == word_end + 1 || g_ascii_isdigit(word_end[1]) || end - p < 2 || *p++ != ':')
        return NULL;
    const char *digits = p;
    while (p < end && g_ascii_isdigit(*p))
        p++;
    const bool is_end =
        end - p >= 2 && ((p[0] == ' ' && p[1] == '-') || p[0] == ']' || p[0] == ')');
    return p > digits && is_end ? p : NULL;
}

/* "cuda:0", "train.py:45:3": the position after it; NULL for any other word. */
static const char *place_end(const char *at, const char *word_end, const char *end)
{
    const char *part = last_part(at, word_end), *slash = memrchr(at, '/', (size_t)(word_end - at));
    const char *name = slash ? slash + 1 : at;
    const bool is_file =
        part > at && orch_printed_classes(part, (size_t)(word_end - part)) & WORD_SOURCE;
    if (!is_file && !(orch_printed_classes(name, (size_t)(word_end - name)) & WORD_DEVICE))
        return caller_end(word_end, end);
    const char *p = word_end;
    while (end - p >= 2 && *p == ':' && g_ascii_isdigit(p[1]))
        for (p++; p < end && g_ascii_isdigit(*p);)
            p++;
    const bool is_real = p < end && *p == '.' && end - p >= 2 && g_ascii_isdigit(p[1]);
    return p > word_end && !is_real ? p : caller_end(word_end, end);
}

/* The number in "rank1" or "local_rank_1"; -1 for any other word. */
static int rank_of(const char *word, size_t length)
{
    size_t letters = length;
    while (letters && g_ascii_isdigit(word[letters - 1]))
        letters--;
    size_t digits = length - letters;
    while (letters && strchr("_-", word[letters - 1]))
        letters--;
    if (!digits || digits > 5 || !(orch_printed_classes(word, letters) & WORD_RANK))
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

/* Of "mAP@.5:.95: 0.4" and "AP@0.50:0.95 = 0.4" the range belongs to the name, as another number
 * follows: the position behind it. `p`, the end of the word, for any other. */
static const char *range_end(const char *at, const char *p, const char *end)
{
    const char *q = p + 1;
    if (p >= end || *p != ':' || !memchr(at, '@', (size_t)(p - at)) || !g_ascii_isdigit(p[-1]))
        return p;
    while (q < end && (g_ascii_isdigit(*q) || *q == '.'))
        q++;
    const char *next = q;
    while (next < end && *next == ' ')
        next++;
    const bool is_range = q > p + 1 && next < end && strchr(":=.-0123456789", *next) && *next;
    return is_range ? q : p;
}

/* True for the path of a file: "/data/x.pt", "./x.pt". */
static bool is_path(const char *at, const char *end)
{
    size_t dots = 0;
    while (at + dots < end && at[dots] == '.')
        dots++;
    return dots <= 2 && end - at > 3 && at[dots] == '/' &&
           (dots || memchr(at + 1, '/', (size_t)(end - at - 1)) ||
            memchr(at + 1, '.', (size_t)(end - at - 1)));
}

/* Reads a word, without the full stop of a sentence. */
static const char *read_word(const char *at, const char *end, struct orch_printed_token *token,
                             int *rank)
{
    const char *p = at, *behind;
    while (p < end && *p == '.')
        p++;
    if (p - at >= 3) { /* a leader: "END ......alpha=0.1" */
        token->kind = TOKEN_BREAK;
        return p;
    }
    while (p < end && is_word_char(*p) && !space_bytes(p, end))
        p++;
    if ((behind = read_wrapped(at, p, end, token)))
        return behind;
    token->kind = TOKEN_PLACE;
    if (is_path(at, p))
        return p;
    p = range_end(at, p, end);
    p = bracketed_name_end(p, end);
    if (p < end && *p == ':' && (behind = place_end(at, p, end)))
        return behind;
    token->kind = TOKEN_IGNORED;
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
    struct orch_printed_token *added = &tokens->all[tokens->count++];
    *added = *token;
    added->length = (size_t)(behind - token->text);
    if (added->kind == TOKEN_WORD)
        added->classes = orch_printed_classes(added->text, added->length);
}

/* A text in quotes that holds words and a number is no name of one: "sleep 0.1". Returns the
 * position behind it; NULL for any other text, also for the key of a member. */
static const char *quoted_end(const char *at, const char *end)
{
    enum { QUOTED_BYTES_MAX = 200 };
    const char quote = *at, *p = at + 1;
    bool has_blank = false, has_digit = false, has_letter = false;
    for (end = MIN(end, at + QUOTED_BYTES_MAX); p < end && *p != quote; p++) {
        has_blank = has_blank || *p == ' ';
        has_digit = has_digit || g_ascii_isdigit(*p);
        has_letter = has_letter || g_ascii_isalpha(*p);
        if (strchr(":={}[]", *p))
            return NULL;
    }
    const bool is_text = has_blank && has_digit && has_letter && p < end && at[1] != ' ';
    const bool is_key = p + 1 < end && (p[1] == ':' || p[1] == '=');
    return is_text && !is_key && (p + 1 >= end || !g_ascii_isalnum(p[1])) ? p + 1 : NULL;
}

/* Reads the token at `at`, which is no blank. Returns the position after it. */
static const char *read_token(struct orch_printed_tokens *tokens, const char *at, const char *end,
                              struct orch_printed_token *token)
{
    const enum orch_printed_token_kind before =
        tokens->count ? tokens->all[tokens->count - 1].kind : TOKEN_BREAK;
    const bool after_word = before == TOKEN_WORD || before == TOKEN_ASSIGN;
    const char *behind;
    if (*at == '<' && (behind = read_tagged(at, end, token)))
        return behind; /* the number within, or nothing */
    if ((g_ascii_isdigit(*at) || g_ascii_isupper(*at)) &&
        (behind = orch_printed_time_end(at, end))) {
        token->kind = TOKEN_IGNORED;
        return behind;
    }
    if (end - at >= 2 && memcmp(at, "\xc2\xb1", 2) == 0) {
        token->kind = TOKEN_PLUS;
        return at + 2;
    }
    if (end - at >= 3 && (memcmp(at, "+/-", 3) == 0 || memcmp(at, "+- ", 3) == 0)) {
        token->kind = TOKEN_PLUS;
        return at + 3;
    }
    if (at[0] != '+' && before == TOKEN_OPEN && *tokens->all[tokens->count - 1].text == '[')
        end = first_of_pair(at, end);
    const struct orch_printed_token *name =
        before == TOKEN_ASSIGN && tokens->count > 1 ? &tokens->all[tokens->count - 2] : NULL;
    const bool is_series =
        name && name->kind == TOKEN_WORD && memchr(name->text, '/', name->length);
    return begins_number(at, end, after_word) ? read_number(at, end, is_series, token)
           : is_word_char(*at)                ? read_word(at, end, token, &tokens->rank)
                                              : read_mark(at, end, token);
}

void orch_printed_tokenize(struct orch_printed_tokens *tokens, const char *text, size_t length)
{
    const char *end = text + length, *last_end = text;
    tokens->count = 0;
    tokens->rank = -1;
    for (const char *at = text; at < end && tokens->count < ORCH_PRINTED_TOKENS_MAX;) {
        const char *quoted =
            strchr("\"'`", *at) && *at && at > last_end ? quoted_end(at, end) : NULL;
        size_t skip = quoted ? (size_t)(quoted - at) : orch_printed_escape_bytes(at, end);
        skip = skip ? skip : space_bytes(at, end);
        skip = !skip && *at == '\t' && tokens->count &&
                       tokens->all[tokens->count - 1].kind == TOKEN_ASSIGN
                   ? 1
                   : skip; /* "loss:\t0.5" */
        if (skip) {
            at += skip;
            continue;
        }
        struct orch_printed_token token = {
            .text = at, .is_glued = at == last_end, .value = NAN, .total = NAN};
        const char *behind = MAX(read_token(tokens, at, end, &token), at + 1);
        add_token(tokens, &token, behind);
        at = last_end = behind;
    }
}
