/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/recipe/ad_hoc.h"

#include "core/recipe/command_words.h"
#include "lib/base/diag.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/local_key.h"
#include "lib/base/text.h"
#include "lib/space/repeat_rule.h"
#include "lib/wire/manifest.h"
#include "lib/wire/secret.h"
#include "store/store_dir.h"

#include <string.h>

/* Quotes a text for the recipe. JSON is valid YAML, so jansson does the quoting. */
static void append_quoted(GString *out, const char *text)
{
    json_t *value = json_string(text);
    char *quoted = json_dumps(value, JSON_ENCODE_ANY);
    g_string_append(out, quoted ? quoted : "\"\"");
    free(quoted);
    json_decref(value);
}

static char *command_text(char *const *words)
{
    GString *out = g_string_new("[");
    for (int i = 0; words[i]; i++) {
        g_string_append(out, i ? ", " : "");
        append_quoted(out, words[i]);
    }
    return g_string_free(g_string_append_c(out, ']'), FALSE);
}

/* The first of the words after the program that has a dot; the program itself if none of the first
 * `count` has one. */
static const char *naming_word(const char *const *command, int count)
{
    for (int i = 1; command[i] && i <= count; i++)
        if (command[i][0] != '-' && strchr(command[i], '.') && !strchr(command[i], '='))
            return command[i];
    return command[0];
}

static char *name_of_word(const char *word)
{
    enum { NAME_BYTES_MAX = 63 }; /* orch_name_is_valid */
    g_autofree char *base = g_path_get_basename(word);
    char *dot = strchr(base, '.');
    if (dot)
        *dot = 0;
    g_autofree char *ascii = orch_text_ascii(base, NAME_BYTES_MAX);
    char *name = g_strdup(ascii + (*ascii == '?' ? strspn(ascii, "?_") : 0));
    for (char *p = name; *p; p++)
        *p = g_ascii_isalnum(*p) ? (char)g_ascii_tolower(*p) : '_';
    return name;
}

/* Derives the experiment's name from the program: "python3 train_net.py" -> "train_net". No
 * experiment can have the name "env", as ${env:NAME} is a variable. */
static char *default_name(const struct orch_ad_hoc *wish)
{
    enum { WORDS_NEAR = 2, WORDS_FAR = 8 };
    char *name = name_of_word(naming_word(wish->command, WORDS_NEAR));
    if (strcmp(name, "env") == 0) {
        g_free(name);
        name = name_of_word(naming_word(wish->command, WORDS_FAR));
    }
    if (strcmp(name, "env") == 0 || !orch_name_is_valid(name, true)) {
        g_free(name);
        name = g_strdup("try");
    }
    return name;
}

static bool manifest_text(const struct orch_ad_hoc *wish, const char *name, const char *command,
                          GPtrArray *settings, GString *out, GError **error)
{
    g_string_append_printf(out,
                           "plugin: %s\nversion: 1.0.0\nabout: a command given to orch try\n"
                           "metrics_from: lines\nmetrics: any\ncommand: %s\n",
                           name, command);
    if (wish->metrics_on && !g_strv_contains(ORCH_METRICS_ON_NAMES, wish->metrics_on)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "write stdout, stderr or both",
                       "option '--metrics-from': '%s' is no stream", wish->metrics_on);
        return false;
    }
    if (wish->metrics_on)
        g_string_append_printf(out, "metrics_on: %s\n", wish->metrics_on);
    if (settings->len)
        g_string_append(out, "parameters:\n");
    for (guint i = 0; i < settings->len; i++) {
        const struct orch_command_setting *p = settings->pdata[i];
        g_string_append(out, "  ");
        if (orch_name_is_valid(p->name, false))
            g_string_append(out, p->name);
        else
            append_quoted(out, p->name);
        g_string_append_printf(out, ": {type: %s}\n", p->type);
    }
    if (wish->artifacts)
        g_string_append(out, "artifacts:\n");
    for (int i = 0; wish->artifacts && wish->artifacts[i]; i++) {
        const char *equals = strchr(wish->artifacts[i], '=');
        g_autofree char *artifact =
            equals ? g_strndup(wish->artifacts[i], (gsize)(equals - wish->artifacts[i])) : NULL;
        if (!artifact || !orch_name_is_valid(artifact, false)) {
            orch_error_set(error, ORCH_ERROR_USAGE, "for example --artifact weights=out.pt",
                           "option '--artifact': '%s' is not of the form NAME=FILE",
                           wish->artifacts[i]);
            return false;
        }
        const char *const path[] = {equals + 1, NULL};
        g_auto(GStrv) words = strstr(*path, "${") /* as in a manifest */
                                  ? g_strdupv((char **)(uintptr_t)path)
                                  : orch_command_words_translate(path, settings, error);
        if (!words)
            return false;
        g_string_append_printf(out, "  %s: ", artifact);
        append_quoted(out, *words);
        g_string_append_c(out, '\n');
    }
    return true;
}

