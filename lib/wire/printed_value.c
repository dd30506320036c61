/* SPDX-License-Identifier: MIT */
/* A number and the words before it become a value. */
#include "lib/wire/printed_value.h"

#include "lib/wire/printed_rest.h"
#include "lib/wire/printed_run.h"

#include <math.h>

enum { VALUES_MAX = 1024 };

struct orch_printed_value *orch_printed_value_add(struct reader *r, enum orch_printed_kind kind)
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

void orch_printed_value_set(struct orch_printed_value *value,
                            const struct orch_printed_token *token)
{
    value->value = token->value;
    value->total = token->total;
    if (strcmp(token->unit, "%") == 0) {
        const char *end = token->text + token->length - 1;
        char unit[ORCH_UNIT_CHARS];
        orch_printed_number(token->text, end, &value->printed_percent, unit);
    } else {
        g_strlcpy(value->unit, token->unit, sizeof value->unit);
    }
}

/* What the pending words say of the number after them. */
static enum orch_printed_kind kind_of_run(const struct reader *r,
                                          const struct orch_printed_token *number)
{
    const struct orch_printed_token *last = token_at(r, r->run + r->run_length - 1);
    if (orch_printed_is_whole(number) && classes_of(last) & WORD_PLACE)
        return ORCH_PRINTED_PLACE;
    enum orch_printed_kind kind =
        orch_printed_run_kind(last, !r->is_assigned || number->kind == TOKEN_COUNT);
    for (unsigned i = 0; kind != ORCH_PRINTED_VALUE && i + 1 < r->run_length; i++)
        if (classes_of(token_at(r, r->run + i)) & WORD_OTHER)
            kind = ORCH_PRINTED_VALUE;
    const bool is_measured = *r->about.unit || *number->unit;
    if (kind == ORCH_PRINTED_STEP && number->kind == TOKEN_NUMBER && is_measured)
        kind = ORCH_PRINTED_VALUE; /* "time (ms) | step: 2.00", "time per iteration: 5 ms" */
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

/* The unit of a heading ("Latency (ms):") is that of the numbers below it. */
static void set_heading_unit(const struct reader *r, struct orch_printed_value *value)
{
    const char *unit = *r->about.unit ? r->about.unit : orch_printed_heading_unit(r->out->headings);
    const bool is_count = orch_printed_classes(value->last, strlen(value->last)) & WORD_COUNT;
    if (value->kind == ORCH_PRINTED_VALUE && !*value->unit && isnan(value->printed_percent) &&
        !is_count)
        g_strlcpy(value->unit, unit, sizeof value->unit);
}

/* Adds the value of the pending words. NULL: too many. `*out_is_named`: they form a name. */
static struct orch_printed_value *add_named(struct reader *r, enum orch_printed_kind kind,
                                            const struct orch_printed_token *number,
                                            bool *out_is_named)
{
    const bool is_value = kind == ORCH_PRINTED_VALUE || kind == ORCH_PRINTED_PLACE;
    struct orch_printed_value *value = orch_printed_value_add(r, kind);
    *out_is_named = true;
    if (!value)
        return NULL;
    value->is_sure = r->is_assigned;
    value->is_late = !is_value && is_late(r);
    orch_printed_value_set(value, number);
    *out_is_named = orch_printed_run_name(r, value) && !(is_value && r->is_after_prose);
    if (!*out_is_named)
        value->name[0] = 0;
    if (is_value && number->kind == TOKEN_COUNT && number->total > 0) /* Accuracy: 9812/10000 */
        value->value = number->value / number->total;
    if (number->kind == TOKEN_UNREAD ||
        (is_value && orch_printed_rest_is_several(r, value, number)))
        value->kind = ORCH_PRINTED_UNREAD;
    orch_printed_rest_count_billions(r, value);
    r->has_value = r->has_value || kind == ORCH_PRINTED_VALUE;
    return value;
}

/* True for "SET: 56179.77 requests per second, p50=0.559": the name of the first value tells the
 * others apart. `r->at` is behind the number. */
static bool is_list_title(const struct reader *r)
{
    const struct orch_printed_token *word = token_at(r, r->at);
    char unit[ORCH_UNIT_CHARS];
    return r->is_run_first && r->is_assigned && !r->about.name[0] && !r->has_stamp &&
           *token_at(r, r->run + r->run_length)->text == ':' && word->kind == TOKEN_WORD &&
           !orch_printed_unit(word->text, word->length, unit) &&
           token_at(r, r->at + 1)->kind == TOKEN_WORD;
}

/* Handles a number (at `at`) with words before it. */
void orch_printed_value_take(struct reader *r, const struct orch_printed_token *number)
{
    const struct orch_printed_token *last = token_at(r, r->run + r->run_length - 1);
    enum orch_printed_kind kind = kind_of_run(r, number);
    bool is_value = kind == ORCH_PRINTED_VALUE || kind == ORCH_PRINTED_PLACE, is_named = true;
    bool is_prose = is_value && !r->is_assigned &&
                    (classes_of(last) & WORD_PREPOSITION || /* Downloading 3/10 */
                     number->kind == TOKEN_COUNT ||
                     (is_gerund(last) && token_at(r, r->at + 1)->kind == TOKEN_WORD));
    if (r->is_after_prose && r->is_assigned && *token_at(r, r->run + r->run_length)->text == '=' &&
        token_at(r, r->run + r->run_length)->is_glued) { /* "4 procs  latency=2 ms" */
        r->run += r->run_length - 1;
        r->run_length = 1;
        r->is_after_prose = false;
    }
    if (!is_value && r->run_length == 2 && label_of(token_at(r, r->run)))
        r->label = label_of(token_at(r, r->run)); /* Train Epoch: 1 */
    if (kind == ORCH_PRINTED_PLACE && r->out->rank < 0 && classes_of(last) & WORD_RANK)
        r->out->rank = (int)number->value;
    const bool had_number = r->out->has_number;
    r->out->has_number = had_number || kind != ORCH_PRINTED_PLACE;
    r->at++;
    struct orch_printed_value *value = is_prose ? NULL : add_named(r, kind, number, &is_named);
    if (is_prose)
        r->out->has_unread = r->out->has_unread || !(classes_of(token_at(r, r->at)) & WORD_COUNTED);
    is_prose = is_prose || (is_value && !is_named);
    r->is_after_prose = is_prose;
    r->out->is_pure = r->out->is_pure && !is_prose;
    if (value && is_list_title(r)) {
        orch_printed_run_set_about(r, "");
        r->is_about_value = true;
    }
    r->counter = kind;
    r->has_total = number->kind == TOKEN_COUNT;
    r->is_bar = false;
    orch_printed_rest_take(r, value, number);
    if (value && is_value && number->kind == TOKEN_COUNT && value->unit[0])
        value->value = number->value; /* "memory: 5/16 GB" */
    if (value)
        set_heading_unit(r, value);
    if (value && value->kind == ORCH_PRINTED_VALUE &&
        orch_printed_is_time_left(value->name, value->unit)) {
        value->kind = ORCH_PRINTED_PLACE;
        r->out->has_number = had_number;
    }
    end_run(r);
}

/* "NAME=[21.]", "NAME: [[0.5]]", "loss (0.5,)": an array of one number is that number. Of several
 * numbers it is not known which one is meant. False if no number follows. */
bool orch_printed_value_take_array(struct reader *r)
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
    const bool is_process = is_one && orch_printed_is_whole(number) && first == r->at + 1 &&
                            (token_at(r, close + 1)->kind == TOKEN_WORD ||
                             token_at(r, close + 1)->kind == TOKEN_OPEN) &&
                            token_at(r, close + 2)->kind != TOKEN_ASSIGN &&
                            !memchr(number->text, '.', number->length);
    if (is_process) { /* "stress-ng: info: [16677] dispatching" */
        orch_printed_run_drop(r);
        r->at = close + 1;
        return true;
    }
    if (!is_one)
        taken.kind = TOKEN_UNREAD;
    while (close < r->tokens->count && token_at(r, close)->kind != TOKEN_CLOSE)
        close++;
    while (token_at(r, close)->kind == TOKEN_CLOSE && close < r->tokens->count)
        close++;
    r->at = close - 1; /* take_named goes on after it */
    orch_printed_value_take(r, &taken);
    return true;
}

