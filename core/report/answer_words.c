/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of metrics, parameters and settings as words of a sentence. */
#include "core/report/answer.h"

#include "core/report/labels.h"
#include "core/stats/numbers.h"
#include "lib/base/text.h"
#include "lib/base/unit.h"

#include <string.h>

/* ---- names ----------------------------------------------------------------------------------- */

/* The forms in which a name can end with its unit: "images/s" as "images_per_second". */
static GPtrArray *unit_suffixes(const char *unit)
{
    static const char *const seconds[] = {"s", "second", "seconds"}, *const slashes[] = {"_per_",
                                                                                         "_"};
    GPtrArray *out = g_ptr_array_new_with_free_func(g_free);
    g_auto(GStrv) parts = g_strsplit(unit, "/", 2);
    g_autofree char *first = g_ascii_strdown(parts[0] ? parts[0] : "", -1);
    const char *last = parts[0] && parts[1] ? parts[1] : first;
    const bool is_seconds = strcmp(last, "s") == 0;
    for (unsigned i = 0; i < (is_seconds ? G_N_ELEMENTS(seconds) : 1); i++)
        for (unsigned k = 0; k < G_N_ELEMENTS(slashes); k++)
            g_ptr_array_add(out, last == first
                                     ? g_strdup_printf("_%s", is_seconds ? seconds[i] : first)
                                     : g_strdup_printf("_%s%s%s", first, slashes[k],
                                                       is_seconds ? seconds[i] : last));
    if (strcmp(unit, "%") == 0)
        g_ptr_array_add(out, g_strdup("_percent"));
    return out;
}

static bool is_noun(const char *unit)
{
    return strlen(unit) > 3 && g_str_has_suffix(unit, "s") &&
           unit[strspn(unit, "abcdefghijklmnopqrstuvwxyz")] == '\0';
}

/* Whether a name ends with the noun that is its unit: "training images" in images. Then the unit is
 * not said again. */
bool orch_answer_names_unit(const char *name, const char *unit)
{
    if (!unit || orch_unit_is_time_share(unit))
        return unit != NULL;
    g_autofree char *many = g_strconcat(unit, is_noun(unit) ? "" : "s", NULL); /* "millions" */
    return is_noun(many) && g_str_has_suffix(name, many) &&
           (strlen(name) == strlen(many) || name[strlen(name) - strlen(many) - 1] == ' ');
}

/* The name without the unit at its end; a time is called one. NULL: it does not end with its unit.
 */
static char *without_unit(const char *name, const char *unit)
{
    g_autoptr(GPtrArray) suffixes = unit_suffixes(unit);
    bool is_rate = false, is_timing = orch_unit_is_timing(unit, &is_rate);
    for (guint i = 0; i < suffixes->len && !is_noun(unit); i++)
        if (g_str_has_suffix(name, suffixes->pdata[i])) {
            const size_t length = strlen(name) - strlen(suffixes->pdata[i]);
            g_autofree char *rest = g_strndup(name, length);
            return g_strconcat(rest, is_timing && !is_rate && !strstr(rest, "time") ? " time" : "",
                               NULL);
        }
    return NULL;
}

char *orch_answer_words(GHashTable *labels, const char *name, const char *unit)
{
    const char *label = orch_label_of(labels, name);
    if (label || strcmp(name, "wall_s") == 0)
        return g_strdup(label ? label : "wall time");
    if (labels && !orch_label_is_declared(labels, name))
        return g_strdup(name); /* as the program prints it */
    g_autofree char *shorter = unit ? without_unit(name, unit) : NULL;
    return g_strdelimit(g_strdup(shorter ? shorter : name), "_", ' ');
}

char *orch_answer_value(GHashTable *labels, const struct orch_item_value *wanted, const char *unit)
{
    static const struct {
        enum orch_aggregate aggregate;
        const char *word;
    } WORDS[] = {{ORCH_AGGREGATE_MEAN, "mean "},   {ORCH_AGGREGATE_MIN, "lowest "},
                 {ORCH_AGGREGATE_MAX, "highest "}, {ORCH_AGGREGATE_FIRST, "first "},
                 {ORCH_AGGREGATE_BEST, "best "},   {ORCH_AGGREGATE_COUNT, "number of points of "}};
    g_autofree char *words = orch_answer_words(labels, wanted->name, unit);
    const char *before = "";
    for (unsigned i = 0; i < G_N_ELEMENTS(WORDS); i++)
        before = wanted->aggregate == WORDS[i].aggregate ? WORDS[i].word : before;
    return g_strconcat(g_str_has_prefix(words, before) ? "" : before, words, NULL);
}

