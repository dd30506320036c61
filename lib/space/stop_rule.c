/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of rules. The text of a rule is its name and, in brackets, the arguments that differ
 * from their defaults. */
#include "lib/space/stop_rule.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/space/space_reading.h"

#include <math.h>
#include <string.h>

#define ARGUMENTS_MAX 3
#define COUNT_MAX 1e9

/* An argument: a number from `low` to `high`. */
struct argument {
    const char *name;
    size_t offset; /* in struct orch_stop_rule */
    double fallback, low, high;
    bool is_whole;
};

#define COUNT(member, fallback, low)                                                               \
    {                                                                                              \
        G_STRINGIFY(member), offsetof(struct orch_stop_rule, member), fallback, low, COUNT_MAX,    \
            true                                                                                   \
    }

static const struct kind {
    const char *name;
    struct argument arguments[ARGUMENTS_MAX + 1];
} KINDS[] = {
    [ORCH_STOP_MEDIAN] = {"median", {COUNT(warmup, 5, 0), COUNT(startup, 5, 1)}},
    [ORCH_STOP_VIZIER] = {"vizier", {COUNT(warmup, 5, 0), COUNT(startup, 5, 1)}},
    [ORCH_STOP_ASHA] = {"asha", {COUNT(min, 0, 1), COUNT(factor, 3, 2)}},
    [ORCH_STOP_HYPERBAND] = {"hyperband",
                             {COUNT(min, 1, 1), COUNT(max, 27, 2), COUNT(factor, 3, 2)}},
    [ORCH_STOP_FORECAST] = {"forecast",
                            {{"p", offsetof(struct orch_stop_rule, p), 0.05, 1e-6, 0.5, false},
                             COUNT(top, 1, 1),
                             COUNT(startup, 5, 5)}},
};

#define EXAMPLES                                                                                   \
    "write median(warmup=5, startup=5), vizier(warmup=5, startup=5), asha(min=4, factor=3), "      \
    "hyperband(min=1, max=27, factor=3) or forecast(p=0.05)"

/* A text while it is read. */
struct reader {
    const char *text, *at;
    size_t *out_at;
    GError **error;
};

static bool G_GNUC_PRINTF(4, 5)
    complain(const struct reader *reader, const char *at, const char *hint, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    if (reader->out_at)
        *reader->out_at = (size_t)(at - reader->text);
    orch_error_set(reader->error, ORCH_ERROR_RECIPE, hint, "%s", what);
    return false;
}

/* The next word, "" when there is none; `*out_at` is where it begins. */
static char *take_word(struct reader *reader, const char **out_at)
{
    orch_space_skip_blanks(&reader->at);
    *out_at = reader->at;
    size_t length = strcspn(reader->at, " \t\r\n,()=");
    reader->at += length;
    return g_strndup(*out_at, length);
}

static const struct argument *find_argument(const struct reader *reader, const struct kind *kind,
                                            const char *name, const char *at)
{
    const char *names[ARGUMENTS_MAX + 1] = {NULL};
    for (unsigned i = 0; kind->arguments[i].name; i++) {
        if (strcmp(kind->arguments[i].name, name) == 0)
            return &kind->arguments[i];
        names[i] = kind->arguments[i].name;
    }
    g_autofree char *known = g_strjoinv(", ", (char **)(uintptr_t)names);
    g_autofree char *hint = g_strdup_printf("its arguments are %s", known);
    complain(reader, at, hint, *name ? "%s has no argument '%s'" : "%s: an argument is missing%s",
             kind->name, name);
    return NULL;
}

/* "factor=3" */
static bool read_argument(struct reader *reader, const struct kind *kind, unsigned *inout_seen,
                          struct orch_stop_rule *out)
{
    const char *at, *value_at;
    g_autofree char *name = take_word(reader, &at);
    const struct argument *argument = find_argument(reader, kind, name, at);
    if (!argument)
        return false;
    unsigned bit = 1u << (argument - kind->arguments);
    if (*inout_seen & bit)
        return complain(reader, at, NULL, "argument '%s' occurs twice", name);
    *inout_seen |= bit;
    if (!orch_space_take(&reader->at, '='))
        return complain(reader, reader->at, NULL, "'=' is missing after '%s'", name);
    g_autofree char *word = take_word(reader, &value_at);
    double value;
    if (!orch_real_parse(word, &value))
        return complain(reader, value_at, NULL, "'%s': expected a number, found '%s'", name, word);
    if (argument->is_whole && value != floor(value))
        return complain(reader, value_at, NULL, "'%s': expected a whole number, found '%s'", name,
                        word);
    if (value < argument->low || value > argument->high)
        return complain(reader, value_at, NULL, "'%s': %s is not between %g and %g", name, word,
                        argument->low, argument->high);
    *(double *)(void *)((char *)out + argument->offset) = value;
    return true;
}

static bool read_arguments(struct reader *reader, const struct kind *kind,
                           struct orch_stop_rule *out)
{
    unsigned seen = 0;
    if (!orch_space_take(&reader->at, '(') || orch_space_take(&reader->at, ')'))
        return true;
    do {
        if (!read_argument(reader, kind, &seen, out))
            return false;
    } while (orch_space_take(&reader->at, ','));
    return orch_space_take(&reader->at, ')') ||
           complain(reader, reader->at, NULL, "')' is missing");
}

static const struct kind *find_kind(const char *name)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(KINDS); i++)
        if (strcmp(KINDS[i].name, name) == 0)
            return &KINDS[i];
    return NULL;
}

bool orch_stop_rule_parse(const char *text, struct orch_stop_rule *out, size_t *out_at,
                          GError **error)
{
    struct reader reader = {.text = text, .at = text, .out_at = out_at, .error = error};
    const char *at;
    g_autofree char *name = take_word(&reader, &at);
    const struct kind *kind = find_kind(name);
    if (!kind)
        return complain(&reader, at, EXAMPLES, "'%s' is no rule that stops trials", name);
    struct orch_stop_rule rule = {.kind = (enum orch_stop_kind)(kind - KINDS)};
    for (const struct argument *a = kind->arguments; a->name; a++)
        *(double *)(void *)((char *)&rule + a->offset) = a->fallback;
    if (!read_arguments(&reader, kind, &rule))
        return false;
    orch_space_skip_blanks(&reader.at);
    if (*reader.at)
        return complain(&reader, reader.at, NULL, "unexpected text after the rule: '%s'",
                        reader.at);
    if (rule.kind == ORCH_STOP_HYPERBAND && rule.min >= rule.max)
        return complain(&reader, at, "set 'max' above 'min'", "'max' (%g) is not above 'min' (%g)",
                        rule.max, rule.min);
    *out = rule;
    return true;
}
