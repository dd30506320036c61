/* SPDX-License-Identifier: MIT */
/* Splits a line into words, numbers and marks; the words before a number form its name. Regular
 * expressions were rejected: formats combine freely ("Epoch [1/5], Step [100/600], Loss: 2.2"), and
 * callers need to know which parts were not understood. */
#include "lib/wire/printed.h"

#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

enum { TOKENS_MAX = 1024, VALUES_MAX = 256, NAME_WORDS_MAX = 3, JSON_DEPTH_MAX = 4 };

/* ---- tokens ------------------------------------------------------------------------------------
 */

enum token_kind {
    WORD,
    NUMBER,
    COUNT,  /* 3/10: value and total */
    ASSIGN, /* ':' or '=' */
    OPEN,   /* ( [ { < */
    CLOSE,
    BREAK,   /* separator: , ; | tab, a single dash, the time stamp of a log */
    PLUS,    /* +-, the sign of an uncertainty */
    UNREAD,  /* begins like a number but is not one: 0,91 */
    IGNORED, /* a time of day, a date, a version, a shape, a progress bar */
};

struct token {
    enum token_kind kind;
    const char *text;
    size_t length;
    double value, total;
    char unit[ORCH_PRINTED_UNIT_CHARS];
};

struct tokens {
    struct token all[TOKENS_MAX];
    unsigned count;
};

static bool is_word_char(char c)
{
    return g_ascii_isalnum(c) || strchr("_./@%-\\&^", c) || (unsigned char)c >= 0x80;
}

/* Box-drawing and block characters (U+2500 to U+259F) and quotes count as space. */
static size_t space_bytes(const char *at, const char *end)
{
    if (end - at >= 3 && (unsigned char)at[0] == 0xe2 &&
        ((unsigned char)at[1] == 0x94 || (unsigned char)at[1] == 0x95 ||
         (unsigned char)at[1] == 0x96))
        return 3;
    return *at == ' ' || *at == '\r' || strchr("\"'`*#$~?!", *at) ? 1 : 0;
}

/* Length of a terminal escape sequence: ESC [ ... letter, or ESC and one character. */
static size_t escape_bytes(const char *at, const char *end)
{
    if (*at != '\033')
        return 0;
    const char *p = at + 1;
    if (p < end && *p == '[')
        for (p++; p < end && (unsigned char)*p < 0x40;)
            p++;
    return (size_t)(MIN(p + 1, end) - at);
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
    return marks >= 2 && !has_exponent ? p : NULL;
}

/* "3/10", "[  10/5005]": integers only. */
static const char *read_count(const char *at, const char *end, struct token *token)
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
    token->kind = COUNT;
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

static const char *read_number(const char *at, const char *end, struct token *token)
{
    const char *behind = skip_composite(at + (*at == '-' || *at == '+'), end);
    if (behind) {
        token->kind = IGNORED;
        return behind;
    }
    if ((behind = read_count(at, end, token)))
        return behind;
    token->kind = NUMBER;
    if ((behind = orch_printed_number(at, end, &token->value, token->unit)))
        return behind;
    token->kind = UNREAD;
    for (behind = at + 1; behind < end && (is_word_char(*behind) || *behind == ',');)
        behind++;
    return behind;
}

/* Reads a word, without the full stop of a sentence. */
static const char *read_word(const char *at, const char *end, struct token *token)
{
    const char *p = at;
    while (p < end && is_word_char(*p) && !space_bytes(p, end))
        p++;
    token->kind = WORD;
    bool is_dash = true, has_letter = false;
    for (const char *c = at; c < p; c++) {
        is_dash = is_dash && strchr("-.", *c);
        has_letter = has_letter || g_ascii_isalpha(*c);
    }
    if (is_dash)
        token->kind = BREAK;
    else if ((!has_letter && !(p - at == 1 && *at == '%')) || memchr(at, '\\', (size_t)(p - at)))
        token->kind = IGNORED;
    if (p < end - 2 && *p == ':' && p[1] == '/' && p[2] == '/') { /* a URL */
        token->kind = IGNORED;
        while (p < end && !g_ascii_isspace(*p))
            p++;
    }
    return p;
}