/* ---- settings -------------------------------------------------------------------------------- */

/* Axes whose values are names that need no further word: "resnet20", not "resnet20 network". */
static const char *const NAMED[] = {"experiment", "net",     "network", "model",      "data",
                                    "dataset",    "machine", "gpu",     "device",     "who",
                                    "branch",     "commit",  "setting", "device_key", "plugin",
                                    "program",    "target",  "source",  NULL};

/* Whether a value is a word, which says little without what it chooses: "strong" of scaling. */
static bool is_choice(const char *axis, const char *value)
{
    return !g_strv_contains(NAMED, axis) && g_ascii_islower(*value) &&
           value[strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789_-")] == '\0';
}

/* Whether a number of an axis is a count of what its name says: workers, but no bias or bus. */
static bool is_count(const char *words, const char *value)
{
    const size_t length = strlen(words);
    return length > 4 && words[length - 1] == 's' && !strstr(words, " of ") &&
           !strchr("sui", words[length - 2]) && !g_str_has_suffix(words, " as") &&
           !value[strspn(value, "0123456789")];
}

char *orch_answer_named(const char *words, const char *value)
{
    const bool is_one = strcmp(value, "1") == 0;
    return is_count(words, value)
               ? g_strdup_printf("%s %.*s", value, (int)strlen(words) - is_one, words)
               : g_strdup_printf("%s %s", words, value);
}

/* Appends a value of an axis: "learning rate 0.1", "2 workers", "strong scaling", "resnet20". */
static void append_value(GString *out, GHashTable *labels, const char *axis, const char *value)
{
    double number;
    const bool is_named = orch_real_parse(value, &number) || strcmp(value, "true") == 0 ||
                          strcmp(value, "false") == 0;
    const bool is_behind = !is_named && is_choice(axis, value);
    g_autofree char *words = orch_answer_words(labels, axis, NULL);
    g_autofree char *named = is_named ? orch_answer_named(words, value) : NULL;
    g_string_append_printf(out, "%s%s%s", named ? named : value, is_behind ? " " : "",
                           is_behind ? words : "");
}

char *orch_answer_setting(const struct orch_trials *trials, const struct orch_report_trial *trial,
                          const GPtrArray *axes)
{
    GString *label = g_string_new(NULL);
    for (guint i = 0; i < axes->len; i++) {
        g_autofree char *value = orch_trial_value(trials, trial, axes->pdata[i]);
        const bool is_of_name = i == 1 && g_strv_contains(NAMED, axes->pdata[0]);
        if (value && label->len)
            g_string_append(label, is_of_name ? " with " : ", ");
        if (value)
            append_value(label, trials->labels, axes->pdata[i], value);
    }
    return g_string_free(label, FALSE);
}

char *orch_answer_axes(GHashTable *labels, const GPtrArray *axes)
{
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < axes->len; i++) {
        g_autofree char *words = orch_answer_words(labels, axes->pdata[i], NULL);
        g_string_append_printf(out, "%s%s", i ? ", " : "", words);
    }
    return g_string_free(out, FALSE);
}

char *orch_answer_series(GHashTable *labels, const char *name)
{
    g_auto(GStrv) tokens = g_strsplit(name, " ", -1);
    GString *out = g_string_new(NULL);
    for (guint i = 0; tokens[i]; i++) {
        const char *equals = strchr(tokens[i], '=');
        if (equals && equals > tokens[i] && equals[1]) {
            g_autofree char *axis = g_strndup(tokens[i], (gsize)(equals - tokens[i]));
            g_autofree char *value = g_strdup(equals + 1);
            if (tokens[i + 1] && strchr(tokens[i + 1], '=') && g_str_has_suffix(value, ","))
                value[strlen(value) - 1] = '\0';
            g_string_append(out, out->len ? ", " : "");
            append_value(out, labels, axis, value);
        } else if (out->len && *tokens[i] == '#') {
            g_string_append_printf(out, ", repeat %s", tokens[i] + 1);
        } else {
            g_string_append_printf(out, "%s%s", out->len ? " " : "", tokens[i]);
        }
    }
    return g_string_free(out, FALSE);
}
