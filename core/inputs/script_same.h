/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Digests of Python scripts without their comments. */
#ifndef ORCH_CORE_INPUTS_SCRIPT_SAME_H
#define ORCH_CORE_INPUTS_SCRIPT_SAME_H

#include <stdbool.h>

/** The digest of a Python text without comments, blank lines and blanks within lines: 64 hex
 * digits. Documentation strings are code, since a program can read them. So are comments that a
 * program outside of Python reads: the first two lines ("#!", the encoding). False in doubt, and
 * for a script with metadata ("# /// script"): such texts are compared as they are. */
bool orch_script_code_digest(const char *text, char out[65]);

/** The same of a file that is a Python script by its suffix or its first line. False for another
 * one, in doubt, and for scripts larger than 1 MiB. */
bool orch_script_file_digest(const char *path, char out[65]);

#endif
