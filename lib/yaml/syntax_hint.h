/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The usual causes of a YAML syntax error, guessed from the lines where the parser stumbles. */
#ifndef ORCH_YAML_SYNTAX_HINT_H
#define ORCH_YAML_SYNTAX_HINT_H

#include <stddef.h>

/** Returns what the user can do about the library's message for that line (1-based) of the text;
 * never NULL. */
const char *orch_yaml_syntax_hint(const char *text, size_t length, int line, const char *message);

#endif
