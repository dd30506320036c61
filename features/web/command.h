/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands of the program orch that orch-web runs to answer the page. */
#ifndef ORCH_FEATURES_WEB_COMMAND_H
#define ORCH_FEATURES_WEB_COMMAND_H

#include <glib.h>
#include <jansson.h>

/** What the callbacks of the page need to run the program orch. */
struct web_command {
    const char *program, *db;
    char **recipes; /* recipes whose reports are shown; none: those of this folder */
};

/** Returns the first words of a command line, without the program; `second` may be NULL. The caller
 * unrefs. */
GPtrArray *orch_web_command_words(const char *first, const char *second);
/** Runs a command line and returns what it prints; NULL with its error when it fails. `words` (char
 * *) become NULL-terminated, with the program in front. The caller frees. */
char *orch_web_command_run(const struct web_command *request, GPtrArray *words, GError **error);
/** The same with `--quiet` and the store appended to `words`. */
char *orch_web_command_text(const struct web_command *request, GPtrArray *words, GError **error);
/** The same with `--json`, too. New reference. */
json_t *orch_web_command_json(const struct web_command *request, GPtrArray *words, GError **error);
/** Runs a command line, and parses what it prints, which counts also when it ends with status
 * `also`. Nothing is appended to `words`. New reference. */
json_t *orch_web_command_parsed(const struct web_command *request, GPtrArray *words, int also,
                                GError **error);

#endif
