/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of rules are compact: one row for each field that a platform documents and that a
 * training job of one trial may use. A whole JSON schema was rejected: of six platforms only two
 * publish one, and these describe all that the platforms can do. */
#include "features/cloud/job_schema.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

static const char *const TYPE_NAMES[] = {"a text", "an integer", "true or false",
                                         "a list", "an object",  "a text, number or boolean"};

struct check {
    const struct orch_job_rule *rules;
    const char *what;
    GError **error;
};

static bool complain(const struct check *check, const char *place, const char *hint,
                     const char *problem)
{
    orch_error_set(check->error, ORCH_ERROR_RECIPE, hint, "field '%s' of %s %s", place, check->what,
                   problem);
    return false;
}

static const struct orch_job_rule *find_rule(const struct orch_job_rule *rules, const char *path)
{
    for (const struct orch_job_rule *rule = rules; rule->path; rule++)
        if (strcmp(rule->path, path) == 0)
            return rule;
    return NULL;
}

static bool has_type(enum orch_job_type type, const json_t *value)
{
    switch (type) {
    case ORCH_JOB_TEXT:
        return json_is_string(value);
    case ORCH_JOB_INTEGER:
        return json_is_integer(value);
    case ORCH_JOB_BOOLEAN:
        return json_is_boolean(value);
    case ORCH_JOB_LIST:
        return json_is_array(value);
    case ORCH_JOB_OBJECT:
        return json_is_object(value);
    case ORCH_JOB_SCALAR:
        return json_is_string(value) || json_is_number(value) || json_is_boolean(value);
    }
    return false;
}

/* What `least` and `most` limit, and its unit. */
static double size_of(const json_t *value, const char **out_unit)
{
    *out_unit = "";
    if (json_is_number(value))
        return json_number_value(value);
    *out_unit = json_is_string(value) ? " characters" : " items";
    return json_is_string(value)  ? (double)g_utf8_strlen(json_string_value(value), -1)
           : json_is_array(value) ? (double)json_array_size(value)
                                  : (double)json_object_size(value);
}

static bool check_range(const struct check *check, const struct orch_job_rule *rule,
                        const json_t *value, const char *place)
{
    const char *unit;
    double size = size_of(value, &unit);
    if ((rule->least == 0 && rule->most == 0) ||
        (size >= rule->least && (rule->most == 0 || size <= rule->most)))
        return true;
    g_autofree char *problem =
        rule->most == 0
            ? g_strdup_printf("is %.15g%s, at least %.15g expected", size, unit, rule->least)
            : g_strdup_printf("is %.15g%s, %.15g to %.15g expected", size, unit, rule->least,
                              rule->most);
    return complain(check, place, rule->hint, problem);
}

static bool check_text(const struct check *check, const struct orch_job_rule *rule,
                       const char *text, const char *place)
{
    g_autofree char *pattern =
        rule->pattern ? g_strdup_printf("^(?:%s)$", rule->pattern) : g_strdup("");
    if (rule->pattern && !g_regex_match_simple(pattern, text, G_REGEX_DOLLAR_ENDONLY, 0)) {
        g_autofree char *problem =
            g_strdup_printf("is '%s', which does not match %s", text, rule->pattern);
        return complain(check, place, rule->hint, problem);
    }
    if (!rule->choices || g_strv_contains(rule->choices, text))
        return true;
    g_autofree char *list = g_strjoinv(", ", (char **)(uintptr_t)rule->choices);
    g_autofree char *problem = g_strdup_printf("is '%s', one of these expected: %s", text, list);
    return complain(check, place, rule->hint, problem);
}

static bool check_value(const struct check *check, const json_t *value, const char *path,
                        const char *place);

/* Rules for the fields of the object at `path` that must be there. */
static bool check_required(const struct check *check, const json_t *object, const char *path,
                           const char *place)
{
    size_t length = strlen(path);
    for (const struct orch_job_rule *rule = check->rules; rule->path; rule++) {
        const char *name = rule->path + length + (length ? 1 : 0);
        bool is_inside =
            length == 0 || (strncmp(rule->path, path, length) == 0 && rule->path[length] == '.');
        if (!rule->required || !is_inside || json_object_get(object, name) ||
            strpbrk(name, ".[") != NULL)
            continue;
        g_autofree char *full = *place ? g_strdup_printf("%s.%s", place, name) : g_strdup(name);
        return complain(check, full, rule->hint, "is missing");
    }
    return true;
}

static bool check_members(const struct check *check, const json_t *object, const char *path,
                          const char *place)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        const char *dot = *path ? "." : "";
        g_autofree char *own = g_strconcat(path, dot, name, NULL);
        g_autofree char *any = g_strconcat(path, dot, "*", NULL);
        g_autofree char *full = g_strconcat(place, dot, name, NULL);
        if (!check_value(check, value, find_rule(check->rules, own) ? own : any, full))
            return false;
    }
    return check_required(check, object, path, place);
}

static bool check_items(const struct check *check, const json_t *list, const char *path,
                        const char *place)
{
    g_autofree char *inner = g_strconcat(path, "[]", NULL);
    for (size_t i = 0; i < json_array_size(list); i++) {
        g_autofree char *full = g_strdup_printf("%s[%zu]", place, i);
        if (!check_value(check, json_array_get(list, i), inner, full))
            return false;
    }
    return true;
}

static bool check_value(const struct check *check, const json_t *value, const char *path,
                        const char *place)
{
    const struct orch_job_rule *rule = find_rule(check->rules, path);
    if (!rule)
        return complain(check, place, NULL, "is not known");
    if (!has_type(rule->type, value)) {
        g_autofree char *problem = g_strdup_printf("is not %s", TYPE_NAMES[rule->type]);
        return complain(check, place, rule->hint, problem);
    }
    if (!json_is_boolean(value) && !check_range(check, rule, value, place))
        return false;
    if (json_is_string(value))
        return check_text(check, rule, json_string_value(value), place);
    if (json_is_array(value))
        return check_items(check, value, path, place);
    return !json_is_object(value) || check_members(check, value, path, place);
}

bool orch_job_schema_check(const struct orch_job_rule *rules, const json_t *document,
                           const char *what, GError **error)
{
    const struct check check = {rules, what, error};
    return check_members(&check, document, "", "");
}

/* Steps from an object to the member whose name begins the path. Names may contain dots, so that
 * the longest one counts. Advances `*path` behind the name and its dot. */
static const json_t *step_into(const json_t *object, const char **path)
{
    const json_t *found = NULL;
    size_t longest = 0;
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        size_t length = strlen(name);
        char after = strncmp(*path, name, length) == 0 ? (*path)[length] : 'x';
        if (length > longest && (after == 0 || after == '.' || after == '[')) {
            longest = length;
            found = value;
        }
    }
    *path += longest;
    *path += **path == '.';
    return found;
}

const json_t *orch_job_lookup(const json_t *document, const char *path)
{
    const json_t *value = document;
    while (value && *path) {
        if (*path == '[') {
            char *end;
            value = json_array_get(value, (size_t)strtoul(path + 1, &end, 10));
            path = *end == ']' ? end + 1 : end;
            path += *path == '.';
        } else {
            value = step_into(value, &path);
        }
    }
    return value;
}
