/* SPDX-License-Identifier: MIT */
/* Reads a line from left to right: what fits a form (printed_form.h) is taken as the form says; for
 * all else the words before a number form its name. Regular expressions were rejected: formats
 * combine freely ("Epoch [1/5], Step [100/600], Loss: 2.2"), and callers need to know which parts
 * were not understood. */
#include "lib/wire/printed.h"

#include "lib/wire/printed_document.h"
#include "lib/wire/printed_fold.h"
#include "lib/wire/printed_name.h"
#include "lib/wire/printed_run.h"
#include "lib/wire/printed_value.h"

#include <math.h>

/* ---- forms ----------------------------------------------------------------------------- */

/* Adds a counter that a form found. */
static void add_counter(struct reader *r, enum orch_printed_kind kind,
                        const struct orch_printed_token *number)
{
    struct orch_printed_value *value = orch_printed_value_add(r, kind);
    if (value) {
        orch_printed_value_set(value, number);
        value->is_late = r->has_value;
    }
    r->out->has_number = true;
    r->counter = ORCH_PRINTED_VALUE;
}

/* Joins the tokens [first, end) to the pending words, before which nothing else may stand. */
static void join_name(struct reader *r, unsigned first, unsigned end)
{
    if (r->run_length && first != r->run + r->run_length) {
        r->remark = r->remark_length ? r->remark : first;
        r->remark_length = end - r->remark;
        return;
    }
    r->run = r->run_length ? r->run : first;
    r->run_length = end - r->run;
}

/* "99.9%" in front of a value becomes the word "p99.9". */
static void name_percentile(struct reader *r, unsigned at)
{
    struct orch_printed_token *token = &r->tokens->all[at];
    g_snprintf(r->percentile, sizeof r->percentile, "p%.*s", (int)token->length - 1, token->text);
    *token = (struct orch_printed_token){
        .kind = TOKEN_WORD, .text = r->percentile, .length = strlen(r->percentile)};
    r->run = at;
    r->run_length = 1;
}

static void take_rank(struct reader *r, const struct orch_printed_token *token)
{
    if (r->out->rank < 0)
        r->out->rank =
            token->kind == TOKEN_WORD ? orch_printed_first_rank(token) : (int)token->value;
}

static void take_unit(struct reader *r, const struct orch_printed_token *word)
{
    char unit[ORCH_UNIT_CHARS] = "";
    const struct orch_unit *found = orch_unit_find(word->text, word->length);
    if (found)
        g_strlcpy(unit, found->name, sizeof unit);
    else
        orch_unit_read_rate(word->text, word->length, unit);
    orch_printed_run_set_about(r, unit);
    end_run(r);
}

/* Takes one element of a form. False: the form ends with it. */
static bool take_element(struct reader *r, char makes, unsigned at, unsigned end)
{
    const struct orch_printed_token *token = token_at(r, at);
    switch (makes) {
    case 'e':
        add_counter(r, ORCH_PRINTED_EPOCH, token);
        return true;
    case 's':
        add_counter(r, ORCH_PRINTED_STEP, token);
        return true;
    case 'l':
        r->label = label_of(token);
        return true;
    case 'r':
        take_rank(r, token);
        return true;
    case 'm':
        join_name(r, at, end);
        return true;
    case 'b': /* of "Fold 2/5" the first number */
        if (!orch_printed_name_append(r->about.name, token->text,
                                      token->kind == TOKEN_COUNT ? strcspn(token->text, " /")
                                                                 : token->length))
            r->about.name[0] = 0;
        return true;
    case 'h':
        take_unit(r, token);
        return true;
    case 'p':
        name_percentile(r, at);
        return true;
    default:
        return true;
    }
}

