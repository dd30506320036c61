/* SPDX-License-Identifier: MIT */
/* Splits a line into words, numbers and marks; the words before a number form its name. Regular
 * expressions were rejected: formats combine freely ("Epoch [1/5], Step [100/600], Loss: 2.2"), and
 * callers need to know which parts were not understood. */
#include "lib/wire/printed.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/printed_time_left.h"
#include "lib/wire/printed_tokens.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 256, NAME_WORDS_MAX = 3, JSON_DEPTH_MAX = 4 };

/* ---- names -------------------------------------------------------------------------------------
 */

static bool token_is(const struct orch_printed_token *token, const char *const *words)
{
    return token->kind == TOKEN_WORD && orch_printed_word_is(token->text, token->length, words);
}

static const char *const EPOCH_WORDS[] = {"epoch", "ep", "round", "episode", NULL};
static const char *const STEP_WORDS[] = {
    "step",   "global_step", "_step",           "iter", "iteration", "itr",
    "update", "timestep",    "total_timesteps", NULL};
/* These count steps only in an unambiguous form: "batch 3/10", whereas batch=64 is a setting. */
static const char *const BATCH_WORDS[] = {"batch", "it", "mini_batch", "minibatch", NULL};
/* Behind "3/10" */
static const char *const COUNTED_WORDS[] = {"steps",   "iters",       "iterations",
                                            "batches", "minibatches", NULL};
static const char *const LEVEL_WORDS[] = {"info",  "debug",  "warning",  "warn", "error",
                                          "trace", "notice", "critical", "root", NULL};
static const char *const COPULAS[] = {"is", "was", "of", "at", NULL};
static const char *const PREPOSITIONS[] = {"in", "at",   "for",  "to",    "on", "with",
                                           "by", "from", "than", "after", "of", NULL};
/* Before a word for a step: the step is that of something else ("best epoch 3"). */
static const char *const OTHER_WORDS[] = {"best", "since", "last",  "total",    "max",
                                          "min",  "num",   "until", "patience", NULL};
/* A whole number after one of these names a place or a process and measures nothing. */
static const char *const PLACE_WORDS[] = {
    "pid",        "ppid",           "tid",    "rank",    "local_rank", "global_rank",
    "dataloader", "dataloader_idx", "line",   "port",    "gpu",        "cuda",
    "device",     "node",           "worker", "process", "proc",       "thread",
    "job_id",     "jobid",          NULL};
static const char *const RANK_WORDS[] = {"rank", "local_rank", "global_rank", NULL};
static const char *const SET_WORDS[] = {"set", "phase", "loop", "results", "metrics", NULL};
static const struct {
    const char *word, *label;
} LABELS[] = {{"train", "train"},  {"training", "train"}, {"val", "val"},
              {"valid", "val"},    {"validation", "val"}, {"test", "test"},
              {"testing", "test"}, {"eval", "eval"},      {"evaluation", "eval"}};

