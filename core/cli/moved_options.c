/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options that are now commands of their own: the error names the new command line. */
#include "core/cli/cli.h"

#include "lib/base/error.h"

#include <string.h>

/* Where an option of a command has gone. The first row that matches any word of the command line is
 * used, so options that selected a command stand before those that only it used. */
static const struct moved {
    const char *command, *option;
    const char *value; /* of the option; NULL: any, or it is a flag */
    const char *now;   /* the command that replaces it */
    bool is_dropped;   /* the command stands for the option and its value */
} MOVED[] = {
    {"predict", "curve", NULL, "curve", true},
    {"predict", "score", NULL, "predictor score", true},
    {"predict", "model", "paleo", "paleo", true},
    {"predict", "model", "roofline", "paleo --roofline", true},
    {"predict", "where", NULL, "curve", false},
    {"predict", "metric", NULL, "curve", false},
    {"predict", "accuracy-metric", NULL, "curve", false},
    {"predict", "target-loss", NULL, "curve", false},
    {"predict", "target-accuracy", NULL, "curve", false},
    {"predict", "form", NULL, "curve", false},
    {"predict", "weights", NULL, "curve", false},
    {"predict", "outliers", NULL, "curve", false},
    {"predict", "normalised", NULL, "curve", false},
    {"predict", "pipeline", NULL, "paleo", false},
    {"predict", "algorithm", NULL, "paleo", false},
    {"predict", "parallel", NULL, "paleo", false},
    {"predict", "split", NULL, "paleo", false},
    {"predict", "overlap", NULL, "paleo", false},
    {"predict", "all-layers", NULL, "paleo", false},
    {"predict", "layers", NULL, "paleo --roofline", false},
};

/* Returns how many words of `argv` (NULL-terminated) are the option with its value, 0 when the
 * first word is another option: "--model paleo" and "-m paleo" are two, "--model=paleo" and
 * "-mpaleo" one. */
static int words_of(const struct moved *moved, char *const *argv)
{
    const char *word = argv[0];
    bool is_letter = moved->value && strncmp(word, "-m", 2) == 0;
    size_t length = is_letter ? 2 : 2 + strlen(moved->option);
    if (!is_letter &&
        (!g_str_has_prefix(word, "--") || strncmp(word + 2, moved->option, length - 2) != 0))
        return 0;
    const char *rest = word + length;
    if (!moved->value)
        return !*rest || *rest == '=';
    if (!*rest)
        return g_strcmp0(argv[1], moved->value) == 0 ? 2 : 0;
    return strcmp(rest + (*rest == '='), moved->value) == 0;
}

char *orch_cli_shell_word(const char *word)
{
    bool is_plain = *word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789-_./=,:@%+") == strlen(word);
    return is_plain ? g_strdup(word) : g_shell_quote(word);
}

/* Returns the new command line. The caller frees. */
static char *command_line(const struct moved *moved, char *const *argv, int argc)
{
    GString *text = g_string_new("orch ");
    g_string_append(text, moved->now);
    for (int i = 0; i < argc; i++) {
        int words = moved->is_dropped ? words_of(moved, argv + i) : 0;
        if (words) {
            i += words - 1;
            continue;
        }
        g_autofree char *word = orch_cli_shell_word(argv[i]);
        g_string_append_printf(text, " %s", word);
    }
    return g_string_free(text, FALSE);
}

static bool refuse(const struct moved *moved, char *const *argv, int argc, GError **error)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (!words_of(moved, argv + i))
            continue;
        g_autofree char *now = command_line(moved, argv, argc);
        g_autofree char *hint = g_strdup_printf("type '%s'", now);
        orch_error_set(error, ORCH_ERROR_USAGE, hint,
                       "'orch %s --%s%s%s' is now called 'orch %s%s%s'", moved->command,
                       moved->option, moved->value ? " " : "", moved->value ? moved->value : "",
                       moved->now, moved->is_dropped ? "" : " --",
                       moved->is_dropped ? "" : moved->option);
        return true;
    }
    return false;
}

bool orch_options_moved(const struct orch_command *command, char *const *argv, int argc,
                        GError **error)
{
    for (size_t i = 0; i < G_N_ELEMENTS(MOVED); i++)
        if (strcmp(MOVED[i].command, command->name) == 0 && refuse(&MOVED[i], argv, argc, error))
            return true;
    return false;
}
