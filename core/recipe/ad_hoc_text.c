/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/recipe/ad_hoc_text.h"

#include "core/recipe/command_words.h"
#include "core/recipe/setting_type.h"
#include "lib/base/csv.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/space/param_space.h"

#include <string.h>

/* ---- scalars ----------------------------------------------------------------------------------
 */

/* Quotes a text for the recipe. JSON is valid YAML, so jansson does the quoting. */
static void append_quoted(GString *out, const char *text)
{
    json_t *value = json_string(text);
    char *quoted = json_dumps(value, JSON_ENCODE_ANY);
    g_string_append(out, quoted ? quoted : "\"\"");
    free(quoted);
    json_decref(value);
}

/* Appends a text without quotes where it means the same. */
static void append_plain(GString *out, const char *text)
{
    static const char SAFE[] =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_./+-@$";
    static const char *const nothing[] = {"null", "Null", "NULL", NULL};
    bool is_plain = *text && !text[strspn(text, SAFE)] && !strchr("@.$", *text) &&
                    strcmp(text, "-") != 0 && !g_str_has_prefix(text, "--") &&
                    !g_strv_contains(nothing, text);
    if (is_plain)
        g_string_append(out, text);
    else
        append_quoted(out, text);
}

/* Appends a value: a dollar sign is none of a variable. */
static void append_value(GString *out, const char *text)
{
    g_autoptr(GString) doubled = g_string_new(text);
    g_string_replace(doubled, "$", "$$", 0);
    append_plain(out, doubled->str);
}

/* ---- the command ------------------------------------------------------------------------------
 */

/* A line that g_shell_parse_argv splits into the words again, and that YAML needs no quotes for;
 * NULL when there is none. The caller frees. */
