/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/recipe/command_words.h"

#include "core/recipe/output_words.h"
#include "core/recipe/recipe.h"
#include "core/recipe/setting_type.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"
#include "lib/wire/manifest.h"

#include <string.h>

/* Larger programs are not searched. */
enum { PROGRAM_BYTES_MAX = 1 << 20 };

static void setting_free(void *pointer)
{
    struct orch_command_setting *setting = pointer;
    g_free(setting->name);
    g_free(setting->origin);
    g_free(setting->plain);
    g_free(setting);
}

GPtrArray *orch_command_settings_new(void)
{
    return g_ptr_array_new_with_free_func(setting_free);
}

static struct orch_command_setting *setting_of(const GPtrArray *settings, const char *name)
{
    for (guint i = 0; i < settings->len; i++)
        if (strcmp(((struct orch_command_setting *)settings->pdata[i])->name, name) == 0)
            return settings->pdata[i];
    return NULL;
}

static bool add_setting(GPtrArray *settings, const char *text, bool is_swept, GError **error)
{
    size_t length = orch_setting_name_bytes(text);
    size_t type = orch_option_type_bytes(text + length);
    const char *equals = text + length + type;
    if (!length || *equals != '=') {
        orch_error_set(error, ORCH_ERROR_USAGE, "for example -x lr=0.1,0.01",
                       strchr(text, '=') ? "'%s': a name begins with a letter or _; letters, "
                                           "digits and _ . - / @ + may follow"
                                         : "'%s' is not PARAM=VALUE",
                       text);
        return false;
    }
    g_autofree char *name = g_strndup(text, length);
    g_autofree char *origin = g_strdup_printf("%s %s", is_swept ? "-x" : "-s", text);
    const struct orch_command_setting *other = setting_of(settings, name);
    if (other) {
        orch_error_set(error, ORCH_ERROR_USAGE, "remove one of the two options",
                       "'%s' is given twice: '%s' and '%s'", name, other->origin, origin);
        return false;
    }
    struct orch_command_setting *setting = g_new0(struct orch_command_setting, 1);
    setting->name = g_steal_pointer(&name);
    setting->origin = g_steal_pointer(&origin);
    setting->plain = g_strconcat(setting->name, equals, NULL);
    setting->is_swept = is_swept;
    setting->type = !type ? orch_setting_type(equals + 1, is_swept)
                    : g_str_has_prefix(text + length, ":text=") ? "string"
                    : g_str_has_prefix(text + length, ":int=")  ? "int"
                                                                : "real";
    g_ptr_array_add(settings, setting);
    return true;
}

bool orch_command_settings_add(GPtrArray *settings, const char *const *list, bool is_swept,
                               GError **error)
{
    bool ok = true;
    for (int i = 0; ok && list && list[i]; i++) {
        if (!is_swept) {
            ok = add_setting(settings, list[i], false, error);
            continue;
        }
        g_autoptr(GPtrArray) params = orch_sweep_split(list[i]);
        for (guint k = 0; ok && k < params->len; k++)
            ok = add_setting(settings, params->pdata[k], true, error);
    }
    return ok;
}

const char **orch_command_settings_options(const GPtrArray *settings, bool is_swept)
{
    GPtrArray *options = g_ptr_array_new();
    for (guint i = 0; i < settings->len; i++) {
        const struct orch_command_setting *setting = settings->pdata[i];
        if (setting->is_swept == is_swept)
            g_ptr_array_add(options, setting->plain);
    }
    g_ptr_array_add(options, NULL);
    return (const char **)g_ptr_array_free(options, FALSE);
}

/* ---- words -------------------------------------------------------------------------------------
 */

/* Returns the name in "{name}" at `at`; NULL when there is no placeholder. The caller frees. */
static char *name_at(const char *at)
{
    size_t length = *at == '{' ? orch_setting_name_bytes(at + 1) : 0;
    return length && at[1 + length] == '}' ? g_strndup(at + 1, length) : NULL;
}

/* Whether a name without a value is more likely forgotten than a brace of the program's own. */
static bool is_plain_word(const char *name)
{
    return !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")];
}

static void complain_of_name(const GPtrArray *settings, const char *name, const char *word,
                             GError **error)
{
    g_autoptr(GPtrArray) known = g_ptr_array_new();
    for (guint i = 0; i < settings->len; i++)
        g_ptr_array_add(known, ((struct orch_command_setting *)settings->pdata[i])->name);
    for (int i = 0; ORCH_TRIAL_VALUES[i]; i++)
        g_ptr_array_add(known, (char *)(uintptr_t)ORCH_TRIAL_VALUES[i]);
    g_ptr_array_add(known, NULL);
    g_autofree char *lower = g_ascii_strdown(name, -1);
    const char *near = g_strv_contains((const char *const *)known->pdata, lower)
                           ? lower
                           : orch_suggest(lower, (const char *const *)known->pdata);
    g_autofree char *hint =
        near ? g_strdup_printf("did you mean '{%s}'? '{{%s}}' is the text '{%s}'", near, name, name)
             : g_strdup_printf("give it a value with -x %s=A,B or -s %s=A; '{{%s}}' is the text "
                               "'{%s}'",
                               name, name, name, name);
    orch_error_set(error, ORCH_ERROR_USAGE, hint, "'{%s}' in '%s' has no value", name, word);
}

