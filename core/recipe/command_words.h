/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words of a command, as given to `orch try`, that contain settings (-s, -x) as {name}.
 *
 *   {name}     a setting, or a value of the trial (seed, seed64, repeat, ...); else an error
 *   ${name}    the same if such a setting exists; else left to the shell that the command starts
 *   {{name}}   the text {name}
 *
 * Any other brace is plain text, so JSON and shell code need no quoting beyond the shell's. */
#ifndef ORCH_CORE_RECIPE_COMMAND_WORDS_H
#define ORCH_CORE_RECIPE_COMMAND_WORDS_H

#include <glib.h>
#include <stdbool.h>

/** A parameter set on the command line. */
struct orch_command_setting {
    char *name;
    const char *type; /* "int", "real" or "string": the most specific type that fits all values */
    bool is_used;     /* some word contains it */
};

/** Array of struct orch_command_setting *. */
GPtrArray *orch_command_settings_new(void);
/** Adds the settings in a list of "NAME=VALUES" (NULL: none). ORCH_ERROR_USAGE for another form. */
bool orch_command_settings_add(GPtrArray *settings, const char *const *list, bool is_swept,
                               GError **error);

/** Translates the words of a command (NULL-terminated) into those of a manifest, and marks the
 * settings that they contain as used. NULL with ORCH_ERROR_USAGE for a {name} without a value. The
 * caller frees with g_strfreev. */
char **orch_command_words_translate(const char *const *words, GPtrArray *settings, GError **error);

/** Reports settings that no word contains as an error, unless the program may read them in another
 * way: `from_env` is set, or a word or a file named by a word mentions ORCH_PARAM or imports the
 * Python helper. */
bool orch_command_settings_check_used(const GPtrArray *settings, const char *const *words,
                                      bool from_env, GError **error);

#endif
