/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What will be looked at before the first run: the files that a command provably uses, found in the
 * texts of its scripts without running anything. Python modules are found by import statements,
 * other scripts and data by the paths in the text. Once a run has read its files, these count. */
#ifndef ORCH_CORE_INPUTS_SCRIPTS_H
#define ORCH_CORE_INPUTS_SCRIPTS_H

#include <glib.h>
#include <stdbool.h>

/* ---- the files of a command -------------------------------------------------------------------
 */

/** Files that a command uses: sets of char *, which own them. */
struct orch_used_files {
    GHashTable *code;    /* candidates that words name or that scripts use as code; relative */
    GHashTable *ignored; /* the same of other files below the root, which git ignores; absolute */
    GHashTable *data;    /* files that scripts name in literal texts, absolute; whether the scripts
                            read or write them is for the caller to find out */
};
void orch_used_files_init(struct orch_used_files *used);
void orch_used_files_clear(struct orch_used_files *used);

/** Adds to `used` the files that command `argv` (NULL-terminated, or NULL), started in `folder`,
 * provably uses. `files`: the candidate files, sorted, relative to `root`, and `known` the same as
 * a set; their text is read from disk. A file that is unreadable or larger than 1 MiB is added, but
 * its text is not searched. */
void orch_command_files(const char *root, const char *folder, char *const *argv,
                        const GPtrArray *files, GHashTable *known, struct orch_used_files *used);

/* ---- the text of one script -------------------------------------------------------------------
 */

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

/** True for a text that may be the path of a file: with a dot or a slash, and nothing that a path
 * hardly has. */
bool orch_script_may_be_file(const char *text);

/** Adds to `out` (char *, which it owns) the literal texts of a Python script that may be files:
 * each by itself, and joined to the ones before it ("a", "b.csv" and "a/b.csv" of
 * Path("a") / "b.csv"). Texts that are evidently written (open(.., "w"), torch.save(m, ".."),
 * OUT = "..") are left out. In a script that
 * changes sys.path, texts that may be folders are added, too. */
void orch_script_data_read(const char *text, GPtrArray *out);

/* ---- scripts without their comments -----------------------------------------------------------
 */

/** The digest of a Python script, by its suffix or its first line, without comments, blank lines
 * and blanks within lines: 64 hex digits. Documentation strings are code, since a program can read
 * them. So are comments that a program outside of Python reads: the first two lines ("#!", the
 * encoding). False for another file, in doubt, for a script with metadata ("# /// script"), and for
 * one larger than 1 MiB: such files are compared as they are. */
bool orch_script_file_digest(const char *path, char out[65]);

#endif
