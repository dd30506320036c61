/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The LibTorch adapter: a module that training plugins map, and the only part of orch that is
 * compiled against PyTorch. It is built with the program, or on a user's machine for the PyTorch of
 * a Python there (docs/decisions/torch-adapter.md). */
#ifndef ORCH_CORE_PLUGIN_ADAPTER_H
#define ORCH_CORE_PLUGIN_ADAPTER_H

#include <glib.h>
#include <stdbool.h>

/** True when one of orch's own compiled plugins maps the adapter, which its binary then names. */
bool orch_adapter_is_named(const char *path);

/** What was built, and for which PyTorch. */
struct orch_adapter_built {
    char *path;    /* of the adapter */
    char *torch;   /* folder of PyTorch */
    char *version; /* of PyTorch */
};
void orch_adapter_built_clear(struct orch_adapter_built *built);

/** The Python for which the adapter is built: `named`, else that of the active environment, else
 * the one through which this program was started (ORCH_PYTHON, set by the wheel's script), else the
 * python3 of PATH. NULL with ORCH_ERROR_NOT_FOUND where there is none. Caller frees. */
char *orch_adapter_python(const char *named, GError **error);

/** Compiles the adapter for the PyTorch of `python` into orch_program_built_folder(), in place of
 * an earlier one. Takes about a minute. Fails with ORCH_ERROR_PLUGIN (no PyTorch, no compiler, no
 * sources, compiler errors) and ORCH_ERROR_IO. */
bool orch_adapter_build(const char *python, struct orch_adapter_built *out, GError **error);

#endif