/* Parses "{name}" or "${name}" at `at`. Returns the position after it; `at` when there is none;
 * NULL with an error. */
static const char *take_placeholder(const char *at, const char *word, bool is_output,
                                    const GPtrArray *settings, GString *out, GError **error)
{
    bool has_dollar = *at == '$';
    g_autofree char *name = name_at(at + has_dollar);
    if (!name)
        return at;
    struct orch_command_setting *setting = setting_of(settings, name);
    if (has_dollar && !setting)
        return at; /* a shell variable */
    bool is_known = setting || g_strv_contains(ORCH_TRIAL_VALUES, name);
    if (!is_known && !is_plain_word(name))
        return at;
    if (!is_known) {
        complain_of_name(settings, name, word, error);
        return NULL;
    }
    if (setting) {
        setting->is_used = true;
        setting->is_given = setting->is_given || !is_output;
    }
    g_string_append_printf(out, "${%s}", name);
    return at + has_dollar + strlen(name) + 2;
}

/* Copies a character outside of ASCII, and a byte of another encoding as a placeholder, because
 * texts of recipes and manifests are UTF-8. Returns the position after it. */
static const char *take_letter(const char *at, GString *out)
{
    if ((int)g_utf8_get_char_validated(at, -1) < 0) {
        g_string_append_printf(out, "${" ORCH_BYTE_PREFIX "%02x}", (unsigned char)*at);
        return at + 1;
    }
    const char *behind = g_utf8_next_char(at);
    g_string_append_len(out, at, behind - at);
    return behind;
}

/* Translates "--lr={lr}" to "--lr=${lr}". */
static char *translate(const char *word, bool is_output, const GPtrArray *settings, GError **error)
{
    g_autoptr(GString) out = g_string_new(NULL);
    for (const char *at = word; *at;) {
        g_autofree char *escaped = at[0] == '{' ? name_at(at + 1) : NULL;
        if (escaped && at[strlen(escaped) + 3] == '}') {
            g_string_append_printf(out, "{%s}", escaped);
            at += strlen(escaped) + 4;
            continue;
        }
        if ((unsigned char)*at >= 0x80) {
            at = take_letter(at, out);
            continue;
        }
        const char *behind = take_placeholder(at, word, is_output, settings, out, error);
        if (!behind)
            return NULL;
        if (behind == at) {
            if (at[0] == '$' && at[1] == '{') { /* this brace belongs to a shell variable */
                g_string_append(out, "$${");
                at += 2;
                continue;
            }
            g_string_append(out, *at == '$' ? "$$" : "");
            if (*at != '$')
                g_string_append_c(out, *at);
            behind++;
        }
        at = behind;
    }
    return g_strdup(out->str);
}

char **orch_command_words_translate(const char *const *words, GPtrArray *settings, GError **error)
{
    g_autoptr(GPtrArray) out = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; words[i]; i++) {
        bool is_output = orch_word_is_output(i ? words[i - 1] : NULL, words[i]);
        char *word = translate(words[i], is_output, settings, error);
        if (!word)
            return NULL;
        g_ptr_array_add(out, word);
    }
    g_ptr_array_add(out, NULL);
    g_ptr_array_set_free_func(out, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&out), FALSE);
}

char *orch_command_word_typed(const char *word)
{
    static const char byte[] = "${" ORCH_BYTE_PREFIX;
    GString *out = g_string_new(NULL);
    for (const char *at = word; *at;) {
        g_autofree char *literal = name_at(at);
        const char *end = g_str_has_prefix(at, "${") ? strchr(at, '}') : NULL;
        if (g_str_has_prefix(at, "$$")) {
            g_autofree char *variable = name_at(at + 2); /* of the shell, and no setting */
            if (variable)
                g_string_append_printf(out, "${%s}", variable);
            else
                g_string_append_c(out, '$');
            at += variable ? strlen(variable) + 4 : 2;
        } else if (end && g_str_has_prefix(at, byte)) {
            g_string_append_c(out, (char)g_ascii_strtoull(at + strlen(byte), NULL, 16));
            at = end + 1;
        } else if (end) {
            g_string_append_len(out, at + 1, end - at); /* "{name}" */
            at = end + 1;
        } else if (literal) {
            g_string_append_printf(out, "{{%s}}", literal);
            at += strlen(literal) + 2;
        } else {
            g_string_append_c(out, *at++);
        }
    }
    return g_string_free(out, FALSE);
}

/* ---- settings that no word holds ---------------------------------------------------------------
 */

static bool mentions_settings(const char *text)
{
    return strstr(text, "ORCH_PARAM") || strstr(text, "import orch") || strstr(text, "from orch ");
}