static const char *read_mark(const char *at, const char *end, struct token *token)
{
    token->kind = strchr("([{<", *at) ? OPEN : strchr(")]}>", *at) ? CLOSE : BREAK;
    if (*at == ':' || *at == '=')
        token->kind = ASSIGN;
    if ((*at == '=' || *at == '>') && at + 1 < end && strchr("=>", at[1])) {
        token->kind = IGNORED; /* a bar [====>...] or an arrow */
        while (at < end && strchr("=>.#-", *at))
            at++;
        return at;
    }
    return at + 1;
}

static void add_token(struct tokens *tokens, const struct token *token, const char *behind)
{
    if (tokens->count >= TOKENS_MAX)
        return;
    tokens->all[tokens->count] = *token;
    tokens->all[tokens->count++].length = (size_t)(behind - token->text);
}

static void tokenize(struct tokens *tokens, const char *text, size_t length)
{
    const char *end = text + length;
    tokens->count = 0;
    for (const char *at = text; at < end && tokens->count < TOKENS_MAX;) {
        size_t skip = escape_bytes(at, end);
        skip = skip ? skip : space_bytes(at, end);
        if (skip) {
            at += skip;
            continue;
        }
        struct token token = {.text = at, .value = NAN, .total = NAN};
        const enum token_kind before = tokens->count ? tokens->all[tokens->count - 1].kind : BREAK;
        bool after_word = before == WORD || before == ASSIGN;
        const char *behind;
        if (end - at >= 2 && memcmp(at, "\xc2\xb1", 2) == 0) {
            token.kind = PLUS;
            behind = at + 2;
        } else if (end - at >= 3 && (memcmp(at, "+/-", 3) == 0 || memcmp(at, "+- ", 3) == 0)) {
            token.kind = PLUS;
            behind = at + 3;
        } else if (begins_number(at, end, after_word)) {
            behind = read_number(at, end, &token);
        } else if (is_word_char(*at)) {
            behind = read_word(at, end, &token);
        } else {
            behind = read_mark(at, end, &token);
        }
        behind = MAX(behind, at + 1);
        add_token(tokens, &token, behind);
        at = behind;
    }
}

/* ---- names -------------------------------------------------------------------------------------
 */

static bool is_one_of(const char *word, size_t length, const char *const *words)
{
    for (; *words; words++)
        if (strlen(*words) == length && g_ascii_strncasecmp(*words, word, length) == 0)
            return true;
    return false;
}

static bool token_is(const struct token *token, const char *const *words)
{
    return token->kind == WORD && is_one_of(token->text, token->length, words);
}

static const char *const EPOCH_WORDS[] = {"epoch", "ep", "round", "episode", NULL};
static const char *const STEP_WORDS[] = {"step", "global_step", "_step",    "iter", "iteration",
                                         "itr",  "update",      "timestep", NULL};
/* These count steps only in an unambiguous form: "batch 3/10", whereas batch=64 is a setting. */
static const char *const BATCH_WORDS[] = {"batch", "it", "mini_batch", "minibatch", NULL};
static const char *const LEVEL_WORDS[] = {"info",  "debug",  "warning",  "warn", "error",
                                          "trace", "notice", "critical", "root", NULL};
static const char *const COPULAS[] = {"is", "was", "of", "at", NULL};
static const char *const PREPOSITIONS[] = {"in", "at",   "for",  "to",    "on", "with",
                                           "by", "from", "than", "after", "of", NULL};
static const char *const SET_WORDS[] = {"set", "phase", "loop", "results", "metrics", NULL};
static const struct {
    const char *word, *label;
} LABELS[] = {{"train", "train"},  {"training", "train"}, {"val", "val"},
              {"valid", "val"},    {"validation", "val"}, {"test", "test"},
              {"testing", "test"}, {"eval", "eval"},      {"evaluation", "eval"}};

