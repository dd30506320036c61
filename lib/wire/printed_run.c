/* SPDX-License-Identifier: MIT */
/* The words before a number: what they say of the line, and the name that they form. */
#include "lib/wire/printed_run.h"

#include "lib/wire/printed_name.h"

/* Takes the pending words as what the line, and the lines indented below it, are about. */
void orch_printed_run_set_about(struct reader *r, const char *unit)
{
    for (unsigned i = 0; i < r->run_length; i++) {
        const struct orch_printed_token *word = token_at(r, r->run + i);
        if (!orch_printed_name_append(r->about.name, word->text, word->length))
            r->about.name[0] = 0;
    }
    g_strlcpy(r->about.unit, unit, sizeof r->about.unit);
}

/* True if the pending words, which ':' follows, say what the line is about: "read: IOPS=4477", or a
 * line of their own above others ("Latency:"). */
static bool is_about(const struct reader *r)
{
    const struct orch_printed_token *assign = token_at(r, r->run + r->run_length);
    unsigned at = r->run + r->run_length + 1, words = 0;
    if (!r->is_run_first || r->run_length > ORCH_PRINTED_NAME_WORDS_MAX || r->about.name[0] ||
        assign->kind != TOKEN_ASSIGN || *assign->text != ':')
        return false;
    for (unsigned i = 0; i < r->run_length; i++) {
        const struct orch_printed_token *word = token_at(r, r->run + i);
        const unsigned neutral = i + 1 == r->run_length ? WORD_NEUTRAL : 0;
        if (word->classes & (neutral | WORD_LEVEL | WORD_EPOCH | WORD_STEP | WORD_BATCH |
                             WORD_LABEL | WORD_RANK) ||
            is_gerund(word) || memchr(word->text, '_', word->length) ||
            memchr(word->text, '.', word->length))
            return false;
    }
    if (at >= r->tokens->count)
        return true;
    for (; token_at(r, at)->kind == TOKEN_WORD && words <= ORCH_PRINTED_NAME_WORDS_MAX; at++)
        words++;
    const struct orch_printed_token *name = token_at(r, at - 1), *behind = token_at(r, at);
    const unsigned counts = WORD_EPOCH | WORD_STEP | WORD_BATCH | WORD_PREPOSITION | WORD_COPULA;
    const bool is_usual = classes_of(name) & WORD_USUAL;
    if (!words || words > ORCH_PRINTED_NAME_WORDS_MAX || classes_of(name) & counts ||
        (r->has_stamp && is_usual))
        return false;
    if (behind->kind == TOKEN_ASSIGN)
        return is_number(token_at(r, at + 1)) || token_at(r, at + 1)->kind == TOKEN_OPEN;
    return behind->kind == TOKEN_NUMBER && !is_usual;
}

/* Handles words without a value: a label for following values ("val:", "[train]", "Test set:"), a
 * log level, what the line is about, or prose. */
void orch_printed_run_drop(struct reader *r)
{
    const struct orch_printed_token *first = token_at(r, r->run);
    bool is_label = r->run_length && label_of(first);
    for (unsigned i = 1; i < r->run_length; i++)
        is_label = is_label && classes_of(token_at(r, r->run + i)) & WORD_SET;
    if (is_label)
        r->label = label_of(first);
    else if (r->is_assigned && is_about(r))
        orch_printed_run_set_about(r, "");
    else if (r->run_length && !(r->run_length == 1 && classes_of(first) & WORD_LEVEL))
        r->out->is_pure = r->out->is_pure && r->is_assigned; /* "Results:" is a heading */
    end_run(r);
}

/* Kind of counter that a name's last word denotes; `is_plain`: in a form not used for settings. */
enum orch_printed_kind orch_printed_run_kind(const struct orch_printed_token *word, bool is_plain)
{
    unsigned classes = classes_of(word);
    const char *end = word->text + word->length;
    const char *slash = memrchr(word->text, '/', word->length); /* "time/total_timesteps" */
    if (slash && word->kind == TOKEN_WORD) {
        const bool is_rate = slash > word->text && slash[-1] == 's'; /* "words/batch", "ms/step" */
        classes = orch_printed_classes(slash + 1, (size_t)(end - slash - 1));
        is_plain = false;
        if (is_rate && classes & (WORD_EPOCH | WORD_STEP))
            classes = 0;
    }
    const unsigned steps = WORD_STEP | (is_plain ? WORD_BATCH : 0);
    return classes & WORD_EPOCH ? ORCH_PRINTED_EPOCH
           : classes & steps    ? ORCH_PRINTED_STEP
                                : ORCH_PRINTED_VALUE;
}

