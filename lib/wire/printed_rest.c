/* SPDX-License-Identifier: MIT */
/* What belongs to a number and stands behind it: its unit, an uncertainty, other forms of it, and
 * the numbers that leave open which one is meant. */
#include "lib/wire/printed_rest.h"

#include <math.h>

/* Treats "91.2 %" like "91.2%". */
static void set_percent(struct orch_printed_value *value, const struct orch_printed_token *number)
{
    g_autofree char *digits = g_strndup(number->text, number->length);
    g_autofree char *text = g_strconcat(digits, "%", NULL);
    char unit[ORCH_UNIT_CHARS];
    double percent = value->value;
    if (orch_printed_number(text, text + strlen(text), &value->value, unit))
        value->printed_percent = percent;
}

/* True if a number at this place has a unit. */
static bool number_has_unit(const struct reader *r, unsigned at)
{
    char unit[ORCH_UNIT_CHARS];
    const struct orch_printed_token *number = token_at(r, at), *next = token_at(r, at + 1);
    return number->unit[0] ||
           (next->kind == TOKEN_WORD && orch_printed_unit(next->text, next->length, unit));
}

/* True if the word behind a value is its unit, and not the name of the next value: "avg 3 min 2",
 * "loss 0.5 ms 20", "x=1 s=2". */
static bool is_unit_of(const struct reader *r, const struct orch_printed_value *value, unsigned at,
                       char out_unit[ORCH_UNIT_CHARS])
{
    const struct orch_printed_token *word = token_at(r, at), *after = token_at(r, at + 1);
    if (word->kind != TOKEN_WORD || !orch_printed_unit(word->text, word->length, out_unit) ||
        after->kind == TOKEN_ASSIGN)
        return false;
    if (after->kind != TOKEN_NUMBER && after->kind != TOKEN_COUNT)
        return true;
    if (value->kind != ORCH_PRINTED_VALUE || orch_printed_name_is_usual(value->last))
        return false;
    const struct orch_unit *unit = orch_unit_find(word->text, word->length);
    return !unit || unit->place == ORCH_UNIT_ANYWHERE ||
           (unit->quantity != ORCH_QUANTITY_TIME && number_has_unit(r, at + 1));
}

/* Skips an uncertainty: "+- 0.5 us", "\xc2\xb10.5", "0.52+0.01" of XGBoost. Its unit is that of a
 * value without one. */
static void skip_uncertainty(struct reader *r, struct orch_printed_value *value)
{
    const struct orch_printed_token *sign = token_at(r, r->at), *number = token_at(r, r->at + 1);
    char unit[ORCH_UNIT_CHARS];
    const bool is_glued = sign->kind == TOKEN_NUMBER && sign->is_glued && *sign->text == '+';
    if (!is_glued && (sign->kind != TOKEN_PLUS || number->kind != TOKEN_NUMBER))
        return;
    const struct orch_printed_token *spread = is_glued ? sign : number;
    r->at += 2 - is_glued;
    if (value && !value->unit[0] && isnan(value->printed_percent))
        g_strlcpy(value->unit, spread->unit, sizeof value->unit);
    const struct orch_printed_token *word = token_at(r, r->at);
    if (!spread->unit[0] && word->kind == TOKEN_WORD &&
        (!value || is_unit_of(r, value, r->at, unit)))
        r->at += orch_printed_unit(word->text, word->length, unit);
}

/* Skips brackets that begin with a number and hold no names: other forms of the same value and
 * remarks on it, "6.9 (7.0)", "201MiB/s (211MB/s)", "5 us (25% of the mean)". */
static void skip_remarks(struct reader *r)
{
    enum { REMARK_TOKENS_MAX = 12 };
    while (token_at(r, r->at)->kind == TOKEN_OPEN && *token_at(r, r->at)->text == '(') {
        unsigned close = r->at + 1;
        const bool begins = is_number(token_at(r, close)) ||
                            token_at(r, close)->kind == TOKEN_IGNORED ||
                            token_at(r, close)->kind == TOKEN_BREAK;
        while (close < r->tokens->count && close < r->at + REMARK_TOKENS_MAX &&
               token_at(r, close)->kind != TOKEN_CLOSE && token_at(r, close)->kind != TOKEN_ASSIGN)
            close++;
        if (!begins || token_at(r, close)->kind != TOKEN_CLOSE)
            return;
        r->at = close + 1;
    }
}

/* Consumes what belongs to a value: its unit, "of N" after a count, other forms of it. */
void orch_printed_rest_take(struct reader *r, struct orch_printed_value *value,
                            const struct orch_printed_token *number)
{
    const struct orch_printed_token *next = token_at(r, r->at), *after = token_at(r, r->at + 1);
    char unit[ORCH_UNIT_CHARS];
    struct orch_printed_match m;
    if (value && !value->unit[0] && next->kind == TOKEN_WORD && next->length == 1 &&
        *next->text == '%') {
        set_percent(value, number);
        r->at++;
    } else if (value && value->kind != ORCH_PRINTED_VALUE && next->kind == TOKEN_WORD &&
               next->length == 2 && g_ascii_strncasecmp(next->text, "of", 2) == 0 &&
               after->kind == TOKEN_NUMBER) {
        value->total = after->value;
        r->at += 2;
    } else if (value && !value->unit[0] && isnan(value->printed_percent) &&
               is_unit_of(r, value, r->at, unit)) {
        g_strlcpy(value->unit, unit, sizeof value->unit);
        r->at++;
    }
    skip_uncertainty(r, value);
    skip_remarks(r);
    if (value && !value->unit[0] && orch_printed_form_find(FORM_VALUE, r->tokens, r->at, &m) &&
        orch_printed_unit(token_at(r, m.at[1])->text, token_at(r, m.at[1])->length, value->unit))
        r->at = m.end;
}

