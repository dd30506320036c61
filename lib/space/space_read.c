/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the ranges of a search as they are written (param_space.h). */
#include "lib/space/param_space.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/space/space_reading.h"

#include <math.h>
#include <string.h>

#define WHOLE_MAX 1e15

/* A text while it is read. The first failure is kept. */
struct reader {
    const char *at;
    const char *wrong; /* where the failure is; NULL: none */
    GError *error;
};

static void G_GNUC_PRINTF(4, 5)
    complain(struct reader *reader, const char *at, const char *hint, const char *format, ...)
{
    if (reader->wrong)
        return;
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    reader->wrong = at;
    orch_error_set(&reader->error, ORCH_ERROR_RECIPE, hint, "%s", what);
}

/* The next word: quoted, or up to a space, comma, '=' or bracket. NULL when there is none. */
static char *take_word(struct reader *reader)
{
    orch_space_skip_blanks(&reader->at);
    const char *start = reader->at;
    if (*start == '\'' || *start == '"') {
        const char *end = strchr(start + 1, *start);
        if (!end) {
            complain(reader, start, NULL, "a quote is not closed");
            return NULL;
        }
        reader->at = end + 1;
        return g_strndup(start + 1, (gsize)(end - start - 1));
    }
    size_t length = strcspn(start, " \t\r\n,()[]=");
    reader->at += length;
    return length ? g_strndup(start, length) : NULL;
}

/* The words between brackets, of which the opening one was taken. */
static GPtrArray *take_words(struct reader *reader, char closing)
{
    GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
    do {
        const char *at = reader->at;
        char *word = take_word(reader);
        if (!word)
            complain(reader, at, NULL, "a value is missing");
        else
            g_ptr_array_add(words, word);
    } while (!reader->wrong && orch_space_take(&reader->at, ','));
    if (!orch_space_take(&reader->at, closing))
        complain(reader, reader->at, NULL, "'%c' is missing", closing);
    return words;
}

static void read_choices(struct reader *reader, char closing, struct orch_space_param *out)
{
    const char *at = reader->at;
    out->kind = ORCH_SPACE_CHOICE;
    out->choices = take_words(reader, closing);
    if (out->choices->len > ORCH_SPACE_CHOICES_MAX)
        complain(reader, at, NULL, "there are %u choices, at most %d are allowed",
                 out->choices->len, ORCH_SPACE_CHOICES_MAX);
    for (guint i = 0; i < out->choices->len; i++)
        for (guint j = 0; j < i; j++)
            if (strcmp(out->choices->pdata[i], out->choices->pdata[j]) == 0)
                complain(reader, at, NULL, "the choice '%s' occurs twice",
                         (const char *)out->choices->pdata[i]);
}

static double take_number(struct reader *reader, bool is_whole)
{
    orch_space_skip_blanks(&reader->at);
    const char *at = reader->at;
    g_autofree char *word = take_word(reader);
    double value = 0;
    int64_t whole;
    if (is_whole && word && orch_int_parse(word, &whole))
        value = (double)whole;
    else if (!word || !orch_real_parse(word, &value))
        complain(reader, at, NULL, "expected a number, found '%s'", word ? word : at);
    else if (is_whole && fabs(value) <= WHOLE_MAX)
        complain(reader, at, "write uniform(...) for real numbers",
                 "expected a whole number, found '%s'", word);
    if (is_whole && fabs(value) > WHOLE_MAX)
        complain(reader, at, NULL, "%s is beyond the largest whole number, 1e15", word);
    return value;
}