/* ---- several values of one name ----------------------------------------------------------------
 */

/* The parts of "min/avg/max": their number, at most 8. */
static unsigned split_slashes(const char *text, size_t length, const char *out[9])
{
    unsigned parts = 0;
    out[parts++] = text;
    for (const char *p = text; p < text + length && parts < 8; p++)
        if (*p == '/')
            out[parts++] = p + 1;
    out[parts] = text + length + 1;
    return parts;
}

/* Reads the parts of "0.036/0.124/0.374", or of "116.4 us / 266.9 us" from token `at` on. Returns
 * their number, and the position behind them. */
static unsigned read_parts(const struct reader *r, unsigned at, struct orch_printed_token out[8],
                           unsigned *out_end)
{
    const struct orch_printed_token *number = token_at(r, at);
    const char *values[9];
    unsigned count = 0;
    if (memchr(number->text, '/', number->length)) {
        count = split_slashes(number->text, number->length, values);
        for (unsigned i = 0; i < count; i++) {
            const char *end = values[i + 1] - 1;
            out[i] = *number;
            out[i].text = values[i];
            out[i].length = (size_t)(end - values[i]);
            out[i].total = NAN;
            const char *behind = orch_printed_number(values[i], end, &out[i].value, out[i].unit);
            out[i].kind = behind == end ? TOKEN_NUMBER : TOKEN_UNREAD;
        }
        *out_end = at + 1;
        return count;
    }
    for (;; at++) {
        if (token_at(r, at)->kind != TOKEN_NUMBER || count == 8)
            return 0;
        out[count] = *token_at(r, at++);
        const struct orch_printed_token *word = token_at(r, at);
        if (word->kind == TOKEN_WORD && *word->text != '/')
            at += orch_printed_unit(word->text, word->length, out[count].unit);
        count++;
        if (token_at(r, at)->length != 1 || *token_at(r, at)->text != '/')
            break;
    }
    *out_end = at;
    return count;
}