static const char *label_of(const struct token *token)
{
    for (size_t i = 0; token->kind == WORD && i < G_N_ELEMENTS(LABELS); i++)
        if (strlen(LABELS[i].word) == token->length &&
            g_ascii_strncasecmp(LABELS[i].word, token->text, token->length) == 0)
            return LABELS[i].label;
    return NULL;
}

bool orch_printed_name_is_usual(const char *name)
{
    static const char *const usual[] = {
        "loss", "acc",  "accuracy", "error",  "err",        "precision", "recall", "f1",  "auc",
        "mse",  "mae",  "rmse",     "ppl",    "perplexity", "bleu",      "iou",    "map", "dice",
        "lr",   "top1", "top5",     "reward", "r2",         "wer",       "cer",    "fid", NULL};
    const char *last = strrchr(name, '_');
    last = last ? last + 1 : name;
    return is_one_of(last, strlen(last), usual);
}

/* Appends a word to a name: lower case, other characters as '_'. False if it does not fit. */
static bool append_name(char out[ORCH_PRINTED_NAME_CHARS], const char *word, size_t length)
{
    size_t at = strlen(out);
    if (at && at + 1 < ORCH_PRINTED_NAME_CHARS && out[at - 1] != '_')
        out[at++] = '_';
    for (size_t i = 0; i < length; i++) {
        char c = g_ascii_isalnum(word[i]) ? (char)g_ascii_tolower(word[i]) : '_';
        if (c == '_' && (at == 0 || out[at - 1] == '_'))
            continue;
        if (at + 1 >= ORCH_PRINTED_NAME_CHARS)
            return false;
        out[at++] = c;
    }
    while (at && out[at - 1] == '_')
        at--;
    out[at] = 0;
    return true;
}

/* ---- from tokens to values ---------------------------------------------------------------------
 */

struct reader {
    struct orch_printed_line *out;
    const struct tokens *tokens;
    unsigned at;
    unsigned run, run_length; /* words directly before `at`, which may become a name */
    bool is_assigned;         /* they are followed by ':' or '=' */
    bool is_after_prose;      /* they follow a number within a sentence, without a separator */
    const char *label;        /* "train", "val", ... for following values; NULL: none */
    enum orch_printed_kind counter; /* kind of the last value: EPOCH, STEP or VALUE */
};

static const struct token *token_at(const struct reader *r, unsigned at)
{
    static const struct token none = {.kind = BREAK, .text = ""};
    return at < r->tokens->count ? &r->tokens->all[at] : &none;
}

static struct orch_printed_value *add_value(struct reader *r, enum orch_printed_kind kind)
{
    if (r->out->values->len >= VALUES_MAX)
        return NULL;
    struct orch_printed_value value = {
        .kind = kind, .value = NAN, .total = NAN, .printed_percent = NAN};
    g_array_append_val(r->out->values, value);
    return &g_array_index(r->out->values, struct orch_printed_value, r->out->values->len - 1);
}

static void end_run(struct reader *r)
{
    r->run_length = 0;
    r->is_assigned = false;
}

/* Handles words without a value: a label for following values ("val:", "[train]", "Test set:"), a
 * log level, or prose. */
static void drop_run(struct reader *r)
{
    const struct token *first = token_at(r, r->run);
    bool is_label = r->run_length && label_of(first) &&
                    (r->run_length == 1 ||
                     (r->run_length == 2 && token_is(token_at(r, r->run + 1), SET_WORDS)));
    if (is_label)
        r->label = label_of(first);
    else if (r->run_length && !(r->run_length == 1 && token_is(first, LEVEL_WORDS)))
        r->out->is_pure = r->out->is_pure && r->is_assigned; /* "Results:" is a heading */
    end_run(r);
}

/* Kind of counter that a name's last word denotes; `is_plain`: in a form not used for settings. */
static enum orch_printed_kind kind_of(const struct token *last, bool is_plain)
{
    if (token_is(last, EPOCH_WORDS))
        return ORCH_PRINTED_EPOCH;
    bool counts = token_is(last, STEP_WORDS) || (is_plain && token_is(last, BATCH_WORDS));
    return counts ? ORCH_PRINTED_STEP : ORCH_PRINTED_VALUE;
}