static char *command_line(char *const *words)
{
    static const char SAFE[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "_./=,+@%^:{}$-[]()*?!~;|&<>\"";
    static const char SPECIAL[] = "()*?!~;|&<>\"";
    g_autoptr(GString) line = g_string_new(NULL);
    for (int i = 0; words[i]; i++) {
        bool is_safe =
            *words[i] && !words[i][strspn(words[i], SAFE)] && !strpbrk(words[i], SPECIAL);
        g_autofree char *quoted = is_safe ? NULL : g_shell_quote(words[i]);
        g_string_append_printf(line, "%s%s", i ? " " : "", is_safe ? words[i] : quoted);
    }
    bool is_plain = g_ascii_isalnum(line->str[0]) || strchr("./_", line->str[0]);
    if (!is_plain || strpbrk(line->str, "\n\r\t") || strstr(line->str, ": ") ||
        strstr(line->str, " #") || g_str_has_suffix(line->str, ":") ||
        !g_utf8_validate(line->str, -1, NULL))
        return NULL;
    for (const char *p = line->str; *p; p = g_utf8_next_char(p))
        if (!g_unichar_isprint(g_utf8_get_char(p)))
            return NULL;
    g_auto(GStrv) again = NULL;
    return g_shell_parse_argv(line->str, NULL, &again, NULL) &&
                   g_strv_equal((const char *const *)again, (const char *const *)words)
               ? g_strdup(line->str)
               : NULL;
}

char *orch_ad_hoc_command(char *const *words, bool is_line)
{
    char *line = is_line ? command_line(words) : NULL;
    if (line)
        return line;
    GString *out = g_string_new("[");
    for (int i = 0; words[i]; i++) {
        g_string_append(out, i ? ", " : "");
        append_quoted(out, words[i]);
    }
    return g_string_free(g_string_append_c(out, ']'), FALSE);
}

/* ---- settings ---------------------------------------------------------------------------------
 */

enum block { BLOCK_WITH, BLOCK_SWEEP, BLOCK_SEARCH, BLOCKS };
static const char *const BLOCK_NAMES[] = {"with", "sweep", "search"};

static const char *values_of(const struct orch_command_setting *setting)
{
    return setting->plain + strlen(setting->name) + 1;
}

static enum block block_of(const struct orch_command_setting *setting)
{
    return !setting->is_swept                        ? BLOCK_WITH
           : orch_space_is_meant(values_of(setting)) ? BLOCK_SEARCH
                                                     : BLOCK_SWEEP;
}

/* Whether the values alone do not say the type. */
static bool needs_type(const struct orch_command_setting *setting)
{
    return strcmp(setting->type, orch_setting_type(values_of(setting), setting->is_swept)) != 0;
}

/* Appends "{ a: x, b: y }" with a text for each setting that is `wanted`. */
static void append_map(GString *out, const char *key, const GPtrArray *settings,
                       bool (*wanted)(const struct orch_command_setting *, int), int which,
                       void (*append)(GString *, const struct orch_command_setting *))
{
    unsigned count = 0;
    for (guint i = 0; i < settings->len; i++) {
        const struct orch_command_setting *setting = settings->pdata[i];
        if (!wanted(setting, which))
            continue;
        g_string_append_printf(out, count++ ? ", " : "    %s: { ", key);
        append_plain(out, setting->name);
        g_string_append(out, ": ");
        append(out, setting);
    }
    g_string_append(out, count ? " }\n" : "");
}

static bool is_in_block(const struct orch_command_setting *setting, int block)
{
    return block_of(setting) == (enum block)block;
}

static bool is_of_type(const struct orch_command_setting *setting, int all)
{
    return all || needs_type(setting);
}

static void append_type(GString *out, const struct orch_command_setting *setting)
{
    g_string_append(out, strcmp(setting->type, "string") == 0 ? "text" : setting->type);
}

static void append_values(GString *out, const struct orch_command_setting *setting)
{
    const char *values = values_of(setting);
    size_t length = strlen(values);
    if (block_of(setting) == BLOCK_WITH) {
        append_value(out, values);
    } else if (block_of(setting) == BLOCK_SEARCH) {
        append_quoted(out, values);
    } else if (g_str_has_prefix(values, "range(")) {
        append_quoted(out, values);
    } else {
        bool is_list = length >= 2 && values[0] == '[' && values[length - 1] == ']';
        g_autofree char *inside = g_strndup(values + is_list, length - 2 * (size_t)is_list);
        g_autoptr(GPtrArray) words = orch_recipe_split(inside);
        g_string_append_c(out, '[');
        for (guint i = 0; i < words->len; i++) {
            g_string_append(out, i ? ", " : "");
            append_value(out, words->pdata[i]);
        }
        g_string_append_c(out, ']');
    }
}

/* ---- the other options ------------------------------------------------------------------------
 */

static void append_list(GString *out, const char *begin, const char *const *texts)
{
    for (int i = 0; texts && texts[i]; i++) {
        g_string_append(out, i ? ", " : begin);
        append_plain(out, texts[i]);
        g_string_append(out, texts[i + 1] ? "" : "]\n");
    }
}

/* Adds `metrics_on:`, `metrics_files:` and `artifacts:`. */
static bool append_outputs(const struct orch_ad_hoc *wish, GPtrArray *settings, GString *out,
                           GError **error)
{
    if (wish->metrics_on && !g_strv_contains(ORCH_METRICS_ON_NAMES, wish->metrics_on)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "write stdout, stderr, both, lines, files or none",
                       "option '--metrics-from': unknown source of metrics '%s'", wish->metrics_on);
        return false;
    }
    if (wish->metrics_on)
        g_string_append_printf(out, "    metrics_on: %s\n", wish->metrics_on);
    append_list(out, "    metrics_files: [", wish->metrics_files);
    if (wish->artifacts && wish->artifacts[0])
        g_string_append(out, "    artifacts:\n");
    for (int i = 0; wish->artifacts && wish->artifacts[i]; i++) {
        const char *equals = strchr(wish->artifacts[i], '=');
        g_autofree char *artifact =
            equals ? g_strndup(wish->artifacts[i], (gsize)(equals - wish->artifacts[i])) : NULL;
        if (!orch_artifact_name_is_valid(artifact)) {
            orch_error_set(error, ORCH_ERROR_USAGE, "for example --artifact weights=out.pt",
                           "option '--artifact': '%s' is not of the form NAME=FILE",
                           wish->artifacts[i]);
            return false;
        }
        const char *const path[] = {equals + 1, NULL};
        g_auto(GStrv) words = strstr(*path, "${") /* as in a recipe */
                                  ? g_strdupv((char **)(uintptr_t)path)
                                  : orch_command_words_translate(path, settings, error);
        if (!words)
            return false;
        g_string_append(out, "      ");
        append_plain(out, artifact);
        g_string_append(out, ": ");
        append_plain(out, *words);
        g_string_append_c(out, '\n');
    }
    return true;
}