/* Takes the form of this place that fits, if one does. */
static bool take_form(struct reader *r, enum orch_printed_where where)
{
    struct orch_printed_match m;
    if (!orch_printed_form_find(where, r->tokens, r->at, &m))
        return false;
    const char *makes = m.form->makes, *value = strchr(makes, 'v');
    if (*makes == 'd')
        orch_printed_run_drop(r);
    for (unsigned i = 0; makes[i]; i++)
        if (makes[i] != 'v')
            take_element(r, makes[i], m.at[i], m.at[i + 1]);
    r->at = m.end;
    if (value) {
        struct orch_printed_token number = *token_at(r, m.at[value - makes]);
        r->is_assigned = r->is_assigned || strchr(m.form->pattern, ':') || strchr(makes, 'p');
        r->at = m.at[value - makes];
        orch_printed_value_take(r, &number);
        r->at = MAX(r->at, m.end);
    }
    return true;
}

/* ---- tokens ---------------------------------------------------------------------------- */

/* Handles a number without a name. */
static void take_unnamed(struct reader *r, const struct orch_printed_token *token)
{
    const struct orch_printed_token *next = token_at(r, r->at + 1);
    const bool is_percent = strcmp(token->unit, "%") == 0;
    const bool is_bar = (is_percent && *next->text == '|') ||
                        (*next->text == '[' && (token->kind == TOKEN_COUNT ||
                                                token_at(r, r->at + 2)->kind == TOKEN_IGNORED));
    if (r->at == 0 && (token->kind == TOKEN_COUNT || is_percent || is_bar))
        r->out->is_progress = true;
    r->is_bar = r->is_bar || is_bar || r->out->is_progress;
    r->out->has_unread = r->out->has_unread || !r->is_bar;
    if (token->kind == TOKEN_NUMBER && !token->unit[0]) {
        r->out->is_pure = false;
        r->is_after_prose = true;
    }
    r->at++;
}

/* Handles a word: it ends a name that ':' or '=' follows, or belongs to one. */
static void take_word(struct reader *r, const struct orch_printed_token *word)
{
    const struct orch_printed_token *before = r->at ? token_at(r, r->at - 1) : NULL;
    const bool is_text = r->is_assigned && word->is_glued && before->is_glued &&
                         *before->text == '='; /* "net=resnet lr=0.1" */
    if (r->is_assigned)
        orch_printed_run_drop(r);
    if (!r->run_length) {
        r->run = r->at;
        r->is_run_first = r->is_begin;
    }
    r->run_length += !is_text;
    r->at++;
    if (word->classes & WORD_LEVEL && r->run_length <= 1)
        r->has_stamp = true;
    else
        r->is_begin = false;
}

/* "Top 5 accuracy: 0.9", "Class 3: 0.85": the number behind the words belongs to the name. */
static bool is_part_of_name(const struct reader *r, const struct orch_printed_token *number)
{
    const struct orch_printed_token *last = token_at(r, r->run + r->run_length - 1);
    const struct orch_printed_token *next = token_at(r, r->at + 1);
    if (r->is_assigned || !orch_printed_is_whole(number) ||
        orch_printed_run_kind(last, true) != ORCH_PRINTED_VALUE)
        return false;
    if (next->kind == TOKEN_ASSIGN)
        return is_number(token_at(r, r->at + 2)) && *next->text == ':';
    return classes_of(last) & WORD_ORDINAL &&
           (next->kind == TOKEN_WORD || next->kind == TOKEN_NUMBER);
}

static void take_number(struct reader *r, const struct orch_printed_token *number)
{
    const struct orch_printed_token *next = token_at(r, r->at + 1);
    if (strcmp(number->unit, "%") == 0 && *next->text == '|' && next->is_glued &&
        *token_at(r, r->at + 2)->text == '|')
        end_run(r); /* a bar: "Training: 20%|##  |" */
    if (r->run_length && is_part_of_name(r, number)) {
        join_name(r, r->at, r->at + 1);
        r->at++;
    } else if (r->run_length) {
        if (!orch_printed_value_take_series(r))
            orch_printed_value_take(r, number);
    } else {
        r->out->has_number = true;
        take_unnamed(r, number);
    }
}

static void take_other(struct reader *r, const struct orch_printed_token *token)
{
    r->parentheses += token->kind == TOKEN_OPEN && *token->text == '(';
    r->parentheses -= token->kind == TOKEN_CLOSE && *token->text == ')' && r->parentheses;
    orch_printed_run_drop(r);
    if (token->kind != TOKEN_OPEN) {
        r->counter = token->kind == TOKEN_BREAK ? ORCH_PRINTED_VALUE : r->counter;
        r->is_after_prose = false;
    }
    r->has_stamp = r->has_stamp || token->kind == TOKEN_IGNORED || token->kind == TOKEN_PLACE;
    r->at++;
}