/* Sets the value's name from the pending words; false if they do not form a name. */
static bool set_name(struct reader *r, struct orch_printed_value *value)
{
    unsigned first = r->run, length = r->run_length;
    while (length > 1 && token_is(token_at(r, first), LEVEL_WORDS))
        first++, length--;
    while (length > 1 && token_is(token_at(r, first + length - 1), COPULAS))
        length--;
    if (!length)
        return false;
    const struct token *last = token_at(r, first + length - 1);
    if (!append_name(value->last, last->text, last->length) || length > NAME_WORDS_MAX)
        return false;
    if (r->label && g_strcmp0(label_of(token_at(r, first)), r->label) != 0 &&
        !g_str_has_prefix(value->last, r->label))
        append_name(value->name, r->label, strlen(r->label));
    for (unsigned i = 0; i < length; i++)
        if (!append_name(value->name, token_at(r, first + i)->text, token_at(r, first + i)->length))
            return false;
    return g_ascii_isalpha(value->name[0]) && g_ascii_isalpha(value->last[0]);
}

/* Treats "91.2 %" like "91.2%". */
static void set_percent(struct orch_printed_value *value, const struct token *number)
{
    g_autofree char *digits = g_strndup(number->text, number->length);
    g_autofree char *text = g_strconcat(digits, "%", NULL);
    char unit[ORCH_PRINTED_UNIT_CHARS];
    double percent = value->value;
    if (orch_printed_number(text, text + strlen(text), &value->value, unit))
        value->printed_percent = percent;
}

/* Consumes what belongs to a value: its unit, "of N" after a count, parentheses, an uncertainty. */
static void take_rest(struct reader *r, struct orch_printed_value *value,
                      const struct token *number)
{
    const struct token *next = token_at(r, r->at);
    char unit[ORCH_PRINTED_UNIT_CHARS];
    const struct token *after = token_at(r, r->at + 1);
    bool is_name = after->kind == ASSIGN || after->kind == NUMBER || after->kind == COUNT;
    if (next->kind == WORD && next->length == 1 && *next->text == '%' && value && !value->unit[0]) {
        set_percent(value, number);
        r->at++;
    } else if (value && value->kind != ORCH_PRINTED_VALUE && next->kind == WORD &&
               next->length == 2 && g_ascii_strncasecmp(next->text, "of", 2) == 0 &&
               after->kind == NUMBER) {
        value->total = after->value;
        r->at += 2;
    } else if (next->kind == WORD && value && !value->unit[0] && !is_name &&
               orch_printed_unit(next->text, next->length, unit)) {
        g_strlcpy(value->unit, unit, sizeof value->unit);
        r->at++;
    }
    if (token_at(r, r->at)->kind == PLUS && token_at(r, r->at + 1)->kind == NUMBER)
        r->at += 2;
    if (token_at(r, r->at)->kind == OPEN && *token_at(r, r->at)->text == '(') {
        unsigned close = r->at + 1;
        while (close < r->tokens->count && close < r->at + 8 && token_at(r, close)->kind != CLOSE &&
               token_at(r, close)->kind != WORD)
            close++;
        if (token_at(r, close)->kind == CLOSE)
            r->at = close + 1;
    }
}

static void set_number(struct orch_printed_value *value, const struct token *token)
{
    value->value = token->value;
    value->total = token->total;
    if (strcmp(token->unit, "%") == 0) {
        const char *end = token->text + token->length - 1;
        char unit[ORCH_PRINTED_UNIT_CHARS];
        orch_printed_number(token->text, end, &value->printed_percent, unit);
    } else {
        g_strlcpy(value->unit, token->unit, sizeof value->unit);
    }
}