/* "log" or "step 32", behind the ends of a range. */
static void read_flag(struct reader *reader, bool is_whole, double *inout_step, bool *inout_log)
{
    orch_space_skip_blanks(&reader->at);
    const char *at = reader->at;
    g_autofree char *flag = take_word(reader);
    if (flag && strcmp(flag, "log") == 0 && !*inout_log) {
        *inout_log = true;
    } else if (flag && strcmp(flag, "step") == 0 && isnan(*inout_step)) {
        orch_space_take(&reader->at, '='); /* 'step=32' is taken, too */
        orch_space_skip_blanks(&reader->at);
        at = reader->at;
        *inout_step = take_number(reader, is_whole);
        if (!(*inout_step > 0))
            complain(reader, at, NULL, "a step is above 0");
    } else {
        complain(reader, at, "for example int(32, 512, step 32)",
                 "after the ends of the range only 'log' or 'step N' is expected");
    }
}

static void check_range(struct reader *reader, const char *at, double step,
                        const struct orch_space_param *range)
{
    char low[ORCH_REAL_CHARS], high[ORCH_REAL_CHARS], by[ORCH_REAL_CHARS];
    orch_real_format(range->low, low);
    orch_real_format(range->high, high);
    if (!(range->low <= range->high))
        complain(reader, at, "write the lower end first", "the range from %s to %s is empty", low,
                 high);
    if (range->is_log && range->low <= 0)
        complain(reader, at, "begin above 0, or leave out 'log'",
                 "a logarithmic range cannot begin at %s", low);
    if (range->is_log && !isnan(step))
        complain(reader, at, "list the values: choice(32, 64, 128)",
                 "a logarithmic range cannot have a step");
    if (!isnan(step) && !isfinite(range->high - range->low))
        complain(reader, at, NULL, "the range from %s to %s is too wide for a step", low, high);
    if (range->low < range->high && step > range->high - range->low)
        complain(reader, at, NULL, "the step %s is larger than the range from %s to %s",
                 orch_real_format(step, by), low, high);
}

static void read_range(struct reader *reader, const char *word, struct orch_space_param *out)
{
    bool is_whole = strcmp(word, "int") == 0;
    double step = (double)NAN;
    out->kind = is_whole ? ORCH_SPACE_INTEGER : ORCH_SPACE_REAL;
    out->is_log = strcmp(word, "loguniform") == 0;
    orch_space_skip_blanks(&reader->at);
    const char *at = reader->at;
    out->low = take_number(reader, is_whole);
    if (!orch_space_take(&reader->at, ','))
        complain(reader, reader->at, NULL, "a range needs two ends: %s(LOW, HIGH)", word);
    out->high = take_number(reader, is_whole);
    while (!reader->wrong && orch_space_take(&reader->at, ','))
        read_flag(reader, is_whole, &step, &out->is_log);
    if (!orch_space_take(&reader->at, ')'))
        complain(reader, reader->at, NULL, "')' is missing");
    check_range(reader, at, step, out);
    if (!reader->wrong && (is_whole || !isnan(step)))
        orch_space_set_step(out, isnan(step) ? 1 : step);
}

/* "if opt = sgd", "if opt in [sgd, adam]" */
static void read_condition(struct reader *reader, const struct orch_space *space,
                           struct orch_space_param *out)
{
    orch_space_skip_blanks(&reader->at);
    const char *at = reader->at;
    g_autofree char *name = take_word(reader);
    int parent = name ? orch_space_find(space, name) : -1;
    const struct orch_space_param *param =
        parent >= 0 ? orch_space_param(space, (unsigned)parent) : NULL;
    if (!param || param->kind != ORCH_SPACE_CHOICE) {
        complain(reader, at, "name an earlier parameter that has choices",
                 "the condition names '%s', which is no earlier parameter with choices",
                 name ? name : "");
        return;
    }
    orch_space_skip_blanks(&reader->at);
    const char *values_at = reader->at;
    g_autoptr(GPtrArray) values = NULL;
    g_autofree char *in = NULL;
    if (orch_space_take(&reader->at, '=')) {
        orch_space_take(&reader->at, '='); /* '==' is taken, too */
        values = g_ptr_array_new_with_free_func(g_free);
        char *value = take_word(reader);
        if (value)
            g_ptr_array_add(values, value);
    } else if ((in = take_word(reader)) && strcmp(in, "in") == 0 &&
               orch_space_take(&reader->at, '[')) {
        values = take_words(reader, ']');
    }
    if (!values || !values->len)
        complain(reader, values_at, NULL,
                 "a condition is written 'if %s = VALUE' or 'if %s in [A, B]'", name, name);
    out->parent = parent;
    for (guint i = 0; values && i < values->len; i++) {
        guint k;
        if (g_ptr_array_find_with_equal_func(param->choices, values->pdata[i], g_str_equal, &k))
            out->when |= UINT64_C(1) << k;
        else
            complain(reader, values_at, NULL, "'%s' has no choice '%s'", name,
                     (const char *)values->pdata[i]);
    }
}