/* Sets the name that the value has within a sentence: its last word, with the words directly before
 * that say of what it is, so that "the test loss 0.3" does not become the training's loss. */
static void set_short_name(const struct reader *r, unsigned last, struct orch_printed_value *value)
{
    unsigned first = last;
    while (first > r->run && last - first < ORCH_PRINTED_NAME_WORDS_MAX - 1 &&
           classes_of(token_at(r, first - 1)) & (WORD_LABEL | WORD_QUALIFIER))
        first--;
    bool has_label = !r->label || g_str_has_prefix(value->last, r->label);
    for (unsigned i = first; i < last; i++)
        has_label = has_label || label_of(token_at(r, i));
    if (!has_label)
        orch_printed_name_append(value->short_name, r->label, strlen(r->label));
    for (unsigned i = first; i <= last; i++)
        orch_printed_name_append(value->short_name, token_at(r, i)->text, token_at(r, i)->length);
}

/* Appends the words of [first, first + length) to the name; other tokens but numbers are left out.
 */
static bool append_words(const struct reader *r, unsigned first, unsigned length,
                         struct orch_printed_value *value)
{
    for (unsigned i = first; i < first + length; i++) {
        const struct orch_printed_token *word = token_at(r, i);
        const bool is_part = word->kind == TOKEN_WORD || is_number(word) ||
                             (word->kind == TOKEN_IGNORED && g_ascii_isdigit(*word->text));
        if (!is_part)
            continue;
        value->spelling = orch_printed_name_hash(value->spelling, word->text, word->length);
        if (!orch_printed_name_append(value->name, word->text, word->length))
            return false;
    }
    return true;
}

/* The words before the name: what the lines above and the line itself are about, and its label. */
static bool append_before(const struct reader *r, const struct orch_printed_token *first,
                          struct orch_printed_value *value)
{
    const char *above = orch_printed_heading_label(r->out->headings);
    const bool has_label = !r->label || g_strcmp0(label_of(first), r->label) == 0 ||
                           g_str_has_prefix(value->last, r->label);
    const bool is_above = !has_label && r->label == above;
    const bool is_apart = r->is_about_value && orch_printed_name_is_usual(value->last);
    const char *parts[] = {is_above ? above : "", orch_printed_heading_name(r->out->headings),
                           is_apart ? "" : r->about.name, has_label || is_above ? "" : r->label};
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
        if (*parts[i] && !orch_printed_name_append(value->name, parts[i], strlen(parts[i])))
            return false;
    return true;
}

/* Sets the value's name from the pending words; false if they do not form a name. */
bool orch_printed_run_name(struct reader *r, struct orch_printed_value *value)
{
    unsigned first = r->run, length = r->run_length;
    while (length > 1 && classes_of(token_at(r, first)) & WORD_LEVEL)
        first++, length--;
    while (length > 1 && classes_of(token_at(r, first + length - 1)) & WORD_COPULA)
        length--;
    if (!length)
        return false;
    const struct orch_printed_token *last = token_at(r, first + length - 1);
    if (r->remark_length && token_at(r, r->remark - 1)->kind == TOKEN_CLOSE)
        last = token_at(r, r->remark + r->remark_length - 1); /* "Major (with I/O) page faults" */
    if (!orch_printed_name_append(value->last, last->text, last->length))
        return false;
    set_short_name(r, first + length - 1, value);
    unsigned words = 0; /* numbers within a name are no words: "top 5 accuracy" */
    for (unsigned i = 0; i < length; i++)
        words += token_at(r, first + i)->kind == TOKEN_WORD;
    if (words > ORCH_PRINTED_NAME_WORDS_MAX || !append_before(r, token_at(r, first), value) ||
        !append_words(r, first, length, value) ||
        !append_words(r, r->remark, r->remark_length, value))
        return false;
    orch_printed_name_turn(value->name);
    return orch_printed_name_is_valid(value->name);
}
