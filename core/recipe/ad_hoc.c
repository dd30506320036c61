/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/recipe/ad_hoc.h"

#include "core/recipe/ad_hoc_text.h"
#include "core/recipe/command_words.h"
#include "lib/base/diag.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/manifest.h"
#include "lib/wire/secret.h"

#include <string.h>
#include <sys/stat.h>

/* lr=log_uniform(1e-4, 1): a mistyped range of a search would be a text that never varies. */
#define ODD_RANGE "^[^=]*=\\s*(?!(range|int|(log)?uniform|choice)\\b)[\\w.-]+\\s*\\([^()]*\\)\\s*$"

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
    } rows[] = {{"metric:", "search", wish->search}, {"sampler:", "sampler", wish->sampler},
                {"seed:", "seed", wish->seed},       {"until:", "until", wish->until},
                {"stop:", "stop", wish->stop},       {"repeat:", "repeat", wish->repeat},
                {"inputs:", "inputs", inputs},       {"resources:", "resources", resources}};
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
    for (int i = 0; wish->search && wish->sweeps && wish->sweeps[i]; i++)
        if (g_regex_match_simple(ODD_RANGE, wish->sweeps[i], 0, 0)) {
            orch_error_set(error, ORCH_ERROR_USAGE,
                           "for example 'lr=loguniform(1e-4, 1)', or in brackets, '[f(x)]', a text",
                           "option '--sweep': '%s' is no range", wish->sweeps[i]);
            return NULL;
        }
    g_auto(GStrv) words = orch_command_words_translate(wish->command, settings, error);
    return words && orch_command_settings_check_used(settings, wish->command, wish->from_env, error)
               ? g_steal_pointer(&words)
               : NULL;
}

/* Returns the words as text without those that look like secrets; NULL when none does. The caller
 * frees. */
static char *masked_text(char *const *words)
{
    const char *const *texts = (const char *const *)words;
    bool has_secret = false;
    for (size_t i = 0; texts[i] && !has_secret; i++)
        has_secret = orch_secret_in_word(texts, i) != NULL;
    if (!has_secret)
        return NULL;
    g_autoptr(json_t) masked =
        orch_secret_mask_words(texts, g_strv_length((char **)(uintptr_t)words));
    return orch_json_canonical(masked);
}

/* ---- the file ---------------------------------------------------------------------------------
 */

/* The name of the recipe in a file: "tune" of "tune.recipe". The caller frees. */
static char *recipe_name(const char *path)
{
    g_autofree char *name = name_of_word(path);
    return orch_name_is_valid(name, true) ? g_steal_pointer(&name) : g_strdup("tried");
}

static bool path_is_well(const char *path, const char *folder, bool overwrites, GError **error)
{
    g_autofree char *absolute = orch_path_absolute(path, NULL);
    g_autofree char *place = g_path_get_dirname(absolute);
    g_autofree char *base = g_path_get_basename(absolute);
    struct stat a, b;
    g_autofree char *here = g_strdup_printf("for example --write %s%s", base,
                                            g_str_has_suffix(base, ".recipe") ? "" : ".recipe");
    if (!g_str_has_suffix(path, ".recipe"))
        orch_error_set(error, ORCH_ERROR_USAGE, here,
                       "option '--write': the name '%s' does not end in '.recipe'", path);
    else if (stat(place, &a) != 0 || stat(folder, &b) != 0 || a.st_dev != b.st_dev ||
             a.st_ino != b.st_ino)
        orch_error_set(
            error, ORCH_ERROR_USAGE, here,
            "option '--write': '%s' is not in this folder, where the recipe's command must start",
            path);
    else if (!overwrites && g_file_test(path, G_FILE_TEST_EXISTS))
        orch_error_set(error, ORCH_ERROR_USAGE, "choose another name, or add --force",
                       "option '--write': '%s' already exists", path);
    else
        return true;
    return false;
}

static bool lists_are_same(char *const *a, char *const *b)
{
    return a && b ? g_strv_equal((const char *const *)a, (const char *const *)b) : a == b;
}

