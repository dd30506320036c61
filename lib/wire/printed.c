/* SPDX-License-Identifier: MIT */
/* Splits a line into words, numbers and marks; the words before a number form its name. Regular
 * expressions were rejected: formats combine freely ("Epoch [1/5], Step [100/600], Loss: 2.2"), and
 * callers need to know which parts were not understood. */
#include "lib/wire/printed.h"

#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <stdlib.h>
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
    int rank; /* "[rank1]"; -1: none */
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

/* A quick look before a duration is read: a number, perhaps a space, the letter of a unit. */
static bool may_be_duration(const char *at, const char *end)
{
    while (at < end && (g_ascii_isdigit(*at) || *at == '.'))
        at++;
    if (at < end && *at == ' ')
        at++;
    return at < end && *at && strchr("wdhmsWDHMS", *at);
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
    if (may_be_duration(at, end) && (behind = orch_printed_duration(at, end, &token->value))) {
        g_strlcpy(token->unit, "s", sizeof token->unit);
        return behind;
    }
    if ((behind = orch_printed_number(at, end, &token->value, token->unit)))
        return behind;
    token->kind = UNREAD;
    for (behind = at + 1; behind < end && (is_word_char(*behind) || *behind == ',');)
        behind++;
    return behind;
}

/* ---- numbers inside the name of their type -----------------------------------------------------
 */