/* The form at this token, by what stands before it. */
static bool take_forms(struct reader *r)
{
    if (r->is_begin && !r->run_length && take_form(r, FORM_BEGIN))
        return true;
    if (r->counter == ORCH_PRINTED_EPOCH && !r->run_length &&
        (take_form(r, FORM_EPOCH) || (!r->has_total && take_form(r, FORM_EPOCH_ALONE))))
        return true;
    if (!r->run_length)
        return is_number(token_at(r, r->at)) && take_form(r, FORM_ANY);
    const enum orch_printed_token_kind kind = token_at(r, r->at)->kind;
    if (kind == TOKEN_WORD || is_number(token_at(r, r->at)))
        return false; /* no form goes on so */
    const struct orch_printed_token *last = token_at(r, r->run + r->run_length - 1);
    if (orch_printed_run_kind(last, true) != ORCH_PRINTED_VALUE)
        return kind == TOKEN_OPEN && take_form(r, FORM_COUNTER);
    return !r->is_assigned && take_form(r, FORM_NAME);
}

static void take_token(struct reader *r)
{
    const struct orch_printed_token *token = token_at(r, r->at);
    if (take_forms(r)) {
        r->is_begin = r->is_begin && !r->run_length && !r->out->values->len;
        return;
    }
    switch (token->kind) {
    case TOKEN_WORD:
        take_word(r, token);
        return;
    case TOKEN_ASSIGN:
        if (r->is_assigned || !r->run_length)
            orch_printed_run_drop(r);
        r->is_assigned = r->run_length > 0;
        r->at++;
        return;
    case TOKEN_NUMBER:
    case TOKEN_COUNT:
    case TOKEN_UNREAD:
        r->is_begin = false;
        take_number(r, token);
        return;
    case TOKEN_OPEN:
        if (!orch_printed_value_take_array(r))
            take_other(r, token);
        return;
    default: /* a time of day is not a value: "ETA: 0:10" */
        take_other(r, token);
    }
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* Of "[  5] local port 5201 connected" the number in front is no step: beside it the line has only
 * places, or numbers that are not understood. */
static void drop_identity(struct orch_printed_line *out)
{
    bool has_place = out->has_unread;
    for (guint i = 0; i < out->values->len; i++) {
        const struct orch_printed_value *value =
            &g_array_index(out->values, struct orch_printed_value, i);
        const bool is_bare =
            value->kind == ORCH_PRINTED_STEP && !value->name[0] && isnan(value->total);
        if (i == 0 ? !is_bare : value->kind != ORCH_PRINTED_PLACE)
            return;
        has_place = has_place || i;
    }
    if (has_place)
        g_array_set_size(out->values, 0);
}

static void read_text(struct orch_printed_line *out, const char *text, size_t length,
                      unsigned indent)
{
    g_autofree struct orch_printed_tokens *tokens = g_new(struct orch_printed_tokens, 1);
    orch_printed_tokenize(tokens, text, length);
    if (!tokens->count)
        return;
    out->is_cut = tokens->count >= ORCH_PRINTED_TOKENS_MAX;
    orch_printed_heading_leave(out->headings, indent);
    struct reader r = {
        .out = out, .tokens = tokens, .counter = ORCH_PRINTED_VALUE, .is_begin = true};
    out->rank = tokens->rank;
    bool is_summary = *text == '*'; /* " * Acc@1 0.68" below "Test: [195/196] ..." */
    r.label = is_summary ? out->label : orch_printed_heading_label(out->headings);
    const char *above = r.label;
    while (r.at < tokens->count)
        take_token(&r);
    orch_printed_run_drop(&r);
    drop_identity(out);
    out->label = r.label;
    const bool is_heading = tokens->all[tokens->count - 1].kind == TOKEN_ASSIGN;
    r.about.label = is_heading && out->values->len == 0 && r.label != above ? r.label : NULL;
    if (r.about.name[0] || r.about.label)
        orch_printed_heading_enter(out->headings, &r.about, indent);
}

/* A line of a printed PyTorch model holds settings, no measurements: "(fc): Linear(in_features=3)",
 * "(0-5): 6 x Block(". */
static bool is_part_of_model(const char *text, size_t length, unsigned indent)
{
    static const char letters[] = G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_";
    g_autofree char *line = indent && length && *text == '(' ? g_strndup(text, length) : NULL;
    const char *p =
        line ? line + 1 + strspn(line + 1, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_.-") : "";
    if (p == line + 1 || !g_str_has_prefix(p, "): "))
        return false;
    p += strlen("): ");
    size_t digits = strspn(p, G_CSET_DIGITS);
    p += digits && g_str_has_prefix(p + digits, " x ") ? digits + strlen(" x ") : 0;
    return g_ascii_isupper(*p) && p[strspn(p, letters)] == '(';
}

#define TREE_BAR "\xe2\x94\x82"
#define TREE_DASHES "\xe2\x94\x80\xe2\x94\x80 "
#define TREE_BRANCH "\xe2\x94\x9c" TREE_DASHES
#define TREE_LAST "\xe2\x94\x94" TREE_DASHES

/* A tree of settings, as rich draws it: "|-- lr: 0.1", and "|   batch: 8" below such a line, which
 * does not end as a row of a box does. */
static bool is_part_of_tree(const char *text, size_t length, bool is_below)
{
    const size_t bar = strlen(TREE_BAR);
    while (length && g_ascii_isspace(*text))
        text++, length--;
    while (length && g_ascii_isspace(text[length - 1]))
        length--;
    return memmem(text, length, TREE_BRANCH, strlen(TREE_BRANCH)) ||
           memmem(text, length, TREE_LAST, strlen(TREE_LAST)) ||
           (is_below && length > bar && memcmp(text, TREE_BAR, bar) == 0 &&
            memcmp(text + length - bar, TREE_BAR, bar) != 0);
}

void orch_printed_line_init(struct orch_printed_line *line)
{
    *line = (struct orch_printed_line){
        .values = g_array_new(FALSE, FALSE, sizeof(struct orch_printed_value)),
        .headings = g_array_new(FALSE, FALSE, sizeof(struct printed_heading)),
        .folded = g_string_new(NULL),
        .row = g_string_new(NULL),
        .rank = -1};
}

void orch_printed_line_clear(struct orch_printed_line *line)
{
    g_clear_pointer(&line->values, g_array_unref);
    g_clear_pointer(&line->headings, g_array_unref);
    g_string_free(line->folded, TRUE);
    g_string_free(line->row, TRUE);
    orch_printed_table_clear(&line->table);
}

void orch_printed_line_parse(struct orch_printed_line *out, const char *text, size_t length)
{
    enum { TAB_COLUMNS = 8 };
    unsigned indent = 0;
    g_array_set_size(out->values, 0);
    out->has_number = out->has_unread = out->is_progress = out->is_row = out->is_cut = false;
    out->is_pure = true;
    out->rank = -1;
    out->is_tree = is_part_of_tree(text, length, out->is_tree);
    if (out->is_tree)
        return;
    if (orch_printed_fold_line(text, length, out->folded)) {
        text = out->folded->str;
        length = out->folded->len;
    }
    for (; length && g_ascii_isspace(*text); text++, length--)
        indent += *text == '\t' ? TAB_COLUMNS : 1;
    indent += length && *text == '|' ? 2 : 0; /* fio's percentiles */
    if (is_part_of_model(text, length, indent))
        return;
    const char *json = orch_printed_document_find(text, length);
    if (json)
        read_text(out, text, (size_t)(json - text), indent);
    if (json && orch_printed_document_read(out, json, (size_t)(text + length - json)))
        return;
    if (orch_printed_table_row(&out->table, text, length, indent, out->row, &out->is_row)) {
        text = out->row->str;
        length = out->row->len;
    }
    read_text(out, text, length, indent);
}