/* Writes the manifest next to the store. Its name depends on its content, so the same command is
 * the same plugin. The name is recorded; that of a command with a secret is made with the key of
 * this machine, so that it does not betray the secret. */
static char *write_manifest(struct orch_store *store, const char *name, const GString *text,
                            bool has_secret, GError **error)
{
    g_autofree char *digest =
        has_secret ? orch_local_key_digest(text->str)
                   : g_compute_checksum_for_string(G_CHECKSUM_SHA256, text->str, (gssize)text->len);
    digest[16] = 0;
    g_autofree char *folder = orch_store_dir_path(store, ORCH_STORE_DIR_TRY, digest);
    g_autofree char *file = g_strconcat(name, ".plugin", NULL);
    char *path = g_build_filename(folder, file, NULL);
    if (!orch_store_dir_make_parent(store, ORCH_STORE_DIR_TRY, error) ||
        !orch_dir_make(folder, error) || !orch_file_write(path, text->str, text->len, false, error))
        g_clear_pointer(&path, g_free);
    return path;
}

static void append_list(GString *out, const char *begin, const char *const *texts)
{
    for (int i = 0; texts && texts[i]; i++) {
        g_string_append(out, i ? ", " : begin);
        append_quoted(out, texts[i]);
        g_string_append(out, texts[i + 1] ? "" : "]\n");
    }
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

/* Adds `objective:`. Its values are checked as those of a recipe are. */
static void append_objective(GString *out, const struct orch_ad_hoc *wish)
{
    const struct {
        const char *key, *value;
    } rows[] = {{"metric", wish->search},
                {"sampler", wish->sampler},
                {"until", wish->until},
                {"stop", wish->stop}};
    if (!wish->search && !wish->sampler && !wish->until && !wish->stop && !wish->trials)
        return;
    g_string_append(out, "    objective:\n");
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        if (rows[i].value) {
            g_string_append_printf(out, "      %s: ", rows[i].key);
            append_quoted(out, rows[i].value);
            g_string_append_c(out, '\n');
        }
    if (wish->trials)
        g_string_append_printf(out, "      trials: %d\n", wish->trials);
}

static GString *recipe_text(const struct orch_ad_hoc *wish, const char *name, const char *manifest,
                            const char *command, const GString *resources)
{
    GString *recipe = g_string_new(NULL);
    g_string_append_printf(recipe,
                           "format: 1\nrecipe: try\nexperiments:\n  %s:\n    plugin: ", name);
    append_quoted(recipe, manifest);
    g_string_append_printf(recipe, "\n    program: %s\n    repeat: ", command);
    if (wish->repeat && orch_repeat_rule_is_meant(wish->repeat))
        append_quoted(recipe, wish->repeat);
    else
        g_string_append(recipe, wish->repeat ? wish->repeat : "1");
    g_string_append_c(recipe, '\n');
    append_objective(recipe, wish);
    append_list(recipe, "    inputs: [", wish->inputs);
    g_string_append(recipe, resources->str);
    if (wish->timeout_s > 0) {
        char number[ORCH_REAL_CHARS];
        g_string_append_printf(recipe, "    timeout: %s\n",
                               orch_real_format(wish->timeout_s, number));
    }
    return recipe;
}

/* The words with commas; NULL when there are none. The caller frees. */
static char *joined(const char *const *words)
{
    GString *out = words && words[0] ? g_string_new(words[0]) : NULL;
    for (int i = 1; out && words[i]; i++)
        g_string_append_printf(out, ",%s", words[i]);
    return out ? g_string_free(out, FALSE) : NULL;
}

/* The option that wrote a line of the recipe, as "--stop asha"; NULL for any other line. The caller
 * frees. */
static char *option_of_line(const struct orch_ad_hoc *wish, const char *line)
{
    g_autofree char *inputs = joined(wish->inputs), *resources = joined(wish->resources);
    const struct {
        const char *key, *option, *value;
    } rows[] = {{"metric:", "search", wish->search},   {"sampler:", "sampler", wish->sampler},
                {"until:", "until", wish->until},      {"stop:", "stop", wish->stop},
                {"repeat:", "repeat", wish->repeat},   {"inputs:", "inputs", inputs},
                {"resources:", "resources", resources}};
    const char *start = line + strspn(line, " ");
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        if (rows[i].value && g_str_has_prefix(start, rows[i].key))
            return g_strdup_printf("--%s %s", rows[i].option, rows[i].value);
    return NULL;
}

/* Names options in findings from the `first` on, since nobody has the recipe's file. */
static void name_options(const struct orch_ad_hoc *wish, const GString *recipe, const char *path,
                         struct orch_diags *diags, guint first)
{
    g_auto(GStrv) lines = g_strsplit(recipe->str, "\n", -1);
    for (guint i = first; i < diags->items->len; i++) {
        struct orch_diag *diag = diags->items->pdata[i];
        if (g_strcmp0(diag->file, path) != 0)
            continue;
        g_free(diag->file);
        diag->file = diag->line > 0 && diag->line <= (int)g_strv_length(lines)
                         ? option_of_line(wish, lines[diag->line - 1])
                         : NULL;
        diag->line = 0;
    }
}

static struct orch_expansion *expand_text(const struct orch_ad_hoc *wish, const GString *recipe,
                                          struct orch_plugins *plugins, const GPtrArray *settings,
                                          struct orch_diags *diags)
{
    guint first = diags->items->len;
    g_autofree const char **fixed = orch_command_settings_options(settings, false);
    g_autofree const char **swept = orch_command_settings_options(settings, true);
    const struct orch_recipe_options options = {
        .settings = fixed, .sweeps = swept, .is_ad_hoc = true};
    g_autofree char *here = wish->folder ? g_strdup(wish->folder) : g_get_current_dir();
    g_autofree char *path = g_build_filename(here, "try.recipe", NULL);
    struct orch_expansion *expansion =
        orch_recipe_expand_text(path, recipe->str, recipe->len, plugins, &options, diags);
    name_options(wish, recipe, path, diags, first);
    if (expansion)
        expansion->is_ad_hoc = true;
    return expansion;
}

/* Returns the words of the command for a manifest; NULL with an error when a setting does not fit
 * them. The caller frees. */
static char **read_command(const struct orch_ad_hoc *wish, GPtrArray *settings, GError **error)
{
    if (!orch_command_settings_add(settings, wish->settings, false, error) ||
        !orch_command_settings_add(settings, wish->sweeps, true, error))
        return NULL;
    g_auto(GStrv) words = orch_command_words_translate(wish->command, settings, error);
    return words && orch_command_settings_check_used(settings, wish->command, wish->from_env, error)
               ? g_steal_pointer(&words)
               : NULL;
}

/* Returns the words as text without those that look like secrets; NULL when none does. The caller
 * frees. */
static char *masked_text(char **words)
{
    const char *const *texts = (const char *const *)words;
    bool has_secret = false;
    for (size_t i = 0; texts[i] && !has_secret; i++)
        has_secret = orch_secret_in_word(texts, i) != NULL;
    if (!has_secret)
        return NULL;
    g_autoptr(json_t) masked = orch_secret_mask_words(texts, g_strv_length(words));
    return orch_json_canonical(masked);
}

bool orch_ad_hoc_repeat_is_rule(const char *text)
{
    return orch_repeat_rule_is_meant(text);
}

struct orch_expansion *orch_ad_hoc_expand(struct orch_store *store, struct orch_plugins *plugins,
                                          const struct orch_ad_hoc *wish, struct orch_diags *diags,
                                          GError **error)
{
    g_autoptr(GPtrArray) settings = orch_command_settings_new();
    g_auto(GStrv) words = read_command(wish, settings, error);
    if (!words)
        return NULL;
    if (!wish->from_env)
        orch_command_settings_warn(settings, wish->command, diags);
    g_autofree char *command = command_text(words), *masked = masked_text(words);
    g_autofree char *name = wish->name ? g_strdup(wish->name) : default_name(wish);
    g_autoptr(GString) text = g_string_new(NULL), resources = g_string_new(NULL);
    if (!append_resources(resources, wish->resources, error))
        return NULL;
    g_autofree char *manifest = manifest_text(wish, name, command, settings, text, error)
                                    ? write_manifest(store, name, text, masked != NULL, error)
                                    : NULL;
    if (!manifest)
        return NULL;
    g_autoptr(GString) recipe = recipe_text(wish, name, manifest, command, resources);
    struct orch_expansion *expansion = expand_text(wish, recipe, plugins, settings, diags);
    if (expansion && masked) { /* the text is stored and shared */
        g_autoptr(GString) shown = recipe_text(wish, name, manifest, masked, resources);
        g_free(expansion->verbatim);
        expansion->verbatim = g_strdup(shown->str);
    }
    return expansion;
}