static bool is_one_of(const char *word, size_t length, const char *const *words)
{
    char first = length ? g_ascii_tolower(*word) : 0;
    for (; *words; words++)
        if (**words == first && strlen(*words) == length &&
            g_ascii_strncasecmp(*words, word, length) == 0)
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
static void read_inner(const char *at, const char *end, struct token *token)
{
    while (at < end && (g_ascii_isspace(*at) || strchr("[('\"", *at)))
        at++;
    token->text = at;
    const char *behind = orch_printed_number(at, end, &token->value, token->unit);
    token->kind = behind ? NUMBER : UNREAD;
    while (behind && behind < end && (g_ascii_isspace(*behind) || strchr("])'\"", *behind)))
        behind++;
    if (behind && behind < end && *behind == ',') { /* another number, or the name of an option? */
        for (behind++; behind < end && g_ascii_isspace(*behind);)
            behind++;
        if (behind < end && (g_ascii_isdigit(*behind) || strchr("+-.[", *behind)))
            token->kind = UNREAD;
    } else if (behind && behind < end) {
        token->kind = UNREAD;
    }
}

/* "tensor(0.5, device='cuda:0')", "np.float64(0.85)": the number. NULL for any other word. */
static const char *read_wrapped(const char *at, const char *word_end, const char *end,
                                struct token *token)
{
    const char *part = last_part(at, word_end);
    if (word_end >= end || *word_end != '(' ||
        !is_one_of(part, (size_t)(word_end - part), TYPE_NAMES))
        return NULL;
    const char *behind = closing(word_end, end);
    if (behind)
        read_inner(word_end + 1, behind - 1, token);
    return behind;
}

/* "<tf.Tensor: shape=(), dtype=float32, numpy=0.75>". NULL for any other text. */
static const char *read_tagged(const char *at, const char *end, struct token *token)
{
    static const char tag[] = "<tf.", mark[] = "numpy=";
    if ((size_t)(end - at) < sizeof tag || memcmp(at, tag, sizeof tag - 1) != 0)
        return NULL;
    const char *behind = closing(at, end);
    const char *number = behind ? memmem(at, (size_t)(behind - at), mark, sizeof mark - 1) : NULL;
    token->kind = IGNORED;
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
    bool is_file = part > at && is_one_of(part, (size_t)(word_end - part), SOURCE_ENDINGS);
    if (!is_file && !is_one_of(name, (size_t)(word_end - name), DEVICES))
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
    if (!digits || digits > 5 || !is_one_of(word, letters, names))
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
static const char *read_word(const char *at, const char *end, struct token *token, int *rank)
{
    const char *p = at, *behind;
    while (p < end && is_word_char(*p) && !space_bytes(p, end))
        p++;
    if ((behind = read_wrapped(at, p, end, token)))
        return behind;
    p = bracketed_name_end(p, end);
    token->kind = IGNORED;
    if (p < end && *p == ':' && (behind = place_end(at, p, end)))
        return behind;
    int printed_rank = rank_of(at, (size_t)(p - at));
    if (printed_rank >= 0) {
        *rank = *rank < 0 ? printed_rank : *rank;
        return p;
    }
    token->kind = WORD;
    bool is_dash = true;
    for (const char *c = at; c < p; c++)
        is_dash = is_dash && strchr("-.", *c);
    if (is_dash)
        token->kind = BREAK;
    else if ((!has_letters(at, p) && !(p - at == 1 && *at == '%')) ||
             memchr(at, '\\', (size_t)(p - at)))
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
    tokens->rank = -1;
    for (const char *at = text; at < end && tokens->count < TOKENS_MAX;) {
        size_t skip = orch_printed_escape_bytes(at, end);
        skip = skip ? skip : space_bytes(at, end);
        if (skip) {
            at += skip;
            continue;
        }
        struct token token = {.text = at, .value = NAN, .total = NAN};
        const enum token_kind before = tokens->count ? tokens->all[tokens->count - 1].kind : BREAK;
        bool after_word = before == WORD || before == ASSIGN;
        const char *behind;
        if (*at == '<' && (behind = read_tagged(at, end, &token))) {
            /* the number within, or nothing */
        } else if (end - at >= 2 && memcmp(at, "\xc2\xb1", 2) == 0) {
            token.kind = PLUS;
            behind = at + 2;
        } else if (end - at >= 3 && (memcmp(at, "+/-", 3) == 0 || memcmp(at, "+- ", 3) == 0)) {
            token.kind = PLUS;
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

/* ---- names -------------------------------------------------------------------------------------
 */

static bool token_is(const struct token *token, const char *const *words)
{
    return token->kind == WORD && is_one_of(token->text, token->length, words);
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
    const struct tokens *tokens;
    unsigned at;
    unsigned run, run_length; /* words directly before `at`, which may become a name */
    bool is_assigned;         /* they are followed by ':' or '=' */
    bool is_after_prose;      /* they follow a number within a sentence, without a separator */
    const char *label;        /* "train", "val", ... for following values; NULL: none */
    enum orch_printed_kind counter; /* kind of the last value: EPOCH, STEP or VALUE */
    bool has_value;                 /* a value was read */
    int parentheses;                /* that are open */
};

static const struct token *token_at(const struct reader *r, unsigned at)
{
    static const struct token none = {.kind = BREAK, .text = ""};
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
    r->run_length = 0;
    r->is_assigned = false;
}

/* Handles words without a value: a label for following values ("val:", "[train]", "Test set:"), a
 * log level, or prose. */
static void drop_run(struct reader *r)
{
    const struct token *first = token_at(r, r->run);
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
static enum orch_printed_kind kind_of(const struct token *word, bool is_plain)
{
    const char *slash = memrchr(word->text, '/', word->length); /* "time/total_timesteps" */
    struct token last = *word;
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
    const struct token *last = token_at(r, first + length - 1);
    if (!append_name(value->last, last->text, last->length))
        return false;
    set_short_name(r, first + length - 1, value);
    if (length > NAME_WORDS_MAX)
        return false;
    if (r->label && g_strcmp0(label_of(token_at(r, first)), r->label) != 0 &&
        !g_str_has_prefix(value->last, r->label))
        append_name(value->name, r->label, strlen(r->label));
    for (unsigned i = 0; i < length; i++) {
        const struct token *word = token_at(r, first + i);
        value->spelling = hash_word(value->spelling, word->text, word->length);
        if (!append_name(value->name, word->text, word->length))
            return false;
    }
    return begins_with_letter(value->name) && begins_with_letter(value->last);
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

static bool is_whole(const struct token *token)
{
    return token->kind == NUMBER && !token->unit[0] && token->value >= 0 && token->value < 1e9 &&
           floor(token->value) == token->value;
}

/* What the pending words say of the number after them. */
static enum orch_printed_kind kind_of_run(const struct reader *r, const struct token *number)
{
    const struct token *last = token_at(r, r->run + r->run_length - 1);
    if (is_whole(number) && token_is(last, PLACE_WORDS))
        return ORCH_PRINTED_PLACE;
    enum orch_printed_kind kind = kind_of(last, !r->is_assigned || number->kind == COUNT);
    for (unsigned i = 0; kind != ORCH_PRINTED_VALUE && i + 1 < r->run_length; i++)
        if (token_is(token_at(r, r->run + i), OTHER_WORDS))
            kind = ORCH_PRINTED_VALUE;
    return kind;
}

/* True if a counter at this place may be that of something else than the line. */
static bool is_late(const struct reader *r)
{
    const struct token *before = r->run ? token_at(r, r->run - 1) : NULL;
    bool is_apart = before && (before->kind == BREAK || before->kind == OPEN);
    return r->has_value &&
           (r->parentheses > 0 || r->run_length > 1 || !(r->is_assigned || is_apart));
}

/* A token such as "x^2" between a number and a signed one: a term of "y = -3.6 x^2 +0.4 x^1", where
 * the number before it is a coefficient and not the value of y. */
static bool is_term(const struct reader *r, unsigned at)
{
    const struct token *word = token_at(r, at), *after = token_at(r, at + 1);
    const char *power = word->kind == WORD ? memchr(word->text, '^', word->length) : NULL;
    return power && power + 1 < word->text + word->length && g_ascii_isdigit(power[1]) &&
           after->kind == NUMBER && strchr("+-", *after->text);
}

/* "0.5533 / 0.0052" with blanks: two numbers, and which one is meant is not known. */
static bool is_spaced_pair(const struct reader *r, unsigned at)
{
    const struct token *joint = token_at(r, at);
    return joint->length == 1 && *joint->text == '/' && token_at(r, at + 1)->kind == NUMBER;
}

/* Skips the other numbers of a formula or of a pair. False: the number before stands alone. */
static bool skip_several(struct reader *r)
{
    if (is_spaced_pair(r, r->at)) {
        r->at += 2;
        return true;
    }
    bool is_formula = is_term(r, r->at);
    while (is_formula && r->at < r->tokens->count && token_at(r, r->at)->kind != BREAK)
        r->at++;
    return is_formula;
}

/* "1.2B" is a number already (printed_number.c); "7B parameters" is known by its words. */
static void count_billions(const struct reader *r, struct orch_printed_value *value)
{
    static const char *const counted[] = {"param", "tok", "flop", "sample", "weights"};
    const struct token *next = token_at(r, r->at);
    if (strcmp(value->unit, "B") != 0)
        return;
    for (size_t i = 0; i < G_N_ELEMENTS(counted); i++) {
        size_t length = strlen(counted[i]);
        bool is_next = next->kind == WORD && next->length >= length &&
                       g_ascii_strncasecmp(next->text, counted[i], length) == 0;
        if (!is_next && !strstr(value->name, counted[i]))
            continue;
        value->value *= 1e9;
        value->unit[0] = 0;
        return;
    }
}

/* Handles a number (at `at`) with words before it. */
static void take_named(struct reader *r, const struct token *number)
{
    const struct token *last = token_at(r, r->run + r->run_length - 1);
    enum orch_printed_kind kind = kind_of_run(r, number);
    bool is_value = kind == ORCH_PRINTED_VALUE || kind == ORCH_PRINTED_PLACE;
    bool is_prose = is_value && !r->is_assigned &&
                    (token_is(last, PREPOSITIONS) || number->kind == COUNT); /* Downloading 3/10 */
    if (!is_value && r->run_length == 2 && label_of(token_at(r, r->run)))
        r->label = label_of(token_at(r, r->run)); /* Train Epoch: 1 */
    if (kind == ORCH_PRINTED_PLACE && r->out->rank < 0 && token_is(last, RANK_WORDS))
        r->out->rank = (int)number->value;
    r->out->has_number = r->out->has_number || kind != ORCH_PRINTED_PLACE;
    r->at++;
    struct orch_printed_value *value = is_prose ? NULL : add_value(r, kind);
    if (value) {
        value->is_sure = r->is_assigned;
        value->is_late = !is_value && is_late(r);
        set_number(value, number);
        bool is_named = set_name(r, value) && !(is_value && r->is_after_prose);
        if (!is_named)
            value->name[0] = 0;
        if (is_value && number->kind == COUNT && number->total > 0) /* Accuracy: 9812/10000 */
            value->value = number->value / number->total;
        if (number->kind == UNREAD || (is_value && skip_several(r)))
            value->kind = ORCH_PRINTED_UNREAD;
        count_billions(r, value);
        is_prose = is_value && !is_named;
        r->has_value = r->has_value || kind == ORCH_PRINTED_VALUE;
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
    unsigned next_numbers = 0, next_end = bracket_end(r, end, &next_numbers);
    if (!is_pair && !follows_epoch && numbers == 1 && *token_at(r, end)->text == '[' &&
        next_numbers == 1 && token_at(r, end + 1)->kind == COUNT) { /* [0/5][10/120] */
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
    const struct token *open = token_at(r, r->at), *inner = token_at(r, r->at + 1);
    const struct token *before = r->at ? token_at(r, r->at - 1) : NULL;
    if (!before || *open->text != '(' || before->text + before->length != open->text ||
        token_at(r, r->at + 2)->kind != CLOSE)
        return false;
    struct orch_printed_value *value = NULL;
    if (before->kind == CLOSE && r->counter == ORCH_PRINTED_EPOCH && inner->kind == COUNT) {
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
    while (first < r->at + NESTED_MAX && token_at(r, first)->kind == OPEN)
        first++;
    const struct token *number = token_at(r, first);
    if (number->kind != NUMBER && number->kind != UNREAD)
        return false;
    for (close = first + 1; token_at(r, close)->kind == BREAK && close < r->tokens->count;)
        close++;
    const struct token *last = token_at(r, r->run + r->run_length - 1);
    g_autofree char *word = g_strndup(last->text, last->length);
    bool is_one = token_at(r, close)->kind == CLOSE;
    if (!r->is_assigned && !(is_one && orch_printed_name_is_usual(word)))
        return false;
    struct token taken = *number;
    if (!is_one)
        taken.kind = UNREAD;
    while (close < r->tokens->count && token_at(r, close)->kind != CLOSE)
        close++;
    while (token_at(r, close)->kind == CLOSE && close < r->tokens->count)
        close++;
    r->at = close - 1; /* take_named goes on after it */
    take_named(r, &taken);
    return true;
}

/* "10/120 batches": steps. */
static void take_counted(struct reader *r, const struct token *count)
{
    struct orch_printed_value *value = add_value(r, ORCH_PRINTED_STEP);
    if (value) {
        set_number(value, count);
        value->is_late = r->has_value;
    }
    r->at++;
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
    if (token->kind == COUNT && token_is(token_at(r, r->at), COUNTED_WORDS))
        take_counted(r, token);
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
        if (r->run_length) {
            take_named(r, token);
        } else {
            r->out->has_number = true;
            take_unnamed(r, token);
        }
        return;
    case OPEN:
        if (take_bracket(r) || take_round_bracket(r) || take_array(r))
            return;
        r->parentheses += *token->text == '(';
        drop_run(r);
        r->at++;
        return;
    default: /* a time of day is not a value: "ETA: 0:10" */
        r->parentheses -= token->kind == CLOSE && *token->text == ')' && r->parentheses;
        drop_run(r);
        r->counter = token->kind == BREAK ? ORCH_PRINTED_VALUE : r->counter;
        r->is_after_prose = false;
        r->at++;
    }
}

/* The rank in "[GPU1] ...", "Rank 1: ...", "[default1]: ...", "[1,3]<stdout>: ..." at the beginning
 * of a line, and the token after it; -1: none. */
static int first_rank(const struct tokens *tokens, unsigned *out_at)
{
    static const char *const words[] = {"rank", "gpu", "default", "process", "worker", NULL};
    const struct token *t = tokens->all;
    unsigned at = tokens->count && t[0].kind == OPEN;
    if (tokens->count < at + 3)
        return -1;
    if (at && t[1].kind == NUMBER && t[2].kind == BREAK && *t[2].text == ',' && tokens->count > 6 &&
        is_whole(&t[3]) && t[4].kind == CLOSE && t[5].kind == OPEN && *t[5].text == '<') {
        *out_at = 8; /* of mpirun --tag-output */
        return (int)t[3].value;
    }
    size_t letters = t[at].length;
    while (t[at].kind == WORD && letters && g_ascii_isdigit(t[at].text[letters - 1]))
        letters--;
    bool is_glued = letters < t[at].length && t[at].length - letters <= 5;
    const struct token *after = &t[at + 1 + !is_glued];
    bool is_apart = after->kind == CLOSE || after->kind == ASSIGN ||
                    (after->kind == BREAK && *after->text == '|');
    if (t[at].kind != WORD || !is_one_of(t[at].text, letters, words) || !is_apart ||
        (!is_glued && !is_whole(&t[at + 1])))
        return -1;
    *out_at = at + 2 + !is_glued;
    return is_glued ? atoi(t[at].text + letters) : (int)t[at + 1].value;
}

static void read_text(struct orch_printed_line *out, const char *text, size_t length)
{
    g_autofree struct tokens *tokens = g_new(struct tokens, 1);
    tokenize(tokens, text, length);
    out->is_cut = tokens->count >= TOKENS_MAX;
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
        bool is_unread = json_is_array(value) && json_is_number(json_array_get(value, 0));
        if (!is_unread && !read_json_number(value, &found))
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
