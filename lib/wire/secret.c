/* SPDX-License-Identifier: MIT */
#include "lib/wire/secret.h"

#include "lib/base/json.h"
#include "lib/base/local_key.h"

#include <glib.h>
#include <string.h>

/* ---- values of parameters ----------------------------------------------------------------------
 */

#define RECORDED "hmac-sha256:"

json_t *orch_secret_record(const json_t *value, const char *run_key)
{
    g_autofree char *text = orch_json_canonical(value);
    g_autofree char *both = g_strconcat(run_key, " ", text, NULL);
    g_autofree char *digest = orch_local_key_digest(both);
    return json_sprintf(RECORDED "%s:%s", run_key, digest);
}

bool orch_secret_is_recorded(const char *text, const char *run_key)
{
    if (!g_str_has_prefix(text, RECORDED))
        return false;
    const char *of = text + strlen(RECORDED), *colon = strchr(of, ':');
    return colon && (!run_key || (g_str_has_prefix(of, run_key) && of + strlen(run_key) == colon));
}

/* ---- names of secrets --------------------------------------------------------------------------
 */

/* Divides a name into lower-case parts: "--hf-authToken" gives hf, auth, token. */
static char **parts_of(const char *name, size_t length)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (size_t i = 0; i < length; i++) {
        bool is_border = i && g_ascii_isupper(name[i]) && g_ascii_islower(name[i - 1]);
        if (is_border)
            g_string_append_c(text, '-');
        g_string_append_c(text, strchr("_.", name[i]) ? '-' : (char)g_ascii_tolower(name[i]));
    }
    return g_strsplit(text->str, "-", -1);
}

static bool is_secret_name(const char *name, size_t length)
{
    static const char *const always[] = {"secret",     "secrets",     "password",    "passwords",
                                         "passwd",     "passphrase",  "passcode",    "pwd",
                                         "apikey",     "apitoken",    "accesstoken", "authtoken",
                                         "credential", "credentials", NULL};
    static const char *const last[] = {"key", "token", NULL};
    /* what precedes 'key' and 'token' where they are no secrets */
    static const char *const open[] = {
        "pad",   "eos",   "bos",     "unk",     "sep",     "cls",    "mask",   "special",   "stop",
        "start", "end",   "begin",   "first",   "next",    "image",  "audio",  "video",     "per",
        "sort",  "order", "group",   "primary", "foreign", "public", "cache",  "index",     "join",
        "label", "text",  "feature", "input",   "output",  "target", "column", "partition", NULL};
    /* what follows where a word only says where the secret is, or how it is made */
    static const char *const about[] = {"file",  "path", "dir",    "folder", "name", "id",
                                        "stdin", "env",  "prompt", "length", "size", NULL};
    g_auto(GStrv) parts = parts_of(name, length);
    unsigned count = g_strv_length(parts);
    if (!count || g_strv_contains(about, parts[count - 1]))
        return false;
    for (unsigned i = 0; i < count; i++)
        if (g_strv_contains((const char *const *)always, parts[i]))
            return true;
    return g_strv_contains(last, parts[count - 1]) &&
           (count < 2 || !g_strv_contains((const char *const *)open, parts[count - 2]));
}

/* ---- words of a command ------------------------------------------------------------------------
 */

static bool is_reference(const char *text)
{
    size_t length = strlen(text);
    return length > 2 && text[length - 1] == '}' &&
           (text[0] == '{' || g_str_has_prefix(text, "${"));
}

/* Returns the length of a name at the beginning of a text. */
static size_t name_length(const char *text)
{
    return strspn(text, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_.-");
}

const char *orch_secret_in_word(const char *const *words, size_t i)
{
    const char *word = words[i], *before = i ? words[i - 1] : "";
    size_t length = name_length(word);
    const char *found = NULL;
    if (word[length] == '=' && is_secret_name(word, length))
        found = word + length + 1;
    else if (before[0] == '-' && word[0] != '-' && !before[name_length(before)] &&
             is_secret_name(before, strlen(before)))
        found = word;
    return found && *found && !is_reference(found) ? found : NULL;
}

json_t *orch_secret_mask_words(const char *const *words, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        const char *secret = orch_secret_in_word(words, i);
        g_autofree char *shown =
            secret ? g_strdup_printf("%.*s" ORCH_SECRET_SHOWN, (int)(secret - words[i]), words[i])
                   : g_strdup(words[i]);
        g_autofree char *text = g_utf8_make_valid(shown, -1);
        json_array_append_new(array, json_string(text));
    }
    return array;
}