/* Whether two expansions have the same trials: words, parameters and repeats. */
static bool trials_are_same(const struct orch_expansion *a, const struct orch_expansion *b)
{
    if (!b || a->cells->len != b->cells->len || a->points->len != b->points->len)
        return false;
    const struct orch_experiment *x = a->experiments->pdata[0], *y = b->experiments->pdata[0];
    if (!g_strv_equal((const char *const *)x->program, (const char *const *)y->program) ||
        x->manifest->metrics_on != y->manifest->metrics_on ||
        !lists_are_same(x->manifest->metrics_files, y->manifest->metrics_files))
        return false;
    for (guint i = 0; i < a->cells->len; i++) {
        const struct orch_cell *one = a->cells->pdata[i], *two = b->cells->pdata[i];
        if (!json_equal(one->params, two->params) || one->repeat != two->repeat ||
            one->seed != two->seed)
            return false;
    }
    return true;
}

static bool holds_secret(char *const *words, const GPtrArray *settings)
{
    g_autofree char *masked = masked_text(words);
    for (guint i = 0; i < settings->len && !masked; i++) {
        const struct orch_command_setting *setting = settings->pdata[i];
        char *const word[] = {setting->plain, NULL};
        masked = masked_text(word);
    }
    return masked != NULL;
}

bool orch_ad_hoc_write(struct orch_plugins *plugins, const struct orch_ad_hoc *wish,
                       const struct orch_expansion *expansion, const char *path, bool overwrites,
                       GError **error)
{
    g_autoptr(GPtrArray) settings = orch_command_settings_new();
    if (!path_is_well(path, expansion->folder, overwrites, error))
        return false;
    g_auto(GStrv) words = read_command(wish, settings, error);
    if (!words)
        return false;
    if (holds_secret(words, settings)) {
        orch_error_set(
            error, ORCH_ERROR_USAGE,
            "let the program read the secret from its environment: others can read a recipe",
            "option '--write': the command seems to contain a secret");
        return false;
    }
    const struct orch_experiment *experiment = expansion->experiments->pdata[0];
    g_autofree char *command = orch_ad_hoc_command(words, true), *name = recipe_name(path);
    g_autoptr(GString) text =
        orch_ad_hoc_text(wish, name, experiment->name, command, settings, true, error);
    if (!text)
        return false;
    struct orch_diags *diags = orch_diags_new();
    struct orch_expansion *again =
        orch_recipe_expand_text(path, text->str, text->len, plugins, NULL, diags);
    bool ok = trials_are_same(expansion, again);
    if (!ok && diags->error_count)
        orch_diags_to_error(diags, error);
    else if (!ok)
        orch_error_set(
            error, ORCH_ERROR_RECIPE, NULL,
            "option '--write': the written recipe would make other trials than this command:\n%s",
            text->str);
    orch_diags_free(diags);
    orch_expansion_free(again);
    return ok && orch_file_write(path, text->str, text->len, false, error);
}

struct orch_expansion *orch_ad_hoc_expand(struct orch_plugins *plugins,
                                          const struct orch_ad_hoc *wish, struct orch_diags *diags,
                                          GError **error)
{
    g_autoptr(GPtrArray) settings = orch_command_settings_new();
    g_auto(GStrv) words = read_command(wish, settings, error);
    if (!words)
        return NULL;
    if (!wish->from_env)
        orch_command_settings_warn(settings, wish->command, diags);
    g_autofree char *command = orch_ad_hoc_command(words, false), *masked = masked_text(words);
    g_autofree char *name = wish->name ? g_strdup(wish->name) : default_name(wish);
    g_autoptr(GString) recipe =
        orch_ad_hoc_text(wish, "try", name, command, settings, false, error);
    if (!recipe)
        return NULL;
    struct orch_expansion *expansion = expand_text(wish, recipe, plugins, settings, diags);
    if (expansion && masked) { /* the text is stored and shared */
        g_autoptr(GString) shown =
            orch_ad_hoc_text(wish, "try", name, masked, settings, false, NULL);
        g_free(expansion->verbatim);
        expansion->verbatim = g_strdup(shown ? shown->str : "");
    }
    return expansion;
}
