/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The version and the packages of a Python interpreter, found by reading files. Nothing is
 * executed, so this is safe for recipes from untrusted sources. */
#ifndef ORCH_CORE_WORKSPACE_PYTHON_ENV_H
#define ORCH_CORE_WORKSPACE_PYTHON_ENV_H

#include <glib.h>
#include <stdbool.h>

struct orch_python {
    char *version; /* "3.11.2"; NULL: unknown */
    GPtrArray
        *names; /* "torch 2.5.1", "numpy 1.24.2": normalized names with versions, sorted; char * */
    GHashTable *of_dpkg; /* those of the names that lie in dpkg's folder */
    char sha256[65];     /* digest of the names, one per line */
};

/** The folders from which an interpreter imports installed packages; they need not exist. The
 * caller unrefs. */
GPtrArray *orch_python_folders(const char *interpreter);

/** Reads the version and packages of an interpreter's environment (virtual environment, conda,
 * system). The caller frees. */
struct orch_python *orch_python_read(const char *interpreter);
void orch_python_free(struct orch_python *python);

#endif
