/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recursive descent that evaluates while parsing: formulas are short and evaluated a few times, so
 * a syntax tree is not worth it. The names are collected by one pass without values. */
#include "lib/base/formula.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

enum { DEPTH_MAX = 32 };

struct orch_formula {
    char *text, *left, *right;
    size_t right_at; /* in text */
    GPtrArray *names;
};

struct reader {
    const char *text, *at;
    size_t base; /* number of columns before the text */
    int depth;
    GPtrArray *names; /* collects the names, or NULL */
    orch_formula_lookup lookup;
    void *ctx;
    GString *out; /* collects the text with numbers, or NULL */
    char *(*format)(double value);
    GError **error;
    bool failed;
};

static double fail(struct reader *r, const char *hint, const char *what)
{
    if (!r->failed)
        orch_error_set(r->error, ORCH_ERROR_USAGE, hint, "character %zu of formula: %s",
                       r->base + (size_t)(r->at - r->text) + 1, what);
    r->failed = true;
    return NAN;
}

static void copy_to(struct reader *r, const char *from)
{
    if (r->out)
        g_string_append_len(r->out, from, r->at - from);
}

static void skip_spaces(struct reader *r)
{
    const char *from = r->at;
    r->at += strspn(r->at, " \t");
    copy_to(r, from);
}

static void take(struct reader *r)
{
    const char *from = r->at++;
    copy_to(r, from);
    skip_spaces(r);
}

static double read_sum(struct reader *r);

static bool is_name_char(char c)
{
    return g_ascii_isalnum(c) || c == '_';
}

/* "batch", "mean epoch_time" */
static double read_name(struct reader *r)
{
    const char *from = r->at;
    while (is_name_char(*r->at))
        r->at++;
    const char *second = r->at + strspn(r->at, " ");
    if (second > r->at && (g_ascii_isalpha(*second) || *second == '_'))
        for (r->at = second; is_name_char(*r->at);)
            r->at++;
    g_autofree char *name = g_strndup(from, (gsize)(r->at - from));
    double value = r->lookup ? r->lookup(r->ctx, name) : 1;
    if (r->out) {
        g_autofree char *number = r->format(value);
        g_string_append(r->out, number);
    }
    if (r->names)
        g_ptr_array_add(r->names, g_steal_pointer(&name));
    skip_spaces(r);
    return value;
}

static double read_number(struct reader *r)
{
    const char *from = r->at;
    char *end;
    double value = g_ascii_strtod(r->at, &end);
    r->at = end;
    copy_to(r, from);
    skip_spaces(r);
    return value;
}

static double read_factor(struct reader *r)
{
    double value = NAN;
    if (++r->depth > DEPTH_MAX)
        return fail(r, NULL, "nested too deep");
    if (*r->at == '(') {
        take(r);
        value = read_sum(r);
        if (*r->at == ')')
            take(r);
        else
            fail(r, NULL, "expected ')'");
    } else if (*r->at == '-') {
        take(r);
        value = -read_factor(r);
    } else if (g_ascii_isdigit(*r->at)) {
        value = read_number(r);
    } else if (g_ascii_isalpha(*r->at) || *r->at == '_') {
        value = read_name(r);
    } else {
        fail(r, "use names, numbers, + - * / and parentheses", "expected a name or a number");
    }
    r->depth--;
    return value;
}

static double read_product(struct reader *r)
{
    double value = read_factor(r);
    while (!r->failed && (*r->at == '*' || *r->at == '/')) {
        bool divides = *r->at == '/';
        take(r);
        double factor = read_factor(r);
        value = !divides ? value * factor : factor == 0 ? (double)NAN : value / factor;
    }
    return value;
}

static double read_sum(struct reader *r)
{
    double value = read_product(r);
    while (!r->failed && (*r->at == '+' || *r->at == '-')) {
        double sign = *r->at == '-' ? -1 : 1;
        take(r);
        value += sign * read_product(r);
    }
    return value;
}

static double read_all(struct reader *r)
{
    skip_spaces(r);
    double value = read_sum(r);
    if (!r->failed && *r->at)
        fail(r, "use names, numbers, + - * / and parentheses", "expected an operator or the end");
    return value;
}

struct orch_formula *orch_formula_parse(const char *text, GError **error)
{
    const char *equals = strchr(text, '=');
    if (!equals) {
        orch_error_set(error, ORCH_ERROR_USAGE, "for example speedup = 100 / epoch_time",
                       "formula has no '='");
        return NULL;
    }
    if (strlen(text) > ORCH_FORMULA_CHARS_MAX) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL, "formula is longer than %d characters",
                       ORCH_FORMULA_CHARS_MAX);
        return NULL;
    }
    struct orch_formula *f = g_new0(struct orch_formula, 1);
    f->text = g_strdup(text);
    f->left = g_strstrip(g_strndup(text, (gsize)(equals - text)));
    f->right_at = (size_t)(equals - text) + 1;
    f->right = g_strstrip(g_strdup(equals + 1));
    f->names = g_ptr_array_new_with_free_func(g_free);
    struct reader r = {.text = f->text + f->right_at,
                       .at = f->text + f->right_at,
                       .base = f->right_at,
                       .names = f->names,
                       .error = error};
    read_all(&r);
    if (!r.failed && !*f->left) {
        r.at = r.text;
        fail(&r, NULL, "expected a name before '='");
    }
    if (!r.failed)
        return f;
    orch_formula_free(f);
    return NULL;
}

void orch_formula_free(struct orch_formula *f)
{
    if (!f)
        return;
    g_free(f->text);
    g_free(f->left);
    g_free(f->right);
    g_ptr_array_unref(f->names);
    g_free(f);
}

const char *orch_formula_left(const struct orch_formula *f)
{
    return f->left;
}

const char *orch_formula_right(const struct orch_formula *f)
{
    return f->right;
}

const GPtrArray *orch_formula_names(const struct orch_formula *f)
{
    return f->names;
}

double orch_formula_value(const struct orch_formula *f, orch_formula_lookup lookup, void *ctx)
{
    struct reader r = {.text = f->right, .at = f->right, .lookup = lookup, .ctx = ctx};
    return read_all(&r);
}

char *orch_formula_with_numbers(const struct orch_formula *f, orch_formula_lookup lookup, void *ctx,
                                char *(*format)(double value))
{
    struct reader r = {.text = f->right,
                       .at = f->right,
                       .lookup = lookup,
                       .ctx = ctx,
                       .out = g_string_new(NULL),
                       .format = format};
    read_all(&r);
    return g_strstrip(g_string_free(r.out, FALSE));
}