bool orch_command_may_read_elsewhere(const char *const *words, const char *folder)
{
    for (int i = 0; words[i]; i++) {
        g_autofree char *text = NULL, *path = orch_path_absolute(words[i], folder);
        if (mentions_settings(words[i]))
            return true;
        if (words[i][0] != '-' && orch_file_read(path, PROGRAM_BYTES_MAX, &text, NULL, NULL) &&
            mentions_settings(text))
            return true;
    }
    return false;
}

/* Returns the command with {name} in place of the value in "--name VALUE", "--name=VALUE" or
 * "name=VALUE"; NULL when it has none of these. The caller frees. */
static char *with_placeholder(const char *const *words, const char *name)
{
    g_autofree char *dashed = g_strdelimit(g_strdup(name), "_", '-');
    GString *out = g_string_new(NULL);
    bool is_found = false;
    for (int i = 0; words[i]; i++) {
        const char *bare = words[i] + strspn(words[i], "-");
        size_t length = strcspn(bare, "=");
        bool is_it = (length == strlen(name) && strncmp(bare, name, length) == 0) ||
                     (length == strlen(dashed) && strncmp(bare, dashed, length) == 0);
        bool is_pair = is_it && bare[length] == '=';
        bool is_option = is_it && !bare[length] && bare != words[i] && words[i + 1];
        g_autofree char *changed =
            is_pair ? g_strdup_printf("%.*s={%s}", (int)(bare + length - words[i]), words[i], name)
                    : g_strdup(words[i]);
        g_autofree char *quoted = strpbrk(changed, " \t\n'\"\\$*?;&|<>()`#~!")
                                      ? g_shell_quote(changed)
                                      : g_strdup(changed);
        g_string_append_printf(out, "%s%s", i ? " " : "", quoted);
        if (is_option) {
            g_string_append_printf(out, " {%s}", name);
            i++;
        }
        is_found = is_found || is_pair || is_option;
    }
    return is_found ? g_string_free(out, FALSE) : (g_string_free(out, TRUE), NULL);
}

bool orch_command_settings_check_used(const GPtrArray *settings, const char *const *words,
                                      bool from_env, GError **error)
{
    const struct orch_command_setting *unused = NULL;
    for (guint i = settings->len; i-- > 0;)
        if (!((const struct orch_command_setting *)settings->pdata[i])->is_used)
            unused = settings->pdata[i];
    if (!unused || from_env || orch_command_may_read_elsewhere(words, NULL))
        return true;
    g_autofree char *command = with_placeholder(words, unused->name);
    g_autofree char *first =
        command ? g_strdup_printf("end the command with: -- %s", command)
                : g_strdup_printf("write {%s} where its value belongs", unused->name);
    g_autofree char *hint = g_strdup_printf(
        "%s\n  hint: for a program that reads $ORCH_PARAM_%s or $ORCH_PARAMS by itself add --env",
        first, unused->name);
    orch_error_set(error, ORCH_ERROR_USAGE, hint, "parameter '%s' is not used in the command",
                   unused->name);
    return false;
}

/* The word of the command that contains {name}. Borrowed. */
static const char *word_with(const char *const *words, const char *name)
{
    g_autofree char *place = g_strdup_printf("{%s}", name);
    for (int i = 0; words[i]; i++)
        if (strstr(words[i], place))
            return words[i];
    return "";
}

/* Returns the option of the program that is called like the setting, as in "--learning-rate";
 * NULL when no file that the command names mentions it. The caller frees. */
static char *option_like(const char *const *words, const char *name)
{
    g_autofree char *dashed = g_strdelimit(g_strdup(name), "_", '-');
    g_autofree char *underlined = g_strdelimit(g_strdup(name), "-", '_');
    const char *const spellings[] = {name, dashed, underlined};
    for (int i = 0; words[i]; i++) {
        g_autofree char *text = NULL;
        if (words[i][0] == '-' || !orch_file_read(words[i], PROGRAM_BYTES_MAX, &text, NULL, NULL))
            continue;
        for (unsigned k = 0; k < G_N_ELEMENTS(spellings); k++) {
            g_autofree char *option = g_strconcat("--", spellings[k], NULL);
            if (strstr(text, option))
                return g_steal_pointer(&option);
        }
    }
    return NULL;
}

void orch_command_settings_warn(const GPtrArray *settings, const char *const *words,
                                struct orch_diags *diags)
{
    for (guint i = 0; i < settings->len && !orch_command_may_read_elsewhere(words, NULL); i++) {
        const struct orch_command_setting *setting = settings->pdata[i];
        if (!setting->is_used || setting->is_given)
            continue;
        g_autofree char *option = option_like(words, setting->name);
        g_autofree char *hint =
            option
                ? g_strdup_printf("the program has an option for it: %s {%s}", option,
                                  setting->name)
                : g_strdup_printf("write {%s} where the program reads it as well", setting->name);
        orch_diags_add(diags, true, NULL, 0, 0, hint,
                       "setting '%s' is only part of an output's name ('%s'): the program does "
                       "the same for each of its values",
                       setting->name, word_with(words, setting->name));
    }
}