/* True if the two parts of a name are not two names: "train/acc", "metrics/loss", "samples/s". */
static bool is_group(const char *const names[3])
{
    const size_t first = (size_t)(names[1] - 1 - names[0]),
                 second = (size_t)(names[2] - 1 - names[1]);
    return orch_printed_classes(names[0], first) & (WORD_LABEL | WORD_NEUTRAL) ||
           orch_printed_classes(names[1], second) & WORD_USUAL || orch_unit_find(names[1], second);
}

/* "rtt min/avg/max = 0.036/0.124/0.374 ms": as many values as there are names. */
bool orch_printed_value_take_series(struct reader *r)
{
    const unsigned last =
        r->remark_length ? r->remark + r->remark_length - 1 : r->run + r->run_length - 1;
    struct orch_printed_token *word = &r->tokens->all[last], whole = *word, parts[8];
    const char *names[9];
    unsigned end = 0;
    if (!r->is_assigned || !memchr(word->text, '/', word->length) ||
        orch_printed_run_kind(word, false) != ORCH_PRINTED_VALUE)
        return false;
    const unsigned count = split_slashes(word->text, word->length, names);
    if (count == 2 && (is_group(names) || token_at(r, r->at)->kind == TOKEN_NUMBER))
        return false;
    if (count < 2 || count != read_parts(r, r->at, parts, &end))
        return false;
    const struct reader before = *r;
    for (unsigned i = 0; i < count; i++) {
        word->text = names[i];
        word->length = (size_t)(names[i + 1] - 1 - names[i]);
        r->at = end - 1;
        r->run = before.run, r->run_length = before.run_length;
        r->remark = before.remark, r->remark_length = before.remark_length;
        r->is_assigned = true;
        orch_printed_value_take(r, &parts[i]);
    }
    *word = whole;
    return true;
}