/* Handles a number (at `at`) with words before it. */
static void take_named(struct reader *r, const struct token *number)
{
    const struct token *last = token_at(r, r->run + r->run_length - 1);
    enum orch_printed_kind kind = kind_of(last, !r->is_assigned || number->kind == COUNT);
    bool is_value = kind == ORCH_PRINTED_VALUE;
    bool is_prose = is_value && !r->is_assigned &&
                    (token_is(last, PREPOSITIONS) || number->kind == COUNT); /* Downloading 3/10 */
    if (!is_value && r->run_length == 2 && label_of(token_at(r, r->run)))
        r->label = label_of(token_at(r, r->run)); /* Train Epoch: 1 */
    r->at++;
    struct orch_printed_value *value = is_prose ? NULL : add_value(r, kind);
    if (value) {
        value->is_sure = r->is_assigned;
        set_number(value, number);
        bool is_named = set_name(r, value) && !(is_value && r->is_after_prose);
        if (!is_named)
            value->name[0] = 0;
        if (is_value && number->kind == COUNT && number->total > 0) /* Accuracy: 9812/10000 */
            value->value = number->value / number->total;
        if (number->kind == UNREAD)
            value->kind = ORCH_PRINTED_UNREAD;
        is_prose = is_value && !is_named;
    }
    r->is_after_prose = is_prose;
    r->out->is_pure = r->out->is_pure && !is_prose;
    r->counter = kind;
    take_rest(r, value, number);
    end_run(r);
}

/* Recognises "[3/10]" or "[7]" at the start, "[1, 2000]" for epoch and batch, and "[10/5005]" after
 * an epoch. Returns the position after it; 0 for anything else. */
static unsigned bracket_end(const struct reader *r, unsigned at, unsigned *out_numbers)
{
    unsigned numbers = 0, p = at + 1;
    for (; p < r->tokens->count && p < at + 4 + 3; p++) {
        const struct token *token = token_at(r, p);
        if (token->kind == CLOSE)
            break;
        bool is_whole = (token->kind == NUMBER && !token->unit[0] && token->value >= 0 &&
                         floor(token->value) == token->value) ||
                        token->kind == COUNT;
        bool is_extra =
            numbers && (token->kind == BREAK || token->kind == OPEN || token->kind == NUMBER);
        if (!is_whole && !is_extra)
            return 0;
        numbers += is_whole;
    }
    *out_numbers = numbers;
    return numbers && token_at(r, p)->kind == CLOSE ? p + 1 : 0;
}

static bool take_bracket(struct reader *r)
{
    unsigned numbers = 0, end = bracket_end(r, r->at, &numbers);
    const struct token *first = token_at(r, r->at + 1);
    bool is_begin = true;
    for (unsigned i = 0; i < r->at; i++)
        is_begin = is_begin && (token_at(r, i)->kind == IGNORED || token_at(r, i)->kind == BREAK ||
                                token_at(r, i)->kind == OPEN || token_at(r, i)->kind == CLOSE);
    if (*token_at(r, r->at)->text != '[' || !end)
        return false;
    if (r->run_length && kind_of(token_at(r, r->run + r->run_length - 1), true) !=
                             ORCH_PRINTED_VALUE) { /* Epoch [1/5], Epoch: [0] */
        r->at++;
        take_named(r, first);
        r->at = end;
        return true;
    }
    bool follows_epoch = r->counter == ORCH_PRINTED_EPOCH && !r->run_length;
    if (!follows_epoch && !is_begin)
        return false;
    const struct token *second = token_at(r, r->at + 3);
    bool is_pair = numbers == 2 && !follows_epoch && second->kind == NUMBER;
    struct orch_printed_value *value =
        add_value(r, is_pair ? ORCH_PRINTED_EPOCH : ORCH_PRINTED_STEP);
    if (value)
        set_number(value, first);
    if (is_pair && (value = add_value(r, ORCH_PRINTED_STEP)))
        set_number(value, second);
    r->counter = ORCH_PRINTED_VALUE;
    r->at = end;
    return true;
}

/* Handles a number without a name. */
static void take_unnamed(struct reader *r, const struct token *token)
{
    bool is_begin = r->at == 0;
    bool is_percent = strcmp(token->unit, "%") == 0;
    if (is_begin && (token->kind == COUNT || is_percent))
        r->out->is_progress = true;
    if (token->kind == NUMBER && !token->unit[0]) {
        r->out->is_pure = false;
        r->is_after_prose = true;
    }
    r->at++;
}

