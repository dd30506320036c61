/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/imports/optuna_distribution.h"

#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

enum { BYTES_MAX = 1 << 20, WHOLE_MAX_BITS = 53 };

/* A choice is JSON of any kind. What is no number, boolean or text becomes the text that Python
 * prints for None, else its JSON. */
static json_t *choice_value(const json_t *choice)
{
    if (json_is_string(choice) || json_is_number(choice) || json_is_boolean(choice))
        return json_deep_copy(choice);
    if (json_is_null(choice))
        return json_string("None");
    g_autofree char *text = orch_json_canonical(choice);
    return json_string(text);
}

static char *choice_text(const json_t *choice)
{
    json_t *value = choice_value(choice);
    char *text =
        json_is_string(value) ? g_strdup(json_string_value(value)) : orch_json_canonical(value);
    json_decref(value);
    return text;
}

/* One of several values; `stored` is its index. */
static json_t *categorical(const json_t *attributes, double stored, char **out_range)
{
    const json_t *choices = json_object_get(attributes, "choices");
    size_t count = json_array_size(choices);
    if (!(stored >= 0 && stored < (double)count && stored == floor(stored)))
        return NULL;
    GString *range = g_string_new("[");
    for (size_t i = 0; i < count; i++) {
        g_autofree char *text = choice_text(json_array_get(choices, i));
        g_string_append_printf(range, "%s%s", i ? ", " : "", text);
    }
    g_string_append_c(range, ']');
    *out_range = g_string_free(range, FALSE);
    return choice_value(json_array_get(choices, (size_t)stored));
}

/* "uniform(0, 1)", "int(1, 1024, log)", "uniform(0, 1, step 0.1)"; NULL when an end is missing. */
static char *range_text(const json_t *attributes, const char *kind, bool is_integer)
{
    char low[ORCH_REAL_CHARS], high[ORCH_REAL_CHARS], step[ORCH_REAL_CHARS];
    double ends[2], by;
    const json_t *q = json_object_get(attributes, "q"), *s = json_object_get(attributes, "step");
    if (!orch_json_get_real(json_object_get(attributes, "low"), &ends[0]) ||
        !orch_json_get_real(json_object_get(attributes, "high"), &ends[1]))
        return NULL;
    bool has_step = orch_json_get_real(q ? q : s, &by) && !(is_integer && by == 1);
    bool is_log = strcmp(kind, "log") == 0 || json_is_true(json_object_get(attributes, "log"));
    const char *name = is_integer ? "int" : is_log ? "loguniform" : "uniform";
    return g_strdup_printf("%s(%s, %s%s%s%s)", name, orch_real_format(ends[0], low),
                           orch_real_format(ends[1], high), is_integer && is_log ? ", log" : "",
                           has_step ? ", step " : "", has_step ? orch_real_format(by, step) : "");
}

static json_t *number(const json_t *attributes, const char *kind, bool is_integer, double stored,
                      char **out_range)
{
    bool is_whole = stored == floor(stored) && fabs(stored) <= ldexp(1, WHOLE_MAX_BITS);
    if (!isfinite(stored) || (is_integer && !is_whole))
        return NULL;
    *out_range = range_text(attributes, kind, is_integer);
    if (!*out_range)
        return NULL;
    return is_integer ? json_integer((json_int_t)stored) : orch_json_finite(stored);
}

/* Studies that began before Optuna 3 have the names of their time. */
static const struct row {
    const char *name, *kind;
    bool is_integer;
} ROWS[] = {
    {"FloatDistribution", "", false},           {"IntDistribution", "", true},
    {"UniformDistribution", "", false},         {"LogUniformDistribution", "log", false},
    {"DiscreteUniformDistribution", "", false}, {"IntUniformDistribution", "", true},
    {"IntLogUniformDistribution", "log", true},
};

json_t *orch_optuna_value(const char *distribution, double stored, char **out_range)
{
    g_autoptr(json_t) json = orch_json_parse(distribution, strlen(distribution), BYTES_MAX, NULL);
    const char *name = orch_json_text(json, "name", "");
    const json_t *attributes = json_object_get(json, "attributes");
    if (strcmp(name, "CategoricalDistribution") == 0)
        return categorical(attributes, stored, out_range);
    for (size_t i = 0; i < G_N_ELEMENTS(ROWS); i++)
        if (strcmp(ROWS[i].name, name) == 0)
            return number(attributes, ROWS[i].kind, ROWS[i].is_integer, stored, out_range);
    return NULL;
}
