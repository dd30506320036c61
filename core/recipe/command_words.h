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

#include "lib/base/diag.h"

#include <glib.h>
#include <stdbool.h>

/** A parameter set on the command line. */
struct orch_command_setting {
    char *name;
    char *origin;     /* the option as given: "-x lr=0.1,0.01" */
    char *plain;      /* the same without the option's letter and a type: "lr=0.1,0.01" */
    const char *type; /* as given (NAME:text=...), else the most specific of "int", "real" and
                         "string" that fits all values */
    bool is_swept;
    bool is_used;  /* some word contains it */
    bool is_given; /* so does one that is more than the name of an output (output_words.h) */
};

/** Array of struct orch_command_setting *. */
GPtrArray *orch_command_settings_new(void);
/** Adds the settings in a list of "NAME=VALUES" or "NAME:TYPE=VALUES" (NULL: none).
 * ORCH_ERROR_USAGE for another form, and for a name that is given twice. */
bool orch_command_settings_add(GPtrArray *settings, const char *const *list, bool is_swept,
                               GError **error);

/** The texts "NAME=VALUES" of the settings that are swept, or of the others; NULL-terminated. The
 * caller frees the array alone, the settings own the texts. */
const char **orch_command_settings_options(const GPtrArray *settings, bool is_swept);

/** Translates the words of a command (NULL-terminated) into those of a manifest, and marks the
 * settings that they contain as used. NULL with ORCH_ERROR_USAGE for a {name} without a value. The
 * caller frees with g_strfreev. */
char **orch_command_words_translate(const char *const *words, GPtrArray *settings, GError **error);

/** Returns a translated word as it is typed behind 'orch try --'. The caller frees. */
char *orch_command_word_typed(const char *word);

/** Reports settings that no word contains as an error, unless the program may read them in another
 * way: `from_env` is set, or a word or a file named by a word mentions ORCH_PARAM or imports the
 * Python helper. */
bool orch_command_settings_check_used(const GPtrArray *settings, const char *const *words,
                                      bool from_env, GError **error);

/** Whether the program seems to read its settings from the environment or through the Python
 * helper: a word, or a file named by a word (relative to `folder`; NULL: the current one), mentions
 * ORCH_PARAM or imports the helper. */
bool orch_command_may_read_elsewhere(const char *const *words, const char *folder);

/** Warns of settings that only the names of outputs contain (-o out/{lr}), which leave what the
 * program does as it is. For the words as they were given, after their translation. */
void orch_command_settings_warn(const GPtrArray *settings, const char *const *words,
                                struct orch_diags *diags);

#endif
