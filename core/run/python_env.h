/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which Python a command runs, and which packages that Python has, found by reading files: nothing
 * is run, so the answer may be asked about a recipe from elsewhere. */
#ifndef ORCH_CORE_RUN_PYTHON_ENV_H
#define ORCH_CORE_RUN_PYTHON_ENV_H

#include <glib.h>

struct orch_python {
    char *version; /* "3.11.2"; NULL: the interpreter does not tell */
    GPtrArray
        *names; /* "torch 2.5.1", "numpy 1.24.2": normalized names with versions, sorted; char * */
    char sha256[65]; /* of the names, one a line */
};

/** The Python interpreter that a command's first word starts: the word itself, or by the "#!" line
 * of the script that it names (through env, too). Relative paths begin at `folder`. NULL when the
 * command starts something else or nothing that exists. The caller frees. */
char *orch_python_interpreter(const char *word, const char *folder);

/** What lies in an interpreter's environment (virtual environment, conda, system). The caller
 * frees. */
struct orch_python *orch_python_read(const char *interpreter);
void orch_python_free(struct orch_python *python);

#endif