/* "else 0" */
static void read_otherwise(struct reader *reader, struct orch_space_param *out)
{
    orch_space_skip_blanks(&reader->at);
    if (reader->wrong || strncmp(reader->at, "else", 4) != 0 || !strchr(" \t", reader->at[4]))
        return;
    reader->at += 4;
    out->otherwise = take_word(reader);
    if (!out->otherwise)
        complain(reader, reader->at, NULL, "a value is missing after 'else'");
}

static const char *const RANGE_WORDS[] = {"uniform", "loguniform", "int", "choice", NULL};

bool orch_space_is_meant(const char *text)
{
    text += strspn(text, " \t");
    size_t length = strcspn(text, "(");
    if (!text[length])
        return false;
    g_autofree char *word = g_strndup(text, length);
    return g_strv_contains(RANGE_WORDS, g_strstrip(word));
}

static void read_param(struct reader *reader, const struct orch_space *space,
                       struct orch_space_param *out)
{
    if (orch_space_take(&reader->at, '[')) {
        read_choices(reader, ']', out);
    } else {
        orch_space_skip_blanks(&reader->at);
        const char *at = reader->at;
        g_autofree char *word = take_word(reader);
        if (!word || !g_strv_contains(RANGE_WORDS, word) || !orch_space_take(&reader->at, '('))
            complain(reader, at,
                     "for example loguniform(1e-4, 1), int(16, 512, log), int(0, 8, step 2) or "
                     "[sgd, adam]",
                     "'%s' is no range", at);
        else if (strcmp(word, "choice") == 0)
            read_choices(reader, ')', out);
        else
            read_range(reader, word, out);
    }
    orch_space_skip_blanks(&reader->at);
    if (reader->wrong || !*reader->at)
        return;
    const char *at = reader->at;
    g_autofree char *word = take_word(reader);
    if (!word || strcmp(word, "if") != 0) {
        complain(reader, at, NULL, "unexpected text after the range: '%s'", at);
        return;
    }
    read_condition(reader, space, out);
    read_otherwise(reader, out);
    orch_space_skip_blanks(&reader->at);
    if (*reader->at)
        complain(reader, reader->at, NULL, "unexpected text after the condition: '%s'", reader->at);
}

bool orch_space_add(struct orch_space *space, const char *name, const char *text, size_t *out_at,
                    GError **error)
{
    struct reader reader = {.at = text};
    struct orch_space *made = orch_space_new(); /* owns the parameter until it is well read */
    struct orch_space_param *param = g_new0(struct orch_space_param, 1);
    g_ptr_array_add(made->params, param);
    param->name = g_strdup(name);
    param->parent = -1;
    if (space->params->len == ORCH_SPACE_PARAMS_MAX)
        complain(&reader, text, NULL, "a search has at most %d parameters", ORCH_SPACE_PARAMS_MAX);
    else
        read_param(&reader, space, param);
    bool ok = !reader.wrong;
    if (ok)
        g_ptr_array_add(space->params, g_ptr_array_steal_index(made->params, 0));
    else if (out_at)
        *out_at = (size_t)(reader.wrong - text);
    if (!ok)
        g_propagate_error(error, reader.error);
    orch_space_free(made);
    return ok;
}
