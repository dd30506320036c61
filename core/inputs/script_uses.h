/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the files that a script uses from its text alone, without running anything: Python modules
 * by their import statements, other scripts by the paths in the text. */
#ifndef ORCH_CORE_INPUTS_SCRIPT_USES_H
#define ORCH_CORE_INPUTS_SCRIPT_USES_H

#include <glib.h>
#include <stdbool.h>

enum orch_script_language {
    ORCH_SCRIPT_NONE,   /* not a script: its text is not read */
    ORCH_SCRIPT_PYTHON, /* imports, and quoted paths of scripts */
    ORCH_SCRIPT_SHELL,  /* words that are paths of scripts, and modules after -m */
    ORCH_SCRIPT_OTHER,  /* quoted paths of scripts: R, Julia, Lua, ... */
};

/** A module that a script imports. */
struct orch_script_import {
    char *module;   /* "package.module"; "" for `from . import x` */
    unsigned level; /* dots before it: 0 absolute, 1 the package of the importing file, ... */
    bool is_whole;  /* `from module import *`: any file of the package may be used */
};

/** The modules and scripts used according to a script's text. */
struct orch_script_uses {
    GPtrArray *imports; /* struct orch_script_import * */
    GPtrArray *paths;   /* char *: as written, with the suffix of a script */
    GPtrArray *data;    /* char *: as written, texts that may be paths of files that it reads */
    bool sets_path;     /* it changes sys.path, so modules may be in any folder */
};

/** The language for the suffix of a path (".py", ".sh", ".R", ...); NONE for other suffixes. */
enum orch_script_language orch_script_language_of(const char *path);
/** The language that the first line of a text names ("#!/usr/bin/env python3"); NONE without one.
 */
enum orch_script_language orch_script_language_of_text(const char *text);

/** Reads a script's text. The caller frees. */
struct orch_script_uses *orch_script_uses_read(enum orch_script_language language,
                                               const char *text);
void orch_script_uses_free(struct orch_script_uses *uses);

#endif