static void take_token(struct reader *r)
{
    const struct token *token = token_at(r, r->at);
    switch (token->kind) {
    case WORD:
        if (r->is_assigned)
            drop_run(r);
        if (!r->run_length)
            r->run = r->at;
        r->run_length++;
        r->at++;
        return;
    case ASSIGN:
        if (r->is_assigned || !r->run_length)
            drop_run(r);
        r->is_assigned = r->run_length > 0;
        r->at++;
        return;
    case NUMBER:
    case COUNT:
    case UNREAD:
        r->out->has_number = true;
        if (r->run_length)
            take_named(r, token);
        else
            take_unnamed(r, token);
        return;
    case OPEN:
        if (!take_bracket(r)) {
            drop_run(r);
            r->at++;
        }
        return;
    default: /* a time of day is not a value: "ETA: 0:10" */
        drop_run(r);
        r->counter = token->kind == BREAK ? ORCH_PRINTED_VALUE : r->counter;
        r->is_after_prose = false;
        r->at++;
    }
}

static void read_text(struct orch_printed_line *out, const char *text, size_t length)
{
    g_autofree struct tokens *tokens = g_new(struct tokens, 1);
    tokenize(tokens, text, length);
    struct reader r = {.out = out, .tokens = tokens, .counter = ORCH_PRINTED_VALUE};
    while (r.at < tokens->count)
        take_token(&r);
    drop_run(&r);
}

/* ---- JSON --------------------------------------------------------------------------------------
 */

static bool read_json_number(const json_t *value, struct orch_printed_value *out)
{
    const char *text = json_string_value(value);
    if (!text)
        return orch_json_get_real(value, &out->value);
    struct token token = {.text = text, .length = strlen(text), .total = NAN};
    const char *end = text + token.length;
    const char *behind = orch_printed_number(text, end, &token.value, token.unit);
    if (!behind || behind != end)
        return false;
    set_number(out, &token);
    return true;
}

static void read_object(struct reader *r, const json_t *object, const char *above, int depth)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        struct orch_printed_value found = {
            .value = NAN, .total = NAN, .printed_percent = NAN, .is_sure = true};
        struct token word = {.kind = WORD, .text = key, .length = strlen(key)};
        g_strlcpy(found.name, above, sizeof found.name);
        if (!append_name(found.name, key, strlen(key)) ||
            !append_name(found.last, key, strlen(key)))
            continue;
        if (json_is_object(value)) {
            if (depth < JSON_DEPTH_MAX)
                read_object(r, value, found.name, depth + 1);
            continue;
        }
        if (!read_json_number(value, &found))
            continue;
        r->out->has_number = true;
        found.kind = *above ? ORCH_PRINTED_VALUE : kind_of(&word, false);
        struct orch_printed_value *place =
            g_ascii_isalpha(found.name[0]) || found.kind != ORCH_PRINTED_VALUE
                ? add_value(r, found.kind)
                : NULL;
        if (place)
            *place = found;
    }
}

void orch_printed_line_init(struct orch_printed_line *line)
{
    *line = (struct orch_printed_line){
        .values = g_array_new(FALSE, FALSE, sizeof(struct orch_printed_value))};
}

void orch_printed_line_clear(struct orch_printed_line *line)
{
    g_clear_pointer(&line->values, g_array_unref);
}

void orch_printed_line_parse(struct orch_printed_line *out, const char *text, size_t length)
{
    g_array_set_size(out->values, 0);
    out->has_number = out->is_progress = false;
    out->is_pure = true;
    while (length && g_ascii_isspace(*text))
        text++, length--;
    if (length && *text == '{') {
        g_autoptr(json_t) object = orch_json_parse(text, length, length, NULL);
        struct reader r = {.out = out};
        if (json_is_object(object)) {
            read_object(&r, object, "", 0);
            return;
        }
    }
    read_text(out, text, length);
}