static const char *label_of(const struct orch_printed_token *token)
{
    const char first = token->length ? g_ascii_tolower(*token->text) : 0;
    for (size_t i = 0; token->kind == TOKEN_WORD && i < G_N_ELEMENTS(LABELS); i++)
        if (*LABELS[i].word == first && strlen(LABELS[i].word) == token->length &&
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
    return orch_printed_word_is(last, strlen(last), usual);
}

/* The letter or digit at `at`, in lower case, and its length in bytes; 0 for any other sign. */
static gunichar name_letter(const char *at, const char *end, size_t *out_bytes)
{
    *out_bytes = 1;
    if ((unsigned char)*at < 0x80)
        return g_ascii_isalnum(*at) ? (gunichar)g_ascii_tolower(*at) : 0;
    gunichar c = g_utf8_get_char_validated(at, end - at);
    if (c == (gunichar)-1 || c == (gunichar)-2)
        return 0;
    *out_bytes = (size_t)g_unichar_to_utf8(c, NULL);
    return g_unichar_isalnum(c) || g_unichar_ismark(c) ? g_unichar_tolower(c) : 0;
}

/* Appends a word to a name: lower case, other characters as '_'. False if it does not fit. */
static bool append_name(char out[ORCH_PRINTED_NAME_CHARS], const char *word, size_t length)
{
    const char *end = word + length;
    size_t at = strlen(out), bytes;
    if (at && at + 1 < ORCH_PRINTED_NAME_CHARS && out[at - 1] != '_')
        out[at++] = '_';
    for (const char *p = word; p < end; p += bytes) {
        gunichar c = name_letter(p, end, &bytes);
        if (!c && (at == 0 || out[at - 1] == '_'))
            continue;
        if (c < 0x80) {
            if (at + 1 >= ORCH_PRINTED_NAME_CHARS)
                return false;
            out[at++] = c ? (char)c : '_';
            continue;
        }
        char letter[6];
        size_t letter_bytes = (size_t)g_unichar_to_utf8(c, letter);
        if (at + letter_bytes >= ORCH_PRINTED_NAME_CHARS)
            return false;
        memcpy(out + at, letter, letter_bytes);
        at += letter_bytes;
    }
    while (at && out[at - 1] == '_')
        at--;
    out[at] = 0;
    return true;
}

/* True if a name begins with a letter. */
static bool begins_with_letter(const char *name)
{
    return g_ascii_isalpha(*name) ||
           ((unsigned char)*name >= 0x80 && g_unichar_isalpha(g_utf8_get_char(name)));
}

/* A hash of a word as printed, but for the case of its letters. */
static unsigned hash_word(unsigned hash, const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = hash * 33 + (unsigned char)g_ascii_tolower(word[i]);
    return hash * 33 + ' ';
}

/* ---- from tokens to values ---------------------------------------------------------------------
 */

struct reader {
    struct orch_printed_line *out;
    const struct orch_printed_tokens *tokens;
    unsigned at;
    unsigned run, run_length;       /* words directly before `at`, which may become a name */
    unsigned remark, remark_length; /* tokens in brackets behind them, before ':' or '=' */
    bool is_assigned;               /* they are followed by ':' or '=' */
    bool is_after_prose; /* they follow a number within a sentence, without a separator */
    const char *label;   /* "train", "val", ... for following values; NULL: none */
    enum orch_printed_kind counter; /* kind of the last value: EPOCH, STEP or VALUE */
    bool has_value;                 /* a value was read */
    int parentheses;                /* that are open */
};

static const struct orch_printed_token *token_at(const struct reader *r, unsigned at)
{
    static const struct orch_printed_token none = {.kind = TOKEN_BREAK, .text = ""};
    return at < r->tokens->count ? &r->tokens->all[at] : &none;
}

static struct orch_printed_value *add_value(struct reader *r, enum orch_printed_kind kind)
{
    if (r->out->values->len >= VALUES_MAX) {
        r->out->is_cut = true;
        return NULL;
    }
    struct orch_printed_value value = {
        .kind = kind, .value = NAN, .total = NAN, .printed_percent = NAN};
    g_array_append_val(r->out->values, value);
    return &g_array_index(r->out->values, struct orch_printed_value, r->out->values->len - 1);
}

static void end_run(struct reader *r)
{
    r->run_length = r->remark_length = 0;
    r->is_assigned = false;
}

/* Handles words without a value: a label for following values ("val:", "[train]", "Test set:"), a
 * log level, or prose. */
static void drop_run(struct reader *r)
{
    const struct orch_printed_token *first = token_at(r, r->run);
    bool is_label = r->run_length && label_of(first);
    for (unsigned i = 1; i < r->run_length; i++)
        is_label = is_label && token_is(token_at(r, r->run + i), SET_WORDS);
    if (is_label)
        r->label = label_of(first);
    else if (r->run_length && !(r->run_length == 1 && token_is(first, LEVEL_WORDS)))
        r->out->is_pure = r->out->is_pure && r->is_assigned; /* "Results:" is a heading */
    end_run(r);
}

/* Kind of counter that a name's last word denotes; `is_plain`: in a form not used for settings. */
static enum orch_printed_kind kind_of(const struct orch_printed_token *word, bool is_plain)
{
    const char *slash = memrchr(word->text, '/', word->length); /* "time/total_timesteps" */
    struct orch_printed_token last = *word;
    if (slash) {
        last.length = (size_t)(word->text + word->length - slash - 1);
        last.text = slash + 1;
    }
    if (token_is(&last, EPOCH_WORDS))
        return ORCH_PRINTED_EPOCH;
    bool counts = token_is(&last, STEP_WORDS) || (is_plain && token_is(&last, BATCH_WORDS));
    return counts ? ORCH_PRINTED_STEP : ORCH_PRINTED_VALUE;
}

/* Sets the name that the value has within a sentence: its last word, with the words directly before
 * that say of what it is, so that "the test loss 0.3" does not become the training's loss. */
static void set_short_name(const struct reader *r, unsigned last, struct orch_printed_value *value)
{
    static const char *const qualifiers[] = {"best",   "final", "mean", "average", "avg",
                                             "median", "min",   "max",  "total",   NULL};
    unsigned first = last;
    while (first > r->run && last - first < NAME_WORDS_MAX - 1 &&
           (label_of(token_at(r, first - 1)) || token_is(token_at(r, first - 1), qualifiers)))
        first--;
    bool has_label = !r->label || g_str_has_prefix(value->last, r->label);
    for (unsigned i = first; i < last; i++)
        has_label = has_label || label_of(token_at(r, i));
    if (!has_label)
        append_name(value->short_name, r->label, strlen(r->label));
    for (unsigned i = first; i <= last; i++)
        append_name(value->short_name, token_at(r, i)->text, token_at(r, i)->length);
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
    const struct orch_printed_token *last = token_at(r, first + length - 1);
    if (!append_name(value->last, last->text, last->length))
        return false;
    set_short_name(r, first + length - 1, value);
    if (length > NAME_WORDS_MAX)
        return false;
    if (r->label && g_strcmp0(label_of(token_at(r, first)), r->label) != 0 &&
        !g_str_has_prefix(value->last, r->label))
        append_name(value->name, r->label, strlen(r->label));
    for (unsigned i = 0; i < length; i++) {
        const struct orch_printed_token *word = token_at(r, first + i);
        value->spelling = hash_word(value->spelling, word->text, word->length);
        if (!append_name(value->name, word->text, word->length))
            return false;
    }
    for (unsigned i = 0; i < r->remark_length; i++) {
        const struct orch_printed_token *word = token_at(r, r->remark + i);
        value->spelling = hash_word(value->spelling, word->text, word->length);
        if (!append_name(value->name, word->text, word->length))
            return false;
    }
    return begins_with_letter(value->name) && begins_with_letter(value->last);
}

/* Treats "91.2 %" like "91.2%". */
static void set_percent(struct orch_printed_value *value, const struct orch_printed_token *number)
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
                      const struct orch_printed_token *number)
{
    const struct orch_printed_token *next = token_at(r, r->at);
    char unit[ORCH_PRINTED_UNIT_CHARS];
    const struct orch_printed_token *after = token_at(r, r->at + 1);
    bool is_name =
        after->kind == TOKEN_ASSIGN || after->kind == TOKEN_NUMBER || after->kind == TOKEN_COUNT;
    if (next->kind == TOKEN_WORD && next->length == 1 && *next->text == '%' && value &&
        !value->unit[0]) {
        set_percent(value, number);
        r->at++;
    } else if (value && value->kind != ORCH_PRINTED_VALUE && next->kind == TOKEN_WORD &&
               next->length == 2 && g_ascii_strncasecmp(next->text, "of", 2) == 0 &&
               after->kind == TOKEN_NUMBER) {
        value->total = after->value;
        r->at += 2;
    } else if (next->kind == TOKEN_WORD && value && !value->unit[0] && !is_name &&
               orch_printed_unit(next->text, next->length, unit)) {
        g_strlcpy(value->unit, unit, sizeof value->unit);
        r->at++;
    }
    if (token_at(r, r->at)->kind == TOKEN_PLUS && token_at(r, r->at + 1)->kind == TOKEN_NUMBER)
        r->at += 2;
    if (token_at(r, r->at)->kind == TOKEN_OPEN && *token_at(r, r->at)->text == '(') {
        unsigned close = r->at + 1;
        while (close < r->tokens->count && close < r->at + 8 &&
               token_at(r, close)->kind != TOKEN_CLOSE && token_at(r, close)->kind != TOKEN_WORD)
            close++;
        if (token_at(r, close)->kind == TOKEN_CLOSE)
            r->at = close + 1;
    }
}

