/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/space/repeat_rule.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

#define CI 0.02
#define MAX_REPEATS 20
#define MAX_ALLOWED 1000

static const char EXAMPLE[] = "for example auto(ci=2%, max=20, metric=val_accuracy)";

void orch_repeat_rule_free(struct orch_repeat_rule *rule)
{
    if (!rule)
        return;
    g_free(rule->metric);
    g_free(rule->summary);
    g_free(rule);
}

struct orch_repeat_rule *orch_repeat_rule_copy(const struct orch_repeat_rule *rule)
{
    struct orch_repeat_rule *copy = g_memdup2(rule, sizeof *rule);
    copy->metric = g_strdup(rule->metric);
    copy->summary = g_strdup(rule->summary);
    return copy;
}

bool orch_repeat_rule_is_meant(const char *text)
{
    return g_str_has_prefix(text, "auto");
}

/* ---- arguments ----------------------------------------------------------------------------------
 */

static bool read_ci(const char *text, struct orch_repeat_rule *out, GError **error)
{
    double number;
    if ((orch_percent_parse(text, &number, &out->ci) || orch_real_parse(text, &out->ci)) &&
        out->ci > 0 && out->ci < 1)
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, "for example ci=2%",
                   "'ci': '%s' is not above 0 and below 100 %% of the mean", text);
    return false;
}

static bool read_max(const char *text, struct orch_repeat_rule *out, GError **error)
{
    double number;
    if (orch_real_parse(text, &number) && number >= ORCH_REPEATS_MIN && number <= MAX_ALLOWED &&
        number == floor(number)) {
        out->max = (int)number;
        return true;
    }
    orch_error_set(error, ORCH_ERROR_RECIPE, "for example max=20",
                   "'max': '%s' is not a whole number from %d to %d", text, ORCH_REPEATS_MIN,
                   MAX_ALLOWED);
    return false;
}

/* "val_accuracy", "best val_accuracy" */
static bool read_metric(const char *text, struct orch_repeat_rule *out, GError **error)
{
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    guint count = g_strv_length(words);
    if (*text && count <= 2) {
        g_free(out->metric);
        g_free(out->summary);
        out->metric = g_strdup(words[count - 1]);
        out->summary = count == 2 ? g_strdup(words[0]) : NULL;
        return true;
    }
    orch_error_set(error, ORCH_ERROR_RECIPE, "for example metric=val_accuracy",
                   "'metric': '%s' is not the name of one metric", text);
    return false;
}

static const struct {
    const char *name;
    bool (*read)(const char *text, struct orch_repeat_rule *out, GError **error);
} ARGUMENTS[] = {{"ci", read_ci}, {"max", read_max}, {"metric", read_metric}};

static bool read_argument(const char *text, struct orch_repeat_rule *out, GError **error)
{
    const char *equals = strchr(text, '=');
    g_autofree char *name = g_strstrip(g_strndup(text, equals ? (gsize)(equals - text) : 0));
    for (size_t i = 0; i < G_N_ELEMENTS(ARGUMENTS); i++) {
        if (strcmp(ARGUMENTS[i].name, name) != 0)
            continue;
        g_autofree char *value = g_strstrip(g_strdup(equals + 1));
        return ARGUMENTS[i].read(value, out, error);
    }
    g_autofree char *word = g_strstrip(g_strdup(text));
    orch_error_set(error, ORCH_ERROR_RECIPE, EXAMPLE, "'%s' is not ci=, max= or metric=", word);
    return false;
}

/* ---- the rule -----------------------------------------------------------------------------------
 */

/* Reads what stands between the brackets. */
static bool read_arguments(const char *text, const char *begin, size_t length,
                           struct orch_repeat_rule *out, size_t *out_at, GError **error)
{
    g_autofree char *inside = g_strndup(begin, length);
    g_auto(GStrv) parts = g_strsplit(inside, ",", -1);
    size_t at = (size_t)(begin - text);
    for (int i = 0; parts[i]; i++) {
        size_t space = strspn(parts[i], " \t");
        *out_at = at + space;
        if (!read_argument(parts[i], out, error))
            return false;
        at += strlen(parts[i]) + 1;
    }
    return true;
}

struct orch_repeat_rule *orch_repeat_rule_parse(const char *text, size_t *out_at, GError **error)
{
    const char *begin = text + strlen("auto");
    size_t length = strlen(text);
    *out_at = 0;
    struct orch_repeat_rule *rule = g_new0(struct orch_repeat_rule, 1);
    rule->ci = CI;
    rule->max = MAX_REPEATS;
    bool is_bare = strcmp(text, "auto") == 0;
    bool is_closed = !is_bare && *begin == '(' && length > 5 && text[length - 1] == ')';
    if (!is_bare && !is_closed)
        orch_error_set(error, ORCH_ERROR_RECIPE, EXAMPLE, "'%s' is no rule for repeats", text);
    else if (is_bare || begin[1] == ')' ||
             read_arguments(text, begin + 1, (size_t)(text + length - 1 - (begin + 1)), rule,
                            out_at, error))
        return rule;
    orch_repeat_rule_free(rule);
    return NULL;
}
