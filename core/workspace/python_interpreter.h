/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the Python that a command runs by reading files. Nothing is executed, so this is safe for
 * recipes from untrusted sources. */
#ifndef ORCH_CORE_WORKSPACE_PYTHON_INTERPRETER_H
#define ORCH_CORE_WORKSPACE_PYTHON_INTERPRETER_H

#include <glib.h>
#include <stdbool.h>

/** The Python interpreter that a command starts: its first word, or what that starts in turn: env,
 * nice, timeout and other programs that start another one, a script with "#!", a shell script or
 * `sh -c` that runs Python, and pyenv's shims. Relative paths are relative to `folder`. NULL when
 * it starts something else, or when that is not known. The caller frees. */
char *orch_python_interpreter(char *const *words, const char *folder);

/** True if some word of a command is a Python ("uv run python a.py"). */
bool orch_python_is_named(char *const *words);

#endif