static void set_number(struct orch_printed_value *value, const struct orch_printed_token *token)
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

static bool is_whole(const struct orch_printed_token *token)
{
    return token->kind == TOKEN_NUMBER && !token->unit[0] && token->value >= 0 &&
           token->value < 1e9 && floor(token->value) == token->value;
}

/* What the pending words say of the number after them. */
static enum orch_printed_kind kind_of_run(const struct reader *r,
                                          const struct orch_printed_token *number)
{
    const struct orch_printed_token *last = token_at(r, r->run + r->run_length - 1);
    if (is_whole(number) && token_is(last, PLACE_WORDS))
        return ORCH_PRINTED_PLACE;
    enum orch_printed_kind kind = kind_of(last, !r->is_assigned || number->kind == TOKEN_COUNT);
    for (unsigned i = 0; kind != ORCH_PRINTED_VALUE && i + 1 < r->run_length; i++)
        if (token_is(token_at(r, r->run + i), OTHER_WORDS))
            kind = ORCH_PRINTED_VALUE;
    return kind;
}

/* True if a counter at this place may be that of something else than the line. */
static bool is_late(const struct reader *r)
{
    const struct orch_printed_token *before = r->run ? token_at(r, r->run - 1) : NULL;
    bool is_apart = before && (before->kind == TOKEN_BREAK || before->kind == TOKEN_OPEN);
    return r->has_value &&
           (r->parentheses > 0 || r->run_length > 1 || !(r->is_assigned || is_apart));
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

/* "0.5533 / 0.0052" with blanks: two numbers, and which one is meant is not known. */
static bool is_spaced_pair(const struct reader *r, unsigned at)
{
    const struct orch_printed_token *joint = token_at(r, at);
    return joint->length == 1 && *joint->text == '/' && token_at(r, at + 1)->kind == TOKEN_NUMBER;
}

/* Skips the other numbers of a formula or of a pair. False: the number before stands alone. */
static bool skip_several(struct reader *r)
{
    if (is_spaced_pair(r, r->at)) {
        r->at += 2;
        return true;
    }
    bool is_formula = is_term(r, r->at);
    while (is_formula && r->at < r->tokens->count && token_at(r, r->at)->kind != TOKEN_BREAK)
        r->at++;
    return is_formula;
}

/* "1.2B" is a number already (printed_number.c); "7B parameters" is known by its words. */
static void count_billions(const struct reader *r, struct orch_printed_value *value)
{
    static const char *const counted[] = {"param", "tok", "flop", "sample", "weights"};
    const struct orch_printed_token *next = token_at(r, r->at);
    if (strcmp(value->unit, "B") != 0)
        return;
    for (size_t i = 0; i < G_N_ELEMENTS(counted); i++) {
        size_t length = strlen(counted[i]);
        bool is_next = next->kind == TOKEN_WORD && next->length >= length &&
                       g_ascii_strncasecmp(next->text, counted[i], length) == 0;
        if (!is_next && !strstr(value->name, counted[i]))
            continue;
        value->value *= 1e9;
        value->unit[0] = 0;
        return;
    }
}

/* Handles a number (at `at`) with words before it. */
static void take_named(struct reader *r, const struct orch_printed_token *number)
{
    const struct orch_printed_token *last = token_at(r, r->run + r->run_length - 1);
    enum orch_printed_kind kind = kind_of_run(r, number);
    bool is_value = kind == ORCH_PRINTED_VALUE || kind == ORCH_PRINTED_PLACE;
    bool is_prose =
        is_value && !r->is_assigned &&
        (token_is(last, PREPOSITIONS) || number->kind == TOKEN_COUNT); /* Downloading 3/10 */
    if (!is_value && r->run_length == 2 && label_of(token_at(r, r->run)))
        r->label = label_of(token_at(r, r->run)); /* Train Epoch: 1 */
    if (kind == ORCH_PRINTED_PLACE && r->out->rank < 0 && token_is(last, RANK_WORDS))
        r->out->rank = (int)number->value;
    const bool had_number = r->out->has_number;
    r->out->has_number = had_number || kind != ORCH_PRINTED_PLACE;
    r->at++;
    struct orch_printed_value *value = is_prose ? NULL : add_value(r, kind);
    if (value) {
        value->is_sure = r->is_assigned;
        value->is_late = !is_value && is_late(r);
        set_number(value, number);
        bool is_named = set_name(r, value) && !(is_value && r->is_after_prose);
        if (!is_named)
            value->name[0] = 0;
        if (is_value && number->kind == TOKEN_COUNT && number->total > 0) /* Accuracy: 9812/10000 */
            value->value = number->value / number->total;
        if (number->kind == TOKEN_UNREAD || (is_value && skip_several(r)))
            value->kind = ORCH_PRINTED_UNREAD;
        count_billions(r, value);
        is_prose = is_value && !is_named;
        r->has_value = r->has_value || kind == ORCH_PRINTED_VALUE;
    }
    r->is_after_prose = is_prose;
    r->out->is_pure = r->out->is_pure && !is_prose;
    r->counter = kind;
    take_rest(r, value, number);
    if (value && value->kind == ORCH_PRINTED_VALUE &&
        orch_printed_is_time_left(value->name, value->unit)) {
        value->kind = ORCH_PRINTED_PLACE;
        r->out->has_number = had_number;
    }
    end_run(r);
}

/* Recognises "[3/10]" or "[7]" at the start, "[1, 2000]" for epoch and batch, and "[10/5005]" after
 * an epoch. Returns the position after it; 0 for anything else. */
static unsigned bracket_end(const struct reader *r, unsigned at, unsigned *out_numbers)
{
    unsigned numbers = 0, p = at + 1;
    for (; p < r->tokens->count && p < at + 4 + 3; p++) {
        const struct orch_printed_token *token = token_at(r, p);
        if (token->kind == TOKEN_CLOSE)
            break;
        bool is_whole = (token->kind == TOKEN_NUMBER && !token->unit[0] && token->value >= 0 &&
                         floor(token->value) == token->value) ||
                        token->kind == TOKEN_COUNT;
        bool is_extra = numbers && (token->kind == TOKEN_BREAK || token->kind == TOKEN_OPEN ||
                                    token->kind == TOKEN_NUMBER);
        if (!is_whole && !is_extra)
            return 0;
        numbers += is_whole;
    }
    *out_numbers = numbers;
    return numbers && token_at(r, p)->kind == TOKEN_CLOSE ? p + 1 : 0;
}

static bool take_bracket(struct reader *r)
{
    unsigned numbers = 0, end = bracket_end(r, r->at, &numbers);
    const struct orch_printed_token *first = token_at(r, r->at + 1);
    bool is_begin = true;
    for (unsigned i = 0; i < r->at; i++)
        is_begin = is_begin &&
                   (token_at(r, i)->kind == TOKEN_IGNORED || token_at(r, i)->kind == TOKEN_BREAK ||
                    token_at(r, i)->kind == TOKEN_OPEN || token_at(r, i)->kind == TOKEN_CLOSE);
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
    const struct orch_printed_token *second = token_at(r, r->at + 3);
    bool is_pair = numbers == 2 && !follows_epoch && second->kind == TOKEN_NUMBER;
    unsigned next_numbers = 0, next_end = bracket_end(r, end, &next_numbers);
    if (!is_pair && !follows_epoch && numbers == 1 && *token_at(r, end)->text == '[' &&
        next_numbers == 1 && token_at(r, end + 1)->kind == TOKEN_COUNT) { /* [0/5][10/120] */
        is_pair = true;
        second = token_at(r, end + 1);
        end = next_end;
    }
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

/* "Epoch[1](10/120)", "Epoch(train) [1][10/120]": a count glued to the epoch's bracket is that of
 * the steps, and a word such as "train" between the name of a counter and its number says what is
 * measured. False for other brackets. */
static bool take_round_bracket(struct reader *r)
{
    const struct orch_printed_token *open = token_at(r, r->at), *inner = token_at(r, r->at + 1);
    const struct orch_printed_token *before = r->at ? token_at(r, r->at - 1) : NULL;
    if (!before || *open->text != '(' || before->text + before->length != open->text ||
        token_at(r, r->at + 2)->kind != TOKEN_CLOSE)
        return false;
    struct orch_printed_value *value = NULL;
    if (before->kind == TOKEN_CLOSE && r->counter == ORCH_PRINTED_EPOCH &&
        inner->kind == TOKEN_COUNT) {
        if ((value = add_value(r, ORCH_PRINTED_STEP)))
            set_number(value, inner);
    } else if (r->run_length && label_of(inner) && kind_of(before, true) != ORCH_PRINTED_VALUE) {
        r->label = label_of(inner);
    } else {
        return false;
    }
    r->at += 3;
    return true;
}

/* "NAME=[21.]", "NAME: [[0.5]]", "loss (0.5,)": an array of one number is that number. Of several
 * numbers it is not known which one is meant. False if no number follows. */
static bool take_array(struct reader *r)
{
    enum { NESTED_MAX = 4 };
    unsigned first = r->at, close;
    if (!r->run_length || *token_at(r, r->at)->text == '{' || *token_at(r, r->at)->text == '<')
        return false;
    while (first < r->at + NESTED_MAX && token_at(r, first)->kind == TOKEN_OPEN)
        first++;
    const struct orch_printed_token *number = token_at(r, first);
    if (number->kind != TOKEN_NUMBER && number->kind != TOKEN_UNREAD)
        return false;
    for (close = first + 1; token_at(r, close)->kind == TOKEN_BREAK && close < r->tokens->count;)
        close++;
    const struct orch_printed_token *last = token_at(r, r->run + r->run_length - 1);
    g_autofree char *word = g_strndup(last->text, last->length);
    bool is_one = token_at(r, close)->kind == TOKEN_CLOSE;
    if (!r->is_assigned && !(is_one && orch_printed_name_is_usual(word)))
        return false;
    struct orch_printed_token taken = *number;
    if (!is_one)
        taken.kind = TOKEN_UNREAD;
    while (close < r->tokens->count && token_at(r, close)->kind != TOKEN_CLOSE)
        close++;
    while (token_at(r, close)->kind == TOKEN_CLOSE && close < r->tokens->count)
        close++;
    r->at = close - 1; /* take_named goes on after it */
    take_named(r, &taken);
    return true;
}

/* "Mean return (last 10 episodes): 0.9": the brackets belong to the name. False for others. */
static bool take_remark(struct reader *r)
{
    enum { REMARK_MAX = 6 };
    unsigned at = r->at + 1;
    bool has_word = false;
    if (!r->run_length || r->is_assigned || *token_at(r, r->at)->text != '(' ||
        kind_of(token_at(r, r->at - 1), true) != ORCH_PRINTED_VALUE)
        return false;
    for (; at <= r->at + REMARK_MAX &&
           (token_at(r, at)->kind == TOKEN_WORD || token_at(r, at)->kind == TOKEN_NUMBER);
         at++)
        has_word = has_word || token_at(r, at)->kind == TOKEN_WORD;
    const enum orch_printed_token_kind value = token_at(r, at + 2)->kind;
    if (!has_word || token_at(r, at)->kind != TOKEN_CLOSE ||
        token_at(r, at + 1)->kind != TOKEN_ASSIGN ||
        (value != TOKEN_NUMBER && value != TOKEN_COUNT && value != TOKEN_UNREAD))
        return false;
    r->remark = r->at + 1;
    r->remark_length = at - r->remark;
    if (r->remark_length == 1 && label_of(token_at(r, r->remark))) { /* "Accuracy (test): 0.5" */
        r->label = label_of(token_at(r, r->remark));
        r->remark_length = 0;
    }
    r->at = at + 1;
    return true;
}

/* "10/120 batches": steps. */
static void take_counted(struct reader *r, const struct orch_printed_token *count)
{
    struct orch_printed_value *value = add_value(r, ORCH_PRINTED_STEP);
    if (value) {
        set_number(value, count);
        value->is_late = r->has_value;
    }
    r->at++;
}

/* Handles a number without a name. */
static void take_unnamed(struct reader *r, const struct orch_printed_token *token)
{
    bool is_begin = r->at == 0;
    bool is_percent = strcmp(token->unit, "%") == 0;
    if (is_begin && (token->kind == TOKEN_COUNT || is_percent))
        r->out->is_progress = true;
    if (token->kind == TOKEN_NUMBER && !token->unit[0]) {
        r->out->is_pure = false;
        r->is_after_prose = true;
    }
    r->at++;
    if (token->kind == TOKEN_COUNT && token_is(token_at(r, r->at), COUNTED_WORDS))
        take_counted(r, token);
}

static void take_token(struct reader *r)
{
    const struct orch_printed_token *token = token_at(r, r->at);
    switch (token->kind) {
    case TOKEN_WORD:
        if (r->is_assigned)
            drop_run(r);
        if (!r->run_length)
            r->run = r->at;
        r->run_length++;
        r->at++;
        return;
    case TOKEN_ASSIGN:
        if (r->is_assigned || !r->run_length)
            drop_run(r);
        r->is_assigned = r->run_length > 0;
        r->at++;
        return;
    case TOKEN_NUMBER:
    case TOKEN_COUNT:
    case TOKEN_UNREAD:
        if (r->run_length) {
            take_named(r, token);
        } else {
            r->out->has_number = true;
            take_unnamed(r, token);
        }
        return;
    case TOKEN_OPEN:
        if (take_bracket(r) || take_round_bracket(r) || take_remark(r) || take_array(r))
            return;
        r->parentheses += *token->text == '(';
        drop_run(r);
        r->at++;
        return;
    default: /* a time of day is not a value: "ETA: 0:10" */
        r->parentheses -= token->kind == TOKEN_CLOSE && *token->text == ')' && r->parentheses;
        drop_run(r);
        r->counter = token->kind == TOKEN_BREAK ? ORCH_PRINTED_VALUE : r->counter;
        r->is_after_prose = false;
        r->at++;
    }
}

/* The rank in "[GPU1] ...", "Rank 1: ...", "[default1]: ...", "[1,3]<stdout>: ..." at the beginning
 * of a line, and the token after it; -1: none. */
static int first_rank(const struct orch_printed_tokens *tokens, unsigned *out_at)
{
    static const char *const words[] = {"rank", "gpu", "default", "process", "worker", NULL};
    const struct orch_printed_token *t = tokens->all;
    unsigned at = tokens->count && t[0].kind == TOKEN_OPEN;
    if (tokens->count < at + 3)
        return -1;
    if (at && t[1].kind == TOKEN_NUMBER && t[2].kind == TOKEN_BREAK && *t[2].text == ',' &&
        tokens->count > 6 && is_whole(&t[3]) && t[4].kind == TOKEN_CLOSE &&
        t[5].kind == TOKEN_OPEN && *t[5].text == '<') {
        *out_at = 8; /* of mpirun --tag-output */
        return (int)t[3].value;
    }
    size_t letters = t[at].length;
    while (t[at].kind == TOKEN_WORD && letters && g_ascii_isdigit(t[at].text[letters - 1]))
        letters--;
    bool is_glued = letters < t[at].length && t[at].length - letters <= 5;
    const struct orch_printed_token *after = &t[at + 1 + !is_glued];
    bool is_apart = after->kind == TOKEN_CLOSE || after->kind == TOKEN_ASSIGN ||
                    (after->kind == TOKEN_BREAK && *after->text == '|');
    if (t[at].kind != TOKEN_WORD || !orch_printed_word_is(t[at].text, letters, words) ||
        !is_apart || (!is_glued && !is_whole(&t[at + 1])))
        return -1;
    *out_at = at + 2 + !is_glued;
    return is_glued ? atoi(t[at].text + letters) : (int)t[at + 1].value;
}

static void read_text(struct orch_printed_line *out, const char *text, size_t length)
{
    g_autofree struct orch_printed_tokens *tokens = g_new(struct orch_printed_tokens, 1);
    orch_printed_tokenize(tokens, text, length);
    out->is_cut = tokens->count >= ORCH_PRINTED_TOKENS_MAX;
    struct reader r = {.out = out, .tokens = tokens, .counter = ORCH_PRINTED_VALUE};
    out->rank = tokens->rank >= 0 ? tokens->rank : first_rank(tokens, &r.at);
    bool is_summary = length && *text == '*'; /* " * Acc@1 0.68" below "Test: [195/196] ..." */
    r.label = is_summary ? out->label : NULL;
    while (r.at < tokens->count)
        take_token(&r);
    drop_run(&r);
    out->label = r.label;
}

/* ---- JSON --------------------------------------------------------------------------------------
 */

static bool read_json_number(const json_t *value, struct orch_printed_value *out)
{
    const char *text = json_string_value(value);
    if (!text)
        return orch_json_get_real(value, &out->value);
    struct orch_printed_token token = {.text = text, .length = strlen(text), .total = NAN};
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
        struct orch_printed_token word = {.kind = TOKEN_WORD, .text = key, .length = strlen(key)};
        g_strlcpy(found.name, above, sizeof found.name);
        if (!append_name(found.name, key, strlen(key)) ||
            !append_name(found.last, key, strlen(key)))
            continue;
        if (json_is_object(value)) {
            if (depth < JSON_DEPTH_MAX)
                read_object(r, value, found.name, depth + 1);
            continue;
        }
        bool is_unread = json_is_array(value) && json_is_number(json_array_get(value, 0));
        if (!is_unread && !read_json_number(value, &found))
            continue;
        if (orch_printed_is_time_left(found.name, found.unit))
            continue;
        r->out->has_number = true;
        found.spelling = hash_word(0, key, strlen(key));
        found.kind = is_unread ? ORCH_PRINTED_UNREAD
                     : *above  ? ORCH_PRINTED_VALUE
                               : kind_of(&word, false);
        if (!*above && token_is(&word, RANK_WORDS)) {
            if (found.value >= 0 && found.value < 1e5)
                r->out->rank = (int)found.value;
            continue;
        }
        struct orch_printed_value *place =
            begins_with_letter(found.name) || found.kind != ORCH_PRINTED_VALUE
                ? add_value(r, found.kind)
                : NULL;
        if (place)
            *place = found;
    }
}

void orch_printed_line_init(struct orch_printed_line *line)
{
    *line = (struct orch_printed_line){
        .values = g_array_new(FALSE, FALSE, sizeof(struct orch_printed_value)),
        .folded = g_string_new(NULL),
        .row = g_string_new(NULL),
        .rank = -1};
}

void orch_printed_line_clear(struct orch_printed_line *line)
{
    g_clear_pointer(&line->values, g_array_unref);
    g_string_free(line->folded, TRUE);
    g_string_free(line->row, TRUE);
    orch_printed_table_clear(&line->table);
}

void orch_printed_line_parse(struct orch_printed_line *out, const char *text, size_t length)
{
    g_array_set_size(out->values, 0);
    out->has_number = out->is_progress = out->is_row = out->is_cut = false;
    out->is_pure = true;
    out->rank = -1;
    if (orch_printed_fold_line(text, length, out->folded)) {
        text = out->folded->str;
        length = out->folded->len;
    }
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
    if (orch_printed_fold_row(&out->table, text, length, out->row, &out->is_row)) {
        text = out->row->str;
        length = out->row->len;
    }
    read_text(out, text, length);
}