/* Adds `resources: { gpus: 1, cores: 4 }`. */
static bool append_resources(GString *out, const char *const *lists, GError **error)
{
    static const char PLAIN[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ. ";
    unsigned count = 0;
    for (int i = 0; lists && lists[i]; i++) {
        g_auto(GStrv) pairs = g_strsplit(lists[i], ",", -1);
        for (int k = 0; pairs[k]; k++) {
            static const char *const keys[] = {"gpus", "cores",     "memory",
                                               "time", "exclusive", NULL};
            g_auto(GStrv) parts = g_strsplit(pairs[k], "=", 2);
            const char *key = parts[0] ? g_strstrip(parts[0]) : "";
            const char *value = parts[0] && parts[1] ? g_strstrip(parts[1]) : "";
            if (!g_strv_contains(keys, key) || !*value || value[strspn(value, PLAIN)]) {
                orch_error_set(error, ORCH_ERROR_USAGE, "for example --resources gpus=1,cores=4",
                               "option '--resources': '%s' is not KEY=VALUE with one of the keys "
                               "gpus, cores, memory, time and exclusive",
                               pairs[k]);
                return false;
            }
            g_string_append_printf(out, "%s%s: %s", count++ ? ", " : "    resources: { ", key,
                                   value);
        }
    }
    g_string_append(out, count ? " }\n" : "");
    return true;
}

/* Adds the rows of a file to the settings, as "lr=0.1,opt=sgd": its first row has the parameters. A
 * cell that is empty says nothing of its parameter. */
static bool add_rows(const char *path, GPtrArray *settings, GError **error)
{
    struct orch_csv *csv = orch_csv_read(path, error);
    for (size_t row = 0; csv && row < orch_csv_rows(csv); row++) {
        GString *setting = g_string_new(NULL);
        for (int k = 0; k < orch_csv_columns(csv); k++) {
            const char *value = orch_csv_text(csv, row, k);
            if (*value)
                g_string_append_printf(setting, "%s%s=%s", setting->len ? "," : "",
                                       orch_csv_name(csv, k), value);
        }
        g_ptr_array_add(settings, g_string_free(setting, FALSE));
    }
    orch_csv_free(csv);
    return csv;
}

/* The settings with each file "NAME.csv" replaced by its rows; NULL-terminated. The caller unrefs.
 */
static GPtrArray *with_rows(const char *const *settings, GError **error)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; settings && settings[i]; i++)
        if (!g_str_has_suffix(settings[i], ".csv") || strchr(settings[i], '='))
            g_ptr_array_add(all, g_strdup(settings[i]));
        else if (!add_rows(settings[i], all, error))
            return NULL;
    g_ptr_array_add(all, NULL);
    return g_steal_pointer(&all);
}

/* Adds `try: [{ lr: "0.1" }]` to the objective. */
static bool append_first(GString *out, const char *const *wished, GError **error)
{
    g_autoptr(GPtrArray) all = with_rows(wished, error);
    char **settings = all ? (char **)all->pdata : NULL;
    for (int i = 0; settings && settings[i]; i++) {
        g_auto(GStrv) pairs = g_strsplit(settings[i], ",", -1);
        g_string_append(out, i ? ", {" : "      try: [{");
        for (int k = 0; pairs[k]; k++) {
            char *value = strchr(pairs[k], '=');
            if (!value || value == pairs[k]) {
                orch_error_set(error, ORCH_ERROR_USAGE, "for example --try lr=0.1,opt=sgd",
                               "option '--try': '%s' is not NAME=VALUE", pairs[k]);
                return false;
            }
            *value++ = '\0';
            g_string_append_printf(out, "%s %s: ", k ? "," : "", pairs[k]);
            append_quoted(out, value);
        }
        g_string_append(out, settings[i + 1] ? " }" : " }]\n");
    }
    return all;
}