/* A token such as "x^2" between a number and a signed one: a term of "y = -3.6 x^2 +0.4 x^1", where
 * the number before it is a coefficient and not the value of y. */
static bool is_term(const struct reader *r, unsigned at)
{
    const struct orch_printed_token *word = token_at(r, at), *after = token_at(r, at + 1);
    const char *power = word->kind == TOKEN_WORD ? memchr(word->text, '^', word->length) : NULL;
    return power && power + 1 < word->text + word->length && g_ascii_isdigit(power[1]) &&
           after->kind == TOKEN_NUMBER && strchr("+-", *after->text);
}

/* The position behind "0.5533 / 0.0052" with blanks, "9.0 ms ... 24.8 ms" of hyperfine: two
 * numbers, and which one is meant is not known. 0: the number stands alone. */
static unsigned pair_end(const struct reader *r, unsigned at)
{
    const struct orch_printed_token *unit = token_at(r, at);
    const bool has_unit = unit->kind == TOKEN_WORD && *unit->text != '/';
    at += has_unit;
    const struct orch_printed_token *joint = token_at(r, at), *word = token_at(r, at + 2);
    if (has_unit && (word->length != unit->length || memcmp(word->text, unit->text, word->length)))
        return 0; /* "1234 ms / 63 runs" */
    const bool is_joint = (joint->length == 1 && *joint->text == '/') ||
                          (joint->length == 3 && memcmp(joint->text, "\xe2\x80\xa6", 3) == 0);
    return is_joint && token_at(r, at + 1)->kind == TOKEN_NUMBER ? at + 2 : 0;
}

/* True for "Speed: 0.1 ms preprocess, 6 ms inference": each number has a name of its own behind it.
 */
static bool is_list_of_things(const struct reader *r)
{
    unsigned at = r->at, words = 0;
    for (; token_at(r, at)->kind == TOKEN_WORD && words < ORCH_PRINTED_NAME_WORDS_MAX; at++)
        words++;
    const struct orch_printed_token *first = token_at(r, r->at), *comma = token_at(r, at);
    char unit[ORCH_UNIT_CHARS];
    words -= words && orch_printed_unit(first->text, first->length, unit);
    return words && comma->kind == TOKEN_BREAK && *comma->text == ',' &&
           token_at(r, at + 1)->kind == TOKEN_NUMBER && token_at(r, at + 2)->kind == TOKEN_WORD;
}

/* True if other numbers follow "NAME: 0 0 0" or "NAME: 4.8, 5.0, 3.2" that have no name. */
static bool is_list(const struct reader *r, const struct orch_printed_value *value,
                    const struct orch_printed_token *number)
{
    unsigned at = r->at;
    if (!r->is_assigned || number->kind != TOKEN_NUMBER || orch_printed_name_is_usual(value->last))
        return false;
    if (is_list_of_things(r))
        return true;
    const bool has_comma = token_at(r, at)->kind == TOKEN_BREAK && *token_at(r, at)->text == ',';
    at += has_comma;
    for (unsigned i = 0; i < 2 && token_at(r, at)->kind == TOKEN_IGNORED; i++)
        at++;
    const struct orch_printed_token *next = token_at(r, at), *after = token_at(r, at + 1);
    const bool is_bare = next->kind == TOKEN_NUMBER && !next->is_glued &&
                         strcmp(next->unit, number->unit) == 0 && after->kind != TOKEN_ASSIGN;
    return is_bare && (!has_comma || (after->kind == TOKEN_BREAK && *after->text != '|') ||
                       at + 1 >= r->tokens->count);
}

/* Skips the other numbers of a formula or of a pair. False: the number before stands alone. */
static bool skip_several(struct reader *r)
{
    const unsigned end = pair_end(r, r->at);
    if (end) {
        r->at = end;
        return true;
    }
    bool is_formula = is_term(r, r->at);
    while (is_formula && r->at < r->tokens->count && token_at(r, r->at)->kind != TOKEN_BREAK)
        r->at++;
    return is_formula;
}

/* True if a part of the name is one of things that are counted in billions. */
static bool names_billions(const char *name)
{
    for (size_t length; *name; name += length + (name[length] == '_')) {
        length = strcspn(name, "_");
        if (orch_printed_classes(name, length) & WORD_BILLIONS)
            return true;
    }
    return false;
}

/* "1.2B" is a number already (printed_number.c); "7B parameters" is known by its words. */
void orch_printed_rest_count_billions(struct reader *r, struct orch_printed_value *value)
{
    const struct orch_printed_token *next = token_at(r, r->at);
    const bool is_apart =
        !value->unit[0] && next->kind == TOKEN_WORD && next->length == 1 && *next->text == 'B';
    const struct orch_printed_token *word = is_apart ? token_at(r, r->at + 1) : next;
    if (!is_apart && strcmp(value->unit, "B") != 0)
        return;
    if (!(classes_of(word) & WORD_BILLIONS) && !names_billions(value->name))
        return;
    value->value *= 1e9;
    value->unit[0] = 0;
    r->at += is_apart;
}

bool orch_printed_rest_is_several(struct reader *r, const struct orch_printed_value *value,
                                  const struct orch_printed_token *number)
{
    return skip_several(r) || is_list(r, value, number);
}
