/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words of a command given to `orch try`, and the settings (-s, -x) that stand in them as
 * {name}.
 *
 *   {name}     a setting, or a value of the trial (seed, seed64, repeat, ...); another name is an
 * error
 *   ${name}    likewise when there is such a setting; else left to the shell that the command
 * starts
 *   {{name}}   the text {name}
 *
 * Every other brace is text, so JSON and shell code need no quoting beyond the shell's. */
#ifndef ORCH_CORE_CLI_TRY_WORDS_H
#define ORCH_CORE_CLI_TRY_WORDS_H

#include <glib.h>
#include <stdbool.h>

/** A parameter named on the command line. */
struct try_setting {
    char *name;
    const char *type; /* "int", "real" or "string": the narrowest that all values fit */
    bool is_used;     /* a word holds it */
};

/** Array of struct try_setting *. */
GPtrArray *try_settings_new(void);
/** Adds those of a list of "NAME=VALUES" (NULL: none). ORCH_ERROR_USAGE for another form. */
bool try_settings_add(GPtrArray *settings, const char *const *list, bool is_swept, GError **error);

/** Translates the words of a command (NULL-terminated) into those of a manifest, and notes which
 * settings they hold. NULL with ORCH_ERROR_USAGE for a {name} that nothing gives a value. The
 * caller frees with g_strfreev. */
char **try_words_translate(const char *const *words, GPtrArray *settings, GError **error);

/** Refuses settings that no word holds, unless the program may read them elsewhere: `from_env` says
 * so, or a word or a file named by a word mentions ORCH_PARAM or imports the Python helper. */
bool try_settings_check_used(const GPtrArray *settings, const char *const *words, bool from_env,
                             GError **error);

#endif