/* Adds "key: value", or "key: [a, b]" for a list with commas. */
static void append_words(GString *out, const char *key, const char *value, bool is_list)
{
    const bool has_brackets = is_list && *value == '[' && g_str_has_suffix(value, "]");
    g_autofree char *inside = g_strndup(value + has_brackets, strlen(value) - 2 * has_brackets);
    g_auto(GStrv) words = g_strsplit(inside, is_list ? "," : "\n", -1);
    is_list = is_list && words[0] && words[1];
    g_string_append_printf(out, "      %s: %s", key, is_list ? "[" : "");
    for (int i = 0; is_list && words[i]; i++) {
        g_string_append(out, i ? ", " : "");
        append_plain(out, g_strstrip(words[i]));
    }
    if (!is_list)
        append_plain(out, value);
    g_string_append(out, is_list ? "]\n" : "\n");
}

/* Adds `objective:`. Its values are checked as those of a recipe are. */
static bool append_objective(GString *out, const struct orch_ad_hoc *wish, GError **error)
{
    const bool has_several = wish->search && strchr(wish->search, ',');
    const struct {
        const char *key, *value;
        bool is_list;
    } rows[] = {{has_several ? "metrics" : "metric", wish->search, true},
                {"subject to", wish->subject_to, false},
                {"sampler", wish->sampler, false},
                {"seed", wish->seed, false},
                {"until", wish->until, true},
                {"stop", wish->stop, false}};
    bool has_any = wish->trials || wish->first;
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        has_any |= rows[i].value != NULL;
    if (!has_any)
        return true;
    g_string_append(out, "    objective:\n");
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        if (rows[i].value)
            append_words(out, rows[i].key, rows[i].value, rows[i].is_list);
    if (wish->trials)
        g_string_append_printf(out, "      trials: %d\n", wish->trials);
    return append_first(out, wish->first, error);
}

/* Adds `repeat:`, `timeout:` and `inputs:` where they are given. */
static bool append_rest(GString *out, const struct orch_ad_hoc *wish, GError **error)
{
    if (wish->repeat) {
        g_string_append(out, "    repeat: ");
        append_plain(out, wish->repeat);
        g_string_append_c(out, '\n');
    }
    if (!append_objective(out, wish, error))
        return false;
    append_list(out, "    inputs: [", wish->inputs);
    if (wish->timeout_s > 0) {
        char number[ORCH_REAL_CHARS];
        g_string_append_printf(out, "    timeout: %s\n", orch_real_format(wish->timeout_s, number));
    }
    return true;
}

GString *orch_ad_hoc_text(const struct orch_ad_hoc *wish, const char *recipe, const char *name,
                          const char *command, GPtrArray *settings, bool has_values, GError **error)
{
    g_autoptr(GString) out = g_string_new(NULL);
    g_string_append_printf(out, "format: 1\nrecipe: %s\n", recipe);
    if (has_values && wish->jobs)
        g_string_append_printf(out, "jobs: %d\n", wish->jobs);
    if (json_array_size(wish->alerts)) {
        char *alerts = json_dumps(wish->alerts, 0); /* JSON is YAML */
        g_string_append_printf(out, "alert: %s\n", alerts);
        free(alerts);
    }
    g_string_append_printf(out, "experiments:\n  %s:\n    program: %s\n", name, command);
    append_map(out, "types", settings, is_of_type, !has_values, append_type);
    for (int block = 0; has_values && block < BLOCKS; block++)
        append_map(out, BLOCK_NAMES[block], settings, is_in_block, block, append_values);
    if (!append_rest(out, wish, error) || !append_outputs(wish, settings, out, error) ||
        !append_resources(out, wish->resources, error))
        return NULL;
    return g_steal_pointer(&out);
}
