/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of metrics, parameters and settings as words of a sentence. */
#include "core/report/answer.h"

#include "core/stats/numbers.h"
#include "lib/base/text.h"

#include <string.h>

/* ---- names -------------------------------------------------------------------------------------
 */

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
    return unit && is_noun(unit) && g_str_has_suffix(name, unit) &&
           (strlen(name) == strlen(unit) || name[strlen(name) - strlen(unit) - 1] == ' ');
}

/* Abbreviations of names; some are words of their own when they stand alone. */
static const struct {
    const char *word, *instead;
    bool is_alone; /* also as the whole name */
} ABBREVIATIONS[] = {
    {"acc", "accuracy", true},      {"conv", "convolution", false}, {"lr", "learning rate", true},
    {"mac", "multiply-add", false}, {"ppp", "PPP", true},           {"train", "training", false},
    {"params", "parameters", true}, {"val", "validation", false},
};
/* Words that belong together. */
static const char *const PAIRS[][2] = {
    {"multiply adds", "multiply-adds"}, {" per s", " per second"}, {" map", " mAP"}};

static const char *word_for(const char *word, bool is_alone)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(ABBREVIATIONS); i++)
        if (strcmp(word, ABBREVIATIONS[i].word) == 0 && (!is_alone || ABBREVIATIONS[i].is_alone))
            return ABBREVIATIONS[i].instead;
    return word;
}

/* Writes abbreviations out, in a name whose words are separated by blanks. */
static char *written_out(const char *name)
{
    g_auto(GStrv) words = g_strsplit(name, " ", -1);
    GString *out = g_string_new(NULL);
    for (guint i = 0; words[i]; i++)
        g_string_append_printf(out, "%s%s", i ? " " : "", word_for(words[i], !words[1]));
    for (unsigned i = 0; i < G_N_ELEMENTS(PAIRS); i++) {
        char *at = strstr(out->str, PAIRS[i][0]);
        const size_t length = strlen(PAIRS[i][0]);
        if (!at || (at[length] && at[length] != ' '))
            continue;
        const gssize place = at - out->str;
        g_string_erase(out, place, (gssize)length);
        g_string_insert(out, place, PAIRS[i][1]);
    }
    return g_string_free(out, FALSE);
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

/* What orch itself measures besides a trial; GPUs have a number behind "gpu". */
static const char *const SYSTEM[][2] = {
    {"cpu_trial", "use of the processor by the trial"},
    {"cpu_machine", "use of the processor by the machine"},
    {"memory_trial", "memory of the trial"},
    {"core", "use of the GPU's cores"},
    {"memory_busy", "use of the GPU's memory"},
    {"memory", "memory of the GPU"},
    {"power", "power of the GPU"},
    {"clock", "clock of the GPU"},
};

/* NULL: no metric of the system, or one that is called by its own name. */
static const char *system_words(const char *name)
{
    static const char system[] = "system/", gpu[] = "gpu";
    if (!g_str_has_prefix(name, system))
        return NULL;
    const char *own = name + strlen(system);
    if (g_str_has_prefix(own, gpu)) {
        own += strlen(gpu);
        own += strspn(own, "0123456789");
        own += *own == '_';
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(SYSTEM); i++)
        if (strcmp(own, SYSTEM[i][0]) == 0)
            return SYSTEM[i][1];
    return NULL;
}

char *orch_answer_words(const char *name, const char *unit)
{
    const char *own = name, *known = system_words(name);
    if (known)
        return g_strdup(known);
    g_autofree char *shorter = unit ? without_unit(own, unit) : NULL;
    g_autofree char *words = g_strdelimit(g_strdup(shorter ? shorter : own), "_", ' ');
    return written_out(words);
}

/* ---- settings ----------------------------------------------------------------------------------
 */

/* Appends a value of an axis: with its name where it is a number, true or false. */
static void append_value(GString *out, const char *axis, const char *value)
{
    double number;
    const bool is_named = orch_real_parse(value, &number) || strcmp(value, "true") == 0 ||
                          strcmp(value, "false") == 0;
    g_autofree char *words = orch_answer_words(axis, NULL);
    g_string_append_printf(out, "%s%s%s%s", out->len ? ", " : "", is_named ? words : "",
                           is_named ? " " : "", value);
}

char *orch_answer_setting(const struct orch_trials *trials, const struct orch_report_trial *trial,
                          const GPtrArray *axes)
{
    GString *label = g_string_new(NULL);
    for (guint i = 0; i < axes->len; i++) {
        g_autofree char *value = orch_trial_value(trials, trial, axes->pdata[i]);
        if (value)
            append_value(label, axes->pdata[i], value);
    }
    return g_string_free(label, FALSE);
}

char *orch_answer_axes(const GPtrArray *axes)
{
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < axes->len; i++) {
        g_autofree char *words = orch_answer_words(axes->pdata[i], NULL);
        g_string_append_printf(out, "%s%s", i ? ", " : "", words);
    }
    return g_string_free(out, FALSE);
}

char *orch_answer_series(const char *name)
{
    g_auto(GStrv) tokens = g_strsplit(name, " ", -1);
    GString *out = g_string_new(NULL);
    for (guint i = 0; tokens[i]; i++) {
        const char *equals = strchr(tokens[i], '=');
        const bool is_value = equals && equals > tokens[i] && equals[1];
        if (is_value) {
            g_autofree char *axis = g_strndup(tokens[i], (gsize)(equals - tokens[i]));
            g_autofree char *value = g_strdup(equals + 1);
            if (tokens[i + 1] && strchr(tokens[i + 1], '=') && g_str_has_suffix(value, ","))
                value[strlen(value) - 1] = '\0';
            append_value(out, axis, value);
        } else {
            g_string_append_printf(out, "%s%s", out->len ? " " : "", tokens[i]);
        }
    }
    return g_string_free(out, FALSE);
}
